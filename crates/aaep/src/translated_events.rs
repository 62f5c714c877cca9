//! Events that were translated from another protocol, and the fields that they may lack.
//!
//! Responsibilities: recognising such an event by its extension, and knowing the fields that it may leave out.
//! Not here: translating (`dialect`).
//!
//! AAEP requires a sentence for people, a consequence, a timeout and a default. Other protocols lack these, and
//! a translator that invented one would put words into the agent's mouth. So a missing field counts as not
//! stated, which is a note and not an error, and a text longer than AAEP's schemas allow is a warning;
//! everything else about such an event is judged as usual.

use serde_json::{Map, Value};

use super::envelope::Envelope;
use super::finding::{Findings, Rule};
use super::problem::Problem;
use super::schema::LONG;

/// The field of the extension `hearken` that names the dialect from which an event was translated.
pub const TRANSLATED: &str = "translated";

/// The context that declares this extension.
pub const OWN_CONTEXT: &str = "urn:hearken:context:v1";

/// The status of a call for which the other side reported only its end.
pub const NOT_STATED: &str = "not_stated";

/// The status of a call whose end the other side did not report before its turn or its session was over: it may still
/// run.
pub const NO_END: &str = "no_end_reported";

/// The status of a call that was stopped before its end, by a person.
pub const STOPPED: &str = "stopped";

/// The fields that other protocols may lack.
const NOT_THERE: [&str; 4] = [
    "summary_normal",
    "consequence",
    "timeout_seconds",
    "default_decision",
];

impl Envelope {
    /// Returns whether the event is marked as translated from another protocol.
    pub fn is_translated(&self) -> bool {
        self.extensions.as_ref().is_some_and(|own| is_marked(own))
    }
}

/// Returns whether the extensions of an event mark it as translated.
fn is_marked(extensions: &Map<String, Value>) -> bool {
    let own = extensions
        .get("hearken")
        .and_then(|own| own.get(TRANSLATED));
    own.is_some_and(Value::is_string)
}

/// Downgrades the findings about fields that a translated event can't state to "not stated".
pub(super) fn forgive(map: &Map<String, Value>, findings: &mut Findings) {
    let extensions = map.get("extensions").and_then(Value::as_object);
    if !extensions.is_some_and(is_marked) {
        return;
    }
    let status = map.get("status").and_then(Value::as_str);
    let is_open = status.is_some_and(|status| [NOT_STATED, NO_END, STOPPED].contains(&status));
    findings.restate(
        |finding| {
            let absent =
                finding.rule == Rule::Missing && NOT_THERE.contains(&finding.field.as_str());
            absent || is_open && finding.rule == Rule::UndefinedValue && finding.field == "status"
        },
        Rule::NotStated,
        &Problem::NotStated,
    );
    // Other protocols do not bound texts, and a translator that cut one would hide what the person decides
    // about.
    let most = LONG;
    findings.restate(
        |finding| finding.problem == Problem::LongerThan { most },
        Rule::BeyondLimit,
        &Problem::LongText,
    );
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{Severity, decode};

    fn errors(extensions: Value, status: &str) -> usize {
        let event = json!({
            "@context": "https://aaep-protocol.org/context/v1",
            "type": "aaep:agent.tool.completed",
            "event_id": "evt_1",
            "session_id": "sess_1",
            "timestamp": "2026-01-01T00:00:00Z",
            "producer": {"agent_id": "a"},
            "extensions": extensions,
            "tool": "x",
            "status": status,
        });
        let findings = decode(&event.to_string()).unwrap().findings;
        let errors = findings
            .iter()
            .filter(|one| one.severity == Severity::Error);
        errors.count()
    }

    use super::*;

    #[test]
    fn only_a_translated_event_may_leave_open_how_a_call_factsed() {
        let translated = json!({"hearken": {"translated": "test"}});
        assert_eq!(errors(translated.clone(), "not_stated"), 0);
        assert_eq!(errors(translated.clone(), "no_end_reported"), 0);
        assert_eq!(errors(translated.clone(), "stopped"), 0);
        assert_eq!(errors(json!({}), "no_end_reported"), 1);
        assert_eq!(errors(translated, "purple"), 1);
        assert_eq!(
            errors(json!({"hearken": {"translated": 1}}), "not_stated"),
            1
        );
        assert_eq!(errors(json!({}), "not_stated"), 1);
    }

    #[test]
    fn a_long_text_of_a_translated_event_is_one_remark() {
        let mut event = json!({
            "@context": ["https://aaep-protocol.org/context/v1", OWN_CONTEXT],
            "type": "aaep:agent.tool.invoked", "event_id": "evt_1", "session_id": "sess_1",
            "timestamp": "2026-01-01T00:00:00Z", "producer": {"agent_id": "a"}, "tool": "x",
            "localization_hints": {"primary_language": "en"},
            "summary_normal": "x".repeat(17_000),
        });
        let rules = |event: &serde_json::Value| -> Vec<Rule> {
            let decoded = crate::decode(&event.to_string()).unwrap();
            decoded.findings.iter().map(|found| found.rule).collect()
        };
        assert_eq!(rules(&event), [Rule::TooLong]);
        event["extensions"] = json!({"hearken": {"translated": "x"}});
        assert_eq!(rules(&event), [Rule::BeyondLimit]);
    }
}
