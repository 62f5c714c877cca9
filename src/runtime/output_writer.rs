//! Writes lines and frames to standard output on its own thread: a reader that stops reading must not
//! block keys, signals and answers.
//!
//! Responsibilities: writing in order, reporting how much waits and what has been written, noticing a
//! closed reader or a failed write. Not here: what is written (`face_output`, `linear`, `face_screen`), the
//! consequences of a full pipe (the loop reads no source until there is room).

use std::cell::RefCell;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::platform::terminal;

/// How many bytes may wait before the sources are no longer read: some thousand lines.
const ROOM: usize = 256 * 1024;
/// How long the reader may take nothing before the last lines are given up at the end.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often to check, at the end, whether the last lines are gone.
const LOOK: Duration = Duration::from_millis(5);
/// How long the last sequences to a terminal may take.
const AT_ONCE: Duration = Duration::from_millis(500);

/// The handle of the writing thread; `T` is what a piece of text shows.
#[derive(Debug)]
pub(super) struct OutputWriter<T> {
    lines: Option<Sender<SingleWrite<T>>>,
    /// The text gathered for a single write, while gathering.
    gathered: RefCell<Option<SingleWrite<T>>>,
    thread: Option<JoinHandle<()>>,
    state: Arc<WriterState<T>>,
}

/// A single write, with what it shows.
#[derive(Debug)]
struct SingleWrite<T> {
    text: String,
    shows: Vec<T>,
}

/// Why nothing more is written.
#[derive(Debug)]
pub(super) enum WriteFault {
    /// The reader is gone: the pipe is closed or the terminal has disappeared.
    Gone,
    /// The output can't be written: the disk is full, or the file has reached its size limit.
    Failed(io::Error),
}

impl WriteFault {
    fn of(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe || terminal::is_gone(&error) {
            Self::Gone
        } else {
            Self::Failed(error)
        }
    }
}

#[derive(Debug)]
struct WriterState<T> {
    waiting: AtomicUsize,
    broken: Mutex<Option<WriteFault>>,
    changed: Notify,
    /// Completed writes not yet collected: never more than had been waiting.
    written: Mutex<Vec<CompletedWrite<T>>>,
}

