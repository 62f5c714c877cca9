//! Where the person's attention is, and which alarms call for it.

use std::collections::BTreeSet;

use crate::app::Noticed;

/// Where the person's attention is, and what calls for it.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls {
    /// Whether the person looks at the terminal; most terminals only report changes.
    focused: Option<bool>,
    /// The subjects of the notifications that are out.
    notified: BTreeSet<Noticed>,
    /// The number of questions in the terminal's title.
    titled: usize,
}

impl Calls {
    /// Handles the terminal's report on whether the person looks at it.
    pub(super) fn focus(&mut self, on: bool) {
        self.focused = Some(on);
    }

    /// Returns whether the person certainly looks at the terminal.
    pub(super) fn is_focused(&self) -> bool {
        self.focused == Some(true)
    }

    /// Returns whether the person certainly looks elsewhere.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.focused == Some(false)
    }

    /// Notes that a notification is sent.
    pub(super) fn notify(&mut self, about: Noticed) {
        self.notified.insert(about);
    }

    /// Returns the notifications to take back, and forgets them.
    pub(super) fn withdraw(&mut self, is_over: impl Fn(Noticed) -> bool) -> Vec<Noticed> {
        let (over, still) = std::mem::take(&mut self.notified)
            .into_iter()
            .partition(|about| is_over(*about));
        self.notified = still;
        Vec::from_iter::<BTreeSet<Noticed>>(over)
    }

    /// Returns all notifications that are out, and forgets them.
    pub(super) fn leave(&mut self) -> Vec<Noticed> {
        self.withdraw(|_| true)
    }

    /// Sets how many questions wait; returns whether the title has to change.
    pub(super) fn title(&mut self, waiting: usize) -> bool {
        std::mem::replace(&mut self.titled, waiting) != waiting
    }

    /// Forgets the content of the title.
    pub(super) fn retitle(&mut self) {
        self.titled = 0;
    }
}
