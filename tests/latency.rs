//! A flooded minute: ten thousand events a second, and a question among them now and then, which is to be heard and answered
//! as if nothing else were there. The whole program in a pseudo-terminal, against a server and a speech-dispatcher of its own.
//!
//! Measured are the way of a question from its write on the socket to its words at the daemon, the way of a key to the reply's
//! bytes on the socket, how often the screen is drawn, and what memory grows by. How soon the stop key is heard is measured
//! beside the same flood by `speech`, because nothing is said for half a second after it.
//!
//! `HEARKEN_BINARY` names the program to be judged, `.ci/run` gives its release build and holds it to the bounds of the issue; a
//! debug build on a busy machine is held to looser ones. `HEARKEN_FLOOD_SECONDS` says how long it takes, at most three times.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hearken::bench;
use serde_json::{Value, json};

use crate::support::PATIENCE;
use crate::support::ssip::{FakeSsip, Kind, address};
use crate::support::terminal::Terminal;

/// How many events come in a second, and for how long: questions enough for a 99th percentile.
pub const ISSUE: (u32, Duration) = (10_000, Duration::from_secs(20));
/// What a debug build takes in while other tests run beside it.
const MODEST: (u32, Duration) = (100, Duration::from_secs(8));
/// The bounds of the issue: a key to the reply, a question to the voice.
const BOUND: Duration = Duration::from_millis(10);
const HEARD: Duration = Duration::from_millis(20);
/// How often the screen may be drawn in a second.
const FRAMES: f64 = 30.5;
/// What memory may grow by once the history is full and everything was used once, in KiB.
const GROWTH: u64 = 16 * 1024;
/// When that is.
const WARM: Duration = Duration::from_secs(5);
/// How long each utterance lasts: no test waits for words.
const SPOKEN: Duration = Duration::from_millis(3);
/// What a debug build may take at the median. Its slowest answers among other tests, which take the machine
/// for most of a second at times, prove nothing of it.
const LOOSE: Duration = Duration::from_millis(100);
/// For how long the same key again is a key that is held (docs/questions.md), and somewhat more.
const HELD: Duration = Duration::from_millis(800);
/// How many events are written together at most.
const AT_ONCE: u64 = 100;
/// A machine that is busy with something else at one time is not at three.
const ROUNDS: usize = 3;

/// A reply, and when its first bytes were there.
pub type Arrived = (Instant, Value);

/// Is a plain pair that streams without rest.
pub struct Flood {
    pub url: String,
    pub asked: Sender<String>,
    pub replies: Receiver<Arrived>,
    sent: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

impl Flood {
    pub fn start(rate: u32) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (asked, questions) = channel::<String>();
        let questions = Arc::new(Mutex::new(questions));
        let (sender, replies) = channel();
        let sent = Arc::new(AtomicU64::new(0));
        let stop = Arc::new(AtomicBool::new(false));
        let flood = (Arc::clone(&sent), Arc::clone(&stop));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                stream.set_nodelay(true).unwrap();
                let sender = sender.clone();
                let questions = Arc::clone(&questions);
                let (sent, stop) = (Arc::clone(&flood.0), Arc::clone(&flood.1));
                std::thread::spawn(move || serve(stream, rate, &questions, &sender, &sent, &stop));
            }
        });
        Self {
            url,
            asked,
            replies,
            sent,
            stop,
        }
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
    }
}

