//! Messages in a stream of bytes: one a line, or each behind its length.
//!
//! Responsibilities: whole messages within a bound, from chunks that are cut anywhere; telling the two
//! framings apart (AAEP B.4.4). Not here: reading the bytes, what a message means.
//!
//! The first byte decides. A length of less than 16 MiB begins with a zero byte, which no JSON text
//! does; anything that may begin a line of JSON is a line. What is neither is told, once:
//!
//! ```text
//! 00 00 00 02 7B 7D          -> {}        the length is big-endian and counts the bytes behind it
//! 7B 7D 0A 7B 7D 0D 0A       -> {} {}     blank lines and a mark at the start are passed over
//! 48 54 54 50                -> neither
//! ```
//!
//! A pipe of Windows that keeps messages apart carries documents with nothing between them (B.3.4); each ends where all is
//! closed that it opened, so it does not matter how its bytes arrive.
//!
//! A message beyond the bound is passed over without being kept, and told as [`Piece::TooLarge`]. A length that
//! does not even begin with a zero byte is none: somewhere before it one was wrong, and from there on nothing can
//! be found any more ([`Piece::OutOfStep`]).

use bytes::{Buf, BytesMut};
use memchr::memchr;

use super::clean::readable;

/// How many bytes a length has.
const LENGTH_BYTES: usize = 4;

/// From this length on, in bytes, what should be a length is something else: text, or the end of a message
/// that was longer than its own.
const NO_LENGTH: usize = 1 << 24;

/// The mark that some programs put before the first line.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// How many bytes there is room for when more is read. A buffer by itself has room for what it was last filled
/// with, so that each message would take a read of its own.
const READ: usize = 8 * 1024;

/// How much of that has to be left, so that nothing is moved for a read.
const LEFT: usize = READ / 4;

/// Names a way to put messages into a stream of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// Four bytes of length, big-endian, before each message: what the protocol recommends.
    Lengths,
    /// One message a line.
    Lines,
    /// A JSON document a message, with nothing between them: over what keeps each write together (B.3.4).
    Documents,
}

impl Framing {
    /// Puts one message into the bytes that carry it; a line has no line breaks of its own.
    pub(super) fn wrap(self, message: &str) -> Vec<u8> {
        match self {
            Self::Lengths => {
                // The line's end is white space to JSON. To a peer that reads lines it ends the nonsense
                // that the length is to it, so that it answers or hangs up now and not never.
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

    /// Returns the other one of a socket's two.
    pub(super) fn other(self) -> Self {
        match self {
            Self::Lengths => Self::Lines,
            Self::Lines => Self::Lengths,
            Self::Documents => Self::Documents,
        }
    }
}

/// What stands next in a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// A whole message; invalid UTF-8 is replaced.
    Message(String),
    /// A message beyond the bound, which was passed over.
    TooLarge,
    /// The stream is in neither framing: nothing in it can be read.
    Neither,
    /// What stands where a length should be is none: nothing behind it can be read.
    OutOfStep,
}

/// Cuts a stream into messages; feed it chunks as they come, split anywhere.
#[derive(Debug)]
pub(super) struct Framer {
    limit: usize,
    kept: BytesMut,
    /// How much of `kept` is known to hold no line's end.
    searched: usize,
    place: StreamState,
}

/// Where in the stream the next byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamState {
    /// At the start of a stream whose framing its first byte tells.
    Start,
    /// At the start of a line or inside one.
    Line,
    /// Inside a line that is too long.
    PastLine,
    /// At a length or behind it.
    Length,
    /// Inside a message that is too long, with so many bytes to go.
    PastLength(u64),
    /// Between two documents or inside of one.
    Document(Scan),
    /// Inside a document that is too long.
    PastDocument(Scan),
    /// Nothing more can be read.
    Lost,
}

/// How far a document has been looked through: it ends where all is closed that it opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Scan {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
}

impl Scan {
    /// Looks at one more byte; tells whether the document ends with it.
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

    /// Returns the place behind a document's end.
    fn end_in(&mut self, bytes: &[u8]) -> Option<usize> {
        let at = bytes.iter().position(|byte| self.ends(*byte))?;
        Some(at + 1)
    }
}

impl Framer {
    /// Begins a stream of either framing; `limit` is the largest message, in bytes.
    pub(super) fn either(limit: usize) -> Self {
        Self::at(StreamState::Start, limit)
    }

    /// Begins a stream of lines.
    pub(super) fn lines(limit: usize) -> Self {
        Self::at(StreamState::Line, limit)
    }

    /// Begins a stream of documents.
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

    /// Returns the room into which the next bytes are read; ask for the pieces before the next read, so
    /// that no more than a message and a chunk are ever kept.
    pub(super) fn room(&mut self) -> &mut BytesMut {
        if self.kept.capacity() - self.kept.len() < LEFT {
            if self.kept.len() < READ {
                // The room of a large message is given back.
                let mut room = BytesMut::with_capacity(2 * READ);
                room.extend_from_slice(&self.kept);
                self.kept = room;
            } else {
                self.kept.reserve(READ);
            }
        }
        &mut self.kept
    }

    /// Takes the next piece, if it is whole.
    pub(super) fn piece(&mut self) -> Option<Piece> {
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
                            return Some(Piece::Neither);
                        }
                    };
                }
                StreamState::Line => {
                    let end = memchr(b'\n', &self.kept[self.searched..]);
                    // A carriage return and a mark are no part of a line: room for them too.
                    let most = self.limit.saturating_add(1 + BOM.len());
                    let Some(end) = end.map(|end| self.searched + end) else {
                        self.searched = self.kept.len();
                        if self.kept.len() <= most {
                            return None;
                        }
                        self.forget();
                        self.place = StreamState::PastLine;
                        return Some(Piece::TooLarge);
                    };
                    let line = self.kept.split_to(end);
                    self.kept.advance(1);
                    self.searched = 0;
                    let line = line.strip_prefix(BOM).unwrap_or(&line);
                    let line = line.strip_suffix(b"\r").unwrap_or(line);
                    if line.len() > self.limit {
                        return Some(Piece::TooLarge);
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
                        return Some(Piece::OutOfStep);
                    }
                    if !bound(self.limit) {
                        self.kept.advance(LENGTH_BYTES);
                        self.place = StreamState::PastLength(u64::from(length));
                        return Some(Piece::TooLarge);
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
                            return Some(Piece::Neither);
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
                        return Some(Piece::TooLarge);
                    };
                    let document = self.kept.split_to(self.searched + end);
                    self.searched = 0;
                    self.place = StreamState::Document(Scan::default());
                    return Some(if document.len() > self.limit {
                        Piece::TooLarge
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

    /// Takes what stands behind the last line's end, where the source ended in good order.
    pub(super) fn rest(&mut self) -> Option<Piece> {
        if self.place != StreamState::Line {
            return None;
        }
        let line = std::mem::take(&mut self.kept);
        self.searched = 0;
        let line = line.strip_prefix(BOM).unwrap_or(&line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match line.len() {
            _ if line.trim_ascii().is_empty() => None,
            length if length > self.limit => Some(Piece::TooLarge),
            _ => Some(message(line)),
        }
    }

    fn forget(&mut self) {
        // The room of an endless line is given back, and not only emptied; that of its next pieces is used again.
        if self.kept.capacity() > 2 * READ {
            self.kept = BytesMut::new();
        }
        self.kept.clear();
        self.searched = 0;
    }
}

fn message(bytes: &[u8]) -> Piece {
    Piece::Message(readable(bytes).into_owned())
}

#[cfg(test)]
#[path = "tests/framing.rs"]
mod tests;
