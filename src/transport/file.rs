//! Messages from a file or from standard input, one a line.
//!
//! Responsibilities: lines within a bound, from anything that can be read; the link over a file or
//! standard input. Not here: the pace of a replay (`app`, `runtime`), what a line means.
//!
//! Reading blocks, and standard input may block for ever, so it happens in a detached thread: the
//! program can end while that thread waits, which a task on the runtime's own threads would prevent.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use memchr::memchr;
use tokio::sync::mpsc;

use super::follow::Follow;
use super::halves::{Poster, Reader};
use super::opened::open_file;
use super::sink::LinkSink;
use crate::link::{Cause, Fault, Frame, LinkEvent, Receipt, Undelivered};

/// How many lines the reading thread may be ahead. Each may be as large as the bound of a frame, so
/// there are few.
const LINES_AHEAD: usize = 2;

/// The mark that some editors put before the first line.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Is one line of a source, without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A line that is not blank; invalid UTF-8 is replaced.
    Text(String),
    /// A line beyond the bound; its rest is skipped when the next one is asked for.
    TooLong,
}

/// Reads the lines of a source: blank ones and a mark at the start are skipped, a last line without
/// an end counts, and none is longer than the bound.
#[derive(Debug)]
pub struct Lines<R> {
    source: R,
    limit: usize,
    place: LineState,
}

/// Says where the next byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineState {
    Start,
    LineStart,
    InTooLong,
    Over,
}

impl<R: BufRead> Lines<R> {
    /// Reads from `source`; `limit` is the longest line, in bytes.
    pub fn new(source: R, limit: usize) -> Self {
        Self {
            source,
            limit,
            place: LineState::Start,
        }
    }

    /// Reads up to the end of a line into `kept`, at most one byte more than the bound.
    fn read_line(&mut self, kept: &mut Vec<u8>) -> io::Result<Stop> {
        loop {
            let bytes = match self.source.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if bytes.is_empty() {
                return Ok(Stop::Over);
            }
            // A carriage return before the line's end is no part of the line: room for it too.
            let most = self.limit.saturating_add(1 + BOM.len());
            let room = most.saturating_sub(kept.len());
            match memchr(b'\n', bytes) {
                Some(end) if end <= room => {
                    kept.extend_from_slice(&bytes[..end]);
                    self.source.consume(end + 1);
                    return Ok(Stop::Newline);
                }
                None if bytes.len() <= room => {
                    kept.extend_from_slice(bytes);
                    let taken = bytes.len();
                    self.source.consume(taken);
                }
                Some(_) | None => return Ok(Stop::Full),
            }
        }
    }

    /// Passes over the rest of a line that is too long.
    fn skip_line(&mut self) -> io::Result<Stop> {
        loop {
            let bytes = match self.source.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if bytes.is_empty() {
                return Ok(Stop::Over);
            }
            let end = memchr(b'\n', bytes);
            let taken = end.map_or(bytes.len(), |end| end + 1);
            self.source.consume(taken);
            if end.is_some() {
                return Ok(Stop::Newline);
            }
        }
    }

    fn advance(&mut self) -> io::Result<Option<Line>> {
        loop {
            match self.place {
                LineState::Over => return Ok(None),
                LineState::InTooLong => match self.skip_line()? {
                    Stop::Over => self.place = LineState::Over,
                    Stop::Newline | Stop::Full => self.place = LineState::LineStart,
                },
                LineState::Start | LineState::LineStart => {
                    let mut kept = Vec::new();
                    let stop = self.read_line(&mut kept)?;
                    if self.place == LineState::Start && kept.starts_with(BOM) {
                        kept.drain(..BOM.len());
                    }
                    if kept.last() == Some(&b'\r') {
                        kept.pop();
                    }
                    self.place = match stop {
                        Stop::Over => LineState::Over,
                        Stop::Newline => LineState::LineStart,
                        Stop::Full => LineState::InTooLong,
                    };
                    if stop == Stop::Full || kept.len() > self.limit {
                        return Ok(Some(Line::TooLong));
                    }
                    if !kept.trim_ascii().is_empty() {
                        // Nearly all are good, which is seen faster by itself.
                        let text = String::from_utf8(kept).unwrap_or_else(|bad| {
                            String::from_utf8_lossy(bad.as_bytes()).into_owned()
                        });
                        return Ok(Some(Line::Text(text)));
                    }
                }
            }
        }
    }
}

/// Says what stopped a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// The line's end, which is passed.
    Newline,
    /// The end of the source.
    Over,
    /// The bound.
    Full,
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = io::Result<Line>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose().inspect(|item| {
            if item.is_err() {
                self.place = LineState::Over;
            }
        })
    }
}

