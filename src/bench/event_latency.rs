//! How long an event takes from the write on the socket to the receiving program's line.

use std::io::{self, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::event_server::BenchServer;
use super::figures::Latency;
use super::flood::{mark_in, marked};
use super::measured_child::Child;
use super::{FACE, MeasureError, Measurement};

/// How many events are sent per second: far more than agents that people follow send.
pub(super) const RATE: u32 = 1000;
/// How many sessions send them, so that each gets to send tool results.
const BUSY: usize = 10;

/// How long to wait for the sessions' starts to be announced first.
const SETTLING: Duration = Duration::from_secs(1);

/// Sends events at a steady rate, and times those whose words are written immediately: the tool results.
pub(super) fn time(
    request: &Measurement,
    settings: &str,
    child: impl Fn(&[&str]) -> Child,
) -> Result<Latency, MeasureError> {
    let sent = Arc::new(Mutex::new(Vec::new()));
    let (marks, wanted) = (Arc::clone(&sent), request.clone());
    let server = BenchServer::start(move |out| send(out, &wanted, &marks), None)?;
    let mut times = Vec::new();
    let watched = child(&["watch", &server.url, "--config", settings, "--retries", "0"]);
    let on_line = |line: &str| {
        let now = Instant::now();
        let sent = sent.lock().unwrap_or_else(PoisonError::into_inner);
        let mark = mark_in(line).and_then(|mark| sent.get(mark).copied());
        times.extend(mark.map(|at| now.saturating_duration_since(at)));
    };
    let ran = watched.run(&FACE, on_line, &[0, 1])?;
    times.sort();
    let marked = sent.lock().unwrap_or_else(PoisonError::into_inner).len();
    Ok(Latency {
        rate: RATE,
        marked,
        times,
        ran,
    })
}

/// Writes events one at a time, each when it is due, and keeps the time at which each tool result was
/// written.
fn send(out: &mut TcpStream, wanted: &Measurement, marks: &Mutex<Vec<Instant>>) -> io::Result<()> {
    let flood = wanted.flood(Timestamp::now());
    let mut flood = flood.with_busy(BUSY).at_rate(RATE);
    let mut before = String::new();
    // The opening events do not count towards the rate.
    let opening = flood.opening();
    for event in flood.by_ref().take(opening) {
        before.push_str(&format!("data: {event}\n\n"));
    }
    out.write_all(before.as_bytes())?;
    let began = Instant::now() + SETTLING;
    for (at, event) in (0..).zip(flood) {
        let due = Duration::from_secs(1) / RATE * at;
        if due > wanted.paced {
            break;
        }
        std::thread::sleep((began + due).saturating_duration_since(Instant::now()));
        let mut sent = marks.lock().unwrap_or_else(PoisonError::into_inner);
        let event = match marked(&event, sent.len()) {
            Some(event) => {
                sent.push(Instant::now());
                event
            }
            None => event,
        };
        drop(sent);
        out.write_all(format!("data: {event}\n\n").as_bytes())?;
    }
    Ok(())
}
