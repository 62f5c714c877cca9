//! The nine steps of 3.9 over one event, in order, and the rules that relate the fields of one event.
//!
//! Responsibilities: naming every departure with its field, section and step. Not here: what a field may hold
//! (`schema`), reading the event (`decode`, `payload`), rules over several events (`session`).
//!
//! Step 1 is done earlier: only objects arrive here. A step skips what an earlier step found missing, so that
//! each fault is reported once.

use serde_json::{Map, Value};

use super::field_rules;
use super::finding::{Finding, Findings, Rule};
use super::payload::LONGEST_TIMEOUT;
use super::problem::{JsonKind, Problem};
use super::relations::{get, relations, text};
use super::schema::{CoreType, ENVELOPE, MOST_LANGUAGES, PRODUCER, SUMMARIES};
use super::stamp;
use super::text_forms::is_id;
use super::translated_events;
use super::variants::tag_of;
use super::version::CORE_CONTEXT;

/// The largest event that 3.7 recommends, in bytes.
const LARGEST_EVENT: usize = 64 * 1024;
/// The most fields at the envelope level that 3.7 recommends, extension prefixes included.
const MOST_FIELDS: usize = 32;
/// The deepest nesting that 3.7 recommends.
const DEEPEST: usize = 8;
/// The longest text that 3.7 recommends, in bytes.
const LONGEST_TEXT: usize = 16 * 1024;

/// The required fields with the sections that define them (3.2).
const REQUIRED: [(&str, &str); 6] = [
    ("@context", "3.2.1"),
    ("type", "3.2.2"),
    ("event_id", "3.2.3"),
    ("session_id", "3.2.4"),
    ("timestamp", "3.2.5"),
    ("producer", "3.2.6"),
];

/// The published versions of the specification that are known here.
pub(super) const PUBLISHED: [&str; 3] = ["1.0.0", "0.1.0-draft", "0.1.0"];

/// Prefixes that no extension may use (7.3.2).
const RESERVED_PREFIXES: [&str; 4] = ["aaep", "xsd", "rdf", "rdfs"];

/// The step that checks the fields of a type (3.9).
const FORM: u8 = 7;

/// Fields that hold text for a person, apart from the summaries (11.1).
const FOR_A_PERSON: [&str; 16] = [
    "description",
    "question",
    "chunk",
    "error_message",
    "action",
    "consequence",
    "request_text",
    "args_summary",
    "output_summary",
    "partial_result",
    "remediation_hint",
    "context",
    "reason",
    "progress_message",
    "context_summary",
    "default_response",
];

/// The texts of a question that can have variants in other languages (11.5.1), and its lists of texts.
const VARIED: [&str; 4] = ["action", "consequence", "question", "context"];
const VARIED_LISTS: [&str; 2] = ["choices", "options"];

/// Runs steps 2 to 9 over an event.
pub(super) fn check(
    text: &str,
    map: &Map<String, Value>,
    core: Option<&'static CoreType>,
    findings: &mut Findings,
) {
    findings.step(2);
    for (name, section) in REQUIRED {
        if !map.contains_key(name) {
            findings.find(Rule::Missing, section, name, Problem::Missing);
        }
    }
    findings.step(3);
    kinds(map, findings);
    field_rules::check(map, "", "3.3", ENVELOPE, findings);
    findings.step(4);
    context(map, findings);
    findings.step(5);
    type_name(map, core, findings);
    findings.step(6);
    formats(map, findings);
    findings.step(FORM);
    if let Some(core) = core {
        field_rules::check(map, "", core.section, core.fields, findings);
        urgency(map, core, findings);
        relations(map, core, findings);
        translated_events::forgive(map, findings);
    } else {
        field_rules::check(map, "", "7.4.1", SUMMARIES, findings);
    }
    top_level(map, core, findings);
    language(map, findings);
    findings.step(8);
    extensions(map, findings);
    findings.step(9);
    limits(text, map, findings);
}

