//! The producers on PyPI under bad conditions: killed and restarted in the middle of a question, cut off and
//! reconnected with the server alive, joined late, two at the same time. Every sentence must be true when it is
//! said, and none is said twice.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use hearken_wording::phrase;
use serde_json::{Value, json};

use super::{ProducerProcess, answered, exchange, free_port, watch};
use crate::child::Hearken;

/// Sentences that are untrue in all of these situations.
const NEVER: [&str; 7] = [
    "could not be",
    "not delivered",
    "did not come back",
    "when time runs out",
    "you were not asked",
    "nobody was asked",
    "is up, and on the new connection",
];

/// A producer that asks, and how to make it ask.
#[derive(Clone, Copy)]
struct AskingProducer {
    name: &'static str,
    option: &'static str,
    more: &'static [&'static str],
    /// The tool it calls on request, and its words when that is done.
    tool: &'static str,
    done: &'static str,
}

const ASKERS: [AskingProducer; 3] = [
    AskingProducer {
        name: "aaep-minimal-producer",
        option: "--port",
        more: &[],
        tool: "send_email",
        done: "Email sent to",
    },
    AskingProducer {
        name: "aaep-maf-server",
        option: "--port",
        more: &[],
        tool: "send_email",
        done: "Email sent to",
    },
    BRIDGE,
];

const BRIDGE: AskingProducer = AskingProducer {
    name: "aaep-mcp-bridge",
    option: "--aaep-port",
    more: &["--mcp-server", "true"],
    tool: "delete_file",
    done: "Mock result for delete_file",
};

impl AskingProducer {
    fn start(self, port: u16) -> ProducerProcess {
        ProducerProcess::start_by(self.name, self.option, port, self.more)
    }

    /// Makes it ask; the handle returns its final answer to the caller.
    fn ask(self, peer: &ProducerProcess) -> JoinHandle<String> {
        let (path, body) = if self.name == BRIDGE.name {
            let params = json!({"name": self.tool, "arguments": {"path": "/tmp/letter"}});
            let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
            ("/mcp", call)
        } else {
            ("/sessions", json!({"user_message": "Send an email to bob"}))
        };
        let port = peer.port;
        std::thread::spawn(move || exchange(port, path, &body.to_string()))
    }

    /// Waits for its question and returns it.
    fn question(self, hearken: &mut Hearken, n: u32) -> Value {
        let question = hearken.announced("confirmation", &format!("Question {n}"));
        assert!(question["text"].as_str().unwrap().contains(self.tool));
        question
    }
}

/// Plays a situation with every producer that asks, all at the same time.
fn each(situation: impl Fn(AskingProducer) + Sync) {
    std::thread::scope(|scope| {
        for asker in ASKERS {
            let situation = &situation;
            scope.spawn(move || situation(asker));
        }
    });
}

/// Forwards bytes to a server, until it is cut.
struct Proxy {
    port: u16,
    streams: Arc<Mutex<Vec<TcpStream>>>,
}

