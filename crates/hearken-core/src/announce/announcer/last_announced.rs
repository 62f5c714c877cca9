//! What is remembered of each session between its announcements: its display name, and what was announced last.
//!
//! Responsibilities: storing this, and when to forget a name. Not here: finding a name (`agent_names`), what is left
//! out because of earlier announcements (`redundancy`).

use std::sync::Arc;
use std::time::Duration;

use crate::announce::announcement::{Announcement, AnnouncementKind, Presentation};
use crate::session::{QuestionId, Session};

/// What each session's next announcement needs, indexed by the session's place: with thousands of sessions
/// taking turns, searching the history would cost as much as everything else together.
#[derive(Debug, Default)]
pub(super) struct AnnouncedSessions {
    sessions: Vec<AnnouncedSession>,
}

/// The record of one session.
#[derive(Debug, Default)]
struct AnnouncedSession {
    /// The session's number, because a later session may use the same place. No session has the number 0.
    number: u64,
    /// When its words were last spoken.
    said: Option<Duration>,
    /// The question that was announced since its last tool call.
    asked: Option<QuestionId>,
    name: Option<AgentName>,
}

/// The display name of a session, valid until something changes that it was derived from: every announcement needs
/// one, and deriving it takes longer than looking it up.
#[derive(Debug)]
struct AgentName {
    /// The state of naming for which it was found ([`Sessions::naming`](crate::session::Sessions::naming)).
    naming: u64,
    /// The agent's own name for itself.
    agent: Arc<str>,
    apart: Distinction,
    announcement: Arc<str>,
}

/// What distinguishes a run of an agent from others, in addition to the agent's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Distinction {
    /// Nothing: the name is unique.
    Name,
    /// The first words of its request.
    Words(Arc<str>),
    /// Its own number.
    Run,
    /// The machine on which it runs.
    Host(Arc<str>),
    /// The number of its source.
    Source,
    /// Its agent's id.
    Id,
}

impl AnnouncedSessions {
    /// Returns the name of a session whose agent calls itself `agent`, if it is known and still valid.
    pub(super) fn name(
        &self,
        naming: u64,
        session: &Session,
        agent: &Arc<str>,
    ) -> Option<Arc<str>> {
        let name = self.of(session)?.name.as_ref()?;
        let is_it = name.naming == naming && name.agent == *agent;
        is_it.then(|| Arc::clone(&name.announcement))
    }

    /// Returns the name of a session that `apart` distinguishes: the previous name if it has the same
    /// distinction, or else the one that `found` returns.
    pub(super) fn name_apart(
        &mut self,
        naming: u64,
        session: &Session,
        agent: &Arc<str>,
        apart: Distinction,
        found: impl FnOnce(&Distinction) -> String,
    ) -> Arc<str> {
        let Some(known) = self.of_mut(session) else {
            return found(&apart).into();
        };
        if let Some(name) = &mut known.name
            && name.apart == apart
            && name.agent == *agent
        {
            name.naming = naming;
            return Arc::clone(&name.announcement);
        }
        let told: Arc<str> = found(&apart).into();
        known.name = Some(AgentName {
            naming,
            agent: Arc::clone(agent),
            apart,
            announcement: Arc::clone(&told),
        });
        told
    }

    /// Forgets all names, because something changed that no session records.
    pub(super) fn forget_names(&mut self) {
        for known in &mut self.sessions {
            known.name = None;
        }
    }

    /// Records an announcement of a session.
    pub(super) fn record_announcement(&mut self, session: &Session, told: &Announcement) {
        let Some(known) = self.of_mut(session) else {
            return;
        };
        if told.aloud == Presentation::Spoken {
            known.said = Some(told.at.monotonic);
        }
        if matches!(
            told.kind,
            AnnouncementKind::ToolInvoked | AnnouncementKind::ToolCompleted
        ) {
            known.asked = None;
        } else if told.kind == AnnouncementKind::Confirmation
            && let Some(about) = told.about
        {
            known.asked = Some(about.question());
        }
    }

    /// Returns when a session's words were last spoken.
    pub(super) fn said(&self, session: &Session) -> Option<Duration> {
        self.of(session)?.said
    }

    /// Returns the question of a session that was announced since its last tool call.
    pub(super) fn recent_question(&self, session: &Session) -> Option<QuestionId> {
        self.of(session)?.asked
    }

    fn of(&self, session: &Session) -> Option<&AnnouncedSession> {
        let known = self.sessions.get(session.place)?;
        (known.number == session.number).then_some(known)
    }

    fn of_mut(&mut self, session: &Session) -> Option<&mut AnnouncedSession> {
        if self.sessions.len() <= session.place {
            self.sessions
                .resize_with(session.place + 1, AnnouncedSession::default);
        }
        let known = self.sessions.get_mut(session.place)?;
        if known.number != session.number {
            *known = AnnouncedSession {
                number: session.number,
                ..AnnouncedSession::default()
            };
        }
        Some(known)
    }
}
