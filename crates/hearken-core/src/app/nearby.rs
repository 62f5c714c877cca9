//! What else runs on this machine, for a person whose screen is still empty.
//!
//! Responsibilities: what the shell has found. Not here: the search (the shell), the words around it (the faces).

/// What could be followed or started here, as commands for a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Nearby {
    /// These follow what runs here.
    Running(Vec<String>),
    /// Nothing that is known runs here; these start an agent, or show how it would be.
    Startable(Vec<String>),
}
