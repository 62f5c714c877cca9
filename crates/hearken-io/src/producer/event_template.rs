//! An event before its session fills in the envelope.
//!
//! Responsibilities: the type and the payload. Not here: what a session fills in (`running_session`).

use serde_json::{Map, Value};

use super::event_kinds::EventKind;

/// An event without its envelope. `tool_call_id` and `output_id` are labels that pair events with each other; the wire
/// carries ids generated for them.
#[derive(Debug, Clone)]
pub struct Template {
    /// The type.
    pub kind: EventKind,
    /// The payload.
    pub fields: Map<String, Value>,
}

impl Template {
    /// Returns what pairs a tool's start with its end: the call's label, else the tool's name.
    pub fn tool_label(&self) -> Option<&str> {
        self.text("tool_call_id").or_else(|| self.text("tool"))
    }

    /// Returns a field that is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(Value::as_str)
    }
}
