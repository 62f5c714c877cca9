//! Finding tasks and following them: the list, the stream of each, and looking again where there is none.
//!
//! Responsibilities: what is asked for when, what its answers mean, when everything is known again after a loss. Not here:
//! what a task becomes (`task`), the requests themselves (`wire`).
//!
//! # Mental model
//! A server tells of a task only whom it asks about that task. So the list is asked for every few seconds, and each task that
//! is at work gets its stream, which begins with all that is known of it. There are fewer streams than there may be tasks:
//! those without one are looked at again and again, and so is a task whose stream ended before the task did. What was asked
//! for before something newer came is older than that, and is not believed.
//!
//! # Tuning by symptom
//! Tasks are heard late: [`LIST`] is long. A server is asked too much: it, or [`LOOK`], is short.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use jiff::Timestamp;

use crate::acp::ending::End;
use crate::link::{Fault, HttpAnswer, Phrase};
use crate::protocol::Now;
use crate::{Out, Standing};

use super::client::{A2a, Asked};
use super::read::{self, Answer, News};

/// How often the list is asked for.
const LIST: Duration = Duration::from_secs(4);
/// After how long a task is looked at again, at first; each time twice as long, up to the second.
const LOOK: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(8));
/// After how long what found no room is tried again.
const ROOM: Duration = Duration::from_secs(1);
/// How many pages of the list are read at first: some hundreds of tasks, the last that changed.
const MOST_PAGES: usize = 4;
/// How many tasks that are over are remembered.
const MOST_SEEN: usize = 2048;
/// How many streams are for following tasks: the others are for what the person begins.
const MOST_FOLLOWING: usize = 6;
/// The code for a task that is not there (A2A 1.0, 5.4).
pub(super) const NO_TASK: i64 = -32001;

/// How a task is looked at.
#[derive(Debug, Default)]
pub struct Look {
    /// Its stream, by the number of the request.
    pub stream: Option<u64>,
    /// How much was heard of it.
    pub stirs: u64,
    /// When it is looked at next; absent where something is under way.
    pub next: Option<Duration>,
    /// Whether nothing was heard of it since the connection is there.
    pub is_stale: bool,
    /// How often in a row a stream of it ended, or looking brought nothing.
    fails: u32,
}

impl Look {
    fn wait(&self) -> Duration {
        let (first, most) = LOOK;
        (first * 2_u32.saturating_pow(self.fails.min(8))).min(most)
    }
}

/// What is known of the list.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// When it is asked for next; absent while it is, and where there is none.
    next: Option<Duration>,
    /// Whether there is none.
    is_missing: bool,
    /// Whether it was read once: what is not in it then begins later.
    is_known: bool,
    pages: usize,
    /// The newest time in the first one.
    newest: Option<Timestamp>,
    seen: BTreeSet<String>,
    order: VecDeque<String>,
}

impl Listing {
    /// Returns whether a task is known to be over.
    pub(super) fn is_seen(&self, id: &str) -> bool {
        self.seen.contains(id)
    }

    /// Takes note that a task is over.
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
    /// Begins to follow, after each connection.
    pub(super) fn begin(&mut self, now: Now, out: &mut Vec<Out>) {
        for task in self.tasks.values_mut() {
            task.look.is_stale = true;
            task.look.next = Some(now.monotonic);
            task.look.fails = 0;
        }
        if let Some(id) = self.only.clone() {
            if !self.listing.is_seen(&id) && self.task(&id, "", true, out).is_some() {
                self.look_now(&id, now, out);
            }
        } else {
            self.listing.pages = 0;
            self.list("", now, out);
        }
        self.look_at_what_is_due(now, out);
        self.send_all_held(out);
        self.settle_back("", out);
    }

    fn list(&mut self, page: &str, now: Now, out: &mut Vec<Out>) {
        self.listing.next = None;
        if self.listing.is_missing || self.only.is_some() {
            return;
        }
        if !self.has_room(false) {
            self.listing.next = Some(now.monotonic + ROOM);
            return;
        }
        let number = self.numbers.fresh();
        let call = self.card.as_ref().map(|card| card.list(number, page));
        match call {
            Some(Some(call)) => self.request(number, Asked::List, call, out),
            Some(None) => self.has_no_list(out),
            None => {}
        }
    }

