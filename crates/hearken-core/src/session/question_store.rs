//! The questions that are kept, found by number, by session and by token.
//!
//! Responsibilities: finding a question, and recording each change of one. Not here: what a question is (`question`),
//! the counts (`tally`), and what becomes of a question.
//!
//! Mental model: nearly every event belongs to a session without questions, while thousands of others may have
//! some. So no event or question causes a scan of all questions: those of a session or token are indexed,
//! totals are counted, and results over all questions stay valid until one changes.

use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::HashMap;
use foldhash::fast::RandomState;
use smallvec::SmallVec;

use crate::link::LinkId;
use crate::protocol::ReplyToken;

use super::journal::Journal;
use super::key::{QuestionId, SessionKey};
use super::question::Question;
use super::tally::{Tally, TallyPlace};

/// The questions, open and closed.
#[derive(Debug, Clone, Default)]
pub(super) struct QuestionStore {
    /// Shared, so that an announcement can hold a question, without a copy, while others change.
    all: BTreeMap<QuestionId, Arc<Question>>,
    /// The questions of each session, in the order of their arrival.
    of: HashMap<SessionKey, SmallVec<[QuestionId; 2]>>,
    /// The questions that may have a token, by its hash: the token itself is in the question.
    of_token: HashMap<(LinkId, u64), SmallVec<[QuestionId; 1]>>,
    numbers: RandomState,
    tally: Tally,
    changes: Journal<QuestionId>,
}

impl QuestionStore {
    /// Returns a count that grows with each change of a question.
    pub(super) fn changes(&self) -> u64 {
        self.changes.count()
    }

    /// Returns the questions that changed since an earlier count; `None` if there are too many.
    pub(super) fn changed_since(&self, changes: u64) -> Option<impl Iterator<Item = QuestionId>> {
        self.changes.since(changes)
    }

    /// Returns the counts.
    pub(super) fn tally(&self) -> &Tally {
        &self.tally
    }

    pub(super) fn insert(&mut self, question: Question) {
        self.changes.note(question.id);
        let of = self.of.entry(question.key.clone()).or_default();
        of.push(question.id);
        if let Some(token) = self.number(&question) {
            self.of_token.entry(token).or_default().push(question.id);
        }
        self.tally.add(&question, TallyPlace::of(&question));
        self.all.insert(question.id, Arc::new(question));
    }

    pub(super) fn remove(&mut self, id: QuestionId) -> Option<Arc<Question>> {
        let question = self.all.remove(&id)?;
        self.changes.note(id);
        self.tally.take(&question, TallyPlace::of(&question));
        if let Some(of) = self.of.get_mut(&question.key) {
            of.retain(|other| *other != id);
            if of.is_empty() {
                self.of.remove(&question.key);
            }
        }
        if let Some(token) = self.number(&question)
            && let Some(of) = self.of_token.get_mut(&token)
        {
            of.retain(|other| *other != id);
            if of.is_empty() {
                self.of_token.remove(&token);
            }
        }
        Some(question)
    }

    fn number(&self, question: &Question) -> Option<(LinkId, u64)> {
        let token = question.body.token()?;
        Some((question.key.link, self.numbers.hash_one(token)))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn get(&self, id: QuestionId) -> Option<&Question> {
        self.all.get(&id).map(Arc::as_ref)
    }

    /// Returns the current state of a question, which later changes do not affect.
    pub(super) fn shared(&self, id: QuestionId) -> Option<Arc<Question>> {
        self.all.get(&id).cloned()
    }

    /// Changes a question and returns the result of the change, which must not touch its session or its content.
    pub(super) fn change<T>(
        &mut self,
        id: QuestionId,
        change: impl FnOnce(&mut Question) -> T,
    ) -> Option<T> {
        let question = Arc::make_mut(self.all.get_mut(&id)?);
        let before = TallyPlace::of(question);
        let given = change(question);
        self.changes.note(id);
        let after = TallyPlace::of(question);
        if before != after {
            self.tally.take(question, before);
            self.tally.add(question, after);
        }
        Some(given)
    }

    /// Returns all questions, in the order of their arrival.
    pub(super) fn values(&self) -> impl Iterator<Item = &Question> {
        self.all.values().map(Arc::as_ref)
    }

    /// Returns the open questions that were raised, in the same order.
    pub(super) fn raised(&self) -> impl Iterator<Item = &Question> {
        self.tally.raised().filter_map(|id| self.get(id))
    }

    /// Returns the questions of a link with a token, in the same order.
    pub(super) fn of_token(
        &self,
        link: LinkId,
        token: &ReplyToken,
    ) -> impl Iterator<Item = &Question> {
        let ids = self.of_token.get(&(link, self.numbers.hash_one(token)));
        let ids = ids.map(SmallVec::as_slice).unwrap_or_default();
        let questions = ids.iter().filter_map(|id| self.get(*id));
        questions.filter(move |question| question.body.token() == Some(token))
    }

    /// Returns the questions of a session, in the same order.
    pub(super) fn of(&self, key: &SessionKey) -> impl DoubleEndedIterator<Item = &Question> {
        let ids = match self.all.is_empty() {
            true => None,
            false => self.of.get(key),
        };
        let ids = ids.map(SmallVec::as_slice).unwrap_or_default();
        ids.iter().filter_map(|id| self.get(*id))
    }

    /// Returns the open questions of a session, in the same order.
    pub(super) fn open_of(&self, key: &SessionKey) -> impl DoubleEndedIterator<Item = &Question> {
        self.of(key).filter(|question| question.is_open())
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns whether the counts match a recount.
    #[cfg(test)]
    pub(super) fn are_counted(&self) -> bool {
        let mut anew = Tally::default();
        for question in self.all.values() {
            anew.add(question, TallyPlace::of(question));
        }
        anew == self.tally
    }
}
