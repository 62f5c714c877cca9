//! Agents on another machine, followed and answered by a person who never leaves the lines. The machine has a name and
//! a network of its own, in which nothing can be reached but its own loopback and, over one cable, the NATS server (and
//! the model of the agent's provider).

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use hearken_wording::phrase;
use serde_json::{Value, json};

use crate::agent_home::{AgentHome, OPENCODE, children};
use crate::child::{Hearken, command};

use super::nats_server::{NatsServer, settings};

/// The machine's name.
const NAME: &str = "build-7";

/// A machine: namespaces of its own for the network and the name, or, where the system allows none, only folders.
struct OtherMachine {
    folder: tempfile::TempDir,
    outside: Child,
    /// The process that holds the namespaces.
    inside: Option<Child>,
}

impl OtherMachine {
    /// Starts it, with the ports of this machine that it reaches.
    fn start(ports: &[u16]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ways: Vec<String> = ports
            .iter()
            .map(|port| format!("{port}={}/{port}", folder.path().display()))
            .collect();
        let cable = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/broker/cable.py");
        let run = |call: &mut Command, side: &str| {
            let call = call.arg(cable).arg(side).args(&ways);
            let mut child = call.stdout(Stdio::piped()).spawn().unwrap();
            let mut ready = std::io::BufReader::new(child.stdout.take().unwrap());
            let mut line = String::new();
            std::io::BufRead::read_line(&mut ready, &mut line).unwrap();
            assert_eq!(line, "ready\n", "{side}");
            child
        };
        let outside = run(&mut Command::new("python3"), "outside");
        let own = ["--user", "--map-root-user", "--net", "--uts"];
        let probe = Command::new("unshare").args(own).arg("true").status();
        let is_allowed = probe.is_ok_and(|status| status.success());
        let inside = is_allowed.then(|| {
            let mut call = Command::new("unshare");
            call.args(own).args(["--fork", "--kill-child", "sh", "-c"]);
            call.arg("hostname \"$0\" && exec python3 \"$@\"").arg(NAME);
            run(&mut call, "inside")
        });
        Self {
            folder,
            outside,
            inside,
        }
    }

    /// Returns a command that runs there.
    fn there(&self, command: &Command) -> Command {
        let mut there = match &self.inside {
            Some(inside) => {
                let holder = children(inside.id())[0].to_string();
                let mut call = Command::new("nsenter");
                call.args([
                    "--preserve-credentials",
                    "--user",
                    "--net",
                    "--uts",
                    "--target",
                ]);
                call.arg(holder).arg("--").arg(command.get_program());
                call
            }
            None => Command::new(command.get_program()),
        };
        there.args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => there.env(name, value),
                None => there.env_remove(name),
            };
        }
        there
    }

    /// Starts a bridge there, which goes by the machine's own name.
    fn bridge(&self, call: &Command) -> Hearken {
        let mut call = self.there(call);
        let mut bridge = Hearken::spawn(&mut call);
        bridge.wait("server", |line| phrase!("bridge.broker.up").is_in(line));
        bridge
    }

    /// Returns the option that names the machine, where it has no name of its own.
    fn name(&self) -> &[&str] {
        match self.inside {
            Some(_) => &[],
            None => &["--name", NAME],
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for OtherMachine {
    fn drop(&mut self) {
        for child in self.inside.iter_mut().chain([&mut self.outside]) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Follows a space by lines, as a person does.
fn lines(server: &NatsServer) -> Hearken {
    let url = server.url();
    let own = settings(server, "anna");
    let mut call = command(&["watch", &url, "--face", "linear", "--voice", "none"]);
    let mut hearken = Hearken::spawn(call.arg("--config").arg(own));
    hearken.wait("Connected", |line| line.contains("Connected"));
    hearken
}

/// Waits for words, and says others.
fn heard(hearken: &mut Hearken, words: &str, say: &str) {
    hearken.wait(words, |line| line.contains(words));
    if !say.is_empty() {
        hearken.say(say);
    }
}

#[test]
fn claude_code_by_its_hooks_is_answered_on_another_machine() {
    let server = NatsServer::start();
    let there = OtherMachine::start(&[server.port()]);
    let url = server.url();
    let mut call = command(&["bridge", "claude", "--to", &url]);
    call.args(there.name()).env("XDG_STATE_HOME", there.path());
    let _bridge = there.bridge(&call);
    let door = there.path().join("hearken/claude.json");
    let until = Instant::now() + crate::PATIENCE;
    while !door.exists() {
        assert!(Instant::now() < until, "nobody listens");
        std::thread::sleep(Duration::from_millis(10));
    }
    let hook = |event: &str, more: &Value| {
        let mut body = json!({
            "session_id": "s1", "transcript_path": "/tmp/x.jsonl", "cwd": "/work/s1",
            "permission_mode": "default", "hook_event_name": event,
        });
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let mut relay = command(&["hooks", "relay"]);
        relay.env("XDG_STATE_HOME", there.path());
        let mut relay = there.there(&relay);
        let pipes = relay.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = pipes.stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut stdin, body.to_string().as_bytes()).unwrap();
        child
    };
    let ended = |child: Child| -> Output { child.wait_with_output().unwrap() };
    let decision = |child: Child| -> Value {
        let output = ended(child);
        let printed: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {output:?}"));
        printed["hookSpecificOutput"]["decision"].clone()
    };

    let mut hearken = lines(&server);
    ended(hook("UserPromptSubmit", &json!({"prompt": "make a file"})));
    heard(&mut hearken, "Claude Code", "");
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "touch notes.txt"}});
    let asks = hook("PermissionRequest", &call);
    heard(&mut hearken, "touch notes.txt", "");
    heard(&mut hearken, "y 1", "y 1");
    heard(&mut hearken, "c 1 to confirm", "c 1");
    assert_eq!(decision(asks)["behavior"], "allow");
    // The agent may go on before its bridge has reported that the answer arrived.
    let outcomes = ["Sent.", "Settled."];
    hearken.wait("outcome", |line| {
        outcomes.iter().any(|it| line.contains(it))
    });
    let asks = hook("PermissionRequest", &call);
    heard(&mut hearken, "n 2", "r 2 not today");
    let rejected = decision(asks);
    assert_eq!(rejected["behavior"], "deny");
    let message = rejected["message"].as_str().unwrap();
    assert!(message.contains("not today"), "{message}");
    // What its hooks can't do is said.
    hearken.say("> go on");
    heard(&mut hearken, "told what to do", "q");
    assert_eq!(hearken.exit().0, 0);
}

