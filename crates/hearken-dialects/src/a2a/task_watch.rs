//! Finding tasks and following them: the list, a stream for each task, and polling where there is no stream.
//!
//! Responsibilities: what is requested when, what the answers mean, and when everything is known again after a loss.
//! Not here: how a task develops (`task`), the requests themselves (`outgoing_requests`).
//!
//! # Mental model
//! A server reports on a task only to a client that asks about it. So the list is requested every few seconds, and each
//! active task gets its own stream, which starts with everything known about the task. There are fewer streams than
//! possible tasks: tasks without one are polled, and so is a task whose stream ended before the task did. The answer to
//! a poll is ignored if something newer arrived after the request was sent.
//!
//! # Tuning by symptom
//! Tasks are announced late: shorten [`LIST`]. A server gets too many requests: lengthen [`LIST`] or [`LOOK`].

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use jiff::Timestamp;

use crate::kit::turn_end::TurnEnd;
use crate::link::{Fault, HttpAnswer, Phrase};
use crate::protocol::Now;
use crate::{Cx, DialectOutput, OpenQuestionsChange};

use super::client::{A2a, TaskRequest};
use super::messages::{self, RequestAnswer, ServerReport};

/// How often the list is requested.
const LIST: Duration = Duration::from_secs(4);
/// The delay before a task is polled again: the first, doubled each time up to the second.
const LOOK: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(8));
/// The delay before a request that found no room is tried again.
const ROOM: Duration = Duration::from_secs(1);
/// How many pages of the list are read at first: a few hundred tasks, the most recently changed.
const MOST_PAGES: usize = 4;
/// How many finished tasks are remembered.
const MOST_SEEN: usize = 2048;
/// How many streams may follow tasks: the others are kept for what the person starts.
const MOST_FOLLOWING: usize = 6;
/// The error code for an unknown task (A2A 1.0, 5.4).
pub(super) const NO_TASK: i64 = -32001;

/// How a task is being followed.
#[derive(Debug, Default)]
pub struct TaskWatch {
    /// The request number of its stream.
    pub stream: Option<u64>,
    /// How many reports about the task were heard.
    pub stirs: u64,
    /// When the task is polled next; `None` while a request is pending.
    pub next: Option<Duration>,
    /// Whether nothing was heard about the task since the connection came up.
    pub is_stale: bool,
    /// How often in a row its stream ended or it was polled; this sets the delay.
    fails: u32,
}

impl TaskWatch {
    fn wait(&self) -> Duration {
        let (first, most) = LOOK;
        (first * 2_u32.saturating_pow(self.fails.min(8))).min(most)
    }
}

/// The state of the task list.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// When the list is requested next; `None` while a request is pending, or if the server has no list.
    next: Option<Duration>,
    /// Whether the server has no list.
    is_missing: bool,
    /// Whether the list was read once: a task that it lacked then is new.
    is_known: bool,
    pages: usize,
    /// The newest time on the first reading.
    newest: Option<Timestamp>,
    seen: BTreeSet<String>,
    order: VecDeque<String>,
}

impl Listing {
    /// Returns whether a task is known to be over.
    pub(super) fn is_seen(&self, id: &str) -> bool {
        self.seen.contains(id)
    }

    /// Records that a task is over.
    pub(super) fn see(&mut self, id: &str) {
        if self.seen.insert(id.to_owned()) {
            self.order.push_back(id.to_owned());
        }
        if self.order.len() > MOST_SEEN
            && let Some(oldest) = self.order.pop_front()
        {
            self.seen.remove(&oldest);
        }
    }
}

impl A2a {
    /// Starts following after each connection.
    pub(super) fn begin(&mut self, cx: &mut Cx<'_>) {
        for task in self.tasks.values_mut() {
            task.look.is_stale = true;
            task.look.next = Some(cx.now.monotonic);
            task.look.fails = 0;
        }
        if let Some(id) = self.only.clone() {
            if !self.listing.is_seen(&id) && self.task(&id, "", true, cx.out).is_some() {
                self.look_now(&id, cx);
            }
        } else {
            self.listing.pages = 0;
            self.list("", cx);
        }
        self.look_at_what_is_due(cx);
        self.send_all_held(cx.out);
        self.settle_back("", cx.out);
    }

    fn list(&mut self, page: &str, cx: &mut Cx<'_>) {
        self.listing.next = None;
        if self.listing.is_missing || self.only.is_some() {
            return;
        }
        if !self.has_room(false) {
            self.listing.next = Some(cx.now.monotonic + ROOM);
            return;
        }
        let number = self.numbers.fresh();
        let call = self.card.as_ref().map(|card| card.list(number, page));
        match call {
            Some(Some(call)) => self.request(number, TaskRequest::List, call, cx.out),
            Some(None) => self.has_no_list(cx.out),
            None => {}
        }
    }

