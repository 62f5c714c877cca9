//! Every transport through the same story: connect, events, a question, its answer, a death, a return, a
//! farewell. The peers are scripted here, byte by byte as appendix B prints them, so that no mistake in our
//! own producer can hide one in ours.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
#[cfg(unix)]
use std::os::unix::net::{UnixListener, UnixStream};

use hearken_wording::phrase;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::tungstenite::{Message, WebSocket, accept_hdr};

use crate::support::child::Hearken;
use crate::support::stand_in::{ProgramPipes, StandIn};

mod handshake_rows;
mod odd_messages;

/// The other side of a transport.
trait TransportPeer {
    /// Returns the arguments after `watch`.
    fn source(&self) -> Vec<String>;
    /// Accepts the next connection.
    fn accept(&mut self);
    fn send(&mut self, event: &Value) {
        self.send_text(&self.wrapped(&event.to_string()));
    }
    /// Sends a message verbatim.
    fn send_text(&mut self, text: &str);
    /// Returns an event in its message form.
    fn wrapped(&self, event: &str) -> String {
        event.to_owned()
    }
    fn receive(&mut self) -> Value;
    /// Breaks the connection without warning.
    fn die(&mut self);
    /// Waits for the subscriber's farewell.
    fn left(&mut self);
    /// Answers the last request.
    fn respond(&mut self, message: &Value) {
        self.send(message);
    }
    /// Returns whether a new connection is made after a death.
    fn returns(&self) -> bool {
        true
    }
}

/// Reads the head of a request and its body.
fn request(stream: &mut TcpStream) -> (String, String) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut head).unwrap(), 0, "no request");
    }
    let length = head
        .lines()
        .filter_map(|line| {
            line.to_ascii_lowercase()
                .strip_prefix("content-length:")?
                .trim()
                .parse()
                .ok()
        })
        .next()
        .unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (head, String::from_utf8(body).unwrap())
}

struct Sse {
    listener: TcpListener,
    stream: Option<TcpStream>,
}

impl TransportPeer for Sse {
    fn source(&self) -> Vec<String> {
        vec![format!("http://{}", self.listener.local_addr().unwrap())]
    }

    fn accept(&mut self) {
        let (mut stream, _) = self.listener.accept().unwrap();
        let (head, _) = request(&mut stream);
        assert!(head.starts_with("GET /events "), "{head}");
        stream
            .write_all(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n",
            )
            .unwrap();
        self.stream = Some(stream);
    }

    fn send(&mut self, event: &Value) {
        let id = event["event_id"].as_str().unwrap();
        self.send_text(&format!("{event}\nid: {id}\nevent: aaep.event"));
    }

    fn send_text(&mut self, text: &str) {
        let text = format!("data: {text}\n\n");
        self.stream
            .as_mut()
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
    }

    fn receive(&mut self) -> Value {
        let (mut stream, _) = self.listener.accept().unwrap();
        let (head, body) = request(&mut stream);
        assert!(head.starts_with("POST /messages "), "{head}");
        stream
            .write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
            .unwrap();
        serde_json::from_str(&body).unwrap()
    }

    fn die(&mut self) {
        self.stream = None;
    }

    fn left(&mut self) {
        let mut rest = Vec::new();
        // A reset is a farewell too.
        let _ = self.stream.as_mut().unwrap().read_to_end(&mut rest);
    }
}

struct WebsocketPeer {
    listener: TcpListener,
    socket: Option<WebSocket<TcpStream>>,
}

impl TransportPeer for WebsocketPeer {
    fn source(&self) -> Vec<String> {
        vec![format!("ws://{}", self.listener.local_addr().unwrap())]
    }

