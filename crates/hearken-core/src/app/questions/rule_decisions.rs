//! The questions that the person's own rules decided.

use std::collections::BTreeSet;

use crate::session::QuestionId;

/// The open questions that a rule decided.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules {
    /// The questions that a rule leaves alone: they stay open, and the person is not asked.
    left: BTreeSet<QuestionId>,
    /// The questions that a rule answered, once: if that fails, the person is asked.
    answered: BTreeSet<QuestionId>,
    /// The questions announced as not answered by any rule.
    unanswered: BTreeSet<QuestionId>,
    /// How often the set of questions left alone changed.
    changes: u64,
}

impl Rules {
    /// Notes that a rule leaves a question alone.
    pub(super) fn note_left(&mut self, id: QuestionId) {
        self.left.insert(id);
        self.changes += 1;
    }

    /// Notes that a rule answered a question.
    pub(super) fn note_answered(&mut self, id: QuestionId) {
        self.answered.insert(id);
    }

    /// Notes the announcement that no rule answers a question; returns `false` if that was announced before.
    pub(super) fn note_unanswered(&mut self, id: QuestionId) -> bool {
        self.unanswered.insert(id)
    }

    /// Returns whether a rule leaves a question alone.
    pub(super) fn leave(&self, id: QuestionId) -> bool {
        self.left.contains(&id)
    }

    /// Returns the questions that a rule leaves alone.
    pub(super) fn left_alone(&self) -> impl Iterator<Item = QuestionId> {
        self.left.iter().copied()
    }

    /// Returns a number that changes whenever the set of questions left alone does.
    pub(super) fn leaving(&self) -> u64 {
        self.changes
    }

    /// Returns whether a rule answered a question.
    pub(super) fn answered(&self, id: QuestionId) -> bool {
        self.answered.contains(&id)
    }

    /// Drops everything about closed questions.
    pub(super) fn keep(&mut self, is_open: impl Fn(QuestionId) -> bool) {
        let left = self.left.len();
        self.left.retain(|id| is_open(*id));
        self.changes += u64::from(self.left.len() != left);
        self.answered.retain(|id| is_open(*id));
        self.unanswered.retain(|id| is_open(*id));
    }

    /// Forgets a closed question.
    pub(super) fn forget(&mut self, id: QuestionId) {
        self.changes += u64::from(self.left.remove(&id));
        self.answered.remove(&id);
        self.unanswered.remove(&id);
    }
}
