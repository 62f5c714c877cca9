//! Messages in a byte stream: one per line, or each after its length.
//!
//! Responsibilities: whole messages within a bound, from chunks that are cut anywhere; telling the two framings apart
//! (AAEP B.4.4). Not here: reading the bytes, what a message means.
//!
//! The first byte decides. A length of less than 16 MiB begins with a zero byte, which no JSON text does; anything that
//! may begin a line of JSON is a line. Anything else is reported once:
//!
//! ```text
//! 00 00 00 02 7B 7D          -> {}        the length is big-endian and counts the bytes after it
//! 7B 7D 0A 7B 7D 0D 0A       -> {} {}     blank lines and a byte order mark at the start are skipped
//! 48 54 54 50                -> neither
//! ```
//!
//! A Windows pipe that preserves message boundaries carries documents with nothing between them (B.3.4); each ends
//! where everything that it opened is closed, so it does not matter how its bytes arrive.
//!
//! A message beyond the bound is skipped without being stored, and reported as [`StreamElement::TooLarge`]. A length
//! that does not even begin with a zero byte is invalid: an earlier length was wrong, and no message can be found from
//! there on ([`StreamElement::OutOfStep`]).

use bytes::{Buf, BytesMut};
use memchr::memchr;

use super::outside_text::readable;

/// The size of a length, in bytes.
const LENGTH_BYTES: usize = 4;

/// From this value on, a supposed length in bytes is something else: text, or the end of a message that was longer than
/// announced.
const NO_LENGTH: usize = 1 << 24;

/// The byte order mark that some programs write before the first line.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// The free space for further reads, in bytes. Left alone, a buffer has only the space that it was last filled with, so
/// that each message would need a read of its own.
const READ: usize = 8 * 1024;

/// The free space that must remain, so that a read moves no data.
const LEFT: usize = READ / 4;

/// A way to separate messages in a byte stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// Four bytes of length, big-endian, before each message: the protocol's recommendation.
    Lengths,
    /// One message per line.
    Lines,
    /// One JSON document per message, with nothing between them: for pipes that keep each write together (B.3.4).
    Documents,
}

impl Framing {
    /// Returns the bytes that carry one message; a message in a line contains no line breaks.
    pub(super) fn wrap(self, message: &str) -> Vec<u8> {
        match self {
            Self::Lengths => {
                // The final line break is white space to JSON. For a peer that reads lines it ends the garbage that the
                // length is to it, so that it answers or hangs up now instead of never.
                let length = u32::try_from(message.len() + 1).unwrap_or(u32::MAX);
                let mut bytes = Vec::with_capacity(LENGTH_BYTES + message.len() + 1);
                bytes.extend_from_slice(&length.to_be_bytes());
                bytes.extend_from_slice(message.as_bytes());
                bytes.push(b'\n');
                bytes
            }
            Self::Lines => {
                let mut bytes: Vec<u8> = message
                    .bytes()
                    .map(|byte| match byte {
                        b'\n' | b'\r' => b' ',
                        other => other,
                    })
                    .collect();
                bytes.push(b'\n');
                bytes
            }
            Self::Documents => message.as_bytes().to_vec(),
        }
    }

    /// Returns the other of a socket's two framings.
    pub(super) fn other(self) -> Self {
        match self {
            Self::Lengths => Self::Lines,
            Self::Lines => Self::Lengths,
            Self::Documents => Self::Documents,
        }
    }
}

/// The next element of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StreamElement {
    /// A complete message; invalid UTF-8 is replaced.
    Message(String),
    /// A message beyond the bound, which was skipped.
    TooLarge,
    /// The stream has neither framing: nothing in it can be read.
    Neither,
    /// The bytes in place of a length are not one: nothing after them can be read.
    OutOfStep,
}

/// A parser that cuts a stream into messages; feed it chunks as they arrive, split anywhere.
#[derive(Debug)]
pub(super) struct Framer {
    limit: usize,
    kept: BytesMut,
    /// How much of `kept` has been searched and contains no end of a line or document.
    searched: usize,
    place: StreamState,
}

