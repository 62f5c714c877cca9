//! The bytes of an event stream, cleaned for the crate eventsource-client, which reads the events.
//!
//! Responsibilities: whole, valid, bounded events, written as the crate reads them correctly; the stream's id and
//! retry; marking where something was skipped. Not here: the connection and the events themselves (the crate).
//!
//! The crate gives up a connection over one bad byte, one unknown field or one empty `event:`, and has no bound. So
//! what it is given holds only comments and whole events: an event's `data` lines, decoded, after the last `event` that
//! names it. Without data there is no event. A comment of the stream becomes an empty one, a sign of life; one that
//! reads [`DROPPED`] stands for a skipped event, so a stream can't forge it. Example, with the line ends shown as `|`:
//!
//! ```text
//! in:   BOM data: a\xFF|\r\nfoo: 1|event:|retry: x|id: 7||: hello|id: 8||
//! out:  data: a\u{FFFD}||:|          resume: id 8
//! ```

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;

use super::resume::SharedResume;
use crate::link::Frame;
use crate::transport::outside_text::readable;

/// The longest event id that is kept, in bytes. Ids are short names; a longer one would only make the next request
/// fail, so resuming continues from the previous id.
const ID_BYTES: usize = 1024;

/// What a line may contain besides its value: the byte order mark, the field's name and a separator.
const FIELD_BYTES: usize = 16;

/// The longest name of an event that is kept, in bytes: names are short protocol words, and no known name is longer.
const EVENT_NAME_BYTES: usize = 128;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// The name that the standard gives to an event without one.
const UNNAMED: &str = "message";

/// The comment that stands for a skipped event.
pub(super) const DROPPED: &str = "dropped";

/// What the bytes complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StreamItem {
    /// A whole event. Its text may be empty.
    Event(Frame),
    /// An event beyond the bound was skipped here.
    Dropped,
    /// One or more comments: a sign of life.
    Comment,
}

/// Returns what arrived as the bytes of an event stream in its plainest form.
pub(super) fn written(arrived: &[StreamItem]) -> Bytes {
    let mut out = String::new();
    for one in arrived {
        match one {
            StreamItem::Event(frame) => {
                if let Some(name) = &frame.event {
                    out.extend(["event: ", name, "\n"]);
                }
                for line in frame.text.split('\n') {
                    out.extend(["data: ", line, "\n"]);
                }
                out.push('\n');
            }
            StreamItem::Dropped => out.extend([":", DROPPED, "\n"]),
            StreamItem::Comment => out.push_str(":\n"),
        }
    }
    out.into()
}

/// Returns an event that the crate has read as a frame; the usual name of unnamed events is no name.
pub(super) fn frame(event: eventsource_client::Event) -> Frame {
    Frame {
        event: Some(event.event_type).filter(|name| name != UNNAMED),
        ..Frame::of(event.data)
    }
}

/// A line-by-line parser of an event stream; feed it chunks as they arrive, split anywhere.
#[derive(Debug)]
pub(super) struct Filter {
    /// The bound of an event in its transmitted form, in bytes.
    limit: usize,
    resume: SharedResume,
    place: LinePart,
    /// Whether the last byte was a carriage return, whose line feed may still follow.
    after_return: bool,
    first_line: bool,
    /// The beginning of a line whose end has not arrived yet.
    line: Vec<u8>,
    /// The data of the current event, if there is any yet.
    data: Option<String>,
    name: Option<String>,
    /// The bytes in the kept lines of the current event.
    size: usize,
    id: Option<HeaderValue>,
    clears_id: bool,
    retry: Option<Duration>,
}

/// What the next byte belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LinePart {
    /// A line to keep.
    Line,
    /// A comment beyond the bound: its rest is skipped, the event around it is unharmed.
    LongComment,
    /// An event beyond the bound: everything up to the blank line that ends it is skipped.
    LongEvent { line_is_empty: bool },
}

impl Filter {
    pub(super) fn new(limit: usize, resume: SharedResume) -> Self {
        Self {
            limit: limit.saturating_add(FIELD_BYTES),
            resume,
            place: LinePart::Line,
            after_return: false,
            first_line: true,
            line: Vec::new(),
            data: None,
            name: None,
            size: 0,
            id: None,
            clears_id: false,
            retry: None,
        }
    }

