//! The hearken under measurement: run to its end, or for as long as it is needed.

use std::io::{self, BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::MeasureError;
use crate::platform::{ResourceUse, resource_use};

/// How often to sample a program's resource use (the system reports memory only while it lives) and to check whether
/// the bench should end.
pub(super) const LOOK: Duration = Duration::from_millis(20);
/// How long a program may take for anything, on a busy machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// A call of this very program.
pub(super) struct Child {
    arguments: Vec<String>,
    over: Arc<AtomicBool>,
}

/// The result of a run.
#[derive(Debug, Clone)]
pub(super) struct MeasuredRun {
    /// The time when its end was noticed.
    pub(super) ended: Instant,
    /// The time from its start, or that of its work, to its end.
    pub(super) took: Duration,
    /// The processor time and the peak memory.
    pub(super) spent: ResourceUse,
    /// Whether the processor time covers the whole run; otherwise the part after the last sample is missing.
    pub(super) whole: bool,
}

impl Child {
    pub(super) fn new(arguments: &[&str], over: Arc<AtomicBool>) -> Self {
        let arguments = arguments.iter().copied().map(str::to_owned).collect();
        Self { arguments, over }
    }

    /// Runs it to its end, and passes on each line of its output, which goes nowhere else. It must end with one of the
    /// given codes.
    pub(super) fn run(
        &self,
        face: &[&str],
        mut on_line: impl FnMut(&str) + Send,
        codes: &[i32],
    ) -> Result<MeasuredRun, MeasureError> {
        let program = std::env::current_exe()?;
        let began = Instant::now();
        let mut child = Command::new(program)
            .args(&self.arguments)
            .args(face)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let out = child.stdout.take();
        let (ran, status) = std::thread::scope(|scope| {
            scope.spawn(move || {
                let Some(out) = out else { return };
                let mut lines = BufReader::with_capacity(1 << 16, out);
                let mut line = Vec::new();
                while lines
                    .read_until(b'\n', &mut line)
                    .is_ok_and(|read| read > 0)
                {
                    on_line(String::from_utf8_lossy(&line).trim_end());
                    line.clear();
                }
            });
            let watched = self.watch(&mut child, began);
            if watched.is_err() {
                // If the system fails to report on it, it has already ended.
                let _ = child.kill();
            }
            let status = child.wait()?;
            Ok::<_, MeasureError>((watched?, status))
        })?;
        let code = status.code().unwrap_or(-1);
        if codes.contains(&code) {
            Ok(ran)
        } else {
            Err(MeasureError::Failed(code))
        }
    }

    /// Samples it until it has ended.
    fn watch(
        &self,
        child: &mut std::process::Child,
        began: Instant,
    ) -> Result<MeasuredRun, MeasureError> {
        let mut before = ResourceUse::default();
        loop {
            let has_ended = resource_use::has_ended(child)?;
            let now = resource_use::spent(child);
            let spent = ResourceUse {
                processor: before.processor.max(now.processor),
                peak: before.peak.max(now.peak),
            };
            if has_ended {
                let ended = Instant::now();
                return Ok(MeasuredRun {
                    ended,
                    took: ended - began,
                    spent,
                    whole: spent.processor == now.processor,
                });
            }
            if self.over.load(Ordering::Acquire) {
                return Err(MeasureError::Over);
            }
            before = spent;
            std::thread::sleep(LOOK);
        }
    }
}

/// A running call of this very program that ends when this is dropped.
pub(super) struct Program(pub(super) std::process::Child);

impl Program {
    /// Prepares a call without the person's own settings.
    pub(super) fn call(arguments: &[&str], settings: &str) -> io::Result<Command> {
        let mut call = Command::new(std::env::current_exe()?);
        call.args(arguments).args(["--config", settings]);
        Ok(call)
    }

    pub(super) fn start(call: &mut Command) -> io::Result<Self> {
        call.spawn().map(Self)
    }

    /// Waits for this long while it runs.
    pub(super) fn wait(&mut self, time: Duration, over: &AtomicBool) -> Result<(), MeasureError> {
        let until = Instant::now() + time;
        loop {
            self.look(over)?;
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(LOOK));
        }
    }

    /// Waits for a value while it runs; returns `None` if none arrives within `time`.
    pub(super) fn wait_for<T>(
        &mut self,
        from: &Receiver<T>,
        time: Duration,
        over: &AtomicBool,
    ) -> Result<Option<T>, MeasureError> {
        let until = Instant::now() + time;
        loop {
            self.look(over)?;
            let left = until.saturating_duration_since(Instant::now());
            match from.recv_timeout(left.min(LOOK)) {
                Ok(it) => return Ok(Some(it)),
                // The sender is gone: either the program has ended, or the value never comes.
                Err(_) if left.is_zero() => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(left.min(LOOK)),
            }
        }
    }

    /// Waits for a value that must arrive.
    pub(super) fn receive<T>(
        &mut self,
        from: &Receiver<T>,
        over: &AtomicBool,
    ) -> Result<T, MeasureError> {
        let it = self.wait_for(from, PATIENCE, over)?;
        it.ok_or_else(|| io::Error::from(io::ErrorKind::TimedOut).into())
    }

    /// Fails if the bench should end, or if the program has ended by itself.
    fn look(&mut self, over: &AtomicBool) -> Result<(), MeasureError> {
        if over.load(Ordering::Acquire) {
            return Err(MeasureError::Over);
        }
        match self.0.try_wait()? {
            Some(ended) => Err(MeasureError::Failed(ended.code().unwrap_or(-1))),
            None => Ok(()),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // This fails if it has ended by itself, which was noticed before.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
