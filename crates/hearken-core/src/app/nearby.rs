//! What else runs on this machine, for a person whose screen is still empty.
//!
//! Responsibilities: the result of the search. Not here: the search (the shell), the words around it (the
//! faces).

/// What could be followed or started here, as commands for a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NearbyCommands {
    /// These follow what runs here.
    Running(Vec<String>),
    /// No known agent runs here; these start one, or show how to.
    Startable(Vec<String>),
}