    fn accept(&mut self) {
        let (stream, _) = self.listener.accept().unwrap();
        #[allow(clippy::result_large_err, reason = "the type is tungstenite's")]
        let socket = accept_hdr(stream, |request: &Request, mut response: Response| {
            assert_eq!(request.uri().path(), "/aaep/v1/ws");
            assert_eq!(request.headers()["sec-websocket-protocol"], "aaep.v1");
            let ours = "aaep.v1".parse().unwrap();
            response
                .headers_mut()
                .insert("sec-websocket-protocol", ours);
            Ok(response)
        });
        self.socket = Some(socket.unwrap());
    }

    fn send_text(&mut self, text: &str) {
        let text = Message::text(text);
        self.socket.as_mut().unwrap().send(text).unwrap();
    }

    fn receive(&mut self) -> Value {
        match self.socket.as_mut().unwrap().read().unwrap() {
            Message::Text(text) => serde_json::from_str(&text).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    fn die(&mut self) {
        self.socket = None;
    }

    fn left(&mut self) {
        match self.socket.as_mut().unwrap().read().unwrap() {
            Message::Close(Some(close)) => assert_eq!(u16::from(close.code), 4005),
            other => panic!("{other:?}"),
        }
    }
}

#[cfg(unix)]
struct Unix {
    folder: TempDir,
    listener: UnixListener,
    stream: Option<UnixStream>,
    lengths: bool,
}

#[cfg(unix)]
impl Unix {
    fn new(lengths: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            listener: UnixListener::bind(folder.path().join("planner.sock")).unwrap(),
            folder,
            stream: None,
            lengths,
        }
    }
}

#[cfg(unix)]
impl TransportPeer for Unix {
    fn source(&self) -> Vec<String> {
        vec![format!(
            "unix:{}",
            self.folder.path().join("planner.sock").display()
        )]
    }

    fn accept(&mut self) {
        self.stream = Some(self.listener.accept().unwrap().0);
    }

    fn send_text(&mut self, text: &str) {
        let stream = self.stream.as_mut().unwrap();
        if self.lengths {
            let length = u32::try_from(text.len()).unwrap();
            stream.write_all(&length.to_be_bytes()).unwrap();
            stream.write_all(text.as_bytes()).unwrap();
        } else {
            writeln!(stream, "{text}").unwrap();
        }
    }

    fn receive(&mut self) -> Value {
        let stream = self.stream.as_mut().unwrap();
        if self.lengths {
            let mut length = [0; 4];
            stream.read_exact(&mut length).unwrap();
            let mut bytes = vec![0; u32::from_be_bytes(length) as usize];
            stream.read_exact(&mut bytes).unwrap();
            return serde_json::from_slice(&bytes).unwrap();
        }
        let mut line = Vec::new();
        while line.last() != Some(&b'\n') {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            line.push(byte[0]);
        }
        serde_json::from_slice(&line).unwrap()
    }

    fn die(&mut self) {
        self.stream = None;
    }

    fn left(&mut self) {
        let mut rest = Vec::new();
        self.stream
            .as_mut()
            .unwrap()
            .read_to_end(&mut rest)
            .unwrap();
        assert_eq!(rest, b"");
    }
}

/// A program that the test speaks for.
struct Stdio {
    program: StandIn,
    talk: Option<ProgramPipes>,
    rpc: bool,
    last_id: Value,
}

/// The exit code used if nothing can kill it from outside.
const DEAD: u8 = 9;

impl Stdio {
    fn new(rpc: bool) -> Self {
        Self {
            program: StandIn::new("", DEAD),
            talk: None,
            rpc,
            last_id: Value::Null,
        }
    }

    fn talk(&mut self) -> &mut ProgramPipes {
        self.talk.as_mut().unwrap()
    }
}

impl TransportPeer for Stdio {
    fn source(&self) -> Vec<String> {
        let mut source = vec!["--".to_owned()];
        source.extend(self.program.call());
        source
    }

    fn accept(&mut self) {
        self.talk = Some(self.program.runs());
    }

    fn send_text(&mut self, text: &str) {
        self.talk().say(text);
    }