/// Opens a file for reading by lines; `limit` is the longest line, in bytes.
///
/// # Errors
/// [`Fault::Unusable`], when the file is not there, is a folder or may not be read.
pub fn lines(path: &Path, limit: usize) -> Result<Lines<BufReader<File>>, Fault> {
    open_file(path).map(|file| Lines::new(BufReader::new(file), limit))
}

/// Reads a file or standard input to its end, or a file for as long as it grows.
#[derive(Debug)]
pub(super) struct FileReader {
    input: Input,
    limit: usize,
}

#[derive(Debug)]
enum Input {
    Path(PathBuf),
    Growing(PathBuf),
    Stdin,
    #[cfg(test)]
    Given(std::net::TcpStream),
}

impl FileReader {
    pub(super) fn file(path: PathBuf, limit: usize) -> Self {
        Self {
            input: Input::Path(path),
            limit,
        }
    }

    pub(super) fn growing(path: PathBuf, limit: usize) -> Self {
        Self {
            input: Input::Growing(path),
            limit,
        }
    }

    pub(super) fn stdin(limit: usize) -> Self {
        Self {
            input: Input::Stdin,
            limit,
        }
    }

    /// Reads from a socket as if it were standard input.
    #[cfg(test)]
    pub(super) fn given(input: std::net::TcpStream, limit: usize) -> Self {
        Self {
            input: Input::Given(input),
            limit,
        }
    }
}

impl Reader for FileReader {
    async fn read(self, sink: LinkSink) {
        if sink
            .put(LinkEvent::Connecting { attempt: 1 })
            .await
            .is_err()
        {
            return;
        }
        let (news, mut taken) = mpsc::channel(LINES_AHEAD);
        let Self { input, limit } = self;
        let thread = std::thread::Builder::new()
            .name("hearken-lines".to_owned())
            .spawn(move || {
                // An error here says that the link was closed: there is nobody to read for.
                let _ = pump(input, limit, &news);
            });
        if thread.is_err() {
            let fault = Fault::Other(Cause::NoReader);
            let _ = sink.put(LinkEvent::Failed { fault }).await;
            return;
        }
        while let Some(event) = taken.recv().await {
            if sink.put(event).await.is_err() {
                return;
            }
        }
    }
}

type News = mpsc::Sender<LinkEvent>;
type Told = Result<(), mpsc::error::SendError<LinkEvent>>;

fn pump(input: Input, limit: usize, news: &News) -> Told {
    match input {
        Input::Path(path) => match lines(&path, limit) {
            Ok(lines) => tell(lines, limit, news),
            Err(fault) => news.blocking_send(LinkEvent::Failed { fault }),
        },
        Input::Growing(path) => {
            let mut follow = Follow::new(path, news.clone());
            match follow.appear() {
                Ok(true) => tell(Lines::new(BufReader::new(follow), limit), limit, news),
                Ok(false) => Ok(()),
                Err(fault) => news.blocking_send(LinkEvent::Failed { fault }),
            }
        }
        Input::Stdin => tell(Lines::new(io::stdin().lock(), limit), limit, news),
        #[cfg(test)]
        Input::Given(stream) => tell(Lines::new(BufReader::new(stream), limit), limit, news),
    }
}

fn tell<R: BufRead>(lines: Lines<R>, limit: usize, news: &News) -> Told {
    news.blocking_send(LinkEvent::Connected)?;
    for line in lines {
        let event = match line {
            Ok(Line::Text(text)) => LinkEvent::Frame(Frame::of(text)),
            Ok(Line::TooLong) => LinkEvent::Dropped {
                fault: Fault::TooLarge { limit },
                count: 1,
            },
            Err(error) => LinkEvent::Failed {
                fault: Fault::Unusable(Cause::FileBroke { why: error.kind() }),
            },
        };
        let over = matches!(event, LinkEvent::Failed { .. });
        news.blocking_send(event)?;
        if over {
            return Ok(());
        }
    }
    news.blocking_send(LinkEvent::Ended)
}

/// Takes no replies.
#[derive(Debug)]
pub(super) struct OneWay;

impl Poster for OneWay {
    fn post(
        &self,
        _body: String,
    ) -> impl Future<Output = Result<Receipt, Undelivered>> + Send + 'static {
        std::future::ready(Err(Undelivered::Kept(Fault::OneWay)))
    }
}

#[cfg(test)]
#[path = "tests/file.rs"]
pub(super) mod tests;
