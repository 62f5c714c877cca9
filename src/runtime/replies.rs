//! Whether the terminal has shown what was written: it is asked for the cursor position, and replies once it has read
//! that far.
//!
//! Responsibilities: matching the terminal's replies to `CSI 6n` with what was written before each query, and
//! noticing a terminal that never replies. Not here: writing the query (`output`), finding the reply among the keys
//! (`keys`).
//!
//! # Mental model
//! A write returns when the system has taken the bytes; that does not mean that the terminal has read them. A terminal
//! that replies has read everything before the query, so only its reply counts. A terminal that has not replied to the
//! first query within [`PATIENCE`] is presumed never to reply, until it does; for such a terminal, the return of the
//! write counts.
//!
//! # Worked example
//! A terminal replies to the first frame, and is then stopped. A question is written into the buffer and `y` is
//! pressed: no reply has come, so the question does not count as shown, and neither does the key.

use std::collections::VecDeque;
use std::time::Duration;

/// How long to wait for the first reply: a distant terminal needs a tenth of that.
const PATIENCE: Duration = Duration::from_secs(1);
/// The most queries that may wait for replies; beyond that, the oldest are dropped.
const MOST: usize = 64;
/// The columns where the cursor is put for successive queries: the reply thus identifies its query.
const COLUMNS: std::ops::RangeInclusive<u16> = 3..=20;

/// Whether the terminal replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Habit {
    /// Not known yet; first queried at this time.
    Unknown(Option<Duration>),
    Replies,
    Silent,
}

/// The items that wait for the terminal's replies.
#[derive(Debug)]
pub(super) struct Replies<T> {
    habit: Habit,
    waiting: VecDeque<(u16, Duration, T)>,
    column: u16,
}

impl<T> Replies<T> {
    pub(super) fn new() -> Self {
        Self {
            habit: Habit::Unknown(None),
            waiting: VecDeque::new(),
            column: *COLUMNS.start(),
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

    /// Adds what was written before a query, and returns what now counts as shown, with the time.
    pub(super) fn written(&mut self, column: u16, item: T, at: Duration) -> Vec<(T, Duration)> {
        match self.habit {
            Habit::Silent => return vec![(item, at)],
            Habit::Unknown(None) => self.habit = Habit::Unknown(Some(at)),
            Habit::Unknown(Some(_)) | Habit::Replies => {}
        }
        self.waiting.push_back((column, at, item));
        while self.waiting.len() > MOST {
            self.waiting.pop_front();
        }
        self.due(at)
    }

    /// Handles a reply, and returns what it shows; `None` if no query was open, so that it is no reply.
    pub(super) fn reply(&mut self, column: u16, at: Duration) -> Option<Vec<(T, Duration)>> {
        if self.waiting.is_empty() {
            return match self.habit {
                // A late reply.
                Habit::Silent => {
                    self.habit = Habit::Replies;
                    Some(Vec::new())
                }
                Habit::Unknown(_) | Habit::Replies => None,
            };
        }
        self.habit = Habit::Replies;
        // A reply that matches no query belongs to the first.
        let query = self
            .waiting
            .iter()
            .rposition(|(asked, ..)| *asked == column)
            .unwrap_or(0);
        let shown = self.waiting.drain(..=query);
        Some(shown.map(|(_, _, item)| (item, at)).collect())
    }

    /// Returns what counts as shown because the terminal never replies.
    pub(super) fn due(&mut self, now: Duration) -> Vec<(T, Duration)> {
        if self.deadline().is_none_or(|at| now < at) {
            return Vec::new();
        }
        self.habit = Habit::Silent;
        self.waiting
            .drain(..)
            .map(|(_, at, item)| (item, at))
            .collect()
    }

    /// Returns when to stop waiting for the first reply.
    pub(super) fn deadline(&self) -> Option<Duration> {
        match self.habit {
            Habit::Unknown(Some(asked)) => Some(asked + PATIENCE),
            Habit::Unknown(None) | Habit::Replies | Habit::Silent => None,
        }
    }

    /// Drops what waits: the terminal has changed since.
    pub(super) fn forget(&mut self) {
        self.waiting.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn where_the_terminal_replies_only_its_reply_counts() {
        let mut replies = Replies::new();
        assert_eq!(replies.written(3, "a", ms(10)), []);
        assert_eq!(replies.reply(3, ms(20)), Some(vec![("a", ms(20))]));
        assert_eq!(replies.written(4, "b", ms(30)), []);
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
    fn a_reply_shows_everything_before_its_query() {
        let mut replies = Replies::new();
        for (column, item) in [(3, "a"), (4, "b"), (5, "c")] {
            replies.written(column, item, ms(1));
        }
        assert_eq!(
            replies.reply(4, ms(5)),
            Some(vec![("a", ms(5)), ("b", ms(5))])
        );
        // Some terminals always report the same position.
        assert_eq!(replies.reply(1, ms(6)), Some(vec![("c", ms(6))]));
    }

    #[test]
    fn where_it_never_replies_the_write_counts() {
        let mut replies = Replies::new();
        replies.written(3, "a", ms(10));
        assert_eq!(replies.deadline(), Some(ms(1010)));
        assert_eq!(replies.due(ms(1009)), []);
        assert_eq!(replies.due(ms(1010)), [("a", ms(10))]);
        assert_eq!(replies.written(4, "b", ms(2000)), [("b", ms(2000))]);
        // It was merely slow.
        assert_eq!(replies.reply(3, ms(3000)), Some(vec![]));
        assert_eq!(replies.written(5, "c", ms(3001)), []);
    }

    #[test]
    fn columns_differ_and_what_waits_is_bounded() {
        let mut replies = Replies::new();
        let columns: Vec<u16> = (0..20).map(|_| replies.next_column()).collect();
        assert_eq!(columns[..2], [3, 4]);
        assert_eq!(columns[18], 3);
        replies.written(3, 0, ms(0));
        replies.reply(3, ms(0));
        for item in 0..1000 {
            replies.written(3, item, ms(1));
        }
        assert_eq!(replies.waiting.len(), MOST);
        replies.forget();
        assert_eq!(replies.reply(3, ms(2)), None);
    }
}
