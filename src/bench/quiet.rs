//! What hearken takes when next to nothing comes: its start, a connection on which an agent is silent, the demo.

use std::io;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::flood::Flood;
use super::report::Quiet;
use super::served::Server;
use super::{FACE, Request, Unmeasured};
use crate::platform::spending;

/// How often the start is timed.
const STARTS: usize = 20;
/// How long what an agent said has to be told, with all that is done once behind a start: at last, after five seconds, a
/// connection is taken for a good one.
const SETTLING: Duration = Duration::from_secs(7);
/// How long a program may take until it has asked for the stream, on a machine that has much to do.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it is looked whether the bench is to end.
const LOOK: Duration = Duration::from_millis(50);

/// Ends the program that is measured with whoever measures it.
struct Program(Child);

impl Program {
    fn start(arguments: &[&str], settings: &str) -> io::Result<Self> {
        let mut call = Command::new(std::env::current_exe()?);
        call.args(arguments).args(["--config", settings]).args(FACE);
        let child = call.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
        Ok(Self(child))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It has ended by itself where that fails, which is seen before.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Measures it.
pub(super) fn measure(
    request: &Request,
    settings: &str,
    over: &AtomicBool,
) -> Result<Quiet, Unmeasured> {
    let start = start()?;
    let server = Server::start(|out| {
        let events = Flood::new(1, Timestamp::now()).take(1);
        for event in events {
            io::Write::write_all(out, format!("data: {event}\n\n").as_bytes())?;
        }
        // Until whoever listens hangs up.
        io::copy(out, &mut io::sink()).map(|_| ())
    })?;
    let mut idle = Program::start(&["watch", &server.url], settings)?;
    // It runs beside the other, which is woken by nobody else's work.
    let demo = Program::start(&["demo"], settings)?;
    let until = Instant::now() + PATIENCE;
    while server.began().is_err() && Instant::now() < until {
        wait(&mut idle, LOOK, over)?;
    }
    server.began()?;
    wait(&mut idle, SETTLING, over)?;
    // In a long bench it comes to its end, after which the system does not tell it any more.
    let at_first = spending::spent(&demo.0).peak;
    let before = spending::wakings(&idle.0);
    wait(&mut idle, request.paced, over)?;
    let after = spending::wakings(&idle.0);
    Ok(Quiet {
        start,
        idle: request.paced,
        wakings: (after.zip(before)).map(|(after, before)| after.saturating_sub(before)),
        peak: spending::spent(&idle.0).peak,
        demo: at_first.max(spending::spent(&demo.0).peak),
    })
}

/// Gives how long the program takes from its start to its end when it has next to nothing to do, at the median.
fn start() -> Result<Duration, Unmeasured> {
    let mut times = Vec::with_capacity(STARTS);
    for _ in 0..STARTS {
        let began = Instant::now();
        let ended = Command::new(std::env::current_exe()?)
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()?;
        times.push(began.elapsed());
        if !ended.success() {
            return Err(Unmeasured::Failed(ended.code().unwrap_or(-1)));
        }
    }
    times.sort();
    Ok(times[STARTS / 2])
}

/// Lets time pass while the program goes on.
fn wait(idle: &mut Program, time: Duration, over: &AtomicBool) -> Result<(), Unmeasured> {
    let until = Instant::now() + time;
    loop {
        if over.load(Ordering::Acquire) {
            return Err(Unmeasured::Over);
        }
        if let Some(ended) = idle.0.try_wait()? {
            return Err(Unmeasured::Failed(ended.code().unwrap_or(-1)));
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(LOOK));
    }
}
