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

/// What is known of one session.
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

/// Says by which name a session is told, for as long as nothing changes that it was made of: to find one takes longer than
/// to look it up, and each announcement has one.
#[derive(Debug)]
struct Name {
    /// As of when it was found ([`Sessions::naming`](crate::session::Sessions::naming)).
    naming: u64,
    /// What its agent calls itself.
    agent: Arc<str>,
    apart: Apart,
    told: Arc<str>,
}

/// Says by what a run of an agent is told apart from others beside its agent's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Apart {
    /// By nothing: nobody shares it.
    Name,
    /// By the first words of what it was asked for.
    Words(Arc<str>),
    /// By its own number.
    Run,
    /// By the number of its source.
    Source,
    /// By its agent's id.
    Id,
}

impl Last {
    /// Looks at what is known of a session.
    pub(super) fn look_at(&self, session: &Session) {
        if let Some(known) = self.of(session) {
            let told = known
                .name
                .as_ref()
                .and_then(|name| name.told.as_bytes().first());
            std::hint::black_box((known.said, told.copied()));
        }
    }

    /// Returns the name of a session whose agent calls itself so, if it is known.
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

    /// Returns the name of a session that is told apart so: the one it had, if it was told apart so before, or else what
    /// `found` finds.
    pub(super) fn name_apart(
        &mut self,
        naming: u64,
        session: &Session,
        agent: &Arc<str>,
        apart: Apart,
        found: impl FnOnce(&Apart) -> String,
    ) -> Arc<str> {
        let Some(known) = self.of_mut(session) else {
            return found(&apart).into();
        };
        if let Some(name) = &mut known.name
            && name.apart == apart
            && are_one(&name.agent, agent)
        {
            name.naming = naming;
            return Arc::clone(&name.told);
        }
        let told: Arc<str> = found(&apart).into();
        known.name = Some(Name {
            naming,
            agent: Arc::clone(agent),
            apart,
            told: Arc::clone(&told),
        });
        told
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

    /// Returns when words of a session were told last that are said.
    pub(super) fn said(&self, session: &Session) -> Option<Duration> {
        self.of(session)?.said
    }

    /// Returns the question of a session that was told since its last call of a tool.
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
