//! Server-sent events with a handshake, through the whole story of the matrix: connect, terms, events, a
//! question, its answer, a connection that breaks and is taken up again, a server that dies and returns
//! without its memory, other terms, a farewell. The peer is scripted here, byte by byte as appendix B.1
//! prints it; it takes requests in whatever order they come.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::support::PATIENCE;
use crate::support::child::Hearken;

/// Holds one request that waits for its answer.
struct Asked {
    /// The method and the target.
    line: String,
    /// The header fields, in small letters.
    head: String,
    body: Value,
    stream: TcpStream,
}

impl Asked {
    fn read(stream: TcpStream) -> Option<Self> {
        let mut reader = BufReader::new(stream.try_clone().ok()?);
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") && head != "\r\n" {
            if reader.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let head = head.to_ascii_lowercase();
        let length = head
            .lines()
            .find_map(|field| field.strip_prefix("content-length:")?.trim().parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body).ok()?;
        Some(Self {
            line: line.trim_end().trim_end_matches(" HTTP/1.1").to_owned(),
            head,
            body: serde_json::from_slice(&body).unwrap_or(Value::Null),
            stream,
        })
    }

    /// Answers in whole, and gives what was asked.
    fn answer(mut self, status: &str, fields: &str, body: &Value) -> Value {
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n");
        let text = format!("{head}{fields}\r\n{body}");
        // Who left does not wait for the answer.
        let _ = self.stream.write_all(text.as_bytes());
        self.body
    }

    /// Answers with a stream that stays open.
    fn stream(mut self) -> Events {
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n";
        let text = format!("{head}Connection: close\r\n\r\n");
        self.stream.write_all(text.as_bytes()).unwrap();
        Events(self.stream)
    }
}

/// Is an open stream of events; dropped, it breaks.
struct Events(TcpStream);

impl Events {
    fn send(&mut self, event: &Value) {
        let id = event["event_id"].as_str().unwrap();
        let text = format!("event: aaep.event\nid: {id}\ndata: {event}\n\n");
        self.0.write_all(text.as_bytes()).unwrap();
    }
}

/// Listens at a port until it dies.
struct Server {
    at: SocketAddr,
    dead: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
    requests: Receiver<Asked>,
}

