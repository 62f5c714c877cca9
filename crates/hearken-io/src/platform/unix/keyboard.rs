//! The terminal's bytes, read on a thread of their own.
//!
//! Responsibilities: everything that the terminal sends, in its order and with the time at which it was
//! read, for as long as there is a terminal. Not here: where a key ends (`keys::Reader`), what it means
//! (`keys`), noticing that the terminal is gone where it does not say so (`terminal`).
//!
//! The loop never reads the terminal itself: a key must be read when it is pressed, however busy the loop
//! is, because it is judged by that time.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::mpsc;

use crate::keys::{LineFeed, Reader, Stroke};

/// Whether the terminal's replies come through here.
pub const REPLIES: bool = true;
/// How many strokes wait for the loop; then the terminal's own buffer holds them.
const WAITING: usize = 1024;
/// How much is read at once: more than a terminal hands over.
const READ: usize = 4096;
/// How long the reader may take to let go of the terminal: it only has to wake.
const LETS_GO: Duration = Duration::from_millis(500);

/// Gives what the terminal sends. There is one at a time.
pub struct Keyboard {
    strokes: mpsc::Receiver<Stroke>,
    /// A byte in it has the reader let go of the terminal, the next one take it again; absent where the system has no
    /// pipe to give.
    asks: Option<PipeWriter>,
    /// Says that it has let go.
    let_go: std::sync::mpsc::Receiver<()>,
}

impl Keyboard {
    /// Begins to read.
    pub fn open(feed: LineFeed, started: Instant) -> Self {
        let (sender, strokes) = mpsc::channel(WAITING);
        let (lets_go, let_go) = std::sync::mpsc::channel();
        let (mut asked, asks) = std::io::pipe().ok().unzip();
        std::thread::spawn(move || {
            let mut reader = Reader::new(feed);
            let mut buffer = [0; READ];
            loop {
                let left = reader
                    .deadline()
                    .map(|at| at.saturating_sub(started.elapsed()));
                let more = match wait(left, asked.as_ref()) {
                    Waited::Asked => {
                        if !rests(asked.as_mut(), &lets_go) {
                            return;
                        }
                        continue;
                    }
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
        Self {
            strokes,
            asks,
            let_go,
        }
    }

    /// Reads the terminal no more, because somebody else does for a while; tells whether that is sure.
    pub fn rest(&mut self) -> bool {
        // What it said too late last time says nothing of now.
        while self.let_go.try_recv().is_ok() {}
        let Some(asks) = &mut self.asks else {
            return false;
        };
        let rests = asks.write_all(&[0]).is_ok() && self.let_go.recv_timeout(LETS_GO).is_ok();
        if !rests {
            self.go_on();
        }
        rests
    }

    /// Reads the terminal again.
    pub fn go_on(&mut self) {
        // Without its other end nobody reads anything.
        let _ = self.asks.as_mut().map(|asks| asks.write_all(&[0]));
    }

    /// Waits for the next stroke; `None` when the terminal is gone.
    pub async fn next(&mut self) -> Option<Stroke> {
        self.strokes.recv().await
    }

    /// Returns the next stroke that is already here.
    pub fn take(&mut self) -> Option<Stroke> {
        self.strokes.try_recv().ok()
    }
}

/// Leaves the terminal alone until it is wanted again; false where nobody will want it.
fn rests(asked: Option<&mut PipeReader>, lets_go: &std::sync::mpsc::Sender<()>) -> bool {
    let Some(asked) = asked else { return false };
    let mut byte = [0];
    asked.read_exact(&mut byte).is_ok()
        && lets_go.send(()).is_ok()
        && asked.read_exact(&mut byte).is_ok()
}

enum Waited {
    /// Something can be read, if only the end.
    Bytes,
    /// It is asked to let go of the terminal.
    Asked,
    /// Nothing came in time.
    InVain,
    /// There is nothing to wait for.
    Gone,
}

fn wait(left: Option<Duration>, asked: Option<&PipeReader>) -> Waited {
    // A time that can't be told is that of a sequence that ends now.
    let left = left.map(|left| Timespec::try_from(left).unwrap_or_default());
    let stdin = rustix::stdio::stdin();
    let mut watched = vec![PollFd::from_borrowed_fd(stdin, PollFlags::IN)];
    watched.extend(asked.map(|asked| PollFd::new(asked, PollFlags::IN)));
    match poll(&mut watched, left.as_ref()) {
        Ok(0) | Err(rustix::io::Errno::INTR) => Waited::InVain,
        Ok(_) if watched.get(1).is_some_and(|it| !it.revents().is_empty()) => Waited::Asked,
        Ok(_) => Waited::Bytes,
        Err(_) => Waited::Gone,
    }
}
