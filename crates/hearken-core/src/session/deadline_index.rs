//! The due times of all questions.
//!
//! Responsibilities: finding the first of them without a scan. Not here: what happens then (`timed_transitions`).
//!
//! Mental model: every event requires the first due time among thousands of questions. So each question is kept
//! by its due time, which is recomputed when the question changes; all are recomputed only when the estimate of
//! a clock changes.

use std::collections::BTreeSet;
use std::time::Duration;

use foldhash::HashMap;

use super::key::QuestionId;

/// The due time of each question, and the counts of question and clock changes up to which they are valid.
#[derive(Debug, Clone, Default)]
pub(super) struct DeadlineIndex {
    changes: u64,
    skewed: u64,
    first: BTreeSet<(Duration, QuestionId)>,
    of: HashMap<QuestionId, Duration>,
}

impl DeadlineIndex {
    /// Sets a question's due time, or removes it.
    pub(super) fn set(&mut self, id: QuestionId, due: Option<Duration>) {
        let before = match due {
            Some(due) => self.of.insert(id, due),
            None => self.of.remove(&id),
        };
        if before == due {
            return;
        }
        if let Some(before) = before {
            self.first.remove(&(before, id));
        }
        if let Some(due) = due {
            self.first.insert((due, id));
        }
    }

    /// Returns the counts of question and clock changes up to which the due times are valid.
    pub(super) fn of_changes(&self) -> (u64, u64) {
        (self.changes, self.skewed)
    }

    /// Sets these counts.
    pub(super) fn are_of(&mut self, changes: u64, skewed: u64) {
        (self.changes, self.skewed) = (changes, skewed);
    }

    /// Returns the earliest due time.
    pub(super) fn first(&self) -> Option<Duration> {
        self.first.first().map(|(due, _)| *due)
    }

    /// Returns the questions that are due at `now`.
    pub(super) fn until(&self, now: Duration) -> impl Iterator<Item = QuestionId> {
        let until = ..=(now, QuestionId(u64::MAX));
        self.first.range(until).map(|(_, id)| *id)
    }
}
