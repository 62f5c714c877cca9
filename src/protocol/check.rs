//! What holds for an event as a whole: its fields (3.5), urgency, extensions (step 8) and limits
//! (step 9 of 3.9).

use serde_json::{Map, Value};

use super::decode::find;
use super::envelope::{Envelope, Urgency};
use super::event::Event;
use super::finding::{Finding, Severity};
use super::payload::CORE;

/// The largest event that 3.7 recommends, in bytes.
const LARGEST_EVENT: usize = 64 * 1024;
/// The most fields at the envelope level that 3.7 recommends, extension prefixes included.
const MOST_FIELDS: usize = 32;
/// The deepest nesting that 3.7 recommends.
const DEEPEST: usize = 8;

pub(super) const ENVELOPE_FIELDS: &str = "@context type event_id session_id timestamp producer verbosity urgency localization_hints sequence_number correlation_id extensions aaep_version summary_terse summary_normal summary_detailed";

pub(super) fn check_envelope_fields(
    local: Option<&str>,
    event: &Event,
    map: &Map<String, Value>,
    findings: &mut Vec<Finding>,
) {
    let payload = CORE
        .iter()
        .find(|(name, _)| Some(*name) == local)
        .map_or("", |(_, fields)| *fields);
    let known = |name: &str| {
        ENVELOPE_FIELDS
            .split(' ')
            .chain(payload.split(' '))
            .any(|field| field == name)
    };
    for name in map.keys() {
        if known(name) {
            continue;
        }
        let wild = payload
            .split(' ')
            .any(|field| field.strip_prefix('~') == Some(name))
            || name == "language";
        if wild {
            find(
                findings,
                Severity::Note,
                name,
                "is not in the chapters for this type; it is read all the same",
                "4",
            );
        } else if name.starts_with("aaep_")
            || ["@id", "@graph", "@base", "@vocab"].contains(&name.as_str())
        {
            find(
                findings,
                Severity::Warning,
                name,
                "is reserved at the envelope level",
                "3.5",
            );
        } else if !matches!(event, Event::Unknown(_)) && !name.starts_with("summary_") {
            find(
                findings,
                Severity::Warning,
                name,
                "is not allowed at the envelope level; it belongs into extensions",
                "3.5",
            );
        }
    }
}

pub(super) fn check_urgency(envelope: &Envelope, event: &Event, findings: &mut Vec<Finding>) {
    let section = match event {
        Event::SessionErrored(_) => "4.1.3",
        Event::AwaitingConfirmation(_) => "4.4.1",
        Event::AwaitingClarification(_) => "4.4.2",
        Event::HandoffRequested(_) => "4.4.3",
        Event::SessionStarted(_)
        | Event::SessionCompleted(_)
        | Event::SessionCancelled(_)
        | Event::StateChanged(_)
        | Event::Progress(_)
        | Event::ToolInvoked(_)
        | Event::ToolCompleted(_)
        | Event::OutputStreaming(_)
        | Event::Unknown(_) => return,
    };
    if envelope.urgency != Urgency::Critical {
        find(
            findings,
            Severity::Warning,
            "urgency",
            "must be critical for this type",
            section,
        );
    }
}

pub(super) fn check_extensions(
    map: &Map<String, Value>,
    envelope: &Envelope,
    findings: &mut Vec<Finding>,
) {
    let declared: Vec<&str> = match map.get("@context") {
        Some(Value::Array(values)) => values.iter().skip(1).filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    for (prefix, value) in &envelope.extensions {
        // A context is a URL; a prefix counts as declared where the URL names it as a whole segment.
        let names_it = |url: &&str| url.split(['/', ':', '#', '.']).any(|part| part == prefix);
        if !declared.iter().any(names_it) {
            find(
                findings,
                Severity::Warning,
                &format!("extensions.{prefix}"),
                "is not declared in @context",
                "3.4.3",
            );
        }
        if !value.is_object() {
            find(
                findings,
                Severity::Warning,
                &format!("extensions.{prefix}"),
                "must be an object",
                "3.4.3",
            );
        }
    }
}

pub(super) fn check_limits(
    text: &str,
    map: &Map<String, Value>,
    value: &Value,
    findings: &mut Vec<Finding>,
) {
    if text.len() > LARGEST_EVENT {
        find(
            findings,
            Severity::Warning,
            "",
            "is larger than 64 KiB",
            "3.7",
        );
    }
    let extensions = map
        .get("extensions")
        .and_then(Value::as_object)
        .map_or(0, Map::len);
    if map.len() + extensions > MOST_FIELDS {
        find(
            findings,
            Severity::Warning,
            "",
            "has more than 32 envelope fields",
            "3.7",
        );
    }
    if depth(value) > DEEPEST {
        find(
            findings,
            Severity::Warning,
            "",
            "is nested deeper than 8 levels",
            "3.7",
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
