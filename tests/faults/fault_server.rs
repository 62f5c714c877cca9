//! A server with every byte under the test's control, and a log of events that it never loses.
//!
//! It keeps what a real one would keep: the events to be sent. The first connection follows a row of the
//! table, byte by byte; every later one is served well. Its treatment of past events is the test's choice,
//! because the two kinds find different mistakes: a server that resumes after `Last-Event-ID` never resends
//! what a subscriber wrongly claims to have, and a server that replays everything resends what it really has.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::PATIENCE;

/// The head of an answer that is an event stream, until the connection ends.
pub const STREAM: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

/// The reply to an accepted answer.
pub const TAKEN: &str = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";

/// How many events there are before the question is answered; the last of them is the question.
pub const BEFORE_ANSWER: usize = 7;

/// The number of the large event, which is not in the log and comes after its second event.
const LARGE: usize = 900;

/// The placeholder for its padding.
const PADDING: &str = "(padding)";

/// The words by which each event of the log is recognised in what the person hears.
pub const WORDS: [(&str, &str); 6] = [
    ("session_started", "Planner is here."),
    ("state", "Grüße aus 漢字."),
    ("output", "The first sentence."),
    ("output", "The second sentence."),
    ("confirmation", "Send the letter"),
    ("session_completed", "Planner is done."),
];

/// Which past events a connection after the first receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayedPast {
    /// The events after the id that the subscriber names as its last, and all if it names none.
    Resumed,
    /// All of them again.
    Replayed,
}

/// How the lines of a stream end and what precedes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineStyle {
    Lf,
    CrLf,
    Cr,
    Bom,
}

impl LineStyle {
    /// Returns text that is written with line feeds in this style.
    pub fn write(self, text: &str) -> Vec<u8> {
        match self {
            LineStyle::Lf | LineStyle::Bom => text.to_owned(),
            LineStyle::CrLf => text.replace('\n', "\r\n"),
            LineStyle::Cr => text.replace('\n', "\r"),
        }
        .into_bytes()
    }

    /// Returns the beginning of a stream.
    pub fn start(self) -> &'static [u8] {
        match self {
            LineStyle::Bom => b"\xEF\xBB\xBF",
            LineStyle::Lf | LineStyle::CrLf | LineStyle::Cr => b"",
        }
    }
}

/// The events of one story.
#[derive(Debug)]
pub struct EventLog {
    events: Vec<Value>,
    made: String,
}

impl EventLog {
    pub fn new() -> Self {
        let chunk = |text: &str, position: usize, complete: bool| json!({"output_id": "out_1", "chunk": text, "position": position, "complete": complete, "coalesce_hint": "sentence"});
        let events = [
            (
                "session.started",
                json!({"summary_normal": "Planner is here."}),
            ),
            (
                "state.changed",
                json!({"from_state": "idle", "to_state": "thinking", "urgency": "normal", "summary_normal": "Grüße aus 漢字."}),
            ),
            ("output.streaming", chunk("The first sentence. ", 0, false)),
            (
                "output.streaming",
                chunk("The second sentence. ", 20, false),
            ),
            ("output.streaming", chunk("", 41, true)),
            (
                "state.changed",
                json!({"from_state": "thinking", "to_state": "awaiting_input"}),
            ),
            (
                "awaiting.confirmation",
                json!({
                    "urgency": "critical", "reply_token": "rpl_1", "action": "Send the letter",
                    "consequence": "It leaves.", "risk_level": "low", "irreversible": false,
                    "timeout_seconds": 300, "default_decision": "reject",
                }),
            ),
            (
                "state.changed",
                json!({"from_state": "awaiting_input", "to_state": "thinking"}),
            ),
            (
                "session.completed",
                json!({"summary_normal": "Planner is done."}),
            ),
        ];
        let made = format!("{:.3}", jiff::Timestamp::now());
        let events = (1..)
            .zip(events)
            .map(|(n, (kind, fields))| event(n, kind, &made, &fields))
            .collect();
        Self { events, made }
    }

    /// Returns the event of a number, from 1, as sent in a stream.
    pub fn sse(&self, n: usize) -> String {
        sse(&format!("evt_{n}"), &self.events[n - 1].to_string())
    }

    /// Returns the event of a number, from 1.
    pub fn event(&self, n: usize) -> &Value {
        &self.events[n - 1]
    }

    /// Returns the events from one number to before another.
    pub fn range(&self, from: usize, to: usize) -> String {
        (from..to).map(|n| self.sse(n)).collect()
    }

    /// Returns an event that is not in the log and says that half is done, with padding of a given size.
    pub fn large(&self, size: usize) -> String {
        sse(&format!("evt_{LARGE}"), &self.large_text(size))
    }

