//! What the filter made of a stream's bytes and nobody has taken yet.
//!
//! Responsibilities: handing it from the filter, which is fed below the event source, to whoever reads the stream, in
//! its order. Not here: what is in it (`filter`), when there is more (the crate eventsource-client).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::link::Frame;

/// One thing that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Arrived {
    /// An event, whole. Its text may be empty.
    Event(Frame),
    /// An event was beyond the bound, and was left out here.
    Dropped,
    /// One comment or several: a sign of life.
    Comment,
}

/// Shares what came, which is at most what one piece of the body held: the next one is read when it is taken.
#[derive(Debug, Clone, Default)]
pub(super) struct Arrivals(Arc<Mutex<VecDeque<Arrived>>>);

impl Arrivals {
    /// Adds what came.
    pub(super) fn put(&self, arrived: Vec<Arrived>) {
        self.with(|waiting| waiting.extend(arrived));
    }

    /// Takes what came first.
    pub(super) fn take(&self) -> Option<Arrived> {
        self.with(VecDeque::pop_front)
    }

    /// Returns whether all of it was taken.
    pub(super) fn is_empty(&self) -> bool {
        self.with(|waiting| waiting.is_empty())
    }

    /// A lock that was poisoned still holds plain, whole values.
    fn with<T>(&self, run: impl FnOnce(&mut VecDeque<Arrived>) -> T) -> T {
        run(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
