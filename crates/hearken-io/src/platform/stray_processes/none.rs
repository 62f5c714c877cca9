//! No strays: on Windows no process can leave its job, and other systems do not show a process's environment.

use super::super::processes::Tree;

/// A type without values: no process is found here.
#[derive(Debug)]
pub enum StrayProcess {}

impl StrayProcess {
    /// Asks the process to end.
    pub fn ask_to_end(&self) {
        match *self {}
    }

    /// Kills the process.
    pub fn kill(&self) {
        match *self {}
    }
}

/// The result of a pass: nothing.
#[derive(Debug, Default)]
pub struct StrayProcesses {
    pub found: Vec<StrayProcess>,
    pub is_unsure: bool,
}

/// Finds nothing.
pub fn marked(_variable: &str, _mark: &str) -> StrayProcesses {
    StrayProcesses::default()
}

/// Finds nothing.
pub fn below(_program: &Tree) -> Vec<StrayProcess> {
    Vec::new()
}
