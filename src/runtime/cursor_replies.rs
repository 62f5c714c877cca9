//! Whether the terminal has shown what was written: it is asked for the cursor position, and replies once it has read
//! that far.
//!
//! Responsibilities: matching the terminal's replies to `CSI 6n` with what was written before each query, and noticing
//! a terminal that never replies. Not here: writing the query (`face_output`), finding the reply among the keys
//! (`keys`).
//!
//! # Mental model
//! A write returns when the system has taken the bytes; that does not mean that the terminal has read them. A terminal
//! that replies has read everything before the query, so only its reply counts. A terminal that has not replied to the
//! first query within [`PATIENCE`] is presumed never to reply, until it does; for such a terminal, the return of the
//! write counts.
//!
//! A query is registered before it is written, because its reply may arrive before the writing thread has reported the
//! write.
//!
//! # Worked example
//! A terminal replies to the first frame, and is then stopped. A question is written into the buffer and `y` is
//! pressed: no reply has come, so the question does not count as shown, and neither does the key.

use std::collections::VecDeque;
use std::time::Duration;

/// How long to wait for the first reply: a distant terminal needs a tenth of that.
const PATIENCE: Duration = Duration::from_secs(1);
/// The most queries that may wait for replies; beyond that, the reply to the next one serves for the oldest, too.
const MOST: usize = 64;
/// The columns where the cursor is put for successive queries: the reply thus identifies its query.
const COLUMNS: std::ops::RangeInclusive<u16> = 3..=20;

/// Whether the terminal replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReplyBehaviour {
    /// Not known yet; first queried at this time.
    Unknown(Option<Duration>),
    Replies,
    Silent,
}

/// A query in the output.
#[derive(Debug)]
struct Query<T> {
    number: u64,
    /// The column that its reply reports; `None` where the cursor stays where it is.
    column: Option<u16>,
    /// When the write returned.
    written: Option<Duration>,
    /// What was written before it; empty once that has been reported, or no longer counts.
    items: Vec<T>,
}

/// The queries that wait for the terminal's replies.
#[derive(Debug)]
pub(super) struct Replies<T> {
    habit: ReplyBehaviour,
    waiting: VecDeque<Query<T>>,
    column: u16,
    number: u64,
}

impl<T> Replies<T> {
    pub(super) fn new() -> Self {
        Self {
            habit: ReplyBehaviour::Unknown(None),
            waiting: VecDeque::new(),
            column: *COLUMNS.start(),
            number: 0,
        }
    }

    /// Returns the column for the next query.
    pub(super) fn next_column(&mut self) -> u16 {
        let column = self.column;
        self.column = if COLUMNS.contains(&(column + 1)) {
            column + 1
        } else {
            *COLUMNS.start()
        };
        column
    }

    /// Registers a query that is about to be written after an item, and returns its number.
    pub(super) fn query(&mut self, column: Option<u16>, item: T) -> u64 {
        self.number += 1;
        self.waiting.push_back(Query {
            number: self.number,
            column,
            written: None,
            items: vec![item],
        });
        if self.waiting.len() > MOST
            && let Some(oldest) = self.waiting.pop_front()
            && let Some(next) = self.waiting.front_mut()
        {
            next.items.splice(..0, oldest.items);
        }
        self.number
    }

    /// Notes that a query has been written, and returns what now counts as shown, with the time.
    pub(super) fn written(&mut self, number: u64, at: Duration) -> Vec<(T, Duration)> {
        let found = self.waiting.iter_mut().find(|query| query.number == number);
        // The reply may have come first.
        let Some(query) = found else {
            return Vec::new();
        };
        query.written = Some(at);
        match self.habit {
            ReplyBehaviour::Silent => query.items.drain(..).map(|item| (item, at)).collect(),
            ReplyBehaviour::Replies => Vec::new(),
            ReplyBehaviour::Unknown(asked) => {
                self.habit = ReplyBehaviour::Unknown(Some(asked.unwrap_or(at)));
                self.due(at)
            }
        }
    }

    /// Handles a reply, and returns what it shows; `None` if no query waits, which means that it is not a reply.
    pub(super) fn reply(&mut self, column: u16, at: Duration) -> Option<Vec<(T, Duration)>> {
        if self.waiting.is_empty() {
            return None;
        }
        self.habit = ReplyBehaviour::Replies;
        // A reply that matches no query belongs to the first.
        let query = self
            .waiting
            .iter()
            .rposition(|query| query.column == Some(column))
            .unwrap_or(0);
        let shown = self.waiting.drain(..=query);
        Some(
            shown
                .flat_map(|query| query.items)
                .map(|item| (item, at))
                .collect(),
        )
    }

    /// Returns what counts as shown because the terminal never replies.
    pub(super) fn due(&mut self, now: Duration) -> Vec<(T, Duration)> {
        if self.deadline().is_none_or(|at| now < at) {
            return Vec::new();
        }
        self.habit = ReplyBehaviour::Silent;
        // The queries stay: a terminal that is merely slow still replies to them.
        let mut shown = Vec::new();
        for query in &mut self.waiting {
            if let Some(at) = query.written {
                shown.extend(query.items.drain(..).map(|item| (item, at)));
            }
        }
        shown
    }

