//! The second step of an answer that cannot be undone: which one it is, and how long it stays open.
//!
//! If a step stayed open for ever, a stray key could accept something long after the person read it; so it
//! lapses after a time that the person can set, with an announcement. Both clocks count, because neither is
//! enough: the monotonic one stops while the machine sleeps, the wall clock can be set back.

use std::time::Duration;

use crate::protocol::{Answer, Now};
use crate::session::QuestionId;

/// The second step counts only this long after the first: a burst of keys is not a decision.
const APART: Duration = Duration::from_millis(150);

/// How long the key of a second step may still come that is no longer due.
const LATE: Duration = Duration::from_secs(60);

/// A second step that did not come.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::app) struct EndedStep {
    question: QuestionId,
    at: Duration,
}

impl EndedStep {
    /// Notes that a second step ended without its key.
    pub(in crate::app) fn new(step: &SecondStep, at: Duration) -> Self {
        Self {
            question: step.question,
            at,
        }
    }

    /// Returns the question that it belonged to.
    pub(in crate::app) fn question(&self) -> QuestionId {
        self.question
    }

    /// Returns whether its key may still come.
    pub(in crate::app) fn is_recent(&self, now: Duration) -> bool {
        now < self.at + LATE
    }
}

/// An answer whose second step is due.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::app) struct SecondStep {
    question: QuestionId,
    answer: Answer,
    since: Now,
    /// Whether the step itself named what the answer is for.
    named: bool,
}

impl SecondStep {
    /// Opens the second step.
    pub(in crate::app) fn new(
        question: QuestionId,
        answer: Answer,
        since: Now,
        named: bool,
    ) -> Self {
        Self {
            question,
            answer,
            since,
            named,
        }
    }

    /// Returns the question that is answered.
    pub(in crate::app) fn question(&self) -> QuestionId {
        self.question
    }

    /// Returns whether the step itself named what the answer is for.
    pub(in crate::app) fn names(&self) -> bool {
        self.named
    }

    /// Returns when it was opened, on the monotonic clock.
    pub(in crate::app) fn since(&self) -> Duration {
        self.since.monotonic
    }

    /// Returns the answer that it confirms.
    pub(in crate::app) fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Returns whether a key read at this time was pressed too soon to count.
    pub(in crate::app) fn is_too_soon(&self, read: Duration) -> bool {
        read < self.since.monotonic + APART
    }

    /// Returns when it lapses.
    pub(in crate::app) fn ends(&self, patience: Duration) -> Duration {
        self.since.monotonic + patience
    }

    /// Returns whether it had lapsed at a time up to now, by either clock.
    pub(in crate::app) fn was_over(&self, at: Duration, now: Now, patience: Duration) -> bool {
        let ago = now.monotonic.saturating_sub(at);
        let by_wall = now.wall.duration_since(self.since.wall);
        let by_wall = Duration::try_from(by_wall).unwrap_or(Duration::ZERO);
        let waited = at.saturating_sub(self.since.monotonic);
        waited.max(by_wall.saturating_sub(ago)) >= patience
    }
}
