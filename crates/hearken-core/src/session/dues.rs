//! Which question time brings something of, and when.
//!
//! Responsibilities: the first of them, found without looking at all. Not here: what time brings (`due`).
//!
//! Mental model: of thousands of questions the one that is due first is wanted with each event. So each is kept by when it
//! is due, and found out anew when it changes; all of them only where another clock is known.

use std::collections::BTreeSet;
use std::time::Duration;

use foldhash::HashMap;

use super::key::PromptId;

/// When time brings something of each question, and of how many changes of questions and clocks that was found out.
#[derive(Debug, Clone, Default)]
pub(super) struct Dues {
    changes: u64,
    skewed: u64,
    first: BTreeSet<(Duration, PromptId)>,
    of: HashMap<PromptId, Duration>,
}

impl Dues {
    /// Takes when time brings something of a question, if it does.
    pub(super) fn set(&mut self, id: PromptId, due: Option<Duration>) {
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

    /// Returns of how many changes of questions and of clocks it was found out.
    pub(super) fn of_changes(&self) -> (u64, u64) {
        (self.changes, self.skewed)
    }

    /// Takes note of that.
    pub(super) fn are_of(&mut self, changes: u64, skewed: u64) {
        (self.changes, self.skewed) = (changes, skewed);
    }

    /// Returns when time brings the first of all.
    pub(super) fn first(&self) -> Option<Duration> {
        self.first.first().map(|(due, _)| *due)
    }

    /// Returns the questions of which time has brought something by then.
    pub(super) fn until(&self, now: Duration) -> impl Iterator<Item = PromptId> {
        let until = ..=(now, PromptId(u64::MAX));
        self.first.range(until).map(|(_, id)| *id)
    }
}
