//! A started program with everything that it started, as a process group; and the programs that this user is running.

use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group};
use tokio::process::{Child, Command};

/// The ways to ask a program to end, mildest first; after them comes [`Tree::kill`].
pub const ASKING: &[fn(&Tree)] = &[Tree::interrupt, Tree::ask_to_end];

/// Makes a program start in its own process group: its children end with it, and the terminal's interrupt reaches only
/// us.
pub fn alone(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// The same, for a program that a thread waits for.
pub fn alone_plainly(command: &mut std::process::Command) -> &mut std::process::Command {
    std::os::unix::process::CommandExt::process_group(command, 0)
}

/// Detaches from the terminal that this program was started from: its keys and signals are meant for another program.
pub fn leave_terminal() {
    // This fails if there is no terminal to detach from.
    let _ = rustix::process::setsid();
}

/// A program started in its own group, with all its descendants that have not left the group. Its number may come to
/// mean another process once the program has been waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree(pub(in crate::platform) Pid);

impl Tree {
    /// Wraps a child started in its own group; `None` if it has already been waited for.
    pub fn of(child: &Child) -> Option<Self> {
        let id = i32::try_from(child.id()?).ok()?;
        Pid::from_raw(id).map(Self)
    }

    /// Wraps a child started in its own group that a thread waits for.
    pub fn of_plain(child: &std::process::Child) -> Option<Self> {
        let id = i32::try_from(child.id()).ok()?;
        Pid::from_raw(id).map(Self)
    }

    /// Waits until the program itself has ended, without reaping it.
    pub fn until_ended(&self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) =
            rustix::process::waitid(WaitId::Pid(self.0), options)
        {}
    }

    fn signal(&self, signal: Signal) {
        // This fails if no process of the group is left to receive it.
        let _ = kill_process_group(self.0, signal);
    }

    /// Sends the whole group the signal of the terminal's interrupt key.
    fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    /// Asks the whole group to end.
    pub fn ask_to_end(&self) {
        self.signal(Signal::TERM);
    }

    /// Kills the whole group.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Returns whether the program itself has ended, without reaping it: the group keeps its number.
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

/// Asks one program that is not in its own group to end; returns `false` if it has ended.
pub fn ask_to_end(child: &mut Child) -> bool {
    let id = child.id().and_then(|id| i32::try_from(id).ok());
    let Some(id) = id.and_then(Pid::from_raw) else {
        return false;
    };
    // This fails if the program is already gone.
    let _ = kill_process(id, Signal::TERM);
    true
}

/// Where some systems show each running process as a folder.
const RUNNING: &str = "/proc";
/// The most processes to examine: far more than a person has.
const MOST_RUNNING: usize = 4096;
/// The most bytes to read of a process's command line.
const MOST_CALL: u64 = 4096;

/// Returns the command line of each of this user's processes, word by word, program first; `None` if the system does
/// not show them.
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
