//! Input from the person's hands: keys, switches and pastes.
//!
//! The folder: this struct and `scan_state` hold the key assignments and when the key_input were last active; `key_presses`
//! and `scanning` turn input into commands, which `App` carries out; `typed_words` tells words from keys. Not here: the
//! tables of keys (`keys`), what a key does to a line (`typing`).

mod key_presses;
pub(super) mod scan_state;
pub(super) mod scanning;
mod typed_words;

use std::time::Duration;

use crossterm::event::KeyEvent;

use crate::announce::{AnnouncementId, Segment};
use crate::keys::{Filter, KeyPress, KeyVerdict, Keymap, Mode};
use crate::session::QuestionId;

use scan_state::Scanning;
use typed_words::TypedWords;

/// The key assignments, and when the hands were last active.
#[derive(Debug)]
pub(super) struct KeyInput {
    keymap: Keymap,
    filter: Filter,
    scanning: Scanning,
    /// When input other than a key was last read.
    last: Option<Duration>,
    /// When the last key was read, if it was a digit.
    digit: Option<Duration>,
    /// The letters pressed a moment ago, which may be a word.
    words: TypedWords,
    /// The words that said what was changed by keys that may prove to be the first letters of a word.
    changes: Vec<Segment>,
}

impl KeyInput {
    /// Creates it with the person's keys and their filter.
    pub(super) fn new(keymap: Keymap, filter: Filter, scanning: Scanning) -> Self {
        Self {
            keymap,
            filter,
            scanning,
            last: None,
            digit: None,
            words: TypedWords::default(),
            changes: Vec::new(),
        }
    }

    /// Returns the key assignments.
    pub(super) fn keymap(&self) -> &Keymap {
        &self.keymap
    }

    /// Returns the announcement of the scanned item in focus.
    pub(super) fn scanned(&self, mode: Mode, shown: Option<QuestionId>) -> Option<AnnouncementId> {
        self.scanning.focus(mode, shown)?.announcement()
    }

    /// Returns whether the person scans.
    pub(super) fn scans(&self) -> bool {
        self.scanning.is_on()
    }

    fn scanning(&self) -> &Scanning {
        &self.scanning
    }

    fn scanning_mut(&mut self) -> &mut Scanning {
        &mut self.scanning
    }

    /// Replaces the scanning keys.
    #[cfg(test)]
    pub(super) fn set_scanning(&mut self, scanning: Scanning) {
        self.scanning = scanning;
    }

    /// Filters a key; `None` if it does not count. All earlier input counts as activity before the key.
    fn take(&mut self, key: KeyEvent, typing: bool, read: Duration) -> Option<KeyPress> {
        let KeyVerdict::Counts(press) = self.filter.take(key, typing, read) else {
            return None;
        };
        Some(KeyPress {
            before: press.before.max(self.last),
            ..press
        })
    }

    /// Notes activity of the hands other than a key.
    fn note(&mut self, read: Duration) {
        self.last = self.last.max(Some(read));
    }
}
