//! A scripted producer of server-sent events with a handshake: it says what a test wants, byte by byte as
//! appendix B.1 prints it, and accepts requests in any order.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use super::PATIENCE;

/// A request that waits for its answer.
pub struct PendingRequest {
    /// The method and the target.
    pub line: String,
    /// The header fields, in lower case.
    pub head: String,
    /// The body; null if it is not JSON.
    pub body: Value,
    stream: TcpStream,
}

impl PendingRequest {
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

    /// Answers completely, and returns the request's body.
    pub fn answer(mut self, status: &str, fields: &str, body: &Value) -> Value {
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n");
        let text = format!("{head}{fields}\r\n{body}");
        // A client that left does not wait for the answer.
        let _ = self.stream.write_all(text.as_bytes());
        self.body
    }

    /// Answers with a stream that stays open.
    pub fn stream(mut self) -> Events {
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n";
        let text = format!("{head}Connection: close\r\n\r\n");
        self.stream.write_all(text.as_bytes()).unwrap();
        Events(self.stream)
    }
}

/// An open stream of events, which breaks when dropped.
pub struct Events(TcpStream);

impl Events {
    /// Sends an event.
    pub fn send(&mut self, event: &Value) {
        let id = event["event_id"].as_str().unwrap();
        let text = format!("event: aaep.event\nid: {id}\ndata: {event}\n\n");
        self.0.write_all(text.as_bytes()).unwrap();
    }

    /// Waits until the other side has closed it.
    pub fn left(&mut self) {
        let mut rest = Vec::new();
        // A reset is a farewell too.
        let _ = self.0.read_to_end(&mut rest);
    }
}

/// A server that listens on a port until it dies.
pub struct HandshakeServer {
    pub at: SocketAddr,
    dead: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
    requests: Receiver<PendingRequest>,
}

impl HandshakeServer {
    /// Listens at an address.
    pub fn at(at: &str) -> Self {
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
                if let Some(asked) = PendingRequest::read(stream)
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

    /// Waits for a request to a path; requests to other paths get "not found".
    pub fn asked(&self, line: &str) -> PendingRequest {
        loop {
            let asked = self.requests.recv_timeout(PATIENCE);
            let asked = asked.unwrap_or_else(|_| panic!("nobody asks for {line}"));
            if asked.line == line {
                return asked;
            }
            asked.answer("404 Not Found", "", &Value::Null);
        }
    }

    /// Answers a message to the subscription, and returns it.
    pub fn told(&self, status: &str, answer: &Value) -> Value {
        self.asked("POST /aaep/v1/replies").answer(
            status,
            "Content-Type: application/json\r\n",
            answer,
        )
    }

    /// Agrees on a subscription, with a lower rate than requested.
    pub fn agree(&self, id: &str) -> Value {
        let asked = self.asked("POST /aaep/v1/subscriptions");
        let mut honored = asked.body["capabilities"].clone();
        honored["max_events_per_second"] = 3.into();
        let place = format!("Location: /aaep/v1/events?subscription_id={id}\r\n");
        let fields = format!("Content-Type: application/json\r\n{place}");
        asked.answer("201 Created", &fields, &consent(id, &honored))
    }

    /// Waits for the request for a subscription's stream.
    pub fn events(&self, id: &str) -> PendingRequest {
        self.asked(&format!("GET /aaep/v1/events?subscription_id={id}"))
    }

    /// Dies with everything that waits.
    pub fn die(self) -> SocketAddr {
        self.at
    }
}

impl Drop for HandshakeServer {
    fn drop(&mut self) {
        self.dead.store(true, Ordering::SeqCst);
        // This wakes it, so that it notices its end.
        let _ = TcpStream::connect(self.at);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

/// Builds a consent (5.4).
pub fn consent(id: &str, honored: &Value) -> Value {
    json!({"type": "subscription.accepted", "subscription_id": id, "aaep_version": "1.0.0",
        "producer": {"agent_id": "planner"}, "honored_capabilities": honored})
}

/// Builds an event of the one session.
pub fn event(n: u32, kind: &str, fields: &Value) -> Value {
    let mut event = json!({"@context": "https://aaep-protocol.org/context/v1",
        "type": format!("aaep:agent.{kind}"), "event_id": format!("evt_{n}"), "session_id": "sess_1",
        "timestamp": format!("{:.3}", jiff::Timestamp::now()), "producer": {"agent_id": "planner"}});
    let fields = fields.as_object().unwrap().clone();
    event.as_object_mut().unwrap().extend(fields);
    event
}