    /// Returns when to stop waiting for the first reply.
    pub(super) fn deadline(&self) -> Option<Duration> {
        match self.habit {
            ReplyBehaviour::Unknown(Some(asked)) => Some(asked + PATIENCE),
            ReplyBehaviour::Unknown(None) | ReplyBehaviour::Replies | ReplyBehaviour::Silent => {
                None
            }
        }
    }

    /// Returns whether a reply is still to come.
    pub(super) fn is_awaited(&self) -> bool {
        self.habit != ReplyBehaviour::Silent && !self.waiting.is_empty()
    }

    /// Drops what waits, because the terminal has changed since. The replies to it may still come.
    pub(super) fn forget(&mut self) {
        for query in &mut self.waiting {
            query.items.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Registers a query, and notes at once that it has been written.
    fn written<T>(
        replies: &mut Replies<T>,
        column: u16,
        item: T,
        at: Duration,
    ) -> Vec<(T, Duration)> {
        let number = replies.query(Some(column), item);
        replies.written(number, at)
    }

    #[test]
    fn where_the_terminal_replies_only_its_reply_counts() {
        let mut replies = Replies::new();
        assert_eq!(written(&mut replies, 3, "a", ms(10)), []);
        assert_eq!(replies.reply(3, ms(20)), Some(vec![("a", ms(20))]));
        assert_eq!(written(&mut replies, 4, "b", ms(30)), []);
        assert_eq!(
            replies.due(ms(900_000)),
            [],
            "it is stopped, and shows nothing"
        );
        assert_eq!(
            replies.reply(4, ms(900_001)),
            Some(vec![("b", ms(900_001))])
        );
        assert_eq!(replies.reply(4, ms(900_002)), None, "nothing was asked");
    }

    #[test]
    fn a_reply_before_the_write_is_reported_counts() {
        let mut replies = Replies::new();
        let first = replies.query(None, "a");
        assert_eq!(replies.reply(1, ms(5)), Some(vec![("a", ms(5))]));
        assert_eq!(replies.written(first, ms(6)), []);
        assert_eq!(replies.deadline(), None, "it replies");
        assert!(!replies.is_awaited());
        let second = replies.query(Some(3), "b");
        assert!(replies.is_awaited());
        assert_eq!(replies.reply(3, ms(7)), Some(vec![("b", ms(7))]));
        assert_eq!(replies.written(second, ms(8)), []);
    }

    #[test]
    fn a_reply_shows_everything_before_its_query() {
        let mut replies = Replies::new();
        for (column, item) in [(3, "a"), (4, "b"), (5, "c")] {
            written(&mut replies, column, item, ms(1));
        }
        assert_eq!(
            replies.reply(4, ms(5)),
            Some(vec![("a", ms(5)), ("b", ms(5))])
        );
        // Some terminals always report the same position.
        assert_eq!(replies.reply(1, ms(6)), Some(vec![("c", ms(6))]));
    }

    #[test]
    fn where_the_cursor_stays_each_reply_is_for_the_oldest_query() {
        let mut replies = Replies::new();
        let numbers = ["a", "b", "c"].map(|item| replies.query(None, item));
        for number in numbers {
            replies.written(number, ms(1));
        }
        assert_eq!(replies.reply(4, ms(5)), Some(vec![("a", ms(5))]));
        assert_eq!(replies.reply(4, ms(6)), Some(vec![("b", ms(6))]));
        assert_eq!(replies.reply(3, ms(7)), Some(vec![("c", ms(7))]));
        assert_eq!(replies.reply(3, ms(8)), None);
    }

    #[test]
    fn where_it_never_replies_the_write_counts() {
        let mut replies = Replies::new();
        assert_eq!(written(&mut replies, 3, "a", ms(10)), []);
        assert_eq!(replies.deadline(), Some(ms(1010)));
        assert_eq!(replies.due(ms(1009)), []);
        assert_eq!(replies.due(ms(1010)), [("a", ms(10))]);
        assert!(!replies.is_awaited(), "it may be silent for ever");
        assert_eq!(written(&mut replies, 4, "b", ms(2000)), [("b", ms(2000))]);
        // It was merely slow.
        assert_eq!(replies.reply(3, ms(3000)), Some(vec![]));
        assert_eq!(written(&mut replies, 5, "c", ms(3001)), []);
        assert_eq!(replies.reply(4, ms(3002)), Some(vec![]), "still for b");
        assert_eq!(replies.reply(5, ms(3003)), Some(vec![("c", ms(3003))]));
    }

    #[test]
    fn columns_differ_and_what_waits_is_bounded() {
        let mut replies = Replies::new();
        let columns: Vec<u16> = (0..20).map(|_| replies.next_column()).collect();
        assert_eq!(columns[..2], [3, 4]);
        assert_eq!(columns[18], 3);
        for item in 0..1000 {
            written(&mut replies, 3, item, ms(1));
        }
        assert_eq!(replies.waiting.len(), MOST);
        let items = replies.waiting.iter().map(|query| query.items.len());
        assert_eq!(items.sum::<usize>(), 1000, "none is lost");
        replies.forget();
        assert_eq!(
            replies.reply(3, ms(2)),
            Some(vec![]),
            "a reply, but to what no longer counts"
        );
        assert_eq!(replies.reply(3, ms(3)), None);
    }
}
