//! What an interrupt wants from the person, read from its shape.
//!
//! Responsibilities: which kind of question an interrupt is, and how its answer is written. Not here: asking
//! (`questions`), when to ask (`decisions`).
//!
//! Mental model: the answer has the form that the interrupt states: its schema, or, without one, the protocol's default
//! for its reason. LangGraph's own interrupts state no schema; those of its approval middleware are recognised by their
//! shape. Whatever allows something is a permission, with `y` and `n`; everything else is a question in words.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::event_writer::cut;
use crate::kit::form_progress::FormProgress;
use crate::kit::form_schema::{self, FormKind, FormPart};
use crate::kit::members::text;

use super::messages::plain;

/// How many actions one interrupt may ask permission for.
const MOST_ACTIONS: usize = 32;
/// The longest text of a question, in characters: the limit of an AAEP field, less room for our own words.
pub const LONGEST_MESSAGE: usize = 3500;
/// The name of the only part of an answer that is not a form.
const ANSWER: &str = "answer";

/// An interrupt.
#[derive(Debug, Clone, PartialEq)]
pub struct Interrupt {
    /// Its name; empty if it has none.
    pub id: String,
    /// The call that it concerns.
    pub call: Option<String>,
    /// Its text.
    pub message: String,
    /// The time by which it must be answered.
    pub expires: Option<Timestamp>,
    /// What it wants, in order.
    pub wants: Vec<InterruptRequest>,
    /// How its answers are combined.
    pub shape: AnswerShape,
}

/// How the answers of an interrupt are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerShape {
    /// A single answer.
    One,
    /// The decisions of LangGraph's approval middleware.
    Decisions,
}

/// One thing that an interrupt wants.
#[derive(Debug, Clone, PartialEq)]
pub enum InterruptRequest {
    /// Permission for something.
    Consent(PermissionRequest),
    /// One value.
    Value(Box<FormPart>),
    /// A form.
    Form(Box<FormProgress>),
    /// Free text.
    Words,
    /// A form that cannot be asked part by part: an answer in JSON.
    Json,
}

/// A request for permission, and how its answer is written.
#[derive(Debug, Clone, PartialEq)]
pub struct PermissionRequest {
    /// The form of the answer.
    pub writes: DecisionStyle,
    /// The tool, if the interrupt names it.
    pub tool: Option<String>,
    /// The arguments for the tool.
    pub given: Option<Value>,
    /// The description of the request.
    pub about: String,
    /// Whether it can be allowed.
    pub allows: bool,
    /// Whether it can be rejected.
    pub rejects: bool,
}

/// How a decision is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionStyle {
    /// `true` or `false`.
    Plain,
    /// `{"approved": …}`, with a reason if accepted.
    Approved {
        /// Whether a reason is accepted.
        reason: bool,
    },
    /// `{"type": "approve"}` or `{"type": "reject", "message": …}`.
    Decision,
}

impl DecisionStyle {
    /// Encodes a decision.
    pub fn write(self, allows: bool, reason: Option<&str>) -> Value {
        let reason = reason.filter(|reason| !reason.trim().is_empty() && !allows);
        match self {
            Self::Plain => allows.into(),
            Self::Approved { reason: takes } => match reason.filter(|_| takes) {
                Some(reason) => json!({"approved": allows, "reason": reason}),
                None => json!({"approved": allows}),
            },
            Self::Decision => match (allows, reason) {
                (true, _) => json!({"type": "approve"}),
                (false, Some(reason)) => json!({"type": "reject", "message": reason}),
                (false, None) => json!({"type": "reject"}),
            },
        }
    }

    /// Returns whether the form has room for a reason.
    pub fn takes_reason(self) -> bool {
        match self {
            Self::Plain | Self::Approved { reason: false } => false,
            Self::Approved { reason: true } | Self::Decision => true,
        }
    }
}

/// Reads an interrupt in the protocol's form; `None` if it has no name, because it could not be answered.
pub fn typed(value: &Value) -> Option<Interrupt> {
    let map = value.as_object()?;
    let id = text(map, "id").filter(|id| !id.is_empty() && id.len() <= 1024)?;
    let call = text(map, "toolCallId").map(str::to_owned);
    let message = text(map, "message").unwrap_or_default();
    let raw = value
        .pointer("/metadata/langgraph/raw")
        .unwrap_or(&Value::Null);
    let reason = text(map, "reason").unwrap_or_default();
    let expires = text(map, "expiresAt").and_then(|at| at.parse().ok());
    let said = match message.trim().is_empty() {
        true => said_of(raw),
        false => message.to_owned(),
    };
    let schema = map.get("responseSchema").and_then(Value::as_object);
    let (wants, shape) = match (schema, decisions(raw)) {
        (Some(schema), _) => (vec![by_schema(schema, reason, &said)], AnswerShape::One),
        (None, Some(wants)) => (wants, AnswerShape::Decisions),
        (None, None) => (vec![by_reason(reason, call.is_some())], AnswerShape::One),
    };
    Some(Interrupt {
        id: id.to_owned(),
        call,
        message: said,
        expires,
        wants,
        shape,
    })
}