    fn wrapped(&self, event: &str) -> String {
        match self.rpc {
            true => format!(r#"{{"jsonrpc":"2.0","method":"aaep.event","params":{event}}}"#),
            false => event.to_owned(),
        }
    }

    fn receive(&mut self) -> Value {
        let line = self.talk().hear().unwrap();
        let line: Value = serde_json::from_str(&line).unwrap();
        if !self.rpc {
            return line;
        }
        let (method, is_request) = match line["params"]["type"].as_str().unwrap() {
            "subscription.request" => ("aaep.subscribe", true),
            "subscription.renegotiate" => ("aaep.renegotiate", true),
            "subscription.close" => ("aaep.close", false),
            _ => ("aaep.reply", false),
        };
        assert_eq!(
            (&line["jsonrpc"], &line["method"]),
            (&json!("2.0"), &json!(method))
        );
        assert_eq!(line.get("id").is_some(), is_request);
        assert_eq!(line.as_object().unwrap().len(), 3 + usize::from(is_request));
        self.last_id = line["id"].clone();
        line["params"].clone()
    }

    fn die(&mut self) {
        // The shell is the program: killing it ends the connection, as an agent's death would.
        #[cfg(unix)]
        {
            let pid = self.program.pid().parse().unwrap();
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
        #[cfg(windows)]
        self.talk.take().unwrap().end();
    }

    fn left(&mut self) {
        assert_eq!(self.talk().rest(), "");
    }

    fn respond(&mut self, message: &Value) {
        let line = json!({"jsonrpc": "2.0", "id": self.last_id, "result": message});
        self.talk().say(&line.to_string());
    }

    fn returns(&self) -> bool {
        false
    }
}

fn event(n: u32, kind: &str, fields: Value) -> Value {
    let mut event = json!({
        "@context": "https://aaep-protocol.org/context/v1",
        "type": format!("aaep:agent.{kind}"),
        "event_id": format!("evt_{n}"),
        "session_id": "sess_1",
        "timestamp": format!("{:.3}", jiff::Timestamp::now()),
        "producer": {"agent_id": "planner"},
    });
    event
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    event
}

fn question(n: u32) -> Value {
    let fields = json!({
        "urgency": "critical",
        "reply_token": format!("rpl_{n}"),
        "action": "Send the letter",
        "consequence": "It leaves.",
        "risk_level": "low",
        "irreversible": false,
        "timeout_seconds": 120,
        "default_decision": "reject",
        "summary_normal": "May I send the letter?",
    });
    event(n, "awaiting.confirmation", fields)
}

fn start(peer: &dyn TransportPeer, settings: &TempDir, more: &[&str]) -> Hearken {
    let config = settings.path().join("config.toml");
    std::fs::write(
        &config,
        "[links]\nbackoff_first_ms = 50\nbackoff_cap_ms = 100\n",
    )
    .unwrap();
    let flags = "watch --face linear --voice none --config";
    let mut arguments: Vec<String> = flags.split(' ').map(str::to_owned).collect();
    arguments.push(config.to_str().unwrap().to_owned());
    arguments.extend(more.iter().map(|flag| (*flag).to_owned()));
    arguments.extend(peer.source());
    Hearken::start(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Asks, answers with a line and checks the answer's fields; returns the subscription that it names.
fn ask(peer: &mut dyn TransportPeer, child: &mut Hearken, n: u32) -> String {
    peer.send(&question(n));
    child.wait("the question", |line| line.contains("Send the letter"));
    child.wait("the keys", |line| line.contains(&format!("d {}", n / 10)));
    child.say(&format!("y {}", n / 10));
    let reply = peer.receive();
    let mut keys: Vec<&str> = reply
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    assert_eq!(
        keys,
        [
            "decided_by",
            "decision",
            "reply_token",
            "subscription_id",
            "timestamp",
            "type"
        ]
    );
    assert_eq!(reply["type"], "confirmation.reply");
    assert_eq!(reply["decision"], "accept");
    assert_eq!(reply["reply_token"], format!("rpl_{n}"));
    assert!(
        reply["timestamp"]
            .as_str()
            .unwrap()
            .parse::<jiff::Timestamp>()
            .is_ok()
    );
    child.wait("sent", |line| line.contains("Sent."));
    reply["subscription_id"].as_str().unwrap().to_owned()
}

/// Plays the story with a time limit: the peers themselves have none.
fn story(peer: impl TransportPeer + Send + 'static) {
    bounded(move || play(peer));
}

fn bounded(run: impl FnOnce() + Send + 'static) {
    let (done, over) = std::sync::mpsc::channel();
    let story = std::thread::spawn(move || {
        run();
        let _ = done.send(());
    });
    let patience = crate::support::PATIENCE;
    if let Err(std::sync::mpsc::RecvTimeoutError::Timeout) = over.recv_timeout(patience) {
        panic!("the story takes too long");
    }
    story.join().unwrap();
}

fn play(mut peer: impl TransportPeer) {
    let settings = tempfile::tempdir().unwrap();
    let mut child = start(&peer, &settings, &["--plain-pair"]);
    peer.accept();
    child.wait("the connection", |line| line.contains("Connected"));
    let started = event(
        1,
        "session.started",
        json!({"summary_normal": "Planner is here."}),
    );
    peer.send(&started);
    child.wait("the session", |line| line.contains("Planner is here."));
    ask(&mut peer, &mut child, 10);
    peer.die();
    if !peer.returns() {
        child.wait("the death", |line| {
            line.contains(match cfg!(windows) {
                true => "the program ended with exit code 9",
                false => "the program was killed (signal 9)",
            })
        });
        let (code, errors, _) = child.exit();
        assert_eq!((code, errors.as_str()), (1, ""));
        return;
    }
    child.wait("the loss", |line| line.contains("is lost"));
    peer.accept();
    // Replayed events are not repeated, and new ones are announced.
    peer.send(&started);
    let state = json!({"from_state": "awaiting_input", "to_state": "thinking", "summary_normal": "Planner thinks."});
    peer.send(&event(2, "state.changed", state));
    child.wait("the return", |line| line.contains("is back"));
    child.wait("the news", |line| line.contains("Planner thinks."));
    ask(&mut peer, &mut child, 20);
    child.say("x");
    child.wait("the farewell", |line| line.contains("Left "));
    peer.left();
    let (code, errors, lines) = child.exit();
    assert_eq!((code, errors.as_str()), (0, ""));
    let said = lines
        .iter()
        .filter(|line| line.contains("Planner is here."))
        .count();
    assert_eq!(said, 1, "{lines:?}");
}

#[test]
fn server_sent_events() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    story(Sse {
        listener,
        stream: None,
    });
}

#[test]
fn websocket() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    story(WebsocketPeer {
        listener,
        socket: None,
    });
}

#[cfg(unix)]
#[test]
fn unix_socket_with_lengths() {
    story(Unix::new(true));
}

#[cfg(unix)]
#[test]
fn unix_socket_with_lines() {
    story(Unix::new(false));
}

#[test]
fn a_program_that_speaks_json_rpc() {
    story(Stdio::new(true));
}

#[test]
fn a_program_that_speaks_bare() {
    story(Stdio::new(false));
}

#[test]
fn leaving_a_program_ends_its_input_and_it() {
    bounded(leave_a_program);
}

fn leave_a_program() {
    let mut peer = Stdio::new(true);
    let settings = tempfile::tempdir().unwrap();
    let mut child = start(&peer, &settings, &["--plain-pair"]);
    peer.accept();
    peer.send(&event(
        1,
        "session.started",
        json!({"summary_normal": "Planner is here."}),
    ));
    child.wait("the session", |line| line.contains("Planner is here."));
    child.say("x");
    child.wait("the warning", |line| phrase!("leave.program").is_in(line));
    child.say("x");
    peer.left();
    let (code, ..) = child.exit();
    assert_eq!(code, 0);
}
