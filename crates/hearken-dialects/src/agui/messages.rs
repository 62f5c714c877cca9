//! The events of a run, read leniently: a member that is missing or of the wrong type counts as absent.
//!
//! Responsibilities: reading the events, within bounds. Not here: what they do (`run_events`), what an interrupt wants
//! (`interrupt`).

use serde_json::{Map, Value};

use crate::event_writer::cut;
use crate::kit::members::text;
use crate::protocol::object;

/// The longest name that is kept, in characters: names are UUIDs or function names.
const LONGEST_NAME: usize = 256;
/// The longest text of a failure, in characters.
const LONGEST_WORDS: usize = 4000;

/// An event.
#[derive(Debug, Clone, PartialEq)]
pub enum AguiEvent {
    /// A run begins; with its prompt, if the event repeats it.
    Begins(Option<String>),
    /// A run has ended.
    Ended(RunOutcome),
    /// A run has failed, with this error text.
    Failed(String),
    /// A step with this name begins.
    Step(String),
    /// A message begins.
    Reopening {
        /// The message's name.
        message: String,
        /// Whether it is the agent's.
        is_agents: bool,
    },
    /// More text of a message.
    Says {
        /// The message; the one before if `None`.
        message: Option<String>,
        /// Whether it is the agent's, if the event states it.
        is_agents: Option<bool>,
        /// The text.
        text: String,
    },
    /// A tool call, or more of its arguments.
    Calls {
        /// The call; the one before if `None`.
        call: Option<String>,
        /// The name of the tool.
        tool: Option<String>,
        /// The message that it belongs to.
        message: Option<String>,
        /// A piece of the arguments.
        piece: String,
    },
    /// The arguments of this call are complete.
    Called(String),
    /// The result of a call.
    CallOutput {
        /// The call.
        call: String,
        /// The name of the message that carries the result.
        message: String,
        /// The result, a text or a list of parts.
        content: Value,
    },
    /// The agent thinks; with the message's name and the text, if the event has them.
    Thinks(Option<(String, String)>),
    /// An opaque value that a provider wants returned with a message or a call.
    Sealed {
        /// The message or the call.
        of: String,
        /// The value.
        value: String,
    },
    /// The agent's copy of the conversation.
    Messages(Vec<Value>),
    /// The shared state.
    State(Value),
    /// Changes to the shared state.
    Changes(Vec<Value>),
    /// Something of the agent's own, of this kind, that it displays.
    Shows(String),
    /// An interrupt in LangGraph's form.
    Interrupts {
        /// Its content.
        value: Value,
        /// Its name, if known.
        id: Option<String>,
    },
    /// A custom event of the agent, by name.
    Custom(String),
    /// A subagent with this name begins.
    Helper(String),
    /// A subagent has failed, with this error text.
    HelperFailed(String),
    /// Nothing worth announcing.
    Quiet,
    /// An event of an unknown kind.
    Unknown(String),
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum RunOutcome {
    /// Normally.
    Done,
    /// It was stopped.
    Cancelled,
    /// It wants answers before it goes on.
    Interrupted(Vec<Value>),
}

/// Returns whether a text has the form of these events, which no other protocol shares.
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

/// Reads an event, with the subagent that it is from, if any; `None` if it is not an event.
pub fn event(frame: &str) -> Option<(AguiEvent, Option<String>)> {
    let map = object(frame)?;
    let kind = text(&map, "type")?;
    let by = name(&map, "subagentRunId");
    Some((news(kind, &map), by))
}

fn name(map: &Map<String, Value>, key: &str) -> Option<String> {
    let name = text(map, key).filter(|name| !name.is_empty())?;
    // A truncated name would be a different name.
    (name.chars().count() <= LONGEST_NAME).then(|| name.to_owned())
}

fn list(map: &Map<String, Value>, key: &str) -> Vec<Value> {
    let list = map.get(key).and_then(Value::as_array);
    list.cloned().unwrap_or_default()
}

fn news(kind: &str, map: &Map<String, Value>) -> AguiEvent {
    let said = |key: &str| text(map, key).unwrap_or_default().to_owned();
    let words = |key: &str| cut(text(map, key).unwrap_or_default(), LONGEST_WORDS);
    let role = || text(map, "role").map(|role| role == "assistant");
    let unread = || AguiEvent::Unknown(cut(kind, LONGEST_NAME));
    match kind {
        "RUN_STARTED" => AguiEvent::Begins(map.get("input").and_then(asked)),
        "RUN_FINISHED" => AguiEvent::Ended(outcome(map)),
        "RUN_ERROR" => AguiEvent::Failed(words("message")),
        "STEP_STARTED" => {
            AguiEvent::Step(cut(text(map, "stepName").unwrap_or_default(), LONGEST_NAME))
        }
        "TEXT_MESSAGE_START" => match name(map, "messageId") {
            Some(message) => AguiEvent::Reopening {
                message,
                is_agents: role().unwrap_or(true),
            },
            None => unread(),
        },
        "TEXT_MESSAGE_CONTENT" | "TEXT_MESSAGE_CHUNK" => AguiEvent::Says {
            message: name(map, "messageId"),
            is_agents: role(),
            text: said("delta"),
        },
        "TOOL_CALL_START" | "TOOL_CALL_ARGS" | "TOOL_CALL_CHUNK" => AguiEvent::Calls {
            call: name(map, "toolCallId"),
            tool: name(map, "toolCallName"),
            message: name(map, "parentMessageId"),
            piece: said("delta"),
        },
        "TOOL_CALL_END" => name(map, "toolCallId").map_or_else(unread, AguiEvent::Called),
        "TOOL_CALL_RESULT" => match name(map, "toolCallId") {
            Some(call) => AguiEvent::CallOutput {
                message: name(map, "messageId").unwrap_or_else(|| call.clone()),
                call,
                content: map.get("content").cloned().unwrap_or(Value::Null),
            },
            None => unread(),
        },
        "REASONING_MESSAGE_CONTENT" | "REASONING_MESSAGE_CHUNK" => {
            let message = name(map, "messageId");
            AguiEvent::Thinks(message.map(|message| (message, said("delta"))))
        }
        "REASONING_START"
        | "REASONING_MESSAGE_START"
        | "THINKING_START"
        | "THINKING_TEXT_MESSAGE_START"
        | "THINKING_TEXT_MESSAGE_CONTENT" => AguiEvent::Thinks(None),
        "REASONING_ENCRYPTED_VALUE" => match name(map, "entityId") {
            Some(of) => AguiEvent::Sealed {
                of,
                value: said("encryptedValue"),
            },
            None => AguiEvent::Quiet,
        },
        "MESSAGES_SNAPSHOT" => AguiEvent::Messages(list(map, "messages")),
        "STATE_SNAPSHOT" => AguiEvent::State(map.get("snapshot").cloned().unwrap_or(Value::Null)),
        "STATE_DELTA" => AguiEvent::Changes(list(map, "delta")),
        "ACTIVITY_SNAPSHOT" => AguiEvent::Shows(cut(
            text(map, "activityType").unwrap_or_default(),
            LONGEST_NAME,
        )),
        "CUSTOM" => match text(map, "name") {
            Some("on_interrupt") => AguiEvent::Interrupts {
                value: opened(map.get("value").unwrap_or(&Value::Null)),
                id: interrupt_id(map.get("rawEvent")),
            },
            Some(name) => AguiEvent::Custom(cut(name, LONGEST_NAME)),
            None => unread(),
        },
        "SUBAGENT_STARTED" => {
            AguiEvent::Helper(cut(text(map, "name").unwrap_or_default(), LONGEST_NAME))
        }
        "SUBAGENT_ERROR" => AguiEvent::HelperFailed(words("message")),
        "TEXT_MESSAGE_END"
        | "STEP_FINISHED"
        | "REASONING_END"
        | "REASONING_MESSAGE_END"
        | "THINKING_END"
        | "THINKING_TEXT_MESSAGE_END"
        | "ACTIVITY_DELTA"
        | "SUBAGENT_FINISHED"
        | "RAW" => AguiEvent::Quiet,
        _ => unread(),
    }
}

/// Returns the prompt of a run: its last message, if it is the person's.
fn asked(input: &Value) -> Option<String> {
    let messages = input.get("messages").and_then(Value::as_array)?;
    let last = messages.last()?.as_object()?;
    let is_persons = text(last, "role") == Some("user");
    let words = text(last, "content").filter(|_| is_persons)?;
    Some(words.to_owned()).filter(|words| !words.trim().is_empty())
}

fn outcome(map: &Map<String, Value>) -> RunOutcome {
    let Some(outcome) = map.get("outcome").and_then(Value::as_object) else {
        return RunOutcome::Done;
    };
    match text(outcome, "type") {
        Some("interrupt") => RunOutcome::Interrupted(list(outcome, "interrupts")),
        Some("cancelled") => RunOutcome::Cancelled,
        Some(_) | None => RunOutcome::Done,
    }
}

/// Parses a value that may be JSON within a text.
fn opened(value: &Value) -> Value {
    let inner = value.as_str().and_then(|text| {
        let begins = text.trim_start().starts_with(['{', '[', '\u{22}']);
        begins.then(|| serde_json::from_str(text).ok()).flatten()
    });
    inner.unwrap_or_else(|| value.clone())
}

/// Returns the name of an interrupt from the raw event behind it.
fn interrupt_id(raw: Option<&Value>) -> Option<String> {
    let raw = raw?.as_object()?;
    name(raw, "id").or_else(|| name(raw, "interrupt_id"))
}

/// Returns the text of a content.
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
        let wanted = AguiEvent::Interrupts {
            value: serde_json::json!({"a": 1}),
            id: Some("i".to_owned()),
        };
        assert_eq!(self::event(event), Some((wanted, None)));
        for (value, wanted) in [("\"Go on?\"", "Go on?"), ("\"{not json\"", "{not json")] {
            let event = format!(r#"{{"type":"CUSTOM","name":"on_interrupt","value":{value}}}"#);
            let Some((AguiEvent::Interrupts { value, id: None }, None)) = self::event(&event)
            else {
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
            Some((AguiEvent::Unknown("TOOL_CALL_END".to_owned()), None))
        );
    }
}
