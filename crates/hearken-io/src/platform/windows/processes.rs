//! A started program with everything that it started, as a job; and the programs that this user is running, which are
//! not shown here.

use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::process::{Child, Command};
use win32job::{ExtendedLimitInfo, Job};

/// The ways to ask a program to end: none. The end of its input has asked it, and it was given time for that.
pub const ASKING: &[fn(&Tree)] = &[];

/// Makes a program its own group, so that the console's interrupt reaches only us (`CREATE_NEW_PROCESS_GROUP`).
const NEW_PROCESS_GROUP: u32 = 0x0000_0200;

/// Makes a program start out of reach of the console's interrupt.
pub fn alone(command: &mut Command) -> &mut Command {
    command.creation_flags(NEW_PROCESS_GROUP)
}

/// The same, for a program that a thread waits for.
pub fn alone_plainly(command: &mut std::process::Command) -> &mut std::process::Command {
    std::os::windows::process::CommandExt::creation_flags(command, NEW_PROCESS_GROUP)
}

/// Does nothing: here the terminal leaves a program in its own group alone.
pub fn leave_terminal() {}

/// A started program with everything that it started. The system ends the processes of a job when its last handle
/// closes: when the last clone of this is dropped, and however this program ends.
#[derive(Debug, Clone)]
pub struct Tree(Arc<Mutex<Option<Job>>>);

impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Tree {}

impl Tree {
    /// Wraps a child; `None` if it has already ended or the system creates no job for it.
    pub fn of(child: &Child) -> Option<Self> {
        let mut limits = ExtendedLimitInfo::new();
        limits.limit_kill_on_job_close();
        let job = Job::create_with_limit_info(&limits).ok()?;
        // The child is not suspended first: only processes that it started in its first moments would be outside the
        // job, and no program is that quick, because it has to be loaded first.
        job.assign_process(child.raw_handle()? as isize).ok()?;
        Some(Self(Arc::new(Mutex::new(Some(job)))))
    }

    /// Returns `None`, without a job: the callers that would need one require sockets, which are missing here, and
    /// report that before they start anything.
    pub fn of_plain(_child: &std::process::Child) -> Option<Self> {
        None
    }

    /// Does nothing: without the child itself there is no way to wait.
    pub fn until_ended(&self) {}

    /// Kills everything: there is no way to ask here.
    pub fn ask_to_end(&self) {
        self.kill();
    }

    /// Kills everything.
    pub fn kill(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Returns whether the program itself has ended.
    pub fn has_ended(&self, child: &mut Child) -> bool {
        !matches!(child.try_wait(), Ok(None))
    }
}

/// Returns the signal that ended a program: none here, only exit codes.
pub fn signal_of(_status: ExitStatus) -> Option<i32> {
    None
}

/// Kills one program that has no job: there is no way to ask here; returns `false` if it has ended.
pub fn ask_to_end(child: &mut Child) -> bool {
    child.start_kill().is_ok()
}

/// Returns the command line of each of this user's processes: the system shows them only through unsafe calls.
pub fn calls() -> Option<Vec<Vec<String>>> {
    None
}
