//! The four timeouts of a session, which are only counted here.
//!
//! Responsibilities: when each begins and ends, and what follows by the document. Not here: what messages mean
//! (`message_meaning`), the step itself (`session`).

use std::time::Duration;

use crate::protocol::Now;

use super::session::{Departure, ExpiredTimeout, Negotiation, PresumedState, SessionMove};
use super::session_rules::{self, Timeout, WAITS};
use super::states::State;

/// A running timeout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RunningTimeout {
    at: Duration,
    /// The waiting sender, if it matters: a message of any other sender ends the wait for a response.
    waiting: String,
}

impl Negotiation {
    /// Returns when the wait for a resolution ends.
    pub fn escalation_ends(&self) -> Option<Duration> {
        let wait = self.waits.get(Timeout::Escalation as usize);
        wait.and_then(Option::as_ref).map(|wait| wait.at)
    }

    /// Ends the timeouts of the state that was left, and starts the session's own when the conversation begins.
    pub(super) fn waits_after(&mut self, step: &SessionMove, here: Duration) {
        if step.to.is_terminal() {
            self.waits = [const { None }; WAITS.len()];
            return;
        }
        for wait in WAITS {
            if wait.within.is_some_and(|within| within != step.to) {
                self.end(wait.timeout);
            }
        }
        let begins = step.from == State::Introduced && step.to == State::Conversing;
        if begins && let Some(limit) = self.lasts.or_else(|| default_of(Timeout::Session)) {
            self.begin(Timeout::Session, here + limit, "");
        }
    }

    pub(super) fn begin(&mut self, timeout: Timeout, at: Duration, waiting: &str) {
        if let Some(wait) = self.waits.get_mut(timeout as usize) {
            *wait = Some(RunningTimeout {
                at,
                waiting: waiting.to_owned(),
            });
        }
    }

    fn end(&mut self, timeout: Timeout) {
        if let Some(wait) = self.waits.get_mut(timeout as usize) {
            *wait = None;
        }
    }

    /// Ends the wait for a response when another sender says something.
    pub(super) fn answered(&mut self, sender: &str) {
        let wait = self.waits.get(Timeout::Response as usize);
        if let Some(Some(wait)) = wait
            && wait.waiting != sender
        {
            self.end(Timeout::Response);
        }
    }

    /// Returns when the next timeout expires.
    pub fn deadline(&self) -> Option<Duration> {
        self.waits.iter().flatten().map(|wait| wait.at).min()
    }

    /// Expires the timeouts that are due, by our own count.
    pub fn tick(&mut self, now: Now) -> Vec<ExpiredTimeout> {
        let mut expired = Vec::new();
        for wait in WAITS {
            let due = self
                .waits
                .get(wait.timeout as usize)
                .and_then(Option::as_ref);
            if due.is_none_or(|due| due.at > now.monotonic) {
                continue;
            }
            self.end(wait.timeout);
            let state = self.standing.state();
            if let Some(row) = session_rules::row_for(state, wait.trigger) {
                self.standing = PresumedState::ProbablyFailed {
                    was: state,
                    by: wait.timeout,
                };
                expired.push(ExpiredTimeout {
                    timeout: wait.timeout,
                    state,
                    row,
                    departure: match wait.timeout {
                        Timeout::Response => Some(Departure::ResponseLate),
                        Timeout::Invitation | Timeout::Session | Timeout::Escalation => {
                            Some(Departure::Expired(wait.timeout))
                        }
                    },
                });
            }
        }
        expired
    }
}

pub(super) fn default_of(timeout: Timeout) -> Option<Duration> {
    session_rules::wait(timeout)
        .default_seconds
        .map(Duration::from_secs)
}
