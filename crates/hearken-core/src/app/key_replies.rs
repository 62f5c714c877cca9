//! The answers to the last key: the pane shows them in a separate, temporary area.
//!
//! Responsibilities: what the area contains, and until when. Not here: the answers themselves, drawing the area
//! (`pane`).
//!
//! # Mental model
//! The transcript holds what agents did. Hearken's answer to a key is shown beside it until the next key, or
//! until something urgent comes. News replaces it only after there was time to read it, and never while a
//! question is shown: then the news waits behind the question anyway. Time alone never removes an answer,
//! because people read at different speeds. A danger is shown here as well, because a small screen has no other
//! place for it beside a question.

use std::sync::Arc;
use std::time::Duration;

use crate::announce::{Announcement, AnnouncementKind, Class, Presentation};

/// How long news leaves an answer on screen: as long as an answer that waits to be spoken is worth speaking.
const READ_IN: Duration = Duration::from_secs(10);
/// How many answers one key may have: the outcome of a decision, and every retry of it.
const MOST: usize = 8;

/// The answers to the last key, oldest first.
#[derive(Debug, Clone, Default)]
pub(super) struct KeyResponses {
    announcements: Vec<Arc<Announcement>>,
    /// Whether a question is shown.
    beside_question: bool,
    /// Whether the last frame had no room for that question.
    covers_question: bool,
}

impl KeyResponses {
    /// Returns the answers that are shown.
    pub(super) fn announcements(&self) -> &[Arc<Announcement>] {
        &self.announcements
    }

    /// Notes whether a question is shown.
    pub(super) fn note_question(&mut self, shown: bool) {
        self.beside_question = shown;
    }

    /// Notes whether a frame had no room for the question that is shown.
    pub(super) fn note_covered(&mut self, covered: bool) {
        self.covers_question = covered;
    }

    /// Returns whether a danger, which nobody asked for, covers the question that is shown.
    pub(super) fn hides_question(&self) -> bool {
        let mut shown = self.announcements.iter();
        self.beside_question
            && self.covers_question
            && shown.any(|shown| shown.kind == AnnouncementKind::Danger)
    }

    /// Handles an announcement: an answer is added, news may clear the area.
    pub(super) fn take(&mut self, told: &Arc<Announcement>) {
        // The note that an answer was sent belongs to the key's decision.
        let goes_on = told.class == Class::Outcome
            && told.kind == AnnouncementKind::Reply
            && told.aloud == Presentation::Spoken
            && !self.announcements.is_empty();
        if goes_on {
            self.add(told);
            return;
        }
        match (told.class, told.aloud) {
            (Class::Response, _) => self.add(told),
            (Class::Alert, _) => {
                self.announcements
                    .retain(|told| told.kind == AnnouncementKind::Danger);
                if told.kind == AnnouncementKind::Danger {
                    self.add(told);
                }
            }
            (
                Class::Outcome | Class::Activity | Class::Stream,
                Presentation::Heard | Presentation::Kept | Presentation::Echo,
            ) => {}
            (
                Class::Outcome | Class::Activity | Class::Stream,
                Presentation::Spoken | Presentation::Shown | Presentation::Seen,
            ) => {
                let read =
                    |last: &Arc<Announcement>| told.at.monotonic >= last.at.monotonic + READ_IN;
                if !self.beside_question && self.announcements.last().is_some_and(read) {
                    self.clear();
                }
            }
        }
    }

    fn add(&mut self, told: &Arc<Announcement>) {
        if self.announcements.len() == MOST {
            self.announcements.remove(0);
        }
        self.announcements.push(Arc::clone(told));
    }

    /// Removes all answers, as the next key does.
    pub(super) fn clear(&mut self) {
        self.announcements.clear();
    }
}
