//! The hearken that is measured.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::Unmeasured;
use crate::platform::{Spent, spending};

/// How often it is looked at what it took, where the system tells of its memory only while it lives.
const LOOK: Duration = Duration::from_millis(20);

/// Is a call of this very program.
pub(super) struct Child {
    arguments: Vec<String>,
    over: Arc<AtomicBool>,
}

/// Holds what became of it.
#[derive(Debug, Clone)]
pub(super) struct Ran {
    /// When it had ended.
    pub(super) ended: Instant,
    /// From its start, or that of its work, to its end.
    pub(super) took: Duration,
    /// The processor time and the most memory.
    pub(super) spent: Spent,
    /// Whether the processor time is that of all its life; else what came after the last look is missing.
    pub(super) whole: bool,
}

impl Child {
    pub(super) fn new(arguments: &[&str], over: Arc<AtomicBool>) -> Self {
        let arguments = arguments.iter().copied().map(str::to_owned).collect();
        Self { arguments, over }
    }

    /// Runs it to its end, and hands on each line of its output, which goes nowhere else. It is to end with one of those codes.
    pub(super) fn run(
        &self,
        face: &[&str],
        mut on_line: impl FnMut(&str) + Send,
        codes: &[i32],
    ) -> Result<Ran, Unmeasured> {
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
                // It has ended already where the system fails to tell of it.
                let _ = child.kill();
            }
            let status = child.wait()?;
            Ok::<_, Unmeasured>((watched?, status))
        })?;
        let code = status.code().unwrap_or(-1);
        if codes.contains(&code) {
            Ok(ran)
        } else {
            Err(Unmeasured::Failed(code))
        }
    }

    /// Looks at it until it has ended.
    fn watch(&self, child: &mut std::process::Child, began: Instant) -> Result<Ran, Unmeasured> {
        let mut before = Spent::default();
        loop {
            let has_ended = spending::has_ended(child)?;
            let now = spending::spent(child);
            let spent = Spent {
                processor: before.processor.max(now.processor),
                peak: before.peak.max(now.peak),
            };
            if has_ended {
                let ended = Instant::now();
                return Ok(Ran {
                    ended,
                    took: ended - began,
                    spent,
                    whole: spent.processor == now.processor,
                });
            }
            if self.over.load(Ordering::Acquire) {
                return Err(Unmeasured::Over);
            }
            before = spent;
            std::thread::sleep(LOOK);
        }
    }
}
