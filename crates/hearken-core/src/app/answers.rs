//! What answers the last key: in the pane it has a place of its own, that goes away.
//!
//! Responsibilities: what stands there, and until when. Not here: what is answered, drawing it (`pane`).
//!
//! # Mental model
//! The transcript holds what agents did. What hearken says to a key stands beside it until the next key, or
//! until something urgent comes. News take its place only when there was time to read it, and never while a
//! question is shown: those wait behind it themselves. Time alone takes nothing away, because nobody reads
//! all at one pace.

use std::sync::Arc;
use std::time::Duration;

use crate::announce::{Aloud, Announcement, Class, Kind};

/// For this long news leave an answer in its place: as long as an answer that waits to be said is worth
/// saying.
const READ_IN: Duration = Duration::from_secs(10);
/// How many answers one key may have: what comes of a decision, and every retry of it.
const MOST: usize = 8;

/// The answers to the last key, oldest first.
#[derive(Debug, Clone, Default)]
pub(super) struct Answers {
    told: Vec<Arc<Announcement>>,
}

impl Answers {
    /// Returns what stands there.
    pub(super) fn told(&self) -> &[Arc<Announcement>] {
        &self.told
    }

    /// Takes what is told: an answer is added, news may take its place.
    pub(super) fn take(&mut self, told: &Arc<Announcement>, question_shown: bool) {
        // That it was sent belongs to the decision that the key made.
        let goes_on = told.class == Class::Outcome
            && told.kind == Kind::Reply
            && told.aloud == Aloud::Yes
            && !self.told.is_empty();
        if goes_on {
            self.add(told);
            return;
        }
        match (told.class, told.aloud) {
            (Class::Response, _) => self.add(told),
            (Class::Alert, _) => self.clear(),
            (
                Class::Outcome | Class::Activity | Class::Stream,
                Aloud::Heard | Aloud::Kept | Aloud::Echo,
            ) => {}
            (
                Class::Outcome | Class::Activity | Class::Stream,
                Aloud::Yes | Aloud::Shown | Aloud::Seen,
            ) => {
                let read =
                    |last: &Arc<Announcement>| told.at.monotonic >= last.at.monotonic + READ_IN;
                if !question_shown && self.told.last().is_some_and(read) {
                    self.clear();
                }
            }
        }
    }

    fn add(&mut self, told: &Arc<Announcement>) {
        if self.told.len() == MOST {
            self.told.remove(0);
        }
        self.told.push(Arc::clone(told));
    }

    /// Takes all of it away, as the next key does.
    pub(super) fn clear(&mut self) {
        self.told.clear();
    }
}
