//! A program that was started, and everything that it started: a job; and which programs of this user run, which is not told here.

use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::process::{Child, Command};
use win32job::{ExtendedLimitInfo, Job};

/// The ways to ask a program to end: none. The end of its input has told it, and it had its time for that.
pub const ASKING: &[fn(&Tree)] = &[];

/// Makes a program a group of its own, so that the console's interrupt is ours (`CREATE_NEW_PROCESS_GROUP`).
const NEW_PROCESS_GROUP: u32 = 0x0000_0200;

/// Has a program start so that the console's interrupt does not reach it.
pub fn alone(command: &mut Command) -> &mut Command {
    command.creation_flags(NEW_PROCESS_GROUP)
}

/// The same, for a program that is waited for by a thread.
pub fn alone_plainly(command: &mut std::process::Command) -> &mut std::process::Command {
    std::os::windows::process::CommandExt::creation_flags(command, NEW_PROCESS_GROUP)
}

/// Leaves the terminal that this program was started from: a program of its own group is left alone by it here.
pub fn leave_terminal() {}

/// A program that was started, with all that it started. The system ends what is in a job with the last handle to it:
/// when the last clone of this is dropped, and however this program ends.
#[derive(Debug, Clone)]
pub struct Tree(Arc<Mutex<Option<Job>>>);

impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Tree {}

impl Tree {
    /// Takes a child; nothing when it has ended already, or the system makes no job for it.
    pub fn of(child: &Child) -> Option<Self> {
        let mut limits = ExtendedLimitInfo::new();
        limits.limit_kill_on_job_close();
        let job = Job::create_with_limit_info(&limits).ok()?;
        // It is not stopped before that: what it starts within its first moment would be outside, and no program is
        // that quick, because it has to be loaded first.
        job.assign_process(child.raw_handle()? as isize).ok()?;
        Some(Self(Arc::new(Mutex::new(Some(job)))))
    }

    /// Takes a child that is waited for by a thread: without a job, because whoever wants one here has no sockets to be
    /// reached by, and says so before anything is started.
    pub fn of_plain(_child: &std::process::Child) -> Option<Self> {
        None
    }

    /// Waits for nothing: there is no way to wait without the child itself.
    pub fn until_ended(&self) {}

    /// Ends all of it: there is no asking here.
    pub fn ask_to_end(&self) {
        self.kill();
    }

    /// Ends all of it.
    pub fn kill(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Returns whether the program itself has ended.
    pub fn has_ended(&self, child: &mut Child) -> bool {
        !matches!(child.try_wait(), Ok(None))
    }
}

/// Returns the signal that ended a program: there is none here, only codes.
pub fn signal_of(_status: ExitStatus) -> Option<i32> {
    None
}

/// Ends one program that is not alone: there is no asking here; false when it has ended.
pub fn ask_to_end(child: &mut Child) -> bool {
    child.start_kill().is_ok()
}

/// Returns how each program of this user was called: the system tells it only by ways that need unsafe code.
pub fn calls() -> Option<Vec<Vec<String>>> {
    None
}
