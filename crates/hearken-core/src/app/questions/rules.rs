//! Which questions a rule of the person's own took.

use std::collections::BTreeSet;

use crate::session::PromptId;

/// The open questions that a rule took.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules {
    /// Those that one leaves alone: they stay open, and nobody is asked.
    left: BTreeSet<PromptId>,
    /// Those that one answered, once: if that fails, the person is asked.
    answered: BTreeSet<PromptId>,
    /// Those of which it was told that no rule answers them.
    unanswered: BTreeSet<PromptId>,
    /// How often it changed which are left alone.
    changes: u64,
}

impl Rules {
    /// Takes note that a rule leaves a question alone.
    pub(super) fn note_left(&mut self, id: PromptId) {
        self.left.insert(id);
        self.changes += 1;
    }

    /// Takes note that a rule answered a question.
    pub(super) fn note_answered(&mut self, id: PromptId) {
        self.answered.insert(id);
    }

    /// Takes note that it is told of a question that no rule answers it; `false` where that was told before.
    pub(super) fn note_unanswered(&mut self, id: PromptId) -> bool {
        self.unanswered.insert(id)
    }

    /// Returns whether a rule leaves a question alone.
    pub(super) fn leave(&self, id: PromptId) -> bool {
        self.left.contains(&id)
    }

    /// Returns the questions that a rule leaves alone.
    pub(super) fn left_alone(&self) -> impl Iterator<Item = PromptId> {
        self.left.iter().copied()
    }

    /// Returns a number that is another one after each change of which questions are left alone.
    pub(super) fn leaving(&self) -> u64 {
        self.changes
    }

    /// Returns whether a rule answered a question.
    pub(super) fn answered(&self, id: PromptId) -> bool {
        self.answered.contains(&id)
    }

    /// Keeps what is about open questions only.
    pub(super) fn keep(&mut self, is_open: impl Fn(PromptId) -> bool) {
        let left = self.left.len();
        self.left.retain(|id| is_open(*id));
        self.changes += u64::from(self.left.len() != left);
        self.answered.retain(|id| is_open(*id));
        self.unanswered.retain(|id| is_open(*id));
    }

    /// Forgets a question that is open no more.
    pub(super) fn forget(&mut self, id: PromptId) {
        self.changes += u64::from(self.left.remove(&id));
        self.answered.remove(&id);
        self.unanswered.remove(&id);
    }
}
