//! Input from the person's hands: keys, switches and pastes.
//!
//! The folder: this struct and `scan_state` hold the key assignments and when the hands were last active; `key_presses`
//! and `scanning` turn input into commands, which `App` carries out. Not here: the tables of keys (`keys`), what a key
//! does to a line (`typing`).

mod key_presses;
pub(super) mod scan_state;
pub(super) mod scanning;

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent};

use crate::announce::AnnouncementId;
use crate::keys::{Command, Filter, KeyPress, KeyVerdict, Keymap, Mode};
use crate::session::QuestionId;

use scan_state::Scanning;

/// The key assignments, and when the hands were last active.
#[derive(Debug)]
pub(super) struct KeyInput {
    keymap: Keymap,
    filter: Filter,
    scanning: Scanning,
    /// When input other than a key was last read.
    last: Option<Duration>,
    /// Whether the last keys were letters that may be a word.
    is_in_word: bool,
}

impl KeyInput {
    /// Creates it with the person's keys and their filter.
    pub(super) fn new(keymap: Keymap, filter: Filter, scanning: Scanning) -> Self {
        Self {
            keymap,
            filter,
            scanning,
            last: None,
            is_in_word: false,
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

    /// Returns whether a key may continue a word that was typed without an open line: it follows letters, at
    /// least one of which was not for a question. A person who stops speech or hears details often answers at
    /// once.
    fn continues_word(
        &mut self,
        press: KeyPress,
        key: KeyEvent,
        command: Option<&Command>,
    ) -> bool {
        let is_for_question = matches!(
            command,
            Some(
                Command::Accept(_)
                    | Command::Reject(..)
                    | Command::RejectBecause(_)
                    | Command::Answer(..)
                    | Command::Choose(..)
                    | Command::Details(_)
                    | Command::NextQuestion
                    | Command::Stop
            )
        );
        let continues = press.follows_letter && self.is_in_word;
        let is_letter = matches!(key.code, KeyCode::Char(c) if c.is_alphabetic() || c == ' ');
        self.is_in_word = is_letter && (continues || !is_for_question);
        continues
    }

    /// Notes activity of the hands other than a key.
    fn note(&mut self, read: Duration) {
        self.last = self.last.max(Some(read));
    }
}
