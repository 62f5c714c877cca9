//! The process of a speech program that stays, with its pipes.
//!
//! Responsibilities: writing orders, reading reports and complaints, its end with all its children. Not here: what is
//! ordered, and what follows from its end (the module above).

use std::collections::VecDeque;
use std::io;
use std::process::Stdio;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::program_messages::{LineReader, ProgramReport, told};
use crate::platform::processes::{Tree, alone};
use crate::voice::command_voice::TerminatingCommand;

/// The most bytes that may wait for a program that does not read: the longest text in JSON, and stops.
const OUTGOING: usize = 512 * 1024;

/// The most bytes kept of the last line of a program's complaints.
const COMPLAINT: usize = 1024;

/// How often complaints are read after a program's end.
const LAST_READS: usize = 64;

/// How often to look whether a program that should report something has ended; its children may keep its output open.
const LOOK: Duration = Duration::from_millis(50);

/// A speech program that runs.
#[derive(Debug)]
pub(super) struct SpeechProcess {
    child: Child,
    group: Option<Tree>,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    stderr: Option<ChildStderr>,
    outgoing: Vec<u8>,
    reader: LineReader,
    reports: VecDeque<ProgramReport>,
    complaint: Vec<u8>,
}

/// The next thing that happened to a process.
#[derive(Debug)]
pub(super) enum ProcessNews {
    /// It reported something.
    Report(ProgramReport),
    /// It ended, or closed its output.
    Over,
    /// The time is up.
    Overdue,
}

enum PipeEvent {
    Wrote(io::Result<usize>),
    Read(io::Result<usize>),
    Complained(io::Result<usize>),
    Overdue,
    Looked,
}

impl SpeechProcess {
    /// Starts a program.
    pub(super) fn start(mut command: Command) -> io::Result<Self> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut child = alone(&mut command).spawn()?;
        let group = Tree::of(&child);
        let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
        let stdout = child.stdout.take();
        let stdout = stdout.ok_or_else(|| io::Error::from(io::ErrorKind::BrokenPipe))?;
        Ok(Self {
            child,
            group,
            stdin,
            stdout,
            stderr,
            outgoing: Vec::new(),
            reader: LineReader::default(),
            reports: VecDeque::new(),
            complaint: Vec::new(),
        })
    }

    /// Sends a line; returns `false` if too much waits already.
    pub(super) fn send(&mut self, line: &[u8]) -> bool {
        let fits = self.outgoing.len() + line.len() <= OUTGOING;
        if fits {
            self.outgoing.extend_from_slice(line);
        }
        fits
    }

    /// Waits for the next news, at most until a given time. May be dropped at any time.
    pub(super) async fn news(&mut self, until: Option<Instant>) -> ProcessNews {
        loop {
            if let Some(report) = self.reports.pop_front() {
                return ProcessNews::Report(report);
            }
            let (mut chunk, mut complaint) = ([0; 4096], [0; 1024]);
            let (stdin, stdout, stderr) = (&mut self.stdin, &mut self.stdout, &mut self.stderr);
            let outgoing = &self.outgoing;
            let write = async {
                match stdin {
                    Some(stdin) if !outgoing.is_empty() => stdin.write(outgoing).await,
                    Some(_) | None => std::future::pending().await,
                }
            };
            let complain = async {
                match stderr {
                    Some(stderr) => stderr.read(&mut complaint).await,
                    None => std::future::pending().await,
                }
            };
            let limit = async {
                match until {
                    Some(until) => tokio::time::sleep_until(until.into()).await,
                    None => std::future::pending().await,
                }
            };
            let look = async {
                match until {
                    Some(_) => tokio::time::sleep(LOOK).await,
                    None => std::future::pending().await,
                }
            };
            let turn = tokio::select! {
                biased;
                count = write => PipeEvent::Wrote(count),
                count = stdout.read(&mut chunk) => PipeEvent::Read(count),
                count = complain => PipeEvent::Complained(count),
                () = limit => PipeEvent::Overdue,
                () = look => PipeEvent::Looked,
            };
            match turn {
                PipeEvent::Wrote(Ok(count)) if count > 0 => {
                    self.outgoing.drain(..count.min(self.outgoing.len()));
                }
                // Its end follows, or the time limit.
                PipeEvent::Wrote(Ok(_) | Err(_)) => self.stdin = None,
                PipeEvent::Read(Ok(count)) if count > 0 => {
                    let read = chunk.get(..count).unwrap_or_default();
                    self.reports.extend(self.reader.take(read));
                }
                PipeEvent::Read(Ok(_) | Err(_)) => return ProcessNews::Over,
                PipeEvent::Complained(Ok(count)) if count > 0 => {
                    self.complain(complaint.get(..count).unwrap_or_default());
                }
                PipeEvent::Complained(Ok(_) | Err(_)) => self.stderr = None,
                PipeEvent::Overdue => return ProcessNews::Overdue,
                PipeEvent::Looked => {
                    let group = self.group.as_ref();
                    if group.is_none_or(|group| group.has_ended(&mut self.child)) {
                        return ProcessNews::Over;
                    }
                }
            }
        }
    }

    /// Stores the last line of its standard error.
    fn complain(&mut self, bytes: &[u8]) {
        let kept = std::mem::take(&mut self.complaint);
        let all = [kept.as_slice(), bytes].concat();
        let mut lines = all.split_inclusive(|byte| *byte == b'\n');
        let last = lines.rfind(|line| !line.trim_ascii().is_empty());
        let last = last.unwrap_or_default();
        self.complaint = last[..last.len().min(COMPLAINT)].to_vec();
    }

    /// Returns the last line of its complaints, for the person.
    pub(super) fn complaint(&mut self) -> String {
        // A program may go on complaining; this does not wait for its end.
        for _ in 0..LAST_READS {
            let Some(stderr) = &mut self.stderr else {
                break;
            };
            let mut chunk = [0; 1024];
            match stderr.read(&mut chunk).now_or_never() {
                Some(Ok(count)) if count > 0 => {
                    self.complain(chunk.get(..count).unwrap_or_default());
                }
                Some(Ok(_) | Err(_)) | None => self.stderr = None,
            }
        }
        told(&String::from_utf8_lossy(&self.complaint))
    }

    /// Ends it with its children: after `wait` at the latest.
    pub(super) fn end(self, wait: Duration) -> TerminatingCommand {
        self.group.iter().for_each(Tree::ask_to_end);
        TerminatingCommand::new(self.child, self.group, wait)
    }

    /// Kills it with its children.
    pub(super) fn kill(&self) {
        self.group.iter().for_each(Tree::kill);
    }
}
