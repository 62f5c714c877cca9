//! One message of Sage, read as far as it can be understood and made harmless.
//!
//! Responsibilities: what a message says, whichever of Sage's two forms it came in; the envelopes of `sage.runtime.v0`.
//! Not here: the lines of `--stream-json` (`lines`), what a message means for its turn (`turn` and its neighbours).
//!
//! Mental model: reading never fails over a detail. Only an envelope whose type nobody knows is no message. Names are
//! cut, because they are kept; texts that are told are not.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::super::written::cut;

/// What the envelopes of the runtime call themselves; later ones of the same family are read alike.
const VERSION: &str = "sage.runtime.";

/// The longest name that is kept, in characters: longer than any id that a program makes.
const LONGEST_NAME: usize = 256;

/// Where a message belongs, and when it was written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Belonging {
    /// The conversation; empty where the message names none.
    pub thread: String,
    /// The turn; empty where the message names none.
    pub turn: String,
    /// The item.
    pub item: Option<String>,
    /// The request that it makes or answers.
    pub request: Option<String>,
    /// When.
    pub at: Option<Timestamp>,
}

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Where it belongs.
    pub place: Belonging,
    /// What it says.
    pub says: Says,
}

/// What a message says.
#[derive(Debug, Clone, PartialEq)]
pub enum Says {
    /// A conversation is there.
    ThreadStarted {
        /// The model that it uses.
        model: Option<String>,
    },
    /// A conversation is over.
    ThreadEnded,
    /// Somebody asks for a turn.
    Prompt(String),
    /// A turn begins.
    TurnStarted,
    /// A turn is over.
    TurnEnded(End),
    /// The agent, the person or a tool did something.
    Item(Item),
    /// A permission is asked for.
    Requested(Permission),
    /// A permission was given or denied.
    Resolved {
        /// Whether it was given.
        allowed: bool,
        /// Whether the tool's input was changed by whoever gave it.
        changed: bool,
    },
    /// A request was taken or refused.
    Response {
        /// Whether it was taken.
        accepted: bool,
    },
    /// Something went wrong.
    Error(Report),
    /// Nothing that anybody needs to be told.
    Nothing,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// How.
    pub how: How,
    /// Sage's code for the reason.
    pub reason: Option<String>,
    /// The result, or what went wrong.
    pub result: Option<String>,
    /// How long it took.
    pub duration_ms: Option<u64>,
}

/// Names the ends of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It did its task.
    Completed,
    /// It did not.
    Failed,
    /// It was stopped.
    Interrupted,
    /// It ended with a question to the person.
    AsksForInput,
}

/// How far an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It is there.
    Created,
    /// More of it is there.
    Updated,
    /// It is whole.
    Completed,
}

/// What an item is.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// The agent says this.
    Assistant(String),
    /// The person said this.
    User(String),
    /// Sage says this of itself.
    System(String),
    /// Sage wants to be told something.
    Asks(String),
    /// A tool.
    Tool(Box<Call>),
    /// The result of the turn.
    Result(String),
    /// Nothing that is told.
    Other,
}

/// An item of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// How far it is.
    pub stage: Stage,
    /// What it is.
    pub kind: Kind,
}

/// What a message says of a call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Call {
    /// The tool.
    pub tool: String,
    /// How far the call is.
    pub status: Status,
    /// Its arguments, in brief.
    pub arguments: Option<String>,
    /// What it gave.
    pub output: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
    /// How long it took.
    pub duration_ms: Option<u64>,
}

/// How far a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Status {
    /// Nothing is said of it.
    #[default]
    Unsaid,
    /// It was started, and perhaps waits for its permission.
    Started,
    /// It did what it should.
    Succeeded,
    /// It did not.
    Failed,
    /// It took too long.
    TimedOut,
    /// It was stopped.
    Interrupted,
    /// It was not allowed.
    Denied,
    /// It ended, and nobody says how.
    Ended,
}

/// A permission that is asked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Permission {
    /// The tool.
    pub tool: String,
    /// Sage's word for the risk.
    pub risk: Option<String>,
    /// Why it is asked.
    pub reason: Option<String>,
    /// The tool's input, where it may be seen.
    pub input: Option<String>,
    /// Whether it may not.
    pub redacted: bool,
}

/// Something that went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// Sage's code for it.
    pub code: String,
    /// What went wrong.
    pub message: String,
    /// The tool that it is about.
    pub tool: Option<String>,
    /// Whether trying again can help, where Sage says so.
    pub retryable: Option<bool>,
}

/// Returns whether an object is an envelope of the runtime.
pub fn is_envelope(map: &Map<String, Value>) -> bool {
    text(map, "protocol_version").is_some_and(|version| version.starts_with(VERSION))
}

