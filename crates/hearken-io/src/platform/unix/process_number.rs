//! A process that another program started, known only by its number.

use rustix::process::{Pid, Signal, kill_process};

/// A process number, which may come to mean another process at any time.
#[derive(Debug, Clone, Copy)]
pub struct ProcessNumber(Pid);

impl ProcessNumber {
    /// Wraps a number; `None` if no process can have it.
    pub fn new(number: i32) -> Option<Self> {
        Pid::from_raw(number).map(Self)
    }

    /// Returns the command line that the process was started with, if this system shows it.
    pub fn call(self) -> Option<Vec<Vec<u8>>> {
        let call = std::fs::read(format!("/proc/{}/cmdline", self.0.as_raw_nonzero())).ok()?;
        Some(call.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect())
    }

    /// Asks the process to end.
    pub fn ask_to_end(self) {
        let _ = kill_process(self.0, Signal::TERM);
    }

    /// Kills the process.
    pub fn kill(self) {
        let _ = kill_process(self.0, Signal::KILL);
    }
}
