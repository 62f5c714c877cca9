//! What the person's hands do: keys, switches, pastes, and typing a line.
//!
//! The folder: this struct and `scan` hold which keys there are and when a hand was at work; `pressing`,
//! `scanning` and `typing` make commands of them. Not here: the tables of keys (`keys`), commands (`commands`).

mod pressing;
pub(super) mod scan;
mod scanning;
mod typing;

use std::time::Duration;

use crossterm::event::KeyEvent;

use crate::keys::{Filter, Keymap, Pass, Press};

use scan::Scanning;

/// Which keys there are, and when a hand was at work.
#[derive(Debug)]
pub(super) struct Hands {
    keymap: Keymap,
    filter: Filter,
    scanning: Scanning,
    /// When something was read last that is no key.
    last: Option<Duration>,
}

impl Hands {
    /// Begins with the person's keys and how they are filtered.
    pub(super) fn new(keymap: Keymap, filter: Filter, scanning: Scanning) -> Self {
        Self {
            keymap,
            filter,
            scanning,
            last: None,
        }
    }

    /// Returns which keys stand for what.
    pub(super) fn keymap(&self) -> &Keymap {
        &self.keymap
    }

    fn scanning(&self) -> &Scanning {
        &self.scanning
    }

    fn scanning_mut(&mut self) -> &mut Scanning {
        &mut self.scanning
    }

    /// Takes other keys of scanning.
    #[cfg(test)]
    pub(super) fn set_scanning(&mut self, scanning: Scanning) {
        self.scanning = scanning;
    }

    /// Filters a key; `None` where it does not count. Whatever was read before it was a hand at work.
    fn take(&mut self, key: KeyEvent, typing: bool, read: Duration) -> Option<Press> {
        let Pass::Counts(press) = self.filter.take(key, typing, read) else {
            return None;
        };
        Some(Press {
            before: press.before.max(self.last),
            ..press
        })
    }

    /// Takes note of a hand at work without a key.
    fn note(&mut self, read: Duration) {
        self.last = self.last.max(Some(read));
    }
}
