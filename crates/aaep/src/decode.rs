//! From the text of one message to an [`Event`](super::event::Event) with its [`Envelope`] and findings: the nine steps
//! of 3.9, in order.
//!
//! Responsibilities: reading everything that can be read. Not here: what is wrong with it (`event_check`), rules that
//! need more than one event (`session`).

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::attachments::Attachments;
use super::decoded_message::Decoded;
use super::direct;
use super::envelope::{Envelope, Localization, Producer, Urgency};
use super::event::SummaryLevel;
use super::event_check::{self, TYPES};
use super::fields::Fields;
use super::finding::{Findings, Rule};
use super::ids::{AgentId, EventId, SessionId};
use super::json_repairs::{Repairs, mend};
use super::json_texts::{JsonTexts, bare};
use super::language_tag::TextDirection;
use super::parse::{ParsedJson, parse};
use super::payload::payload;
use super::problem::{JsonKind, Problem};
use super::repeated_parts::RecentValues;
use super::schema::{self, CoreType, MOST_LANGUAGES};
use super::stamp;

/// Why a message can't be understood at all. It never carries the payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecodeError {
    /// The text is not JSON.
    Json {
        /// The line of the fault, from 1.
        line: usize,
        /// The column of the fault, from 1.
        column: usize,
        /// Whether the text is valid JSON up to its end but ends too early.
        cut: bool,
    },
    /// The text is nested so deeply that reading it could use up the stack.
    TooDeep,
    /// The text is JSON but not an object.
    NotAnObject(JsonKind),
    /// The object names no type, so nothing says what it means.
    NoType,
}

impl DecodeError {
    /// Returns the error's name, which is the key of its words.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Json { cut: false, .. } => "json",
            Self::Json { cut: true, .. } => "json_cut",
            Self::TooDeep => "too_deep",
            Self::NotAnObject(_) => "not_an_object",
            Self::NoType => "no_type",
        }
    }
}

/// Reads one message on its own, independent of earlier ones.
///
/// # Errors
/// Only if nothing can be said about it: not JSON, not an object, or no `type`.
pub fn decode(text: &str) -> Result<Box<Decoded>, DecodeError> {
    RecentValues::default().decode(text)
}

impl RecentValues {
    /// Reads one message of a stream.
    ///
    /// # Errors
    /// Only if nothing can be said about it: not JSON, not an object, or no `type`.
    pub fn decode(&mut self, text: &str) -> Result<Box<Decoded>, DecodeError> {
        match self.decode_at_once(text) {
            Some(decoded) => Ok(decoded),
            None => decode_step_by_step(text),
        }
    }

    /// Reads one message in one pass if it is a frequent event, names its context, and lacks nothing but a language.
    pub fn decode_at_once(&mut self, text: &str) -> Option<Box<Decoded>> {
        direct::read(text, self)
    }
}

/// Reads one message by the nine steps.
pub(super) fn decode_step_by_step(text: &str) -> Result<Box<Decoded>, DecodeError> {
    let parsed = parse(text).map_err(|error| {
        // The reader has no error code for this.
        if error.to_string().starts_with("recursion limit") {
            DecodeError::TooDeep
        } else {
            DecodeError::Json {
                line: error.line(),
                column: error.column(),
                cut: error.is_eof(),
            }
        }
    })?;
    // Step 1.
    let Value::Object(map) = carried(&parsed.value) else {
        return Err(DecodeError::NotAnObject(JsonKind::of(&parsed.value)));
    };
    let type_name = match map.get("type") {
        Some(Value::String(name)) if !name.is_empty() => name,
        _ => return Err(DecodeError::NoType),
    };
    let mut findings = Findings::new();
    if let Some(field) = &parsed.marks.no_number {
        findings.find(Rule::NoNumber, "3.8", field, Problem::NoNumber);
    }
    if parsed.marks.controls {
        findings.find(Rule::RawControl, "3.8", "", Problem::RawControl);
    }
    if parsed.marks.halves {
        findings.find(Rule::LoneSurrogate, "3.8", "", Problem::HalfCharacter);
    }
    if let Some(name) = &parsed.repeated {
        findings.find(Rule::RepeatedName, "3.8", name, Problem::NameTwice);
    }
    let core = core_type(type_name);
    event_check::check(text, map, core, &mut findings);
    let envelope = envelope(map, type_name, &mut findings);
    let event = payload(core, map, &mut findings);
    Ok(Box::new(Decoded {
        envelope,
        event,
        findings: findings.into_list(),
    }))
}

/// Returns the event inside a JSON-RPC message (B.6); any other value unchanged. Usually, that envelope was
/// already removed.
fn carried(value: &Value) -> &Value {
    let is_event = value.get("method").is_some_and(|name| name == "aaep.event");
    match value.get("params") {
        Some(params) if is_event && value.get("type").is_none() => params,
        Some(_) | None => value,
    }
}

