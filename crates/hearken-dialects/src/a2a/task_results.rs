//! Fetching the whole task before its end is announced.
//!
//! Responsibilities: which ends wait, the request, and what its answer means. Not here: announcing texts (`task`), what
//! was heard of them (`heard_texts`).
//!
//! # Mental model
//! Within a server, the state of a task and its artifacts take different routes, and the state may arrive first. An
//! artifact may also arrive without its first piece. So an end that arrives before any answer, or after an incomplete
//! artifact, waits while the whole task is fetched. Artifacts that arrive meanwhile are announced as they come. The
//! wait is short and limited, so no end is lost.
//!
//! # Tuning by symptom
//! Answers of slow servers are not heard: lengthen [`PATIENCE`]. Ends without an answer come late: shorten [`AGAIN`].

use std::time::Duration;

use crate::kit::turn_end::TurnEnd;
use crate::link::{Fault, HttpAnswer, Phrase};
use crate::protocol::Now;
use crate::{Cx, DialectOutput};

use super::client::{A2a, TaskRequest};
use super::messages::{self, RequestAnswer, ServerReport};

/// The longest time that an end waits.
const PATIENCE: Duration = Duration::from_secs(5);
/// The delay before a task that has no answer yet is fetched again.
const AGAIN: Duration = Duration::from_secs(1);
/// How often a task is fetched at most.
const MOST_FETCHES: u32 = 2;

/// An end that waits until the whole task is fetched.
#[derive(Debug)]
pub(super) struct PendingEnd {
    /// How the task ended.
    pub end: TurnEnd,
    /// The latest time at which it is announced.
    until: Duration,
    /// When the task is fetched next; `None` while a request is pending.
    next: Option<Duration>,
    fetches: u32,
}

impl PendingEnd {
    /// Creates the record of an end that waits from now on.
    pub(super) fn new(end: TurnEnd, now: Now) -> Self {
        Self {
            end,
            until: now.monotonic + PATIENCE,
            next: Some(now.monotonic),
            fetches: 0,
        }
    }
}

impl A2a {
    /// Returns when something about a waiting end is due.
    pub(super) fn next_fetch(&self) -> Option<Duration> {
        let endings = self.tasks.values().filter_map(|task| task.ending.as_ref());
        let due = endings.map(|it| {
            let next = it.next.filter(|_| self.is_up);
            next.map_or(it.until, |next| next.min(it.until))
        });
        due.min()
    }

    /// Fetches the tasks whose end waits, and announces the ends that have waited long enough.
    pub(super) fn fetch_what_is_due(&mut self, cx: &mut Cx<'_>) {
        let waiting = self.tasks.values().filter(|task| task.ending.is_some());
        let waiting: Vec<String> = waiting.map(|task| task.id.clone()).collect();
        for id in waiting {
            self.fetch(&id, cx);
        }
    }

    /// Fetches a task whose end waits, if that is due.
    pub(super) fn fetch(&mut self, id: &str, cx: &mut Cx<'_>) {
        let has_room = self.is_up && self.has_room(false);
        let task = self.tasks.get_mut(id);
        let Some(ending) = task.and_then(|task| task.ending.as_mut()) else {
            return;
        };
        if cx.now.monotonic >= ending.until {
            return self.end_unfetched(id, cx);
        }
        if ending.next.is_none_or(|at| at > cx.now.monotonic) {
            return;
        }
        let Some(card) = self.card.as_ref().filter(|_| has_room) else {
            ending.next = Some(cx.now.monotonic + AGAIN);
            return;
        };
        ending.next = None;
        ending.fetches += 1;
        let number = self.numbers.fresh();
        let call = card.get(number, id);
        self.request(number, TaskRequest::Fetch(id.to_owned()), call, cx.out);
    }

    /// Handles the answer to a fetch.
    pub(super) fn fetched(
        &mut self,
        id: &str,
        outcome: &Result<HttpAnswer, Fault>,
        cx: &mut Cx<'_>,
    ) {
        let task = self.tasks.get_mut(id);
        let Some(task) = task.filter(|task| task.ending.is_some()) else {
            return;
        };
        let next = cx.now.monotonic + AGAIN;
        let again = |ending: &mut Option<PendingEnd>| {
            let may = |it: &&mut PendingEnd| it.fetches < MOST_FETCHES;
            match ending.as_mut().filter(may) {
                Some(ending) => {
                    ending.next = Some(next);
                    true
                }
                None => false,
            }
        };
        let answer = match outcome {
            Ok(answer) => messages::answer(&answer.body),
            Err(fault) => {
                if !again(&mut task.ending) {
                    self.end_unfetched(id, cx);
                }
                return self.doubt(fault, cx.out);
            }
        };
        match answer {
            RequestAnswer::Result(result) => {
                if let Some(ServerReport::Task(whole)) = messages::news(&result) {
                    task.completes(whole, cx);
                }
                if task.lacks_any_answer() && again(&mut task.ending) {
                    return;
                }
                match task.lacks_a_part() {
                    true => self.end_unfetched(id, cx),
                    false => self.end_fetched(id, cx),
                }
            }
            RequestAnswer::Refused(..) | RequestAnswer::Unread => self.end_unfetched(id, cx),
        }
    }

    /// Announces that something could not be fetched, and then the end.
    fn end_unfetched(&mut self, id: &str, cx: &mut Cx<'_>) {
        cx.out
            .push(DialectOutput::Announce(Phrase::new("a2a.not_fetched")));
        self.end_fetched(id, cx);
    }

    fn end_fetched(&mut self, id: &str, cx: &mut Cx<'_>) {
        if let Some(task) = self.tasks.get_mut(id)
            && let Some(PendingEnd { end, .. }) = task.ending.take()
        {
            task.end(end, cx);
        }
        self.rests(id, cx.out);
        self.settle_back(id, cx.out);
    }
}
