//! A recording: what came, as it came, and beside it when it came and what happened to the link.
//!
//! Responsibilities: the two files of `--record F`, their mode, their bound, and that nothing which
//! could be used again is in the second one. Not here: deciding what is recorded (`runtime`), replay.
//!
//! `F` holds the events and nothing else, one JSON object a line, so that any tool which reads
//! captures reads it; a number or a key is written as it came, never through a parser. `F.meta.jsonl`
//! holds one object a line with `at` (RFC 3339), `link` and `kind`: `source`, `frame` (`line` is its
//! line in `F`, from 1), `undecodable` (with its text), `connecting`, `connected`, `lost`, `failed`,
//! `ended`, `dropped`, `reply` (without its token; `asked` is the line in `F` of the question that it
//! answers), `replied`, `stopped`.
//!
//! Each line is one write, so a recording is whole up to its last line whenever the program ends. The
//! first failure stops the recording and is told once; the session goes on without it.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use jiff::Timestamp;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::clean::clean;
use super::recorded::beside;
use crate::link::{Fault, LinkEvent, Receipt, Undelivered};
use crate::platform::files::create_for_owner;

/// The largest recording, both files together, in bytes: days of an agent's talk, and far less than a
/// stream without end would leave of a disk.
pub const RECORDING_BYTES: u64 = 1024 * 1024 * 1024;

/// How many questions are remembered: far more than may be open at once.
const MOST_ASKED: usize = 1024;

/// The longest file name in an error, in characters.
const NAME_CHARACTERS: usize = 120;

