//! What the messages of hooks say, read leniently: what is missing or of another kind is as if it were not there.
//!
//! Responsibilities: which event a message is, of which conversation, what stands in it, within bounds. Not here: what a
//! call of a tool does (`tools`), what becomes of it (`conversation`).

use serde_json::{Map, Value};

use crate::acp::read::text;
use crate::protocol::object;
use crate::written::cut;

/// The longest name that is kept, in bytes: theirs are UUIDs.
const LONGEST_NAME: usize = 256;
/// The longest text of a person's prompt or a notice that is kept, in characters.
const LONGEST_WORDS: usize = 4000;
/// How many texts of a transcript one message carries.
pub const MOST_TEXTS: usize = 64;
/// How many of the suggestions of a permission are looked at.
const MOST_SUGGESTIONS: usize = 64;

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub struct Hook {
    /// The conversation.
    pub conversation: String,
    /// The prompt that it belongs to, where that is said.
    pub prompt: Option<String>,
    /// The agent that works for the conversation and did it, where it is not the conversation's own.
    pub helper: Option<String>,
    /// Where it works.
    pub folder: String,
    /// What it wrote last, as far as its transcript is read; each with a name of its own.
    pub texts: Vec<(String, String)>,
    /// What happened.
    pub what: What,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// A conversation begins, or is taken up.
    Begins {
        /// The model behind it.
        model: Option<String>,
    },
    /// The person told it what to do, in its own terminal.
    Prompted(String),
    /// It is about to call a tool.
    Calls(Made),
    /// A call is over.
    Called(Made, Outcome),
    /// It asks whether it may.
    Asks(Box<Asks>),
    /// It wants the person's attention, in its words.
    Notice {
        /// What for.
        kind: String,
        /// Its words.
        words: String,
    },
    /// An agent that works for it has begun.
    HelperBegins(String),
    /// An agent that works for it is done.
    HelperEnds(String),
    /// Its turn is over.
    Stops(String),
    /// Its turn broke off.
    Breaks(String),
    /// The conversation is over.
    Ends,
    /// An event of no interest to whoever listens.
    Quiet,
    /// An event that is not known here.
    Unknown(String),
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Made {
    /// Its name; empty where it has none.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// What it is called with.
    pub input: Map<String, Value>,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It worked, and brought this.
    Worked(Value),
    /// It did not work.
    Failed {
        /// Why, in its words.
        words: String,
        /// Whether the person interrupted it in its own terminal.
        interrupted: bool,
    },
    /// It was refused before it ran.
    Refused(String),
}

/// A permission that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Asks {
    /// The call; it has no name here.
    pub made: Made,
    /// What could be allowed for longer.
    pub suggestions: Vec<Value>,
    /// How many more there are.
    pub left_out: usize,
}

/// Why a message can't be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misread {
    /// It is no object in JSON.
    NoObject,
    /// It does not say what happened.
    NoEvent,
    /// It does not say in which conversation.
    NoConversation,
    /// What the event needs is missing.
    Halved,
}

/// Returns whether a text is such a message.
pub fn is_message(text_: &str) -> bool {
    object(text_).is_some_and(|map| {
        let named = text(&map, "hook_event_name").is_some_and(|name| !name.is_empty());
        named && name(&map, "session_id").is_some()
    })
}

/// Returns a name; nothing where it is empty or longer than any of theirs.
fn name(map: &Map<String, Value>, key: &str) -> Option<String> {
    let found = text(map, key)?;
    (!found.is_empty() && found.len() <= LONGEST_NAME).then(|| found.to_owned())
}

/// Returns words; none where there are none.
fn words(map: &Map<String, Value>, key: &str) -> String {
    cut(text(map, key).unwrap_or_default(), LONGEST_WORDS)
}