/// The position of the next byte in the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamState {
    /// At the start of a stream, whose first byte reveals the framing.
    Start,
    /// At the start of a line or inside it.
    Line,
    /// Inside a line that is too long.
    PastLine,
    /// At a length or in the message after it.
    Length,
    /// Inside a message that is too long, with this many bytes left.
    PastLength(u64),
    /// Between two documents or inside one.
    Document(Scan),
    /// Inside a document that is too long.
    PastDocument(Scan),
    /// Nothing more can be read.
    Lost,
}

/// The progress through a document: it ends where everything that it opened is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Scan {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
}

impl Scan {
    /// Processes one more byte; returns whether the document ends with it.
    fn ends(&mut self, byte: u8) -> bool {
        if self.in_string {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.depth == 0
    }

    /// Returns the position after a document's end.
    fn end_in(&mut self, bytes: &[u8]) -> Option<usize> {
        let at = bytes.iter().position(|byte| self.ends(*byte))?;
        Some(at + 1)
    }
}

impl Framer {
    /// Starts a stream of either framing; `limit` is the largest message, in bytes.
    pub(super) fn either(limit: usize) -> Self {
        Self::at(StreamState::Start, limit)
    }

    /// Starts a stream of lines.
    pub(super) fn lines(limit: usize) -> Self {
        Self::at(StreamState::Line, limit)
    }

    /// Starts a stream of documents.
    pub(super) fn documents(limit: usize) -> Self {
        Self::at(StreamState::Document(Scan::default()), limit)
    }

    fn at(place: StreamState, limit: usize) -> Self {
        Self {
            limit,
            kept: BytesMut::new(),
            searched: 0,
            place,
        }
    }

    /// Returns the framing, once it is known.
    pub(super) fn framing(&self) -> Option<Framing> {
        match self.place {
            StreamState::Start | StreamState::Lost => None,
            StreamState::Line | StreamState::PastLine => Some(Framing::Lines),
            StreamState::Length | StreamState::PastLength(_) => Some(Framing::Lengths),
            StreamState::Document(_) | StreamState::PastDocument(_) => Some(Framing::Documents),
        }
    }

    /// Returns the buffer to read the next bytes into; take out the pieces before the next read, so that at most one
    /// message and one chunk are ever kept.
    pub(super) fn room(&mut self) -> &mut BytesMut {
        if self.kept.capacity() - self.kept.len() < LEFT {
            if self.kept.len() < READ {
                // Frees the space of a large message.
                let mut room = BytesMut::with_capacity(2 * READ);
                room.extend_from_slice(&self.kept);
                self.kept = room;
            } else {
                self.kept.reserve(READ);
            }
        }
        &mut self.kept
    }

