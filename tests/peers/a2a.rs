//! A2A servers built with its SDK, in both versions: hearken attached, and another client that only follows
//! instructions.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use hearken_wording::phrase;
use serde_json::{Value, json};

use super::child::{Hearken, command};
use super::{PATIENCE, free_port, kinds, program};

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/painter.py");

/// A server and the messages it received.
struct TaskServer {
    child: Child,
    asked: Receiver<String>,
    folder: tempfile::TempDir,
    version: &'static str,
    port: u16,
    last: u64,
}

impl TaskServer {
    fn new(version: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let (child, asked) = serve(&folder, version, port);
        Self {
            child,
            asked,
            folder,
            version,
            port,
            last: 0,
        }
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn comes_back(&mut self) {
        (self.child, self.asked) = serve(&self.folder, self.version, self.port);
    }

    fn hearken(&self, prefix: &str) -> Hearken {
        let source = format!("{prefix}http://127.0.0.1:{}", self.port);
        let arguments = [
            "watch",
            &source,
            "--voice",
            "none",
            "--face",
            "json",
            "--token-env",
            "HEARKEN_TEST_TOKEN",
        ];
        let mut hearken = Hearken::spawn(command(&arguments).env("HEARKEN_TEST_TOKEN", "s3cret"));
        hearken.announced("connection", phrase!("a2a.attached", name = "Painter"));
        hearken
    }

    /// Makes another client send a message, and returns the task.
    fn other(&mut self, words: &str, task: Option<&str>) -> String {
        self.last += 1;
        let id = format!("other-{}", self.last);
        let mut message = match self.version {
            "1.0" => json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": words}]}),
            _ => {
                json!({"kind": "message", "messageId": id, "role": "user", "parts": [{"kind": "text", "text": words}]})
            }
        };
        if let Some(task) = task {
            message["taskId"] = task.into();
        }
        let (method, configuration) = match self.version {
            "1.0" => ("SendMessage", json!({"returnImmediately": true})),
            _ => ("message/send", json!({"blocking": false})),
        };
        let params = json!({"message": message, "configuration": configuration});
        let answer = self.rpc(method, params);
        let result = &answer["result"];
        let id = result["task"]["id"].as_str().or(result["id"].as_str());
        id.unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    fn rpc(&self, method: &str, params: Value) -> Value {
        let body =
            json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(
            stream,
            "POST /rpc HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Authorization: Bearer s3cret\r\nA2A-Version: {}\r\nContent-Length: {}\r\n\r\n{body}",
            self.version,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"))
    }

    /// Returns the messages to the agent, in order.
    fn was_asked(&self) -> Vec<String> {
        self.asked.try_iter().collect()
    }
}

impl Drop for TaskServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Starts a server, and waits until it listens.
fn serve(folder: &tempfile::TempDir, version: &str, port: u16) -> (Child, Receiver<String>) {
    let mut child = program("python")
        .arg(SERVER)
        .args([&port.to_string(), version])
        .arg(folder.path().join("tasks.db"))
        .arg("s3cret")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a2a-sdk is missing; .ci/run installs it");
    let (sender, asked) = channel();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    let since = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(since.elapsed() < PATIENCE, "the server does not listen");
        std::thread::sleep(Duration::from_millis(50));
    }
    (child, asked)
}

/// Waits for a question, and returns its number.
fn asked(hearken: &mut Hearken, words: &str) -> String {
    let question = hearken.announced("clarification", words);
    let text = question["text"].as_str().unwrap();
    let number = text.strip_prefix("Question ").unwrap();
    number.split([' ', '.']).next().unwrap().to_owned()
}

/// Returns everything that the agent said, in order.
fn said(hearken: &Hearken) -> String {
    let lines = hearken.seen().iter();
    let lines = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let outputs = lines.filter(|line| line["kind"] == "output");
    let texts: Vec<String> = outputs
        .map(|line| line["text"].as_str().unwrap().to_owned())
        .collect();
    texts.join(" ")
}

fn count(hearken: &Hearken, kind: &str) -> usize {
    kinds(hearken).iter().filter(|it| *it == kind).count()
}

fn leave(mut hearken: Hearken) {
    let seen = kinds(&hearken);
    for never in ["danger", "anomaly", "unknown"] {
        assert!(!seen.iter().any(|kind| kind == never), "{never}: {seen:?}");
    }
    hearken.leave();
    let (code, _, seen) = hearken.exit();
    assert_eq!(code, 0, "{}", seen.join("\n"));
}

#[test]
fn an_agent_is_prompted_heard_answered_and_stopped_in_both_versions() {
    for version in ["1.0", "0.3"] {
        let server = TaskServer::new(version);
        let mut hearken = server.hearken("a2a:");
        hearken.say("> 3 the house");
        hearken.announced("session_started", "Painter");
        hearken.announced("output", "Line 2 of the house.");
        hearken.announced("session_completed", "Finished");
        let words =
            "Looking at the house. Line 0 of the house. Line 1 of the house. Line 2 of the house.";
        assert_eq!(said(&hearken), words, "{version}");
        hearken.say("> ask the door");
        let n = asked(&mut hearken, "Which colour for the door?");
        hearken.say(&format!("a #{n} dark green"));
        hearken.announced("output", "It will be dark green.");
        hearken.announced("session_completed", "Finished");
        hearken.say("> sign");
        hearken.announced("handoff", "At login.example:");
        let n = asked(&mut hearken, "Have you signed in at login.example?");
        hearken.say(&format!("a #{n} done"));
        hearken.announced("output", "It will be done.");
        hearken.announced("session_completed", "Finished");
        hearken.say("> fail");
        hearken.announced("session_errored", "The disk is full.");
        hearken.say("> reject");
        hearken.announced("session_errored", "That is not my job.");
        hearken.say("> 200 the roof");
        hearken.announced("output", "Line 1 of the roof.");
        hearken.say("stop");
        hearken.announced("reply", phrase!("stop_turn.first.*"));
        hearken.say("stop");
        hearken.announced(
            "session_cancelled",
            phrase!("session.cancelled.*", by = "user"),
        );
        let wanted = [
            "3 the house",
            "ask the door",
            "dark green",
            "sign",
            "done",
            "fail",
            "reject",
            "200 the roof",
        ];
        assert_eq!(server.was_asked(), wanted, "{version}");
        leave(hearken);
    }
}

#[test]
fn tasks_of_others_are_heard_two_at_once_and_what_they_answer_is_told() {
    let mut server = TaskServer::new("1.0");
    let first = server.other("ask the door", None);
    // A server is recognised even if only the address is given, without A2A.
    let mut hearken = server.hearken("");
    asked(&mut hearken, "Which colour for the door?");
    server.other("8 the house", None);
    hearken.announced("output", "Line 2 of the house.");
    let second = server.other("ask the gate", None);
    let n = asked(&mut hearken, "Which colour for the gate?");
    server.other("red", Some(&first));
    hearken.announced("clarification", "settled without you");
    hearken.announced("output", "It will be red.");
    hearken.say(&format!("a #{n} blue"));
    hearken.announced("output", "It will be blue.");
    while count(&hearken, "session_completed") < 3 {
        hearken.announced("session_completed", "Finished");
    }
    let house: String = (0..8).map(|n| format!("Line {n} of the house. ")).collect();
    let heard = said(&hearken);
    for line in house.split_terminator(". ") {
        assert_eq!(heard.matches(line).count(), 1, "{line}: {heard}");
    }
    let task = server.rpc("GetTask", json!({"id": second}));
    assert_eq!(task["result"]["status"]["state"], "TASK_STATE_COMPLETED");
    assert_eq!(
        server.was_asked(),
        ["ask the door", "8 the house", "ask the gate", "red", "blue"]
    );
    leave(hearken);
}

#[test]
fn one_task_of_the_old_version_is_heard_by_its_name_and_answered_elsewhere() {
    let mut server = TaskServer::new("0.3");
    let task = server.other("ask the door", None);
    server.other("ask the gate", None);
    let source = format!("a2a:http://127.0.0.1:{}#{task}", server.port);
    let arguments = [
        "watch",
        &source,
        "--voice",
        "none",
        "--face",
        "json",
        "--token-env",
        "HEARKEN_TEST_TOKEN",
    ];
    let mut hearken = Hearken::spawn(command(&arguments).env("HEARKEN_TEST_TOKEN", "s3cret"));
    asked(&mut hearken, "Which colour for the door?");
    server.other("red", Some(&task));
    hearken.announced("clarification", "settled without you");
    hearken.announced("output", "It will be red.");
    hearken.announced("session_completed", "Finished");
    assert_eq!(count(&hearken, "session_started"), 1);
    leave(hearken);
}

#[test]
fn a_server_that_is_killed_and_comes_back_is_answered_and_nothing_is_heard_twice() {
    for version in ["1.0", "0.3"] {
        let mut server = TaskServer::new(version);
        let mut hearken = server.hearken("a2a:");
        hearken.say("> ask the door");
        let n = asked(&mut hearken, "Which colour for the door?");
        server.kill();
        hearken.announced("connection", "is lost");
        server.comes_back();
        hearken.announced("connection", "is back");
        hearken.announced("clarification", phrase!("question.again.*"));
        let asks = |hearken: &Hearken| {
            let seen = hearken.seen().iter();
            seen.filter(|it| it.contains("\"text\":\"Question 1. Which colour"))
                .count()
        };
        assert_eq!(asks(&hearken), 1, "{version}");
        hearken.say(&format!("a #{n} blue"));
        hearken.announced("output", "It will be blue.");
        hearken.announced("session_completed", "Finished");
        assert_eq!(asks(&hearken), 1, "{version}");
        assert_eq!(count(&hearken, "session_started"), 1, "{version}");
        assert_eq!(server.was_asked(), ["blue"], "{version}");
        leave(hearken);
    }
}
