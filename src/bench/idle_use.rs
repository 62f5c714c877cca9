//! The resources that hearken uses when next to nothing arrives: its start, a connection with a silent agent, the demo.

use std::io;
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::event_server::BenchServer;
use super::figures::IdleUse;
use super::flood::Flood;
use super::measured_child::{LOOK, PATIENCE, Program};
use super::{FACE, MeasureError, Measurement};
use crate::platform::resource_use;

/// How many starts are timed.
const STARTS: usize = 20;
/// How long to wait for the agent's first words to be announced, and for everything that is done once after a start;
/// the last of it comes after five seconds, when the connection is considered stable.
const SETTLING: Duration = Duration::from_secs(7);

/// Measures all of these.
pub(super) fn measure(
    request: &Measurement,
    settings: &str,
    over: &AtomicBool,
) -> Result<IdleUse, MeasureError> {
    let start = start()?;
    let silent = |out: &mut TcpStream| {
        let events = Flood::new(1, Timestamp::now()).take(1);
        for event in events {
            io::Write::write_all(out, format!("data: {event}\n\n").as_bytes())?;
        }
        // Blocks until the client hangs up.
        io::copy(out, &mut io::sink()).map(|_| ())
    };
    let server = BenchServer::start(silent, None)?;
    let run = |arguments: &[&str]| {
        let mut call = Program::call(arguments, settings)?;
        call.args(FACE).stdin(Stdio::null()).stdout(Stdio::null());
        Program::start(&mut call)
    };
    let mut idle = run(&["watch", &server.url])?;
    // The demo runs alongside the idle program, and its work does not wake that one.
    let demo = run(&["demo"])?;
    let until = Instant::now() + PATIENCE;
    while server.began().is_err() && Instant::now() < until {
        idle.wait(LOOK, over)?;
    }
    server.began()?;
    idle.wait(SETTLING, over)?;
    // In a long bench the demo ends, after which the system no longer reports on it.
    let at_first = resource_use::spent(&demo.0).peak;
    let before = resource_use::wakings(&idle.0);
    idle.wait(request.paced, over)?;
    let after = resource_use::wakings(&idle.0);
    Ok(IdleUse {
        start,
        idle: request.paced,
        wakings: (after.zip(before)).map(|(after, before)| after.saturating_sub(before)),
        peak: resource_use::spent(&idle.0).peak,
        demo: at_first.max(resource_use::spent(&demo.0).peak),
    })
}

/// Returns the median time from the program's start to its end when it has next to nothing to do.
fn start() -> Result<Duration, MeasureError> {
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
            return Err(MeasureError::Failed(ended.code().unwrap_or(-1)));
        }
    }
    times.sort();
    Ok(times[STARTS / 2])
}
