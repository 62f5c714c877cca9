//! The real app-server of Codex, with two clients on its threads: hearken, and another one that only follows
//! instructions.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use hearken_wording::phrase;
use serde_json::{Value, json};

use super::agent_home::{NEWEST, modules, start_model};
use super::child::{Hearken, command};
use super::{PATIENCE, free_port, kinds};

const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/client.mjs");

fn node() -> Command {
    Command::new(modules(NEWEST).join("node/bin/node"))
}

/// A home for Codex, its model, and its server.
struct CodexHome {
    folder: tempfile::TempDir,
    model: Child,
    server: Child,
    port: u16,
}

/// Prepares a home with a working folder and Codex's settings, and starts its model.
pub(super) fn prepared(folder: &tempfile::TempDir, more: &str) -> (PathBuf, Child) {
    let home = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(home.join("work")).unwrap();
    std::fs::create_dir_all(home.join("codex")).unwrap();
    let (model, port) = start_model(&home);
    let settings = format!(
        "{more}model = \"m\"\nmodel_provider = \"mock\"\napproval_policy = \"on-request\"\n\
         sandbox_mode = \"workspace-write\"\n[model_providers.mock]\nname = \"Mock\"\n\
         base_url = \"http://127.0.0.1:{port}/v1\"\nwire_api = \"responses\"\n"
    );
    std::fs::write(home.join("codex/config.toml"), settings).unwrap();
    (home, model)
}

/// Returns the program itself: if the wrapper script were killed, it would leave the program behind.
pub(super) fn program() -> PathBuf {
    let vendor = modules(NEWEST).join("@openai");
    let mut found = Vec::new();
    for package in std::fs::read_dir(&vendor).unwrap() {
        let vendor = package.unwrap().path().join("vendor");
        for target in std::fs::read_dir(vendor).into_iter().flatten() {
            found.push(target.unwrap().path().join("bin/codex"));
        }
    }
    let program = found.into_iter().find(|path| path.is_file());
    program.expect("@openai/codex is missing; .ci/run installs it")
}

impl CodexHome {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (home, model) = prepared(&folder, "");
        let port = free_port();
        let server = serve(&home, port);
        Self {
            folder,
            model,
            server,
            port,
        }
    }

    fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn has(&self, file: &str) -> bool {
        self.home().join("work").join(file).exists()
    }

    fn address(&self) -> String {
        format!("ws://127.0.0.1:{}", self.port)
    }

    fn hearken(&self) -> Hearken {
        let source = format!("codex:{}", self.address());
        let arguments = ["watch", &source, "--voice", "none", "--face", "json"];
        Hearken::spawn(&mut command(&arguments))
    }

    /// Kills the server, and restarts it at the same address.
    fn kill_and_restart(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
        self.server = serve(&self.home(), self.port);
    }
}

