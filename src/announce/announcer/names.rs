//! By which names sessions are told, for as long as nothing changes that these were made of.
//!
//! Responsibilities: knowing them, and when to forget them. Not here: finding them (`called`).

use std::sync::Arc;

use crate::session::Session;

/// Remembers by which names sessions are told, until something changes that they were made of: finding one out may take
/// a look at thousands of sessions, and each announcement has one.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// By the place at which a session stands.
    known: Vec<Option<Name>>,
}

/// Says how a session is told.
#[derive(Debug)]
struct Name {
    /// What it was made of ([`Sessions::naming`](crate::session::Sessions::naming)).
    naming: u64,
    /// The number of the session: another one may stand there later.
    number: u64,
    /// What its agent calls itself.
    agent: Arc<str>,
    told: Arc<str>,
}

impl Names {
    /// Gives the name of a session whose agent calls itself so, if it is known.
    pub(super) fn of(&self, naming: u64, session: &Session, agent: &Arc<str>) -> Option<Arc<str>> {
        let name = self.known.get(session.place)?.as_ref()?;
        // Nearly always it is the same text, shared, which is seen at a glance.
        let is_it = name.naming == naming && name.number == session.number && name.agent == *agent;
        is_it.then(|| Arc::clone(&name.told))
    }

    /// Takes one that was found.
    pub(super) fn keep(
        &mut self,
        naming: u64,
        session: &Session,
        agent: &Arc<str>,
        told: Arc<str>,
    ) {
        if self.known.len() <= session.place {
            self.known.resize_with(session.place + 1, || None);
        }
        if let Some(known) = self.known.get_mut(session.place) {
            *known = Some(Name {
                naming,
                number: session.number,
                agent: Arc::clone(agent),
                told,
            });
        }
    }

    /// Forgets all, because something changed that no session knows of.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }
}
