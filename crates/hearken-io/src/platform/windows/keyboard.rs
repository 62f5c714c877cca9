//! The console's keys, read on a thread of their own.
//!
//! The console hands keys over as events, not as bytes: nothing has to be told apart. It marks no pasted text, so a paste
//! comes as keys; they come so close together that none of them answers a question.

use std::sync::mpsc as blocking;
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyEventKind, poll, read};
use tokio::sync::mpsc;

use super::signals::RESIZED;
use crate::keys::{LineFeed, Stroke, Struck};

/// How many strokes wait for the loop; then the console's own buffer holds them.
const WAITING: usize = 1024;
/// Whether the terminal's replies come through here: the system takes them for itself.
pub const REPLIES: bool = false;
/// How often it is looked whether somebody else wants the console: a wait for its events can't be broken off.
const LOOK: Duration = Duration::from_millis(50);
/// How long the reader may take to let go of the console: some looks.
const LETS_GO: Duration = Duration::from_millis(500);

/// Gives what the console sends. There is one at a time.
pub struct Keyboard {
    strokes: mpsc::Receiver<Stroke>,
    /// A word in it has the reader let go of the console, the next one take it again.
    asks: blocking::Sender<()>,
    /// Says that it has let go.
    let_go: blocking::Receiver<()>,
}

impl Keyboard {
    /// Begins to read. The console tells Enter and Ctrl-J apart by itself.
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
                        // What was typed meanwhile was meant for the other program.
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
                let Some(what) = struck(event) else { continue };
                let read = started.elapsed();
                if sender.blocking_send(Stroke { what, read }).is_err() {
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

    /// Reads the console no more, because somebody else does for a while; tells whether that is sure.
    pub fn rest(&mut self) -> bool {
        // What it said too late last time says nothing of now.
        while self.let_go.try_recv().is_ok() {}
        let rests = self.asks.send(()).is_ok() && self.let_go.recv_timeout(LETS_GO).is_ok();
        if !rests {
            self.go_on();
        }
        rests
    }

    /// Reads the console again.
    pub fn go_on(&mut self) {
        // Without its other end nobody reads anything.
        let _ = self.asks.send(());
    }

    /// Waits for the next stroke; `None` when the console is gone.
    pub async fn next(&mut self) -> Option<Stroke> {
        self.strokes.recv().await
    }

    /// Returns the next stroke that is already here.
    pub fn take(&mut self) -> Option<Stroke> {
        self.strokes.try_recv().ok()
    }
}

/// Returns what an event of the console is; nothing for a key that is let go and for another size, which is told elsewhere.
fn struck(event: Event) -> Option<Struck> {
    match event {
        Event::Key(key) if key.kind == KeyEventKind::Release => None,
        Event::Key(mut key) => {
            // A key that is held down counts as often as it repeats, as in any terminal.
            key.kind = KeyEventKind::Press;
            Some(Struck::Key(key))
        }
        Event::Paste(text) => Some(Struck::Paste(text)),
        Event::FocusGained => Some(Struck::Focus(true)),
        Event::FocusLost => Some(Struck::Focus(false)),
        Event::Mouse(_) => Some(Struck::Noise),
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
        let pressed = Struck::Key(key(KeyEventKind::Press));
        for kind in [KeyEventKind::Press, KeyEventKind::Repeat] {
            assert_eq!(struck(Event::Key(key(kind))), Some(pressed.clone()));
        }
        assert_eq!(struck(Event::Key(key(KeyEventKind::Release))), None);
        assert_eq!(struck(Event::Resize(1, 1)), None);
    }
}