    /// Processes the next bytes and returns what they complete.
    pub(super) fn feed(&mut self, chunk: &[u8]) -> Vec<StreamItem> {
        let mut out = Vec::new();
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
    fn keep(&mut self, bytes: &[u8], out: &mut Vec<StreamItem>) {
        match self.place {
            LinePart::Line if self.line.len() + bytes.len() <= self.limit => {
                self.line.extend_from_slice(bytes);
            }
            LinePart::Line => self.overflow(bytes, out),
            LinePart::LongComment => {}
            LinePart::LongEvent { .. } => {
                self.place = LinePart::LongEvent {
                    line_is_empty: false,
                };
            }
        }
    }

    /// Processes a line's last bytes, without its line break.
    fn end_line(&mut self, bytes: &[u8], out: &mut Vec<StreamItem>) {
        match self.place {
            LinePart::Line if self.line.len() + bytes.len() > self.limit => {
                self.overflow(bytes, out);
                self.end_line(&[], out);
            }
            LinePart::Line if self.line.is_empty() => self.whole_line(bytes, out),
            LinePart::Line => {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(bytes);
                self.whole_line(&line, out);
                // Its buffer serves the next line, unless it is unusually large.
                if line.capacity() <= 64 * 1024 {
                    line.clear();
                    self.line = line;
                }
            }
            LinePart::LongComment => self.place = LinePart::Line,
            LinePart::LongEvent { line_is_empty } => {
                if line_is_empty && bytes.is_empty() {
                    self.place = LinePart::Line;
                    self.end_event(out);
                } else {
                    self.place = LinePart::LongEvent {
                        line_is_empty: true,
                    };
                }
            }
        }
    }

    /// Starts skipping, because the line that `bytes` continues is beyond the bound.
    fn overflow(&mut self, bytes: &[u8], out: &mut Vec<StreamItem>) {
        let first = self.line.first().or(bytes.first()).copied();
        self.line = Vec::new();
        self.first_line = false;
        if first == Some(b':') {
            self.place = LinePart::LongComment;
        } else {
            self.drop_event(out);
            self.place = LinePart::LongEvent {
                line_is_empty: false,
            };
        }
    }

    /// Skips the current event and marks the place. Its id, if it had one, still counts: the event was received and
    /// reported, and the server need not send it again.
    fn drop_event(&mut self, out: &mut Vec<StreamItem>) {
        self.let_go();
        out.push(StreamItem::Dropped);
    }

    /// Clears the current event, and returns its data and name.
    fn let_go(&mut self) -> (Option<String>, Option<String>) {
        self.size = 0;
        (self.data.take(), self.name.take())
    }

    fn whole_line(&mut self, line: &[u8], out: &mut Vec<StreamItem>) {
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
                if out.last() != Some(&StreamItem::Comment) {
                    out.push(StreamItem::Comment);
                }
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
                if let Some(value) = self.kept(b"data: ", value, out) {
                    match &mut self.data {
                        None => self.data = Some(value.into_owned()),
                        Some(data) => {
                            data.push('\n');
                            data.push_str(&value);
                        }
                    }
                }
            }
            // An empty name counts as no name.
            b"event" if !value.is_empty() => {
                if let Some(value) = self.kept(b"event: ", value, out) {
                    self.name = named(&value);
                }
            }
            b"id" => self.note_id(value),
            b"retry" => self.note_retry(value),
            _ => {}
        }
    }

    /// Decodes a line of the current event, if it fits.
    fn kept<'a>(
        &mut self,
        field: &[u8],
        value: &'a [u8],
        out: &mut Vec<StreamItem>,
    ) -> Option<Cow<'a, str>> {
        // Lines are cut at ASCII bytes, so no character is ever split here.
        let value = readable(value);
        if self.size + field.len() + value.len() > self.limit {
            self.drop_event(out);
            self.place = LinePart::LongEvent {
                line_is_empty: true,
            };
            return None;
        }
        self.size += field.len() + value.len() + 1;
        Some(value)
    }

    /// Stores an id; one with a control character or of unusual length is ignored.
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

    /// Ends an event: passes it on if there is one, and keeps the stream's instructions for resuming.
    fn end_event(&mut self, out: &mut Vec<StreamItem>) {
        let id = self.id.take();
        let clears_id = std::mem::take(&mut self.clears_id);
        let retry = self.retry.take();
        let passes = self.data.is_some() && id.is_none();
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
        let (data, name) = self.let_go();
        out.extend(data.map(|text| {
            StreamItem::Event(Frame {
                event: name,
                ..Frame::of(text)
            })
        }));
    }
}

/// The cleaning of an event stream on its own: from its bytes to the events that the crate is given.
#[derive(Debug)]
pub struct EventStream(Filter);

impl EventStream {
    /// Starts a stream whose events have at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self(Filter::new(limit, SharedResume::default()))
    }

    /// Processes the next bytes and returns the events that they complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Frame> {
        let events = self.0.feed(bytes).into_iter();
        let events = events.filter_map(|arrived| match arrived {
            StreamItem::Event(frame) => Some(frame),
            StreamItem::Dropped | StreamItem::Comment => None,
        });
        events.collect()
    }
}

/// Returns the name of an event, cut to the bound; `None` for the default name of unnamed events.
fn named(name: &str) -> Option<String> {
    if name == UNNAMED {
        return None;
    }
    Some(name[..name.floor_char_boundary(EVENT_NAME_BYTES)].to_owned())
}

#[cfg(test)]
#[path = "../tests/sse_filter.rs"]
mod tests;
