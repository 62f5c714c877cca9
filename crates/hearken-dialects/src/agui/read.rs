//! What the events of a run say, read leniently: what is missing or of another kind is as if it were not there.
//!
//! Responsibilities: the events, within bounds. Not here: what becomes of them (`hearing`), what an interrupt wants
//! (`interrupt`).

use serde_json::{Map, Value};

use crate::acp::read::text;
use crate::protocol::object;
use crate::written::cut;

/// The longest name that is kept, in characters: theirs are UUIDs and names of functions.
const LONGEST_NAME: usize = 256;
/// The longest text of a failure, in characters.
const LONGEST_WORDS: usize = 4000;

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// A run begins, for these words where it repeats them.
    Begins(Option<String>),
    /// A run has ended; where it was interrupted, with what it wants.
    Ended(Outcome),
    /// A run has failed, in these words.
    Failed(String),
    /// A step of this name begins.
    Step(String),
    /// A message begins.
    Opens {
        /// Its name.
        message: String,
        /// Whether it is the agent's.
        is_agents: bool,
    },
    /// More text of a message, the one before where none is named.
    Says {
        /// Which.
        message: Option<String>,
        /// Whether it is the agent's, where that is said.
        is_agents: Option<bool>,
        /// The text.
        text: String,
    },
    /// A call of a tool, or more of what it is called with; of the one before where none is named.
    Calls {
        /// The call's name.
        call: Option<String>,
        /// The tool.
        tool: Option<String>,
        /// The message that it belongs to.
        message: Option<String>,
        /// A piece of what it is called with.
        piece: String,
    },
    /// What a call is called with is whole.
    Called(String),
    /// What a call brought.
    Brought {
        /// The call.
        call: String,
        /// The name of the message that says it.
        message: String,
        /// What it brought, a text or a list of parts.
        content: Value,
    },
    /// The agent thinks; its words stand in the message of this name, where it has one.
    Thinks(Option<(String, String)>),
    /// What a provider wants back with a message or a call, and nobody else reads.
    Sealed {
        /// The message or the call.
        of: String,
        /// What it is.
        value: String,
    },
    /// The conversation as the agent has it.
    Messages(Vec<Value>),
    /// The shared state.
    State(Value),
    /// What changed in the shared state.
    Changes(Vec<Value>),
    /// Something of its own that the agent shows, of this kind.
    Shows(String),
    /// An interrupt in LangGraph's older form: what it says, and its name where that is known.
    Interrupts {
        /// What it says.
        value: Value,
        /// Its name.
        id: Option<String>,
    },
    /// An event that its agent made up, by its name.
    Custom(String),
    /// Somebody begins to work for the agent, by this name.
    Helper(String),
    /// Somebody who works for it has failed, in these words.
    HelperFailed(String),
    /// Nothing that anybody needs to hear.
    Quiet,
    /// An event of a kind that is not known here.
    Unknown(String),
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// As it should.
    Done,
    /// Somebody stopped it.
    Cancelled,
    /// It wants something before it goes on.
    Interrupted(Vec<Value>),
}

/// Returns whether a text has the form of these events, and of no other's.
pub fn is_event(text: &str) -> bool {
    object(text).is_some_and(|map| {
        let kind = self::text(&map, "type").unwrap_or_default();
        let names: &[&str] = match kind {
            "RUN_STARTED" | "RUN_FINISHED" => &["threadId", "runId"],
            "TEXT_MESSAGE_START" | "TEXT_MESSAGE_CONTENT" | "TEXT_MESSAGE_END" => &["messageId"],
            "TOOL_CALL_START" | "TOOL_CALL_ARGS" | "TOOL_CALL_END" | "TOOL_CALL_RESULT" => {
                &["toolCallId"]
            }
            "STEP_STARTED" | "STEP_FINISHED" => &["stepName"],
            "RUN_ERROR" => &["message"],
            "STATE_SNAPSHOT" => &["snapshot"],
            _ => return false,
        };
        names.iter().all(|name| map.contains_key(*name))
    })
}

