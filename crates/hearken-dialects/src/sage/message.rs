//! One message of Sage, read as far as possible and made harmless.
//!
//! Responsibilities: what a message says, in either of Sage's two forms; the envelopes of `sage.runtime.v0`. Not here:
//! the lines of `--stream-json` (`program_lines`), what a message means for its turn (`turn_events` and its
//! neighbours).
//!
//! Mental model: reading never fails over a detail. Only an envelope of unknown type is not a message. Names are cut,
//! because they are kept; announced texts are not.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::super::event_writer::cut;

/// The start of the version in runtime envelopes; later versions of the family are read alike.
const VERSION: &str = "sage.runtime.";

/// The longest name that is kept, in characters: longer than any generated id.
const LONGEST_NAME: usize = 256;

/// Where a message belongs, and when it was written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MessageOrigin {
    /// The conversation; empty if the message names none.
    pub thread: String,
    /// The turn; empty if the message names none.
    pub turn: String,
    /// The item.
    pub item: Option<String>,
    /// The request that it makes or answers.
    pub request: Option<String>,
    /// The time of writing.
    pub at: Option<Timestamp>,
}

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub struct SageMessage {
    /// Where it belongs.
    pub place: MessageOrigin,
    /// What it says.
    pub says: MessageSubject,
}

/// The content of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum MessageSubject {
    /// A conversation has begun.
    ThreadStarted {
        /// The model in use.
        model: Option<String>,
    },
    /// A conversation has ended.
    ThreadEnded {
        /// How, in terms of Sage's own machine.
        by: ConversationEnd,
        /// The reason, in Sage's words or by its code.
        why: Option<String>,
    },
    /// Another client of Sage answered a request, as a capture shows it.
    Answered(ClientAnswer),
    /// A turn is requested, with this prompt.
    Prompt(String),
    /// A turn begins.
    TurnStarted,
    /// A turn has ended.
    TurnEnded(ReportedEnd),
    /// The agent, the person or a tool did something.
    Item(SageItem),
    /// A permission is requested.
    Requested(Permission),
    /// A permission was granted or denied.
    Resolved {
        /// Whether it was granted.
        allowed: bool,
        /// Whether the tool's input was changed when it was granted.
        changed: bool,
    },
    /// A request was accepted or refused.
    Response {
        /// Whether it was accepted.
        accepted: bool,
    },
    /// An error.
    Error(ErrorReport),
    /// Nothing worth announcing.
    Nothing,
}

/// The ways in which a conversation can end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConversationEnd {
    /// It was ended.
    Ended,
    /// An error ended it.
    Failed,
    /// Its time was over.
    TimedOut,
}

/// An answer of another client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientAnswer {
    /// The input that was requested.
    Input(String),
    /// Whether the permission was granted.
    Permission(bool),
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedEnd {
    /// The kind of ending.
    pub end_kind: SageTurnEnd,
    /// Sage's code for the reason.
    pub reason: Option<String>,
    /// The result, or the error text.
    pub result: Option<String>,
    /// How long it took.
    pub duration_ms: Option<u64>,
}

/// The ways in which a turn can end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SageTurnEnd {
    /// It finished its task.
    Completed,
    /// It failed.
    Failed,
    /// It was stopped.
    Interrupted,
    /// It ended with a question for the person.
    AsksForInput,
}

/// How complete an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completeness {
    /// It has begun.
    Created,
    /// It has grown.
    Updated,
    /// It is complete.
    Completed,
}

/// The content of an item.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemKind {
    /// Speech of the agent.
    Assistant(String),
    /// A message of the person.
    User(String),
    /// A remark of Sage itself.
    System(String),
    /// A question that needs input.
    Asks(String),
    /// A tool call.
    Tool(Box<CallReport>),
    /// The result of the turn.
    Result(String),
    /// Anything that is not announced.
    Other,
}

/// An item of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct SageItem {
    /// How complete it is.
    pub stage: Completeness,
    /// Its content.
    pub kind: ItemKind,
}

/// The content of a message about a call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CallReport {
    /// The tool.
    pub tool: String,
    /// The status of the call.
    pub status: SageStatus,
    /// Its arguments, in brief.
    pub arguments: Option<String>,
    /// Its output.
    pub output: Option<String>,
    /// Its error.
    pub error: Option<String>,
    /// How long it took.
    pub duration_ms: Option<u64>,
}

/// The status of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SageStatus {
    /// No status was reported.
    #[default]
    Unsaid,
    /// It was started, and may be waiting for its permission.
    Started,
    /// It succeeded.
    Succeeded,
    /// It failed.
    Failed,
    /// It timed out.
    TimedOut,
    /// It was stopped.
    Interrupted,
    /// It was denied.
    Denied,
    /// It ended; the outcome is not reported.
    Ended,
}

/// A request for a permission.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Permission {
    /// The tool.
    pub tool: String,
    /// Sage's word for the risk.
    pub risk: Option<String>,
    /// The reason for asking.
    pub reason: Option<String>,
    /// The tool's input, if it may be seen.
    pub input: Option<String>,
    /// Whether the input is redacted.
    pub redacted: bool,
}

