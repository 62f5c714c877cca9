//! A file that grows, read as it grows.
//!
//! Responsibilities: waiting at the end of a file for more, noticing that it was cut short, rewritten or
//! replaced, waiting for one that is not there yet. Not here: lines (`file`).
//!
//! It looks again every [`POLL`] instead of asking the system for news: that works on every file
//! system, network ones included, and costs one question to the system.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::mpsc;

use super::opened::open_file;
use crate::link::{Cause, Fault, LinkEvent};
use crate::platform::files::is_same;

/// How long it waits at the end before it looks again: well below what a person notices beside the
/// time that a sentence takes.
const POLL: Duration = Duration::from_millis(100);

/// How many bytes of the beginning and of the end of what was read are remembered, to know the file again:
/// more than an event has before its id and its time.
const REMEMBERED: usize = 1024;

/// Takes the news of what is read in a thread, those of a read at once.
pub(super) type News = mpsc::Sender<VecDeque<LinkEvent>>;

/// Remembers what was read of a file.
#[derive(Debug, Default)]
struct Known {
    count: u64,
    first: Vec<u8>,
    last: Vec<u8>,
}

impl Known {
    fn add(&mut self, bytes: &[u8]) {
        self.count += bytes.len() as u64;
        let room = REMEMBERED - self.first.len();
        self.first
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.last
            .extend_from_slice(&bytes[bytes.len().saturating_sub(REMEMBERED)..]);
        let over = self.last.len().saturating_sub(REMEMBERED);
        self.last.drain(..over);
    }

    /// Returns whether the file still begins with what was read of it, as far as it is remembered; the file
    /// is then where it was.
    fn is_still_in(&self, file: &mut File) -> io::Result<bool> {
        let place = file.stream_position()?;
        let mut same = true;
        for (from, known) in [
            (0, &self.first),
            (self.count - self.last.len() as u64, &self.last),
        ] {
            let mut now = vec![0; known.len()];
            file.seek(SeekFrom::Start(from))?;
            same &= match file.read_exact(&mut now) {
                Ok(()) => now == *known,
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
                Err(error) => return Err(error),
            };
        }
        file.seek(SeekFrom::Start(place))?;
        Ok(same)
    }
}

/// Reads a file without ever coming to its end, as long as somebody takes the news.
#[derive(Debug)]
pub(super) struct Follow {
    path: PathBuf,
    news: News,
    place: FileState,
}

#[derive(Debug)]
enum FileState {
    /// The file is not there; told once.
    Missing { told: bool },
    /// It is open, and so many bytes were read.
    Open { file: File, read: Known },
    /// The line that was begun in the file before is ended, then the new file is read.
    Between { file: File },
}

impl Follow {
    pub(super) fn new(path: PathBuf, news: News) -> Self {
        Self {
            path,
            news,
            place: FileState::Missing { told: false },
        }
    }

    /// Waits for the file; `false` when nobody waits for it any more.
    ///
    /// # Errors
    /// What can't get better by waiting, in words.
    pub(super) fn appear(&mut self) -> Result<bool, Fault> {
        loop {
            if self.news.is_closed() {
                return Ok(false);
            }
            match open_file(&self.path) {
                Ok(file) => {
                    let read = Known::default();
                    self.place = FileState::Open { file, read };
                    return Ok(true);
                }
                Err(_) if !self.path.exists() => self.tell_missing(),
                Err(fault) => return Err(fault),
            }
            std::thread::sleep(POLL);
        }
    }

    fn tell_missing(&mut self) {
        if let FileState::Missing { told: false } = self.place {
            self.place = FileState::Missing { told: true };
            self.tell(Cause::FileNotYet);
        }
    }

    /// Tells that what comes is not the continuation of what came.
    fn tell(&self, why: Cause) {
        let fault = Fault::Other(why);
        // Nobody there to be told is noticed where it matters, at the next look.
        let retry_in = POLL;
        let _ = self
            .news
            .blocking_send([LinkEvent::Lost { fault, retry_in }].into());
    }

    /// Looks whether the file at the path is still the one that is read, from where it is read.
    fn look(&mut self) -> io::Result<()> {
        let FileState::Open { file, read } = &mut self.place else {
            return Ok(());
        };
        let Ok(now) = std::fs::metadata(&self.path) else {
            // Renamed or removed: another one may come; until then the old one may still grow.
            return Ok(());
        };
        let why = if !is_same(&file.metadata()?, &now) {
            Cause::FileReplaced
        } else if now.len() < read.count {
            Cause::FileCut
        } else if !read.is_still_in(file)? {
            // Longer than before, or just as long, and another one all the same.
            Cause::FileRewritten
        } else {
            return Ok(());
        };
        let Ok(file) = open_file(&self.path) else {
            return Ok(());
        };
        self.place = FileState::Between { file };
        self.tell(why);
        let _ = self.news.blocking_send([LinkEvent::Connected].into());
        Ok(())
    }
}

impl Read for Follow {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match &mut self.place {
                FileState::Missing { .. } => return Ok(0),
                FileState::Between { .. } => {
                    if let FileState::Between { file } =
                        std::mem::replace(&mut self.place, FileState::Missing { told: true })
                    {
                        let read = Known::default();
                        self.place = FileState::Open { file, read };
                    }
                    if let Some(first) = buffer.first_mut() {
                        *first = b'\n';
                        return Ok(1);
                    }
                }
                FileState::Open { file, read } => {
                    let count = file.read(buffer)?;
                    // What stands behind what was read goes on from it only where that is still there.
                    if count > 0 && read.is_still_in(file)? {
                        read.add(&buffer[..count]);
                        return Ok(count);
                    }
                    if self.news.is_closed() {
                        return Ok(0);
                    }
                    std::thread::sleep(POLL);
                    self.look()?;
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "tests/follow.rs"]
mod tests;
