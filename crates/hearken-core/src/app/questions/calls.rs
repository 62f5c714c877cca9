//! Where the person's attention is, and what calls for it.

use std::collections::BTreeSet;

use crate::app::effect::Noticed;

/// Remembers where the person's attention is and what calls for it.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls {
    /// Whether the person looks at the terminal; most terminals only tell when that changes.
    focused: Option<bool>,
    /// What there is a notification of.
    notified: BTreeSet<Noticed>,
    /// How many questions the terminal's title counts.
    titled: usize,
}

impl Calls {
    /// Takes the terminal's word on whether the person looks at it.
    pub(super) fn focus(&mut self, on: bool) {
        self.focused = Some(on);
    }

    /// Returns whether the person surely looks at the terminal.
    pub(super) fn is_focused(&self) -> bool {
        self.focused == Some(true)
    }

    /// Returns whether the person surely looks elsewhere.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.focused == Some(false)
    }

    /// Takes note that a notification is sent.
    pub(super) fn notify(&mut self, about: Noticed) {
        self.notified.insert(about);
    }

    /// Returns what notifications are to be taken back, and forgets them.
    pub(super) fn withdraw(&mut self, is_over: impl Fn(Noticed) -> bool) -> Vec<Noticed> {
        let (over, still) = std::mem::take(&mut self.notified)
            .into_iter()
            .partition(|about| is_over(*about));
        self.notified = still;
        Vec::from_iter::<BTreeSet<Noticed>>(over)
    }

    /// Returns everything that is notified, and forgets it.
    pub(super) fn leave(&mut self) -> Vec<Noticed> {
        self.withdraw(|_| true)
    }

    /// Takes how many questions wait; tells whether the title is to say so anew.
    pub(super) fn title(&mut self, waiting: usize) -> bool {
        std::mem::replace(&mut self.titled, waiting) != waiting
    }

    /// Forgets what the title says.
    pub(super) fn retitle(&mut self) {
        self.titled = 0;
    }
}