/// Why there is no recording, or why it has stopped.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A file of that name is there; a recording never overwrites.
    #[error("{name} already exists; a recording never overwrites")]
    AlreadyExists {
        /// The file, cleaned.
        name: String,
    },
    /// The file can't be made.
    #[error("{name} can't be made: {}", source.kind())]
    Create {
        /// The file, cleaned.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// A line can't be written, for instance because the disk is full.
    #[error("the recording has stopped, because it can't be written: {}", .0.kind())]
    Write(#[source] io::Error),
    /// The recording has reached its bound.
    #[error("the recording has stopped, because it has reached {limit} bytes")]
    Full {
        /// The bound, in bytes.
        limit: u64,
    },
}

/// Writes a recording; every call is synchronous and small.
#[derive(Debug)]
pub struct Recorder {
    events: Output,
    meta: Output,
    limit: u64,
    state: State,
    /// The last questions' tokens and lines, so that a reply can be told whose answer it is.
    asked: VecDeque<(String, u64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    Stopped,
}

impl Recorder {
    /// Makes both files, `path` and `path` + `.meta.jsonl`, for this user alone (mode 0600 from the
    /// first moment on; a link in their place is not followed).
    ///
    /// # Errors
    /// [`RecordError::AlreadyExists`] and [`RecordError::Create`]; then neither file is left behind.
    pub fn create(path: &Path) -> Result<Self, RecordError> {
        Self::with_limit(path, RECORDING_BYTES)
    }

    fn with_limit(path: &Path, limit: u64) -> Result<Self, RecordError> {
        let beside = beside(path);
        let meta = create_new(&beside)?;
        let events = create_new(path).inspect_err(|_| {
            // Made a moment ago by ourselves and still empty.
            let _ = fs::remove_file(&beside);
        })?;
        Ok(Self {
            events: Output::new(events),
            meta: Output::new(meta),
            limit,
            state: State::Running,
            asked: VecDeque::new(),
        })
    }

    /// Notes which source a link is; `name` is the safe name of the source.
    ///
    /// # Errors
    /// The first failure of a recording, once; after it all calls do nothing and succeed.
    pub fn source(&mut self, at: Timestamp, link: usize, name: &str) -> Result<(), RecordError> {
        self.note(at, link, "source", json!({ "name": name }))
    }

    /// Records a frame that says what it says in other words than the events that were made of it, without
    /// reply tokens.
    ///
    /// # Errors
    /// The first failure of a recording, once; after it all calls do nothing and succeed.
    pub fn raw(&mut self, at: Timestamp, link: usize, text: &str) -> Result<(), RecordError> {
        let more = match serde_json::from_str::<Value>(text) {
            Ok(mut message) => {
                leave_out_tokens(&mut message);
                json!({ "message": message })
            }
            Err(_) => json!({ "text": text }),
        };
        self.note(at, link, "raw", more)
    }

    /// Records a link's news: an event goes to the events, everything else beside them.
    ///
    /// # Errors
    /// The first failure of a recording, once; after it all calls do nothing and succeed.
    pub fn news(
        &mut self,
        at: Timestamp,
        link: usize,
        event: &LinkEvent,
    ) -> Result<(), RecordError> {
        match event {
            LinkEvent::Frame(frame) => match as_one_line(&frame.text) {
                Some(line) => {
                    self.write(Target::Events, line.as_bytes())?;
                    self.remember_question(&line);
                    let line = self.events.lines;
                    self.note(at, link, "frame", json!({ "line": line }))
                }
                None => self.note(at, link, "undecodable", json!({ "text": frame.text })),
            },
            LinkEvent::Connecting { attempt } => {
                self.note(at, link, "connecting", json!({ "attempt": attempt }))
            }
            LinkEvent::Connected => self.note(at, link, "connected", json!({})),
            LinkEvent::Resumed => self.note(at, link, "resumed", json!({})),
            LinkEvent::StreamEnded => self.note(at, link, "stream_ended", json!({})),
            LinkEvent::Listening { port } => {
                self.note(at, link, "listening", json!({ "port": port }))
            }
            // The method alone: a path and a body may name what is nobody else's business.
            LinkEvent::Request { id, request } => {
                let more = json!({ "request": id, "method": request.method.name() });
                self.note(at, link, "request", more)
            }
            LinkEvent::Strangers { count } => {
                self.note(at, link, "strangers", json!({ "count": count }))
            }
            LinkEvent::Lapsed { id } => self.note(at, link, "lapsed", json!({ "request": id })),
            LinkEvent::Lost { fault, retry_in } => {
                let retry_ms = u64::try_from(retry_in.as_millis()).unwrap_or(u64::MAX);
                let more = json!({ "fault": fault.to_string(), "retry_in_ms": retry_ms });
                self.note(at, link, "lost", more)
            }
            LinkEvent::Failed { fault } => {
                self.note(at, link, "failed", json!({ "fault": fault.to_string() }))
            }
            LinkEvent::Ended => self.note(at, link, "ended", json!({})),
            LinkEvent::Replied { request, outcome } => {
                let (arrived, fault) = match outcome {
                    Ok(Receipt::Taken) => ("taken", None),
                    Ok(Receipt::Written) => ("written", None),
                    Ok(Receipt::Here) => ("here", None),
                    Err(Undelivered::Kept(fault)) => ("no", Some(fault)),
                    Err(Undelivered::Refused(fault)) => ("refused", Some(fault)),
                    Err(Undelivered::Unknown(fault)) => ("perhaps", Some(fault)),
                };
                let fault = fault.map(Fault::to_string);
                let more = json!({ "request": request, "arrived": arrived, "fault": fault });
                self.note(at, link, "replied", more)
            }
            // It is kept as it came, beside the events that it became.
            LinkEvent::Piece { .. } => Ok(()),
            // What a program says to people may hold anything, a credential too.
            LinkEvent::Remark { .. } => Ok(()),
            // The status alone: a body of the handshake may name what is nobody else's business.
            LinkEvent::Answered { request, outcome } => match outcome {
                Ok(answer) => {
                    let more = json!({ "request": request, "status": answer.status });
                    self.note(at, link, "answered", more)
                }
                Err(fault) => {
                    let more = json!({ "request": request, "fault": fault.to_string() });
                    self.note(at, link, "answered", more)
                }
            },
            LinkEvent::Silent { seconds } => {
                self.note(at, link, "silent", json!({ "seconds": seconds }))
            }
            LinkEvent::Dropped { fault, count } => {
                let more = json!({ "fault": fault.to_string(), "count": count });
                self.note(at, link, "dropped", more)
            }
        }
    }

    /// Records a reply that is about to be sent, without its token; what is no JSON is not recorded
    /// but for its length.
    ///
    /// # Errors
    /// The first failure of a recording, once; after it all calls do nothing and succeed.
    pub fn reply(
        &mut self,
        at: Timestamp,
        link: usize,
        request: u64,
        body: &str,
    ) -> Result<(), RecordError> {
        let mut asked = None;
        let body = match serde_json::from_str::<Value>(body) {
            Ok(mut value) => {
                let token = value["reply_token"].as_str().unwrap_or_default();
                let question = self.asked.iter().rev().find(|(known, _)| known == token);
                asked = question.map(|(_, line)| *line);
                leave_out_tokens(&mut value);
                value
            }
            Err(_) => json!({ "bytes": body.len() }),
        };
        let more = json!({ "request": request, "asked": asked, "body": body });
        self.note(at, link, "reply", more)
    }

    /// Remembers in which line a question stands; only what has a token is looked at twice.
    fn remember_question(&mut self, line: &str) {
        #[derive(serde::Deserialize)]
        struct Asks {
            reply_token: String,
        }
        if !line.contains("\"reply_token\"") {
            return;
        }
        if let Ok(asks) = serde_json::from_str::<Asks>(line) {
            self.asked.push_back((asks.reply_token, self.events.lines));
            if self.asked.len() > MOST_ASKED {
                self.asked.pop_front();
            }
        }
    }

    fn note(
        &mut self,
        at: Timestamp,
        link: usize,
        kind: &str,
        more: Value,
    ) -> Result<(), RecordError> {
        let line = meta_line(at, link, kind, more);
        self.write(Target::Meta, line.as_bytes())
    }

    /// Writes one line, unless the recording has stopped or now stops.
    fn write(&mut self, target: Target, line: &[u8]) -> Result<(), RecordError> {
        if self.state == State::Stopped {
            return Ok(());
        }
        let size = self.events.bytes + self.meta.bytes + line.len() as u64 + 1;
        let failure = if size > self.limit {
            RecordError::Full { limit: self.limit }
        } else {
            let output = match target {
                Target::Events => &mut self.events,
                Target::Meta => &mut self.meta,
            };
            match output.append(line) {
                Ok(()) => return Ok(()),
                Err(error) => RecordError::Write(error),
            }
        };
        self.state = State::Stopped;
        // For whoever reads the recording later; that it can't be written either is no more news.
        let reason = json!({ "kind": "stopped", "reason": failure.to_string() });
        let _ = self.meta.append(reason.to_string().as_bytes());
        Err(failure)
    }
}

/// Which file a line is for.
#[derive(Debug, Clone, Copy)]
enum Target {
    Events,
    Meta,
}

/// A file of whole lines.
#[derive(Debug)]
struct Output {
    file: File,
    bytes: u64,
    lines: u64,
}

impl Output {
    fn new(file: File) -> Self {
        Self {
            file,
            bytes: 0,
            lines: 0,
        }
    }

    /// Adds a line in one write; half a line is taken back.
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        let mut whole = Vec::with_capacity(line.len() + 1);
        whole.extend_from_slice(line);
        whole.push(b'\n');
        if let Err(error) = self.file.write_all(&whole) {
            self.take_back();
            return Err(error);
        }
        self.bytes += whole.len() as u64;
        self.lines += 1;
        Ok(())
    }

    /// Takes back what was written after the last whole line, as far as the system lets it.
    fn take_back(&mut self) {
        let _ = self.file.set_len(self.bytes);
        let _ = self.file.seek(SeekFrom::Start(self.bytes));
    }
}

/// Makes a file that was not there.
fn create_new(path: &Path) -> Result<File, RecordError> {
    create_for_owner(path).map_err(|source| {
        let name = clean(&path.to_string_lossy(), NAME_CHARACTERS);
        if source.kind() == io::ErrorKind::AlreadyExists {
            RecordError::AlreadyExists { name }
        } else {
            RecordError::Create { name, source }
        }
    })
}

/// Returns a JSON object as one line, as it came where it is one line already; nothing else is given.
fn as_one_line(text: &str) -> Option<Cow<'_, str>> {
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    serde_json::from_str::<BTreeMap<Cow<'_, str>, IgnoredAny>>(text).ok()?;
    if !text.contains(['\n', '\r']) {
        return Some(Cow::Borrowed(text));
    }
    // In valid JSON a line break never stands inside a string, and white space outside of strings
    // means nothing: leaving it out changes no value, where writing it anew might change numbers.
    let mut line = String::with_capacity(text.len());
    let mut in_string = false;
    let mut escaped = false;
    for c in text.chars() {
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else if matches!(c, ' ' | '\t' | '\r' | '\n') {
            continue;
        } else {
            in_string = c == '"';
        }
        line.push(c);
    }
    Some(Cow::Owned(line))
}

fn leave_out_tokens(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.shift_remove("reply_token");
            fields.values_mut().for_each(leave_out_tokens);
        }
        Value::Array(items) => items.iter_mut().for_each(leave_out_tokens),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn meta_line(at: Timestamp, link: usize, kind: &str, more: Value) -> String {
    let mut line = json!({ "at": format!("{at:.3}"), "link": link, "kind": kind });
    if let (Value::Object(line), Value::Object(more)) = (&mut line, more) {
        line.extend(more);
    }
    line.to_string()
}

#[cfg(test)]
#[path = "tests/capture.rs"]
mod tests;
