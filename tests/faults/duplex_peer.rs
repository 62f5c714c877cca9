//! A bidirectional peer on one connection, with every byte under the test's control.
//!
//! It is the twin of `fault_server`, for a WebSocket and for a Unix socket in either framing. None of these can
//! resume (B.2.5), so that every good connection repeats everything; what was heard before must not be
//! heard twice.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
#[cfg(unix)]
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::fault_server::{BEFORE_ANSWER, EventLog, request};
use crate::support::PATIENCE;

/// The longest message of ours that a peer accepts, in bytes; a longer length would be no length.
const LONGEST: usize = 1 << 20;

/// How messages are framed in the bytes of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FramingKind {
    /// One message per text frame.
    WebSocket,
    /// Four bytes of length, then the message.
    Lengths,
    /// One message per line.
    Lines,
}

/// Whether the peer shakes hands; if not, the subscriber is told not to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandshakeSide {
    Shaken,
    Kept,
}

/// The first byte of a whole text frame, of an unfinished one, and of the rest of one.
pub const TEXT: u8 = 0x81;
pub const TEXT_BEGUN: u8 = 0x01;
pub const CONTINUED: u8 = 0x00;
pub const CONTINUED_TO_THE_END: u8 = 0x80;
pub const BYTES: u8 = 0x82;
pub const PING: u8 = 0x89;
pub const CLOSE: u8 = 0x88;

/// Returns bytes in a frame from a server, which has no mask.
pub fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match payload.len() {
        short @ 0..126 => bytes.push(u8::try_from(short).unwrap()),
        middle @ 126..65536 => {
            bytes.push(126);
            bytes.extend(u16::try_from(middle).unwrap().to_be_bytes());
        }
        long => {
            bytes.push(127);
            bytes.extend((long as u64).to_be_bytes());
        }
    }
    bytes.extend(payload);
    bytes
}

/// The transport below a connection.
pub trait FaultTransport: Read + Write + Send {}
impl<T: Read + Write + Send> FaultTransport for T {}

/// One connection, controlled by a row.
pub struct DuplexExchange<'a> {
    pub stream: Box<dyn FaultTransport>,
    pub log: &'a EventLog,
    pub hands: HandshakeSide,
    kind: FramingKind,
    /// The head of the request; empty if there is none.
    pub head: String,
    shared: &'a PeerState,
}