/// Reads an interrupt in LangGraph's form.
pub fn older(value: &Value, id: Option<String>) -> Interrupt {
    let schema = ["responseSchema", "response_schema"].iter();
    let schema = schema.filter_map(|key| value.get(*key)?.as_object()).next();
    let reason = value
        .get("reason")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let call = ["toolCallId", "tool_call_id"].iter();
    let call = call.filter_map(|key| value.get(*key)?.as_str()).next();
    let message = said_of(value);
    let (wants, shape) = match (schema, decisions(value)) {
        (Some(schema), _) => (vec![by_schema(schema, reason, &message)], AnswerShape::One),
        (None, Some(wants)) => (wants, AnswerShape::Decisions),
        (None, None) => (vec![by_reason(reason, call.is_some())], AnswerShape::One),
    };
    Interrupt {
        id: id.unwrap_or_default(),
        call: call.map(str::to_owned),
        message,
        expires: None,
        wants,
        shape,
    }
}

/// Returns the text of an interrupt without a message: the text itself, its member meant for people, else everything.
fn said_of(value: &Value) -> String {
    let named = ["message", "question", "prompt", "text", "description"].iter();
    let mut named = named.filter_map(|key| value.get(*key)?.as_str());
    let named = named.find(|text| !text.trim().is_empty());
    match (value, named) {
        (Value::Null, _) => String::new(),
        // Each action is described with its own question.
        (Value::Object(map), None) if map.contains_key("action_requests") => String::new(),
        (Value::String(text), _) => text.clone(),
        (_, Some(text)) => text.to_owned(),
        (other, None) => other.to_string(),
    }
}

/// A permission about which nothing is known but how the decision is written.
fn consent(writes: DecisionStyle) -> InterruptRequest {
    InterruptRequest::Consent(PermissionRequest {
        writes,
        tool: None,
        given: None,
        about: String::new(),
        allows: true,
        rejects: true,
    })
}

fn by_reason(reason: &str, is_for_call: bool) -> InterruptRequest {
    match reason {
        "tool_call" if is_for_call => consent(DecisionStyle::Approved { reason: false }),
        "confirmation" => consent(DecisionStyle::Plain),
        _ => InterruptRequest::Words,
    }
}

fn by_schema(schema: &Map<String, Value>, reason: &str, message: &str) -> InterruptRequest {
    let kind = text(schema, "type");
    if kind == Some("boolean") && matches!(reason, "tool_call" | "confirmation") {
        return consent(DecisionStyle::Plain);
    }
    if let Some(writes) = approval(schema) {
        return consent(writes);
    }
    if schema.contains_key("properties") {
        return match form_schema::read(schema) {
            Some(parts) => {
                let message = cut(&one_line(message), LONGEST_MESSAGE);
                InterruptRequest::Form(Box::new(FormProgress::new(message, parts)))
            }
            None => InterruptRequest::Json,
        };
    }
    let wrapped = json!({"properties": {ANSWER: schema}, "required": [ANSWER]});
    let part = wrapped
        .as_object()
        .and_then(form_schema::read)
        .and_then(|parts| parts.into_iter().next());
    match part {
        // A text without bounds is free text.
        Some(FormPart {
            kind:
                FormKind::Text {
                    length: (None, None),
                    format: form_schema::Format::Any,
                },
            ..
        }) => InterruptRequest::Words,
        Some(part) => InterruptRequest::Value(Box::new(part)),
        None => InterruptRequest::Json,
    }
}

/// Recognises the form that the protocol recommends for approving a call: `approved` is required, and nothing else is.
fn approval(schema: &Map<String, Value>) -> Option<DecisionStyle> {
    let properties = schema.get("properties")?.as_object()?;
    let is = |name: &str, kind: &str| {
        properties.get(name).and_then(|it| it.get("type")?.as_str()) == Some(kind)
    };
    let required = schema.get("required").and_then(Value::as_array);
    let others = required
        .into_iter()
        .flatten()
        .any(|name| name != "approved");
    (is("approved", "boolean") && !others).then(|| DecisionStyle::Approved {
        reason: is("reason", "string"),
    })
}

