//! One agent's session while it runs: turning a template into a complete event.
//!
//! Responsibilities: the envelope (chapter 3), the ids behind a template's labels, `position` in
//! characters (chapter 4.3.3), times and counts that a template can't know, and ending a session
//! properly when it is stopped midway. Not here: who receives an event (`hub`).

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::event_kinds::{CRITICAL, EventKind};
use super::event_template::Template;
use super::id_generator::Ids;

/// The vocabulary every event names (chapter 3.2.1).
const CONTEXT: &str = "https://aaep-protocol.org/context/v1";
/// The AAEP version in use.
pub(super) const AAEP_VERSION: &str = "1.0.0";
/// The state while a question is open (chapter 4.2.1).
const AWAITING_INPUT: &str = "awaiting_input";
/// Fields whose text is meant for people, in addition to every `summary_…` (chapter 11.1).
const TEXTS: [&str; 9] = [
    "action",
    "args_summary",
    "chunk",
    "consequence",
    "context",
    "description",
    "error_message",
    "question",
    "reason",
];

/// A session that has not ended.
#[derive(Debug)]
pub(super) struct AgentSession {
    id: String,
    producer: Map<String, Value>,
    language: String,
    sequence: u64,
    state: String,
    started: Option<Timestamp>,
    stamped: Option<Timestamp>,
    tools: u64,
    calls: BTreeMap<String, OpenCall>,
    outputs: BTreeMap<String, OutputProgress>,
}

#[derive(Debug)]
struct OpenCall {
    id: String,
    tool: String,
    since: Timestamp,
}

#[derive(Debug)]
struct OutputProgress {
    id: String,
    /// The number of characters sent.
    length: u64,
}

/// An event as sent on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EncodedEvent {
    pub(super) event_id: String,
    pub(super) critical: bool,
    pub(super) json: String,
    /// The token, if the event asks something.
    pub(super) token: Option<String>,
    pub(super) at: Timestamp,
}

impl AgentSession {
    /// Creates a session of a `producer` in a language; nothing is sent yet.
    pub(super) fn new(id: String, producer: Map<String, Value>, language: String) -> Self {
        Self {
            id,
            producer,
            language,
            sequence: 0,
            state: "idle".to_owned(),
            started: None,
            stamped: None,
            tools: 0,
            calls: BTreeMap::new(),
            outputs: BTreeMap::new(),
        }
    }

    /// Builds a complete event from a template. The timestamp never goes back within a session
    /// (chapter 3.2.5), whatever the clock does.
    pub(super) fn seal(
        &mut self,
        template: &Template,
        ids: &mut Ids,
        now: Timestamp,
    ) -> EncodedEvent {
        let at = self.stamped.map_or(now, |stamped| stamped.max(now));
        self.stamped = Some(at);
        let event_id = ids.mint("evt");
        let mut payload = template.fields.clone();
        payload.shift_remove("type");
        let urgency = payload
            .shift_remove("urgency")
            .and_then(|urgency| urgency.as_str().map(str::to_owned))
            .unwrap_or_else(|| template.kind.urgency().to_owned());
        let token = self.fill(template, &mut payload, ids, at);

        let mut event = Map::new();
        event.insert("@context".to_owned(), json!(CONTEXT));
        event.insert("aaep_version".to_owned(), json!(AAEP_VERSION));
        event.insert("type".to_owned(), json!(template.kind.wire()));
        event.insert("event_id".to_owned(), json!(event_id));
        event.insert("session_id".to_owned(), json!(self.id));
        event.insert("sequence_number".to_owned(), json!(self.sequence));
        event.insert("timestamp".to_owned(), json!(format!("{at:.3}")));
        event.insert("producer".to_owned(), json!(self.producer));
        event.insert("urgency".to_owned(), json!(urgency));
        if !payload.contains_key("localization_hints") && has_text(&payload) {
            let hints = json!({"primary_language": self.language, "text_direction": "ltr"});
            event.insert("localization_hints".to_owned(), hints);
        }
        event.extend(payload);
        self.sequence += 1;
        EncodedEvent {
            event_id,
            critical: urgency == CRITICAL,
            json: Value::Object(event).to_string(),
            token,
            at,
        }
    }

