//! The terminal of the full face: taken, given back, drawn on, and given up when it is gone.
//!
//! Responsibilities: every mode that the full face sets and its undoing on each way out; frames that the
//! terminal shows as a whole (mode 2026); noticing that the terminal is gone. Not here: what is drawn
//! (`pane`), when it is drawn (`runtime`).
//!
//! Synchronized output is not asked for first: a terminal that does not know the mode ignores it, and the
//! answer to a question would come in among the keys.

use std::io::{self, Stdout};
use std::os::fd::AsFd;

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
use ratatui::{Frame, Terminal};
use rustix::event::{PollFd, PollFlags, poll};
use tokio::sync::mpsc;

/// Holds the terminal while the full face has it.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    taken: bool,
}

impl Screen {
    /// Takes the terminal.
    pub(super) fn take() -> io::Result<Self> {
        enter()?;
        Ok(Self {
            terminal: Terminal::new(CrosstermBackend::new(io::stdout()))?,
            taken: true,
        })
    }

    /// Draws a frame that is shown as a whole.
    pub(super) fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        queue!(io::stdout(), BeginSynchronizedUpdate)?;
        self.terminal.draw(render)?;
        execute!(io::stdout(), EndSynchronizedUpdate)
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
        // Setting the size clears, too, without asking the terminal for the cursor: its answer would come
        // in among the keys.
        let size = self.terminal.size()?;
        self.terminal
            .resize(Rect::new(0, 0, size.width, size.height))
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

/// Undoes everything that the full face does to a terminal; each step is tried whatever the others did.
pub(super) fn restore() {
    let _ = execute!(io::stdout(), EndSynchronizedUpdate);
    let _ = execute!(io::stdout(), DisableFocusChange);
    let _ = execute!(io::stdout(), DisableBracketedPaste);
    let _ = execute!(io::stdout(), LeaveAlternateScreen);
    let _ = execute!(io::stdout(), Show);
    let _ = disable_raw_mode();
}

/// Watches for the end of the terminal. Without a hang-up signal nothing else would tell: a terminal
/// that is gone reads as one without keys.
pub(super) fn watch_for_loss() -> mpsc::Receiver<()> {
    let (lost, told) = mpsc::channel(1);
    std::thread::spawn(move || {
        let out = io::stdout();
        loop {
            // No event is asked for: only an error or a hang-up ends the wait.
            let mut watched = [PollFd::from_borrowed_fd(out.as_fd(), PollFlags::empty())];
            match poll(&mut watched, None) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) | Err(_) => break,
            }
        }
        // The loop that would take it is over then.
        let _ = lost.blocking_send(());
    });
    told
}
