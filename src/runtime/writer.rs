//! Lines to standard output by a thread of its own: a reader that stops reading must not stop keys,
//! signals and answers.
//!
//! Responsibilities: writing in order, telling how much waits, noticing that nobody reads any more or nothing can be
//! written.
//! Not here: what is written (`output`, `linear`), what follows from a full pipe (the loop reads no
//! source until there is room).

use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// How much may wait, in bytes, before no source is read any more: some thousand lines.
const ROOM: usize = 256 * 1024;
/// How long a reader may take nothing before the last lines are given up at the end.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often it is looked, at the end, whether the last lines are gone.
const LOOK: Duration = Duration::from_millis(5);

/// Is the way to the writing thread.
#[derive(Debug)]
pub(super) struct Writer {
    lines: Option<Sender<String>>,
    thread: Option<JoinHandle<()>>,
    state: Arc<State>,
}

/// Says why nothing more is written.
#[derive(Debug)]
pub(super) enum Broken {
    /// Nobody reads any more: the pipe is closed or the terminal is gone.
    Gone,
    /// What was to be written can't be: the disk is full, the file has its largest size.
    Failed(io::Error),
}

impl Broken {
    fn of(error: io::Error) -> Self {
        let terminal_gone = error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error());
        if error.kind() == io::ErrorKind::BrokenPipe || terminal_gone {
            Self::Gone
        } else {
            Self::Failed(error)
        }
    }
}

#[derive(Debug, Default)]
struct State {
    waiting: AtomicUsize,
    broken: Mutex<Option<Broken>>,
    changed: Notify,
}

impl State {
    /// Gives what broke; a lock that was poisoned still holds a whole value.
    fn lock(&self) -> MutexGuard<'_, Option<Broken>> {
        self.broken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Writer {
    /// Starts the thread over `out`.
    pub(super) fn new(mut out: impl Write + Send + 'static) -> Self {
        let (lines, taken) = channel::<String>();
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        let thread = std::thread::spawn(move || {
            for text in taken {
                let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
                shared.waiting.fetch_sub(text.len(), Ordering::AcqRel);
                let broken = written.err().map(Broken::of);
                let over = broken.is_some();
                if over {
                    *shared.lock() = broken;
                }
                shared.changed.notify_one();
                if over {
                    return;
                }
            }
        });
        Self {
            lines: Some(lines),
            thread: Some(thread),
            state,
        }
    }

    /// Hands text over without waiting.
    pub(super) fn write(&self, text: String) {
        self.state.waiting.fetch_add(text.len(), Ordering::AcqRel);
        if let Some(lines) = &self.lines {
            // This fails only when the thread is gone, and `is_broken` tells that.
            let _ = lines.send(text);
        }
    }

    /// Tells whether more may be read that will have to be written.
    pub(super) fn has_room(&self) -> bool {
        self.state.waiting.load(Ordering::Acquire) < ROOM
    }

    /// Takes the news that nothing more can be written, once.
    pub(super) fn broken(&self) -> Option<Broken> {
        self.state.lock().take()
    }

    /// Waits until something was written, or could not be.
    pub(super) async fn changed(&self) {
        self.state.changed.notified().await;
    }

    /// Waits for the last lines, as long as the reader takes some.
    pub(super) fn close(&mut self) {
        self.lines = None;
        let Some(thread) = self.thread.take() else {
            return;
        };
        let mut waiting = self.state.waiting.load(Ordering::Acquire);
        let mut since = Instant::now();
        while !thread.is_finished() && since.elapsed() < PATIENCE {
            std::thread::sleep(LOOK);
            let now = self.state.waiting.load(Ordering::Acquire);
            if now != waiting {
                waiting = now;
                since = Instant::now();
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::io::{Read, pipe};

    use super::*;

    #[test]
    fn everything_is_written_in_order_before_the_end() {
        let (mut reader, out) = pipe().unwrap();
        let mut writer = Writer::new(out);
        for n in 0..100 {
            writer.write(format!("{n}\n"));
        }
        writer.close();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        let wanted: String = (0..100).map(|n| format!("{n}\n")).collect();
        assert_eq!(text, wanted);
    }

    #[test]
    fn a_reader_that_stops_takes_the_room_and_gives_it_back() {
        let (mut reader, out) = pipe().unwrap();
        let writer = Writer::new(out);
        assert!(writer.has_room());
        for _ in 0..2 * ROOM / 1024 {
            writer.write("x".repeat(1024));
        }
        assert!(!writer.has_room());
        let mut taken = vec![0; 2 * ROOM];
        reader.read_exact(&mut taken).unwrap();
        let until = Instant::now() + Duration::from_secs(10);
        while !writer.has_room() {
            assert!(Instant::now() < until);
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_reader_that_is_gone_is_noticed() {
        let broken = after(io::ErrorKind::BrokenPipe);
        assert!(matches!(broken, Some(Broken::Gone)), "{broken:?}");
    }

    #[test]
    fn a_full_disk_is_no_reader_that_is_gone() {
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::FileTooLarge] {
            let broken = after(kind);
            let Some(Broken::Failed(error)) = broken else {
                panic!("{broken:?}");
            };
            assert_eq!(error.kind(), kind);
        }
    }

    /// Gives what becomes of a line where each write fails.
    fn after(kind: io::ErrorKind) -> Option<Broken> {
        struct Failing(io::ErrorKind);
        impl Write for Failing {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(self.0.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut writer = Writer::new(Failing(kind));
        writer.write("x".into());
        writer.close();
        writer.broken()
    }
}
