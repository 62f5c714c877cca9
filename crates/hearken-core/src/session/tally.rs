//! Which questions are open, which agents they belong to and what holds them back, without a scan.
//!
//! Responsibilities: counting a question by its state. Not here: the questions (`question_store`), and what follows
//! from the counts (`unraised_questions`, `question_events`).
//!
//! Mental model: no person answers thousands of questions, but a stranger can ask them. The totals that each
//! new question needs (memory, unanswered questions, the next one) are updated with each change.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::link::LinkId;
use crate::protocol::AgentId;

use super::key::{QuestionId, SessionKey};
use super::question::{Question, ReplyState};
use super::waiting_lists::UnraisedReason;

/// The least memory that a question takes in addition to its texts, in bytes.
pub(super) const BESIDES: usize = 1024;

const NONE: &BTreeSet<QuestionId> = &BTreeSet::new();

/// An agent of a link.
pub(super) type LinkAgent = (LinkId, AgentId);

pub(super) fn asker(key: &SessionKey) -> LinkAgent {
    (key.link, key.agent.clone())
}

/// The way a question is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TallyPlace {
    is_open: bool,
    is_answerable: bool,
    /// It has been raised and waits for an answer.
    is_asked: bool,
    /// It is open, has not been answered and can't be.
    is_unsure: bool,
    unraised_reason: Option<UnraisedReason>,
}

impl TallyPlace {
    pub(super) fn of(question: &Question) -> Self {
        let is_answerable = question.is_answerable();
        Self {
            is_open: question.is_open(),
            is_answerable,
            is_asked: is_answerable
                && question.reply == ReplyState::Unanswered
                && question.unraised_reason.is_none(),
            is_unsure: question.is_open() && question.answer().is_none() && !is_answerable,
            unraised_reason: question.unraised_reason,
        }
    }
}

/// The counts of the open questions of one agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct AgentTally {
    open: usize,
    bytes: usize,
    asked: usize,
    unsure: BTreeSet<QuestionId>,
    /// The questions that wait for room.
    room: BTreeSet<QuestionId>,
}

/// The counts of the questions that are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// The open questions that were raised.
    raised: BTreeSet<QuestionId>,
    /// The raised questions that can be answered.
    answerable: BTreeSet<QuestionId>,
    agents: BTreeMap<LinkAgent, AgentTally>,
    /// The memory that the open questions of each link take.
    bytes: BTreeMap<LinkId, usize>,
    /// The questions held back during a replay, by the time of their arrival.
    replayed: BTreeMap<LinkId, BTreeSet<(Duration, QuestionId)>>,
    /// The agents whose questions wait for room.
    crowded: BTreeSet<LinkAgent>,
}

impl Tally {
    /// Adds a question to the counts of its state.
    pub(super) fn add(&mut self, question: &Question, place: TallyPlace) {
        let (id, key) = (question.id, &question.key);
        match place.unraised_reason {
            None if place.is_open => {
                self.raised.insert(id);
                if place.is_answerable {
                    self.answerable.insert(id);
                }
            }
            None => {}
            Some(UnraisedReason::Replay) => {
                let of_link = self.replayed.entry(key.link).or_default();
                of_link.insert((question.opened.monotonic, id));
            }
            Some(UnraisedReason::Room) => {
                self.crowded.insert(asker(key));
            }
        }
        if !place.is_open && place.unraised_reason.is_none() {
            return;
        }
        let agent = self.agents.entry(asker(key)).or_default();
        if place.is_open {
            let bytes = question.weight() + BESIDES;
            agent.open += 1;
            agent.bytes += bytes;
            *self.bytes.entry(key.link).or_default() += bytes;
        }
        agent.asked += usize::from(place.is_asked);
        if place.is_unsure {
            agent.unsure.insert(id);
        }
        if place.unraised_reason == Some(UnraisedReason::Room) {
            agent.room.insert(id);
        }
    }

    /// Removes a question from the counts of its former state.
    pub(super) fn take(&mut self, question: &Question, place: TallyPlace) {
        let (id, key) = (question.id, &question.key);
        self.raised.remove(&id);
        self.answerable.remove(&id);
        if place.unraised_reason == Some(UnraisedReason::Replay)
            && let Some(of_link) = self.replayed.get_mut(&key.link)
        {
            of_link.remove(&(question.opened.monotonic, id));
            if of_link.is_empty() {
                self.replayed.remove(&key.link);
            }
        }
        let whose = asker(key);
        let Some(agent) = self.agents.get_mut(&whose) else {
            return;
        };
        if place.is_open {
            let bytes = question.weight() + BESIDES;
            agent.open -= 1;
            agent.bytes -= bytes;
            if let Some(of_link) = self.bytes.get_mut(&key.link) {
                *of_link -= bytes;
                if *of_link == 0 {
                    self.bytes.remove(&key.link);
                }
            }
        }
        agent.asked -= usize::from(place.is_asked);
        agent.unsure.remove(&id);
        agent.room.remove(&id);
        if agent.room.is_empty() {
            self.crowded.remove(&whose);
        }
        if *agent == AgentTally::default() {
            self.agents.remove(&whose);
        }
    }

    /// Returns the open questions that were raised, in the order of their arrival.
    pub(super) fn raised(&self) -> impl Iterator<Item = QuestionId> {
        self.raised.iter().copied()
    }

    /// Returns the raised questions that can be answered.
    pub(super) fn answerable(&self) -> &BTreeSet<QuestionId> {
        &self.answerable
    }

    /// Returns how many bytes the open questions of an agent and of its link take.
    pub(super) fn bytes(&self, whose: &LinkAgent) -> (usize, usize) {
        let of_agent = self.agents.get(whose).map_or(0, |agent| agent.bytes);
        let of_link = self.bytes.get(&whose.0).copied().unwrap_or_default();
        (of_agent, of_link)
    }

    /// Returns how many questions of an agent were raised and wait for an answer.
    pub(super) fn raised_count(&self, whose: &LinkAgent) -> usize {
        self.agents.get(whose).map_or(0, |agent| agent.asked)
    }

    /// Returns the questions of an agent that are open, have not been answered and can't be.
    pub(super) fn unsure(
        &self,
        whose: &LinkAgent,
    ) -> impl DoubleEndedIterator<Item = QuestionId> + use<'_> {
        let of_agent = self.agents.get(whose);
        of_agent.map_or(NONE, |agent| &agent.unsure).iter().copied()
    }

    /// Returns the questions of an agent that wait for room, in the order of their arrival.
    pub(super) fn room(
        &self,
        whose: &LinkAgent,
    ) -> impl ExactSizeIterator<Item = QuestionId> + use<'_> {
        let of_agent = self.agents.get(whose);
        of_agent.map_or(NONE, |agent| &agent.room).iter().copied()
    }

    /// Returns the agents whose questions wait for room.
    pub(super) fn crowded(&self) -> impl Iterator<Item = &LinkAgent> {
        self.crowded.iter()
    }

    /// Returns the questions held back during a replay with the time of their arrival: link by link, the earliest
    /// first.
    pub(super) fn replayed(
        &self,
    ) -> impl Iterator<Item = (LinkId, &BTreeSet<(Duration, QuestionId)>)> {
        self.replayed.iter().map(|(link, ids)| (*link, ids))
    }

    /// Returns whether any question is held back.
    pub(super) fn holds_any(&self) -> bool {
        !self.replayed.is_empty() || !self.crowded.is_empty()
    }
}
