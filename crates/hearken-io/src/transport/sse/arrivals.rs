//! What the filter found in a stream's bytes and has not been received yet.
//!
//! Responsibilities: passing it in order from the filter, which is fed below the event source, to the reader of the
//! stream. Not here: its content (`filter`), when there is more (the crate eventsource-client).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::link::Frame;

/// An item that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Arrived {
    /// A complete event. Its text may be empty.
    Event(Frame),
    /// An event beyond the bound was skipped here.
    Dropped,
    /// One or more comments: a sign of life.
    Comment,
}

/// The shared queue of arrivals, at most those in one piece of the body: the next piece is read when they have been
/// taken.
#[derive(Debug, Clone, Default)]
pub(super) struct Arrivals(Arc<Mutex<VecDeque<Arrived>>>);

impl Arrivals {
    /// Adds arrivals.
    pub(super) fn put(&self, arrived: Vec<Arrived>) {
        self.with(|waiting| waiting.extend(arrived));
    }

    /// Removes and returns the oldest arrival.
    pub(super) fn take(&self) -> Option<Arrived> {
        self.with(VecDeque::pop_front)
    }

    /// Returns whether everything has been taken.
    pub(super) fn is_empty(&self) -> bool {
        self.with(|waiting| waiting.is_empty())
    }

    /// Runs a function on the queue; a poisoned lock still contains plain, complete values.
    fn with<T>(&self, run: impl FnOnce(&mut VecDeque<Arrived>) -> T) -> T {
        run(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
