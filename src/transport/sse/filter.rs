//! The bytes of an event stream, made harmless before they are parsed.
//!
//! Responsibilities: whole, valid, bounded blocks for the parser; the stream's id and retry; saying
//! where something was dropped. Not here: putting events together (the crate eventsource-client).
//!
//! The parser behind this gives a connection up over one bad byte, one unknown field or one empty
//! `event:`, and has no bound. So each line is looked at here first. What is passed on is always a
//! whole event: its `event` and `data` lines, decoded, ended by line feeds, then a blank line. What
//! has no data is no event and is not passed on. Comments are passed on without their text, as a sign
//! of life. Example, with the line ends shown as `|`:
//!
//! ```text
//! in:   BOM data: a\xFF|\r\nfoo: 1|event:|retry: x|id: 7||: hello|id: 8||
//! out:  data: a\u{FFFD}||:|          resume: id 8
//! ```

use std::time::Duration;

use http::HeaderValue;

use super::resume::SharedResume;

/// Is the text of the comment that stands where an event was left out. The stream's own comments
/// lose their text, so it can't be forged.
pub(super) const DROPPED_MARK: &str = "dropped";

/// The longest event id that is kept, in bytes. Ids are short names; a longer one would only make the
/// next request fail, so the resumption stays at the id before.
const ID_BYTES: usize = 1024;

/// What a line may hold besides its value: the mark at the start, the field's name and a separator.
const FIELD_BYTES: usize = 16;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Looks at an event stream line by line; feed it chunks as they come, split anywhere.
#[derive(Debug)]
pub(super) struct Filter {
    /// The bound of an event as it stands on the wire, in bytes.
    limit: usize,
    resume: SharedResume,
    place: Inside,
    /// Whether the last byte was a carriage return, whose line feed may still come.
    after_return: bool,
    first_line: bool,
    /// The beginning of a line whose end has not come yet.
    line: Vec<u8>,
    /// The lines of the current event that are passed on.
    block: Vec<u8>,
    has_data: bool,
    id: Option<HeaderValue>,
    clears_id: bool,
    retry: Option<Duration>,
}

/// Says what the next byte belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// A line that is kept.
    Line,
    /// A comment beyond the bound: its rest is skipped, the event around it is not hurt.
    LongComment,
    /// An event beyond the bound: all is skipped to the blank line that ends it.
    LongEvent { line_is_empty: bool },
}

impl Filter {
    pub(super) fn new(limit: usize, resume: SharedResume) -> Self {
        Self {
            limit: limit.saturating_add(FIELD_BYTES),
            resume,
            place: Inside::Line,
            after_return: false,
            first_line: true,
            line: Vec::new(),
            block: Vec::new(),
            has_data: false,
            id: None,
            clears_id: false,
            retry: None,
        }
    }

    /// Takes the next bytes and gives what is ready for the parser.
    pub(super) fn feed(&mut self, chunk: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(chunk.len());
        let mut rest = chunk;
        while let Some(first) = rest.first() {
            if std::mem::take(&mut self.after_return) && *first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            match memchr::memchr2(b'\n', b'\r', rest) {
                Some(end) => {
                    self.end_line(&rest[..end], &mut out);
                    self.after_return = rest[end] == b'\r';
                    rest = &rest[end + 1..];
                }
                None => {
                    self.keep(rest, &mut out);
                    break;
                }
            }
        }
        out
    }

    /// Keeps the beginning of a line.
    fn keep(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        match self.place {
            Inside::Line if self.line.len() + bytes.len() <= self.limit => {
                self.line.extend_from_slice(bytes);
            }
            Inside::Line => self.overflow(bytes, out),
            Inside::LongComment => {}
            Inside::LongEvent { .. } => {
                self.place = Inside::LongEvent {
                    line_is_empty: false,
                };
            }
        }
    }

    /// Takes a line's last bytes, without its end.
    fn end_line(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        match self.place {
            Inside::Line if self.line.len() + bytes.len() > self.limit => {
                self.overflow(bytes, out);
                self.end_line(&[], out);
            }
            Inside::Line if self.line.is_empty() => self.whole_line(bytes, out),
            Inside::Line => {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(bytes);
                self.whole_line(&line, out);
                // Its room serves the next line, unless it is unusually much.
                if line.capacity() <= 64 * 1024 {
                    line.clear();
                    self.line = line;
                }
            }
            Inside::LongComment => self.place = Inside::Line,
            Inside::LongEvent { line_is_empty } => {
                if line_is_empty && bytes.is_empty() {
                    self.place = Inside::Line;
                    self.end_event(out);
                } else {
                    self.place = Inside::LongEvent {
                        line_is_empty: true,
                    };
                }
            }
        }
    }

