//! The terminal's bytes, read on their own thread.
//!
//! Responsibilities: everything that the terminal sends, in order and with the time at which it was read, until the
//! terminal is gone. Not here: where a key ends (`keys::Reader`), what it means (`keys`), noticing the loss of a
//! terminal that does not report it (`terminal`).
//!
//! The main loop never reads the terminal itself: keys are judged by the time they were pressed, so each must be read
//! at that moment, however busy the loop is.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::mpsc;

use crate::keys::{KeyReader, LineFeed, Stroke};

/// Whether the terminal's replies arrive through this reader.
pub const REPLIES: bool = true;
/// The most strokes that wait for the loop; further ones stay in the terminal's own buffer.
const WAITING: usize = 1024;
/// The bytes that one read asks for: more than a terminal delivers.
const READ: usize = 4096;
/// The time that the reader may take to release the terminal: it only has to wake up.
const LETS_GO: Duration = Duration::from_millis(500);

/// The source of everything that the terminal sends. There is only one at a time.
pub struct Keyboard {
    strokes: mpsc::Receiver<Stroke>,
    /// A byte written here makes the reader release the terminal; the next one makes it read again. `None` if the
    /// system could not create a pipe.
    asks: Option<PipeWriter>,
    /// Reports that the reader has released the terminal.
    let_go: std::sync::mpsc::Receiver<()>,
}

impl Keyboard {
    /// Starts reading.
    pub fn open(feed: LineFeed, started: Instant) -> Self {
        let (sender, strokes) = mpsc::channel(WAITING);
        let (lets_go, let_go) = std::sync::mpsc::channel();
        let (mut asked, asks) = std::io::pipe().ok().unzip();
        std::thread::spawn(move || {
            let mut reader = KeyReader::new(feed);
            let mut buffer = [0; READ];
            loop {
                let left = reader
                    .deadline()
                    .map(|at| at.saturating_sub(started.elapsed()));
                let more = match wait(left, asked.as_ref()) {
                    WaitResult::Asked => {
                        if !rests(asked.as_mut(), &lets_go) {
                            return;
                        }
                        continue;
                    }
                    WaitResult::InVain => Some(reader.expire(started.elapsed())),
                    WaitResult::Bytes => {
                        match rustix::io::read(rustix::stdio::stdin(), &mut buffer) {
                            Ok(0) => None,
                            Ok(count) => Some(reader.bytes(&buffer[..count], started.elapsed())),
                            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {
                                Some(Vec::new())
                            }
                            Err(_) => None,
                        }
                    }
                    WaitResult::Gone => None,
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

    /// Stops reading because another program needs the terminal for a while; returns whether reading has certainly
    /// stopped.
    pub fn rest(&mut self) -> bool {
        // A late report from last time says nothing about now.
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

    /// Resumes reading the terminal.
    pub fn go_on(&mut self) {
        // Without the other end, nothing reads the terminal anyway.
        let _ = self.asks.as_mut().map(|asks| asks.write_all(&[0]));
    }

    /// Waits for the next stroke; `None` when the terminal is gone.
    pub async fn next(&mut self) -> Option<Stroke> {
        self.strokes.recv().await
    }

    /// Returns the next stroke that has already arrived.
    pub fn take(&mut self) -> Option<Stroke> {
        self.strokes.try_recv().ok()
    }
}

/// Leaves the terminal alone until it is wanted again; returns `false` if it never will be.
fn rests(asked: Option<&mut PipeReader>, lets_go: &std::sync::mpsc::Sender<()>) -> bool {
    let Some(asked) = asked else { return false };
    let mut byte = [0];
    asked.read_exact(&mut byte).is_ok()
        && lets_go.send(()).is_ok()
        && asked.read_exact(&mut byte).is_ok()
}

enum WaitResult {
    /// Input or the end of input can be read.
    Bytes,
    /// The reader is asked to release the terminal.
    Asked,
    /// Nothing arrived in time.
    InVain,
    /// Nothing is left to wait for.
    Gone,
}

fn wait(left: Option<Duration>, asked: Option<&PipeReader>) -> WaitResult {
    // A duration that can't be represented counts as zero: the sequence ends now.
    let left = left.map(|left| Timespec::try_from(left).unwrap_or_default());
    let stdin = rustix::stdio::stdin();
    let mut watched = vec![PollFd::from_borrowed_fd(stdin, PollFlags::IN)];
    watched.extend(asked.map(|asked| PollFd::new(asked, PollFlags::IN)));
    match poll(&mut watched, left.as_ref()) {
        Ok(0) | Err(rustix::io::Errno::INTR) => WaitResult::InVain,
        Ok(_) if watched.get(1).is_some_and(|it| !it.revents().is_empty()) => WaitResult::Asked,
        Ok(_) => WaitResult::Bytes,
        Err(_) => WaitResult::Gone,
    }
}
