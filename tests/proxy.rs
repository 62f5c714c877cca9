//! Between a scripted editor and a scripted agent: the bytes, the listener's ends, and who decides.
//!
//! The test is both sides: it starts `hearken acp-proxy` as an editor does, and the agent below it is two `cat`
//! processes, through which the test reads the agent's input and writes its output.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use hearken_wording::phrase;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::PATIENCE;
use crate::support::child::{Hearken, command};

/// An editor, its agent, and hearken between them.
struct ProxyRig {
    folder: tempfile::TempDir,
    proxy: Child,
    /// The editor's output and input.
    editor: (Option<ChildStdin>, BufReader<ChildStdout>),
    /// The agent's input and output.
    agent: (BufReader<File>, Option<File>),
}

impl ProxyRig {
    fn new(more: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let pipes = ["in", "out"].map(|name| folder.path().join(name));
        let made = Command::new("mkfifo").args(&pipes).status().unwrap();
        assert!(made.success());
        let mut call = command(&["acp-proxy", "--name", "mock"]);
        // Silent by default.
        let silent = ["--voice", "none"];
        call.args(if more.is_empty() { &silent } else { more })
            .args(["--", "sh", "-c", "cat < out & cat > in; wait; exit 7"])
            .current_dir(folder.path())
            .env("XDG_RUNTIME_DIR", folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(folder.path().join("errors")).unwrap());
        let mut proxy = call.spawn().unwrap();
        let writes = OpenOptions::new().write(true).open(&pipes[1]).unwrap();
        let reads = File::open(&pipes[0]).unwrap();
        let input = proxy.stdin.take();
        let output = BufReader::with_capacity(1 << 20, proxy.stdout.take().unwrap());
        Self {
            folder,
            proxy,
            editor: (input, output),
            agent: (BufReader::new(reads), Some(writes)),
        }
    }

    fn place(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("aaep/{name}.sock"))
    }

    fn editor_says(&mut self, bytes: impl AsRef<[u8]>) {
        let input = self.editor.0.as_mut().unwrap();
        input.write_all(bytes.as_ref()).unwrap();
        input.flush().unwrap();
    }

    fn agent_says(&mut self, bytes: impl AsRef<[u8]>) {
        self.agent
            .1
            .as_mut()
            .unwrap()
            .write_all(bytes.as_ref())
            .unwrap();
    }

    /// Returns the next line that the editor reads.
    fn editor_hears(&mut self) -> Value {
        let mut line = String::new();
        self.editor.1.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Returns the next line that the agent reads.
    fn agent_hears(&mut self) -> Value {
        let mut line = String::new();
        self.agent.0.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Sends bytes from the editor to the agent, and from the agent to the editor; they must arrive unchanged.
    fn both_ways(&mut self, bytes: &[u8]) {
        let mut came = vec![0; bytes.len()];
        std::thread::scope(|scope| {
            let input = self.editor.0.as_mut().unwrap();
            scope.spawn(move || input.write_all(bytes).unwrap());
            self.agent.0.read_exact(&mut came).unwrap();
        });
        assert!(came == bytes);
        came.fill(0);
        std::thread::scope(|scope| {
            let output = self.agent.1.as_mut().unwrap();
            scope.spawn(move || output.write_all(bytes).unwrap());
            self.editor.1.read_exact(&mut came).unwrap();
        });
        assert!(came == bytes);
    }

    /// Opens a conversation with a turn under way, and returns where to watch it.
    fn begin(&mut self) -> PathBuf {
        let turns = [
            (
                json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}),
                json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 1, "agentCapabilities": {},
                "agentInfo": {"name": "fox", "title": "Fox"}}}),
            ),
            (
                json!({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/w", "mcpServers": []}}),
                json!({"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s"}}),
            ),
        ];
        for (wants, gets) in turns {
            self.editor_says(format!("{wants}\n"));
            assert_eq!(self.agent_hears(), wants);
            self.agent_says(format!("{gets}\n"));
            assert_eq!(self.editor_hears(), gets);
        }
        self.editor_says(format!(
            "{}\n",
            json!({"jsonrpc": "2.0", "id": 2, "method": "session/prompt",
            "params": {"sessionId": "s", "prompt": [{"type": "text", "text": "touch it"}]}})
        ));
        self.agent_hears();
        let place = self.place("mock");
        until("the socket", || {
            UnixStream::connect(&place).is_ok().then_some(())
        });
        place
    }

    fn asks(&mut self, id: u64) {
        self.agent_says(format!("{}\n", permission(id)));
        while self.editor_hears()["id"] != id {}
    }

    /// Finds the listener.
    fn listener(&self) -> Option<Pid> {
        children(self.proxy.id()).into_iter().find(|pid| {
            let line = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_pid()));
            line.is_ok_and(|line| {
                line.split(|byte| *byte == 0)
                    .any(|word| word == b"acp-listen")
            })
        })
    }

    fn errors(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("errors")).unwrap()
    }

    /// Closes the editor's output; returns the exit code.
    fn end(mut self) -> i32 {
        self.editor.0 = None;
        let mut rest = Vec::new();
        self.agent.0.read_to_end(&mut rest).unwrap();
        self.agent.1 = None;
        let code = self.proxy.wait().unwrap().code().unwrap();
        self.editor.1.read_to_end(&mut rest).unwrap();
        assert!(rest.is_empty(), "{:?}", String::from_utf8_lossy(&rest));
        code
    }
}

