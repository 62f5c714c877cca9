//! Messages from a file or from standard input, one per line.
//!
//! Responsibilities: lines within a bound, from any reader; the link over a file or standard input. Not here: the pace
//! of a replay (`app`, `runtime`), what a line means.
//!
//! Reading blocks, and standard input may block forever, so it happens in a detached thread: the program can end while
//! that thread waits, which a task on the runtime's own threads would prevent.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use tokio::sync::mpsc;

use super::framing::{Framer, StreamElement};
use super::growing_file::{Follow, News};
use super::halves::{Poster, SourceReader};
use super::link_sink::LinkSink;
use super::opened_file::open_file;
use crate::link::{Cause, DeliveryFailure, Fault, Frame, LinkEvent, Receipt};

/// The most bytes per read: for a long line that arrives in small pieces, each read prepares no more space than that.
const AT_ONCE: usize = 16 * 1024;

/// How many reads the reading thread may be ahead. A line may be as large as the frame bound, so the number is small.
const READS_AHEAD: usize = 2;

/// One line of a source, without its line break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SourceLine {
    /// A non-blank line; invalid UTF-8 is replaced.
    Text(String),
    /// A line beyond the bound, whose rest is skipped.
    TooLong,
}

impl SourceLine {
    fn of(piece: StreamElement) -> Option<Self> {
        match piece {
            StreamElement::Message(text) => Some(Self::Text(text)),
            StreamElement::TooLarge => Some(Self::TooLong),
            // A stream of lines always has a known framing, and has no lengths.
            StreamElement::Neither | StreamElement::OutOfStep => None,
        }
    }
}

/// The lines of a source: blank lines and a byte order mark are skipped, a last line without a line break counts, and
/// none is longer than the bound.
#[derive(Debug)]
pub(super) struct SourceLines<R> {
    source: R,
    framer: Framer,
    place: FilePlace,
}

/// How far a source has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FilePlace {
    Open,
    Ended,
    Broken,
}

impl<R: Read> SourceLines<R> {
    /// Starts reading from `source`; `limit` is the longest line, in bytes.
    pub(super) fn new(source: R, limit: usize) -> Self {
        Self {
            source,
            framer: Framer::lines(limit),
            place: FilePlace::Open,
        }
    }

    /// Returns the next line if it has already been read or is the last.
    fn at_hand(&mut self) -> Option<SourceLine> {
        let piece = match self.framer.piece() {
            None if self.place == FilePlace::Ended => self.framer.rest(),
            piece => piece,
        };
        piece.and_then(SourceLine::of)
    }

    /// Reads the available bytes, waiting for them if necessary.
    fn read(&mut self) -> io::Result<()> {
        loop {
            let room = self.framer.room();
            let kept = room.len();
            room.resize(room.capacity().min(kept + AT_ONCE), 0);
            let read = self.source.read(&mut room[kept..]);
            room.truncate(kept + read.as_ref().map_or(0, |read| *read));
            match read {
                Ok(0) => self.place = FilePlace::Ended,
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.place = FilePlace::Broken;
                    return Err(error);
                }
            }
            return Ok(());
        }
    }
}

impl<R: Read> Iterator for SourceLines<R> {
    type Item = io::Result<SourceLine>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(line) = self.at_hand() {
                return Some(Ok(line));
            }
            if self.place != FilePlace::Open {
                return None;
            }
            if let Err(error) = self.read() {
                return Some(Err(error));
            }
        }
    }
}

/// Opens a file for reading by lines; `limit` is the longest line, in bytes.
///
/// # Errors
/// [`Fault::Unusable`] if the file is missing, is a folder or may not be read.
pub(super) fn lines(path: &Path, limit: usize) -> Result<SourceLines<File>, Fault> {
    open_file(path).map(|file| SourceLines::new(file, limit))
}

/// Reads a file to its end, only slightly ahead of the receiver. All lines of one read are delivered together: waking
/// the receiver costs more than receiving a line.
pub fn news(path: PathBuf, limit: usize) -> mpsc::Receiver<VecDeque<LinkEvent>> {
    read_ahead(FileInput::Path(path), limit)
}

/// The reader of a file or standard input to its end, or of a file for as long as it grows.
#[derive(Debug)]
pub(super) struct FileReader {
    input: FileInput,
    limit: usize,
}