#[test]
fn opencode_is_prompted_answered_and_stopped_on_another_machine() {
    let server = NatsServer::start();
    let scene = AgentHome::new(&OPENCODE);
    let own = std::fs::read_to_string(scene.work().join("opencode.json")).unwrap();
    let own: Value = serde_json::from_str(&own).unwrap();
    let model = own["provider"]["mock"]["options"]["baseURL"]
        .as_str()
        .unwrap();
    let model: u16 = model
        .split([':', '/'])
        .find_map(|part| part.parse().ok())
        .unwrap();
    let there = OtherMachine::start(&[server.port(), model]);
    let url = server.url();
    let mut call = scene.command(&["bridge", "--to", &url, "--cwd"]);
    call.arg(scene.work()).args(there.name());
    call.args(["--", "opencode", "acp"]);
    let _bridge = there.bridge(&call);

    let mut hearken = lines(&server);
    heard(
        &mut hearken,
        "asks only where its own settings say so",
        "> say hello",
    );
    heard(&mut hearken, "It has two sentences.", "");
    heard(&mut hearken, "Finished", "> touch a.txt");
    heard(&mut hearken, "touch a.txt", "");
    heard(&mut hearken, "y 1", "y 1");
    heard(&mut hearken, "c 1 to confirm", "");
    assert!(!scene.has("a.txt"));
    hearken.say("c 1");
    heard(&mut hearken, "Finished", "> touch b.txt");
    assert!(scene.has("a.txt"));
    heard(&mut hearken, "touch b.txt", "");
    heard(&mut hearken, "n 2", "r 2 too risky");
    heard(&mut hearken, "Rejecting", "");
    hearken.wait("the end of the turn", |line| {
        line.contains("Finished") || line.contains("Cancelled")
    });
    assert!(!scene.has("b.txt"));
    hearken.say("> wait now");
    heard(&mut hearken, "Sentence 2 stands here.", "stop");
    heard(&mut hearken, "Type stop once more", "stop");
    heard(&mut hearken, "Cancelled", "q");
    let (code, _, seen) = hearken.exit();
    assert_eq!(code, 0, "{seen:?}");
    // The rejection and its reason reach the agent's model.
    assert!(scene.asked().contains("wait now"));
}

/// A machine that has its own network reaches nothing of this one but over its cable.
#[test]
fn nothing_else_of_this_machine_is_reached_from_there() {
    let server = NatsServer::start();
    let there = OtherMachine::start(&[server.port()]);
    if there.inside.is_none() {
        // It is this machine, then.
        return assert_eq!(there.name(), ["--name", NAME]);
    }
    let other = NatsServer::start();
    let reaches = |port: u16| {
        let mut call = Command::new("python3");
        let script =
            "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5)";
        call.args(["-c", script, &port.to_string()]);
        let mut call = there.there(&call);
        call.stderr(Stdio::null()).status().unwrap().success()
    };
    assert!(reaches(server.port()));
    assert!(!reaches(other.port()));
}
