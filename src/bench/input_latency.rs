//! How long typed input takes while agents are busy: an answer, until its reply arrives; a stop, until the voice is
//! told to be silent.
//!
//! The input is typed into the linear face, one line each, because that works on every system; a key of the full face
//! takes the same path except for the line.

use std::io::{self, BufRead as _, BufReader, ErrorKind, Write as _};
use std::net::TcpStream;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::daemon::{Daemon, VoiceEntry};
use super::event_latency::RATE;
use super::event_server::BenchServer;
use super::figures::InputLatency;
use super::flood::Flood;
use super::measured_child::{PATIENCE, Program};
use super::{FACE, MeasureError, Measurement, TemporaryFolder};

/// The pause before typing, after the announcement in question: shorter than any person needs, and long enough for the
/// program to know that its own line is out.
const HAND: Duration = Duration::from_millis(50);
/// When to retype input that the program did not accept because it came too early.
const AGAIN: Duration = Duration::from_secs(1);
/// The action in the questions, before the number.
const ACTION: &str = "Send part ";

/// Types each kind of input for a while, and times it. If no socket can be created for the voice, stops are not timed.
pub(super) fn time(
    request: &Measurement,
    settings: &str,
    place: &TemporaryFolder,
    over: &AtomicBool,
) -> Result<InputLatency, MeasureError> {
    let replies = answers(request.paced, settings, over)?;
    let stops = match Daemon::start(&place.file("voice")) {
        Ok(daemon) => Some(stops(request.paced, settings, &daemon, over)?),
        // The system has no such sockets, or the path of the temporary folder is too long for one.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::Unsupported | ErrorKind::InvalidInput
            ) =>
        {
            None
        }
        Err(error) => return Err(error.into()),
    };
    Ok(InputLatency {
        rate: RATE,
        replies,
        stops,
    })
}

/// Answers question after question, without a voice, which would have to finish each first; returns the sorted reply
/// times.
fn answers(
    time: Duration,
    settings: &str,
    over: &AtomicBool,
) -> Result<Vec<Duration>, MeasureError> {
    let (asked, questions) = channel::<String>();
    let (tell, replies) = channel();
    let server = server(questions, Some(tell))?;
    let mut call = Program::call(&["watch", &server.url], settings)?;
    call.args(FACE).stdout(Stdio::piped());
    let mut person = Typist::sits(&mut call)?;
    let lines = lines(person.program.0.stdout.take().ok_or_else(broken)?);
    let ask = |event| asked.send(event).map_err(|_| broken());
    let mut times = Vec::new();
    let until = Instant::now() + time;
    while times.is_empty() || Instant::now() < until {
        let number = times.len() + 1;
        let action = format!("{ACTION}{number:06}");
        let question = json!({
            "action": action, "consequence": "It is sent.", "reply_token": format!("rpl_{number}"), "timeout_seconds": 3000,
            "default_decision": "reject", "risk_level": "low", "irreversible": false, "urgency": "critical",
        });
        ask(state(&format!("w{number}"), "thinking", "awaiting_input"))?;
        let id = format!("q{number}");
        ask(event("awaiting.confirmation", &id, question))?;
        while !person.program.receive(&lines, over)?.contains(&action) {}
        person.program.wait(HAND, over)?;
        // A late reply to the previous question must not count for this one.
        replies.try_iter().for_each(drop);
        // By its number: a bare answer right after the last one could be meant for that.
        let word = if number % 2 == 0 { "y" } else { "n" };
        let line = format!("{word} {number}\n");
        let took = person.types(&line, |program| program.wait_for(&replies, AGAIN, over))?;
        times.push(took);
        ask(state(&format!("s{number}"), "awaiting_input", "thinking"))?;
    }
    times.sort();
    Ok(times)
}

