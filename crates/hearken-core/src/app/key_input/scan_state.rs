//! The state of scanning: what is in focus, and since when.

use std::time::Duration;

use crate::announce::AnnouncementId;
use crate::keys::{Mode, Scan, ScanKey};
use crate::session::QuestionId;

/// A selection this soon after an automatic step was meant for the item before it.
const REACTION: Duration = Duration::from_millis(250);
/// How many rounds automatic stepping makes before it rests.
const ROUNDS: usize = 3;
/// The state of scanning.
#[derive(Debug, Clone, Default)]
pub(in crate::app) struct Scanning {
    keys: Option<Scan>,
    focus: Option<Focus>,
    /// What was selected last.
    selected: Option<Focus>,
    /// The selected group of characters.
    group: Option<usize>,
}

/// One item that can be selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScanItem {
    /// A command, by its name in the table of keys.
    Named(&'static str),
    /// A choice of a question.
    Option(QuestionId, usize),
    /// A group of characters.
    Group(usize),
    /// A character.
    Letter(char),
    /// A prepared prompt.
    Prompt(usize),
    /// Delete the last character.
    Delete,
    /// Send the text.
    Send,
    /// Go back.
    Back,
}

/// The item in focus, with its mode and question.
#[derive(Debug, Clone, Copy)]
pub(super) struct Focus {
    mode: Mode,
    shown: Option<QuestionId>,
    item: ScanItem,
    since: Duration,
    /// The number of automatic steps so far.
    by_itself: usize,
    /// The item before it.
    before: Option<ScanItem>,
    /// The announcement of the item.
    announcement: Option<AnnouncementId>,
}

impl Focus {
    /// Creates a focus on an item.
    pub(super) fn new(
        mode: Mode,
        shown: Option<QuestionId>,
        item: ScanItem,
        since: Duration,
        by_itself: usize,
        before: Option<ScanItem>,
    ) -> Self {
        Self {
            mode,
            shown,
            item,
            since,
            by_itself,
            before,
            announcement: None,
        }
    }

    /// Returns the same place with an item that the person is to select once more.
    fn again(self, item: ScanItem, since: Duration) -> Self {
        Self {
            item,
            since,
            by_itself: 0,
            ..self
        }
    }

    /// Returns the announcement of the item.
    pub(super) fn announcement(&self) -> Option<AnnouncementId> {
        self.announcement
    }

    /// Returns the item.
    pub(super) fn item(&self) -> ScanItem {
        self.item
    }

    /// Returns the number of automatic steps so far.
    pub(super) fn by_itself(&self) -> usize {
        self.by_itself
    }

    /// Returns whether a selection read at this time was meant for the previous focus.
    pub(super) fn is_too_soon(&self, read: Duration) -> bool {
        self.by_itself > 0 && read < self.since + REACTION
    }

    /// Returns when the next automatic step is due; `None` after [`ROUNDS`] rounds through the items.
    pub(super) fn next_step(&self, auto: Duration, things: usize) -> Option<Duration> {
        let rests = self.by_itself >= ROUNDS * things;
        (!rests).then_some(self.since + auto)
    }
}

impl Scanning {
    pub(in crate::app) fn new(keys: Option<Scan>) -> Self {
        Self {
            keys,
            ..Self::default()
        }
    }

    pub(super) fn key(&self, key: crossterm::event::KeyEvent) -> Option<ScanKey> {
        self.keys.as_ref()?.key(key)
    }

    /// Returns whether any scanning keys are set.
    pub(super) fn is_on(&self) -> bool {
        self.keys.is_some()
    }

    /// Returns the time between automatic steps.
    pub(super) fn auto(&self) -> Option<Duration> {
        self.keys.as_ref()?.auto
    }

    /// Returns the focus, as long as it belongs to the current mode and question.
    pub(super) fn focus(&self, mode: Mode, shown: Option<QuestionId>) -> Option<Focus> {
        self.focus
            .filter(|focus| focus.mode == mode && focus.shown == shown)
    }

    /// Moves the focus.
    pub(super) fn go_to(&mut self, focus: Focus) {
        self.focus = Some(focus);
    }

    /// Notes the announcement of the item in focus.
    pub(super) fn note_told(&mut self, told: Option<AnnouncementId>) {
        if let Some(focus) = &mut self.focus {
            focus.announcement = told;
        }
    }

    /// Clears the focus by a selection.
    pub(super) fn select(&mut self) {
        self.selected = self.focus.take();
    }

    /// Returns to the item that a selection was meant for that came too soon.
    pub(super) fn go_back(&mut self, focus: Focus, read: Duration, now: Duration) -> ScanItem {
        let item = match focus.is_too_soon(read) {
            true => focus.before.unwrap_or(focus.item),
            false => focus.item,
        };
        self.focus = Some(focus.again(item, self.patiently(now)));
        item
    }

    /// Puts the item that was selected last in focus again, if that changed neither the mode nor the question.
    pub(super) fn restore(&mut self, mode: Mode, shown: Option<QuestionId>, now: Duration) {
        let is_here = |focus: &Focus| focus.mode == mode && focus.shown == shown;
        if let Some(focus) = self.selected.take().filter(is_here) {
            self.focus = Some(focus.again(focus.item, self.patiently(now)));
        }
    }

    /// Returns since when an item counts as in focus whose reason has to be heard first.
    fn patiently(&self, now: Duration) -> Duration {
        now + self.auto().unwrap_or_default()
    }

    /// Returns the group of characters that is open.
    pub(super) fn group(&self) -> Option<usize> {
        self.group
    }

    /// Opens a group of characters.
    pub(super) fn open_group(&mut self, group: usize) {
        self.group = Some(group);
    }

    /// Closes the group of characters; returns whether one was open.
    pub(super) fn close_group(&mut self) -> bool {
        self.group.take().is_some()
    }
}