impl Drop for ProxyRig {
    fn drop(&mut self) {
        let _ = self.proxy.kill();
        let _ = self.proxy.wait();
    }
}

fn permission(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": {"sessionId": "s",
        "toolCall": {"toolCallId": format!("c{id}"), "title": "touch x", "kind": "execute", "rawInput": {"command": "touch x"}},
        "options": [{"optionId": "once", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"}]}})
}

fn answer(id: u64, option: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": {"outcome": "selected", "optionId": option}}})
}

fn children(parent: u32) -> Vec<Pid> {
    let path = format!("/proc/{parent}/task/{parent}/children");
    let own = std::fs::read_to_string(path).unwrap_or_default();
    let tasks = std::fs::read_dir(format!("/proc/{parent}/task"))
        .into_iter()
        .flatten()
        .flatten();
    let all = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let all = all.chain([own]).collect::<Vec<_>>().join(" ");
    all.split_whitespace()
        .filter_map(|pid| Pid::from_raw(pid.parse().ok()?))
        .collect()
}

fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "no {what} came");
        std::thread::yield_now();
    }
}

/// Bytes that resemble no message: with line ends, without, and with what looks like an answer.
fn odd() -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..200_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    bytes.extend_from_slice(b"\n{\"id\":1,\"result\":{}}\n\xff\xfe\r\n[1]\n");
    bytes.extend_from_slice("{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":\"é\"}\n".as_bytes());
    bytes.extend(std::iter::repeat_n(b'x', 5 << 20));
    bytes.push(b'\n');
    bytes
}

#[test]
fn bytes_go_both_ways_unchanged_and_at_once_and_the_exit_code_is_the_agents() {
    let mut between = ProxyRig::new(&[]);
    between.both_ways(&odd());
    // Half a line arrives before the other half is written.
    between.both_ways(b"{\"jsonrpc\":\"2.0\",\"me");
    between.both_ways(b"thod\":\"x\"}\n");
    let large = format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":\"{}\"}}\n",
        "y".repeat(1 << 20)
    );
    between.both_ways(large.as_bytes());
    // While a question is open, too.
    between.asks(5);
    between.both_ways(b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"y\",");
    between.both_ways(b"\"params\":1}\n");
    between.both_ways(large.as_bytes());
    assert_eq!(between.end(), 7);
}

