//! From the text of one message to an [`Event`] with its [`Envelope`] and findings: the nine steps
//! of 3.9, in order.
//!
//! Responsibilities: reading everything that can be read, and naming every departure with its
//! section. Not here: rules that need more than one event (`session`).

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::CORE_CONTEXT;
use super::check::{check_envelope_fields, check_extensions, check_limits, check_urgency};
use super::envelope::{Envelope, Localization, Producer, TextDirection, Urgency};
use super::event::{Event, Level};
use super::fields::{Fields, kind_of};
use super::finding::{Finding, Severity};
use super::ids::{AgentId, EventId, SessionId};
use super::payload::{CORE, payload};

/// The most languages that 3.7 recommends.
const MOST_LANGUAGES: usize = 32;

/// Holds one message, decoded as far as it can be understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// Who, when, where, how urgent.
    pub envelope: Envelope,
    /// What.
    pub event: Event,
    /// What is wrong with it, in the order of the steps of 3.9.
    pub findings: Vec<Finding>,
}

/// Says why a message can't be understood at all. It carries no payload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The text is no JSON.
    #[error("not valid JSON, at line {line} column {column}")]
    Json {
        /// The line of the fault, from 1.
        line: usize,
        /// The column of the fault, from 1.
        column: usize,
    },
    /// The text is JSON but no object.
    #[error("not a JSON object but {0}")]
    NotAnObject(&'static str),
    /// The object names no type, so nothing says what it means.
    #[error("no type")]
    NoType,
}

/// Reads one message.
///
/// # Errors
/// Only when nothing can be said about it: no JSON, no object, or no `type`.
pub fn decode(text: &str) -> Result<Decoded, DecodeError> {
    let value: Value = serde_json::from_str(text).map_err(|error| DecodeError::Json {
        line: error.line(),
        column: error.column(),
    })?;
    // Step 1.
    let Value::Object(map) = &value else {
        return Err(DecodeError::NotAnObject(kind_of(&value)));
    };
    let type_name = match map.get("type") {
        Some(Value::String(name)) if !name.is_empty() => name.clone(),
        _ => return Err(DecodeError::NoType),
    };
    let mut findings = Vec::new();
    let envelope = envelope(map, type_name, &mut findings);
    let local = core_name(&envelope.type_name);
    if local.is_none() && envelope.type_name.starts_with("aaep:") {
        find(
            &mut findings,
            Severity::Error,
            "type",
            "is in the aaep namespace but no core type",
            "3.2.2",
        );
    }
    let event = payload(local, map, &mut findings);
    check_envelope_fields(local, &event, map, &mut findings);
    check_urgency(&envelope, &event, &mut findings);
    check_extensions(map, &envelope, &mut findings);
    check_limits(text, map, &value, &mut findings);
    Ok(Decoded {
        envelope,
        event,
        findings,
    })
}

pub(super) fn find(
    findings: &mut Vec<Finding>,
    severity: Severity,
    field: &str,
    problem: impl Into<String>,
    section: &'static str,
) {
    findings.push(Finding {
        severity,
        field: field.to_owned(),
        problem: problem.into(),
        section,
    });
}

/// Gives the local name of a core type in its compact or full-URI form, which are equal (3.2.2).
fn core_name(type_name: &str) -> Option<&'static str> {
    let local = type_name
        .strip_prefix("aaep:")
        .or_else(|| type_name.strip_prefix("https://aaep-protocol.org/types/"))?;
    CORE.iter()
        .find(|(name, _)| *name == local)
        .map(|(name, _)| *name)
}

