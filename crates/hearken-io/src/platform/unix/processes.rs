//! A program that was started, and everything that it started: a group of processes; and which programs of this user run.

use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group};
use tokio::process::{Child, Command};

/// The ways to ask a program to end, the mildest first; what comes after them is [`Tree::kill`].
pub const ASKING: &[fn(&Tree)] = &[Tree::interrupt, Tree::ask_to_end];

/// Has a program start in a group of its own: what it starts ends with it, and the terminal's interrupt is ours.
pub fn alone(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// The same, for a program that is waited for by a thread.
pub fn alone_plainly(command: &mut std::process::Command) -> &mut std::process::Command {
    std::os::unix::process::CommandExt::process_group(command, 0)
}

/// Leaves the terminal that this program was started from: its keys and its signals are somebody else's.
pub fn leave_terminal() {
    // It fails where there is none to leave.
    let _ = rustix::process::setsid();
}

/// A program that was started alone, with what it started and has not left its group. Its number may be another's
/// once the program was waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree(pub(in crate::platform) Pid);

impl Tree {
    /// Takes a child that was started alone; nothing when it was waited for already.
    pub fn of(child: &Child) -> Option<Self> {
        let id = i32::try_from(child.id()?).ok()?;
        Pid::from_raw(id).map(Self)
    }

    /// Takes a child that was started alone and plainly.
    pub fn of_plain(child: &std::process::Child) -> Option<Self> {
        let id = i32::try_from(child.id()).ok()?;
        Pid::from_raw(id).map(Self)
    }

    /// Waits until the program itself has ended, without taking leave of it.
    pub fn until_ended(&self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) =
            rustix::process::waitid(WaitId::Pid(self.0), options)
        {}
    }

    fn signal(&self, signal: Signal) {
        // It fails when nobody of the group is left, who would be told.
        let _ = kill_process_group(self.0, signal);
    }

    /// Tells all of it what the terminal's interrupt key tells.
    fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    /// Asks all of it to end.
    pub fn ask_to_end(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends all of it.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Returns whether the program itself has ended, without taking leave of it: the group's number stays its own.
    pub fn has_ended(&self, _child: &mut Child) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match rustix::process::waitid(WaitId::Pid(self.0), options) {
            Ok(status) => status.is_some(),
            Err(_) => true,
        }
    }
}

/// Returns the signal that ended a program.
pub fn signal_of(status: ExitStatus) -> Option<i32> {
    status.signal()
}

/// Asks one program to end that is not alone; false when it has ended.
pub fn ask_to_end(child: &mut Child) -> bool {
    let id = child.id().and_then(|id| i32::try_from(id).ok());
    let Some(id) = id.and_then(Pid::from_raw) else {
        return false;
    };
    // In vain where it is gone already.
    let _ = kill_process(id, Signal::TERM);
    true
}

/// Where the system shows what runs, a folder each; not every system does.
const RUNNING: &str = "/proc";
/// How many programs are looked at: far more than a person has.
const MOST_RUNNING: usize = 4096;
/// How much of a program's call is read, in bytes.
const MOST_CALL: u64 = 4096;

/// Returns how each program of this user was called, word by word, the program first; nothing where the system does not show it.
pub fn calls() -> Option<Vec<Vec<String>>> {
    let user = rustix::process::getuid().as_raw();
    let entries = std::fs::read_dir(RUNNING).ok()?;
    let calls = entries.filter_map(Result::ok).filter_map(|entry| {
        let name = entry.file_name();
        let is_one = name.to_str()?.bytes().all(|byte| byte.is_ascii_digit());
        if !is_one || entry.metadata().ok()?.uid() != user {
            return None;
        }
        let mut bytes = Vec::new();
        let file = std::fs::File::open(entry.path().join("cmdline")).ok()?;
        file.take(MOST_CALL).read_to_end(&mut bytes).ok()?;
        let words = bytes
            .split(|byte| *byte == 0)
            .filter(|word| !word.is_empty());
        let words = words.map(|word| String::from_utf8_lossy(word).into_owned());
        Some(words.collect())
    });
    Some(calls.take(MOST_RUNNING).collect())
}