impl DuplexExchange<'_> {
    /// Sends bytes unchanged.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        // A client that is cut off may hang up first.
        let _ = self.stream.write_all(bytes);
        self
    }

    /// Sends bytes one by one, with a wait after each.
    pub fn dribble(&mut self, bytes: &[u8], wait: Duration) -> &mut Self {
        for byte in bytes {
            self.bytes(&[*byte]);
            if !wait.is_zero() {
                std::thread::sleep(wait);
            }
        }
        self
    }

    /// Returns a message as the bytes that carry it.
    pub fn wrap(&self, message: &str) -> Vec<u8> {
        match self.kind {
            FramingKind::WebSocket => frame(TEXT, message.as_bytes()),
            FramingKind::Lengths => {
                let mut bytes = u32::try_from(message.len()).unwrap().to_be_bytes().to_vec();
                bytes.extend(message.as_bytes());
                bytes
            }
            FramingKind::Lines => format!("{message}\n").into_bytes(),
        }
    }

    /// Returns an event as sent on the connection.
    pub fn event(&self, n: usize) -> Vec<u8> {
        self.wrap(&self.log.event(n).to_string())
    }

    /// Sends the events from one number to before another.
    pub fn events(&mut self, from: usize, to: usize) -> &mut Self {
        for n in from..to {
            let bytes = self.event(n);
            self.bytes(&bytes);
        }
        self
    }

    /// Returns the answer that turns the connection into a WebSocket.
    pub fn upgrade(&self) -> String {
        let key = super::header(&self.head, "sec-websocket-key").unwrap();
        format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Accept: {}\r\nSec-WebSocket-Protocol: aaep.v1\r\n\r\n",
            derive_accept_key(key.as_bytes())
        )
    }

    /// Answers a WebSocket request with a status and nothing else.
    pub fn status(&mut self, line: &str, headers: &str) -> &mut Self {
        self.bytes(
            format!("HTTP/1.1 {line}\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n")
                .as_bytes(),
        )
    }

    /// Accepts the connection, up to the point where messages go both ways.
    pub fn accept(&mut self) -> &mut Self {
        if self.kind == FramingKind::WebSocket {
            let upgrade = self.upgrade();
            self.bytes(upgrade.as_bytes());
        }
        self
    }

    /// Returns the consent to a subscription.
    pub fn consent(&self) -> Vec<u8> {
        let consent = json!({
            "type": "subscription.accepted", "subscription_id": "sub_1", "aaep_version": "1.0.0",
            "producer": {"agent_id": "planner"}, "honored_capabilities": {},
        });
        self.wrap(&consent.to_string())
    }

    /// Accepts the connection and shakes hands on it; returns `false` if the other side left or could not
    /// be understood.
    pub fn shake(&mut self) -> bool {
        self.accept();
        if self.hands == HandshakeSide::Kept {
            return true;
        }
        if self.hear("subscription.request").is_none() {
            return false;
        }
        let consent = self.consent();
        self.bytes(&consent);
        true
    }

    /// Opens a good connection and sends events, from the first to before `to`.
    pub fn open(&mut self, to: usize) -> &mut Self {
        if self.shake() {
            self.events(1, to);
        }
        self
    }

    /// Waits until the test opens the gate.
    pub fn gate(&mut self) -> &mut Self {
        self.shared.until(|seen| seen.open);
        self
    }

    /// Waits for the answer to the question and sends the end.
    pub fn finish(&mut self) {
        if let Some(reply) = self.hear("confirmation.reply") {
            self.took(reply);
            self.events(BEFORE_ANSWER + 1, BEFORE_ANSWER + 3).left();
        }
    }

    /// Records an incoming reply.
    pub fn took(&mut self, reply: Value) {
        self.shared.seen.lock().unwrap().replies.push(reply);
        self.shared.changed.notify_all();
    }

    /// Waits for a reply that arrives on another connection.
    pub fn until_answered(&mut self) -> bool {
        self.shared.until(|seen| !seen.replies.is_empty())
    }

    /// Waits until the other side has hung up.
    pub fn left(&mut self) {
        let _ = self.stream.read_to_end(&mut Vec::new());
    }

    /// Waits for a message of a type.
    pub fn hear(&mut self, kind: &str) -> Option<Value> {
        loop {
            let message: Value = serde_json::from_str(&self.message()?).unwrap();
            if message["type"] == kind {
                return Some(message);
            }
        }
    }

    fn exactly<const N: usize>(&mut self) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.stream.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }

    fn payload(&mut self, length: usize) -> Option<Vec<u8>> {
        if length > LONGEST {
            return None;
        }
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Reads the next message of the other side; `None` if it has left.
    fn message(&mut self) -> Option<String> {
        let bytes = match self.kind {
            FramingKind::WebSocket => loop {
                let [first, length] = self.exactly()?;
                let length = match length & 0x7f {
                    126 => usize::from(u16::from_be_bytes(self.exactly()?)),
                    127 => usize::try_from(u64::from_be_bytes(self.exactly()?)).unwrap(),
                    short => usize::from(short),
                };
                let mask: [u8; 4] = self.exactly()?;
                let mut payload = self.payload(length)?;
                for (at, byte) in payload.iter_mut().enumerate() {
                    *byte ^= mask[at % 4];
                }
                match first {
                    TEXT => break payload,
                    PING => {
                        let pong = frame(0x8a, &payload);
                        self.bytes(&pong);
                    }
                    CLOSE => return None,
                    _ => {}
                }
            },
            FramingKind::Lengths => {
                let length = u32::from_be_bytes(self.exactly()?);
                self.payload(usize::try_from(length).unwrap())?
            }
            FramingKind::Lines => {
                let mut line = Vec::new();
                loop {
                    match self.exactly()? {
                        [b'\n'] if !line.is_empty() => break,
                        [b'\n'] => {}
                        // Bytes before the first message are its length, if the subscriber uses lengths.
                        [byte] if line.is_empty() && byte != b'{' => {}
                        [byte] => line.push(byte),
                    }
                }
                line
            }
        };
        Some(String::from_utf8(bytes).unwrap())
    }
}

/// The script of a first connection.
pub type DuplexScript = fn(&mut DuplexExchange);

/// Answers a request other than the WebSocket's, whose head is in the exchange; its body is passed along.
pub type OtherRequestAnswer = fn(&mut DuplexExchange, &str);

/// Answers that there is nothing but the WebSocket.
pub fn nothing(at: &mut DuplexExchange, _: &str) {
    at.status("404 Not Found", "");
}

struct PeerState {
    log: EventLog,
    kind: FramingKind,
    hands: HandshakeSide,
    turns: Vec<DuplexScript>,
    beside: OtherRequestAnswer,
    seen: Mutex<PeerReceived>,
    changed: Condvar,
}

/// What a peer has received.
#[derive(Debug, Default)]
pub struct PeerReceived {
    /// The heads of the WebSocket requests, in order; empty for a socket.
    pub connections: Vec<String>,
    /// All other requests, each with its body.
    pub others: Vec<String>,
    pub replies: Vec<Value>,
    open: bool,
    stopped: bool,
}

/// A running peer; its threads end with the connections.
pub struct FaultPeer {
    source: String,
    shared: Arc<PeerState>,
    /// The folder of the socket.
    _folder: Option<TempDir>,
}

