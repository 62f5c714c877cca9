//! The second step of an answer that is not to be undone: which one it is, and how long it is waited for.
//!
//! A step that waited for ever would let a stray key accept something long after it was read; so it is
//! given up after a time that the person can set, and that is told. Both clocks count, because neither
//! tells of all time that passes: the one stands still while the machine sleeps, the other can be put back.

use std::time::Duration;

use crate::protocol::{Answer, Now};
use crate::session::PromptId;

/// The second step counts only this long after the first: a burst of keys is no decision.
const APART: Duration = Duration::from_millis(150);

/// Holds an answer whose second step is waited for.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::app) struct SecondStep {
    prompt: PromptId,
    answer: Answer,
    since: Now,
}

impl SecondStep {
    /// Begins to wait.
    pub(in crate::app) fn new(prompt: PromptId, answer: Answer, since: Now) -> Self {
        Self {
            prompt,
            answer,
            since,
        }
    }

    /// Returns the question that it is for.
    pub(in crate::app) fn prompt(&self) -> PromptId {
        self.prompt
    }

    /// Returns since when it is waited for, on the monotonic clock.
    pub(in crate::app) fn since(&self) -> Duration {
        self.since.monotonic
    }

    /// Returns what it decides.
    pub(in crate::app) fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Returns whether a key that was read then was pressed too soon to be it.
    pub(in crate::app) fn is_too_soon(&self, read: Duration) -> bool {
        read < self.since.monotonic + APART
    }

    /// Returns when it is no longer waited for.
    pub(in crate::app) fn ends(&self, patience: Duration) -> Duration {
        self.since.monotonic + patience
    }

    /// Returns whether it was over at a time until now, by either clock.
    pub(in crate::app) fn was_over(&self, at: Duration, now: Now, patience: Duration) -> bool {
        let ago = now.monotonic.saturating_sub(at);
        let by_wall = now.wall.duration_since(self.since.wall);
        let by_wall = Duration::try_from(by_wall).unwrap_or(Duration::ZERO);
        let waited = at.saturating_sub(self.since.monotonic);
        waited.max(by_wall.saturating_sub(ago)) >= patience
    }
}