    /// Returns the next piece once it is complete.
    pub(super) fn piece(&mut self) -> Option<StreamElement> {
        loop {
            match self.place {
                StreamState::Start => {
                    let first = *self.kept.first()?;
                    self.place = match first {
                        0 => StreamState::Length,
                        b'{' | b'[' | b' ' | b'\t' | b'\r' | b'\n' | 0xEF => StreamState::Line,
                        _ => {
                            self.place = StreamState::Lost;
                            self.kept.clear();
                            return Some(StreamElement::Neither);
                        }
                    };
                }
                StreamState::Line => {
                    let end = memchr(b'\n', &self.kept[self.searched..]);
                    // A carriage return and a byte order mark are not part of a line: leave space for them.
                    let most = self.limit.saturating_add(1 + BOM.len());
                    let Some(end) = end.map(|end| self.searched + end) else {
                        self.searched = self.kept.len();
                        if self.kept.len() <= most {
                            return None;
                        }
                        self.forget();
                        self.place = StreamState::PastLine;
                        return Some(StreamElement::TooLarge);
                    };
                    let line = self.kept.split_to(end);
                    self.kept.advance(1);
                    self.searched = 0;
                    let line = line.strip_prefix(BOM).unwrap_or(&line);
                    let line = line.strip_suffix(b"\r").unwrap_or(line);
                    if line.len() > self.limit {
                        return Some(StreamElement::TooLarge);
                    }
                    if !line.trim_ascii().is_empty() {
                        return Some(message(line));
                    }
                }
                StreamState::PastLine => match memchr(b'\n', &self.kept) {
                    Some(end) => {
                        self.kept.advance(end + 1);
                        self.place = StreamState::Line;
                    }
                    None => {
                        self.forget();
                        return None;
                    }
                },
                StreamState::Length => {
                    let (head, _) = self.kept.split_first_chunk::<LENGTH_BYTES>()?;
                    let length = u32::from_be_bytes(*head);
                    let bound = |most: usize| usize::try_from(length).is_ok_and(|it| it <= most);
                    if !bound(self.limit.max(NO_LENGTH - 1)) {
                        self.place = StreamState::Lost;
                        self.forget();
                        return Some(StreamElement::OutOfStep);
                    }
                    if !bound(self.limit) {
                        self.kept.advance(LENGTH_BYTES);
                        self.place = StreamState::PastLength(u64::from(length));
                        return Some(StreamElement::TooLarge);
                    }
                    let whole = LENGTH_BYTES + length as usize;
                    if self.kept.len() < whole {
                        return None;
                    }
                    let bytes = self.kept.split_to(whole);
                    let bytes = bytes.get(LENGTH_BYTES..).unwrap_or_default().trim_ascii();
                    if !bytes.is_empty() {
                        return Some(message(bytes));
                    }
                }
                StreamState::PastLength(left) => {
                    let here = (self.kept.len() as u64).min(left);
                    self.kept.advance(here as usize);
                    if here < left {
                        self.place = StreamState::PastLength(left - here);
                        return None;
                    }
                    self.place = StreamState::Length;
                }
                StreamState::Document(mut scan) => {
                    if self.searched == 0 {
                        let blank = |byte: &u8| byte.is_ascii_whitespace() || BOM.contains(byte);
                        let blanks = self.kept.iter().take_while(|byte| blank(byte)).count();
                        self.kept.advance(blanks);
                        if !matches!(*self.kept.first()?, b'{' | b'[') {
                            self.place = StreamState::Lost;
                            self.forget();
                            return Some(StreamElement::Neither);
                        }
                    }
                    let Some(end) = scan.end_in(&self.kept[self.searched..]) else {
                        self.searched = self.kept.len();
                        self.place = StreamState::Document(scan);
                        if self.kept.len() <= self.limit {
                            return None;
                        }
                        self.forget();
                        self.place = StreamState::PastDocument(scan);
                        return Some(StreamElement::TooLarge);
                    };
                    let document = self.kept.split_to(self.searched + end);
                    self.searched = 0;
                    self.place = StreamState::Document(Scan::default());
                    return Some(if document.len() > self.limit {
                        StreamElement::TooLarge
                    } else {
                        message(&document)
                    });
                }
                StreamState::PastDocument(mut scan) => match scan.end_in(&self.kept) {
                    Some(end) => {
                        self.kept.advance(end);
                        self.place = StreamState::Document(Scan::default());
                    }
                    None => {
                        self.forget();
                        self.place = StreamState::PastDocument(scan);
                        return None;
                    }
                },
                StreamState::Lost => {
                    self.kept.clear();
                    return None;
                }
            }
        }
    }

    /// Returns the text after the last line break, for a source that ended in good order.
    pub(super) fn rest(&mut self) -> Option<StreamElement> {
        if self.place != StreamState::Line {
            return None;
        }
        let line = std::mem::take(&mut self.kept);
        self.searched = 0;
        let line = line.strip_prefix(BOM).unwrap_or(&line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match line.len() {
            _ if line.trim_ascii().is_empty() => None,
            length if length > self.limit => Some(StreamElement::TooLarge),
            _ => Some(message(line)),
        }
    }

    fn forget(&mut self) {
        // The space of an endless line is freed, not only emptied; smaller space is reused.
        if self.kept.capacity() > 2 * READ {
            self.kept = BytesMut::new();
        }
        self.kept.clear();
        self.searched = 0;
    }
}

fn message(bytes: &[u8]) -> StreamElement {
    StreamElement::Message(readable(bytes).into_owned())
}

#[cfg(test)]
#[path = "tests/framing.rs"]
mod tests;
