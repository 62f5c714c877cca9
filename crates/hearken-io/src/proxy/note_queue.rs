//! The notes that wait for the listener, within a bound.
//!
//! Responsibilities: accepting notes without ever waiting, dropping lines for a slow listener, counting them. Not here:
//! writing them (`copier`).
//!
//! Mental model: once a line had to be dropped, all lines are dropped until the listener has received what waits: then
//! it is told how many it missed and which questions are open, and continues from there. Notes other than lines (who
//! decided what) are never dropped: there are only as many as questions, which the arbiter bounds, and as the
//! listener's own decisions.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::pipe_messages::{ListenerNote, Side};

/// The most bytes of lines that wait: several of the largest possible ones.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// The most notes that wait: a minute of a fast agent.
const MOST_NOTES: usize = 16 * 1024;

/// The listener's next item.
#[derive(Debug, PartialEq, Eq)]
pub enum QueuedNote {
    /// A note.
    Note(ListenerNote),
    /// The number of lines that it missed; the open questions follow.
    Missed(ListenerNote),
    /// Nothing more: the copying is over, or this listener is.
    Over,
}

/// The waiting notes.
#[derive(Debug, Default)]
pub struct NoteQueue {
    inner: Mutex<NoteQueueState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct NoteQueueState {
    waiting: VecDeque<ListenerNote>,
    bytes: usize,
    editor: u32,
    agent: u32,
    /// Whether a new listener must learn the open questions before anything else.
    begins: bool,
    /// How many listeners have ended.
    ended: u32,
    /// Whether a listener is running.
    is_heard: bool,
    over: bool,
    /// Whether no listener will run any more, so that nothing is kept.
    shut: bool,
}

impl NoteQueueState {
    fn has_missed(&self) -> bool {
        self.editor > 0 || self.agent > 0
    }

    fn put(&mut self, note: ListenerNote) {
        if self.shut {
            return;
        }
        if let Some((side, bytes)) = size(&note) {
            let full = self.bytes + bytes > MOST_BYTES || self.waiting.len() >= MOST_NOTES;
            if full || self.has_missed() {
                return self.miss(side, 1);
            }
            self.bytes += bytes;
        }
        self.waiting.push_back(note);
    }

    fn miss(&mut self, side: Side, count: u32) {
        let missed = match side {
            Side::Editor => &mut self.editor,
            Side::Agent => &mut self.agent,
        };
        *missed = missed.saturating_add(count);
    }
}

fn size(note: &ListenerNote) -> Option<(Side, usize)> {
    match note {
        ListenerNote::Line(side, line) => Some((*side, line.len())),
        ListenerNote::Asked { line, .. } => Some((Side::Agent, line.len())),
        ListenerNote::Answered { .. }
        | ListenerNote::Withheld(..)
        | ListenerNote::Left(_)
        | ListenerNote::TakenBack(_)
        | ListenerNote::Became(..)
        | ListenerNote::Missed { .. }
        | ListenerNote::Standing { .. } => None,
    }
}

impl NoteQueue {
    /// Adds a note.
    pub fn put(&self, note: ListenerNote) {
        self.lock().put(note);
        self.changed.notify_all();
    }

    /// Adds a note for the listener with this number alone: the numbers in the note are its own.
    pub fn put_to(&self, number: u32, note: ListenerNote) {
        let mut inner = self.lock();
        if inner.ended > number {
            return;
        }
        inner.put(note);
        drop(inner);
        self.changed.notify_all();
    }

    /// Counts lines that can't be passed on.
    pub fn miss(&self, side: Side, count: u32) {
        if count > 0 {
            self.lock().miss(side, count);
            self.changed.notify_all();
        }
    }

    /// Prepares for a new listener, which knows nothing: notes that waited for the previous one count as missed.
    /// Returns its number.
    pub fn begin(&self) -> u32 {
        let mut inner = self.lock();
        if inner.ended > 0 {
            inner.begins = true;
            inner.bytes = 0;
            for note in std::mem::take(&mut inner.waiting) {
                if let Some((side, _)) = size(&note) {
                    inner.miss(side, 1);
                }
            }
        }
        inner.is_heard = true;
        inner.ended
    }

    /// Records that the listener with this number is gone.
    pub fn gone(&self, number: u32) {
        let mut inner = self.lock();
        if inner.ended <= number {
            inner.ended = number + 1;
            inner.is_heard = false;
        }
        drop(inner);
        self.changed.notify_all();
    }