/// Reads an event, and who works for the agent and said it; nothing where it is none.
pub fn event(frame: &str) -> Option<(News, Option<String>)> {
    let map = object(frame)?;
    let kind = text(&map, "type")?;
    let by = name(&map, "subagentRunId");
    Some((news(kind, &map), by))
}

fn name(map: &Map<String, Value>, key: &str) -> Option<String> {
    let name = text(map, key).filter(|name| !name.is_empty())?;
    // A name that is cut would be another one.
    (name.chars().count() <= LONGEST_NAME).then(|| name.to_owned())
}

fn list(map: &Map<String, Value>, key: &str) -> Vec<Value> {
    let list = map.get(key).and_then(Value::as_array);
    list.cloned().unwrap_or_default()
}

fn news(kind: &str, map: &Map<String, Value>) -> News {
    let said = |key: &str| text(map, key).unwrap_or_default().to_owned();
    let words = |key: &str| cut(text(map, key).unwrap_or_default(), LONGEST_WORDS);
    let role = || text(map, "role").map(|role| role == "assistant");
    let unread = || News::Unknown(cut(kind, LONGEST_NAME));
    match kind {
        "RUN_STARTED" => News::Begins(map.get("input").and_then(asked)),
        "RUN_FINISHED" => News::Ended(outcome(map)),
        "RUN_ERROR" => News::Failed(words("message")),
        "STEP_STARTED" => News::Step(cut(text(map, "stepName").unwrap_or_default(), LONGEST_NAME)),
        "TEXT_MESSAGE_START" => match name(map, "messageId") {
            Some(message) => News::Opens {
                message,
                is_agents: role().unwrap_or(true),
            },
            None => unread(),
        },
        "TEXT_MESSAGE_CONTENT" | "TEXT_MESSAGE_CHUNK" => News::Says {
            message: name(map, "messageId"),
            is_agents: role(),
            text: said("delta"),
        },
        "TOOL_CALL_START" | "TOOL_CALL_ARGS" | "TOOL_CALL_CHUNK" => News::Calls {
            call: name(map, "toolCallId"),
            tool: name(map, "toolCallName"),
            message: name(map, "parentMessageId"),
            piece: said("delta"),
        },
        "TOOL_CALL_END" => name(map, "toolCallId").map_or_else(unread, News::Called),
        "TOOL_CALL_RESULT" => match name(map, "toolCallId") {
            Some(call) => News::Brought {
                message: name(map, "messageId").unwrap_or_else(|| call.clone()),
                call,
                content: map.get("content").cloned().unwrap_or(Value::Null),
            },
            None => unread(),
        },
        "REASONING_MESSAGE_CONTENT" | "REASONING_MESSAGE_CHUNK" => {
            let message = name(map, "messageId");
            News::Thinks(message.map(|message| (message, said("delta"))))
        }
        "REASONING_START"
        | "REASONING_MESSAGE_START"
        | "THINKING_START"
        | "THINKING_TEXT_MESSAGE_START"
        | "THINKING_TEXT_MESSAGE_CONTENT" => News::Thinks(None),
        "REASONING_ENCRYPTED_VALUE" => match name(map, "entityId") {
            Some(of) => News::Sealed {
                of,
                value: said("encryptedValue"),
            },
            None => News::Quiet,
        },
        "MESSAGES_SNAPSHOT" => News::Messages(list(map, "messages")),
        "STATE_SNAPSHOT" => News::State(map.get("snapshot").cloned().unwrap_or(Value::Null)),
        "STATE_DELTA" => News::Changes(list(map, "delta")),
        "ACTIVITY_SNAPSHOT" => News::Shows(cut(
            text(map, "activityType").unwrap_or_default(),
            LONGEST_NAME,
        )),
        "CUSTOM" => match text(map, "name") {
            Some("on_interrupt") => News::Interrupts {
                value: opened(map.get("value").unwrap_or(&Value::Null)),
                id: interrupt_id(map.get("rawEvent")),
            },
            Some(name) => News::Custom(cut(name, LONGEST_NAME)),
            None => unread(),
        },
        "SUBAGENT_STARTED" => {
            News::Helper(cut(text(map, "name").unwrap_or_default(), LONGEST_NAME))
        }
        "SUBAGENT_ERROR" => News::HelperFailed(words("message")),
        "TEXT_MESSAGE_END"
        | "STEP_FINISHED"
        | "REASONING_END"
        | "REASONING_MESSAGE_END"
        | "THINKING_END"
        | "THINKING_TEXT_MESSAGE_END"
        | "ACTIVITY_DELTA"
        | "SUBAGENT_FINISHED"
        | "RAW" => News::Quiet,
        _ => unread(),
    }
}

