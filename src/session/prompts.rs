//! The questions that are kept, found by their numbers and by whose they are.
//!
//! Responsibilities: which questions are a session's, and a number that changes with every one of them. Not here: what a
//! question is (`prompt`), and what becomes of it.
//!
//! Mental model: nearly every event is of a session that asks nothing, while thousands of others may. So nobody walks over all
//! questions for an event: those of its session are known, and what is found out of all stands until one of them changes.

use std::collections::BTreeMap;

use foldhash::HashMap;
use smallvec::SmallVec;

use super::key::{PromptId, SessionKey};
use super::prompt::Prompt;

/// Holds the questions, open and closed.
#[derive(Debug, Clone, Default)]
pub(super) struct Prompts {
    all: BTreeMap<PromptId, Prompt>,
    /// Which are of each session, in the order in which they came.
    of: HashMap<SessionKey, SmallVec<[PromptId; 2]>>,
    changes: u64,
}

impl Prompts {
    /// Gives a number that is another one after each change of a question.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Takes note that something changed that is known of a question beside it.
    pub(super) fn note_change(&mut self) {
        self.changes += 1;
    }

    pub(super) fn insert(&mut self, prompt: Prompt) {
        self.note_change();
        let of = self.of.entry(prompt.key.clone()).or_default();
        of.push(prompt.id);
        self.all.insert(prompt.id, prompt);
    }

    pub(super) fn remove(&mut self, id: PromptId) -> Option<Prompt> {
        let prompt = self.all.remove(&id)?;
        self.note_change();
        if let Some(of) = self.of.get_mut(&prompt.key) {
            of.retain(|other| *other != id);
            if of.is_empty() {
                self.of.remove(&prompt.key);
            }
        }
        Some(prompt)
    }

    pub(super) fn get(&self, id: PromptId) -> Option<&Prompt> {
        self.all.get(&id)
    }

    /// Gives one to be changed.
    pub(super) fn get_mut(&mut self, id: PromptId) -> Option<&mut Prompt> {
        self.note_change();
        self.all.get_mut(&id)
    }

    /// Gives all, in the order in which they came.
    pub(super) fn values(&self) -> impl Iterator<Item = &Prompt> {
        self.all.values()
    }

    /// Gives all to be changed, in that order.
    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Prompt> {
        self.note_change();
        self.all.values_mut()
    }

    /// Gives those of a session, in that order.
    pub(super) fn of(&self, key: &SessionKey) -> impl DoubleEndedIterator<Item = &Prompt> {
        let ids = match self.all.is_empty() {
            true => None,
            false => self.of.get(key),
        };
        let ids = ids.map(SmallVec::as_slice).unwrap_or_default();
        ids.iter().filter_map(|id| self.all.get(id))
    }

    /// Gives the open ones of a session, in that order.
    pub(super) fn open_of(&self, key: &SessionKey) -> impl DoubleEndedIterator<Item = &Prompt> {
        self.of(key).filter(|prompt| prompt.is_open())
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }
}