    fn has_no_list(&mut self, out: &mut Vec<Out>) {
        if !std::mem::replace(&mut self.listing.is_missing, true) {
            out.push(Out::Tell(Phrase::new("a2a.no_list")));
        }
    }

    /// Takes a page of the list.
    pub(super) fn listed(
        &mut self,
        outcome: &Result<HttpAnswer, Fault>,
        now: Now,
        out: &mut Vec<Out>,
    ) {
        self.listing.next = Some(now.monotonic + LIST);
        let answer = match outcome {
            Ok(answer) => answer,
            Err(fault) => return self.doubt(fault, out),
        };
        let (tasks, next) = match read::answer(&answer.body) {
            Answer::Result(result) => match read::page(&result) {
                Some(page) => page,
                None => return self.has_no_list(out),
            },
            // Who has none says so in one of several ways, and once is enough.
            Answer::Refused(..) => {
                self.listing.next = None;
                return self.has_no_list(out);
            }
            Answer::Unread if (400..500).contains(&answer.status) => return self.has_no_list(out),
            Answer::Unread => return,
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
            // An old one may come up in the place of one that was taken off the list.
            if is_last && at.is_none_or(|at| Some(at) <= self.listing.newest) {
                self.listing.see(&task.id);
                continue;
            }
            begun.push((task, !self.listing.is_known));
        }
        // What began first is heard first.
        for (task, joins) in begun.into_iter().rev() {
            if self.task(&task.id, &task.context, joins, out).is_some() {
                self.look_now(&task.id, now, out);
            }
        }
        self.listing.pages += 1;
        let more = !next.is_empty() && !self.listing.is_known;
        if more && self.listing.pages < MOST_PAGES {
            return self.list(&next, now, out);
        }
        self.listing.is_known = true;
        self.settle_back("", out);
    }

    fn look_now(&mut self, id: &str, now: Now, out: &mut Vec<Out>) {
        if let Some(task) = self.tasks.get_mut(id) {
            task.look.next = Some(now.monotonic);
        }
        self.look(id, now, out);
    }

    /// Has everything looked at again, because something may have been missed.
    pub(super) fn look_again(&mut self, now: Now) {
        for task in self.tasks.values_mut() {
            task.interrupt();
            task.look.stream = None;
            task.look.next = Some(now.monotonic);
        }
    }

    /// Looks at a task: by its stream, where it can have one.
    fn look(&mut self, id: &str, now: Now, out: &mut Vec<Out>) {
        let streams = self.asked.values();
        let following = streams.filter(|it| matches!(it, Asked::Stream(..))).count();
        let has_room = following < MOST_FOLLOWING && self.has_room(true);
        let may_get = self.has_room(false);
        let (Some(card), Some(task)) = (&self.card, self.tasks.get_mut(id)) else {
            return;
        };
        if !self.is_up {
            task.look.next = None;
            return;
        }
        let stirs = task.look.stirs;
        // One that ended twice in a row is not asked for until something changes.
        if card.streams && has_room && task.look.fails < 2 {
            let number = self.numbers.fresh();
            let call = card.subscribe(number, id);
            task.look.stream = Some(number);
            task.look.next = None;
            self.request(number, Asked::Stream(id.to_owned(), stirs), call, out);
        } else if may_get {
            let number = self.numbers.fresh();
            let call = card.get(number, id);
            task.look.next = None;
            self.request(number, Asked::Get(id.to_owned(), stirs), call, out);
        } else {
            task.look.next = Some(now.monotonic + ROOM);
        }
    }

    /// Returns when something is looked at next.
    pub(super) fn next_look(&self) -> Option<Duration> {
        let tasks = self.tasks.values().filter_map(|task| task.look.next);
        tasks.chain(self.listing.next).min().filter(|_| self.is_up)
    }

