//! The question that keys are meant for, and how much of it was in sight of the full face.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::session::PromptId;

/// An unanswered question rings again after these times.
pub(super) const ALARMS: [Duration; 3] = [
    Duration::from_secs(30),
    Duration::from_secs(120),
    Duration::from_secs(300),
];

/// What a frame, once it was written, has in sight of the shown question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Showing {
    /// Nothing: the terminal has no size, or got another one, or is somebody else's.
    Blank,
    /// Something else than its words: the help, an answer that covers it, or there is no question.
    Aside,
    /// The choices of this question, below what it asks. That is no page of it.
    Choices(PromptId),
    /// A page of it.
    Page(Drawn),
}

/// Which page of the shown question is in sight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawn {
    /// The question.
    pub prompt: PromptId,
    /// The page, from 0.
    pub page: usize,
    /// How many pages it has on this screen.
    pub pages: usize,
    /// By what the pages are cut: those of another text or another size do not add up with these.
    pub cut: u64,
}

/// The question that keys are meant for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Which one.
    pub prompt: PromptId,
    /// Since when it is the shown one.
    pub since: Duration,
    /// Which page of it is on a screen that is too small for all of it, from 0.
    pub page: usize,
    /// Since when a part of it is in sight.
    in_sight: Option<Duration>,
    pages: Pages,
    /// How often the bell rang again.
    alarms: usize,
}

/// Which pages of a question were in sight.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Pages {
    /// No frame told of any.
    #[default]
    None,
    /// These of so many, of one cut.
    Some {
        seen: BTreeSet<usize>,
        pages: usize,
        cut: u64,
    },
    /// All of them, of one cut.
    All,
}

impl Shown {
    /// Shows a question from now on.
    pub(super) fn new(prompt: PromptId, now: Duration) -> Self {
        Self {
            prompt,
            since: now,
            page: 0,
            in_sight: None,
            pages: Pages::None,
            alarms: 0,
        }
    }

    /// Returns since when a part of it is in sight.
    pub(super) fn in_sight(&self) -> Option<Duration> {
        self.in_sight
    }

    /// Returns which pages of it were in sight.
    pub(super) fn pages(&self) -> &Pages {
        &self.pages
    }

    /// Takes note of a page that is in sight since then.
    pub(super) fn see(&mut self, drawn: Drawn, at: Duration) {
        self.in_sight.get_or_insert(at);
        self.pages.add(drawn);
    }

    /// Takes note that its choices are in sight since then.
    pub(super) fn see_choices(&mut self, at: Duration) {
        self.in_sight.get_or_insert(at);
    }

    /// Takes note that nothing of it is in sight any more.
    pub(super) fn unsee(&mut self) {
        self.in_sight = None;
    }

    /// Returns when the bell rings again.
    pub(super) fn alarm(&self) -> Option<Duration> {
        ALARMS.get(self.alarms).map(|after| self.since + *after)
    }

    /// Takes note that it rings again.
    pub(super) fn ring_again(&mut self) {
        self.alarms += 1;
    }
}

impl Pages {
    fn add(&mut self, drawn: Drawn) {
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
