//! The terminal of the full face: taken, given back, drawn on, and given up when it is gone.
//!
//! Responsibilities: every mode that the full face sets and its undoing on each way out; the bytes of frames
//! that the terminal shows as a whole (mode 2026). Not here: what is drawn (`pane`), when it is drawn (`runtime`),
//! writing it (`writer`), noticing that the terminal is gone (`platform`).
//!
//! Synchronized output is not asked for first: a terminal that does not know the mode ignores it, and the
//! answer to a question would come in among the keys.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange,
};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};

use crate::platform::terminal;

/// The most columns and rows that are drawn. A terminal can claim 65,535 of each, whose cells no machine
/// holds; these are more than a large screen has in the smallest letters, and fewer cells than 16 MiB.
const MOST: (u16, u16) = (800, 400);

/// The terminal while the full face has it.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Sheet>>,
    sheet: Sheet,
    taken: bool,
}

/// Takes what is drawn: the bytes of a frame are written as a whole, and elsewhere (`writer`), so that a
/// terminal that takes nothing stops nobody.
#[derive(Debug, Clone, Default)]
struct Sheet(Arc<Mutex<Vec<u8>>>);

impl Sheet {
    fn take(&self) -> Vec<u8> {
        self.0
            .lock()
            .map(|mut bytes| std::mem::take(&mut *bytes))
            .unwrap_or_default()
    }
}

impl Write for Sheet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut sheet = self.0.lock().map_err(|_| io::ErrorKind::Other)?;
        sheet.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the part of the terminal that is drawn on; `None` where it has none.
fn area() -> Option<Rect> {
    let (columns, rows) = terminal::size()?;
    let (columns, rows) = (columns.min(MOST.0), rows.min(MOST.1));
    (columns > 0 && rows > 0).then(|| Rect::new(0, 0, columns, rows))
}

impl Screen {
    /// Takes the terminal.
    pub(super) fn take() -> io::Result<Self> {
        enter()?;
        let sheet = Sheet::default();
        let options = TerminalOptions {
            viewport: Viewport::Fixed(area().unwrap_or_default()),
        };
        Ok(Self {
            terminal: Terminal::with_options(CrosstermBackend::new(sheet.clone()), options)?,
            sheet,
            taken: true,
        })
    }

    /// Returns the bytes of a frame that is shown as a whole; `None` where there is no place to show one.
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

    /// Makes the next frame a whole one, whatever became of the terminal meanwhile.
    pub(super) fn forget(&mut self) -> io::Result<()> {
        // Setting the size clears, too, without asking the terminal for the cursor: its answer would come
        // in among the keys.
        self.terminal.resize(area().unwrap_or_default())
    }

    /// Gives the terminal back for a while.
    pub(super) fn give_back(&mut self) {
        if std::mem::take(&mut self.taken) {
            restore();
        }
    }

    /// Takes it again, whatever became of it meanwhile; everything is drawn anew.
    pub(super) fn take_again(&mut self) -> io::Result<()> {
        enter()?;
        self.taken = true;
        self.forget()
    }

    /// Leaves a terminal that takes nothing any more: its modes can be given back, but no word be written.
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

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(
        io::stdout(),
        EnterAlternateScreen,
        EnableBracketedPaste,
        EnableFocusChange
    )
}

/// Undoes everything that the full face does to a terminal, as far as the terminal takes it.
pub(super) fn restore() {
    let mut undo = Vec::new();
    // A list of bytes takes everything.
    let _ = queue!(
        undo,
        EndSynchronizedUpdate,
        DisableFocusChange,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        Show
    );
    let _ = super::writer::write_at_once(undo);
    let _ = disable_raw_mode();
}
