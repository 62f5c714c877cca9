//! Keys and pasted text as they come: filtered, told from scanning, and turned into commands.

use crossterm::event::KeyEvent;

use crate::keys::{self, Mode, Pass};
use crate::protocol::Now;

use super::App;

impl App {
    pub(super) fn key(&mut self, key: KeyEvent, now: Now) {
        let typing = matches!(self.mode, Mode::Editing(_) | Mode::Searching);
        let pass = self.filter.take(key, typing, now.monotonic);
        self.reviewing.note(now.monotonic);
        let Pass::Counts(before) = pass else { return };
        // Pasted text passes no filter, and starts the wait like a key.
        let before = before.max(self.last_paste);
        if let Some(scanned) = self.scanning.key(key) {
            self.scan(scanned, before, now);
            return;
        }
        self.aside = None;
        let command = keys::command(key, self.mode, &self.keymap);
        self.pressed(command, before, now);
    }

    pub(super) fn paste(&mut self, text: &str, now: Now) {
        self.last_paste = Some(now.monotonic);
        if matches!(self.mode, Mode::Editing(_) | Mode::Searching) {
            self.paste_into_line(text, now);
        }
    }
}