impl FaultPeer {
    /// Starts one whose first connections follow `turns`.
    pub fn start(kind: FramingKind, hands: HandshakeSide, turns: &[DuplexScript]) -> Self {
        match kind {
            FramingKind::WebSocket => Self::on(
                TcpListener::bind("127.0.0.1:0").unwrap(),
                hands,
                turns,
                nothing,
            ),
            #[cfg(windows)]
            FramingKind::Lengths | FramingKind::Lines => panic!("there are no such sockets here"),
            #[cfg(unix)]
            FramingKind::Lengths | FramingKind::Lines => {
                let folder = tempfile::tempdir().unwrap();
                let mut peer = Self::at(&folder.path().join("planner.sock"), kind, hands, turns);
                peer._folder = Some(folder);
                peer
            }
        }
    }

    /// Starts one with a Unix socket at a path.
    #[cfg(unix)]
    pub fn at(
        path: &Path,
        kind: FramingKind,
        hands: HandshakeSide,
        turns: &[DuplexScript],
    ) -> Self {
        let listener = UnixListener::bind(path).unwrap();
        let shared = PeerState::new(kind, hands, turns, nothing);
        let peer = Self {
            source: format!("unix:{}", path.display()),
            shared: Arc::clone(&shared),
            _folder: None,
        };
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&shared);
                if shared.is_stopped() {
                    return;
                }
                std::thread::spawn(move || shared.serve(Box::new(stream), String::new()));
            }
        });
        peer
    }

    /// Starts one with a WebSocket on an address that the test already has, and with something beside it.
    pub fn on(
        listener: TcpListener,
        hands: HandshakeSide,
        turns: &[DuplexScript],
        beside: OtherRequestAnswer,
    ) -> Self {
        let shared = PeerState::new(FramingKind::WebSocket, hands, turns, beside);
        let peer = Self {
            source: format!("ws://{}", listener.local_addr().unwrap()),
            shared: Arc::clone(&shared),
            _folder: None,
        };
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&shared);
                if shared.is_stopped() {
                    return;
                }
                std::thread::spawn(move || {
                    let _ = stream.set_nodelay(true);
                    let Some((head, body)) = request(&mut stream) else {
                        return;
                    };
                    if head.starts_with("GET /aaep/v1/ws ") {
                        shared.serve(Box::new(stream), head);
                    } else {
                        shared
                            .seen
                            .lock()
                            .unwrap()
                            .others
                            .push(format!("{head}{body}"));
                        let mut exchange = shared.exchange(Box::new(stream), head);
                        (shared.beside)(&mut exchange, &body);
                    }
                });
            }
        });
        peer
    }

    /// Returns the argument after `watch`.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the host and port of one on the network.
    pub fn address(&self) -> &str {
        self.source.trim_start_matches("ws://")
    }

    /// Returns its name as the person hears it.
    pub fn name(&self) -> String {
        match self.source.strip_prefix("unix:") {
            Some(path) => path.to_owned(),
            None => format!("{}/aaep/v1/ws", self.source),
        }
    }

    /// Releases the turns that wait at their gate.
    pub fn open_gate(&self) {
        self.shared.seen.lock().unwrap().open = true;
        self.shared.changed.notify_all();
    }

    /// Stops listening, and releases the turns that wait at their gate.
    pub fn stop(&self) {
        self.shared.seen.lock().unwrap().stopped = true;
        // A connection wakes the listener.
        match self.source.strip_prefix("unix:") {
            #[cfg(unix)]
            Some(path) => drop(UnixStream::connect(path).unwrap()),
            _ => drop(TcpStream::connect(self.address()).unwrap()),
        }
        self.open_gate();
    }

    /// Inspects what was received.
    pub fn seen<T>(&self, look: impl FnOnce(&PeerReceived) -> T) -> T {
        look(&self.shared.seen.lock().unwrap())
    }
}

impl PeerState {
    fn new(
        kind: FramingKind,
        hands: HandshakeSide,
        turns: &[DuplexScript],
        beside: OtherRequestAnswer,
    ) -> Arc<Self> {
        Arc::new(Self {
            log: EventLog::new(),
            kind,
            hands,
            turns: turns.to_vec(),
            beside,
            seen: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    fn is_stopped(&self) -> bool {
        self.seen.lock().unwrap().stopped
    }

    fn exchange(&self, stream: Box<dyn FaultTransport>, head: String) -> DuplexExchange<'_> {
        DuplexExchange {
            stream,
            log: &self.log,
            hands: self.hands,
            kind: self.kind,
            head,
            shared: self,
        }
    }

    fn serve(&self, stream: Box<dyn FaultTransport>, head: String) {
        let turn = {
            let mut seen = self.seen.lock().unwrap();
            seen.connections.push(head.clone());
            self.turns.get(seen.connections.len() - 1)
        };
        let mut exchange = self.exchange(stream, head);
        match turn {
            Some(turn) => turn(&mut exchange),
            None => {
                exchange.open(BEFORE_ANSWER + 1).finish();
            }
        }
    }

    /// Waits until something has been received, with a time limit.
    fn until(&self, there: impl Fn(&PeerReceived) -> bool) -> bool {
        let seen = self.seen.lock().unwrap();
        let waited = self
            .changed
            .wait_timeout_while(seen, PATIENCE, |seen| !there(seen));
        !waited.unwrap().1.timed_out()
    }
}
