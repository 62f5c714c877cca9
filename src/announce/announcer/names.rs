//! By which names sessions are told, for as long as nothing changes that these were made of.
//!
//! Responsibilities: knowing them, and when to forget them. Not here: finding them (`called`).

use std::sync::Arc;

use foldhash::HashMap;

/// How many names are known at most.
const MOST_NAMES: usize = 16 * 1024;

/// Remembers by which names sessions are told, until something changes that they were made of: finding one out may take
/// a look at thousands of sessions, and each announcement has one.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// What they are of ([`Sessions::naming`](crate::session::Sessions::naming)).
    naming: u64,
    /// By the number of the session: what its agent calls itself, and how it is told.
    known: HashMap<u64, (Arc<str>, Arc<str>)>,
}

impl Names {
    /// Gives the name of a session whose agent calls itself so, if it is known.
    pub(super) fn of(&self, naming: u64, number: u64, agent: &Arc<str>) -> Option<Arc<str>> {
        let (of, name) = self.known.get(&number)?;
        // Nearly always it is the same text, shared, which is seen at a glance.
        (self.naming == naming && of == agent).then(|| Arc::clone(name))
    }

    /// Takes one that was found.
    pub(super) fn keep(&mut self, naming: u64, number: u64, agent: &Arc<str>, name: Arc<str>) {
        if self.naming != naming || self.known.len() >= MOST_NAMES {
            self.known.clear();
            self.naming = naming;
        }
        self.known.insert(number, (Arc::clone(agent), name));
    }

    /// Forgets all, because something changed that no session knows of.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }
}