fn kinds(map: &Map<String, Value>, findings: &mut Findings) {
    for (name, section) in REQUIRED {
        let Some(value) = map.get(name) else { continue };
        let wanted = match name {
            "@context" if value.is_string() || value.is_array() => None,
            "@context" => Some(JsonKind::StringOrStrings),
            "producer" if value.is_object() => None,
            "producer" => Some(JsonKind::Object),
            _ if value.is_string() => None,
            _ => Some(JsonKind::String),
        };
        match wanted {
            Some(wanted) if value.is_null() => {
                findings.find(Rule::Null, section, name, Problem::Null { wanted })
            }
            Some(wanted) => findings.find(
                Rule::WrongType,
                section,
                name,
                Problem::WrongKind {
                    wanted,
                    found: JsonKind::of(value),
                },
            ),
            None => {}
        }
    }
    if let Some(Value::Object(producer)) = map.get("producer") {
        field_rules::check_producer(producer, PRODUCER, findings);
    }
}

fn context(map: &Map<String, Value>, findings: &mut Findings) {
    let problem = match map.get("@context") {
        Some(Value::String(text)) if text != CORE_CONTEXT => Problem::OtherContext,
        Some(Value::Array(values))
            if values.first().and_then(Value::as_str) != Some(CORE_CONTEXT) =>
        {
            Problem::ContextNotFirst
        }
        Some(Value::Array(values)) if values.iter().any(|value| !value.is_string()) => {
            Problem::StringsOnly
        }
        Some(_) | None => return,
    };
    findings.find(Rule::BadContext, "3.2.1", "@context", problem);
}

/// Returns the contexts besides the core one.
fn further_contexts(map: &Map<String, Value>) -> Vec<&str> {
    match map.get("@context") {
        Some(Value::Array(values)) => values.iter().skip(1).filter_map(Value::as_str).collect(),
        Some(_) | None => Vec::new(),
    }
}

fn type_name(map: &Map<String, Value>, core: Option<&CoreType>, findings: &mut Findings) {
    let Some(name) = text(map, "type") else {
        return;
    };
    let (rule, problem) = match core {
        Some(_) if name.starts_with("aaep:") => return,
        Some(_) => (Rule::FullType, Problem::FullUri),
        None if name.starts_with("aaep:") || name.starts_with(TYPES) => {
            (Rule::UnknownCoreType, Problem::NoCoreType)
        }
        None if !name
            .split_once(':')
            .is_some_and(|(prefix, rest)| !prefix.is_empty() && !rest.is_empty()) =>
        {
            (Rule::BadForm, Problem::NoTypeForm)
        }
        None if further_contexts(map).is_empty() => {
            (Rule::UndeclaredType, Problem::UndeclaredExtension)
        }
        None => (Rule::UnknownType, Problem::UnknownExtension),
    };
    findings.find(rule, "3.2.2", "type", problem);
}

/// The beginning of the full form of a core type (3.2.2).
pub(super) const TYPES: &str = "https://aaep-protocol.org/types/";

fn formats(map: &Map<String, Value>, findings: &mut Findings) {
    for (name, prefix, section) in [
        ("event_id", "evt_", "3.2.3"),
        ("session_id", "sess_", "3.2.4"),
    ] {
        if text(map, name).is_some_and(|text| !is_id(text, prefix)) {
            findings.find(Rule::BadForm, section, name, Problem::BadId { prefix });
        }
    }
    let Some(stamp) = text(map, "timestamp") else {
        return;
    };
    let (rule, problem) = match stamp::judge(stamp) {
        stamp::StampVerdict::Good => return,
        stamp::StampVerdict::NoTime => (Rule::BadForm, Problem::NoTime),
        stamp::StampVerdict::Fraction => (Rule::BadForm, Problem::FractionDigits),
        stamp::StampVerdict::Placeholder => (Rule::Placeholder, Problem::Placeholder),
    };
    findings.find(rule, "3.2.5", "timestamp", problem);
}

