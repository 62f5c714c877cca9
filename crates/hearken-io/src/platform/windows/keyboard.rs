//! The console's keys, read on their own thread.
//!
//! The console delivers keys as events, not as bytes, so nothing has to be parsed. It does not mark pasted text, so a
//! paste arrives as keys, so close together that none of them answers a question.

use std::sync::mpsc as blocking;
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyEventKind, poll, read};
use tokio::sync::mpsc;

use super::system_signals::RESIZED;
use crate::keys::{LineFeed, Stroke, TerminalInput};

/// The most strokes that wait for the loop; further ones stay in the console's own buffer.
const WAITING: usize = 1024;
/// Whether the terminal's replies arrive through this reader: they do not, because the system consumes them.
pub const REPLIES: bool = false;
/// How often to check whether another program wants the console: a wait for its events can't be interrupted.
const LOOK: Duration = Duration::from_millis(50);
/// The time that the reader may take to release the console: several checks.
const LETS_GO: Duration = Duration::from_millis(500);

/// The source of everything that the console sends. There is only one at a time.
pub struct Keyboard {
    strokes: mpsc::Receiver<Stroke>,
    /// A message here makes the reader release the console; the next one makes it read again.
    asks: blocking::Sender<()>,
    /// Reports that the reader has released the console.
    let_go: blocking::Receiver<()>,
}

impl Keyboard {
    /// Starts reading. The console itself tells Enter and Ctrl-J apart.
    pub fn open(_feed: LineFeed, started: Instant) -> Self {
        let (sender, strokes) = mpsc::channel(WAITING);
        let (lets_go, let_go) = blocking::channel();
        let (asks, asked) = blocking::channel();
        std::thread::spawn(move || {
            loop {
                match asked.try_recv() {
                    Ok(()) => {
                        if lets_go.send(()).is_err() || asked.recv().is_err() {
                            return;
                        }
                        // Anything typed meanwhile was meant for the other program.
                        while matches!(poll(Duration::ZERO), Ok(true)) && read().is_ok() {}
                        continue;
                    }
                    Err(blocking::TryRecvError::Disconnected) => return,
                    Err(blocking::TryRecvError::Empty) => {}
                }
                let event = match poll(LOOK) {
                    Ok(false) => continue,
                    Ok(true) => read(),
                    Err(error) => Err(error),
                };
                let Ok(event) = event else { return };
                let Some(input) = terminal_input(event) else {
                    continue;
                };
                let read = started.elapsed();
                if sender.blocking_send(Stroke { input, read }).is_err() {
                    return;
                }
            }
        });
        Self {
            strokes,
            asks,
            let_go,
        }
    }

    /// Stops reading because another program needs the console for a while; returns whether reading has certainly
    /// stopped.
    pub fn rest(&mut self) -> bool {
        // A late report from last time says nothing about now.
        while self.let_go.try_recv().is_ok() {}
        let rests = self.asks.send(()).is_ok() && self.let_go.recv_timeout(LETS_GO).is_ok();
        if !rests {
            self.go_on();
        }
        rests
    }

    /// Resumes reading the console.
    pub fn go_on(&mut self) {
        // Without the other end, nothing reads the console anyway.
        let _ = self.asks.send(());
    }

    /// Waits for the next stroke; `None` when the console is gone.
    pub async fn next(&mut self) -> Option<Stroke> {
        self.strokes.recv().await
    }

    /// Returns the next stroke that has already arrived.
    pub fn take(&mut self) -> Option<Stroke> {
        self.strokes.try_recv().ok()
    }
}

/// Converts a console event; `None` for a released key and for a new size, which is reported elsewhere.
fn terminal_input(event: Event) -> Option<TerminalInput> {
    match event {
        Event::Key(key) if key.kind == KeyEventKind::Release => None,
        Event::Key(mut key) => {
            // A held key counts as often as it repeats, as in any terminal.
            key.kind = KeyEventKind::Press;
            Some(TerminalInput::Key(key))
        }
        Event::Paste(text) => Some(TerminalInput::Paste(text)),
        Event::FocusGained => Some(TerminalInput::Focus(true)),
        Event::FocusLost => Some(TerminalInput::Focus(false)),
        Event::Mouse(_) => Some(TerminalInput::Noise),
        Event::Resize(_, _) => {
            RESIZED.notify_one();
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    use super::*;

    #[test]
    fn a_key_counts_when_it_is_pressed_and_not_when_it_is_let_go() {
        let key = |kind| KeyEvent::new_with_kind(KeyCode::Char('y'), KeyModifiers::NONE, kind);
        let pressed = TerminalInput::Key(key(KeyEventKind::Press));
        for kind in [KeyEventKind::Press, KeyEventKind::Repeat] {
            assert_eq!(terminal_input(Event::Key(key(kind))), Some(pressed.clone()));
        }
        assert_eq!(terminal_input(Event::Key(key(KeyEventKind::Release))), None);
        assert_eq!(terminal_input(Event::Resize(1, 1)), None);
    }
}
