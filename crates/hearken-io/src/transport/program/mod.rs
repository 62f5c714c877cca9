//! An agent that is started as a child process and speaks over its standard input and output.
//!
//! Responsibilities: starting it without a shell, lines from its output and to its input, lines from its standard
//! error, its end in words. Not here: the content of a line (`dialect`), the life of the process (`program_process`).
//!
//! A program that ends is not restarted automatically: it could then do twice what it did once.

mod program_process;
mod regrouped_processes;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::{Instant, sleep_until, timeout};

use super::duplex::{Delivered, Dial, Inward, Outward};
use super::framing::{Framer, StreamElement};
use super::outside_text::clean;
use super::write::write_whole;
use crate::link::{Cause, DeliveryFailure, Fault};
use crate::platform::files::to_start;
use crate::platform::processes::alone;
use crate::platform::program_places;
pub use program_process::end_all_now;
use program_process::{Death, Process};
use regrouped_processes::ProcessMark;

/// The longest line of standard error that is kept, in characters: a line of a log, not a page.
const REMARK_CHARACTERS: usize = 400;

/// The longest line of standard error that is read, in bytes; longer ones are skipped and reported.
const REMARK_BYTES: usize = 16 * 1024;

/// The longest name of a program, in characters.
const NAME_CHARACTERS: usize = 60;

/// How long a program may take to end by itself after the end of its input, before it is interrupted: it should still
/// read the last message.
const GOODBYE: Duration = Duration::from_millis(500);

/// How long to read the output of a program that has ended: programs that it started may keep the pipe open forever.
const AFTERWARDS: Duration = Duration::from_secs(1);

/// Returns the name of a program as it may be shown: without its folder and its arguments, which may be confidential.
pub(super) fn name(command: &[OsString]) -> String {
    let program = command.first().map(Path::new).unwrap_or(Path::new(""));
    let name = program.file_name().unwrap_or(program.as_os_str());
    clean(&name.to_string_lossy(), NAME_CHARACTERS)
}

/// The way to start a program, once.
#[derive(Debug)]
pub(super) struct ProgramDial {
    command: Vec<OsString>,
    folder: Option<PathBuf>,
    limit: usize,
}

impl ProgramDial {
    /// Creates the dialer; `command` is the program and its arguments, to be started in `folder`; `limit` is the
    /// longest line, in bytes.
    pub(super) fn new(command: Vec<OsString>, folder: Option<PathBuf>, limit: usize) -> Self {
        Self {
            command,
            folder,
            limit,
        }
    }
}

impl Dial for ProgramDial {
    type Inward = ProgramOutput;
    type Outward = ProgramInput;

    fn again(&self) -> bool {
        // A program is never restarted automatically: it could then do again what it has done.
        false
    }

    async fn dial(&mut self) -> Result<(ProgramOutput, ProgramInput), Fault> {
        let name = name(&self.command);
        let Some((program, arguments)) = self.command.split_first() else {
            return Err(Fault::Unusable(Cause::NoProgram));
        };
        let mark = ProcessMark::new();
        let mut command = Command::new(to_start(program));
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        if let Some(path) = program_places::path() {
            command.env("PATH", path);
        }
        command
            .args(arguments)
            .env(regrouped_processes::VARIABLE, mark.value())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut child = alone(&mut command).spawn().map_err(|error| {
            let name = name.clone();
            Fault::Unusable(match error.kind() {
                std::io::ErrorKind::NotFound => Cause::ProgramMissing { name },
                std::io::ErrorKind::PermissionDenied => Cause::ProgramForbidden { name },
                why => Cause::ProgramNotStarted { name, why },
            })
        })?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Fault::Unusable(Cause::ProgramUnreachable { name }));
        };
        let process =
            Process::attend(child, mark).ok_or(Fault::Unusable(Cause::ProgramOver { name }))?;
        Ok((
            ProgramOutput {
                stdout: Some(stdout),
                mute_since: None,
                stderr: Some(stderr),
                lines: Framer::lines(self.limit),
                remarks: Framer::lines(REMARK_BYTES),
                limit: self.limit,
                process: process.clone(),
            },
            ProgramInput {
                stdin: Some(stdin),
                process,
            },
        ))
    }
}

/// The reading half of a program.
#[derive(Debug)]
pub(super) struct ProgramOutput {
    stdout: Option<ChildStdout>,
    /// The time at which its output ended.
    mute_since: Option<Instant>,
    stderr: Option<ChildStderr>,
    lines: Framer,
    remarks: Framer,
    limit: usize,
    process: Process,
}

