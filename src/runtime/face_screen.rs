//! The terminal of the full face: taken over, drawn on, restored, and given up when it is gone.
//!
//! Responsibilities: every mode that the full face sets, and undoing it on each way out; the bytes of frames that
//! the terminal shows as a whole (mode 2026). Not here: what is drawn (`pane`), when it is drawn (`runtime`),
//! writing it (`output_writer`), noticing that the terminal is gone (`platform`).
//!
//! The terminal is not asked first whether it supports synchronized output: if it does not, it ignores the mode,
//! and its reply would arrive among the keys.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange,
};
use crossterm::style::Print;
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};

use crate::config::MouseChoice;
use crate::platform::terminal;

use super::keyboard_modes;

/// The most columns and rows that are drawn. A terminal can claim 65,535 of each, more cells than any machine can
/// hold; these limits are more than a large screen has in the smallest font, and take less than 16 MiB.
const MOST: (u16, u16) = (800, 400);

/// The terminal while the full face has it.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<FrameBuffer>>,
    sheet: FrameBuffer,
    taken: bool,
    mouse: MouseChoice,
}

/// The drawing target: a frame's bytes are written as a whole, and elsewhere (`writer`), so that a terminal that
/// accepts nothing blocks nothing.
#[derive(Debug, Clone, Default)]
struct FrameBuffer(Arc<Mutex<Vec<u8>>>);

impl FrameBuffer {
    fn take(&self) -> Vec<u8> {
        self.0
            .lock()
            .map(|mut bytes| std::mem::take(&mut *bytes))
            .unwrap_or_default()
    }
}

impl Write for FrameBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut sheet = self.0.lock().map_err(|_| io::ErrorKind::Other)?;
        sheet.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the part of the terminal that is drawn on; `None` if its size is unknown or zero.
fn area() -> Option<Rect> {
    let (columns, rows) = terminal::size()?;
    let (columns, rows) = (columns.min(MOST.0), rows.min(MOST.1));
    (columns > 0 && rows > 0).then(|| Rect::new(0, 0, columns, rows))
}

impl Screen {
    /// Takes over the terminal.
    pub(super) fn take(mouse: MouseChoice) -> io::Result<Self> {
        enter(mouse)?;
        let sheet = FrameBuffer::default();
        let options = TerminalOptions {
            viewport: Viewport::Fixed(area().unwrap_or_default()),
        };
        Ok(Self {
            terminal: Terminal::with_options(CrosstermBackend::new(sheet.clone()), options)?,
            sheet,
            taken: true,
            mouse,
        })
    }

    /// Returns the bytes of a frame, to be shown as a whole; `None` if there is no area to draw on.
    pub(super) fn draw(
        &mut self,
        render: impl FnOnce(&mut Frame<'_>),
    ) -> io::Result<Option<String>> {
        let Some(area) = area() else { return Ok(None) };
        queue!(self.sheet, BeginSynchronizedUpdate)?;
        if area != self.terminal.get_frame().area() {
            self.terminal.resize(area)?;
        }
        self.terminal.draw(render)?;
        queue!(self.sheet, EndSynchronizedUpdate)?;
        let bytes = self.sheet.take();
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Makes the next frame a full redraw, whatever happened to the terminal meanwhile.
    pub(super) fn forget(&mut self) -> io::Result<()> {
        // Setting the size also clears, without asking the terminal for the cursor position: the reply would
        // arrive among the keys.
        self.terminal.resize(area().unwrap_or_default())
    }

    /// Restores the terminal for a while.
    pub(super) fn give_back(&mut self) {
        if std::mem::take(&mut self.taken) {
            restore();
        }
    }

    /// Takes over the terminal again, whatever happened to it meanwhile; everything is redrawn.
    pub(super) fn take_again(&mut self) -> io::Result<()> {
        enter(self.mouse)?;
        self.taken = true;
        self.forget()
    }

    /// Leaves a terminal that accepts nothing any more: its modes can be restored, but nothing can be written.
    pub(super) fn let_go(&mut self) {
        if std::mem::take(&mut self.taken) {
            let _ = disable_raw_mode();
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.give_back();
    }
}

fn enter(mouse: MouseChoice) -> io::Result<()> {
    enable_raw_mode()?;
    execute!(
        io::stdout(),
        Print(keyboard_modes::SET_ASIDE),
        EnterAlternateScreen,
        EnableBracketedPaste,
        EnableFocusChange,
        Print(keyboard_modes::mouse(mouse))
    )
}

/// Undoes everything that the full face does to a terminal, as far as the terminal accepts it.
pub(super) fn restore() {
    let mut undo = Vec::new();
    // Writing to a byte vector never fails.
    let _ = queue!(
        undo,
        EndSynchronizedUpdate,
        Print(keyboard_modes::MOUSE_BACK),
        DisableFocusChange,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        Print(keyboard_modes::PUT_BACK),
        Show
    );
    let _ = super::output_writer::write_at_once(undo);
    let _ = disable_raw_mode();
}