    /// Returns the same event as bare JSON.
    pub fn large_text(&self, size: usize) -> String {
        padded(&self.large_event().to_string(), size)
    }

    /// Returns the same event before it is [`padded`].
    pub fn large_event(&self) -> Value {
        let fields = json!({
            "progress": {"percent": 50, "description": "Half of it."}, "urgency": "normal", "summary_normal": "Half of it is done.",
            "extensions": {"aaep:x": {"padding": PADDING}},
        });
        event(LARGE, "progress.updated", &self.made, &fields)
    }
}

/// Inserts padding of a given size into the text of the large event. A JSON writer would have to examine
/// every byte of it.
pub fn padded(text: &str, size: usize) -> String {
    text.replacen(PADDING, &"a".repeat(size), 1)
}

fn sse(id: &str, data: &str) -> String {
    format!("event: aaep.event\nid: {id}\ndata: {data}\n\n")
}

fn event(n: usize, kind: &str, at: &str, fields: &Value) -> Value {
    let mut event = json!({
        "@context": "https://aaep-protocol.org/context/v1",
        "aaep_version": "1.0.0",
        "type": format!("aaep:agent.{kind}"),
        "event_id": format!("evt_{n}"),
        "session_id": "sess_1",
        "timestamp": at,
        "producer": {"agent_id": "planner"},
    });
    event
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    event
}

/// One connection to the stream, controlled by a row.
pub struct StreamExchange<'a> {
    pub stream: TcpStream,
    pub log: &'a EventLog,
    pub style: LineStyle,
    /// The host and port of another server, if a test names one.
    pub other: &'a str,
    /// The request's head.
    pub head: String,
    shared: &'a ServerState,
}

impl StreamExchange<'_> {
    /// Sends bytes unchanged.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        // A client that is cut off may hang up first.
        let _ = self.stream.write_all(bytes);
        self
    }

    /// Opens a good stream and sends events, from the first to before `to`.
    pub fn open(&mut self, to: usize) -> &mut Self {
        let text = self.log.range(1, to);
        let start = self.style.start();
        self.bytes(STREAM.as_bytes()).bytes(start).text(&text)
    }

    /// Sends lines in the story's style.
    pub fn text(&mut self, text: &str) -> &mut Self {
        let bytes = self.style.write(text);
        self.bytes(&bytes)
    }

    /// Sends bytes one by one, with a wait after each.
    pub fn dribble(&mut self, bytes: &[u8], wait: Duration) -> &mut Self {
        let _ = self.stream.set_nodelay(true);
        for byte in bytes {
            self.bytes(&[*byte]);
            if !wait.is_zero() {
                std::thread::sleep(wait);
            }
        }
        self
    }

    /// Answers with a status and nothing else.
    pub fn status(&mut self, line: &str, headers: &str) -> &mut Self {
        self.bytes(
            format!("HTTP/1.1 {line}\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n")
                .as_bytes(),
        )
    }

    /// Waits until the test opens the gate.
    pub fn gate(&mut self) -> &mut Self {
        self.shared.until(|seen| seen.open);
        self
    }

    /// Waits for the answer to the question and sends the end.
    pub fn finish(&mut self) {
        if self.shared.until(|seen| !seen.replies.is_empty()) {
            let end = self.log.range(BEFORE_ANSWER + 1, BEFORE_ANSWER + 3);
            self.text(&end).left();
        }
    }

    /// Waits until the other side has hung up.
    pub fn left(&mut self) {
        let _ = self.stream.read_to_end(&mut Vec::new());
    }
}

/// The script of a first connection to the stream.
pub type StreamScript = fn(&mut StreamExchange);

/// The state shared by a server's threads.
struct ServerState {
    log: EventLog,
    past: ReplayedPast,
    style: LineStyle,
    turns: Vec<StreamScript>,
    other: OnceLock<String>,
    receipts: OnceLock<Vec<String>>,
    seen: Mutex<ServerReceived>,
    changed: Condvar,
}

/// What a server has received.
#[derive(Debug, Default)]
pub struct ServerReceived {
    /// The requests for the stream, in order: arrival time and head.
    pub streams: Vec<(Instant, String)>,
    /// The heads of all other requests except replies.
    pub others: Vec<String>,
    /// The bodies of the replies.
    pub replies: Vec<Value>,
    open: bool,
}

/// A running server; its threads end with the connections.
pub struct FaultServer {
    address: String,
    shared: Arc<ServerState>,
}