fn urgency(map: &Map<String, Value>, core: &CoreType, findings: &mut Findings) {
    if core.critical && text(map, "urgency") != Some("critical") {
        findings.find(
            Rule::NotCritical,
            core.section,
            "urgency",
            Problem::MustBeCritical,
        );
    }
}

/// Checks the names of the top-level fields of the event (3.5).
fn top_level(map: &Map<String, Value>, core: Option<&CoreType>, findings: &mut Findings) {
    let in_envelope = |name: &str| {
        REQUIRED.iter().any(|(known, _)| *known == name)
            || ENVELOPE.iter().any(|field| field.name == name)
    };
    let in_payload =
        |name: &str| core.is_some_and(|core| core.fields.iter().any(|field| field.name == name));
    for (name, value) in map {
        if in_envelope(name) || in_payload(name) {
            continue;
        }
        let wild =
            name == "language" || core.is_some_and(|core| core.wild.contains(&name.as_str()));
        let variant = ["summary_terse_", "summary_normal_", "summary_detailed_"]
            .iter()
            .any(|level| name.strip_prefix(level).is_some_and(|tag| !tag.is_empty()))
            || core.is_some_and(|core| is_variant(name, VARIED.iter(), core));
        let variants = core.is_some_and(|core| is_variant(name, VARIED_LISTS.iter(), core));
        if wild {
            findings.find(
                Rule::OtherSpelling,
                core.map_or("3.5", |core| core.section),
                name,
                Problem::OtherSpelling,
            );
        } else if name.starts_with("aaep_")
            || ["@id", "@graph", "@base", "@vocab"].contains(&name.as_str())
        {
            findings.find(Rule::ReservedField, "3.5", name, Problem::ReservedName);
        } else if variant {
            if !value.is_string() {
                findings.find(
                    Rule::WrongType,
                    "11.5.1",
                    name,
                    Problem::WrongKind {
                        wanted: JsonKind::String,
                        found: JsonKind::of(value),
                    },
                );
            }
        } else if variants {
            if !value.is_array() {
                findings.find(
                    Rule::WrongType,
                    "11.5.1",
                    name,
                    Problem::WrongKind {
                        wanted: JsonKind::Array,
                        found: JsonKind::of(value),
                    },
                );
            }
        } else if core.is_some() {
            findings.find(Rule::ForbiddenField, "3.5", name, Problem::NotAtTop);
        }
    }
}

/// Returns whether a name is a language variant of one of the given fields, if the type has that field.
fn is_variant<'a>(
    name: &str,
    mut varied: impl Iterator<Item = &'a &'static str>,
    core: &CoreType,
) -> bool {
    let has = |field: &str| {
        core.fields.iter().any(|known| known.name == field) || core.wild.contains(&field)
    };
    varied.any(|field| has(field) && tag_of(name, field).is_some())
}

/// Returns the findings for an event that has text for a person and no language hints but is otherwise right: most
/// producers write every event this way.
pub(super) fn without_hints() -> Vec<Finding> {
    let mut findings = Findings::new();
    findings.step(FORM);
    no_hints(&mut findings);
    findings.into_list()
}

fn no_hints(findings: &mut Findings) {
    let field = "localization_hints";
    findings.find(Rule::NoLanguage, "11.1", field, Problem::NoLanguage);
}

/// Checks that text for a person states its language (11.1).
fn language(map: &Map<String, Value>, findings: &mut Findings) {
    let says = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    let has_words = map.iter().any(|(name, value)| {
        (name.starts_with("summary_") || FOR_A_PERSON.contains(&name.as_str())) && says(value)
    }) || map
        .get("progress")
        .and_then(|progress| progress.get("description"))
        .is_some_and(says);
    if !has_words {
        return;
    }
    match map.get("localization_hints") {
        None | Some(Value::Null) => no_hints(findings),
        Some(Value::Object(hints)) if get(hints, "primary_language").is_none() => findings.find(
            Rule::NoLanguage,
            "11.1.1",
            "localization_hints.primary_language",
            Problem::NoLanguage,
        ),
        Some(_) => {}
    }
}