    /// Fills in what only the running session knows; returns the token of a question.
    fn fill(
        &mut self,
        template: &Template,
        payload: &mut Map<String, Value>,
        ids: &mut Ids,
        at: Timestamp,
    ) -> Option<String> {
        match template.kind {
            EventKind::SessionStarted => self.started = Some(at),
            EventKind::StateChanged => {
                if let Some(state) = template.text("to_state") {
                    self.state = state.to_owned();
                }
            }
            EventKind::ToolInvoked => {
                let id = ids.mint("call");
                put(payload, "tool_call_id", json!(id));
                self.tools += 1;
                if let (Some(label), Some(tool)) = (template.tool_label(), template.text("tool")) {
                    let call = OpenCall {
                        id,
                        tool: tool.to_owned(),
                        since: at,
                    };
                    self.calls.insert(label.to_owned(), call);
                }
            }
            EventKind::ToolCompleted => {
                let call = template
                    .tool_label()
                    .and_then(|label| self.calls.remove(label));
                if let Some(call) = call {
                    put(payload, "tool_call_id", json!(call.id));
                    put_new(payload, "duration_ms", json!(elapsed_ms(call.since, at)));
                }
            }
            EventKind::OutputStreaming => self.fill_output(template, payload, ids),
            EventKind::SessionCompleted => {
                let since = self.started.unwrap_or(at);
                put_new(payload, "duration_ms", json!(elapsed_ms(since, at)));
                put_new(payload, "tool_invocations_count", json!(self.tools));
            }
            EventKind::AwaitingConfirmation | EventKind::AwaitingClarification => {
                let token = ids.mint("rpl");
                payload.insert("reply_token".to_owned(), json!(token));
                return Some(token);
            }
            EventKind::SessionErrored
            | EventKind::SessionCancelled
            | EventKind::ProgressUpdated
            | EventKind::HandoffRequested => {}
        }
        None
    }

    fn fill_output(
        &mut self,
        template: &Template,
        payload: &mut Map<String, Value>,
        ids: &mut Ids,
    ) {
        let label = template.text("output_id").unwrap_or_default();
        let output = self
            .outputs
            .entry(label.to_owned())
            .or_insert_with(|| OutputProgress {
                id: ids.mint("out"),
                length: 0,
            });
        put(payload, "output_id", json!(output.id));
        put(payload, "position", json!(output.length));
        let chunk = template.text("chunk").unwrap_or_default();
        output.length += chunk.chars().count() as u64;
        if template.fields.get("complete") == Some(&Value::Bool(true)) {
            self.outputs.remove(label);
        }
    }

    /// Returns what must still be sent so that the session ends as chapter 4.5 requires: outputs
    /// completed, tools ended, then the cancellation itself. Empty if it has not begun.
    pub(super) fn ending(&self, cancelled_by: &str, words: &str) -> Vec<Template> {
        if self.started.is_none() {
            return Vec::new();
        }
        let outputs = self.outputs.keys().map(|label| {
            template(
                EventKind::OutputStreaming,
                json!({"chunk": "", "complete": true, "coalesce_hint": "completion", "output_id": label}),
            )
        });
        let calls = self.calls.iter().map(|(label, call)| {
            template(
                EventKind::ToolCompleted,
                json!({"tool": call.tool, "tool_call_id": label, "status": "error",
                       "error_message": "The agent was stopped before the tool ended.",
                       "summary_terse": "Stopped.",
                       "summary_normal": "Stopped before it ended. What it did is not known."}),
            )
        });
        let end = template(
            EventKind::SessionCancelled,
            json!({"cancelled_by": cancelled_by, "summary_terse": "Cancelled.", "summary_normal": words}),
        );
        outputs.chain(calls).chain([end]).collect()
    }

    /// Returns the event that updates a subscriber that missed more than is kept (B.1.5); `None` while
    /// a question is open, because a change away from `awaiting_input` would close it.
    pub(super) fn summary(&self) -> Option<Template> {
        if self.started.is_none() || self.state == AWAITING_INPUT {
            return None;
        }
        let words = format!(
            "Some events were missed. The agent's state is {}.",
            self.state.replace('_', " ")
        );
        Some(template(
            EventKind::StateChanged,
            json!({"from_state": self.state, "to_state": self.state, "summary_normal": words}),
        ))
    }
}

fn template(kind: EventKind, fields: Value) -> Template {
    let fields = match fields {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    };
    Template { kind, fields }
}

/// Sets a value: it replaces the label of that name, or is added at the end.
fn put(payload: &mut Map<String, Value>, name: &str, value: Value) {
    payload.insert(name.to_owned(), value);
}

/// Adds a value unless the template has one.
fn put_new(payload: &mut Map<String, Value>, name: &str, value: Value) {
    if !payload.contains_key(name) {
        payload.insert(name.to_owned(), value);
    }
}

fn has_text(payload: &Map<String, Value>) -> bool {
    payload.iter().any(|(name, value)| {
        value.is_string() && (name.starts_with("summary_") || TEXTS.contains(&name.as_str()))
    })
}

/// Returns the whole milliseconds between two times, never negative.
fn elapsed_ms(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.as_millisecond() - from.as_millisecond()).unwrap_or(0)
}