impl ProgramOutput {
    /// Returns what a line delivers.
    fn message(&self, piece: StreamElement) -> Delivered {
        match piece {
            StreamElement::Message(text) => Delivered::Frame(text),
            StreamElement::TooLarge => Delivered::Dropped(Fault::TooLarge { limit: self.limit }),
            // A stream of lines always has a known framing, and has no lengths.
            StreamElement::Neither | StreamElement::OutOfStep => Delivered::Alive,
        }
    }

    /// Waits for the program's end and describes it.
    async fn death(&mut self) -> Delivered {
        Delivered::End(match self.process.death().await {
            Death::Exited(0) => Ok(()),
            Death::Exited(code) => Err(Fault::Exited { code }),
            Death::Killed(signal) => Err(Fault::Killed { signal }),
            Death::Unknown => Err(Fault::Unusable(Cause::ProgramGone)),
        })
    }

    /// Reads from both outputs until there is something to deliver.
    async fn more(&mut self) -> Delivered {
        loop {
            if let Some(piece) = self.lines.piece() {
                return self.message(piece);
            }
            match self.remarks.piece() {
                Some(StreamElement::Message(line)) => {
                    return Delivered::Remark(clean(&line, REMARK_CHARACTERS));
                }
                Some(
                    StreamElement::TooLarge | StreamElement::Neither | StreamElement::OutOfStep,
                ) => {
                    return Delivered::Remark("(a very long line was left out)".to_owned());
                }
                None => {}
            }
            // Both reads can be cancelled between two bytes.
            let (from_stderr, read) = tokio::select! {
                read = read_into(&mut self.stdout, &mut self.lines) => (false, read),
                read = read_into(&mut self.stderr, &mut self.remarks) => (true, read),
                // The pipes may be closed while the program lives, and stay open after it has ended.
                () = std::future::ready(()), if self.stdout.is_none() && self.stderr.is_none() => {
                    return self.death().await;
                }
            };
            if !matches!(read, Ok(1..)) {
                let rest = if from_stderr {
                    self.stderr = None;
                    self.remarks.rest().map(|piece| match piece {
                        StreamElement::Message(line) => {
                            Delivered::Remark(clean(&line, REMARK_CHARACTERS))
                        }
                        StreamElement::TooLarge
                        | StreamElement::Neither
                        | StreamElement::OutOfStep => Delivered::Alive,
                    })
                } else {
                    self.stdout = None;
                    self.mute_since = Some(Instant::now());
                    let rest = self.lines.rest().map(|piece| self.message(piece));
                    Some(rest.unwrap_or(Delivered::Alive))
                };
                if let Some(arrival) = rest {
                    return arrival;
                }
            }
        }
    }
}

/// Reads bytes from a pipe, if it is still open.
async fn read_into<R: AsyncReadExt + Unpin>(
    pipe: &mut Option<R>,
    framer: &mut Framer,
) -> std::io::Result<usize> {
    match pipe {
        Some(pipe) => pipe.read_buf(framer.room()).await,
        None => std::future::pending().await,
    }
}

impl Inward for ProgramOutput {
    async fn next(&mut self) -> Delivered {
        let mut process = self.process.clone();
        let mute_since = self.mute_since;
        let given_up = async {
            match mute_since {
                Some(since) => sleep_until(since + AFTERWARDS).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            _ = process.death() => {}
            // It can't deliver anything any more, and what it does would go unnoticed.
            () = given_up => return Delivered::End(Err(Fault::Unusable(Cause::ProgramMute))),
            arrival = self.more() => return arrival,
        }
        // The program has ended: read what it had already written, and wait no longer than that takes.
        match timeout(AFTERWARDS, self.more()).await {
            Ok(arrival) => arrival,
            Err(_elapsed) => self.death().await,
        }
    }
}

/// The writing half of a program.
#[derive(Debug)]
pub(super) struct ProgramInput {
    stdin: Option<ChildStdin>,
    process: Process,
}

impl ProgramInput {
    async fn write(&mut self, mut line: String) -> Result<(), DeliveryFailure> {
        line.push('\n');
        let Some(stdin) = &mut self.stdin else {
            return Err(DeliveryFailure::Kept(Fault::Closed));
        };
        write_whole(stdin, line.as_bytes()).await
    }
}

impl Outward for ProgramInput {
    async fn send(&mut self, message: String) -> Result<(), DeliveryFailure> {
        // A line is a message: one broken over several lines would be read as several.
        self.write(message.replace(['\n', '\r'], " ")).await
    }

    async fn leave(&mut self) {
        self.stdin = None;
        if timeout(GOODBYE, self.process.death()).await.is_err() {
            self.process.end().await;
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
#[path = "../tests/program.rs"]
mod tests;