fn envelope(map: &Map<String, Value>, type_name: String, findings: &mut Vec<Finding>) -> Envelope {
    check_context(map, findings);
    let mut fields = Fields::new(map, "", "3.2", findings);
    let event_id = fields.required_name("event_id").map(EventId);
    let session_id = SessionId(fields.required_name("session_id").unwrap_or_default());
    let stamp = fields.required_text("timestamp");
    if event_id.as_ref().is_some_and(|id| !id.is_well_formed()) {
        fields.find(
            Severity::Error,
            "event_id",
            "must be evt_ and 1 to 64 letters or digits",
        );
    }
    if !session_id.as_str().is_empty() && !session_id.is_well_formed() {
        fields.find(
            Severity::Error,
            "session_id",
            "must be sess_ and 1 to 64 letters or digits",
        );
    }
    let timestamp = stamp
        .as_deref()
        .and_then(|text| text.parse::<Timestamp>().ok());
    if let Some(text) = stamp.as_deref() {
        if timestamp.is_none() {
            fields.find(Severity::Error, "timestamp", "is no RFC 3339 time");
        } else if !fraction_is_allowed(text) {
            fields.find(
                Severity::Error,
                "timestamp",
                "must have 0, 3 or 6 fraction digits",
            );
        }
    }
    let sequence_number = fields.integer("sequence_number");
    let correlation_id = fields.text("correlation_id");
    let aaep_version = fields.text("aaep_version");
    let urgency = fields.text("urgency");
    let verbosity = fields.text("verbosity");
    let language = fields.text("language");
    if urgency
        .as_deref()
        .is_some_and(|text| !["background", "normal", "critical"].contains(&text))
    {
        fields.find(
            Severity::Error,
            "urgency",
            "must be background, normal or critical",
        );
    }
    let level = verbosity.as_deref().and_then(|text| match text {
        "terse" => Some(Level::Terse),
        "normal" => Some(Level::Normal),
        "detailed" => Some(Level::Detailed),
        _ => None,
    });
    if verbosity.is_some() && level.is_none() {
        fields.find(
            Severity::Error,
            "verbosity",
            "must be terse, normal or detailed",
        );
    }
    let extensions = fields.object("extensions").cloned().unwrap_or_default();
    let producer_map = fields.object("producer").cloned();
    let hints = fields.object("localization_hints").cloned();
    if producer_map.is_none() && !fields.has("producer") {
        fields.find(Severity::Error, "producer", "is missing");
    }
    Envelope {
        event_id,
        session_id,
        timestamp,
        producer: producer(producer_map, findings),
        urgency: match urgency.as_deref() {
            Some("background") => Urgency::Background,
            Some("critical") => Urgency::Critical,
            _ => Urgency::Normal,
        },
        verbosity: level,
        sequence_number,
        localization: localization(hints, language, findings),
        correlation_id,
        aaep_version,
        extensions,
        type_name,
    }
}

fn fraction_is_allowed(text: &str) -> bool {
    let digits = text.split_once('.').map_or(0, |(_, rest)| {
        rest.bytes().take_while(u8::is_ascii_digit).count()
    });
    matches!(digits, 0 | 3 | 6)
}

fn check_context(map: &Map<String, Value>, findings: &mut Vec<Finding>) {
    let problem = match map.get("@context") {
        None | Some(Value::Null) => Some("is missing"),
        Some(Value::String(text)) => {
            (text != CORE_CONTEXT).then_some("is not the AAEP core context")
        }
        Some(Value::Array(values)) => {
            if values.iter().any(|value| !value.is_string()) {
                Some("must hold strings only")
            } else {
                (values.first().and_then(Value::as_str) != Some(CORE_CONTEXT))
                    .then_some("must name the AAEP core context first")
            }
        }
        Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) => {
            Some("must be a string or an array of strings")
        }
    };
    if let Some(problem) = problem {
        find(findings, Severity::Error, "@context", problem, "3.2.1");
    }
}

fn producer(map: Option<Map<String, Value>>, findings: &mut Vec<Finding>) -> Producer {
    // A producer that is missing altogether was noted by the caller.
    let was_there = map.is_some();
    let map = map.unwrap_or_default();
    let mut fields = Fields::new(&map, "producer", "3.2.6", findings);
    let agent_id = if was_there {
        fields.required_name("agent_id")
    } else {
        None
    };
    Producer {
        agent_id: AgentId(agent_id.unwrap_or_else(|| "unknown".to_owned())),
        agent_name: fields.name("agent_name"),
        agent_version: fields.text("agent_version"),
        model: fields.text("model"),
        manifest_uri: fields.text("manifest_uri"),
    }
}

fn localization(
    map: Option<Map<String, Value>>,
    language: Option<String>,
    findings: &mut Vec<Finding>,
) -> Localization {
    let map = map.unwrap_or_default();
    let mut fields = Fields::new(&map, "localization_hints", "11.2", findings);
    let primary_language = fields.text("primary_language").or(language);
    let direction = fields.text("text_direction");
    let text_direction = direction.as_deref().and_then(|text| match text {
        "ltr" => Some(TextDirection::Ltr),
        "rtl" => Some(TextDirection::Rtl),
        "auto" => Some(TextDirection::Auto),
        _ => None,
    });
    if direction.is_some() && text_direction.is_none() {
        fields.find(
            Severity::Error,
            "text_direction",
            "must be ltr, rtl or auto",
        );
    }
    let mut languages = |name| {
        let mut tags = fields.texts(name);
        if tags.len() > MOST_LANGUAGES {
            fields.find(Severity::Warning, name, "has more than 32 entries");
            tags.truncate(MOST_LANGUAGES);
        }
        tags
    };
    let available_languages = languages("available_languages");
    let fallback_chain = languages("fallback_chain");
    Localization {
        primary_language,
        text_direction,
        available_languages,
        fallback_chain,
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