    /// Looks at what it is time for.
    pub(super) fn look_at_what_is_due(&mut self, now: Now, out: &mut Vec<Out>) {
        if !self.is_up {
            return;
        }
        if self.listing.next.is_some_and(|at| at <= now.monotonic) {
            self.list("", now, out);
        }
        let due = |at: Option<Duration>| at.is_some_and(|at| at <= now.monotonic);
        let tasks = self.tasks.values().filter(|task| due(task.look.next));
        let tasks: Vec<String> = tasks.map(|task| task.id.clone()).collect();
        for id in tasks {
            self.look(&id, now, out);
        }
    }

    /// Takes a task as it was when it was asked for.
    pub(super) fn looked(
        &mut self,
        id: &str,
        stirs: u64,
        outcome: &Result<HttpAnswer, Fault>,
        now: Now,
        out: &mut Vec<Out>,
    ) {
        let Some(task) = self.tasks.get_mut(id) else {
            return;
        };
        if task.look.stream.is_none() {
            task.look.next = Some(now.monotonic + task.look.wait());
        }
        let answer = match outcome {
            Ok(answer) => answer,
            Err(fault) => return self.doubt(fault, out),
        };
        match read::answer(&answer.body) {
            Answer::Result(result) => {
                let is_news = task.look.stirs == stirs && task.look.stream.is_none();
                if let Some(news @ News::Task(_)) = read::news(&result).filter(|_| is_news) {
                    task.look.fails = task.look.fails.saturating_add(1);
                    self.tells(news, now, out);
                }
            }
            Answer::Refused(NO_TASK, _) => self.is_not_there(id, now, out),
            Answer::Refused(..) | Answer::Unread => {
                task.look.fails = task.look.fails.saturating_add(1);
            }
        }
        self.settle_back(id, out);
    }

    /// Ends a task that the server does not know any more.
    pub(super) fn is_not_there(&mut self, id: &str, now: Now, out: &mut Vec<Out>) {
        let Some(task) = self.tasks.get_mut(id) else {
            return;
        };
        if task.turn.is_none() && self.only.as_deref() == Some(id) {
            out.push(Out::Tell(Phrase::new("a2a.no_task")));
        }
        task.end(End::Gone, now, out);
        self.rests(id, out);
    }

    /// Takes the end of the stream of a task.
    pub(super) fn stream_ended(
        &mut self,
        request: u64,
        id: &str,
        stirs: u64,
        outcome: &Result<HttpAnswer, Fault>,
        now: Now,
        out: &mut Vec<Out>,
    ) {
        let Some(task) = self.tasks.get_mut(id) else {
            return;
        };
        if task.look.stream != Some(request) {
            return;
        }
        task.look.stream = None;
        task.interrupt();
        // One that told more than how the task stands was worth it.
        let told = task.look.stirs > stirs + 1;
        task.look.fails = if told { 0 } else { task.look.fails + 1 };
        let refused = match outcome {
            Ok(answer) if answer.body.is_empty() => false,
            Ok(_) | Err(_) => {
                // How it stands is asked for without a stream.
                task.look.fails = task.look.fails.max(2);
                true
            }
        };
        let wait = if refused {
            Duration::ZERO
        } else {
            task.look.wait()
        };
        task.look.next = Some(now.monotonic + wait);
        self.look_at_what_is_due(now, out);
    }

    /// Takes a request that got no answer: where nobody is there, the connection is not either.
    pub(super) fn doubt(&mut self, fault: &Fault, out: &mut Vec<Out>) {
        let is_gone = matches!(fault, Fault::Refused | Fault::UnknownHost | Fault::Closed);
        if is_gone && std::mem::replace(&mut self.is_up, false) {
            out.push(Out::Refuse(fault.clone()));
        }
    }

    /// Takes note that a task was heard of; once all were, after a loss, what they ask can be answered again.
    pub(super) fn settle_back(&mut self, id: &str, out: &mut Vec<Out>) {
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
            out.push(Out::Standing(Standing::Back));
        }
    }
}
