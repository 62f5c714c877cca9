//! Real producers and agents from PyPI and npm, none of them written here, on loopback. `.ci/run` installs them and
//! names the folder in `HEARKEN_PEERS`; without them these tests fail, because they can't run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

#[path = "peers/a2a.rs"]
mod a2a;
#[path = "peers/agent_home.rs"]
mod agent_home;
#[path = "peers/agent_oversight.rs"]
mod agent_oversight;
#[path = "peers/agui.rs"]
mod agui;
#[path = "peers/appendix.rs"]
mod appendix;
#[path = "peers/attached_opencode.rs"]
mod attached_opencode;
#[path = "peers/blips.rs"]
mod blips;
#[path = "peers/bridged_agents.rs"]
mod bridged_agents;
#[path = "peers/broker/mod.rs"]
mod broker;
#[path = "support/child.rs"]
#[allow(dead_code, reason = "not every test that shares it uses all of it")]
mod child;
#[path = "peers/codex_server.rs"]
mod codex_server;
#[path = "peers/codex_terminal.rs"]
mod codex_terminal;
mod conformance;
#[path = "peers/examples.rs"]
mod examples;
#[path = "peers/mcp_tools.rs"]
mod mcp_tools;
#[path = "peers/npm_agents.rs"]
mod npm_agents;
#[allow(dead_code, reason = "what documents need besides is another binary's")]
#[path = "support/page.rs"]
mod page;
#[path = "peers/peer_screen.rs"]
mod peer_screen;
#[path = "peers/producers.rs"]
mod producers;
#[path = "peers/python_duplex.rs"]
mod python_duplex;
#[path = "peers/real_hooks.rs"]
mod real_hooks;
#[path = "peers/real_proxy.rs"]
mod real_proxy;
mod several_producers;
#[path = "peers/suite.rs"]
mod suite;
#[path = "peers/tried_agents.rs"]
mod tried_agents;

use hearken_wording::phrase;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use child::Hearken;
use serde_json::Value;

/// The time within which a Python server starts even on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A running producer.
struct ProducerProcess {
    child: Child,
    port: u16,
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

fn program(name: &str) -> Command {
    let folder = std::env::var("HEARKEN_PEERS")
        .expect("HEARKEN_PEERS names the virtual environment with the producers; .ci/run makes it");
    Command::new(format!("{folder}/bin/{name}"))
}

impl ProducerProcess {
    fn start(name: &str, port: u16, more: &[&str]) -> Self {
        Self::start_by(name, "--port", port, more)
    }

    /// Starts one that takes its port from an option of another name.
    fn start_by(name: &str, option: &str, port: u16, more: &[&str]) -> Self {
        let child = program(name)
            .args([option, &port.to_string()])
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let peer = Self { child, port };
        let until = Instant::now() + PATIENCE;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < until, "{name} does not listen");
            std::thread::yield_now();
        }
        peer
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Posts JSON and returns the status line.
    fn post(&self, path: &str, body: &str) -> String {
        let answer = exchange(self.port, path, body);
        answer.lines().next().unwrap_or_default().to_owned()
    }

    fn ask(&self, message: &str) {
        let status = self.post("/sessions", &format!("{{\"user_message\": \"{message}\"}}"));
        assert!(status.contains(" 20"), "{status}");
    }

    fn kill(mut self) -> u16 {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.port
    }
}

