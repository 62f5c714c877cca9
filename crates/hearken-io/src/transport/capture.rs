//! A recording: everything that arrived, unchanged, and in a second file when it arrived and what happened to the link.
//!
//! Responsibilities: the two files of `--record F`, their mode, their bound, and keeping anything that could be reused
//! out of the second one. Not here: deciding what is recorded (`runtime`), replay.
//!
//! `F` contains only the events, one JSON object per line, so any tool that reads captures can read it; numbers and
//! keys are written as they arrived, without passing through a parser. `F.meta.jsonl` contains one object per line with
//! `at` (RFC 3339), `link` and `kind`: `source`, `frame` (`line` is its line in `F`, from 1), `raw`, `undecodable`
//! (with its text), `connecting`, `connected`, `resumed`, `silent`, `lost`, `failed`, `stream_ended`, `missed`,
//! `caught_up`, `ended`, `dropped`, `listening`, `request`, `lapsed`, `strangers`, `answered`, `reply` (without its
//! token; `asked` is the line in `F` of the question that it answers), `replied`, `stopped`.
//!
//! Each line is a single write, so a recording is complete up to its last line however the program ends. The first
//! failure stops the recording and is reported once; the session goes on without it.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use jiff::Timestamp;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::outside_text::clean;
use super::recording_meta::beside;
use crate::link::{DeliveryFailure, Fault, LinkEvent, Receipt};
use crate::platform::files::create_for_owner;

/// The largest recording, both files together, in bytes: days of an agent's output, and far less of a disk than an
/// endless stream would fill.
pub const RECORDING_BYTES: u64 = 1024 * 1024 * 1024;

/// The number of questions remembered: far more than may be open at the same time.
const MOST_ASKED: usize = 1024;

/// The longest file name in an error, in characters.
const NAME_CHARACTERS: usize = 120;

/// Why there is no recording, or why it stopped.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A file of that name already exists; a recording never overwrites.
    #[error("{name} already exists; a recording never overwrites")]
    AlreadyExists {
        /// The file name, cleaned.
        name: String,
    },
    /// The file can't be created.
    #[error("{name} can't be made: {}", source.kind())]
    Create {
        /// The file name, cleaned.
        name: String,
        /// The system's error.
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

/// The writer of a recording; every call is synchronous and short.
#[derive(Debug)]
pub struct Recorder {
    events: LineFile,
    meta: LineFile,
    limit: u64,
    state: CaptureState,
    /// The latest questions' tokens and lines, to find the question that a reply answers.
    asked: VecDeque<(String, u64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CaptureState {
    Running,
    Stopped,
}

impl Recorder {
    /// Creates both files, `path` and `path` + `.meta.jsonl`, for this user alone (mode 0600 from the start; a link at
    /// either path is not followed).
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
            // We created it a moment ago, and it is still empty.
            let _ = fs::remove_file(&beside);
        })?;
        Ok(Self {
            events: LineFile::new(events),
            meta: LineFile::new(meta),
            limit,
            state: CaptureState::Running,
            asked: VecDeque::new(),
        })
    }

    /// Records which source a link reads; `name` is the safe name of the source.
    ///
    /// # Errors
    /// The recording's first failure, once; every later call does nothing and succeeds.
    pub fn source(&mut self, at: Timestamp, link: usize, name: &str) -> Result<(), RecordError> {
        self.note(at, link, "source", json!({ "name": name }))
    }

    /// Records, without reply tokens, a frame whose own wording differs from the events that it was translated into.
    ///
    /// # Errors
    /// The recording's first failure, once; every later call does nothing and succeeds.
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

    /// Records a link's news: an event goes to the events file, everything else to the second file.
    ///
    /// # Errors
    /// The recording's first failure, once; every later call does nothing and succeeds.
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
            LinkEvent::Missed { count } => self.note(at, link, "missed", json!({ "count": count })),
            LinkEvent::CaughtUp => self.note(at, link, "caught_up", json!({})),
            LinkEvent::StreamEnded => self.note(at, link, "stream_ended", json!({})),
            LinkEvent::Listening { port } => {
                self.note(at, link, "listening", json!({ "port": port }))
            }
            // Only the method: a path and a body may contain private data.
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
                    Err(DeliveryFailure::Kept(fault)) => ("no", Some(fault)),
                    Err(DeliveryFailure::Refused(fault)) => ("refused", Some(fault)),
                    Err(DeliveryFailure::Unknown(fault)) => ("perhaps", Some(fault)),
                };
                let fault = fault.map(Fault::to_string);
                let more = json!({ "request": request, "arrived": arrived, "fault": fault });
                self.note(at, link, "replied", more)
            }
            // It is recorded as it arrived, beside the events that it became.
            LinkEvent::Piece { .. } => Ok(()),
            // A program's remarks to people may contain anything, even a credential.
            LinkEvent::Remark { .. } => Ok(()),
            // Only the status: the body of the handshake may contain private data.
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

    /// Records a reply that is about to be sent, without its token; of a reply that is not JSON,
    /// only the length is recorded.
    ///
    /// # Errors
    /// The recording's first failure, once; every later call does nothing and succeeds.
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

    /// Remembers the line that a question is in; only a line with a token is parsed again.
    fn remember_question(&mut self, line: &str) {
        #[derive(serde::Deserialize)]
        struct TokenField {
            reply_token: String,
        }
        if !line.contains("\"reply_token\"") {
            return;
        }
        if let Ok(asks) = serde_json::from_str::<TokenField>(line) {
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

    /// Writes one line, unless the recording has stopped or stops now.
    fn write(&mut self, target: Target, line: &[u8]) -> Result<(), RecordError> {
        if self.state == CaptureState::Stopped {
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
        self.state = CaptureState::Stopped;
        // For a later reader of the recording; if this can't be written either, there is nothing more to report.
        let reason = json!({ "kind": "stopped", "reason": failure.to_string() });
        let _ = self.meta.append(reason.to_string().as_bytes());
        Err(failure)
    }
}

/// The file that a line is for.
#[derive(Debug, Clone, Copy)]
enum Target {
    Events,
    Meta,
}

/// A file of complete lines.
#[derive(Debug)]
struct LineFile {
    file: File,
    bytes: u64,
    lines: u64,
}

impl LineFile {
    fn new(file: File) -> Self {
        Self {
            file,
            bytes: 0,
            lines: 0,
        }
    }

    /// Appends a line in one write; removes a partial line.
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

    /// Truncates the file after its last complete line, as far as the system allows.
    fn take_back(&mut self) {
        let _ = self.file.set_len(self.bytes);
        let _ = self.file.seek(SeekFrom::Start(self.bytes));
    }
}

/// Creates a new file.
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

/// Returns a JSON object as one line, unchanged if it is already one line; `None` for anything else.
fn as_one_line(text: &str) -> Option<Cow<'_, str>> {
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    serde_json::from_str::<BTreeMap<Cow<'_, str>, IgnoredAny>>(text).ok()?;
    if !text.contains(['\n', '\r']) {
        return Some(Cow::Borrowed(text));
    }
    // In valid JSON no line break is inside a string, and white space outside strings has no
    // meaning: removing it changes no value, whereas serializing again might change numbers.
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
