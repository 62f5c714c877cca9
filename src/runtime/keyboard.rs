//! The terminal's keys, read on a thread of their own.
//!
//! Responsibilities: everything that the terminal sends (keys, pastes, sizes, focus) in its order, for as
//! long as there is a terminal. Not here: what a key means (`keys`), noticing that the terminal is gone
//! where it does not say so (`screen`).
//!
//! The loop never reads the terminal itself. A read waits inside a sequence that has only begun (what
//! Alt-[ sends never ends), and crossterm's own reading goes round without end where the terminal is gone
//! without a hang-up signal: a loop that is caught there announces nothing, answers nothing and never ends.

use crossterm::event::{Event, read};
use tokio::sync::mpsc;

/// How many events wait for the loop; then the terminal's own buffer holds them.
const WAITING: usize = 1024;

/// Gives what the terminal sends. There is one at a time.
pub(super) struct Keyboard {
    events: mpsc::Receiver<Event>,
}

impl Keyboard {
    pub(super) fn open() -> Self {
        let (sender, events) = mpsc::channel(WAITING);
        std::thread::spawn(move || {
            loop {
                match read() {
                    Ok(event) => {
                        if sender.blocking_send(event).is_err() {
                            return;
                        }
                    }
                    Err(error) => match error.kind() {
                        // A sequence that can't be read is no key, and a size that can't be had no size.
                        std::io::ErrorKind::Other | std::io::ErrorKind::Interrupted => {}
                        _ => return,
                    },
                }
            }
        });
        Self { events }
    }

    /// Waits for the next event; `None` when the terminal is gone.
    pub(super) async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// Gives the next event that is already here.
    pub(super) fn take(&mut self) -> Option<Event> {
        self.events.try_recv().ok()
    }
}