#[test]
fn a_listener_that_is_killed_or_hangs_stops_no_byte() {
    let mut between = ProxyRig::new(&[]);
    between.begin();
    let first = between.listener().unwrap();
    kill_process(first, Signal::STOP).unwrap();
    // More than can wait for it.
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":\"{}\"}}\n",
        "y".repeat(1 << 20)
    );
    for _ in 0..40 {
        between.both_ways(line.as_bytes());
    }
    kill_process(first, Signal::CONT).unwrap();
    let mut last = first;
    for _ in 0..3 {
        kill_process(last, Signal::KILL).unwrap();
        between.both_ways(line.as_bytes());
        last = until("listener", || between.listener().filter(|pid| *pid != last));
    }
    kill_process(last, Signal::KILL).unwrap();
    until("word of its end", || {
        phrase!("proxy.gone").is_in(&between.errors()).then_some(())
    });
    assert_eq!(between.errors().matches("is started again").count(), 3);
    between.both_ways(&odd());
    assert_eq!(between.end(), 7);
}

/// A stopped listener can't end by itself, and must not stay behind.
#[test]
fn a_listener_that_hangs_does_not_outlive_the_proxy() {
    let mut between = ProxyRig::new(&[]);
    between.begin();
    let listener = between.listener().unwrap();
    kill_process(listener, Signal::STOP).unwrap();
    assert_eq!(between.end(), 7);
    until("end of the listener", || {
        let state = std::fs::read_to_string(format!("/proc/{}/stat", listener.as_raw_pid()));
        let ended = state.map_or(true, |state| state.contains(") Z "));
        ended.then_some(())
    });
}

/// The editor reads an end when the agent has closed its output, although the agent still runs.
#[test]
fn an_agent_that_closes_its_output_ends_what_the_editor_reads() {
    let folder = tempfile::tempdir().unwrap();
    let agent = "echo last; exec >&-; cat > /dev/null; exit 3";
    let mut call = command(&[
        "acp-proxy",
        "--name",
        "mute",
        "--voice",
        "none",
        "--",
        "sh",
        "-c",
        agent,
    ]);
    call.env("XDG_RUNTIME_DIR", folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut proxy = call.spawn().unwrap();
    let mut output = String::new();
    proxy
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut output)
        .unwrap();
    assert_eq!(output, "last\n");
    assert!(proxy.try_wait().unwrap().is_none(), "the agent still runs");
    drop(proxy.stdin.take());
    assert_eq!(proxy.wait().unwrap().code(), Some(3));
}

/// Speaks AAEP at a proxy's socket.
struct Watcher(BufReader<UnixStream>);

impl Watcher {
    fn new(place: &Path) -> Self {
        let stream = UnixStream::connect(place).unwrap();
        let mut watcher = Self(BufReader::new(stream));
        watcher.say(&json!({"type": "subscription.request", "aaep_version": "1.0.0", "subscriber_id": "test",
            "capabilities": {"supports_confirmation_reply": true}}));
        assert_eq!(watcher.hear()["type"], "subscription.accepted");
        watcher
    }

    fn say(&mut self, message: &Value) {
        // The connection may already have ended.
        let _ = writeln!(self.0.get_mut(), "{message}");
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_default()
    }

    fn decide(&mut self, token: &str, decision: &str) {
        self.say(
            &json!({"type": "confirmation.reply", "reply_token": token, "decision": decision,
            "subscription_id": "sub_1", "timestamp": "2026-01-01T00:00:00Z"}),
        );
    }
}