impl FaultServer {
    /// Starts one whose first connections follow `turns`.
    pub fn start(turns: &[StreamScript], past: ReplayedPast, style: LineStyle) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Self::on(listener, turns, past, style)
    }

    /// Starts one on an address that the test already has.
    pub fn on(
        listener: TcpListener,
        turns: &[StreamScript],
        past: ReplayedPast,
        style: LineStyle,
    ) -> Self {
        let shared = Arc::new(ServerState {
            log: EventLog::new(),
            past,
            style,
            turns: turns.to_vec(),
            other: OnceLock::new(),
            receipts: OnceLock::new(),
            seen: Mutex::default(),
            changed: Condvar::new(),
        });
        let server = Self {
            address: listener.local_addr().unwrap().to_string(),
            shared: Arc::clone(&shared),
        };
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || shared.serve(stream));
            }
        });
        server
    }

    /// Sets the other server that its turns may refer to.
    pub fn knows(&self, other: &FaultServer) {
        self.shared.other.set(other.address.clone()).unwrap();
    }

    /// Answers the replies, in order, with exactly these bytes; the last one repeats.
    pub fn receipts(&self, receipts: &[String]) {
        self.shared.receipts.set(receipts.to_vec()).unwrap();
    }

    /// Releases the turns that wait at their gate.
    pub fn open_gate(&self) {
        self.shared.seen.lock().unwrap().open = true;
        self.shared.changed.notify_all();
    }

    /// Waits until something has been received; fails if it is not.
    pub fn until(&self, there: impl Fn(&ServerReceived) -> bool) {
        assert!(self.shared.until(there), "it never came");
    }

    /// Returns its host and port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Inspects what was received.
    pub fn seen<T>(&self, look: impl FnOnce(&ServerReceived) -> T) -> T {
        look(&self.shared.seen.lock().unwrap())
    }
}

impl ServerState {
    fn serve(&self, mut stream: TcpStream) {
        let Some((head, body)) = request(&mut stream) else {
            return;
        };
        let stream_wanted = ["GET /events ", "GET /elsewhere "];
        if head.starts_with("POST /messages ") {
            let count = {
                let mut seen = self.seen.lock().unwrap();
                seen.replies.push(serde_json::from_str(&body).unwrap());
                seen.replies.len()
            };
            self.changed.notify_all();
            let receipt = match self.receipts.get() {
                Some(receipts) => &receipts[(count - 1).min(receipts.len() - 1)],
                None => TAKEN,
            };
            let _ = stream.write_all(receipt.as_bytes());
        } else if stream_wanted.iter().any(|path| head.starts_with(path)) {
            let turn = {
                let mut seen = self.seen.lock().unwrap();
                seen.streams.push((Instant::now(), head.clone()));
                self.turns.get(seen.streams.len() - 1)
            };
            let mut exchange = StreamExchange {
                stream,
                log: &self.log,
                style: self.style,
                other: self.other.get().map_or("", String::as_str),
                head,
                shared: self,
            };
            match turn {
                Some(turn) => turn(&mut exchange),
                None => self.good(&mut exchange),
            }
        } else {
            self.seen.lock().unwrap().others.push(head);
            self.changed.notify_all();
            let _ = stream.write_all(
                b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            );
        }
    }

    /// Sends all due events, waits for the answer and sends the end.
    fn good(&self, exchange: &mut StreamExchange) {
        let last = last_event_id(&exchange.head);
        let from = match (self.past, last) {
            (ReplayedPast::Resumed, Some(LARGE)) => 3,
            (ReplayedPast::Resumed, Some(last)) => last + 1,
            (ReplayedPast::Resumed, None) | (ReplayedPast::Replayed, _) => 1,
        };
        let before = self.log.range(from, BEFORE_ANSWER + 1);
        exchange
            .bytes(STREAM.as_bytes())
            .bytes(self.style.start())
            .text(&before);
        exchange.finish();
    }

    /// Waits until something has been received, with a time limit.
    fn until(&self, there: impl Fn(&ServerReceived) -> bool) -> bool {
        let seen = self.seen.lock().unwrap();
        let waited = self
            .changed
            .wait_timeout_while(seen, PATIENCE, |seen| !there(seen));
        !waited.unwrap().1.timed_out()
    }
}

/// Returns the number of the event that the subscriber names as its last.
fn last_event_id(head: &str) -> Option<usize> {
    head.lines().find_map(|line| {
        line.to_ascii_lowercase()
            .strip_prefix("last-event-id:")?
            .trim()
            .strip_prefix("evt_")?
            .parse()
            .ok()
    })
}

/// Reads a request's head and body; `None` if the other side has left.
pub fn request(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head
        .lines()
        .find_map(|line| {
            line.to_ascii_lowercase()
                .strip_prefix("content-length:")?
                .trim()
                .parse()
                .ok()
        })
        .unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((head, String::from_utf8(body).ok()?))
}
