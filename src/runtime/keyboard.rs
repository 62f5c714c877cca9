//! The terminal's bytes, read on a thread of their own.
//!
//! Responsibilities: everything that the terminal sends, in its order and with the time at which it was
//! read, for as long as there is a terminal. Not here: where a key ends (`keys::Reader`), what it means
//! (`keys`), noticing that the terminal is gone where it does not say so (`screen`).
//!
//! The loop never reads the terminal itself: a key must be read when it is pressed, however busy the loop
//! is, because it is judged by that time.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::mpsc;

use crate::keys::{LineFeed, Reader, Stroke};

/// How many strokes wait for the loop; then the terminal's own buffer holds them.
const WAITING: usize = 1024;
/// How much is read at once: more than a terminal hands over.
const READ: usize = 4096;

/// Gives what the terminal sends. There is one at a time.
pub(super) struct Keyboard {
    strokes: mpsc::Receiver<Stroke>,
}

impl Keyboard {
    pub(super) fn open(feed: LineFeed, started: Instant) -> Self {
        let (sender, strokes) = mpsc::channel(WAITING);
        std::thread::spawn(move || {
            let mut reader = Reader::new(feed);
            let mut buffer = [0; READ];
            loop {
                let left = reader
                    .deadline()
                    .map(|at| at.saturating_sub(started.elapsed()));
                let more = match wait(left) {
                    Waited::InVain => Some(reader.expire(started.elapsed())),
                    Waited::Bytes => match rustix::io::read(rustix::stdio::stdin(), &mut buffer) {
                        Ok(0) => None,
                        Ok(count) => Some(reader.bytes(&buffer[..count], started.elapsed())),
                        Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => Some(Vec::new()),
                        Err(_) => None,
                    },
                    Waited::Gone => None,
                };
                let Some(strokes) = more else { return };
                for stroke in strokes {
                    if sender.blocking_send(stroke).is_err() {
                        return;
                    }
                }
            }
        });
        Self { strokes }
    }

    /// Waits for the next stroke; `None` when the terminal is gone.
    pub(super) async fn next(&mut self) -> Option<Stroke> {
        self.strokes.recv().await
    }

    /// Gives the next stroke that is already here.
    pub(super) fn take(&mut self) -> Option<Stroke> {
        self.strokes.try_recv().ok()
    }
}

enum Waited {
    /// Something can be read, if only the end.
    Bytes,
    /// Nothing came in time.
    InVain,
    /// There is nothing to wait for.
    Gone,
}

fn wait(left: Option<Duration>) -> Waited {
    // A time that can't be told is that of a sequence that ends now.
    let left = left.map(|left| Timespec::try_from(left).unwrap_or_default());
    let stdin = rustix::stdio::stdin();
    let mut watched = [PollFd::from_borrowed_fd(stdin, PollFlags::IN)];
    match poll(&mut watched, left.as_ref()) {
        Ok(0) | Err(rustix::io::Errno::INTR) => Waited::InVain,
        Ok(_) => Waited::Bytes,
        Err(_) => Waited::Gone,
    }
}
