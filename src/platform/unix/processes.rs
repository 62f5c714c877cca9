//! A program that was started, and everything that it started: a group of processes.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group};
use tokio::process::{Child, Command};

/// The ways to ask a program to end, the mildest first; what comes after them is [`Tree::kill`].
pub(crate) const ASKING: &[fn(&Tree)] = &[Tree::interrupt, Tree::ask_to_end];

/// Has a program start in a group of its own: what it starts ends with it, and the terminal's interrupt is ours.
pub(crate) fn alone(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Is a program that was started alone, with what it started and has not left its group. Its number may be another's
/// once the program was waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tree(pub(super) Pid);

impl Tree {
    /// Takes a child that was started alone; nothing when it was waited for already.
    pub(crate) fn of(child: &Child) -> Option<Self> {
        let id = i32::try_from(child.id()?).ok()?;
        Pid::from_raw(id).map(Self)
    }

    fn signal(&self, signal: Signal) {
        // It fails when nobody of the group is left.
        if let Err(error) = kill_process_group(self.0, signal) {
            tracing::debug!(%error, "a program could not be signalled");
        }
    }

    /// Tells all of it what the terminal's interrupt key tells.
    fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    /// Asks all of it to end.
    pub(crate) fn ask_to_end(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends all of it.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Tells whether the program itself has ended, without taking leave of it: the group's number stays its own.
    pub(crate) fn has_ended(&self, _child: &mut Child) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match rustix::process::waitid(WaitId::Pid(self.0), options) {
            Ok(status) => status.is_some(),
            Err(_) => true,
        }
    }
}

/// Gives the signal that ended a program.
pub(crate) fn signal_of(status: ExitStatus) -> Option<i32> {
    status.signal()
}

/// Asks one program to end that is not alone; false when it has ended.
pub(crate) fn ask_to_end(child: &mut Child) -> bool {
    let id = child.id().and_then(|id| i32::try_from(id).ok());
    let Some(id) = id.and_then(Pid::from_raw) else {
        return false;
    };
    // In vain where it is gone already.
    let _ = kill_process(id, Signal::TERM);
    true
}
