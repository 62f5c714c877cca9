//! Several agents in one session (A.9, pattern 1).
//!
//! Responsibilities: which sessions share an id, who leads them, what else they share. Not here: sessions with
//! separate ids that state a parent (pattern 2).
//!
//! # Mental model
//! Each agent has a separate session here, because each has its own state. The *lead* is the agent whose first
//! event began the session; an agent that comes later without a start is a *helper*. They share what belongs to
//! the session as a whole: its start, its end, its questions and, if the helper continues the lead's, its
//! numbers. Agents that each send a start are independent, and the second start is reported.
//!
//! # Worked example
//! Lead starts; Helper changes its state: it works with Lead, and no start is missing. Lead asks and Helper
//! does what was accepted: that call had its question. Lead completes: Helper's session has also ended, and a
//! later call by Helper is one after the end.

use std::sync::Arc;

use smallvec::SmallVec;

use super::anomaly::AnomalyKind;
use super::change::ChangeKind;
use super::context::Context;
use super::key::SessionKey;
use super::model::{Numbering, Phase, Session, SessionEndKind};
use super::question::{CloseReason, Question};
use super::sessions::Sessions;

impl Sessions {
    /// Returns the lead of a helper's session.
    pub(super) fn lead_of(&self, key: &SessionKey) -> Option<&Session> {
        let mut team = self.sessions.team(key);
        team.find(|session| !session.helps && session.key != *key)
    }

    /// Makes a session that begins without a start a helper's, if another agent has begun it; returns whether it did.
    pub(super) fn join_team(&mut self, context: &mut Context) -> bool {
        let Some(lead) = self.lead_of(context.key) else {
            return false;
        };
        let (ending, is_whole) = (lead.ending(), lead.is_whole());
        let Some(session) = self.sessions.of_mut(context) else {
            return false;
        };
        session.helps = true;
        session.joined = !is_whole;
        if let Some(ending) = ending {
            session.phase = Phase::Ended(ending);
            self.sessions.end(context.key);
        }
        context.push(ChangeKind::HelperJoined);
        true
    }

    /// Notes a start in a session that another agent has already started.
    pub(super) fn start_in_team(&mut self, context: &mut Context) {
        let again = self.sessions.team(context.key).any(|session| {
            session.key != *context.key && !session.helps && !session.joined && !session.is_ended()
        });
        if again {
            self.anomaly(context, AnomalyKind::SecondStart, String::new());
        }
    }

    /// Ends the helpers of a lead whose session ends.
    pub(super) fn end_helpers(&mut self, context: &mut Context, ending: SessionEndKind) {
        let is_helper = |session: &&Session| session.helps && !session.is_ended();
        let helpers: SmallVec<[(SessionKey, Arc<str>); 2]> = self
            .sessions
            .team(context.key)
            .filter(is_helper)
            .map(|session| (session.key.clone(), session.agent.clone()))
            .collect();
        for (key, agent) in helpers {
            let place = self.sessions.place(&key);
            let mut of_helper = context.of_other(&key, &agent, place);
            let Some(session) = self.sessions.of(&of_helper) else {
                continue;
            };
            // The table has this row: a running session can end.
            let _ = of_helper.step(
                super::machine_observer::Subject::Session,
                session.phase.lifecycle(),
                ending.event(),
            );
            self.close_session(&mut of_helper, ending);
            of_helper.push(ChangeKind::HelperEnded(ending));
        }
    }

    /// Forgets the helpers of a session that begins again.
    pub(super) fn forget_helpers(&mut self, context: &mut Context) {
        let over = |session: &&Session| session.helps && session.is_ended();
        let over: SmallVec<[SessionKey; 2]> = self
            .sessions
            .team(context.key)
            .filter(over)
            .map(|session| session.key.clone())
            .collect();
        for key in over {
            for id in self.open_of(&key) {
                self.close_told(context, id, CloseReason::SessionEnded);
            }
            self.sessions.remove(&key);
        }
    }

    /// Returns the questions of all agents of a session, in the order in which they were asked.
    pub(super) fn questions_of_team(&self, key: &SessionKey) -> SmallVec<[&Question; 4]> {
        if self.questions.is_empty() {
            return SmallVec::new();
        }
        if !self.sessions.has_team(key) {
            return self.questions.of(key).collect();
        }
        let team = self.sessions.team(key);
        let mut all: SmallVec<[&Question; 4]> = team
            .flat_map(|session| self.questions.of(&session.key))
            .collect();
        all.sort_unstable_by_key(|question| question.id);
        all
    }

    /// Returns the keys of a session of several agents, the given one first.
    pub(super) fn team_from(&self, key: &SessionKey) -> SmallVec<[SessionKey; 2]> {
        let others = self.sessions.team(key).map(|session| &session.key);
        let others = others.filter(|other| *other != key);
        std::iter::once(key).chain(others).cloned().collect()
    }

    /// Returns the session whose numbers a session's events have: its own, or its lead's.
    pub(super) fn numbered_by(&self, key: &SessionKey) -> Option<&Session> {
        let session = self.sessions.get(key)?;
        match session.numbering {
            Numbering::Shared => self.lead_of(key),
            Numbering::Unknown | Numbering::Absent | Numbering::Next(_) | Numbering::Mixed => {
                Some(session)
            }
        }
    }

    /// Decides at a helper's first number whether it continues its lead's numbers.
    pub(super) fn share_numbers(&mut self, context: &Context, number: Option<u64>) {
        let is_new = |session: &Session| session.helps && session.numbering == Numbering::Unknown;
        let (Some(number), true) = (number, self.sessions.of(context).is_some_and(is_new)) else {
            return;
        };
        let goes_on = match self.lead_of(context.key).map(|lead| lead.numbering) {
            Some(Numbering::Next(wanted)) => number >= wanted,
            Some(Numbering::Unknown | Numbering::Absent | Numbering::Mixed | Numbering::Shared)
            | None => false,
        };
        if goes_on && let Some(session) = self.sessions.of_mut(context) {
            session.numbering = Numbering::Shared;
        }
    }
}
