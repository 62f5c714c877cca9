//! A process that somebody else started, known by its number only.

use rustix::process::{Pid, Signal, kill_process};

/// A process by its number, which may be another's at any time.
#[derive(Debug, Clone, Copy)]
pub struct Numbered(Pid);

impl Numbered {
    /// Takes a number; nothing where no process can have it.
    pub fn new(number: i32) -> Option<Self> {
        Pid::from_raw(number).map(Self)
    }

    /// Returns the words that it was called with, as far as this system tells.
    pub fn call(self) -> Option<Vec<Vec<u8>>> {
        let call = std::fs::read(format!("/proc/{}/cmdline", self.0.as_raw_nonzero())).ok()?;
        Some(call.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect())
    }

    /// Asks it to end.
    pub fn ask_to_end(self) {
        let _ = kill_process(self.0, Signal::TERM);
    }

    /// Ends it.
    pub fn kill(self) {
        let _ = kill_process(self.0, Signal::KILL);
    }
}