/// Reads an envelope of the runtime; absent where its type is none that is known.
pub fn envelope(map: &Map<String, Value>) -> Option<Message> {
    let empty = Map::new();
    let payload = map
        .get("payload")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let kind = text(map, "type")?;
    let says = match (text(map, "kind").unwrap_or("notification"), kind) {
        ("notification", kind) => notification(map, payload, kind)?,
        ("request", "turn.start") => Says::Prompt(said(payload, "input")?),
        // Whoever else asks something of Sage is told by what Sage makes of it.
        ("request", _) => Says::Nothing,
        ("response", _) => Says::Response {
            accepted: payload.get("accepted").and_then(Value::as_bool) != Some(false),
        },
        ("error", _) => Says::Error(report(payload)),
        _ => return None,
    };
    let name = |field: &str| text(map, field).map(|name| cut(name, LONGEST_NAME));
    Some(Message {
        place: Belonging {
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
) -> Option<Says> {
    let stage = match kind {
        "thread.started" => {
            let of = |map: &Map<String, Value>| {
                let model = map.get("metadata")?.get("model")?.as_str()?;
                Some(cut(model, LONGEST_NAME))
            };
            return Some(Says::ThreadStarted { model: of(map) });
        }
        "thread.ended" => return Some(Says::ThreadEnded),
        "turn.started" => return Some(Says::TurnStarted),
        "turn.completed" | "turn.interrupted" => return Some(Says::TurnEnded(end(payload, kind))),
        "permission.requested" => {
            return Some(Says::Requested(Permission {
                tool: said(payload, "tool_name").unwrap_or_default(),
                risk: said(payload, "risk"),
                reason: said(payload, "reason"),
                input: payload.get("input").and_then(brief),
                redacted: payload.get("input_redacted").and_then(Value::as_bool) == Some(true),
            }));
        }
        "permission.resolved" => {
            return Some(Says::Resolved {
                // What is no plain consent is none.
                allowed: text(payload, "decision") == Some("allow"),
                changed: payload
                    .get("modified_input_applied")
                    .and_then(Value::as_bool)
                    == Some(true),
            });
        }
        "error.reported" => return Some(Says::Error(report(payload))),
        "item.created" => Stage::Created,
        "item.updated" => Stage::Updated,
        "item.completed" => Stage::Completed,
        _ => return None,
    };
    let asks = map.contains_key("request_id");
    Some(Says::Item(Item {
        stage,
        kind: item(payload, asks),
    }))
}

fn item(payload: &Map<String, Value>, asks: bool) -> Kind {
    let content = || said(payload, "content").unwrap_or_default();
    let role = text(payload, "role");
    match (text(payload, "item_type").unwrap_or_default(), role) {
        ("assistant_message", _) | ("message", Some("assistant")) => Kind::Assistant(content()),
        ("user_message", _) | ("message", Some("user")) => Kind::User(content()),
        // Sage has no notification of its own for this: it is a message that a request belongs to.
        ("message" | "system_message", _) if asks => Kind::Asks(content()),
        ("message" | "system_message", _) => Kind::System(content()),
        ("tool_call", _) => Kind::Tool(Box::new(call(payload))),
        ("result", _) => Kind::Result(
            said(payload, "result")
                .or_else(|| said(payload, "content"))
                .unwrap_or_default(),
        ),
        _ => Kind::Other,
    }
}

/// Reads a call out of an item's payload.
fn call(payload: &Map<String, Value>) -> Call {
    let success = payload.get("success").and_then(Value::as_bool);
    let error = said(payload, "message");
    let failed = || failure(text(payload, "code"), error.as_deref());
    let status = match (text(payload, "status"), success) {
        (Some("started"), _) => Status::Started,
        (Some("completed"), Some(false)) | (Some("failed"), _) => failed(),
        (Some("completed"), _) => Status::Succeeded,
        (Some("interrupted"), _) => Status::Interrupted,
        (_, Some(true)) => Status::Succeeded,
        (_, Some(false)) => failed(),
        (_, None) => Status::Unsaid,
    };
    Call {
        tool: said(payload, "tool_name").unwrap_or_default(),
        status,
        arguments: payload.get("arguments").and_then(brief),
        output: said(payload, "output_preview").or_else(|| said(payload, "result")),
        error,
        duration_ms: payload.get("duration_ms").and_then(Value::as_u64),
    }
}

/// Tells failures apart by Sage's code, else by its words.
pub fn failure(code: Option<&str>, words: Option<&str>) -> Status {
    let begins = |sign: &str| {
        words.is_some_and(|words| {
            let start = words.trim_start().trim_start_matches("Error: ");
            start
                .get(..sign.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(sign))
        })
    };
    match code {
        Some("permission_denied") => Status::Denied,
        Some("timeout") => Status::TimedOut,
        Some("interrupted") => Status::Interrupted,
        Some(_) | None if begins("permission denied") => Status::Denied,
        Some(_) | None if begins("timed out") || begins("timeout") => Status::TimedOut,
        Some(_) | None => Status::Failed,
    }
}

fn end(payload: &Map<String, Value>, kind: &str) -> End {
    let reason = said(payload, "reason").map(|reason| cut(&reason, LONGEST_NAME));
    let how = match (text(payload, "status"), kind) {
        _ if reason.as_deref() == Some("needs_user_input") => How::AsksForInput,
        (Some("completed"), _) => How::Completed,
        (Some("interrupted"), _) | (None, "turn.interrupted") => How::Interrupted,
        (Some(_), _) => How::Failed,
        (None, _) => How::Completed,
    };
    End {
        how,
        reason,
        result: said(payload, "result"),
        duration_ms: payload.get("duration_ms").and_then(Value::as_u64),
    }
}

fn report(payload: &Map<String, Value>) -> Report {
    let detail = |name: &str| payload.get("details").and_then(|details| details.get(name));
    Report {
        code: cut(text(payload, "code").unwrap_or_default(), LONGEST_NAME),
        message: said(payload, "message").unwrap_or_default(),
        tool: detail("tool_name")
            .and_then(Value::as_str)
            .map(|tool| cut(tool, LONGEST_NAME)),
        retryable: detail("retryable").and_then(Value::as_bool),
    }
}

/// Puts a tool's input into few words: the one thing that it holds, else the JSON as it is.
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

/// Returns a text.
pub fn text<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    map.get(name).and_then(Value::as_str)
}

/// Returns a text that says something.
pub fn said(map: &Map<String, Value>, name: &str) -> Option<String> {
    let text = text(map, name)?;
    (!text.trim().is_empty()).then(|| text.to_owned())
}

/// Returns the time at which a message was written.
pub fn stamp(map: &Map<String, Value>) -> Option<Timestamp> {
    text(map, "timestamp")?.parse().ok()
}