/// Reads the requests of LangGraph's approval middleware; `None` if it is anything else, or not all of it can be asked.
fn decisions(value: &Value) -> Option<Vec<InterruptRequest>> {
    let actions = value.get("action_requests")?.as_array()?;
    if actions.is_empty() || actions.len() > MOST_ACTIONS {
        return None;
    }
    let configs = value.get("review_configs").and_then(Value::as_array);
    let allowed = |tool: &str, decision: &str| {
        let mut configs = configs.into_iter().flatten();
        let config = configs.find(|it| it.get("action_name").and_then(Value::as_str) == Some(tool));
        let list = config.and_then(|it| it.get("allowed_decisions")?.as_array());
        list.is_none_or(|list| list.iter().any(|it| it == decision))
    };
    let action = |action: &Value| {
        let action = action.as_object()?;
        let tool = text(action, "name").or_else(|| text(action, "action"))?;
        let given = action.get("args").or_else(|| action.get("arguments"));
        let (allows, rejects) = (allowed(tool, "approve"), allowed(tool, "reject"));
        (allows || rejects).then(|| {
            InterruptRequest::Consent(PermissionRequest {
                writes: DecisionStyle::Decision,
                tool: Some(tool.to_owned()),
                given: given.cloned(),
                about: plain(action.get("description").unwrap_or(&Value::Null)),
                allows,
                rejects,
            })
        })
    };
    actions.iter().map(action).collect()
}

/// Returns a text without its line breaks.
pub fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wants(value: Value) -> InterruptRequest {
        let mut value = value;
        value["id"] = "i".into();
        typed(&value).unwrap().wants.remove(0)
    }

    fn writes(value: Value) -> Option<DecisionStyle> {
        match wants(value) {
            InterruptRequest::Consent(consent) => Some(consent.writes),
            InterruptRequest::Value(_)
            | InterruptRequest::Form(_)
            | InterruptRequest::Words
            | InterruptRequest::Json => None,
        }
    }

    #[test]
    fn an_interrupt_is_what_its_schema_or_its_reason_says() {
        let approved = json!({"type": "object", "properties": {"approved": {"type": "boolean"}, "editedArgs": {"type": "object"}}, "required": ["approved"]});
        let called = json!({"reason": "tool_call", "toolCallId": "c"});
        assert_eq!(
            writes(called.clone()),
            Some(DecisionStyle::Approved { reason: false })
        );
        assert_eq!(writes(json!({"reason": "tool_call"})), None);
        assert_eq!(
            writes(json!({"reason": "confirmation"})),
            Some(DecisionStyle::Plain)
        );
        assert_eq!(
            writes(json!({"reason": "confirmation", "responseSchema": {"type": "boolean"}})),
            Some(DecisionStyle::Plain)
        );
        assert_eq!(
            writes(json!({"reason": "x", "responseSchema": approved})),
            Some(DecisionStyle::Approved { reason: false })
        );
        let mut more = approved.clone();
        more["properties"]["reason"] = json!({"type": "string"});
        assert_eq!(
            writes(json!({"reason": "x", "responseSchema": more})),
            Some(DecisionStyle::Approved { reason: true })
        );
        more["required"] = json!(["approved", "reason"]);
        assert_eq!(
            writes(json!({"reason": "x", "responseSchema": more})),
            None,
            "all of it must be filled in"
        );
        assert!(matches!(
            wants(json!({"reason": "x", "responseSchema": {"type": "boolean"}})),
            InterruptRequest::Value(_)
        ));
        assert!(matches!(
            wants(json!({"reason": "x", "responseSchema": {"type": "string"}})),
            InterruptRequest::Words
        ));
        assert!(matches!(
            wants(json!({"reason": "x", "responseSchema": {"enum": ["a", "b"], "type": "string"}})),
            InterruptRequest::Value(_)
        ));
        assert!(matches!(
            wants(
                json!({"reason": "x", "responseSchema": {"properties": {"a": {"type": "integer"}}}})
            ),
            InterruptRequest::Form(_)
        ));
        assert!(matches!(
            wants(
                json!({"reason": "x", "responseSchema": {"properties": {"a": {"type": "object"}}}})
            ),
            InterruptRequest::Json
        ));
        assert!(matches!(
            wants(json!({"reason": "x"})),
            InterruptRequest::Words
        ));
        assert_eq!(typed(&json!({"reason": "x"})), None, "it has no name");
    }

    #[test]
    fn the_approvals_of_langgraph_are_known_by_their_shape() {
        let value = json!({
            "action_requests": [{"name": "send", "args": {"to": "a"}, "description": "Send it?"}, {"name": "drop", "args": {}}],
            "review_configs": [{"action_name": "drop", "allowed_decisions": ["reject", "edit"]}],
        });
        let interrupt = older(&value, None);
        assert_eq!(
            (interrupt.shape, interrupt.wants.len()),
            (AnswerShape::Decisions, 2)
        );
        let InterruptRequest::Consent(second) = &interrupt.wants[1] else {
            panic!("{interrupt:?}");
        };
        assert!(!second.allows && second.rejects);
        assert_eq!(
            DecisionStyle::Decision.write(false, Some("no")),
            json!({"type": "reject", "message": "no"})
        );
        let odd = older(&json!({"action_requests": [{"args": {}}]}), None);
        assert_eq!(odd.wants, [InterruptRequest::Words]);
        assert_eq!(older(&json!("Go on?"), None).message, "Go on?");
        assert_eq!(
            older(&json!({"question": "Which?", "options": [1]}), None).message,
            "Which?"
        );
    }
}