impl<T> WriterState<T> {
    /// Returns what broke; a poisoned lock still holds a valid value.
    fn lock(&self) -> MutexGuard<'_, Option<WriteFault>> {
        self.broken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A completed write.
#[derive(Debug)]
pub(super) struct CompletedWrite<T> {
    /// What it shows.
    pub(super) shows: T,
    /// When the write began.
    pub(super) begun: Instant,
    /// When the write returned.
    pub(super) returned: Instant,
}

impl<T: Send + 'static> OutputWriter<T> {
    /// Starts the thread that writes to `out`.
    pub(super) fn new(mut out: impl Write + Send + 'static) -> Self {
        let (lines, taken) = channel::<SingleWrite<T>>();
        let state = Arc::new(WriterState {
            waiting: AtomicUsize::new(0),
            broken: Mutex::new(None),
            changed: Notify::new(),
            written: Mutex::new(Vec::new()),
        });
        let shared = Arc::clone(&state);
        let thread = std::thread::spawn(move || {
            for SingleWrite { text, shows } in taken {
                let begun = Instant::now();
                let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
                if let (Ok(()), false, Ok(mut told)) =
                    (&written, shows.is_empty(), shared.written.lock())
                {
                    let returned = Instant::now();
                    told.extend(shows.into_iter().map(|shows| CompletedWrite {
                        shows,
                        begun,
                        returned,
                    }));
                }
                shared.waiting.fetch_sub(text.len(), Ordering::AcqRel);
                let broken = written.err().map(WriteFault::of);
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
            gathered: RefCell::new(None),
            thread: Some(thread),
            state,
        }
    }

    /// Queues text without waiting.
    pub(super) fn write(&self, text: String) {
        self.hand_over(text, None);
    }

    /// Queues text without waiting; [`OutputWriter::take_written`] reports when it is written.
    pub(super) fn write_to_show(&self, text: String, shows: T) {
        self.hand_over(text, Some(shows));
    }

    fn hand_over(&self, text: String, shows: Option<T>) {
        self.state.waiting.fetch_add(text.len(), Ordering::AcqRel);
        match &mut *self.gathered.borrow_mut() {
            Some(piece) => {
                piece.text.push_str(&text);
                piece.shows.extend(shows);
            }
            None => self.send(SingleWrite {
                text,
                shows: shows.into_iter().collect(),
            }),
        }
    }

    fn send(&self, piece: SingleWrite<T>) {
        if let Some(lines) = &self.lines {
            // This fails only if the thread is gone, which `broken` reports.
            let _ = lines.send(piece);
        }
    }

    /// Gathers queued text from now on, for a single write by [`OutputWriter::put_out`].
    pub(super) fn gather(&self) {
        self.gathered
            .borrow_mut()
            .get_or_insert_with(|| SingleWrite {
                text: String::new(),
                shows: Vec::new(),
            });
    }

    /// Writes the gathered text, and stops gathering.
    pub(super) fn put_out(&self) {
        let gathered = self.gathered.borrow_mut().take();
        if let Some(piece) =
            gathered.filter(|piece| !piece.text.is_empty() || !piece.shows.is_empty())
        {
            self.send(piece);
        }
    }

    /// Returns what was written since the last call, in order.
    pub(super) fn take_written(&self) -> Vec<CompletedWrite<T>> {
        let mut written = self.state.written.lock();
        written
            .as_mut()
            .map(|written| std::mem::take(&mut **written))
            .unwrap_or_default()
    }

    /// Returns whether everything is written.
    pub(super) fn is_idle(&self) -> bool {
        self.state.waiting.load(Ordering::Acquire) == 0
    }

    /// Returns whether to read more that will have to be written.
    pub(super) fn has_room(&self) -> bool {
        self.state.waiting.load(Ordering::Acquire) < ROOM
    }

    /// Returns once why nothing more can be written.
    pub(super) fn broken(&self) -> Option<WriteFault> {
        self.state.lock().take()
    }

    /// Waits until something was written, or failed to be.
    pub(super) async fn changed(&self) {
        self.state.changed.notified().await;
    }

    /// Waits for the last lines while the reader takes some; returns false if it takes none.
    pub(super) fn close(&mut self) -> bool {
        self.put_out();
        self.lines = None;
        let Some(thread) = self.thread.take() else {
            return true;
        };
        self.settle(|_| thread.is_finished());
        thread.is_finished()
    }

    /// Waits until everything is written while the reader takes some; returns false if it takes none.
    pub(super) fn drain(&self) -> bool {
        self.settle(|writer| {
            let over = writer.thread.as_ref().is_none_or(JoinHandle::is_finished);
            over || writer.is_idle()
        });
        self.is_idle()
    }

    fn settle(&self, is_over: impl Fn(&Self) -> bool) {
        let mut waiting = self.state.waiting.load(Ordering::Acquire);
        let mut since = Instant::now();
        while !is_over(self) && since.elapsed() < PATIENCE {
            std::thread::sleep(LOOK);
            let now = self.state.waiting.load(Ordering::Acquire);
            if now != waiting {
                waiting = now;
                since = Instant::now();
            }
        }
    }
}

/// Writes to standard output, bypassing the queue, for a way out that must not wait.
///
/// # Errors
/// The system's error; `TimedOut` if the terminal accepts nothing.
pub(super) fn write_at_once(bytes: Vec<u8>) -> io::Result<()> {
    // No lock is shared with a write that may never return.
    let mut out = terminal::output()?;
    let (done, told) = channel();
    std::thread::spawn(move || {
        // The receiver is gone if it waited too long.
        let _ = done.send(out.write_all(&bytes));
    });
    told.recv_timeout(AT_ONCE)
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, pipe};

    use super::*;

    #[test]
    fn everything_is_written_in_order_before_the_end() {
        let (mut reader, out) = pipe().unwrap();
        let mut writer = OutputWriter::<()>::new(out);
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
    fn what_is_gathered_is_one_write_and_told_as_written_by_its_parts() {
        struct CountingWriter(std::sync::mpsc::Sender<String>);
        impl Write for CountingWriter {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0
                    .send(String::from_utf8_lossy(bytes).into_owned())
                    .unwrap();
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (sender, writes) = channel();
        let mut writer = OutputWriter::new(CountingWriter(sender));
        writer.write("before\n".into());
        writer.gather();
        writer.write_to_show("a\n".into(), 1);
        writer.write("b\n".into());
        writer.write_to_show("c\n".into(), 2);
        assert!(!writer.is_idle());
        writer.put_out();
        writer.put_out();
        writer.write("after\n".into());
        writer.gather();
        writer.write("last\n".into());
        writer.close();
        let told = writer.take_written();
        assert_eq!(told.iter().map(|it| it.shows).collect::<Vec<_>>(), [1, 2]);
        drop(writer);
        let writes: Vec<String> = writes.into_iter().collect();
        assert_eq!(writes, ["before\n", "a\nb\nc\n", "after\n", "last\n"]);
    }

    #[test]
    fn a_reader_that_stops_takes_the_room_and_gives_it_back() {
        let (mut reader, out) = pipe().unwrap();
        let writer = OutputWriter::<()>::new(out);
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
    fn what_waits_for_its_reader_is_not_told_as_written() {
        let (mut reader, out) = pipe().unwrap();
        let writer = OutputWriter::new(out);
        // More than a pipe holds, so that the write blocks.
        let long = "x".repeat(1024 * 1024);
        writer.write_to_show(long.clone(), 1);
        writer.write_to_show("y".into(), 2);
        let mut taken = vec![0; long.len() / 2];
        reader.read_exact(&mut taken).unwrap();
        assert!(writer.take_written().is_empty());
        assert!(!writer.is_idle());
        let before = Instant::now();
        reader.read_exact(&mut vec![0; long.len() / 2 + 1]).unwrap();
        assert!(writer.drain());
        let told = writer.take_written();
        assert_eq!(told.iter().map(|it| it.shows).collect::<Vec<_>>(), [1, 2]);
        assert!(told[0].begun < before && told[0].returned >= before);
    }

    #[test]
    fn a_reader_that_is_gone_is_noticed() {
        let broken = after(io::ErrorKind::BrokenPipe);
        assert!(matches!(broken, Some(WriteFault::Gone)), "{broken:?}");
    }

    #[test]
    fn a_full_disk_is_no_reader_that_is_gone() {
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::FileTooLarge] {
            let broken = after(kind);
            let Some(WriteFault::Failed(error)) = broken else {
                panic!("{broken:?}");
            };
            assert_eq!(error.kind(), kind);
        }
    }

    /// Returns what happens after a line whose every write fails.
    fn after(kind: io::ErrorKind) -> Option<WriteFault> {
        struct Failing(io::ErrorKind);
        impl Write for Failing {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(self.0.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut writer = OutputWriter::<()>::new(Failing(kind));
        writer.write("x".into());
        writer.close();
        writer.broken()
    }
}
