//! The events that wait to be stored by the broker. Pure.
//!
//! Responsibilities: their order, the bound on their number and size, which ones give way when it is reached. Not here:
//! sending them (`publisher`).
//!
//! # Mental model
//! Events leave in the order in which they came, and stay here until the broker has confirmed that it stored them. If
//! the broker is away for long, text gives way first, then activity: returning watchers need the questions and the
//! ends. What gave way is counted, and the count is reported.

use std::collections::VecDeque;

/// The most events that wait.
const MOST_EVENTS: usize = 20_000;
/// The most bytes that wait.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// How long an event is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Precedence {
    /// It gives way first.
    Text,
    /// It gives way second.
    Activity,
    /// It gives way only to later ones of its kind.
    Essential,
}

/// An event on its way to the broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publication {
    /// The subject.
    pub subject: String,
    /// The id by which the broker recognises an event that it has stored before.
    pub id: String,
    /// The event as JSON text.
    pub text: String,
    /// How long it is kept.
    pub precedence: Precedence,
    /// The agent that asks, if the event is a question.
    pub asks: Option<String>,
}

impl Publication {
    fn size(&self) -> usize {
        self.subject.len() + self.id.len() + self.text.len()
    }
}

/// The events that wait, oldest first.
#[derive(Debug)]
pub(super) struct Outbox {
    waiting: VecDeque<Publication>,
    bytes: usize,
    /// How many gave way since that was last reported.
    left_out: u64,
    most_events: usize,
    most_bytes: usize,
}

impl Default for Outbox {
    fn default() -> Self {
        Self::bounded(MOST_EVENTS, MOST_BYTES)
    }
}

impl Outbox {
    fn bounded(most_events: usize, most_bytes: usize) -> Self {
        Self {
            waiting: VecDeque::new(),
            bytes: 0,
            left_out: 0,
            most_events,
            most_bytes,
        }
    }

    /// Adds an event after the others.
    pub(super) fn push(&mut self, publication: Publication) {
        self.bytes += publication.size();
        self.waiting.push_back(publication);
        while self.waiting.len() > self.most_events || self.bytes > self.most_bytes {
            self.give_way();
        }
    }

    /// Drops the oldest of the events that matter least.
    fn give_way(&mut self) {
        let least = self.waiting.iter().map(|one| one.precedence).min();
        let oldest = |one: &Publication| Some(one.precedence) == least;
        let Some(at) = self.waiting.iter().position(oldest) else {
            return;
        };
        if let Some(dropped) = self.waiting.remove(at) {
            self.bytes -= dropped.size();
            self.left_out += 1;
        }
    }

    /// Returns the next event to be sent.
    pub(super) fn pop(&mut self) -> Option<Publication> {
        let next = self.waiting.pop_front()?;
        self.bytes -= next.size();
        Some(next)
    }

    /// Puts events back that were sent and not confirmed: they are sent again, in their order.
    pub(super) fn put_back(&mut self, unconfirmed: impl DoubleEndedIterator<Item = Publication>) {
        for one in unconfirmed.rev() {
            self.bytes += one.size();
            self.waiting.push_front(one);
        }
    }

    /// Returns how many events wait.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Returns how many events gave way since the last call.
    pub(super) fn take_left_out(&mut self) -> u64 {
        std::mem::take(&mut self.left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: &str, precedence: Precedence) -> Publication {
        Publication {
            subject: "s".to_owned(),
            id: id.to_owned(),
            text: "0123456789".to_owned(),
            precedence,
            asks: None,
        }
    }

    fn ids(outbox: &mut Outbox) -> Vec<String> {
        std::iter::from_fn(|| outbox.pop())
            .map(|one| one.id)
            .collect()
    }

    #[test]
    fn what_is_not_confirmed_is_sent_again_in_order() {
        let mut outbox = Outbox::default();
        for id in ["1", "2", "3", "4"] {
            outbox.push(event(id, Precedence::Text));
        }
        let sent: Vec<Publication> = [outbox.pop(), outbox.pop()].into_iter().flatten().collect();
        outbox.put_back(sent.into_iter());
        assert_eq!(ids(&mut outbox), ["1", "2", "3", "4"]);
        assert_eq!(outbox.bytes, 0);
    }

    #[test]
    fn text_gives_way_before_activity_and_questions_last() {
        let mut outbox = Outbox::bounded(4, usize::MAX);
        let all = [
            ("question", Precedence::Essential),
            ("call", Precedence::Activity),
            ("text 1", Precedence::Text),
            ("text 2", Precedence::Text),
            ("end", Precedence::Essential),
            ("question 2", Precedence::Essential),
            ("question 3", Precedence::Essential),
            ("question 4", Precedence::Essential),
        ];
        for (id, precedence) in all {
            outbox.push(event(id, precedence));
        }
        assert_eq!(outbox.take_left_out(), 4);
        assert_eq!(outbox.take_left_out(), 0);
        let left = ["end", "question 2", "question 3", "question 4"];
        assert_eq!(ids(&mut outbox), left);
    }

    #[test]
    fn the_bytes_that_wait_are_bounded() {
        let mut outbox = Outbox::bounded(usize::MAX, 100);
        for n in 0..50 {
            outbox.push(event(&n.to_string(), Precedence::Text));
            assert!(outbox.bytes <= 100);
        }
        assert_eq!(outbox.take_left_out() + ids(&mut outbox).len() as u64, 50);
    }
}
