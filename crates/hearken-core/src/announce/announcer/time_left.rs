//! The time that a question has left, as far as its words state it.

use std::time::Duration;

use crate::protocol::Now;
use crate::session::{Question, Sessions};

/// The time until silence counts as an answer, and where it is stated.
#[derive(Debug, Clone, Copy)]
pub(super) enum TimeLeft {
    /// The words of the question state it.
    Told(Duration),
    /// The head above the words states it: there the time counts down, while the words stay the same.
    Headed,
    /// It is unknown: the question is old news, and its machine's clock is unknown.
    Unknown,
    /// None: by this program's own count the time is up, whatever the agent made of that.
    Over,
}

/// Returns the time that a question has left, for words that state it.
pub(super) fn stated_time_left(
    question: &Question,
    sessions: &Sessions,
    now: Now,
) -> Option<TimeLeft> {
    let left = sessions.expires(question)?.saturating_sub(now.monotonic);
    Some(match (left.is_zero(), sessions.is_age_known(question)) {
        (true, _) => TimeLeft::Over,
        (false, true) => TimeLeft::Told(left),
        (false, false) => TimeLeft::Unknown,
    })
}

/// Returns the time that a question has left, for words below a head that states it.
pub(super) fn headed(question: &Question, sessions: &Sessions) -> Option<TimeLeft> {
    let states = [TimeLeft::Unknown, TimeLeft::Headed];
    let known = usize::from(sessions.is_age_known(question));
    sessions.expires(question).map(|_| states[known])
}