#[test]
fn both_answer_a_thousand_questions_and_each_is_decided_once() {
    const ALL: u64 = 1000;
    let mut between = ProxyRig::new(&[]);
    let place = between.begin();
    let mut watcher = Watcher::new(&place);
    // The person allows everything, the editor nothing: so it shows who decided.
    std::thread::spawn(move || {
        loop {
            let event = watcher.hear();
            if event.is_null() {
                return;
            }
            if let Some(token) = event["reply_token"].as_str() {
                watcher.decide(token, "accept");
            }
        }
    });
    let (mut editors, mut ours) = (0, 0);
    for number in 0..ALL {
        // Ids repeat.
        let id = number % 3;
        between.asks(id);
        let mut cancelled = false;
        if number % 4 == 0 {
            // Slow enough to be late.
            assert_eq!(between.editor_hears()["method"], "$/cancel_request");
            cancelled = true;
        } else if number % 4 == 1 {
            std::thread::sleep(Duration::from_micros(number * 8));
        }
        between.editor_says(format!("{}\n", answer(id, "no")));
        let decided = between.agent_hears();
        assert_eq!(decided["id"], id);
        match decided["result"]["outcome"]["optionId"].as_str() {
            Some("no") => editors += 1,
            Some("once") => {
                ours += 1;
                if !cancelled {
                    assert_eq!(between.editor_hears()["params"]["requestId"], id);
                }
            }
            other => panic!("{other:?}"),
        }
        // The next message must not be a second decision.
        let mark = json!({"jsonrpc": "2.0", "method": "mark", "params": {"n": number}});
        between.editor_says(format!("{mark}\n"));
        assert_eq!(between.agent_hears(), mark);
    }
    assert_eq!(editors + ours, ALL);
    assert!(ours >= ALL / 4, "{ours}");
    assert_eq!(between.end(), 7);
}

fn watch(between: &ProxyRig, more: &[&str]) -> Hearken {
    let mut call = command(&["watch", "unix:mock", "--voice", "none"]);
    call.args(more)
        .env("XDG_RUNTIME_DIR", between.folder.path());
    Hearken::spawn(&mut call)
}