fn extensions(map: &Map<String, Value>, findings: &mut Findings) {
    let Some(Value::Object(extensions)) = map.get("extensions") else {
        return;
    };
    let declared = further_contexts(map);
    for (prefix, value) in extensions {
        let field = format!("extensions.{prefix}");
        // Appendix A.9 links sessions by a field there without a namespace.
        if prefix == "parent_session_id" && value.is_string() {
            findings.find(Rule::OtherSpelling, "A.9", &field, Problem::NoNamespace);
            continue;
        }
        if !value.is_object() {
            findings.find(
                Rule::WrongType,
                "3.4.3",
                &field,
                Problem::WrongKind {
                    wanted: JsonKind::Object,
                    found: JsonKind::of(value),
                },
            );
        }
        if RESERVED_PREFIXES.contains(&prefix.as_str()) || prefix.starts_with('@') {
            findings.find(
                Rule::ReservedPrefix,
                "7.3.2",
                &field,
                Problem::ReservedPrefix,
            );
            continue;
        }
        // Only the context's document, which is never fetched, could say for certain which prefix it defines; a
        // URL that contains the prefix as a whole segment is believed.
        let names_it = |url: &&str| url.split(['/', ':', '#', '.']).any(|part| part == prefix);
        if declared.is_empty() {
            findings.find(
                Rule::UndeclaredPrefix,
                "3.4.3",
                &field,
                Problem::NotDeclared,
            );
        } else if !declared.iter().any(names_it) {
            findings.find(Rule::UnsurePrefix, "3.4.3", &field, Problem::UnsurePrefix);
        }
    }
}

fn limits(text: &str, map: &Map<String, Value>, findings: &mut Findings) {
    let is_long = text.len() > LONGEST_TEXT;
    let long = map
        .iter()
        .filter(|(_, value)| is_long && longest(value) > LONGEST_TEXT);
    // A text that is too long for its schema is one fault.
    let long: Vec<&str> = (long.map(|(name, _)| name.as_str()))
        .filter(|name| !findings.has(Rule::TooLong, name))
        .filter(|name| !findings.has(Rule::BeyondLimit, name))
        .collect();
    let mut find = |field: &str, problem: Problem| {
        findings.find(Rule::BeyondLimit, "3.7", field, problem);
    };
    if text.len() > LARGEST_EVENT {
        find("", Problem::EventTooLarge);
    }
    let extensions = map
        .get("extensions")
        .and_then(Value::as_object)
        .map_or(0, Map::len);
    if map.len() + extensions > MOST_FIELDS {
        find("", Problem::ManyEnvelopeFields);
    }
    // The event itself is the first level.
    if map.values().map(depth).max().unwrap_or(0) + 1 > DEEPEST {
        find("", Problem::NestedDeep);
    }
    for name in long {
        find(name, Problem::LongText);
    }
    let languages = map
        .get("localization_hints")
        .and_then(|hints| hints.get("available_languages"))
        .and_then(Value::as_array)
        .map_or(0, Vec::len);
    if languages > MOST_LANGUAGES {
        find(
            "localization_hints.available_languages",
            Problem::ManyLanguages,
        );
    }
    let waits = map.get("timeout_seconds").and_then(Value::as_u64);
    if waits.is_some_and(|seconds| seconds > LONGEST_TIMEOUT) {
        findings.find(
            Rule::Shortened,
            "6.4",
            "timeout_seconds",
            Problem::LongerThanYear,
        );
    }
    let version = self::text(map, "aaep_version");
    if version.is_some_and(|version| !PUBLISHED.contains(&version)) {
        findings.find(
            Rule::UnknownVersion,
            "3.4.4",
            "aaep_version",
            Problem::UnknownVersion,
        );
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn longest(value: &Value) -> usize {
    match value {
        Value::Array(values) => values.iter().map(longest).max().unwrap_or(0),
        Value::Object(map) => map.values().map(longest).max().unwrap_or(0),
        Value::String(text) => text.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}
