//! How much of the questions the person heard, and when their lines were written.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::session::QuestionId;

/// How much of the open questions has reached the person.
#[derive(Debug, Clone, Default)]
pub(super) struct ReceivedExtent {
    /// The questions whose action was heard, or that the person chose not to hear.
    heard: BTreeMap<QuestionId, Hearing>,
    /// When the lines of each question were last written.
    written: BTreeMap<QuestionId, Duration>,
    /// How many parts were read of each question that is read in parts.
    parts: BTreeMap<QuestionId, usize>,
}

/// How the person heard a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hearing {
    /// It was spoken to its end, at this time.
    Said(Duration),
    /// The person chose not to hear it to its end.
    Skipped,
}

impl ReceivedExtent {
    /// Notes that a question was spoken to its end.
    pub(super) fn said(&mut self, id: QuestionId, now: Duration) {
        self.heard.insert(id, Hearing::Said(now));
    }

    /// Notes that the person chose not to hear a question to its end, unless they heard it before.
    pub(super) fn skipped(&mut self, id: QuestionId) {
        self.heard.entry(id).or_insert(Hearing::Skipped);
    }

    /// Forgets that a question was heard: there is more of it.
    pub(super) fn unheard(&mut self, id: QuestionId) {
        self.heard.remove(&id);
    }

    /// Returns how the person heard a question, if they did.
    pub(super) fn heard(&self, id: QuestionId) -> Option<Hearing> {
        self.heard.get(&id).copied()
    }

    /// Notes a line about a question; only a line that asks it updates the time.
    pub(super) fn wrote(&mut self, id: QuestionId, asks: bool, at: Duration) {
        let written = self.written.entry(id).or_insert(at);
        if asks {
            *written = at.max(*written);
        }
    }

    /// Returns when the lines of a question were written.
    pub(super) fn written(&self, id: QuestionId) -> Option<Duration> {
        self.written.get(&id).copied()
    }

    /// Returns how many parts of a question were read.
    pub(super) fn parts(&self, id: QuestionId) -> usize {
        self.parts.get(&id).copied().unwrap_or(0)
    }

    /// Notes that one more part is read.
    pub(super) fn tell_part(&mut self, id: QuestionId) {
        *self.parts.entry(id).or_default() += 1;
    }

    /// Notes that the last part is to be read again.
    pub(super) fn tell_again(&mut self, id: QuestionId) {
        if let Some(told) = self.parts.get_mut(&id) {
            *told = told.saturating_sub(1);
        }
    }

    /// Drops everything about closed questions.
    pub(super) fn keep(&mut self, is_open: impl Fn(QuestionId) -> bool) {
        self.heard.retain(|id, _| is_open(*id));
        self.written.retain(|id, _| is_open(*id));
        self.parts.retain(|id, _| is_open(*id));
    }

    /// Returns an upper bound for the number of questions with a record here.
    pub(super) fn len(&self) -> usize {
        self.heard.len() + self.written.len() + self.parts.len()
    }

    /// Forgets a closed question.
    pub(super) fn forget(&mut self, id: QuestionId) {
        self.heard.remove(&id);
        self.written.remove(&id);
        self.parts.remove(&id);
    }
}
