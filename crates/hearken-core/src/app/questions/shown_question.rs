//! The question that keys are meant for, and how much of it was in sight in the full face.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::app::change_visibility::{SeenChanges, VisibleChange};
use crate::session::QuestionId;

/// The times after which an unanswered question rings again.
pub(super) const ALARMS: [Duration; 3] = [
    Duration::from_secs(30),
    Duration::from_secs(120),
    Duration::from_secs(300),
];

/// What a frame, once written, shows of the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionVisibility {
    /// Nothing: the terminal has no size, or its size or owner has changed.
    Blank,
    /// Something other than its words, such as the help or an answer that covers it, or no question.
    SideQuestion,
    /// The choices of this question, below its words. They are not a page of it.
    Choices(QuestionId),
    /// A page of it.
    Page(VisiblePage),
    /// The changes of this question, in place of its words. They are not a page of it.
    Change(QuestionId, VisibleChange),
}

/// The page of the shown question that is in sight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VisiblePage {
    /// The question.
    pub question: QuestionId,
    /// The page, from 0.
    pub page: usize,
    /// How many pages it has on this screen.
    pub pages: usize,
    /// A fingerprint of how the pages are cut: pages of another text or another size do not count together with
    /// these.
    pub cut: u64,
    /// Its changes, if they are in sight below its words.
    pub change: Option<VisibleChange>,
}

impl VisiblePage {
    /// Returns the only page of a question, with all its changes.
    pub fn single_page(question: QuestionId) -> Self {
        Self {
            question,
            page: 0,
            pages: 1,
            cut: 0,
            change: Some(VisibleChange::WHOLE),
        }
    }
}

/// The question that keys are meant for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownQuestion {
    /// The question.
    pub question: QuestionId,
    /// Since when it has been the shown one.
    pub since: Duration,
    /// The page on display, from 0, on a screen that is too small for all of it.
    pub page: usize,
    /// Since when a part of it has been in sight.
    in_sight: Option<Duration>,
    /// Since when it has been the shown one, or out of sight.
    awaited: Duration,
    pages: Pages,
    /// The stretch of its changes in the last frame.
    change: Option<VisibleChange>,
    /// The stretches of its changes in all frames.
    seen_changes: SeenChanges,
    /// How often the bell has rung again.
    alarms: usize,
}

/// The pages of a question that have been in sight.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Pages {
    /// No frame reported any.
    #[default]
    None,
    /// Some of the pages, all cut in the same way.
    Some {
        seen: BTreeSet<usize>,
        pages: usize,
        cut: u64,
    },
    /// All pages, cut in the same way.
    All,
}

impl ShownQuestion {
    /// Creates the state of a question that is shown from now on.
    pub(super) fn new(question: QuestionId, now: Duration) -> Self {
        Self {
            question,
            since: now,
            page: 0,
            in_sight: None,
            awaited: now,
            pages: Pages::None,
            change: None,
            seen_changes: SeenChanges::default(),
            alarms: 0,
        }
    }

    /// Returns since when a part of it has been in sight.
    pub(super) fn in_sight(&self) -> Option<Duration> {
        self.in_sight
    }

    /// Returns the pages of it that were in sight.
    pub(super) fn pages(&self) -> &Pages {
        &self.pages
    }

    /// Notes that a page has been in sight since `at`.
    pub(super) fn see(&mut self, drawn: VisiblePage, at: Duration) {
        self.in_sight.get_or_insert(at);
        self.note_change(drawn.change);
        self.pages.add(drawn);
    }

    /// Notes that a stretch of its changes has been in sight since `at`, in place of its words.
    pub(super) fn see_change(&mut self, drawn: VisibleChange, at: Duration) {
        self.in_sight.get_or_insert(at);
        self.note_change(Some(drawn));
    }

    fn note_change(&mut self, drawn: Option<VisibleChange>) {
        self.change = drawn;
        if let Some(drawn) = drawn {
            self.seen_changes.add(drawn);
        }
    }

    /// Returns the stretches of its changes that have been in sight.
    pub(super) fn seen_changes(&self) -> &SeenChanges {
        &self.seen_changes
    }

    /// Returns the stretch of its changes that was in sight last.
    pub(super) fn change(&self) -> Option<VisibleChange> {
        self.change
    }

    /// Notes that its choices have been in sight since `at`.
    pub(super) fn see_choices(&mut self, at: Duration) {
        self.in_sight.get_or_insert(at);
    }

    /// Returns since when it has been the shown one, or out of sight.
    pub(super) fn awaited(&self) -> Duration {
        self.awaited
    }

    /// Notes that nothing of it is in sight any more.
    pub(super) fn unsee(&mut self, at: Duration) {
        self.in_sight = None;
        self.awaited = at;
        self.change = None;
    }

    /// Returns when the bell rings again.
    pub(super) fn alarm(&self) -> Option<Duration> {
        ALARMS.get(self.alarms).map(|after| self.since + *after)
    }

    /// Notes that the bell rings again.
    pub(super) fn ring_again(&mut self) {
        self.alarms += 1;
    }
}

impl Pages {
    /// Adds a page that is in sight.
    pub(super) fn add(&mut self, drawn: VisiblePage) {
        let mut seen = match std::mem::take(self) {
            Self::Some { seen, pages, cut } if (pages, cut) == (drawn.pages, drawn.cut) => seen,
            Self::None | Self::Some { .. } => BTreeSet::new(),
            Self::All => {
                *self = Self::All;
                return;
            }
        };
        seen.insert(drawn.page);
        *self = if seen.len() >= drawn.pages {
            Self::All
        } else {
            Self::Some {
                seen,
                pages: drawn.pages,
                cut: drawn.cut,
            }
        };
    }
}