/// Posts JSON and returns the whole answer.
fn exchange(port: u16, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

impl Drop for ProducerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn watch(peer: &ProducerProcess) -> Hearken {
    let mut hearken = Hearken::start(&["watch", &peer.url(), "--face", "json", "--voice", "none"]);
    hearken.announced("connection", "Connected");
    hearken
}

fn kinds(hearken: &Hearken) -> Vec<String> {
    hearken
        .seen()
        .iter()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["kind"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect()
}

/// Waits until an answer is known to have been sent: it is reported as sent, or, if the event that settles the
/// question arrives before the answer to our POST, as settled by it.
fn answered(hearken: &mut Hearken) {
    hearken.wait("answer that went out", |line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = line["text"].as_str().unwrap();
        line["kind"] == "reply" && text.contains("Sent.")
            || line["kind"] == "confirmation" && text.contains("Your answer was")
    });
}

#[test]
fn a_balance_is_asked_for_and_heard_to_its_end() {
    let peer = ProducerProcess::start("aaep-minimal-producer", free_port(), &[]);
    let mut hearken = watch(&peer);
    peer.ask("What is my balance");
    hearken.announced("session_started", "What is my balance");
    hearken.announced("tool_invoked", "fetch_balance");
    hearken.announced("tool_completed", "$3,247.18");
    hearken.announced("output", "Here's what I found.");
    hearken.announced(
        "output",
        "Your account is in good standing with no pending issues.",
    );
    hearken.announced("output", "Is there anything else I can help you with?");
    hearken.announced("session_completed", "Response complete");
    let kinds = kinds(&hearken);
    assert!(
        !kinds
            .iter()
            .any(|kind| kind == "danger" || kind == "confirmation"),
        "{kinds:?}"
    );
}

/// Starts the email run and waits for its question.
fn asked(peer: &ProducerProcess, hearken: &mut Hearken) -> Value {
    peer.ask("Send an email to bob");
    hearken.announced("tool_invoked", phrase!("tool.invoked.irreversible.*"));
    let question = hearken.announced("confirmation", "Call send_email with arguments");
    assert_eq!(question["class"], "alert");
    assert!(
        question["reply_token"]
            .as_str()
            .unwrap()
            .starts_with("rpl_")
    );
    let text = question["text"].as_str().unwrap();
    for words in [
        "recipient@example.com",
        "cannot be easily undone",
        "High risk",
        "Can't be undone",
        "Silence rejects",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    question
}

#[test]
fn an_email_is_accepted() {
    let peer = ProducerProcess::start("aaep-minimal-producer", free_port(), &[]);
    let mut hearken = watch(&peer);
    asked(&peer, &mut hearken);
    hearken.say("y 1");
    hearken.announced("reply", phrase!("reply.second_step.*"));
    hearken.say("c 1");
    hearken.announced("reply", "Accepting");
    // The producer may settle the question before it answers our POST: then "sent" is never heard.
    hearken.announced("tool_completed", "Email sent to recipient@example.com");
    hearken.announced(
        "confirmation",
        phrase!("question.closed.answered", answer = "accept"),
    );
    hearken.announced("session_completed", "");
    assert!(!kinds(&hearken).iter().any(|kind| kind == "danger"));
}

#[test]
fn an_email_is_rejected() {
    let peer = ProducerProcess::start("aaep-minimal-producer", free_port(), &[]);
    let mut hearken = watch(&peer);
    asked(&peer, &mut hearken);
    hearken.say("n 1");
    hearken.announced("reply", "Rejecting");
    hearken.announced("tool_completed", "User declined to authorize this action");
    hearken.announced(
        "confirmation",
        phrase!("question.closed.answered", answer = "reject"),
    );
    // The agent's next words must not sound like the deed itself.
    let action = "Call send_email with arguments: to=recipient@example.com, subject=Re: your request, body=Following up as requested.";
    hearken.announced("output", phrase!("output.after_rejection", action = action));
    hearken.announced("session_completed", "");
    assert!(!kinds(&hearken).iter().any(|kind| kind == "danger"));
}

#[test]
fn a_server_that_dies_with_a_question_open_and_comes_back() {
    let peer = ProducerProcess::start("aaep-minimal-producer", free_port(), &[]);
    let mut hearken = watch(&peer);
    asked(&peer, &mut hearken);
    let port = peer.kill();
    hearken.announced("connection", "is lost");
    let fate = hearken.announced("confirmation", "may already be decided");
    assert!(
        fate["text"]
            .as_str()
            .unwrap()
            .contains("takes it as rejected"),
        "{fate}"
    );
    hearken.say("y 1");
    hearken.announced("reply", "can't be answered");
    let peer = ProducerProcess::start("aaep-minimal-producer", port, &[]);
    hearken.announced("connection", "is back");
    hearken.announced("confirmation", phrase!("question.again.perhaps"));
    hearken.say("y 1");
    hearken.announced("reply", phrase!("reply.second_step.*"));
    hearken.say("c 1");
    hearken.announced("reply", "Sent.");
    asked(&peer, &mut hearken);
    hearken.say("y 2");
    hearken.announced("reply", phrase!("reply.second_step.*"));
    hearken.say("c 2");
    hearken.announced("tool_completed", "Email sent");
    hearken.announced(
        "confirmation",
        phrase!("question.closed.answered", answer = "accept"),
    );
}

/// The langchain producer sends its email without asking: exactly one danger.
#[test]
fn an_agent_that_never_asks_is_a_danger() {
    let peer = ProducerProcess::start("aaep-langchain-server", free_port(), &[]);
    let mut hearken = watch(&peer);
    peer.ask("Send an email to bob");
    let danger = hearken.announced("danger", phrase!("danger.unasked.*"));
    assert_eq!(danger["class"], "alert");
    hearken.announced("session_completed", "");
    assert_eq!(
        kinds(&hearken)
            .iter()
            .filter(|kind| *kind == "danger")
            .count(),
        1
    );
}

#[test]
fn a_recording_is_read_by_the_peers_replay() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder
        .path()
        .join("run.jsonl")
        .to_string_lossy()
        .into_owned();
    {
        let peer = ProducerProcess::start("aaep-minimal-producer", free_port(), &[]);
        let mut hearken = Hearken::start(&[
            "watch",
            &peer.url(),
            "--face",
            "json",
            "--voice",
            "none",
            "--record",
            &file,
        ]);
        hearken.announced("connection", "Connected");
        peer.ask("What is my balance");
        hearken.announced("session_completed", "Response complete");
    }
    // It plays from its start, even without listeners; in a loop nothing is missed.
    let replay = ProducerProcess::start("aaep-replay", free_port(), &["--file", &file, "--loop"]);
    let mut hearken = watch(&replay);
    hearken.announced("tool_completed", "$3,247.18");
    hearken.announced("session_completed", "Response complete");
}
