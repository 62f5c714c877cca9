//! Processes that a started program left behind outside its group: those that became leaders of their own groups.
//!
//! Responsibilities: finding such processes by an inherited mark, and ending them. Not here: the program and its group
//! (`program_process`).
//!
//! A signal to a group does not reach a process that left it (`setsid`). Everything that a program starts inherits its
//! environment, so a mark in the environment identifies it, whatever its parent is now; a process that removed the mark
//! is found below the program as long as its parents live. A process that did both, and whose parent has ended, is not
//! found. The search exists only on Linux: on Windows nothing leaves a job, and macOS shows no process's environment
//! (`platform`).
//!
//! A speech-dispatcher is never ended, whichever program started it: a screen reader may be using it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::platform::processes::Tree;
use crate::platform::stray_processes as find;

/// The variable that carries the marks.
pub(super) const VARIABLE: &str = "HEARKEN_STARTED";

/// How long left-behind processes may take to end after being asked, before they are killed, and how long to wait for
/// them after that.
const PATIENCE: Duration = Duration::from_millis(500);

/// How often to check in that time.
const LOOK: Duration = Duration::from_millis(20);

/// The most passes when there is no time to wait, because some process was just turning into another program.
const LOOKS_IN_A_HURRY: usize = 8;

/// The mark of one started program and of everything that it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProcessMark(String);

impl ProcessMark {
    /// Creates a mark that no other program on this machine has.
    pub(super) fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        // A mark outlives the program that created it, and process numbers are reused.
        let moment = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |moment| moment.as_nanos());
        Self(format!("{}-{count}-{moment:x}", std::process::id()))
    }

    /// Returns the variable's value: our own inherited marks, and this one.
    pub(super) fn value(&self) -> String {
        match std::env::var(VARIABLE) {
            Ok(ours) if !ours.is_empty() => format!("{ours},{}", self.0),
            Ok(_) | Err(_) => self.0.clone(),
        }
    }

    /// Asks the marked processes to end, then kills them; returns when none is left, or the rest can't be ended.
    pub(super) async fn end(&self) {
        for kill in [false, true] {
            let mut told = false;
            let until = tokio::time::Instant::now() + PATIENCE;
            loop {
                let mark = self.clone();
                // Asking once is enough; a program may need its time to end cleanly.
                let first = !std::mem::replace(&mut told, true) || kill;
                let looked = tokio::task::spawn_blocking(move || {
                    let looked = find::marked(VARIABLE, &mark.0);
                    match (first, kill) {
                        (false, _) => {}
                        (true, false) => {
                            looked.found.iter().for_each(find::StrayProcess::ask_to_end)
                        }
                        (true, true) => looked.found.iter().for_each(find::StrayProcess::kill),
                    }
                    (looked.found.len(), looked.is_unsure)
                });
                match looked.await.unwrap_or((0, false)) {
                    (0, false) => return,
                    // A process that could not be checked this time has not been asked either.
                    (0, true) => told = false,
                    (_, _) => {}
                }
                if tokio::time::Instant::now() >= until {
                    break;
                }
                tokio::time::sleep(LOOK).await;
            }
        }
    }

    /// Kills the marked processes immediately, without waiting.
    pub(super) fn kill_now(&self) {
        for _ in 0..LOOKS_IN_A_HURRY {
            let looked = find::marked(VARIABLE, &self.0);
            looked.found.iter().for_each(find::StrayProcess::kill);
            if !looked.is_unsure {
                break;
            }
        }
    }
}

/// The processes that were below a program when it was asked to end.
#[derive(Debug)]
pub(super) struct DescendantProcesses(Vec<find::StrayProcess>);

impl DescendantProcesses {
    /// Finds them.
    pub(super) fn of(program: &Tree) -> Self {
        Self(find::below(program))
    }

    /// Kills those that still exist.
    pub(super) fn kill(self) {
        for one in self.0 {
            one.kill();
        }
    }
}