#[derive(Debug)]
enum FileInput {
    Path(PathBuf),
    Growing(PathBuf),
    Stdin,
    #[cfg(test)]
    Given(std::net::TcpStream),
}

impl FileReader {
    pub(super) fn file(path: PathBuf, limit: usize) -> Self {
        Self {
            input: FileInput::Path(path),
            limit,
        }
    }

    pub(super) fn growing(path: PathBuf, limit: usize) -> Self {
        Self {
            input: FileInput::Growing(path),
            limit,
        }
    }

    pub(super) fn stdin(limit: usize) -> Self {
        Self {
            input: FileInput::Stdin,
            limit,
        }
    }

    /// Reads from a socket as if it were standard input.
    #[cfg(test)]
    pub(super) fn given(input: std::net::TcpStream, limit: usize) -> Self {
        Self {
            input: FileInput::Given(input),
            limit,
        }
    }
}

impl SourceReader for FileReader {
    async fn read(self, sink: LinkSink) {
        if sink
            .put(LinkEvent::Connecting { attempt: 1 })
            .await
            .is_err()
        {
            return;
        }
        let mut news = read_ahead(self.input, self.limit);
        while let Some(mut read) = news.recv().await {
            if sink.put_all(&mut read).await.is_err() {
                return;
            }
        }
    }
}

type FileNews = Result<(), mpsc::error::SendError<VecDeque<LinkEvent>>>;

/// Reads in a thread, which ends when the receiver is gone.
fn read_ahead(input: FileInput, limit: usize) -> mpsc::Receiver<VecDeque<LinkEvent>> {
    let (news, taken) = mpsc::channel(READS_AHEAD);
    let own = news.clone();
    let thread = std::thread::Builder::new()
        .name("hearken-lines".to_owned())
        .spawn(move || {
            // An error here only means that the link was closed.
            let _ = pump(input, limit, &own);
        });
    if thread.is_err() {
        let fault = Fault::Other(Cause::NoReader);
        // There is space: nothing has been sent yet.
        let _ = news.try_send([LinkEvent::Failed { fault }].into());
    }
    taken
}

fn pump(input: FileInput, limit: usize, news: &News) -> FileNews {
    match input {
        FileInput::Path(path) => match lines(&path, limit) {
            Ok(lines) => tell(lines, limit, news),
            Err(fault) => news.blocking_send([LinkEvent::Failed { fault }].into()),
        },
        FileInput::Growing(path) => {
            let mut follow = Follow::new(path, news.clone());
            match follow.appear() {
                Ok(true) => tell(SourceLines::new(follow, limit), limit, news),
                Ok(false) => Ok(()),
                Err(fault) => news.blocking_send([LinkEvent::Failed { fault }].into()),
            }
        }
        FileInput::Stdin => tell(SourceLines::new(io::stdin().lock(), limit), limit, news),
        #[cfg(test)]
        FileInput::Given(stream) => tell(SourceLines::new(stream, limit), limit, news),
    }
}

fn tell<R: Read>(mut lines: SourceLines<R>, limit: usize, news: &News) -> FileNews {
    news.blocking_send([LinkEvent::Connected].into())?;
    let mut read = VecDeque::new();
    while lines.place == FilePlace::Open {
        let broke = lines.read().err();
        while let Some(line) = lines.at_hand() {
            read.push_back(match line {
                SourceLine::Text(text) => LinkEvent::Frame(Frame::of(text)),
                SourceLine::TooLong => LinkEvent::Dropped {
                    fault: Fault::TooLarge { limit },
                    count: 1,
                },
            });
        }
        read.extend(broke.map(|error| LinkEvent::Failed {
            fault: Fault::Unusable(Cause::FileBroke { why: error.kind() }),
        }));
        if lines.place == FilePlace::Ended {
            read.push_back(LinkEvent::Ended);
        }
        if !read.is_empty() {
            news.blocking_send(std::mem::take(&mut read))?;
        }
    }
    Ok(())
}

/// The poster of a source that accepts no replies.
#[derive(Debug)]
pub(super) struct NoReplyPoster;

impl Poster for NoReplyPoster {
    fn post(
        &self,
        _body: String,
    ) -> impl Future<Output = Result<Receipt, DeliveryFailure>> + Send + 'static {
        std::future::ready(Err(DeliveryFailure::Kept(Fault::OneWay)))
    }
}

#[cfg(test)]
#[path = "tests/file.rs"]
pub(super) mod tests;