/// Reads the words that a run was asked with: its last message, where that is a person's.
fn asked(input: &Value) -> Option<String> {
    let messages = input.get("messages").and_then(Value::as_array)?;
    let last = messages.last()?.as_object()?;
    let is_persons = text(last, "role") == Some("user");
    let words = text(last, "content").filter(|_| is_persons)?;
    Some(words.to_owned()).filter(|words| !words.trim().is_empty())
}

fn outcome(map: &Map<String, Value>) -> Outcome {
    let Some(outcome) = map.get("outcome").and_then(Value::as_object) else {
        return Outcome::Done;
    };
    match text(outcome, "type") {
        Some("interrupt") => Outcome::Interrupted(list(outcome, "interrupts")),
        Some("cancelled") => Outcome::Cancelled,
        Some(_) | None => Outcome::Done,
    }
}

/// Reads a value that may be JSON within a text.
fn opened(value: &Value) -> Value {
    let inner = value.as_str().and_then(|text| {
        let begins = text.trim_start().starts_with(['{', '[', '\u{22}']);
        begins.then(|| serde_json::from_str(text).ok()).flatten()
    });
    inner.unwrap_or_else(|| value.clone())
}

/// Finds the name of an interrupt in the event that it was made of.
fn interrupt_id(raw: Option<&Value>) -> Option<String> {
    let raw = raw?.as_object()?;
    name(raw, "id").or_else(|| name(raw, "interrupt_id"))
}

/// Returns what of a content is text.
pub fn plain(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let parts = parts
                .iter()
                .filter_map(|part| text(part.as_object()?, "text"));
            parts.collect::<Vec<&str>>().join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_known_by_its_type_and_what_belongs_to_it() {
        for (text, is) in [
            (r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#, true),
            (
                r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}"#,
                true,
            ),
            (r#"{"type":"RUN_STARTED","threadId":"t"}"#, false),
            (r#"{"type":"CUSTOM","name":"x"}"#, false),
            (r#"{"type":"aaep:agent.state.changed"}"#, false),
            ("RUN_STARTED", false),
        ] {
            assert_eq!(is_event(text), is, "{text}");
        }
    }

    #[test]
    fn an_interrupt_of_the_older_form_is_taken_out_of_its_text() {
        let event =
            r#"{"type":"CUSTOM","name":"on_interrupt","value":"{\"a\":1}","rawEvent":{"id":"i"}}"#;
        let wanted = News::Interrupts {
            value: serde_json::json!({"a": 1}),
            id: Some("i".to_owned()),
        };
        assert_eq!(self::event(event), Some((wanted, None)));
        for (value, wanted) in [("\"Go on?\"", "Go on?"), ("\"{not json\"", "{not json")] {
            let event = format!(r#"{{"type":"CUSTOM","name":"on_interrupt","value":{value}}}"#);
            let Some((News::Interrupts { value, id: None }, None)) = self::event(&event) else {
                panic!("{event}");
            };
            assert_eq!(value, wanted);
        }
    }

    #[test]
    fn what_has_no_name_is_nobodys() {
        assert_eq!(event("[]"), None);
        assert_eq!(event(r#"{"type":1}"#), None);
        let unnamed = event(r#"{"type":"TOOL_CALL_END"}"#);
        assert_eq!(
            unnamed,
            Some((News::Unknown("TOOL_CALL_END".to_owned()), None))
        );
    }
}