    fn has_no_list(&mut self, out: &mut Vec<DialectOutput>) {
        if !std::mem::replace(&mut self.listing.is_missing, true) {
            out.push(DialectOutput::Announce(Phrase::new("a2a.no_list")));
        }
    }

    /// Handles a page of the list.
    pub(super) fn listed(&mut self, outcome: &Result<HttpAnswer, Fault>, cx: &mut Cx<'_>) {
        self.listing.next = Some(cx.now.monotonic + LIST);
        let answer = match outcome {
            Ok(answer) => answer,
            Err(fault) => return self.doubt(fault, cx.out),
        };
        let (tasks, next) = match messages::answer(&answer.body) {
            RequestAnswer::Result(result) => match messages::page(&result) {
                Some(page) => page,
                None => return self.has_no_list(cx.out),
            },
            // Servers without a list refuse in different ways; one refusal is enough.
            RequestAnswer::Refused(..) => {
                self.listing.next = None;
                return self.has_no_list(cx.out);
            }
            RequestAnswer::Unread if (400..500).contains(&answer.status) => {
                return self.has_no_list(cx.out);
            }
            RequestAnswer::Unread => return,
        };
        let mut begun = Vec::new();
        for task in tasks {
            let at = task.status.at.parse::<Timestamp>().ok();
            let is_last = task.status.state.is_last();
            if !self.listing.is_known {
                self.listing.newest = self.listing.newest.max(at);
                if is_last {
                    self.listing.see(&task.id);
                }
            }
            if self.tasks.contains_key(&task.id) || self.listing.is_seen(&task.id) {
                continue;
            }
            // An old task may move up when another is removed from the list.
            if is_last && at.is_none_or(|at| Some(at) <= self.listing.newest) {
                self.listing.see(&task.id);
                continue;
            }
            begun.push((task, !self.listing.is_known));
        }
        // The oldest task is announced first.
        for (task, joins) in begun.into_iter().rev() {
            if self.task(&task.id, &task.context, joins, cx.out).is_some() {
                self.look_now(&task.id, cx);
            }
        }
        self.listing.pages += 1;
        let more = !next.is_empty() && !self.listing.is_known;
        if more && self.listing.pages < MOST_PAGES {
            return self.list(&next, cx);
        }
        self.listing.is_known = true;
        self.settle_back("", cx.out);
    }

    fn look_now(&mut self, id: &str, cx: &mut Cx<'_>) {
        if let Some(task) = self.tasks.get_mut(id) {
            task.look.next = Some(cx.now.monotonic);
        }
        self.look(id, cx);
    }

    /// Polls every task again, because reports may have been missed.
    pub(super) fn look_again(&mut self, now: Now) {
        for task in self.tasks.values_mut() {
            task.interrupt();
            task.look.stream = None;
            task.look.next = Some(now.monotonic);
        }
    }

    /// Follows a task by a stream if one is available, otherwise polls it.
    fn look(&mut self, id: &str, cx: &mut Cx<'_>) {
        let streams = self.pending_requests.values();
        let following = streams
            .filter(|it| matches!(it, TaskRequest::Stream(..)))
            .count();
        let has_room = following < MOST_FOLLOWING && self.has_room(true);
        let may_get = self.has_room(false);
        let (Some(card), Some(task)) = (&self.card, self.tasks.get_mut(id)) else {
            return;
        };
        if !self.is_up {
            task.look.next = None;
            return;
        }
        if task.ending.is_some() {
            // It is fetched, and then over.
            task.look.next = None;
            return;
        }
        let stirs = task.look.stirs;
        // After two failures in a row, no stream is requested before the next connection.
        if card.streams && has_room && task.look.fails < 2 {
            let number = self.numbers.fresh();
            let call = card.subscribe(number, id);
            task.look.stream = Some(number);
            task.look.next = None;
            self.request(
                number,
                TaskRequest::Stream(id.to_owned(), stirs),
                call,
                cx.out,
            );
        } else if may_get {
            let number = self.numbers.fresh();
            let call = card.get(number, id);
            task.look.next = None;
            self.request(number, TaskRequest::Get(id.to_owned(), stirs), call, cx.out);
        } else {
            task.look.next = Some(cx.now.monotonic + ROOM);
        }
    }

    /// Returns when the next poll is due.
    pub(super) fn next_look(&self) -> Option<Duration> {
        let tasks = self.tasks.values().filter_map(|task| task.look.next);
        tasks.chain(self.listing.next).min().filter(|_| self.is_up)
    }

