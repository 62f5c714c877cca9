//! The terminal under the linear face: keys are read one by one, so that nothing is written while a
//! line is being typed.
//!
//! Responsibilities: the terminal's modes, set and restored on every way out, around a stop and
//! after it; turning keys into lines with `keys::TypedLine`; the bytes of the echo. Not here: what a
//! line means.
//!
//! Only the terminal's echo and line buffering are turned off. The interrupt, stop and quit keys and
//! the output processing stay with the terminal. If the terminal has no echo of its own (Emacs's
//! shell, expect), another program edits the lines, and hearken reads whole ones.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::app::Input;
use crate::keys::{EditEffect, LineFeed, Scan, Stroke, TerminalInput, TypedLine};
use crate::platform::keyboard::Keyboard;
use crate::platform::system_signals::{ContinueSignal, SuspendSignal};
use crate::platform::terminal::{self, Modes};

use super::keyboard_modes;

/// The most typed-ahead keys that are discarded in one step.
const TYPED_AHEAD: usize = 4096;

const PASTE_ON: &str = "\x1b[?2004h";
const PASTE_OFF: &str = "\x1b[?2004l";

/// The terminal's original modes, for every way out, including a panic.
static BEFORE: Mutex<Option<SavedModes>> = Mutex::new(None);

/// What must be restored.
struct SavedModes {
    modes: Modes,
    /// Whether the terminal was asked to mark pasted text.
    paste: bool,
}

/// Reads keys from a terminal as lines.
pub(super) struct KeyLines {
    keys: Keyboard,
    typing: TypedLine,
    /// The scan keys: they go to the app as keys while no line is open.
    scan: Option<Scan>,
    echo: Vec<String>,
    /// The terminal's own replies that were found among what was typed ahead.
    replies: VecDeque<Stroke>,
    stop: SuspendSignal,
    resumed: ContinueSignal,
    /// Whether the next resume signal is already accounted for because we stopped ourselves.
    stopped: bool,
}

/// Returns whether our own line editor suits this terminal.
pub(super) fn fits() -> bool {
    let emacs = std::env::var("INSIDE_EMACS").is_ok_and(|inside| inside.contains("comint"));
    let edits = Modes::now().is_ok_and(|modes| modes.edit_lines());
    edits && !emacs
}

impl KeyLines {
    /// Takes over the terminal. Keys that arrive less than `quiet` apart belong to one burst.
    ///
    /// # Errors
    /// When the terminal's modes can't be changed; they are then as before.
    pub(super) fn open(
        started: Instant,
        quiet: Duration,
        scan: Option<Scan>,
    ) -> anyhow::Result<Self> {
        let stop = SuspendSignal::listen()?;
        let resumed = ContinueSignal::listen()?;
        let dumb = std::env::var("TERM").map_or(true, |term| term.is_empty() || term == "dumb");
        let modes = Modes::now()?;
        if let Ok(mut before) = BEFORE.lock() {
            *before = Some(SavedModes {
                modes,
                paste: !dumb,
            });
        }
        take();
        let mut desk = Self {
            keys: Keyboard::open(LineFeed::Enter, started),
            typing: TypedLine::new(quiet),
            scan,
            echo: Vec::new(),
            replies: VecDeque::new(),
            stop,
            resumed,
            stopped: false,
        };
        desk.mark_paste();
        Ok(desk)
    }

    /// Waits for the next fact. Its echo is then available from [`KeyLines::take_echo`].
    pub(super) async fn next(&mut self) -> Input {
        if let Some(reply) = self.replies.pop_front() {
            return self.stroke(reply);
        }
        loop {
            tokio::select! {
                biased;
                () = self.stop.received() => {
                    restore();
                    self.stop.stop();
                    self.stopped = true;
                    return self.go_on();
                }
                () = self.resumed.received() => {
                    if !std::mem::take(&mut self.stopped) {
                        return self.go_on();
                    }
                }
                stroke = self.keys.next() => match stroke {
                    Some(stroke) => return self.stroke(stroke),
                    // The terminal is gone.
                    None => return Input::Terminate,
                },
            }
        }
    }

    /// Returns the echo of what was typed.
    pub(super) fn take_echo(&mut self) -> Vec<String> {
        std::mem::take(&mut self.echo)
    }

    /// Drops an open line, because something must be written immediately.
    pub(super) fn abandon(&mut self) {
        let (bytes, _) = self.typing.abandon();
        self.echo.push(bytes);
    }