    /// Begins to skip, because the line that `bytes` goes on with is beyond the bound.
    fn overflow(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let first = self.line.first().or(bytes.first()).copied();
        self.line = Vec::new();
        self.first_line = false;
        if first == Some(b':') {
            self.place = Inside::LongComment;
        } else {
            self.drop_event(out);
            self.place = Inside::LongEvent {
                line_is_empty: false,
            };
        }
    }

    /// Leaves the current event out and marks the place. Its id, if it had one, still counts: it was
    /// met and told, and the server need not send it again.
    fn drop_event(&mut self, out: &mut Vec<u8>) {
        self.block = Vec::new();
        self.has_data = false;
        out.push(b':');
        out.extend_from_slice(DROPPED_MARK.as_bytes());
        out.push(b'\n');
    }

    fn whole_line(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let line = if std::mem::take(&mut self.first_line) {
            line.strip_prefix(BOM).unwrap_or(line)
        } else {
            line
        };
        if line.is_empty() {
            return self.end_event(out);
        }
        let (name, value) = match line.iter().position(|b| *b == b':') {
            Some(0) => {
                out.extend_from_slice(b":\n");
                return;
            }
            Some(colon) => {
                let value = &line[colon + 1..];
                (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, [].as_slice()),
        };
        match name {
            b"data" => {
                self.has_data = true;
                self.pass(b"data: ", value, out);
            }
            // An empty name is the same as none.
            b"event" if !value.is_empty() => self.pass(b"event: ", value, out),
            b"id" => self.note_id(value),
            b"retry" => self.note_retry(value),
            _ => {}
        }
    }

    /// Adds a line to the event that will be passed on, decoded.
    fn pass(&mut self, field: &[u8], value: &[u8], out: &mut Vec<u8>) {
        // Lines are cut at ASCII bytes, so no character is ever split here.
        let value = String::from_utf8_lossy(value);
        if self.block.len() + field.len() + value.len() > self.limit {
            self.drop_event(out);
            self.place = Inside::LongEvent {
                line_is_empty: true,
            };
            return;
        }
        self.block.extend_from_slice(field);
        self.block.extend_from_slice(value.as_bytes());
        self.block.push(b'\n');
    }

    /// Notes an id; one with a control character or of unusual length is as good as none.
    fn note_id(&mut self, value: &[u8]) {
        if value.is_empty() {
            self.clears_id = true;
            self.id = None;
            return;
        }
        let text = String::from_utf8_lossy(value);
        if text.len() > ID_BYTES || text.chars().any(char::is_control) {
            return;
        }
        if let Ok(id) = HeaderValue::from_bytes(text.as_bytes()) {
            self.id = Some(id);
        }
    }

    fn note_retry(&mut self, value: &[u8]) {
        if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
            return;
        }
        let ms = std::str::from_utf8(value)
            .ok()
            .and_then(|digits| digits.parse().ok())
            .unwrap_or(u64::MAX);
        self.retry = Some(Duration::from_millis(ms));
    }

    /// Ends an event: passes it on if there is one, and keeps what the stream said about resuming.
    fn end_event(&mut self, out: &mut Vec<u8>) {
        let id = self.id.take();
        let clears_id = std::mem::take(&mut self.clears_id);
        let retry = self.retry.take();
        let passes = self.has_data && id.is_none();
        if id.is_some() || clears_id || retry.is_some() || passes {
            self.resume.with(|resume| {
                resume.passed = passes || (resume.passed && id.is_none());
                if id.is_some() || clears_id {
                    resume.last_event_id = id;
                }
                if retry.is_some() {
                    resume.retry = retry;
                }
            });
        }
        if std::mem::take(&mut self.has_data) {
            out.extend_from_slice(&self.block);
            out.push(b'\n');
        }
        self.block.clear();
        if self.block.capacity() > 64 * 1024 {
            self.block = Vec::new();
        }
    }
}

#[cfg(test)]
#[path = "../tests/filter.rs"]
mod tests;
