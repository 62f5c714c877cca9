//! No strays: on Windows no process leaves a job, and other systems do not show what one has in its environment.

use super::super::processes::Tree;

/// Has no values: no process is found here.
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
