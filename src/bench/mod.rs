//! What an event costs on this very machine: `hearken bench`.
//!
//! Responsibilities: a flood of events, fed to another hearken over a socket and as a file; the resources it used; the
//! latency of an event from the socket to the line, and of typed input to the reply and to the voice; the resources
//! used when idle; the report. Not here: the measured code, which is the program as everyone runs it; the cost of
//! single stages, which `benches/` measures.
//!
//! The events are generated before any measurement, into a file in a private folder that is removed afterwards, however
//! the bench ends. The program under measurement is a child process, so that generating and serving events is not
//! included.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;

use crate::announce::{Arg, Phrases};
use crate::platform::files;
use crate::platform::system_signals::{Termination, TerminationSignals};

mod daemon;
mod event_latency;
mod event_server;
mod figures;
mod flood;
mod idle_use;
mod input_latency;
mod measured_child;

pub use flood::Flood;

use event_server::BenchServer;
use figures::{Cost, EventPacing};
use measured_child::{Child, MeasuredRun};

/// The face of the child: plain lines, without a voice.
const FACE: [&str; 4] = ["--face", "linear", "--voice", "none"];

/// What to measure.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// How many sessions take turns.
    pub sessions: usize,
    /// How many agents they belong to.
    pub agents: usize,
    /// How many further sessions ask something and wait meanwhile.
    pub questions: usize,
    /// The number of events, including the starts and questions.
    pub events: usize,
    /// How long to send events at a steady rate for timing, and how long to stay idle.
    pub paced: Duration,
    /// Whether to write JSON, one object per line.
    pub json: bool,
}

impl Measurement {
    fn flood(&self, start: Timestamp) -> Flood {
        Flood::new(self.sessions, start)
            .with_agents(self.agents)
            .with_asking(self.questions)
    }
}

/// How a bench ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BenchEnd {
    /// Everything was measured.
    Measured,
    /// It was interrupted by the key.
    Interrupted,
    /// It was terminated.
    Terminated,
}

/// Why the measurement failed.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The system refused a file, a socket or a program.
    #[error("the machine does not allow the measurement")]
    Refused(#[from] io::Error),
    /// The report can't be written.
    #[error("the report can't be written")]
    Unwritten(#[source] io::Error),
    /// The program under measurement did not do its work.
    #[error("the measured program ended with {0}")]
    Failed(i32),
    /// The bench was asked to end.
    #[error("the measurement was told to end")]
    Over,
}

/// Measures, and writes each figure as soon as it is available.
pub async fn run(request: Measurement, words: Phrases) -> Result<BenchEnd, MeasureError> {
    // Before any output: its reader may interrupt immediately.
    let mut leaving = TerminationSignals::listen_without_terminal()?;
    let over = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&over);
    let mut work = tokio::task::spawn_blocking(move || {
        let bench = Bench {
            place: TemporaryFolder::make()?,
            request,
            words,
            over: flag,
        };
        bench.measure()
    });
    let told = tokio::select! {
        biased;
        told = leaving.received() => told,
        done = &mut work => {
            done.map_err(io::Error::other)??;
            return Ok(BenchEnd::Measured);
        }
    };
    over.store(true, Ordering::Release);
    // This also removes the child and the folder.
    let _ = work.await;
    Ok(match told {
        Termination::Interrupt => BenchEnd::Interrupted,
        Termination::End => BenchEnd::Terminated,
    })
}

/// A temporary folder for the bench, removed on drop.
struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    fn make() -> io::Result<Self> {
        let name = format!("hearken-bench-{}", std::process::id());
        let place = Self(std::env::temp_dir().join(name));
        // A crash may have left one with the same number.
        let _ = fs::remove_dir_all(&place.0);
        files::folder_for_owner(&place.0)?;
        Ok(place)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // What can't be removed is left among the system's temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

struct Bench {
    place: TemporaryFolder,
    request: Measurement,
    words: Phrases,
    over: Arc<AtomicBool>,
}

impl Bench {
    fn measure(&self) -> Result<(), MeasureError> {
        let Measurement {
            sessions,
            agents,
            questions,
            events,
            ..
        } = self.request;
        let events = events.max(self.request.flood(Timestamp::UNIX_EPOCH).opening());
        let several = |count: usize, few: usize| match count > few {
            true => count.to_string(),
            false => String::new(),
        };
        let args = [
            ("events", Arg::Own(events.to_string())),
            ("sessions", Arg::Own(sessions.to_string())),
            ("agents", Arg::Own(several(agents, 1))),
            ("questions", Arg::Own(several(questions, 0))),
        ];
        if !self.request.json {
            self.write(&self.words.text("bench.begins", &args))?;
        }
        let settings = self.place.file("no-settings.toml");
        files::create_for_owner(&settings)?;
        let settings = settings.to_string_lossy().into_owned();
        let file = self.place.file("flood.jsonl");
        self.lay(&file, events)?;
        let told = |way, ran: MeasuredRun| {
            let cost = Cost {
                way,
                events,
                request: self.request.clone(),
                ran,
            };
            self.tell(&cost.text(&self.words), &cost.json())
        };

        let server = BenchServer::of_file(&file)?;
        let watched = self.child(&[
            "watch",
            &server.url,
            "--config",
            &settings,
            "--retries",
            "0",
        ]);
        let mut ran = watched.run(&FACE, |_| {}, &[0, 1])?;
        // The program's startup does not count towards the stream.
        ran.took = ran.ended.saturating_duration_since(server.began()?);
        told(EventPacing::Socket, ran)?;
        let path = file.to_string_lossy();
        let replayed = self.child(&["replay", &path, "--no-delay", "--config", &settings]);
        told(EventPacing::File, replayed.run(&FACE, |_| {}, &[0])?)?;
        let checked = self.child(&["check", &path]);
        told(EventPacing::Check, checked.run(&[], |_| {}, &[0])?)?;
        let way = event_latency::time(&self.request, &settings, |arguments| self.child(arguments))?;
        self.tell(&way.text(&self.words), &way.json())?;
        let typed = input_latency::time(&self.request, &settings, &self.place, &self.over)?;
        self.tell(&typed.text(&self.words), &typed.json())?;
        let quiet = idle_use::measure(&self.request, &settings, &self.over)?;
        self.tell(&quiet.text(&self.words), &quiet.json())
    }

    fn child(&self, arguments: &[&str]) -> Child {
        Child::new(arguments, Arc::clone(&self.over))
    }

    /// Writes the events as a recording, with no timestamp in the future.
    fn lay(&self, file: &Path, events: usize) -> Result<(), MeasureError> {
        let length = u64::try_from(events / self.request.sessions.max(1)).unwrap_or_default();
        let start = Timestamp::now().saturating_sub(Duration::from_millis(length));
        let flood = self.request.flood(start.unwrap_or(Timestamp::UNIX_EPOCH));
        let mut out = BufWriter::new(files::create_for_owner(file)?);
        for event in flood.take(events) {
            if self.over.load(Ordering::Acquire) {
                return Err(MeasureError::Over);
            }
            writeln!(out, "{event}")?;
        }
        out.flush()?;
        Ok(())
    }

    fn tell(&self, text: &str, json: &str) -> Result<(), MeasureError> {
        self.write(if self.request.json { json } else { text })
    }

    fn write(&self, line: &str) -> Result<(), MeasureError> {
        let mut out = io::stdout().lock();
        let written = writeln!(out, "{line}").and_then(|()| out.flush());
        written.map_err(MeasureError::Unwritten)
    }
}
