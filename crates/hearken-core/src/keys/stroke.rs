//! What a hand did to the keyboard, as far as the terminal's bytes tell.

use std::time::Duration;

use crossterm::event::KeyEvent;

/// Tells one thing that was read from the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stroke {
    /// What it is.
    pub what: Struck,
    /// When its last byte was read, on the monotonic clock: it is judged by that, however late that is done.
    pub read: Duration,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Struck {
    /// A key.
    Key(KeyEvent),
    /// Pasted text: it never answers by itself.
    Paste(String),
    /// A paste does not end: what is typed passes for it until its end mark or Escape.
    Stalled,
    /// The terminal says whether the person looks at it.
    Focus(bool),
    /// The terminal says where its cursor is, because it was asked: row and column, from 1.
    Place(u16, u16),
    /// Bytes that are no key: an unfinished or unknown sequence, a mouse, a stray byte. A hand is at work.
    Noise,
}

impl Stroke {
    /// Makes one of a key.
    pub fn key(key: KeyEvent, read: Duration) -> Self {
        Self {
            what: Struck::Key(key),
            read,
        }
    }
}