    /// Waits for and returns the next note for the listener with this number.
    pub fn next(&self, number: u32) -> QueuedNote {
        let mut inner = self.lock();
        loop {
            if inner.ended > number {
                return QueuedNote::Over;
            }
            let news = match inner.begins {
                true => None,
                false => inner.waiting.pop_front(),
            };
            if let Some(note) = news {
                inner.bytes -= size(&note).map_or(0, |(_, bytes)| bytes);
                if inner.waiting.is_empty() {
                    self.changed.notify_all();
                }
                return QueuedNote::Note(note);
            }
            if inner.begins || inner.has_missed() {
                let missed = ListenerNote::Missed {
                    editor: std::mem::take(&mut inner.editor),
                    agent: std::mem::take(&mut inner.agent),
                };
                inner.begins = false;
                return QueuedNote::Missed(missed);
            }
            if inner.over {
                return QueuedNote::Over;
            }
            inner = self
                .changed
                .wait(inner)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns whether nothing more will come.
    pub fn is_over(&self) -> bool {
        self.lock().over
    }

    /// Records that nothing more will come; waits up to `patience` for the listener to leave, and returns whether it
    /// did, or there is none.
    pub fn end(&self, patience: Duration) -> bool {
        let mut inner = self.lock();
        inner.over = true;
        self.changed.notify_all();
        let stays = |inner: &mut NoteQueueState| {
            !inner.shut && (inner.is_heard || !inner.waiting.is_empty())
        };
        let (mut inner, _) = self
            .changed
            .wait_timeout_while(inner, patience, stays)
            .unwrap_or_else(PoisonError::into_inner);
        !stays(&mut inner)
    }

    /// Records that no listener will run any more: nothing waits for one.
    pub fn shut(&self) {
        let mut inner = self.lock();
        inner.shut = true;
        inner.waiting = VecDeque::new();
        drop(inner);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, NoteQueueState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::pipe_messages::DecisionOutcome;
    use super::*;

    fn line(length: usize) -> ListenerNote {
        ListenerNote::Line(Side::Editor, vec![b'x'; length])
    }

    #[test]
    fn a_listener_that_is_slow_misses_lines_which_are_counted_and_no_decision() {
        let tap = NoteQueue::default();
        let number = tap.begin();
        for _ in 0..5 {
            tap.put(line(MOST_BYTES / 4));
        }
        tap.put(ListenerNote::TakenBack(1));
        // It would fit again, but notes after a gap come after the report of the gap.
        tap.put(ListenerNote::Asked {
            ticket: 2,
            line: Vec::new(),
        });
        let mut taken = Vec::new();
        for _ in 0..6 {
            taken.push(tap.next(number));
        }
        assert_eq!(taken[4], QueuedNote::Note(ListenerNote::TakenBack(1)));
        let missed = ListenerNote::Missed {
            editor: 1,
            agent: 1,
        };
        assert_eq!(taken[5], QueuedNote::Missed(missed));
        tap.put(line(1));
        assert_eq!(tap.next(number), QueuedNote::Note(line(1)));
        assert!(!tap.end(Duration::ZERO), "the listener is still there");
        assert_eq!(tap.next(number), QueuedNote::Over);
        std::thread::scope(|scope| {
            let ends = scope.spawn(|| tap.end(Duration::from_secs(60)));
            while !ends.is_finished() {
                tap.gone(number);
                tap.changed.notify_all();
                std::thread::yield_now();
            }
            assert!(ends.join().unwrap(), "it said that it leaves");
        });
    }

    #[test]
    fn a_new_listener_is_told_first_what_it_missed() {
        let tap = NoteQueue::default();
        let first = tap.begin();
        tap.put(line(1));
        tap.put(ListenerNote::Left(1));
        tap.gone(first);
        assert_eq!(tap.next(first), QueuedNote::Over);
        let second = tap.begin();
        assert_eq!((first, second), (0, 1));
        let missed = ListenerNote::Missed {
            editor: 1,
            agent: 0,
        };
        assert_eq!(tap.next(second), QueuedNote::Missed(missed));
        tap.put(line(2));
        assert_eq!(tap.next(second), QueuedNote::Note(line(2)));
        tap.put(line(3));
        assert!(!tap.end(Duration::ZERO));
        tap.shut();
        assert!(tap.end(Duration::ZERO));
    }

    #[test]
    fn what_became_of_a_listeners_decision_is_told_to_no_other() {
        let tap = NoteQueue::default();
        let first = tap.begin();
        tap.gone(first);
        let second = tap.begin();
        tap.put_to(first, ListenerNote::Became(1, DecisionOutcome::Decides));
        tap.put_to(second, ListenerNote::Became(1, DecisionOutcome::TooLate));
        let nothing = ListenerNote::Missed {
            editor: 0,
            agent: 0,
        };
        assert_eq!(tap.next(second), QueuedNote::Missed(nothing));
        assert_eq!(
            tap.next(second),
            QueuedNote::Note(ListenerNote::Became(1, DecisionOutcome::TooLate))
        );
    }

    #[test]
    fn the_number_of_notes_has_a_bound() {
        let tap = NoteQueue::default();
        for _ in 0..MOST_NOTES + 10 {
            tap.put(line(0));
        }
        assert_eq!(tap.lock().waiting.len(), MOST_NOTES);
        assert_eq!(tap.lock().editor, 10);
    }
}