/// An error report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ErrorReport {
    /// Sage's code for the error.
    pub code: String,
    /// The error text.
    pub message: String,
    /// The tool concerned.
    pub tool: Option<String>,
    /// Whether trying again can help, if Sage says so.
    pub retryable: Option<bool>,
}

/// Returns whether an object is an envelope of the runtime.
pub fn is_envelope(map: &Map<String, Value>) -> bool {
    text(map, "protocol_version").is_some_and(|version| version.starts_with(VERSION))
}

/// Reads an envelope of the runtime; `None` if its type is unknown.
pub fn envelope(map: &Map<String, Value>) -> Option<SageMessage> {
    let empty = Map::new();
    let payload = map
        .get("payload")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let kind = text(map, "type")?;
    let says = match (text(map, "kind").unwrap_or("notification"), kind) {
        ("notification", kind) => notification(map, payload, kind)?,
        ("request", "turn.start") => MessageSubject::Prompt(said(payload, "input")?),
        ("request", "input.respond") => MessageSubject::Answered(ClientAnswer::Input(
            said(payload, "text").unwrap_or_default(),
        )),
        ("request", "permission.respond") => MessageSubject::Answered(ClientAnswer::Permission(
            text(payload, "decision") == Some("allow"),
        )),
        // A request to Sage by another client shows in Sage's reaction to it.
        ("request", _) => MessageSubject::Nothing,
        ("response", _) => MessageSubject::Response {
            accepted: payload.get("accepted").and_then(Value::as_bool) != Some(false),
        },
        ("error", _) => MessageSubject::Error(report(payload)),
        _ => return None,
    };
    let name = |field: &str| text(map, field).map(|name| cut(name, LONGEST_NAME));
    Some(SageMessage {
        place: MessageOrigin {
            thread: name("thread_id").unwrap_or_default(),
            turn: name("turn_id").unwrap_or_default(),
            item: name("item_id"),
            request: name("request_id"),
            at: stamp(map),
        },
        says,
    })
}

fn notification(
    map: &Map<String, Value>,
    payload: &Map<String, Value>,
    kind: &str,
) -> Option<MessageSubject> {
    let stage = match kind {
        "thread.started" => {
            let of = |map: &Map<String, Value>| {
                let model = map.get("metadata")?.get("model")?.as_str()?;
                Some(cut(model, LONGEST_NAME))
            };
            return Some(MessageSubject::ThreadStarted { model: of(map) });
        }
        "thread.ended" => return Some(thread_ended(payload)),
        "turn.started" => return Some(MessageSubject::TurnStarted),
        "turn.completed" | "turn.interrupted" => {
            return Some(MessageSubject::TurnEnded(end(payload, kind)));
        }
        "permission.requested" => {
            return Some(MessageSubject::Requested(Permission {
                tool: said(payload, "tool_name").unwrap_or_default(),
                risk: said(payload, "risk"),
                reason: said(payload, "reason"),
                input: payload.get("input").and_then(brief),
                redacted: payload.get("input_redacted").and_then(Value::as_bool) == Some(true),
            }));
        }
        "permission.resolved" => {
            return Some(MessageSubject::Resolved {
                // Anything but a plain consent is a denial.
                allowed: text(payload, "decision") == Some("allow"),
                changed: payload
                    .get("modified_input_applied")
                    .and_then(Value::as_bool)
                    == Some(true),
            });
        }
        kind if kind.starts_with("error.") => return Some(MessageSubject::Error(report(payload))),
        "item.created" => Completeness::Created,
        "item.updated" => Completeness::Updated,
        "item.completed" => Completeness::Completed,
        _ => return None,
    };
    let asks = map.contains_key("request_id");
    Some(MessageSubject::Item(SageItem {
        stage,
        kind: item(payload, asks),
    }))
}

/// Reads how a conversation ended: normally, unless a word of its reason says otherwise.
fn thread_ended(payload: &Map<String, Value>) -> MessageSubject {
    let words = ["status", "reason", "code"].map(|name| text(payload, name));
    let says = |parts: &[&str]| {
        let mut words = words.iter().flatten().map(|word| word.to_lowercase());
        words.any(|word| parts.iter().any(|part| word.contains(part)))
    };
    let by = if says(&["timeout", "timed_out", "timed out", "expired"]) {
        ConversationEnd::TimedOut
    } else if says(&["error", "fail", "crash"]) || payload.contains_key("error") {
        ConversationEnd::Failed
    } else {
        ConversationEnd::Ended
    };
    let error = payload.get("error").and_then(Value::as_object);
    let why = said(payload, "message")
        .or_else(|| said(payload, "error"))
        .or_else(|| said(error?, "message"))
        .or_else(|| said(payload, "reason"));
    MessageSubject::ThreadEnded { by, why }
}

