//! What a started program left behind outside its group: a process that became a leader of its own.
//!
//! Responsibilities: finding such processes by a mark that they inherited, and ending them. Not here: the
//! program and its group (`process`).
//!
//! A signal to a group does not reach a process that left it (`setsid`). Everything that a program starts
//! inherits its environment, so a mark in there finds it again, whoever its parent is now; what took the
//! mark out of its environment is found below the program as long as its parents live. A process that did
//! both, and whose parent has ended, is not found. On systems without `/proc` nothing is looked for.
//!
//! A speech-dispatcher is never ended, whoever started it: a screen reader may be using it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::process::Signal;

/// The variable that carries the marks.
pub(super) const VARIABLE: &str = "HEARKEN_STARTED";

/// How long what was left behind may take to end when it is told to, before it is killed, and how long it is
/// then waited for.
const PATIENCE: Duration = Duration::from_millis(500);

/// How often it is looked in that time.
const LOOK: Duration = Duration::from_millis(20);

/// Is the mark of one started program and of everything that it starts.
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

    /// Gives the variable's value: the marks that we have ourselves, and this one.
    pub(super) fn value(&self) -> String {
        match std::env::var(VARIABLE) {
            Ok(ours) if !ours.is_empty() => format!("{ours},{}", self.0),
            Ok(_) | Err(_) => self.0.clone(),
        }
    }

    /// Tells what still has the mark to end, then kills it; over when nothing has it, or can't be ended.
    pub(super) async fn end(&self) {
        for signal in [Signal::TERM, Signal::KILL] {
            let mut told = false;
            let until = tokio::time::Instant::now() + PATIENCE;
            loop {
                let mark = self.clone();
                // Once told is enough; a program may take its time to end well.
                let first = !std::mem::replace(&mut told, true) || signal == Signal::KILL;
                let looked = tokio::task::spawn_blocking(move || {
                    let found = find::marked(&mark.0);
                    if first {
                        found.iter().for_each(|one| one.signal(signal));
                    }
                    found.len()
                });
                if looked.await.unwrap_or(0) == 0 {
                    return;
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
        for one in find::marked(&self.0) {
            one.signal(Signal::KILL);
        }
    }
}

/// Holds the processes that were below a program when it was told to end.
#[derive(Debug)]
pub(super) struct Below(Vec<find::One>);

impl Below {
    /// Looks for them.
    pub(super) fn of(program: rustix::process::Pid) -> Self {
        Self(find::below(program.as_raw_pid()))
    }

    /// Kills those that are still there.
    pub(super) fn kill(self) {
        for one in self.0 {
            one.signal(Signal::KILL);
        }
    }
}

#[cfg(target_os = "linux")]
mod find {
    use std::collections::BTreeMap;
    use std::os::fd::OwnedFd;

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    use crate::transport::program::strays::VARIABLE;

    /// How many processes of one program are ended at once; the next look finds the others.
    const MOST: usize = 1024;

    /// Is one process, held so that its number can't become another's.
    #[derive(Debug)]
    pub(super) struct One(OwnedFd);

    impl One {
        pub(super) fn signal(&self, signal: Signal) {
            // It fails where the process has ended by itself, or is not ours to end.
            let _ = pidfd_send_signal(&self.0, signal);
        }
    }

    /// Finds the processes whose environment has a mark.
    pub(super) fn marked(mark: &str) -> Vec<One> {
        processes()
            .filter_map(|pid| hold(pid).filter(|_| has(pid, mark)))
            .take(MOST)
            .collect()
    }

    /// Finds the processes below another one.
    pub(super) fn below(program: i32) -> Vec<One> {
        let parents: BTreeMap<i32, i32> = processes()
            .filter_map(|pid| Some((pid, parent(pid)?)))
            .collect();
        let is_below = |pid: i32| {
            let mut at = pid;
            // No chain is longer than there are processes.
            for _ in 0..parents.len() {
                match parents.get(&at) {
                    Some(parent) if *parent == program => return true,
                    Some(parent) => at = *parent,
                    None => return false,
                }
            }
            false
        };
        parents
            .keys()
            .filter(|pid| is_below(**pid))
            .filter_map(|pid| hold(*pid))
            .take(MOST)
            .collect()
    }

    fn processes() -> impl Iterator<Item = i32> {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let ours = i32::try_from(std::process::id()).unwrap_or(0);
        entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(move |pid| *pid != ours)
    }

    fn read(pid: i32, file: &str) -> Option<Vec<u8>> {
        // What belongs to somebody else can't be read, and is none of ours.
        std::fs::read(format!("/proc/{pid}/{file}")).ok()
    }

    /// Takes hold of a process that may be ended.
    fn hold(pid: i32) -> Option<One> {
        let held = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
        let name = read(pid, "comm")?;
        // Its name is cut to 15 characters; its modules begin with "sd_".
        let speaks = name.starts_with(b"speech-dispatch") || name.starts_with(b"sd_");
        (!speaks).then_some(One(held))
    }

    fn has(pid: i32, mark: &str) -> bool {
        let environment = read(pid, "environ").unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .filter_map(|entry| entry.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"="))
            .flat_map(|marks| marks.split(|byte| *byte == b','))
            .any(|one| one == mark.as_bytes())
    }

    /// Reads a process's parent: the second field behind its name, which may hold anything.
    fn parent(pid: i32) -> Option<i32> {
        let line = String::from_utf8_lossy(&read(pid, "stat")?).into_owned();
        let (_, rest) = line.rsplit_once(')')?;
        rest.split_whitespace().nth(1)?.parse().ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod find {
    use rustix::process::Signal;

    /// Is one process; none is found here.
    #[derive(Debug)]
    pub(super) struct One;

    impl One {
        pub(super) fn signal(&self, _: Signal) {}
    }

    pub(super) fn marked(_: &str) -> Vec<One> {
        Vec::new()
    }

    pub(super) fn below(_: i32) -> Vec<One> {
        Vec::new()
    }
}