    /// Moves to the row below an open line, because output is about to be written.
    pub(super) fn leave_line(&mut self) {
        if self.typing.is_open() {
            self.echo.push("\n".to_owned());
        }
    }

    /// Redraws an open line at the cursor.
    pub(super) fn take_line_up(&mut self) {
        let again = self.typing.again();
        self.echo.push(again.trim_start_matches('\n').to_owned());
    }

    /// Discards what was typed ahead. An open line stays whole: half a line could mean something
    /// different. A reply of the terminal was not typed: without it, a question would never count as shown.
    pub(super) fn flush(&mut self) {
        if self.typing.is_open() {
            return;
        }
        for _ in 0..TYPED_AHEAD {
            match self.keys.take() {
                Some(stroke) if matches!(stroke.input, TerminalInput::Place(..)) => {
                    self.replies.push_back(stroke);
                }
                Some(stroke) => self.typing.note(stroke.read),
                None => return,
            }
        }
    }

    fn stroke(&mut self, stroke: Stroke) -> Input {
        let read = stroke.read;
        match stroke.input {
            TerminalInput::Key(key) if self.scans(key) => Input::Stroke(stroke),
            // In a mode of another program's, it comes as a key.
            TerminalInput::Key(key) if is_interrupt(key) => {
                self.abandon();
                Input::Interrupt
            }
            TerminalInput::Key(key) => {
                let (bytes, typed) = self.typing.key(key, read, columns());
                self.typed(bytes, typed)
            }
            TerminalInput::Paste(text) => {
                let (bytes, typed) = self.typing.paste(&text, read);
                self.typed(bytes, typed)
            }
            TerminalInput::Place(..) => Input::Stroke(stroke),
            TerminalInput::Stalled
            | TerminalInput::Focus(_)
            | TerminalInput::Click(..)
            | TerminalInput::Wheel(_)
            | TerminalInput::Noise => {
                self.typing.note(read);
                Input::Stroke(stroke)
            }
        }
    }

    fn scans(&self, key: KeyEvent) -> bool {
        let scanned = self
            .scan
            .as_ref()
            .is_some_and(|scan| scan.key(key).is_some());
        scanned && !self.typing.is_open()
    }

    fn typed(&mut self, bytes: String, typed: EditEffect) -> Input {
        if !bytes.is_empty() {
            self.echo.push(bytes);
        }
        match typed {
            // Nothing changed; the deadline input does no harm.
            EditEffect::Same => Input::Deadline,
            EditEffect::Begun => Input::LineBegun,
            EditEffect::Left => Input::LineLeft,
            EditEffect::Done { text, begun } => Input::Line { text, read: begun },
        }
    }

    /// Takes over the terminal again after a stop, and redraws the line that was being typed.
    fn go_on(&mut self) -> Input {
        take();
        self.mark_paste();
        self.echo.push(self.typing.again());
        Input::Deadline
    }

    /// Asks the terminal to mark pasted text, so that a pasted line end is not an Enter.
    fn mark_paste(&mut self) {
        if BEFORE
            .lock()
            .is_ok_and(|before| before.as_ref().is_some_and(|before| before.paste))
        {
            self.echo
                .push(format!("{}{PASTE_ON}", keyboard_modes::SET_ASIDE));
        }
    }
}

impl Drop for KeyLines {
    fn drop(&mut self) {
        restore();
    }
}

fn is_interrupt(key: KeyEvent) -> bool {
    let is_held = key.modifiers.contains(KeyModifiers::CONTROL);
    is_held && key.code == KeyCode::Char('c') && key.kind == KeyEventKind::Press
}

fn columns() -> u16 {
    terminal::size().map_or(0, |(columns, _)| columns)
}

/// Turns off the terminal's echo and line buffering.
fn take() {
    let Ok(before) = BEFORE.lock() else { return };
    if let Some(before) = before.as_ref() {
        before.modes.take_keys();
    }
}

/// Restores the terminal's original modes, if they were changed.
pub(super) fn restore() {
    let Ok(before) = BEFORE.lock() else { return };
    if let Some(before) = before.as_ref() {
        if before.paste {
            let undo = format!("{PASTE_OFF}{}", keyboard_modes::PUT_BACK);
            let _ = super::output_writer::write_at_once(undo.into_bytes());
        }
        before.modes.restore();
    }
}
