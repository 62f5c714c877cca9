//! What of the questions came to the person, by ear and by line.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::session::PromptId;

/// What of the open questions came to the person.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    /// Those whose action was heard, or that the person chose not to hear.
    heard: BTreeMap<PromptId, Heard>,
    /// When the lines of each were written last.
    written: BTreeMap<PromptId, Duration>,
    /// How many parts were told of each that is told in parts.
    parts: BTreeMap<PromptId, usize>,
}

/// How a question came to the person's ears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// It was said to its end, then.
    Said(Duration),
    /// The person chose not to hear it out.
    Skipped,
}

impl Known {
    /// Takes note that a question was said to its end.
    pub(super) fn said(&mut self, id: PromptId, now: Duration) {
        self.heard.insert(id, Heard::Said(now));
    }

    /// Takes note that the person chose not to hear a question out, unless they heard it before.
    pub(super) fn skipped(&mut self, id: PromptId) {
        self.heard.entry(id).or_insert(Heard::Skipped);
    }

    /// Forgets that a question was heard: there is more of it.
    pub(super) fn unheard(&mut self, id: PromptId) {
        self.heard.remove(&id);
    }

    /// Returns how a question came to the person's ears, if it did.
    pub(super) fn heard(&self, id: PromptId) -> Option<Heard> {
        self.heard.get(&id).copied()
    }

    /// Takes note of a line about a question; only one that asks it counts anew.
    pub(super) fn wrote(&mut self, id: PromptId, asks: bool, at: Duration) {
        let written = self.written.entry(id).or_insert(at);
        if asks {
            *written = at.max(*written);
        }
    }

    /// Returns when the lines of a question were written.
    pub(super) fn written(&self, id: PromptId) -> Option<Duration> {
        self.written.get(&id).copied()
    }

    /// Counts how many parts of a question were told.
    pub(super) fn parts(&self, id: PromptId) -> usize {
        self.parts.get(&id).copied().unwrap_or(0)
    }

    /// Takes note that a part more is told.
    pub(super) fn tell_part(&mut self, id: PromptId) {
        *self.parts.entry(id).or_default() += 1;
    }

    /// Takes note that the last part is to be told once more.
    pub(super) fn tell_again(&mut self, id: PromptId) {
        if let Some(told) = self.parts.get_mut(&id) {
            *told = told.saturating_sub(1);
        }
    }

    /// Keeps what is about open questions only.
    pub(super) fn keep(&mut self, is_open: impl Fn(PromptId) -> bool) {
        self.heard.retain(|id, _| is_open(*id));
        self.written.retain(|id, _| is_open(*id));
        self.parts.retain(|id, _| is_open(*id));
    }

    /// Returns of how many questions something is known, at most.
    pub(super) fn len(&self) -> usize {
        self.heard.len() + self.written.len() + self.parts.len()
    }

    /// Forgets a question that is open no more.
    pub(super) fn forget(&mut self, id: PromptId) {
        self.heard.remove(&id);
        self.written.remove(&id);
        self.parts.remove(&id);
    }
}