impl Server {
    fn at(at: &str) -> Self {
        let listener = TcpListener::bind(at).unwrap();
        let at = listener.local_addr().unwrap();
        let dead = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&dead);
        let (sender, requests) = channel();
        let accepting = std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                if let Some(asked) = Asked::read(stream)
                    && sender.send(asked).is_err()
                {
                    return;
                }
            }
        });
        Self {
            at,
            dead,
            accepting: Some(accepting),
            requests,
        }
    }

    /// Waits for a request to a place; what is asked elsewhere is not found.
    fn asked(&self, line: &str) -> Asked {
        loop {
            let asked = self.requests.recv_timeout(PATIENCE);
            let asked = asked.unwrap_or_else(|_| panic!("nobody asks for {line}"));
            if asked.line == line {
                return asked;
            }
            asked.answer("404 Not Found", "", &Value::Null);
        }
    }

    /// Takes a message to the subscription.
    fn told(&self, status: &str, answer: &Value) -> Value {
        self.asked("POST /aaep/v1/replies").answer(
            status,
            "Content-Type: application/json\r\n",
            answer,
        )
    }

    /// Agrees on a subscription, with a lower rate than was asked for.
    fn agree(&self, id: &str) -> Value {
        let asked = self.asked("POST /aaep/v1/subscriptions");
        let mut honored = asked.body["capabilities"].clone();
        honored["max_events_per_second"] = 3.into();
        let place = format!("Location: /aaep/v1/events?subscription_id={id}\r\n");
        let fields = format!("Content-Type: application/json\r\n{place}");
        asked.answer("201 Created", &fields, &consent(id, &honored))
    }

    fn events(&self, id: &str) -> Asked {
        self.asked(&format!("GET /aaep/v1/events?subscription_id={id}"))
    }

    /// Dies with everything that waits.
    fn die(self) -> SocketAddr {
        self.at
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.dead.store(true, Ordering::SeqCst);
        // Wakes it, so that it sees its end.
        let _ = TcpStream::connect(self.at);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

fn consent(id: &str, honored: &Value) -> Value {
    json!({"type": "subscription.accepted", "subscription_id": id, "aaep_version": "1.0.0",
        "producer": {"agent_id": "planner"}, "honored_capabilities": honored})
}

fn event(n: u32, kind: &str, fields: &Value) -> Value {
    let mut event = json!({"@context": "https://aaep-protocol.org/context/v1",
        "type": format!("aaep:agent.{kind}"), "event_id": format!("evt_{n}"), "session_id": "sess_1",
        "timestamp": format!("{:.3}", jiff::Timestamp::now()), "producer": {"agent_id": "planner"}});
    let fields = fields.as_object().unwrap().clone();
    event.as_object_mut().unwrap().extend(fields);
    event
}

fn question(n: u32) -> Value {
    let fields = json!({"urgency": "critical", "reply_token": format!("rpl_{n}"),
        "action": format!("Send letter {n}"), "consequence": "It leaves.", "risk_level": "low",
        "irreversible": false, "timeout_seconds": 120, "default_decision": "reject"});
    event(n, "awaiting.confirmation", &fields)
}

/// Ends the open question, as an agent does that goes on.
fn going_on(n: u32) -> Value {
    let fields = json!({"from_state": "awaiting_input", "to_state": "thinking",
        "summary_normal": format!("Planner thinks {n}.")});
    event(n, "state.changed", &fields)
}

/// Asks, answers by a line, and checks every field of what comes.
fn ask(server: &Server, events: &mut Events, child: &mut Hearken, id: &str, (n, nth): (u32, u32)) {
    events.send(&question(n));
    let letter = format!("Send letter {n}");
    child.announced("confirmation", &letter);
    child.say(&format!("y {nth}"));
    let reply = server.told("204 No Content", &Value::Null);
    let mut keys: Vec<&String> = reply.as_object().unwrap().keys().collect();
    keys.sort();
    let wanted = "decided_by decision reply_token subscription_id timestamp type";
    assert_eq!(keys, wanted.split(' ').collect::<Vec<_>>());
    assert_eq!(reply["type"], "confirmation.reply");
    assert_eq!(reply["decision"], "accept");
    assert_eq!(reply["reply_token"], format!("rpl_{n}"));
    assert_eq!(reply["subscription_id"], id);
    events.send(&going_on(n + 1));
    child.announced("confirmation", "settled");
}

#[test]
fn server_sent_events_with_a_handshake() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    let settings = "[links]\nbackoff_first_ms = 50\nbackoff_cap_ms = 100\n";
    std::fs::write(&config, settings).unwrap();
    let server = Server::at("127.0.0.1:0");
    let url = format!("http://{}", server.at);
    let flags = ["watch", "--face", "json", "--voice", "none", "--config"];
    let rest = [config.to_str().unwrap(), url.as_str()];
    let mut child = Hearken::start(&[&flags[..], &rest[..]].concat());

    // Connect and shake hands.
    let request = server.agree("sub_1");
    assert_eq!(request["type"], "subscription.request");
    assert_eq!(request["aaep_version"], "1.0.0");
    assert_eq!(request["capabilities"]["supports_confirmation_reply"], true);
    let first = server.events("sub_1");
    assert!(
        first.head.contains("\r\naccept: text/event-stream\r\n")
            || first.head.starts_with("accept: text/event-stream\r\n"),
        "{}",
        first.head
    );
    assert!(!first.head.contains("last-event-id"), "{}", first.head);
    let mut events = first.stream();
    child.announced("connection", "at most 3 messages a second, not 50");
    child.announced("connection", "by a handshake");

    // Events, a question, its answer.
    let started = json!({"summary_normal": "Planner is here."});
    let started = event(1, "session.started", &started);
    events.send(&started);
    child.announced("session_started", "Planner is here.");
    ask(&server, &mut events, &mut child, "sub_1", (10, 1));

    // The connection breaks: the same subscription is taken up after the last event.
    drop(events);
    child.announced("connection", "is lost");
    let again = server.events("sub_1");
    assert!(
        again.head.contains("last-event-id: evt_11\r\n"),
        "{}",
        again.head
    );
    let mut events = again.stream();
    child.announced("connection", "is back");
    // What comes a second time is not said again: the next that is heard is the new question.
    events.send(&started);
    ask(&server, &mut events, &mut child, "sub_1", (20, 2));

    // The server dies, and returns without its memory: hands are shaken anew.
    let at = server.die();
    drop(events);
    child.announced("connection", "is lost");
    let server = Server::at(&at.to_string());
    server
        .events("sub_1")
        .answer("404 Not Found", "", &Value::Null);
    let request = server.agree("sub_2");
    assert_eq!(request["type"], "subscription.request");
    let mut events = server.events("sub_2").stream();
    child.announced("connection", "is back");
    ask(&server, &mut events, &mut child, "sub_2", (30, 3));

    // Other terms on the way.
    child.say("v");
    let honored = json!({"preferred_verbosity": "detailed"});
    let change = server.told("200 OK", &consent("sub_2", &honored));
    assert_eq!(change["type"], "subscription.renegotiate");
    assert_eq!(change["subscription_id"], "sub_2");
    assert_eq!(change["capabilities"], honored);

    // The farewell.
    child.say("x");
    let close = server.told("204 No Content", &Value::Null);
    assert_eq!(close["type"], "subscription.close");
    assert_eq!(close["subscription_id"], "sub_2");
    assert_eq!(close["reason_code"], "subscriber_shutdown");
    let mut left = Vec::new();
    // A reset is a farewell too.
    let _ = events.0.read_to_end(&mut left);
    let (code, errors, lines) = child.exit();
    assert_eq!((code, errors.as_str()), (0, ""));
    let said = |words: &str| lines.iter().filter(|line| line.contains(words)).count();
    assert_eq!(said("Planner is here."), 1, "{lines:?}");
}