/// Serves one connection, request after request.
fn serve(
    stream: TcpStream,
    rate: u32,
    questions: &Mutex<Receiver<String>>,
    replies: &Sender<Arrived>,
    sent: &AtomicU64,
    stop: &AtomicBool,
) {
    let mut out = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    loop {
        // The wait for the first byte of a request is where a reply arrives.
        match reader.fill_buf() {
            Ok([]) | Err(_) => return,
            Ok(_) => {}
        }
        let arrived = Instant::now();
        let mut head = String::new();
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
            head.push_str(&line);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        if head.starts_with("GET /events") {
            let begin = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
            out.write_all(begin.as_bytes()).unwrap();
            stream_events(&mut out, rate, &questions.lock().unwrap(), sent, stop);
            return;
        }
        let answer = if head.starts_with("POST /messages") {
            let body = serde_json::from_slice(&body).unwrap();
            if replies.send((arrived, body)).is_err() {
                return;
            }
            "HTTP/1.1 204 No Content\r\n\r\n"
        } else {
            "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"
        };
        if out.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// Writes events at their rate, and the questions among them as they are asked.
fn stream_events(
    out: &mut TcpStream,
    rate: u32,
    questions: &Receiver<String>,
    sent: &AtomicU64,
    stop: &AtomicBool,
) {
    let events = bench::Flood::new(1, jiff::Timestamp::now()).at_rate(rate);
    let started = Instant::now();
    let mut count = 0u64;
    let mut events = events.map(|event| format!("data: {event}\n\n"));
    while !stop.load(Ordering::Acquire) {
        let due = started + Duration::from_nanos(1_000_000_000 * count / u64::from(rate));
        let text = match questions.recv_timeout(due.saturating_duration_since(Instant::now())) {
            Ok(question) => format!("data: {question}\n\n"),
            Err(_) => {
                // What came due together is written together, as a busy agent does.
                let until = started.elapsed().as_nanos() * u128::from(rate) / 1_000_000_000;
                let due = u64::try_from(until)
                    .unwrap()
                    .saturating_sub(count)
                    .clamp(1, AT_ONCE);
                count += due;
                sent.store(count, Ordering::Release);
                events
                    .by_ref()
                    .take(usize::try_from(due).unwrap())
                    .collect()
            }
        };
        if out.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

pub fn event(id: &str, session: &str, kind: &str, fields: Value) -> String {
    let mut event = json!({
        "@context": "https://aaep-protocol.org/context/v1", "type": format!("aaep:agent.{kind}"),
        "event_id": format!("evt_{id}"), "session_id": format!("sess_{session}"),
        "timestamp": format!("{:.3}", jiff::Timestamp::now()),
        "producer": {"agent_id": format!("agent-{session}"), "agent_name": format!("Agent {session}")},
    });
    for (key, value) in fields.as_object().unwrap() {
        event[key] = value.clone();
    }
    event.to_string()
}

pub fn percentile(sorted: &[Duration], hundredths: usize) -> Duration {
    sorted[(sorted.len() * hundredths).div_ceil(100).saturating_sub(1)]
}

/// Holds what one flood brought.
struct Round {
    /// From the write of a question to its words at the daemon, in order.
    heard: Vec<Duration>,
    /// From a key to the reply's bytes, in order.
    answered: Vec<Duration>,
    /// Events a second.
    rate: f64,
    /// Screens a second.
    frames: f64,
    /// What memory grew by since it was warm, in KiB.
    growth: u64,
    figures: String,
}

/// Lets everything be said to its end soon after it was begun.
fn speak(server: &FakeSsip, stop: &AtomicBool) {
    let mut before = None;
    while !stop.load(Ordering::Acquire) {
        let open = server.wait("anything", |_, messages| {
            Some(messages.last().filter(|it| !it.over).map(|it| it.number))
        });
        // Each is let be for a while first.
        if let Some(number) = open.filter(|_| open == before) {
            server.event(702, number);
        }
        before = open;
        std::thread::sleep(SPOKEN);
    }
}

/// Waits for a line of what is said, from one on; gives which it is, and when it was read.
fn said(
    server: &FakeSsip,
    from: usize,
    what: &str,
    fits: impl Fn(&str) -> bool,
) -> (usize, Instant) {
    server.wait(what, |lines, _| {
        let mut later = lines.iter().enumerate().skip(from);
        later
            .find(|(_, line)| line.kind == Kind::Text && fits(&line.text))
            .map(|(at, line)| (at, line.at))
    })
}

/// Whether it is about what the flood does, and so about no question.
fn is_of_flood(text: &str) -> bool {
    let words = [
        "file",
        "File",
        "retry limit",
        "timeout",
        "problems",
        "Should I change",
    ];
    words.iter().any(|word| text.contains(word))
}

/// Gives what a program holds of memory, in KiB.
fn memory(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Asks and answers for a while, beside so many events a second.
fn round(release: Option<&str>, wanted: u32, length: Duration) -> Round {
    let flood = Flood::start(wanted);
    let server = FakeSsip::start();
    let stop = AtomicBool::new(false);
    let mut config = tempfile::NamedTempFile::new().unwrap();
    // The wait of a question for a quiet keyboard is not what is measured here.
    write!(config, "[questions]\narm_ms = 0\n").unwrap();
    let path = config.path().to_string_lossy().into_owned();
    let program = release.unwrap_or(env!("CARGO_BIN_EXE_hearken"));
    let mut terminal = Terminal::start_program(
        program,
        80,
        24,
        &["watch", &flood.url, "--face", "full", "--config", &path],
        &[
            ("TERM", "xterm-256color"),
            ("SPEECHD_ADDRESS", &address(&server)),
            ("PATH", "/nonexistent"),
        ],
    );
    std::thread::scope(|scope| {
        scope.spawn(|| speak(&server, &stop));
        // A failure must not wait for the thread that nobody stops.
        let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            ask_on(&flood, &server, &mut terminal, wanted, length)
        }));
        stop.store(true, Ordering::Release);
        told.unwrap_or_else(|failure| std::panic::resume_unwind(failure))
    })
}

fn ask_on(
    flood: &Flood,
    server: &FakeSsip,
    terminal: &mut Terminal,
    wanted: u32,
    length: Duration,
) -> Round {
    // What it says of the connection is gone before anybody could see it.
    terminal.wait("Status: ");
    let (mut heard, mut answered) = (Vec::new(), Vec::new());
    let mut early = 0;
    let (mut from, mut warm) = (0, None);
    let (started, sent) = (Instant::now(), flood.sent.load(Ordering::Acquire));
    terminal.drain();
    let frames = frames_in(terminal.raw());
    let mut n = 0;
    while started.elapsed() < length {
        n += 1;
        if warm.is_none() && started.elapsed() > WARM.min(length / 2) {
            warm = Some(memory(terminal.id()));
        }
        let token = format!("rpl_{n}");
        let fields = json!({
            "action": format!("Do thing {n}"), "reply_token": token, "timeout_seconds": 3000,
            "default_decision": "reject", "risk_level": "low", "irreversible": false, "urgency": "critical",
        });
        let (label, words) = (format!("Question {n} "), format!("Do thing {n}"));
        let question = event(&format!("q{n}"), "asks", "awaiting.confirmation", fields);
        let asked = Instant::now();
        flood.asked.send(question).unwrap();
        let (at, came) = said(server, from, "a question", |text| text.starts_with(&label));
        heard.push(came.saturating_duration_since(asked));
        // It is said to its end when the flood is heard again.
        let (at, _) = said(server, at, "its action", |text| text.contains(&words));
        (from, _) = said(server, at + 1, "the flood behind a question", is_of_flood);
        terminal.wait(&format!("Question {n}, "));
        let mut pressed = Instant::now();
        // The same key twice in a moment would be a key that is held.
        let (key, decision) = match n % 2 {
            0 => ("n", "reject"),
            _ => ("y", "accept"),
        };
        terminal.press(key);
        let (arrived, reply) = loop {
            // The screen is taken in while the reply is waited for, so that the program is never held up.
            match flood.replies.try_recv() {
                Ok(reply) => break reply,
                Err(_) => assert!(pressed.elapsed() < PATIENCE, "no reply {n}"),
            }
            // No hand is as quick as this test: on a busy machine it presses before the program knows that
            // its own write has returned, and such a key is for something else. It says so, and nothing went.
            if pressed.elapsed() > HELD && terminal.screen().contains("Not yet.") {
                early += 1;
                assert!(early * 4 <= n.max(8), "{early} keys of {n} were too early");
                pressed = Instant::now();
                terminal.press(key);
            }
            terminal.let_pass(Duration::from_micros(200));
        };
        assert_eq!(reply["reply_token"], token);
        assert_eq!(reply["decision"], decision);
        answered.push(arrived.saturating_duration_since(pressed));
        let fields = json!({"from_state": "awaiting_input", "to_state": "thinking"});
        let settled = event(&format!("s{n}"), "asks", "state.changed", fields);
        flood.asked.send(settled).unwrap();
        // The answer's own words come before any question, as they should, for as long as they take.
        let (at, _) = said(server, from + 1, "an answer", |text| text.contains(&words));
        (from, _) = said(server, at + 1, "the flood behind an answer", is_of_flood);
    }
    let took = started.elapsed().as_secs_f64();
    let growth = memory(terminal.id()).saturating_sub(warm.unwrap());
    let events = flood.sent.load(Ordering::Acquire) - sent;
    terminal.drain();
    let frames = (frames_in(terminal.raw()) - frames) as f64 / took;
    let rate = f64::from(u32::try_from(events).unwrap()) / took;
    heard.sort();
    answered.sort();
    let ranks = |times: &[Duration]| {
        let [median, p99] = [50, 99].map(|n| percentile(times, n));
        format!(
            "median {median:.1?}, p99 {p99:.1?}, worst {:.1?}",
            times[times.len() - 1]
        )
    };
    let figures = format!(
        "{n} questions in {took:.0} s at {rate:.0} events a second (wanted {wanted}): to the voice {}; key to reply {} ({early} \
         pressed again); {frames:.1} screens a second; memory grew by {growth} KiB",
        ranks(&heard),
        ranks(&answered),
    );
    Round {
        heard,
        answered,
        rate,
        frames,
        growth,
        figures,
    }
}

/// Counts how often the screen was drawn: each time is marked as one (mode 2026).
fn frames_in(raw: &[u8]) -> usize {
    raw.windows(8).filter(|it| *it == b"\x1b[?2026h").count()
}

#[test]
fn a_question_is_heard_and_answered_within_the_bounds_under_a_flood() {
    let release = std::env::var("HEARKEN_BINARY").ok();
    let (wanted, length) = if release.is_some() { ISSUE } else { MODEST };
    let length = std::env::var("HEARKEN_FLOOD_SECONDS").map_or(length, |seconds| {
        Duration::from_secs(seconds.parse().unwrap())
    });
    let mut told = String::new();
    let held = (0..ROUNDS).any(|_| {
        let round = round(release.as_deref(), wanted, length);
        #[allow(clippy::print_stdout, reason = "the figures are what it is run for")]
        {
            println!("{}", round.figures);
        }
        told.push_str(&round.figures);
        told.push('\n');
        let [answered, heard] = [&round.answered, &round.heard];
        let in_time = match release {
            Some(_) => percentile(answered, 99) < BOUND && percentile(heard, 99) < HEARD,
            None => percentile(answered, 50) < LOOSE && percentile(heard, 50) < LOOSE,
        };
        let small = round.frames <= FRAMES && round.growth < GROWTH;
        round.rate > f64::from(wanted) * 0.9 && in_time && small
    });
    assert!(
        held,
        "too slow or too large, or too few events to prove anything:\n{told}"
    );
}
