//! A process that another program started: no program records its number here, so there is none.

/// A type without values.
#[derive(Debug, Clone, Copy)]
pub enum ProcessNumber {}

impl ProcessNumber {
    /// Always returns `None`.
    pub fn new(_number: i32) -> Option<Self> {
        None
    }

    /// Returns the command line that the process was started with.
    pub fn call(self) -> Option<Vec<Vec<u8>>> {
        match self {}
    }

    /// Asks the process to end.
    pub fn ask_to_end(self) {
        match self {}
    }

    /// Kills the process.
    pub fn kill(self) {
        match self {}
    }
}
