//! How much time a question has (4.4.1, 4.4.2).
//!
//! Responsibilities: when its producer stops waiting, and which warning is due before. Not here: what happens then
//! (`timed_transitions`).

use std::time::Duration;

use super::question::{Question, Warning};
use super::sessions::Sessions;

/// The second warning comes at a tenth of the time, or this much before the end if the time is more than twice as long:
/// less is too short to hear the question again and answer.
const LAST_WARNING: Duration = Duration::from_secs(20);

impl Sessions {
    /// Returns when a question's time is over at the latest, on the monotonic clock.
    pub fn expires(&self, question: &Question) -> Option<Duration> {
        question.expires(self.skew_of(question))
    }

    /// Returns whether it is known how long ago a question was asked: old news from a machine whose clock is
    /// still unknown may have any age.
    pub fn is_age_known(&self, question: &Question) -> bool {
        !question.replayed || self.skew_of(question).is_some()
    }

    /// Returns the clock difference of a question's machine, if it is known. It is zero for a replayed question
    /// from this machine.
    fn skew_of(&self, question: &Question) -> Option<i64> {
        let session = self.sessions.get(&question.key);
        let machine = session.and_then(|session| session.host.as_deref());
        let link = self.links.get(&question.key.link)?;
        let difference = question.clock_difference().unwrap_or_default();
        let same_clock = question.replayed && machine.is_none() && link.shares_clock();
        (link.skews.of(machine, difference)).or(same_clock.then_some(0))
    }
}

impl Question {
    /// Returns when the producer's time runs out on our monotonic clock.
    ///
    /// `skew` is the smallest difference seen between receiving its machine's events and their timestamps, in
    /// milliseconds: anything beyond it is the time that this event was under way. Without it, all of the time
    /// is left, because nobody knows how long the question has waited.
    pub fn expires(&self, skew: Option<i64>) -> Option<Duration> {
        let timeout = Duration::from_secs(self.body.timeout_seconds()?);
        let under_way = match (self.clock_difference(), skew) {
            (Some(difference), Some(skew)) => {
                Duration::from_millis(u64::try_from(difference - skew).unwrap_or(0))
            }
            _ => Duration::ZERO,
        };
        Some(
            self.opened
                .monotonic
                .saturating_add(timeout)
                .saturating_sub(under_way),
        )
    }

    /// Returns how much later than its timestamp it was received, in milliseconds.
    pub(super) fn clock_difference(&self) -> Option<i64> {
        let asked = self.asked_at?;
        Some(self.opened.wall.as_millisecond() - asked.as_millisecond())
    }

    /// Returns the time left at which the next warning is due, and which warning it is.
    pub(super) fn next_warning(&self) -> Option<(Duration, Warning)> {
        let timeout = Duration::from_secs(self.body.timeout_seconds()?);
        let last = if timeout > 2 * LAST_WARNING {
            (timeout / 10).max(LAST_WARNING)
        } else {
            timeout / 10
        };
        match self.warned {
            Warning::None => Some((timeout / 2, Warning::Half)),
            Warning::Half => Some((last, Warning::Last)),
            Warning::Last => None,
        }
    }
}
