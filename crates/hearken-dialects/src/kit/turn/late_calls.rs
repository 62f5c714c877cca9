//! What comes after an agent has ended its turn.
//!
//! Responsibilities: how long a turn with a running call stays open for it, and the calls that are remembered beyond.
//! Not here: the events of the end (`kit::turn_end`).
//!
//! Mental model: agents report the end of a turn while a program that they started still writes. What comes within a
//! moment belongs to that turn, so its end is announced after it. A call that runs on is remembered by name, because a
//! later update has nothing but its id.

use std::collections::VecDeque;
use std::time::Duration;

use crate::kit::call::{self, Call, HeardStage};
use crate::kit::turn_end::TurnEnd;
use crate::kit::turn_updates::CallNews;

use super::{EventContext, Turn};

/// How long a turn stays open after the last news, while a call runs.
const RUNNING: Duration = Duration::from_secs(5);
/// The same once no call runs: text about its outcome may follow.
const DONE: Duration = Duration::from_millis(500);
/// How long all that may take: a program may write forever, and the end must be heard.
const LONGEST: Duration = Duration::from_secs(10);
/// How many calls that run on are remembered.
const MOST_LEFT: usize = 64;

/// The calls that were left running at the ends of their turns.
#[derive(Debug, Default)]
pub struct LeftCalls(VecDeque<(String, Call)>);

impl LeftCalls {
    /// Remembers a call.
    pub fn put(&mut self, key: &str, call: Call) {
        if self.0.len() == MOST_LEFT {
            self.0.pop_front();
        }
        self.0.push_back((key.to_owned(), call));
    }

    /// Returns whether news of a call that was announced as stopped adds nothing: agents report the end of such a call
    /// late, and under any name. What proves that it ran on, or that it worked, is news.
    pub fn is_outdated(&self, news: &CallNews) -> bool {
        let key = call::key(&news.id);
        let known = self.0.iter().find(|(known, _)| *known == key);
        known.is_some_and(|(_, call)| {
            let mut then = call.clone();
            then.take(news.clone());
            call.stopped && !then.proves_success()
        })
    }

    fn take(&mut self, key: &str) -> Option<Call> {
        let at = self.0.iter().position(|(known, _)| known == key)?;
        self.0.remove(at).map(|(_, call)| call)
    }
}

/// How long a turn stays open after its agent has ended it.
#[derive(Debug, Clone, Copy)]
pub(super) struct LateDeadline {
    /// Without further news.
    pub(super) until: Duration,
    latest: Duration,
}

impl Turn {
    /// Sets the end of the turn, which waits a moment for news of the calls that still run.
    pub fn end_after_calls(&mut self, end: TurnEnd, now: Duration) {
        // A call that was stopped or broke off writes nothing more.
        let waits = matches!(end, TurnEnd::Done) && !self.stopping && self.has_running_call();
        self.end(end);
        if waits {
            self.open = Some(LateDeadline {
                until: now + RUNNING,
                latest: now + LONGEST,
            });
        }
    }

    /// Returns whether its agent has ended it, so that it waits only for late news.
    pub fn is_ending(&self) -> bool {
        self.open.is_some()
    }

    /// Stops waiting for more news.
    pub fn leave_late(&mut self) {
        self.open = None;
    }

    /// Waits a moment from this news on.
    pub(super) fn await_more(&mut self, now: Duration) {
        let wait = match self.has_running_call() {
            true => RUNNING,
            false => DONE,
        };
        if let Some(open) = &mut self.open {
            open.until = open.latest.min(now + wait);
        }
    }

    fn has_running_call(&self) -> bool {
        self.calls.values().any(|call| match call.stage {
            HeardStage::Announced | HeardStage::Waiting(_) => true,
            HeardStage::Unsaid | HeardStage::Asked | HeardStage::Allowed | HeardStage::Rejected => {
                false
            }
        })
    }

    /// Adds the call with this id, if an earlier turn left it running.
    pub(super) fn take_up(&mut self, key: &str, teller: &mut EventContext) {
        if !self.calls.contains_key(key)
            && let Some(call) = teller.left.take(key)
        {
            self.calls.insert(key.to_owned(), call.left_running());
        }
    }
}