/// Stops the speech again and again; returns the sorted times.
fn stops(
    time: Duration,
    settings: &str,
    daemon: &Daemon,
    over: &AtomicBool,
) -> Result<Vec<Duration>, MeasureError> {
    let (_nobody_asks, questions) = channel();
    let server = server(questions, None)?;
    let mut call = Program::call(&["watch", &server.url], settings)?;
    call.args(["--face", "linear", "--voice", "speech-dispatcher"])
        .env("SPEECHD_ADDRESS", &daemon.address)
        .stdout(Stdio::null());
    let mut person = Typist::sits(&mut call)?;
    let mut times = Vec::new();
    let until = Instant::now() + time;
    while times.is_empty() || Instant::now() < until {
        let mut speaks = false;
        while !speaks {
            while !matches!(
                person.program.receive(&daemon.heard, over)?,
                VoiceEntry::Begun
            ) {}
            person.program.wait(HAND, over)?;
            // Something more urgent may have interrupted it.
            speaks = !matches!(
                daemon.heard.try_iter().last(),
                Some(VoiceEntry::Silenced(_))
            );
        }
        times.push(person.types("s\n", |program| {
            while let Some(heard) = program.wait_for(&daemon.heard, AGAIN, over)? {
                if let VoiceEntry::Silenced(at) = heard {
                    return Ok(Some(at));
                }
            }
            Ok(None)
        })?);
    }
    times.sort();
    Ok(times)
}

/// Serves events at their rate, with the questions among them.
fn server(asked: Receiver<String>, replies: Option<Sender<Instant>>) -> io::Result<BenchServer> {
    let asked = Mutex::new(asked);
    let stream = move |out: &mut TcpStream| {
        stream(out, &asked.lock().unwrap_or_else(PoisonError::into_inner))
    };
    BenchServer::start(stream, replies)
}

/// Writes events at their rate, with the questions among them.
fn stream(out: &mut TcpStream, asked: &Receiver<String>) -> io::Result<()> {
    let flood = Flood::new(1, Timestamp::now()).at_rate(RATE);
    let began = Instant::now();
    for (at, event) in (0..).zip(flood) {
        let due = began + Duration::from_secs(1) / RATE * at;
        while let Ok(question) = asked.recv_timeout(due.saturating_duration_since(Instant::now())) {
            out.write_all(format!("data: {question}\n\n").as_bytes())?;
        }
        out.write_all(format!("data: {event}\n\n").as_bytes())?;
    }
    Ok(())
}

/// Returns an event of the asking agent.
fn event(kind: &str, id: &str, fields: Value) -> String {
    let mut event = json!({
        "@context": "https://aaep-protocol.org/context/v1", "type": format!("aaep:agent.{kind}"),
        "event_id": format!("evt_{id}"), "session_id": "sess_asks", "timestamp": format!("{:.3}", Timestamp::now()),
        "producer": {"agent_id": "asking-agent", "agent_name": "Asking Agent"},
    });
    if let (Some(event), Value::Object(fields)) = (event.as_object_mut(), fields) {
        event.extend(fields);
    }
    event.to_string()
}

fn state(id: &str, from: &str, to: &str) -> String {
    let fields = json!({"from_state": from, "to_state": to});
    event("state.changed", id, fields)
}

fn broken() -> io::Error {
    ErrorKind::BrokenPipe.into()
}

/// Reads the program's output, and passes on the lines about questions.
fn lines(out: ChildStdout) -> Receiver<String> {
    let (tell, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            if line.contains(ACTION) && tell.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// The person at the keyboard of the program under measurement.
struct Typist {
    program: Program,
    keyboard: ChildStdin,
}

impl Typist {
    fn sits(call: &mut Command) -> io::Result<Self> {
        let mut program = Program::start(call.stdin(Stdio::piped()))?;
        let keyboard = program.0.stdin.take().ok_or_else(broken)?;
        Ok(Self { program, keyboard })
    }

    /// Types a line, and returns how long it took until the time that `told` returns. If it was not accepted, or is
    /// slow, it is typed again and counts from the first time: nothing is reported as faster than it was.
    fn types(
        &mut self,
        line: &str,
        mut told: impl FnMut(&mut Program) -> Result<Option<Instant>, MeasureError>,
    ) -> Result<Duration, MeasureError> {
        let typed = Instant::now();
        loop {
            self.keyboard.write_all(line.as_bytes())?;
            self.keyboard.flush()?;
            if let Some(at) = told(&mut self.program)? {
                return Ok(at.saturating_duration_since(typed));
            }
            if typed.elapsed() > PATIENCE {
                return Err(io::Error::from(ErrorKind::TimedOut).into());
            }
        }
    }
}
