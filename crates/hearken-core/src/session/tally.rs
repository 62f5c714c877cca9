//! Which questions are open, of whom they are and what holds them back, known without looking at all of them.
//!
//! Responsibilities: counting a question where its state puts it. Not here: the questions (`prompts`), and what follows from
//! the counts (`held`, `questions`).
//!
//! Mental model: nobody answers thousands of questions, but a stranger can ask them. What is wanted of all with each one
//! (how much memory they take, how many wait for an answer, which is the next) is counted as each changes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::link::LinkId;
use crate::protocol::AgentId;

use super::key::{PromptId, SessionKey};
use super::prompt::{Prompt, ReplyState};
use super::waits::Held;

/// How much memory a question takes besides its texts, in bytes, at least.
pub(super) const BESIDES: usize = 1024;

const NONE: &BTreeSet<PromptId> = &BTreeSet::new();

/// Names an agent of a link.
pub(super) type Asker = (LinkId, AgentId);

pub(super) fn asker(key: &SessionKey) -> Asker {
    (key.link, key.agent.clone())
}

/// Where a question is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    is_open: bool,
    is_answerable: bool,
    /// It was raised and waits for an answer.
    is_asked: bool,
    /// It is open, was not answered and can't be.
    is_unsure: bool,
    held: Option<Held>,
}

impl Place {
    pub(super) fn of(prompt: &Prompt) -> Self {
        let is_answerable = prompt.is_answerable();
        Self {
            is_open: prompt.is_open(),
            is_answerable,
            is_asked: is_answerable
                && prompt.reply == ReplyState::Unanswered
                && prompt.held.is_none(),
            is_unsure: prompt.is_open() && prompt.answer().is_none() && !is_answerable,
            held: prompt.held,
        }
    }
}

/// Counts the open questions of one agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct OfAgent {
    open: usize,
    bytes: usize,
    asked: usize,
    unsure: BTreeSet<PromptId>,
    /// Those that wait for room.
    room: BTreeSet<PromptId>,
}

/// Counts the questions that are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// The open ones that were raised.
    raised: BTreeSet<PromptId>,
    /// Those of them that can be answered.
    answerable: BTreeSet<PromptId>,
    agents: BTreeMap<Asker, OfAgent>,
    /// How much memory those of a link take that are open.
    bytes: BTreeMap<LinkId, usize>,
    /// Those that are held back for what a server replays, by when they came.
    replayed: BTreeMap<LinkId, BTreeSet<(Duration, PromptId)>>,
    /// Whose questions wait for room.
    crowded: BTreeSet<Asker>,
}

impl Tally {
    /// Counts a question where its state puts it.
    pub(super) fn add(&mut self, prompt: &Prompt, place: Place) {
        let (id, key) = (prompt.id, &prompt.key);
        match place.held {
            None if place.is_open => {
                self.raised.insert(id);
                if place.is_answerable {
                    self.answerable.insert(id);
                }
            }
            None => {}
            Some(Held::Replay) => {
                let of_link = self.replayed.entry(key.link).or_default();
                of_link.insert((prompt.opened.monotonic, id));
            }
            Some(Held::Room) => {
                self.crowded.insert(asker(key));
            }
        }
        if !place.is_open && place.held.is_none() {
            return;
        }
        let agent = self.agents.entry(asker(key)).or_default();
        if place.is_open {
            let bytes = prompt.weight() + BESIDES;
            agent.open += 1;
            agent.bytes += bytes;
            *self.bytes.entry(key.link).or_default() += bytes;
        }
        agent.asked += usize::from(place.is_asked);
        if place.is_unsure {
            agent.unsure.insert(id);
        }
        if place.held == Some(Held::Room) {
            agent.room.insert(id);
        }
    }

    /// Counts a question no more where its state had put it.
    pub(super) fn take(&mut self, prompt: &Prompt, place: Place) {
        let (id, key) = (prompt.id, &prompt.key);
        self.raised.remove(&id);
        self.answerable.remove(&id);
        if place.held == Some(Held::Replay)
            && let Some(of_link) = self.replayed.get_mut(&key.link)
        {
            of_link.remove(&(prompt.opened.monotonic, id));
            if of_link.is_empty() {
                self.replayed.remove(&key.link);
            }
        }
        let whose = asker(key);
        let Some(agent) = self.agents.get_mut(&whose) else {
            return;
        };
        if place.is_open {
            let bytes = prompt.weight() + BESIDES;
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
        if *agent == OfAgent::default() {
            self.agents.remove(&whose);
        }
    }

    /// Returns the open ones that were raised, in the order in which they came.
    pub(super) fn raised(&self) -> impl Iterator<Item = PromptId> {
        self.raised.iter().copied()
    }

    /// Returns those of them that can be answered.
    pub(super) fn answerable(&self) -> &BTreeSet<PromptId> {
        &self.answerable
    }

    /// Returns how many bytes the open ones take, of an agent and of its link.
    pub(super) fn bytes(&self, whose: &Asker) -> (usize, usize) {
        let of_agent = self.agents.get(whose).map_or(0, |agent| agent.bytes);
        let of_link = self.bytes.get(&whose.0).copied().unwrap_or_default();
        (of_agent, of_link)
    }

    /// Counts those of an agent that were raised and wait for an answer.
    pub(super) fn asked(&self, whose: &Asker) -> usize {
        self.agents.get(whose).map_or(0, |agent| agent.asked)
    }

    /// Returns those of an agent that are open, were not answered and can't be.
    pub(super) fn unsure(
        &self,
        whose: &Asker,
    ) -> impl DoubleEndedIterator<Item = PromptId> + use<'_> {
        let of_agent = self.agents.get(whose);
        of_agent.map_or(NONE, |agent| &agent.unsure).iter().copied()
    }

    /// Returns those of an agent that wait for room, in the order in which they came.
    pub(super) fn room(&self, whose: &Asker) -> impl ExactSizeIterator<Item = PromptId> + use<'_> {
        let of_agent = self.agents.get(whose);
        of_agent.map_or(NONE, |agent| &agent.room).iter().copied()
    }

    /// Returns whose questions wait for room.
    pub(super) fn crowded(&self) -> impl Iterator<Item = &Asker> {
        self.crowded.iter()
    }

    /// Returns those that are held back for what a server replays, with when they came: link by link, the first one first.
    pub(super) fn replayed(
        &self,
    ) -> impl Iterator<Item = (LinkId, &BTreeSet<(Duration, PromptId)>)> {
        self.replayed.iter().map(|(link, ids)| (*link, ids))
    }

    /// Returns whether any are held back.
    pub(super) fn holds_any(&self) -> bool {
        !self.replayed.is_empty() || !self.crowded.is_empty()
    }
}
