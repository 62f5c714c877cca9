//! A real, already running opencode with another client: heard, answered, prompted, stopped, killed and back.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hearken_wording::phrase;
use serde_json::Value;

use super::agent_home::{AgentHome, OPENCODE, asked, number};
use super::child::{Hearken, command};
use super::{PATIENCE, free_port};

/// A running server.
struct AttachedServer {
    child: Child,
    port: u16,
}

impl AttachedServer {
    fn start(scene: &AgentHome, port: u16) -> Self {
        let mut child = Command::new("opencode")
            .args(["serve", "--port", &port.to_string()])
            .current_dir(scene.work())
            .envs(scene.environment.iter().map(|(name, value)| (name, value)))
            .env_remove("OPENCODE_SERVER_PASSWORD")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("opencode is there");
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let up = lines
            .map_while(Result::ok)
            .any(|line| line.contains("listening on"));
        assert!(up, "opencode serves");
        Self { child, port }
    }

    /// Sends it a request as another client would.
    fn ask(&self, method: &str, path: &str, body: &str) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.0\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap_or(Value::Null)
    }

    /// Answers the open permission request instead of the client that was asked.
    fn answer(&self, reply: &str) {
        let open = self.ask("GET", "/permission", "");
        let id = open[0]["id"].as_str().unwrap();
        let body = format!(r#"{{"reply":"{reply}"}}"#);
        assert_eq!(
            self.ask("POST", &format!("/permission/{id}/reply"), &body),
            true
        );
    }

    /// Waits until it requests a permission.
    fn asks(&self) {
        let until = Instant::now() + PATIENCE;
        loop {
            let open = self.ask("GET", "/permission", "");
            if open.as_array().is_some_and(|open| !open.is_empty()) {
                return;
            }
            assert!(Instant::now() < until, "it asks");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for AttachedServer {
    fn drop(&mut self) {
        super::agent_home::kill(self.child.id());
        let _ = self.child.wait();
    }
}

/// Attaches to it, by its protocol's name or by its address alone.
fn watch(server: &AttachedServer, by: &str) -> Hearken {
    let address = format!("{by}http://127.0.0.1:{}", server.port);
    let mut command = command(&["watch", &address, "--voice", "none", "--face", "json"]);
    command.env_remove("OPENCODE_SERVER_PASSWORD");
    Hearken::spawn(&mut command)
}

#[test]
fn an_opencode_that_runs_is_prompted_answered_and_stopped() {
    let scene = AgentHome::new(&OPENCODE);
    let server = AttachedServer::start(&scene, free_port());
    let mut hearken = watch(&server, "opencode:");
    hearken.announced("connection", "Connected");
    hearken.say("> say hello");
    hearken.announced("output", "It has two sentences.");
    hearken.announced("session_completed", "Finished");

    hearken.say("> touch a.txt");
    let n = asked(&mut hearken, "\ntouch a.txt\n");
    hearken.say(&format!("y {n}"));
    hearken.announced("reply", phrase!("reply.second_step.*"));
    assert!(!scene.has("a.txt"));
    hearken.say(&format!("c {n}"));
    hearken.announced("output", "The file stands there.");
    hearken.announced("session_completed", "Finished");
    assert!(scene.has("a.txt"));

    // A rejection with its reason: the agent learns it and continues.
    hearken.say("> write b.txt");
    let n = asked(&mut hearken, "b.txt");
    hearken.say(&format!("r #{n} not that name"));
    hearken.announced("output", "Then not.");
    hearken.announced("session_completed", "Finished");
    assert!(!scene.has("b.txt"));

    // Another client is faster.
    hearken.say("> write c.txt");
    asked(&mut hearken, "c.txt");
    server.answer("once");
    hearken.announced("confirmation", "without you");
    hearken.announced("session_completed", "Finished");
    assert!(scene.has("c.txt"));

    hearken.say("> ask me");
    let n = number(&hearken.announced("clarification", "Which colour"));
    hearken.say(&format!("o {n} 1"));
    let n = number(&hearken.announced("clarification", "Which files"));
    hearken.say(&format!("a #{n} 1, 3"));
    hearken.announced("session_completed", "Finished");
    let log = std::fs::read_to_string(scene.work().join("../asked")).unwrap();
    assert!(log.contains("Red") && log.contains("a.txt, c.txt"), "{log}");

    hearken.say("> wait now");
    hearken.announced("output", "Sentence 2 stands here.");
    hearken.say("stop");
    hearken.announced("reply", phrase!("stop_turn.first.*"));
    hearken.say("stop");
    hearken.announced(
        "session_cancelled",
        phrase!("session.cancelled.*", by = "user"),
    );
    hearken.leave();
    assert_eq!(hearken.exit().0, 0);
}

#[test]
fn what_an_opencode_asked_before_is_asked_and_one_that_was_killed_is_heard_again() {
    let scene = AgentHome::new(&OPENCODE);
    let server = AttachedServer::start(&scene, free_port());
    let session = server.ask("POST", "/session", "{}");
    let path = format!("/session/{}/prompt_async", session["id"].as_str().unwrap());
    let prompt = r#"{"parts":[{"type":"text","text":"write a.txt"}]}"#;
    server.ask("POST", &path, prompt);
    server.asks();
    let mut hearken = watch(&server, "");
    let n = asked(&mut hearken, "a.txt");
    hearken.say(&format!("y {n}"));
    hearken.announced("reply", phrase!("reply.second_step.*"));
    hearken.say(&format!("c {n}"));
    hearken.announced("session_completed", "Finished");
    assert!(scene.has("a.txt"));

    hearken.say("> wait now");
    hearken.announced("output", "Sentence 1 stands here.");
    let port = server.port;
    drop(server);
    hearken.announced("connection", "is lost");
    let _server = AttachedServer::start(&scene, port);
    hearken.announced("connection", "is back");
    hearken.announced("session_errored", phrase!("acp.end.gone"));
    hearken.say("> say hello");
    hearken.announced("output", "It has two sentences.");
    hearken.announced("session_completed", "Finished");
    hearken.leave();
    assert_eq!(hearken.exit().0, 0);
}
