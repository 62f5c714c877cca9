//! Where scanning is: what is in focus, and since when.

use std::time::Duration;

use crate::keys::{Mode, Scan, ScanKey};
use crate::session::PromptId;

/// A selection this soon after a step that came by itself was meant for what was there before.
const REACTION: Duration = Duration::from_millis(250);
/// How often automatic stepping goes round before it rests.
const ROUNDS: usize = 3;
/// Holds where scanning is.
#[derive(Debug, Clone, Default)]
pub(in crate::app) struct Scanning {
    keys: Option<Scan>,
    focus: Option<Focus>,
    /// The group of characters that was selected.
    group: Option<usize>,
}

/// What is in focus, and for which mode and question it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Focus {
    mode: Mode,
    shown: Option<PromptId>,
    at: usize,
    since: Duration,
    /// How many steps came by themselves.
    by_itself: usize,
}

impl Focus {
    /// Puts a place into focus.
    pub(super) fn new(
        mode: Mode,
        shown: Option<PromptId>,
        at: usize,
        since: Duration,
        by_itself: usize,
    ) -> Self {
        Self {
            mode,
            shown,
            at,
            since,
            by_itself,
        }
    }

    /// Returns the place among what can be done.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Counts the steps that came by themselves.
    pub(super) fn by_itself(&self) -> usize {
        self.by_itself
    }

    /// Returns whether a selection that was read then was meant for what was in focus before.
    pub(super) fn is_too_soon(&self, read: Duration) -> bool {
        self.by_itself > 0 && read < self.since + REACTION
    }

    /// Returns when the next step comes by itself; with so many things to do, it rests at last.
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

    /// Returns after how long it steps by itself.
    pub(super) fn auto(&self) -> Option<Duration> {
        self.keys.as_ref()?.auto
    }

    /// Returns what is in focus, as long as it is about what is there now.
    pub(super) fn focus(&self, mode: Mode, shown: Option<PromptId>) -> Option<Focus> {
        self.focus
            .filter(|focus| focus.mode == mode && focus.shown == shown)
    }

    /// Puts something into focus.
    pub(super) fn go_to(&mut self, focus: Focus) {
        self.focus = Some(focus);
    }

    /// Leaves nothing in focus.
    pub(super) fn leave(&mut self) {
        self.focus = None;
    }

    /// Returns the group of characters that is open.
    pub(super) fn group(&self) -> Option<usize> {
        self.group
    }

    /// Opens a group of characters.
    pub(super) fn open_group(&mut self, group: usize) {
        self.group = Some(group);
    }

    /// Closes the group of characters; tells whether one was open.
    pub(super) fn close_group(&mut self) -> bool {
        self.group.take().is_some()
    }
}