fn item(payload: &Map<String, Value>, asks: bool) -> ItemKind {
    let content = || said(payload, "content").unwrap_or_default();
    let role = text(payload, "role");
    match (text(payload, "item_type").unwrap_or_default(), role) {
        ("assistant_message", _) | ("message", Some("assistant")) => ItemKind::Assistant(content()),
        ("user_message", _) | ("message", Some("user")) => ItemKind::User(content()),
        // Sage has no notification for this: it is a message with a request.
        ("message" | "system_message", _) if asks => ItemKind::Asks(content()),
        ("message" | "system_message", _) => ItemKind::System(content()),
        ("tool_call", _) => ItemKind::Tool(Box::new(call(payload))),
        ("result", _) => ItemKind::Result(
            said(payload, "result")
                .or_else(|| said(payload, "content"))
                .unwrap_or_default(),
        ),
        _ => ItemKind::Other,
    }
}

/// Reads a call from an item's payload.
fn call(payload: &Map<String, Value>) -> CallReport {
    let success = payload.get("success").and_then(Value::as_bool);
    let error = said(payload, "message");
    let failed = || failure(text(payload, "code"), error.as_deref());
    let status = match (text(payload, "status"), success) {
        (Some("started"), _) => SageStatus::Started,
        (Some("completed"), Some(false)) | (Some("failed"), _) => failed(),
        (Some("completed"), _) => SageStatus::Succeeded,
        (Some("interrupted"), _) => SageStatus::Interrupted,
        (_, Some(true)) => SageStatus::Succeeded,
        (_, Some(false)) => failed(),
        (_, None) => SageStatus::Unsaid,
    };
    CallReport {
        tool: said(payload, "tool_name").unwrap_or_default(),
        status,
        arguments: payload.get("arguments").and_then(brief),
        output: said(payload, "output_preview").or_else(|| said(payload, "result")),
        error,
        duration_ms: payload.get("duration_ms").and_then(Value::as_u64),
    }
}

/// Classifies a failure by Sage's code, or else by its words.
pub fn failure(code: Option<&str>, words: Option<&str>) -> SageStatus {
    let begins = |sign: &str| {
        words.is_some_and(|words| {
            let start = words.trim_start().trim_start_matches("Error: ");
            start
                .get(..sign.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(sign))
        })
    };
    match code {
        Some("permission_denied") => SageStatus::Denied,
        Some("timeout") => SageStatus::TimedOut,
        Some("interrupted") => SageStatus::Interrupted,
        Some(_) | None if begins("permission denied") => SageStatus::Denied,
        Some(_) | None if begins("timed out") || begins("timeout") => SageStatus::TimedOut,
        Some(_) | None => SageStatus::Failed,
    }
}

fn end(payload: &Map<String, Value>, kind: &str) -> ReportedEnd {
    let reason = said(payload, "reason").map(|reason| cut(&reason, LONGEST_NAME));
    let how = match (text(payload, "status"), kind) {
        _ if reason.as_deref() == Some("needs_user_input") => SageTurnEnd::AsksForInput,
        (Some("completed"), _) => SageTurnEnd::Completed,
        (Some("interrupted"), _) | (None, "turn.interrupted") => SageTurnEnd::Interrupted,
        (Some(_), _) => SageTurnEnd::Failed,
        (None, _) => SageTurnEnd::Completed,
    };
    ReportedEnd {
        end_kind: how,
        reason,
        result: said(payload, "result"),
        duration_ms: payload.get("duration_ms").and_then(Value::as_u64),
    }
}

fn report(payload: &Map<String, Value>) -> ErrorReport {
    let detail = |name: &str| payload.get("details").and_then(|details| details.get(name));
    ErrorReport {
        code: cut(text(payload, "code").unwrap_or_default(), LONGEST_NAME),
        message: said(payload, "message").unwrap_or_default(),
        tool: detail("tool_name")
            .and_then(Value::as_str)
            .map(|tool| cut(tool, LONGEST_NAME)),
        retryable: detail("retryable").and_then(Value::as_bool),
    }
}

/// Shortens a tool's input: its only value, or else the JSON as it is.
pub fn brief(value: &Value) -> Option<String> {
    let text = match value {
        Value::Null => return None,
        Value::String(text) => text.clone(),
        Value::Object(map) if map.len() == 1 => match map.values().next() {
            Some(Value::String(text)) => text.clone(),
            Some(_) | None => value.to_string(),
        },
        Value::Object(map) if map.is_empty() => return None,
        Value::Object(_) | Value::Array(_) | Value::Bool(_) | Value::Number(_) => value.to_string(),
    };
    Some(text).filter(|text| !text.trim().is_empty())
}

/// Returns a member's text.
pub fn text<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    map.get(name).and_then(Value::as_str)
}

/// Returns a member's text unless it is blank.
pub fn said(map: &Map<String, Value>, name: &str) -> Option<String> {
    let text = text(map, name)?;
    (!text.trim().is_empty()).then(|| text.to_owned())
}

/// Returns the time at which a message was written.
pub fn stamp(map: &Map<String, Value>) -> Option<Timestamp> {
    text(map, "timestamp")?.parse().ok()
}
