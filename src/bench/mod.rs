//! What an event costs on this very machine: `hearken bench`.
//!
//! Responsibilities: a flood of events, served to a hearken of its own over a socket and laid before it as a file; what that
//! one took of the machine; how long an event is on its way from the socket to the line, and what is typed to the reply and to
//! the voice; what it takes when nothing comes; the report. Not here: any of what
//! is measured, which is the program as everybody calls it; what single stages take, which `benches/` measures.
//!
//! The events are made before anything is measured, into a file in a folder of its own that is gone afterwards, however the
//! bench ends. What is measured is a child, so that making and serving events is not a part of it.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;

use crate::announce::{Arg, Phrases};
use crate::platform::files;
use crate::platform::signals::{Leave, Leaving};

mod child;
mod daemon;
mod flood;
mod paced;
mod quiet;
mod report;
mod served;
mod typed;

pub use flood::Flood;

use child::{Child, Ran};
use report::{Cost, Way};
use served::Server;

/// How the child shows what it hears: as plain lines, without a voice and without the person's own settings.
const FACE: [&str; 4] = ["--face", "linear", "--voice", "none"];

/// What is to be measured.
#[derive(Debug, Clone)]
pub struct Request {
    /// How many sessions take turns.
    pub sessions: usize,
    /// Of how many agents they are.
    pub agents: usize,
    /// How many further sessions ask something and wait meanwhile.
    pub questions: usize,
    /// How many events there are, the starts and questions among them.
    pub events: usize,
    /// For how long events come at a steady rate while their way is timed, and for how long none comes.
    pub paced: Duration,
    /// Whether JSON is written, one object a line.
    pub json: bool,
}

impl Request {
    fn flood(&self, start: Timestamp) -> Flood {
        Flood::new(self.sessions, start)
            .with_agents(self.agents)
            .with_asking(self.questions)
    }
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Everything was measured.
    Measured,
    /// By the interrupt key.
    Interrupted,
    /// It was told to end.
    Terminated,
}

/// Why it could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum Unmeasured {
    /// The system refused a file, a socket or a program.
    #[error("the machine does not let it be measured")]
    Refused(#[from] io::Error),
    /// The report can't be written.
    #[error("the report can't be written")]
    Unwritten(#[source] io::Error),
    /// The program that was measured did not do its work.
    #[error("the program that was measured ended with {0}")]
    Failed(i32),
    /// Somebody wants it to end.
    #[error("it was told to end")]
    Over,
}

/// Measures, and writes each figure as soon as it is there.
///
/// # Errors
/// When something can't be measured, or the report can't be written.
pub async fn run(request: Request, words: Phrases) -> Result<Ended, Unmeasured> {
    // Before anything is told: who reads it may interrupt at once.
    let mut leaving = Leaving::listen_without_terminal()?;
    let over = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&over);
    let mut work = tokio::task::spawn_blocking(move || {
        let bench = Bench {
            place: Place::make()?,
            request,
            words,
            over: flag,
        };
        bench.measure()
    });
    let told = tokio::select! {
        biased;
        told = leaving.told() => told,
        done = &mut work => {
            done.map_err(io::Error::other)??;
            return Ok(Ended::Measured);
        }
    };
    over.store(true, Ordering::Release);
    // The child and the folder are gone with it.
    let _ = work.await;
    Ok(match told {
        Leave::Interrupt => Ended::Interrupted,
        Leave::End => Ended::Terminated,
    })
}

/// A folder for what is measured with, which goes when this does.
struct Place(PathBuf);

impl Place {
    fn make() -> io::Result<Self> {
        let name = format!("hearken-bench-{}", std::process::id());
        let place = Self(std::env::temp_dir().join(name));
        // What a crash left there under the same number.
        let _ = fs::remove_dir_all(&place.0);
        files::folder_for_owner(&place.0)?;
        Ok(place)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What can't be removed is left where the system keeps what is temporary.
        let _ = fs::remove_dir_all(&self.0);
    }
}

struct Bench {
    place: Place,
    request: Request,
    words: Phrases,
    over: Arc<AtomicBool>,
}

impl Bench {
    fn measure(&self) -> Result<(), Unmeasured> {
        let Request {
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
        let told = |way, ran: Ran| {
            let cost = Cost {
                way,
                events,
                request: self.request.clone(),
                ran,
            };
            self.tell(&cost.text(&self.words), &cost.json())
        };

        let server = Server::of_file(&file)?;
        let watched = self.child(&[
            "watch",
            &server.url,
            "--config",
            &settings,
            "--retries",
            "0",
        ]);
        let mut ran = watched.run(&FACE, |_| {}, &[0, 1])?;
        // The program's own start is not the stream's.
        ran.took = ran.ended.saturating_duration_since(server.began()?);
        told(Way::Socket, ran)?;
        let path = file.to_string_lossy();
        let replayed = self.child(&["replay", &path, "--no-delay", "--config", &settings]);
        told(Way::File, replayed.run(&FACE, |_| {}, &[0])?)?;
        let checked = self.child(&["check", &path]);
        told(Way::Check, checked.run(&[], |_| {}, &[0])?)?;
        let way = paced::time(&self.request, &settings, |arguments| self.child(arguments))?;
        self.tell(&way.text(&self.words), &way.json())?;
        let typed = typed::time(&self.request, &settings, &self.place, &self.over)?;
        self.tell(&typed.text(&self.words), &typed.json())?;
        let quiet = quiet::measure(&self.request, &settings, &self.over)?;
        self.tell(&quiet.text(&self.words), &quiet.json())
    }

    fn child(&self, arguments: &[&str]) -> Child {
        Child::new(arguments, Arc::clone(&self.over))
    }

    /// Makes the events as a recording. None of them is of a time to come.
    fn lay(&self, file: &Path, events: usize) -> Result<(), Unmeasured> {
        let length = u64::try_from(events / self.request.sessions.max(1)).unwrap_or_default();
        let start = Timestamp::now().saturating_sub(Duration::from_millis(length));
        let flood = self.request.flood(start.unwrap_or(Timestamp::UNIX_EPOCH));
        let mut out = BufWriter::new(files::create_for_owner(file)?);
        for event in flood.take(events) {
            if self.over.load(Ordering::Acquire) {
                return Err(Unmeasured::Over);
            }
            writeln!(out, "{event}")?;
        }
        out.flush()?;
        Ok(())
    }

    fn tell(&self, text: &str, json: &str) -> Result<(), Unmeasured> {
        self.write(if self.request.json { json } else { text })
    }

    fn write(&self, line: &str) -> Result<(), Unmeasured> {
        let mut out = io::stdout().lock();
        let written = writeln!(out, "{line}").and_then(|()| out.flush());
        written.map_err(Unmeasured::Unwritten)
    }
}