    /// Sends the polls that are due.
    pub(super) fn look_at_what_is_due(&mut self, cx: &mut Cx<'_>) {
        if !self.is_up {
            return;
        }
        if self.listing.next.is_some_and(|at| at <= cx.now.monotonic) {
            self.list("", cx);
        }
        let due = |at: Option<Duration>| at.is_some_and(|at| at <= cx.now.monotonic);
        let tasks = self.tasks.values().filter(|task| due(task.look.next));
        let tasks: Vec<String> = tasks.map(|task| task.id.clone()).collect();
        for id in tasks {
            self.look(&id, cx);
        }
    }

    /// Handles the answer to a poll; outdated answers are ignored.
    pub(super) fn looked(
        &mut self,
        id: &str,
        stirs: u64,
        outcome: &Result<HttpAnswer, Fault>,
        cx: &mut Cx<'_>,
    ) {
        let Some(task) = self.tasks.get_mut(id) else {
            return;
        };
        if task.look.stream.is_none() {
            task.look.next = Some(cx.now.monotonic + task.look.wait());
        }
        let answer = match outcome {
            Ok(answer) => answer,
            Err(fault) => return self.doubt(fault, cx.out),
        };
        match messages::answer(&answer.body) {
            RequestAnswer::Result(result) => {
                let is_news = task.look.stirs == stirs && task.look.stream.is_none();
                if let Some(news @ ServerReport::Task(_)) =
                    messages::news(&result).filter(|_| is_news)
                {
                    task.look.fails = task.look.fails.saturating_add(1);
                    self.tells(news, cx);
                }
            }
            RequestAnswer::Refused(NO_TASK, _) => self.is_not_there(id, cx),
            RequestAnswer::Refused(..) | RequestAnswer::Unread => {
                task.look.fails = task.look.fails.saturating_add(1);
            }
        }
        self.settle_back(id, cx.out);
    }

    /// Ends a task that the server no longer knows.
    pub(super) fn is_not_there(&mut self, id: &str, cx: &mut Cx<'_>) {
        let Some(task) = self.tasks.get_mut(id) else {
            return;
        };
        if task.turn.is_none() && self.only.as_deref() == Some(id) {
            cx.out
                .push(DialectOutput::Announce(Phrase::new("a2a.no_task")));
        }
        task.end(TurnEnd::Gone, cx);
        self.rests(id, cx.out);
    }

    /// Handles the end of a task's stream.
    pub(super) fn stream_ended(
        &mut self,
        request: u64,
        id: &str,
        stirs: u64,
        outcome: &Result<HttpAnswer, Fault>,
        cx: &mut Cx<'_>,
    ) {
        let Some(task) = self.tasks.get_mut(id) else {
            return;
        };
        if task.look.stream != Some(request) {
            return;
        }
        task.look.stream = None;
        task.interrupt();
        // A stream that reported more than the initial state was worth it.
        let told = task.look.stirs > stirs + 1;
        task.look.fails = if told { 0 } else { task.look.fails + 1 };
        let refused = match outcome {
            Ok(answer) if answer.body.is_empty() => false,
            Ok(_) | Err(_) => {
                // The state is then polled without a stream.
                task.look.fails = task.look.fails.max(2);
                true
            }
        };
        let wait = if refused {
            Duration::ZERO
        } else {
            task.look.wait()
        };
        task.look.next = Some(cx.now.monotonic + wait);
        self.look_at_what_is_due(cx);
    }

    /// Handles a request that got no answer: if the server is unreachable, the connection is down too.
    pub(super) fn doubt(&mut self, fault: &Fault, out: &mut Vec<DialectOutput>) {
        let is_gone = matches!(fault, Fault::Refused | Fault::UnknownHost | Fault::Closed);
        if is_gone && std::mem::replace(&mut self.is_up, false) {
            out.push(DialectOutput::Refuse(fault.clone()));
        }
    }

    /// Records that a task was heard of; after a loss, once all were, their questions can be answered again.
    pub(super) fn settle_back(&mut self, id: &str, out: &mut Vec<DialectOutput>) {
        if let Some(task) = self.tasks.get_mut(id) {
            task.look.is_stale = false;
        }
        let waits = self.tasks.values().any(|task| task.look.is_stale);
        if !self.was_lost || waits || !self.is_up {
            return;
        }
        self.was_lost = false;
        let mut turns = self.tasks.values().filter_map(|task| task.turn.as_ref());
        if turns.any(|turn| turn.asks()) {
            out.push(DialectOutput::Standing(OpenQuestionsChange::Back));
        }
    }
}
