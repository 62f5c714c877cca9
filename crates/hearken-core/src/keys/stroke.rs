//! A person's action at the keyboard, as the terminal's bytes show it.

use std::time::Duration;

use crossterm::event::KeyEvent;

/// One item that was read from the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stroke {
    /// What it is.
    pub input: TerminalInput,
    /// When its last byte was read, on the monotonic clock. It is judged by that time, however late it is
    /// handled.
    pub read: Duration,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalInput {
    /// A key.
    Key(KeyEvent),
    /// Pasted text: it never answers a question.
    Paste(String),
    /// A paste does not end: typed keys count as part of it until its end mark or Escape.
    Stalled,
    /// The terminal reports whether the person is looking at it.
    Focus(bool),
    /// The terminal reports its cursor position, as requested: row and column, from 1.
    Place(u16, u16),
    /// The left button of a mouse was pressed: the column and the row, from 1.
    Click(u16, u16),
    /// The wheel of a mouse was turned; `true` for up.
    Wheel(bool),
    /// Bytes that are not a key: an unfinished or unknown sequence, another mouse report, a stray byte. A hand is at
    /// work.
    Noise,
}

impl Stroke {
    /// Creates the stroke of a key.
    pub fn key(key: KeyEvent, read: Duration) -> Self {
        Self {
            input: TerminalInput::Key(key),
            read,
        }
    }
}
