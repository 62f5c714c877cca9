//! What a started program left behind outside its group: a process that became a leader of its own.
//!
//! Responsibilities: finding such processes by a mark that they inherited, and ending them. Not here: the
//! program and its group (`process`).
//!
//! A signal to a group does not reach a process that left it (`setsid`). Everything that a program starts
//! inherits its environment, so a mark in there finds it again, whoever its parent is now; what took the
//! mark out of its environment is found below the program as long as its parents live. A process that did
//! both, and whose parent has ended, is not found. Only on Linux something is looked for: nothing leaves a job on Windows,
//! and macOS shows nobody's environment (`platform`).
//!
//! A speech-dispatcher is never ended, whoever started it: a screen reader may be using it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::platform::processes::Tree;
use crate::platform::strays as find;

/// The variable that carries the marks.
pub(super) const VARIABLE: &str = "HEARKEN_STARTED";

/// How long what was left behind may take to end when it is told to, before it is killed, and how long it is
/// then waited for.
const PATIENCE: Duration = Duration::from_millis(500);

/// How often it is looked in that time.
const LOOK: Duration = Duration::from_millis(20);

/// How often it is looked at most where there is no time to wait, because something was just becoming another program.
const LOOKS_IN_A_HURRY: usize = 8;

/// The mark of one started program and of everything that it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark(String);

impl Mark {
    /// Makes a mark that no other program on this machine has.
    pub(super) fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        // A mark outlives the program that made it, and numbers of processes come again.
        let moment = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |moment| moment.as_nanos());
        Self(format!("{}-{count}-{moment:x}", std::process::id()))
    }

    /// Returns the variable's value: the marks that we have ourselves, and this one.
    pub(super) fn value(&self) -> String {
        match std::env::var(VARIABLE) {
            Ok(ours) if !ours.is_empty() => format!("{ours},{}", self.0),
            Ok(_) | Err(_) => self.0.clone(),
        }
    }

    /// Tells what still has the mark to end, then kills it; over when nothing has it, or can't be ended.
    pub(super) async fn end(&self) {
        for kill in [false, true] {
            let mut told = false;
            let until = tokio::time::Instant::now() + PATIENCE;
            loop {
                let mark = self.clone();
                // Once told is enough; a program may take its time to end well.
                let first = !std::mem::replace(&mut told, true) || kill;
                let looked = tokio::task::spawn_blocking(move || {
                    let looked = find::marked(VARIABLE, &mark.0);
                    match (first, kill) {
                        (false, _) => {}
                        (true, false) => looked.found.iter().for_each(find::One::ask_to_end),
                        (true, true) => looked.found.iter().for_each(find::One::kill),
                    }
                    (looked.found.len(), looked.is_unsure)
                });
                match looked.await.unwrap_or((0, false)) {
                    (0, false) => return,
                    // What could not be seen this time has not been told either.
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

    /// Kills what has the mark, at once and without waiting.
    pub(super) fn kill_now(&self) {
        for _ in 0..LOOKS_IN_A_HURRY {
            let looked = find::marked(VARIABLE, &self.0);
            looked.found.iter().for_each(find::One::kill);
            if !looked.is_unsure {
                break;
            }
        }
    }
}

/// The processes that were below a program when it was told to end.
#[derive(Debug)]
pub(super) struct Below(Vec<find::One>);

impl Below {
    /// Looks for them.
    pub(super) fn of(program: &Tree) -> Self {
        Self(find::below(program))
    }

    /// Kills those that are still there.
    pub(super) fn kill(self) {
        for one in self.0 {
            one.kill();
        }
    }
}
