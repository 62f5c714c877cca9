//! A growing file, read as it grows.
//!
//! Responsibilities: waiting for more at the end of a file, noticing that it was cut short, rewritten or replaced,
//! waiting for one that is not there yet. Not here: lines (`file`).
//!
//! It checks again every [`POLL`] instead of asking the system for notifications: that works on every file system,
//! including network ones, and costs one system call.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::mpsc;

use super::opened_file::open_file;
use crate::link::{Cause, Fault, LinkEvent};
use crate::platform::files::is_same;

/// How long to wait at the end before checking again: well below what a person notices compared
/// with the time that a sentence takes.
const POLL: Duration = Duration::from_millis(100);

/// How many bytes from the beginning and from the end of what was read are remembered, to recognize the file: more than
/// an event has before its id and its time.
const REMEMBERED: usize = 1024;

/// The sender of the lines read by a thread, those of one read together.
pub(super) type News = mpsc::Sender<VecDeque<LinkEvent>>;

/// The remembered parts of what was read of a file.
#[derive(Debug, Default)]
struct ReadSoFar {
    count: u64,
    first: Vec<u8>,
    last: Vec<u8>,
}

impl ReadSoFar {
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

    /// Returns whether the file still begins with what was read of it, as far as that is remembered; leaves the file
    /// position unchanged.
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

/// A file that is read without ever ending, until the receiver is gone.
#[derive(Debug)]
pub(super) struct Follow {
    path: PathBuf,
    news: News,
    place: FileState,
}

#[derive(Debug)]
enum FileState {
    /// The file does not exist; reported once.
    Missing { told: bool },
    /// The file is open; `read` describes what was read of it.
    Open { file: File, read: ReadSoFar },
    /// The unfinished line of the previous file is ended, then the new file is read.
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

    /// Waits for the file; `false` if the receiver is gone.
    ///
    /// # Errors
    /// A failure that waiting can't fix, in words.
    pub(super) fn appear(&mut self) -> Result<bool, Fault> {
        loop {
            if self.news.is_closed() {
                return Ok(false);
            }
            match open_file(&self.path) {
                Ok(file) => {
                    let read = ReadSoFar::default();
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

    /// Reports that the coming lines do not continue the previous ones.
    fn tell(&self, why: Cause) {
        let fault = Fault::Other(why);
        // A missing receiver is noticed at the next check, where it matters.
        let retry_in = POLL;
        let _ = self
            .news
            .blocking_send([LinkEvent::Lost { fault, retry_in }].into());
    }

    /// Checks whether the file at the path is still the one being read, and still continues what was read.
    fn look(&mut self) -> io::Result<()> {
        let FileState::Open { file, read } = &mut self.place else {
            return Ok(());
        };
        let Ok(now) = std::fs::metadata(&self.path) else {
            // Renamed or removed: another one may appear; until then the old one may still grow.
            return Ok(());
        };
        let why = if !is_same(&file.metadata()?, &now) {
            Cause::FileReplaced
        } else if now.len() < read.count {
            Cause::FileCut
        } else if !read.is_still_in(file)? {
            // Longer than before, or just as long, but different content.
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
                        let read = ReadSoFar::default();
                        self.place = FileState::Open { file, read };
                    }
                    if let Some(first) = buffer.first_mut() {
                        *first = b'\n';
                        return Ok(1);
                    }
                }
                FileState::Open { file, read } => {
                    let count = file.read(buffer)?;
                    // The new bytes continue the old ones only if those are still there.
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
#[path = "tests/growing_file.rs"]
mod tests;
