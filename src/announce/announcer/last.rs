//! What is remembered of each session between its announcements: by which name it is told, and what was told last.
//!
//! Responsibilities: knowing that, and when to forget a name. Not here: finding one (`called`), what is left out
//! because of what was told (`brief`).

use std::sync::Arc;
use std::time::Duration;

use crate::announce::announcement::{Aloud, Announcement, Kind};
use crate::protocol::are_one;
use crate::session::{PromptId, Session};

/// Remembers what each session's next announcement is made with, at the place where the session stands: of thousands that
/// take turns, looking back for it would be as dear as the rest.
#[derive(Debug, Default)]
pub(super) struct Last {
    known: Vec<Known>,
}

/// Says what is known of one session.
#[derive(Debug, Default)]
struct Known {
    /// The number of the session: another one may stand there later. There is none of number 0.
    number: u64,
    /// When words of it were told last that are said.
    said: Option<Duration>,
    /// The question that was told since its last call of a tool.
    asked: Option<PromptId>,
    name: Option<Name>,
}

/// Says by which name a session is told, for as long as nothing changes that it was made of: finding one out may take a
/// look at thousands of sessions, and each announcement has one.
#[derive(Debug)]
struct Name {
    /// What it was made of ([`Sessions::naming`](crate::session::Sessions::naming)).
    naming: u64,
    /// What its agent calls itself.
    agent: Arc<str>,
    told: Arc<str>,
}

impl Last {
    /// Gives the name of a session whose agent calls itself so, if it is known.
    pub(super) fn name(
        &self,
        naming: u64,
        session: &Session,
        agent: &Arc<str>,
    ) -> Option<Arc<str>> {
        let name = self.of(session)?.name.as_ref()?;
        let is_it = name.naming == naming && are_one(&name.agent, agent);
        is_it.then(|| Arc::clone(&name.told))
    }

    /// Takes a name that was found.
    pub(super) fn keep_name(
        &mut self,
        naming: u64,
        session: &Session,
        agent: &Arc<str>,
        told: Arc<str>,
    ) {
        if let Some(known) = self.of_mut(session) {
            known.name = Some(Name {
                naming,
                agent: Arc::clone(agent),
                told,
            });
        }
    }

    /// Forgets all names, because something changed that no session knows of.
    pub(super) fn forget_names(&mut self) {
        for known in &mut self.known {
            known.name = None;
        }
    }

    /// Takes note of what was told of a session.
    pub(super) fn told(&mut self, session: &Session, told: &Announcement) {
        let Some(known) = self.of_mut(session) else {
            return;
        };
        if told.aloud == Aloud::Yes {
            known.said = Some(told.at.monotonic);
        }
        if matches!(told.kind, Kind::ToolInvoked | Kind::ToolCompleted) {
            known.asked = None;
        } else if told.kind == Kind::Confirmation
            && let Some(about) = told.about
        {
            known.asked = Some(about.prompt());
        }
    }

    /// Gives when words of a session were told last that are said.
    pub(super) fn said(&self, session: &Session) -> Option<Duration> {
        self.of(session)?.said
    }

    /// Gives the question of a session that was told since its last call of a tool.
    pub(super) fn asked(&self, session: &Session) -> Option<PromptId> {
        self.of(session)?.asked
    }

    fn of(&self, session: &Session) -> Option<&Known> {
        let known = self.known.get(session.place)?;
        (known.number == session.number).then_some(known)
    }

    fn of_mut(&mut self, session: &Session) -> Option<&mut Known> {
        if self.known.len() <= session.place {
            self.known.resize_with(session.place + 1, Known::default);
        }
        let known = self.known.get_mut(session.place)?;
        if known.number != session.number {
            *known = Known {
                number: session.number,
                ..Known::default()
            };
        }
        Some(known)
    }
}
