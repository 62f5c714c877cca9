//! Processes that left the job of the program that started them: none can.

use super::processes::Tree;

/// Has no values: no process leaves a job.
#[derive(Debug)]
pub(crate) enum One {}

impl One {
    /// Asks it to end.
    pub(crate) fn ask_to_end(&self) {
        match *self {}
    }

    /// Ends it.
    pub(crate) fn kill(&self) {
        match *self {}
    }
}

/// Is what a look gave: nothing.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    pub(crate) found: Vec<One>,
    pub(crate) is_unsure: bool,
}

/// Finds nothing.
pub(crate) fn marked(_variable: &str, _mark: &str) -> Looked {
    Looked::default()
}

/// Finds nothing.
pub(crate) fn below(_program: &Tree) -> Vec<One> {
    Vec::new()
}
