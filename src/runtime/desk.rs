//! The terminal under the linear face: keys come one by one, so that nothing is written while a line
//! is being typed.
//!
//! Responsibilities: the terminal's modes, taken and given back on every way out, around a stop and
//! after it; keys into a line by `keys::Typing`; the bytes of its echo. Not here: what a line means.
//!
//! Only the terminal's own echo and its collecting of lines are turned off. The keys for interrupt,
//! stop and quit stay the terminal's, and so does its handling of output. Where the terminal has no
//! echo of its own (Emacs's shell, expect), somebody else edits lines, and hearken reads whole ones.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crossterm::event::KeyEvent;

use crate::app::Input;
use crate::keys::{LineFeed, Scan, Stroke, Struck, Typed, Typing};
use crate::platform::keyboard::Keyboard;
use crate::platform::signals::{GoingOn, Stopping};
use crate::platform::terminal::{self, Modes};

/// How many keys that were typed ahead are thrown away at once.
const TYPED_AHEAD: usize = 4096;

const PASTE_ON: &str = "\x1b[?2004h";
const PASTE_OFF: &str = "\x1b[?2004l";

/// The terminal's modes as they were, for every way out, a panic too.
static BEFORE: Mutex<Option<Before>> = Mutex::new(None);

/// What is to be restored.
struct Before {
    modes: Modes,
    /// Whether the terminal was asked to mark pasted text.
    paste: bool,
}

/// Reads keys of a terminal as lines.
pub(super) struct Desk {
    keys: Keyboard,
    typing: Typing,
    /// The keys of scanning: they go to the app as keys, as long as no line is open.
    scan: Option<Scan>,
    echo: Vec<String>,
    stop: Stopping,
    resumed: GoingOn,
    /// Whether the next news of going on tells what is known: we stopped ourselves.
    stopped: bool,
}

/// Returns whether a line editor of ours fits this terminal.
pub(super) fn fits() -> bool {
    let emacs = std::env::var("INSIDE_EMACS").is_ok_and(|inside| inside.contains("comint"));
    let edits = Modes::now().is_ok_and(|modes| modes.edit_lines());
    edits && !emacs
}

impl Desk {
    /// Takes the terminal. Keys that come closer than `quiet` belong to one burst.
    ///
    /// # Errors
    /// When the terminal's modes can't be changed; it is as before then.
    pub(super) fn open(
        started: Instant,
        quiet: Duration,
        scan: Option<Scan>,
    ) -> anyhow::Result<Self> {
        let stop = Stopping::listen()?;
        let resumed = GoingOn::listen()?;
        let dumb = std::env::var("TERM").map_or(true, |term| term.is_empty() || term == "dumb");
        let modes = Modes::now()?;
        if let Ok(mut before) = BEFORE.lock() {
            *before = Some(Before {
                modes,
                paste: !dumb,
            });
        }
        take();
        let mut desk = Self {
            keys: Keyboard::open(LineFeed::Enter, started),
            typing: Typing::new(quiet),
            scan,
            echo: Vec::new(),
            stop,
            resumed,
            stopped: false,
        };
        desk.mark_paste();
        Ok(desk)
    }

    /// Waits for the next fact. What is to be written for it is in [`Desk::take_echo`].
    pub(super) async fn next(&mut self) -> Input {
        loop {
            tokio::select! {
                biased;
                () = self.stop.told() => {
                    restore();
                    self.stop.stop();
                    self.stopped = true;
                    return self.go_on();
                }
                () = self.resumed.told() => {
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

    /// Returns what is to be written for what was typed.
    pub(super) fn take_echo(&mut self) -> Vec<String> {
        std::mem::take(&mut self.echo)
    }

    /// Lets an open line go, because something must be written at once.
    pub(super) fn abandon(&mut self) {
        let (bytes, _) = self.typing.abandon();
        self.echo.push(bytes);
    }

    /// Goes to the row below an open line, because something is written meanwhile.
    pub(super) fn leave_line(&mut self) {
        if self.typing.is_open() {
            self.echo.push("\n".to_owned());
        }
    }

    /// Writes an open line anew where the cursor is.
    pub(super) fn take_line_up(&mut self) {
        let again = self.typing.again();
        self.echo.push(again.trim_start_matches('\n').to_owned());
    }

    /// Throws away what was typed ahead. A line that is open stays whole: half a line could mean
    /// something else than all of it.
    pub(super) fn flush(&mut self) {
        if self.typing.is_open() {
            return;
        }
        for _ in 0..TYPED_AHEAD {
            match self.keys.take() {
                Some(stroke) => self.typing.note(stroke.read),
                None => return,
            }
        }
    }

    fn stroke(&mut self, stroke: Stroke) -> Input {
        let read = stroke.read;
        match stroke.what {
            Struck::Key(key) if self.scans(key) => Input::Stroke(stroke),
            Struck::Key(key) => {
                let (bytes, typed) = self.typing.key(key, read, columns());
                self.typed(bytes, typed)
            }
            Struck::Paste(text) => {
                let (bytes, typed) = self.typing.paste(&text, read);
                self.typed(bytes, typed)
            }
            Struck::Place(..) => Input::Stroke(stroke),
            Struck::Stalled | Struck::Focus(_) | Struck::Noise => {
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

    fn typed(&mut self, bytes: String, typed: Typed) -> Input {
        if !bytes.is_empty() {
            self.echo.push(bytes);
        }
        match typed {
            // Nothing changed; the deadline input does no harm.
            Typed::Same => Input::Deadline,
            Typed::Begun => Input::LineBegun,
            Typed::Left => Input::LineLeft,
            Typed::Done { text, begun } => Input::Line { text, read: begun },
        }
    }

    /// Takes the terminal again after a stop, and shows what was being typed.
    fn go_on(&mut self) -> Input {
        take();
        self.mark_paste();
        self.echo.push(self.typing.again());
        Input::Deadline
    }

    /// Asks the terminal to mark what is pasted, so that no pasted line end is an Enter.
    fn mark_paste(&mut self) {
        if BEFORE
            .lock()
            .is_ok_and(|before| before.as_ref().is_some_and(|before| before.paste))
        {
            self.echo.push(PASTE_ON.to_owned());
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        restore();
    }
}

fn columns() -> u16 {
    terminal::size().map_or(0, |(columns, _)| columns)
}

/// Turns off the terminal's own echo and its collecting of lines.
fn take() {
    let Ok(before) = BEFORE.lock() else { return };
    if let Some(before) = before.as_ref() {
        before.modes.take_keys();
    }
}

/// Gives the terminal back as it was, if it was taken.
pub(super) fn restore() {
    let Ok(before) = BEFORE.lock() else { return };
    if let Some(before) = before.as_ref() {
        if before.paste {
            let _ = super::writer::write_at_once(PASTE_OFF.as_bytes().to_vec());
        }
        before.modes.restore();
    }
}