#[test]
fn it_is_watched_and_answered_from_a_terminal_and_in_the_editor() {
    let mut between = ProxyRig::new(&[]);
    between.begin();
    // The question is there before anyone watches.
    between.asks(0);
    let mut hearken = watch(&between, &["--face", "linear"]);
    hearken.wait("the question", |line| line.contains("Fox asks: touch x"));
    hearken.wait("its answers", |line| line.contains("y 1"));
    std::thread::sleep(Duration::from_millis(600));
    hearken.say("y 1");
    hearken.wait("the second step", |line| {
        phrase!("reply.second_step.lines", n = 1).is_in(line)
    });
    hearken.say("c 1");
    assert_eq!(between.agent_hears(), answer(0, "once"));
    assert_eq!(between.editor_hears()["params"]["requestId"], 0);
    between.editor_says(format!("{}\n", answer(0, "no")));
    between.asks(1);
    hearken.wait("the next question", |line| line.contains("y 2"));
    between.editor_says(format!("{}\n", answer(1, "no")));
    assert_eq!(between.agent_hears(), answer(1, "no"));
    hearken.wait("its end", |line| line.contains("settled without you"));
    between.agent_says(format!(
        "{}\n",
        json!({"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "end_turn"}})
    ));
    hearken.wait("the end of the turn", |line| {
        line.contains("Finished") || line.contains("finished")
    });
    between.editor_hears();
    assert_eq!(between.end(), 7);
}

/// Creates a voice that writes down what it is given to say.
fn voice(folder: &Path) -> String {
    let program = folder.join("voice");
    let text = format!(
        "#!/bin/sh\ncat >> {0}/said; echo >> {0}/said\n",
        folder.display()
    );
    std::fs::write(&program, text).unwrap();
    let rights = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(&program, rights).unwrap();
    format!("command:{}", program.display())
}

#[test]
fn it_speaks_unless_somebody_watches_and_again_when_they_have_left() {
    let voices = tempfile::tempdir().unwrap();
    let said = || std::fs::read_to_string(voices.path().join("said")).unwrap_or_default();
    let says = |text: &str| {
        format!(
            "{}\n",
            json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s",
            "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}}})
        )
    };
    let mut between = ProxyRig::new(&["--voice", &voice(voices.path())]);
    between.begin();
    between.agent_says(says("This is the first sentence. "));
    until("the first sentence", || {
        said().contains("first sentence").then_some(())
    });
    let mut hearken = watch(&between, &["--face", "linear"]);
    hearken.wait("the connection", |line| line.contains("Connected"));
    // The speaker is gone while there is a watcher.
    until("silence", || {
        between
            .listener()
            .is_some_and(|it| children(it.as_raw_pid() as u32).is_empty())
            .then_some(())
    });
    between.agent_says(says("This is the second sentence. "));
    hearken.wait("the second sentence", |line| {
        line.contains("second sentence")
    });
    assert!(!said().contains("second sentence"));
    hearken.say("q");
    hearken.exit();
    between.asks(4);
    until("the question", || said().contains("touch x").then_some(()));
    assert!(!said().contains("second sentence"));
}

#[test]
fn what_the_listener_missed_is_told() {
    let mut between = ProxyRig::new(&[]);
    between.begin();
    let mut hearken = watch(&between, &["--face", "linear"]);
    hearken.wait("the session", |line| line.contains("Fox started"));
    let listener = between.listener().unwrap();
    kill_process(listener, Signal::STOP).unwrap();
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":\"{}\"}}\n",
        "y".repeat(1 << 20)
    );
    for _ in 0..24 {
        between.both_ways(line.as_bytes());
    }
    // A question among the missed messages is asked all the same.
    between.asks(9);
    kill_process(listener, Signal::CONT).unwrap();
    hearken.wait("what was missed", |line| {
        phrase!("acp.along.missed").is_in(line)
    });
    hearken.wait("the question", |line| line.contains("touch x"));
    hearken.say("q");
    hearken.wait("that it stays open", |line| {
        phrase!("quit.default.not_stated").is_in(line)
    });
    hearken.say("q");
    hearken.exit();
    assert_eq!(between.end(), 7);
}

#[test]
fn a_second_editor_has_a_name_of_its_own_and_what_can_not_be_started_is_said() {
    let between = ProxyRig::new(&[]);
    until("the socket", || {
        UnixStream::connect(between.place("mock"))
            .is_ok()
            .then_some(())
    });
    // It exists a moment before its permissions are set; a client in that moment is checked all the same.
    until("a socket for this user alone", || {
        let about = between.place("mock").metadata().ok()?;
        let mode = std::os::unix::fs::PermissionsExt::mode(&about.permissions());
        (mode & 0o777 == 0o600).then_some(())
    });
    let mut call = command(&[
        "acp-proxy",
        "--voice",
        "none",
        "--name",
        "mock",
        "--",
        "sleep",
        "1000",
    ]);
    call.env("XDG_RUNTIME_DIR", between.folder.path());
    let second = Hearken::spawn(&mut call);
    until("the other socket", || {
        UnixStream::connect(between.place("mock-2"))
            .is_ok()
            .then_some(())
    });
    // A signal passes on, and ends both.
    second.signal(Signal::TERM);
    let (code, errors, lines) = second.exit();
    assert_eq!((code, lines.len()), (128 + 15, 0));
    assert!(errors.contains("hearken watch unix:mock-2"), "{errors}");
    let call = command(&["acp-proxy", "--", "/nonexistent/agent"])
        .output()
        .unwrap();
    assert_eq!((call.status.code(), call.stdout.len()), (Some(2), 0));
    assert!(String::from_utf8_lossy(&call.stderr).contains("can't be started"));
    let call = command(&["acp-proxy", "--name", "a/b", "--", "cat"])
        .output()
        .unwrap();
    assert_eq!(call.status.code(), Some(2));
    assert_eq!(between.end(), 7);
}