impl Proxy {
    fn before(peer: &ProducerProcess) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let streams: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let (to, kept) = (peer.port, Arc::clone(&streams));
        std::thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let Ok(far) = TcpStream::connect(("127.0.0.1", to)) else {
                    continue;
                };
                let mut kept = kept.lock().unwrap();
                for (from, to) in [(&near, &far), (&far, &near)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    std::thread::spawn(move || pass(from, to));
                }
                kept.extend([near, far]);
            }
        });
        Self { port, streams }
    }

    fn watch(&self) -> Hearken {
        let url = format!("http://127.0.0.1:{}", self.port);
        let mut hearken = Hearken::start(&["watch", &url, "--face", "json", "--voice", "none"]);
        hearken.announced("connection", "Connected");
        hearken
    }

    /// Cuts every connection through it; new ones are accepted.
    fn cut(&self) {
        for stream in self.streams.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream) {
    let mut bytes = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

/// Answers as another client of the same server does.
fn decide(peer: &ProducerProcess, question: &Value, decision: &str) {
    let reply = json!({
        "type": "confirmation.reply", "reply_token": question["reply_token"], "decision": decision,
        "subscription_id": "sub_another", "timestamp": "2026-01-01T00:00:00Z",
    });
    let status = peer.post("/messages", &reply.to_string());
    assert!(status.contains(" 200"), "{status}");
}

fn accept(hearken: &mut Hearken, n: u32) {
    hearken.say(&format!("y {n}"));
    hearken.announced("reply", phrase!("reply.second_step.*"));
    hearken.say(&format!("c {n}"));
    answered(hearken);
}

/// Returns the announcements, each with its kind.
fn told(hearken: &Hearken) -> Vec<(String, String)> {
    let line = |line: &String| {
        let line: Value = serde_json::from_str(line).unwrap();
        let word = |field: &str| line[field].as_str().unwrap().to_owned();
        (word("kind"), word("text"))
    };
    hearken.seen().iter().map(line).collect()
}

/// Checks that nothing untrue was said, and no outcome twice.
fn all_true(hearken: &Hearken) {
    let told = told(hearken);
    for (at, (kind, text)) in told.iter().enumerate() {
        assert_ne!(kind, "danger", "{text}");
        for never in NEVER {
            assert!(!text.contains(never), "{never}: {told:#?}");
        }
        let outcome =
            ["tool_completed", "confirmation", "session_completed"].contains(&kind.as_str());
        if outcome && text.contains("uestion") {
            assert!(
                !told[..at].contains(&(kind.clone(), text.clone())),
                "twice: {text}"
            );
        }
    }
}

fn position(hearken: &Hearken, words: &str) -> Option<usize> {
    told(hearken)
        .iter()
        .position(|(_, text)| text.contains(words))
}

#[test]
fn killed_and_started_anew_in_the_middle_of_a_question() {
    each(|asker| {
        let peer = asker.start(free_port());
        let mut hearken = watch(&peer);
        let _ = asker.ask(&peer);
        asker.question(&mut hearken, 1);
        let port = peer.kill();
        hearken.announced("connection", "is lost");
        hearken.announced(
            "confirmation",
            "It may already be decided. Without an answer the agent takes it as rejected.",
        );
        let peer = asker.start(port);
        hearken.announced("connection", "is back");
        // It may be the one that asked, so an answer is taken, with a doubt and in two steps.
        hearken.announced("confirmation", phrase!("question.again.perhaps"));
        hearken.say("t");
        hearken.announced(
            "reply",
            phrase!("status.session.lost", phase = "waiting for your answer"),
        );
        hearken.say("y 1");
        hearken.announced("reply", phrase!("reply.second_step.*"));
        hearken.say("c 1");
        hearken.announced("reply", "Sent.");
        // The new server does not know it, and asks its own question.
        let _ = asker.ask(&peer);
        asker.question(&mut hearken, 2);
        accept(&mut hearken, 2);
        hearken.wait("done", |line| line.contains(asker.done));
        all_true(&hearken);
        assert_eq!(position(&hearken, "Already running"), None);
    });
}

#[test]
fn cut_off_and_back_with_the_server_alive_while_somebody_else_decides() {
    each(|asker| {
        let peer = asker.start(free_port());
        let proxy = Proxy::before(&peer);
        let mut hearken = proxy.watch();
        let _ = asker.ask(&peer);
        let question = asker.question(&mut hearken, 1);
        proxy.cut();
        hearken.announced(
            "confirmation",
            "It may already be decided. Without an answer the agent takes it as rejected.",
        );
        hearken.announced("connection", "is back");
        hearken.announced("confirmation", phrase!("question.again.perhaps"));
        decide(&peer, &question, "accept");
        hearken.announced("tool_completed", asker.done);
        hearken.announced("confirmation", phrase!("question.closed.accepted", n = 1));
        hearken.say("y 1");
        hearken.announced(
            "reply",
            "Question 1 was settled without you, apparently by accepting. Nothing was sent.",
        );
        all_true(&hearken);
        assert_eq!(position(&hearken, "Already running"), None);
    });
}

#[test]
fn cut_off_right_after_the_answer() {
    each(|asker| {
        let peer = asker.start(free_port());
        let proxy = Proxy::before(&peer);
        let mut hearken = proxy.watch();
        let _ = asker.ask(&peer);
        asker.question(&mut hearken, 1);
        accept(&mut hearken, 1);
        proxy.cut();
        hearken.announced("connection", "is lost");
        hearken.announced("connection", "is back");
        let lost = position(&hearken, "is lost").unwrap();
        // It may be done before the cut, after it or in between, depending on the machine.
        if position(&hearken, "Question 1 is settled").is_none_or(|settled| settled > lost) {
            let after = "The connection was lost after your answer to question 1: accept. What the agent made of it is not known.";
            let meanwhile = "The connection was lost while your answer to question 1 was on its way: accept. Whether it arrived is not known.";
            let told_of = [after, meanwhile].map(|words| position(&hearken, words));
            assert!(told_of.iter().any(Option::is_some), "{:#?}", told(&hearken));
        }
        hearken.say("n 1");
        hearken.wait("refusal", |line| {
            phrase!("reply.under_way", answer = "accept").is_in(line)
                || phrase!("reply.over.answered").is_in(line)
        });
        all_true(&hearken);
        // A person who accepted it is not told that it counts as rejected.
        assert_eq!(position(&hearken, "takes it as rejected"), None);
    });
}

#[test]
fn joined_after_the_question_was_asked() {
    each(|asker| {
        for (answer, outcome) in [("y 1", asker.done), ("n 1", "declined")] {
            let peer = asker.start(free_port());
            let mut first = watch(&peer);
            let _ = asker.ask(&peer);
            asker.question(&mut first, 1);
            let mut late = watch(&peer);
            late.say("y");
            late.announced("reply", phrase!("reply.no_question"));
            if answer == "y 1" {
                accept(&mut first, 1);
            } else {
                first.say(answer);
            }
            late.announced("session_started", phrase!("session.joined"));
            late.announced("tool_completed", outcome);
            // Either the next state, or the words.
            late.wait("what follows", |_| true);
            all_true(&late);
            let told = told(&late);
            assert!(
                !told.iter().any(|(kind, _)| kind == "confirmation"),
                "{told:#?}"
            );
            first.announced("confirmation", phrase!("question.closed.answered"));
            all_true(&first);
        }
    });
}

/// The langchain producer never asks. After losing it while its tool runs, hearken knows neither that nor whether
/// the tool still runs.
#[test]
fn cut_off_while_a_tool_runs_that_nobody_was_asked_about() {
    let peer = ProducerProcess::start("aaep-langchain-server", free_port(), &[]);
    let mut hearken = watch(&peer);
    peer_asks(&peer);
    hearken.announced("tool_invoked", phrase!("tool.invoked.irreversible.*"));
    let port = peer.kill();
    hearken.announced("connection", "is lost");
    // On a busy machine, its tool may be done before the kill arrives.
    let done = position(&hearken, "send email was done");
    if done.is_none() {
        hearken.announced("danger", "");
    }
    let lost = position(&hearken, "is lost").unwrap();
    match done {
        Some(done) if done < lost => {}
        Some(_) | None => {
            let words = "send email had begun before its connection ended, can't be undone, and perhaps nobody was asked.";
            assert!(position(&hearken, words).is_some(), "{:#?}", told(&hearken));
            assert_eq!(position(&hearken, "is running, can't be undone"), None);
            hearken.say("t");
            hearken.announced(
                "reply",
                phrase!(
                    "status.session.lost",
                    phase = "working",
                    state = "using a tool",
                    tools = "running send email"
                ),
            );
        }
    }
    let _peer = ProducerProcess::start("aaep-langchain-server", port, &[]);
    hearken.announced("connection", "is back");
    let dangers = told(&hearken)
        .into_iter()
        .filter(|(kind, _)| kind == "danger");
    assert_eq!(dangers.count(), 1);
}

fn peer_asks(peer: &ProducerProcess) {
    let body = json!({"user_message": "Send an email to bob"}).to_string();
    let port = peer.port;
    // It may be killed before it answers.
    std::thread::spawn(move || exchange(port, "/sessions", &body));
}

/// Two calls of the same tool with the same words are two questions; each has its answer.
#[test]
fn the_bridge_asks_the_same_of_two_calls_at_once() {
    let peer = BRIDGE.start(free_port());
    let mut hearken = watch(&peer);
    let first = BRIDGE.ask(&peer);
    BRIDGE.question(&mut hearken, 1);
    let second = BRIDGE.ask(&peer);
    BRIDGE.question(&mut hearken, 2);
    hearken.say("n 2");
    hearken.announced(
        "confirmation",
        phrase!("question.closed.answered", n = 2, answer = "reject"),
    );
    assert!(second.join().unwrap().contains("User declined the action"));
    accept(&mut hearken, 1);
    assert!(
        first
            .join()
            .unwrap()
            .contains("Mock result for delete_file")
    );
    assert_eq!(position(&hearken, "asks it again"), None);
    all_true(&hearken);
}