/// Reads a message.
pub fn hook(body: &str) -> Result<Hook, Misread> {
    let map = object(body).ok_or(Misread::NoObject)?;
    let event = text(&map, "hook_event_name").ok_or(Misread::NoEvent)?;
    let what = what(event, &map)?;
    Ok(Hook {
        conversation: name(&map, "session_id").ok_or(Misread::NoConversation)?,
        prompt: name(&map, "prompt_id"),
        helper: match what {
            // There it is who begins or ends.
            What::HelperBegins(_) | What::HelperEnds(_) => None,
            What::Begins { .. }
            | What::Prompted(_)
            | What::Calls(_)
            | What::Called(..)
            | What::Asks(_)
            | What::Notice { .. }
            | What::Stops(_)
            | What::Breaks(_)
            | What::Ends
            | What::Quiet
            | What::Unknown(_) => name(&map, "agent_id"),
        },
        folder: words(&map, "cwd"),
        texts: texts(&map),
        what,
    })
}

/// Reads what the relay put there of the transcript.
fn texts(map: &Map<String, Value>) -> Vec<(String, String)> {
    let all = map.get("hearken_texts").and_then(Value::as_array);
    let all = all.into_iter().flatten().filter_map(Value::as_object);
    let all = all.filter_map(|it| Some((name(it, "id")?, text(it, "text")?.to_owned())));
    all.take(MOST_TEXTS).collect()
}

fn what(event: &str, map: &Map<String, Value>) -> Result<What, Misread> {
    let made = || made(map).ok_or(Misread::Halved);
    Ok(match event {
        "SessionStart" => What::Begins {
            model: name(map, "model"),
        },
        "UserPromptSubmit" => {
            What::Prompted(text(map, "prompt").ok_or(Misread::Halved)?.to_owned())
        }
        "PreToolUse" => What::Calls(made()?),
        "PostToolUse" => {
            let brought = map.get("tool_response").cloned().unwrap_or_default();
            What::Called(made()?, Outcome::Worked(brought))
        }
        "PostToolUseFailure" => What::Called(
            made()?,
            Outcome::Failed {
                words: words(map, "error"),
                interrupted: map.get("is_interrupt") == Some(&Value::Bool(true)),
            },
        ),
        "PermissionDenied" => What::Called(made()?, Outcome::Refused(words(map, "reason"))),
        "PermissionRequest" => {
            let all = map.get("permission_suggestions").and_then(Value::as_array);
            let all = all.map_or(&[][..], Vec::as_slice);
            What::Asks(Box::new(Asks {
                made: made()?,
                suggestions: all.iter().take(MOST_SUGGESTIONS).cloned().collect(),
                left_out: all.len().saturating_sub(MOST_SUGGESTIONS),
            }))
        }
        "Notification" => What::Notice {
            kind: name(map, "notification_type").unwrap_or_default(),
            words: words(map, "message"),
        },
        "SubagentStart" => What::HelperBegins(words(map, "agent_type")),
        "SubagentStop" => What::HelperEnds(words(map, "agent_type")),
        "Stop" => What::Stops(
            text(map, "last_assistant_message")
                .unwrap_or_default()
                .to_owned(),
        ),
        "StopFailure" => {
            let said = words(map, "last_assistant_message");
            What::Breaks(if said.trim().is_empty() {
                words(map, "error")
            } else {
                said
            })
        }
        "SessionEnd" => What::Ends,
        "PreCompact"
        | "PostCompact"
        | "PostToolBatch"
        | "InstructionsLoaded"
        | "ConfigChange"
        | "CwdChanged"
        | "FileChanged"
        | "Setup"
        | "MessageDisplay"
        | "UserPromptExpansion" => What::Quiet,
        other => What::Unknown(cut(other, LONGEST_NAME)),
    })
}

fn made(map: &Map<String, Value>) -> Option<Made> {
    let tool = name(map, "tool_name")?;
    let input = match map.get("tool_input") {
        Some(Value::Object(input)) => input.clone(),
        None | Some(Value::Null) => Map::new(),
        // A tool of its own may take anything at all.
        Some(other) => [("input".to_owned(), other.clone())].into_iter().collect(),
    };
    Some(Made {
        id: name(map, "tool_use_id").unwrap_or_default(),
        tool,
        input,
    })
}

/// Returns whether a message asks for a permission, whatever else stands in it.
pub fn asks(body: &str) -> bool {
    object(body).is_some_and(|map| text(&map, "hook_event_name") == Some("PermissionRequest"))
}