impl Drop for CodexHome {
    fn drop(&mut self) {
        for child in [&mut self.server, &mut self.model] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Starts the server, and waits until it listens.
fn serve(home: &std::path::Path, port: u16) -> Child {
    let server = Command::new(program())
        .args(["app-server", "--listen", &format!("ws://127.0.0.1:{port}")])
        .current_dir(home.join("work"))
        .env("HOME", home)
        .env("CODEX_HOME", home.join("codex"))
        .env_remove("OPENAI_API_KEY")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let since = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(since.elapsed() < PATIENCE, "the server does not listen");
        std::thread::sleep(Duration::from_millis(50));
    }
    server
}

/// Another client.
struct CodexClient {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    last: u64,
}

impl CodexClient {
    fn new(scene: &CodexHome) -> Self {
        let mut child = node()
            .arg(CLIENT)
            .arg(scene.address())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node is there");
        let input = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "open");
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = sender.send(serde_json::from_str(&line).unwrap());
            }
        });
        let mut client = Self {
            child,
            input,
            messages,
            last: 0,
        };
        let info = json!({"name": "other", "title": "other", "version": "1"});
        client.ask("initialize", json!({"clientInfo": info}));
        client.send(json!({"method": "initialized"}));
        client
    }

    fn send(&mut self, message: Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn wait(&mut self, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(left);
            let message = message.unwrap_or_else(|_| panic!("{what} did not come"));
            if is(&message) {
                return message;
            }
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.send(json!({"id": id, "method": method, "params": params}));
        let answer = self.wait(method, |it| it["id"] == id && it.get("method").is_none());
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn begins(&mut self, scene: &CodexHome) -> String {
        let params = json!({"cwd": scene.home().join("work")});
        let thread = self.ask("thread/start", params);
        thread["thread"]["id"].as_str().unwrap().to_owned()
    }

    fn prompts(&mut self, thread: &str, words: &str) {
        let input = json!([{"type": "text", "text": words}]);
        self.ask("turn/start", json!({"threadId": thread, "input": input}));
    }

    /// Waits until it is itself asked, and returns the id.
    fn asked(&mut self) -> Value {
        let method = "item/commandExecution/requestApproval";
        self.wait("the question", |it| it["method"] == method)["id"].clone()
    }
}

impl Drop for CodexClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for a question, and returns its number.
pub(super) fn asked(hearken: &mut Hearken, words: &str) -> String {
    number_of(&hearken.announced("confirmation", words))
}

pub(super) fn number_of(question: &Value) -> String {
    let text = question["text"].as_str().unwrap();
    assert!(phrase!("question.risk.unknown").is_in(text), "{text}");
    // With several agents, it says whose it is.
    let number = text
        .strip_prefix("Question ")
        .unwrap()
        .split([' ', '.'])
        .next()
        .unwrap();
    number.to_owned()
}

fn count(hearken: &Hearken, kind: &str) -> usize {
    kinds(hearken).iter().filter(|it| *it == kind).count()
}

pub(super) fn accept(hearken: &mut Hearken, n: &str) {
    hearken.say(&format!("y {n}"));
    hearken.announced("reply", phrase!("reply.second_step.*"));
    hearken.say(&format!("c {n}"));
}

pub(super) fn leave(mut hearken: Hearken) {
    let seen = kinds(&hearken);
    for never in ["danger", "anomaly"] {
        assert!(!seen.iter().any(|kind| kind == never), "{never}: {seen:?}");
    }
    hearken.leave();
    let (code, _, seen) = hearken.exit();
    assert_eq!(code, 0, "{}", seen.join("\n"));
}

#[test]
fn codex_is_heard_answered_prompted_and_stopped_beside_another_client() {
    let scene = CodexHome::new();
    let mut hearken = scene.hearken();
    hearken.announced("connection", phrase!("codex.no_thread"));
    let mut other = CodexClient::new(&scene);
    let thread = other.begins(&scene);
    // Its first turn is heard although nothing of it was stored when it began.
    other.prompts(&thread, "ask: touch a.txt");
    let n = asked(&mut hearken, "\ntouch a.txt\n");
    assert!(!scene.has("a.txt"));
    accept(&mut hearken, &n);
    hearken.announced("tool_completed", "touch a.txt");
    hearken.announced("output", "The file stands there.");
    hearken.announced("session_completed", "Finished");
    assert!(scene.has("a.txt"));
    other.wait("the word", |it| it["method"] == "serverRequest/resolved");

    // Prompted from here, and rejected.
    hearken.say("> ask: touch b.txt");
    let n = asked(&mut hearken, "\ntouch b.txt\n");
    hearken.say(&format!("n {n}"));
    hearken.announced("reply", "Rejecting");
    hearken.announced("output", "Then not.");
    hearken.announced("session_completed", "Finished");
    assert!(!scene.has("b.txt"));
    while other.messages.try_recv().is_ok() {}

    // Answered by the other client.
    hearken.say("> ask: touch c.txt");
    let n = asked(&mut hearken, "\ntouch c.txt\n");
    let id = other.asked();
    other.send(json!({"id": id, "result": {"decision": "accept"}}));
    hearken.announced(
        "confirmation",
        &format!("Question {n} was settled without you."),
    );
    hearken.announced("session_completed", "Finished");
    assert!(scene.has("c.txt"));

    // Stopped while it asks, and while it writes.
    hearken.say("> ask: touch d.txt");
    let n = asked(&mut hearken, "\ntouch d.txt\n");
    for step in ["once more", "stop"] {
        hearken.say("stop");
        hearken.announced("reply", step);
    }
    hearken.announced(
        "confirmation",
        &format!("Question {n} is cancelled by your stop."),
    );
    hearken.announced(
        "session_cancelled",
        phrase!("session.cancelled.*", by = "user"),
    );
    assert!(!scene.has("d.txt"));
    hearken.say("> wait now");
    hearken.announced("output", "Sentence 2 stands here.");
    hearken.say("stop");
    hearken.announced("reply", phrase!("stop_turn.first.*"));
    hearken.say("stop");
    hearken.announced(
        "session_cancelled",
        phrase!("session.cancelled.*", by = "user"),
    );

    // Allowed from now on: the same again is not asked.
    hearken.say("> ask: touch e.txt");
    let n = asked(&mut hearken, "\ntouch e.txt\n");
    hearken.say(&format!("o {n} 1"));
    hearken.announced("reply", phrase!("codex.option.rule", rule = "touch"));
    hearken.say(&format!("c {n}"));
    hearken.announced("session_completed", "Finished");
    assert!(scene.has("e.txt"));
    let questions = count(&hearken, "confirmation");
    hearken.say("> ask: touch f.txt");
    hearken.announced("tool_completed", "touch f.txt");
    hearken.announced("session_completed", "Finished");
    assert_eq!(count(&hearken, "confirmation"), questions);
    leave(hearken);
}

#[test]
fn two_threads_of_codex_are_answered_each_by_its_own_question() {
    let scene = CodexHome::new();
    let mut other = CodexClient::new(&scene);
    let (one, two) = (other.begins(&scene), other.begins(&scene));
    let mut hearken = scene.hearken();
    hearken.announced("connection", phrase!("codex.attached", n = 2));
    other.prompts(&one, "ask: touch one.txt");
    other.prompts(&two, "ask: touch two.txt");
    // Either may come first.
    let question = |hearken: &mut Hearken, words: &str| {
        let mut seen = hearken
            .seen()
            .iter()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let known = seen.find(|line| {
            line["kind"] == "confirmation" && line["text"].as_str().unwrap().contains(words)
        });
        known.map_or_else(|| asked(hearken, words), |known| number_of(&known))
    };
    let first = question(&mut hearken, "\ntouch one.txt\n");
    let second = question(&mut hearken, "\ntouch two.txt\n");
    hearken.say(&format!("n {first}"));
    hearken.announced("output", "Then not.");
    hearken.announced("session_completed", "Finished");
    accept(&mut hearken, &second);
    hearken.announced("tool_completed", "touch two.txt");
    hearken.announced("session_completed", "Finished");
    assert_eq!((scene.has("one.txt"), scene.has("two.txt")), (false, true));
    leave(hearken);
}

#[test]
fn a_server_of_codex_is_killed_and_comes_back() {
    let mut scene = CodexHome::new();
    let mut other = CodexClient::new(&scene);
    let thread = other.begins(&scene);
    let mut hearken = scene.hearken();
    hearken.announced("connection", phrase!("codex.attached", n = 1));
    other.prompts(&thread, "ask: touch a.txt");
    let n = asked(&mut hearken, "\ntouch a.txt\n");
    scene.kill_and_restart();
    hearken.announced("confirmation", &format!("took question {n} back"));
    hearken.announced("session_cancelled", phrase!("acp.end.cancelled"));
    // Another client opens the thread again: it is heard, and its ids restart.
    let mut other = CodexClient::new(&scene);
    other.ask(
        "thread/resume",
        json!({"threadId": thread, "excludeTurns": true}),
    );
    other.prompts(&thread, "ask: touch b.txt");
    let n = asked(&mut hearken, "\ntouch b.txt\n");
    accept(&mut hearken, &n);
    hearken.announced("tool_completed", "touch b.txt");
    hearken.announced("session_completed", "Finished");
    assert_eq!((scene.has("a.txt"), scene.has("b.txt")), (false, true));
    leave(hearken);
}