/// Returns the object that a text contains, if it can be read.
pub fn object(text: &str) -> Option<Map<String, Value>> {
    match carried(&parse(text).ok()?.value) {
        Value::Object(map) => Some(map.clone()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            None
        }
    }
}

/// Returns the texts of a message as a recording keeps them: as valid JSON if possible, or else as they came.
pub fn recordable(message: &str) -> Vec<String> {
    let whole = bare(message);
    let is_plain =
        |parsed: ParsedJson| parsed.value.is_object() && parsed.marks == Repairs::default();
    if parse(whole).is_ok_and(is_plain) {
        return vec![whole.to_owned()];
    }
    let mut walk = JsonTexts::default();
    let texts = std::iter::from_fn(|| walk.next(message));
    let mut texts: Vec<String> = texts
        .map(|text| match mend(text) {
            Some(mended) if parse(&mended.text).is_ok() => mended.text,
            Some(_) | None => text.to_owned(),
        })
        .collect();
    if texts.is_empty() {
        texts.push(message.to_owned());
    }
    texts
}

/// Returns the core type that a name stands for; its compact and full-URI forms are equal (3.2.2).
fn core_type(type_name: &str) -> Option<&'static CoreType> {
    let local = type_name
        .strip_prefix("aaep:")
        .or_else(|| type_name.strip_prefix(TYPES))?;
    schema::core(local)
}

/// Returns whether a name is one of the core types, with or without its namespace.
pub fn is_known_type(name: &str) -> bool {
    core_type(name).or_else(|| schema::core(name)).is_some()
}

fn envelope(map: &Map<String, Value>, type_name: &str, findings: &mut Findings) -> Envelope {
    let mut fields = Fields::new(map, "", "3.2", findings);
    let event_id = fields.name("event_id").map(EventId::from);
    let session_id = SessionId::from(fields.name("session_id").unwrap_or_default());
    let timestamp = fields.text("timestamp").as_deref().and_then(stamp::read);
    let sequence_number = fields.integer("sequence_number");
    let correlation_id = fields.text("correlation_id").map(Arc::from);
    let aaep_version = fields.text("aaep_version");
    let urgency = fields.text("urgency");
    let verbosity = fields.text("verbosity");
    let language = fields.text("language");
    let extensions = fields.object("extensions").cloned().unwrap_or_default();
    let producer_map = fields.object("producer");
    let hints = fields.object("localization_hints");
    let type_name = fields.cut("type", type_name.to_owned());
    Envelope {
        event_id,
        session_id,
        timestamp,
        producer: Arc::new(producer(producer_map, findings)),
        urgency: match urgency.as_deref() {
            Some("background") => Urgency::Background,
            Some("critical") => Urgency::Critical,
            _ => Urgency::Normal,
        },
        verbosity: verbosity.as_deref().and_then(|text| match text {
            "terse" => Some(SummaryLevel::Terse),
            "normal" => Some(SummaryLevel::Normal),
            "detailed" => Some(SummaryLevel::Detailed),
            _ => None,
        }),
        sequence_number,
        localization: Arc::new(localization(hints, language, findings)),
        correlation_id,
        aaep_version: aaep_version.map(Cow::Owned),
        attached: Arc::new(Attachments::read(&extensions)),
        extensions: (!extensions.is_empty()).then(|| Arc::new(extensions)),
        type_name: Cow::Owned(type_name),
    }
}

fn producer(map: Option<&Map<String, Value>>, findings: &mut Findings) -> Producer {
    let empty = Map::new();
    let mut fields = Fields::new(map.unwrap_or(&empty), "producer", "3.2.6", findings);
    Producer {
        agent_id: AgentId::from(
            fields
                .name("agent_id")
                .unwrap_or_else(|| "unknown".to_owned()),
        ),
        agent_name: fields.name("agent_name").map(Arc::from),
        agent_version: fields.text("agent_version"),
        model: fields.text("model"),
        manifest_uri: fields.text("manifest_uri"),
    }
}

fn localization(
    map: Option<&Map<String, Value>>,
    language: Option<String>,
    findings: &mut Findings,
) -> Localization {
    let empty = Map::new();
    let mut fields = Fields::new(
        map.unwrap_or(&empty),
        "localization_hints",
        "11.1.1",
        findings,
    );
    let mut available_languages = fields.texts("available_languages");
    available_languages.truncate(MOST_LANGUAGES);
    let mut fallback_chain = fields.texts("fallback_chain");
    fallback_chain.truncate(MOST_LANGUAGES);
    Localization {
        primary_language: (fields.text("primary_language").or(language)).map(Arc::from),
        text_direction: match fields.text("text_direction").as_deref() {
            Some("ltr") => Some(TextDirection::Ltr),
            Some("rtl") => Some(TextDirection::Rtl),
            Some("auto") => Some(TextDirection::Auto),
            _ => None,
        },
        available_languages,
        fallback_chain,
        script: fields.text("script"),
        calendar: fields.text("calendar"),
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "schema_tests.rs"]
mod schema_tests;
