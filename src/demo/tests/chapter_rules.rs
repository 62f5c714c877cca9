//! The rules of AAEP for a whole session, written from the chapters and without the producer's code.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Returns what is wrong with a session's events; `accepted` contains the tokens that were accepted.
pub(super) fn faults(events: &[Value], accepted: &BTreeSet<String>) -> Vec<String> {
    let mut rules = EventRules {
        accepted: accepted.clone(),
        ..EventRules::default()
    };
    for (index, event) in events.iter().enumerate() {
        rules.envelope(index, event);
        rules.order(index, event, index + 1 == events.len());
    }
    rules.end();
    rules.faults
}

#[derive(Default)]
struct EventRules {
    faults: Vec<String>,
    accepted: BTreeSet<String>,
    session: String,
    stamp: String,
    ids: BTreeSet<String>,
    state: String,
    changed: bool,
    /// The running tools: their call id and name.
    tools: BTreeMap<String, String>,
    calls: BTreeSet<String>,
    /// The outputs: characters sent, and whether complete.
    outputs: BTreeMap<String, (u64, bool)>,
    /// The token of the question whose end must come next.
    asked: Option<String>,
    /// Whether the latest question was a confirmation that was accepted.
    consent: bool,
    /// Whether the latest confirmation ended otherwise.
    refused: bool,
}

fn text<'a>(event: &'a Value, name: &str) -> &'a str {
    event[name].as_str().unwrap_or_default()
}

fn kind(event: &Value) -> &str {
    text(event, "type")
        .strip_prefix("aaep:agent.")
        .unwrap_or("no core type")
}

fn is_id(id: &str, prefix: &str) -> bool {
    id.strip_prefix(prefix).is_some_and(|rest| {
        (1..=64).contains(&rest.len()) && rest.chars().all(|sign| sign.is_ascii_alphanumeric())
    })
}

/// Chapter 3.3.2.
fn urgency(kind: &str) -> &'static str {
    match kind {
        "session.errored"
        | "awaiting.confirmation"
        | "awaiting.clarification"
        | "handoff.requested" => "critical",
        "state.changed" | "progress.updated" => "background",
        _ => "normal",
    }
}

/// Chapter 4: required fields, then optional ones.
fn fields(kind: &str) -> Option<(&'static [&'static str], &'static [&'static str])> {
    Some(match kind {
        "session.started" => (
            &["summary_normal"],
            &[
                "expected_duration_ms",
                "requested_by",
                "request_text",
                "tools_available",
            ],
        ),
        "session.completed" => (
            &["summary_normal"],
            &[
                "duration_ms",
                "tool_invocations_count",
                "output_summary",
                "result_uri",
            ],
        ),
        "session.errored" => (
            &["summary_normal", "error_category"],
            &["error_code", "error_uri", "recoverable", "remediation_hint"],
        ),
        "session.cancelled" => (
            &["summary_normal", "cancelled_by"],
            &["cancellation_reason", "partial_result"],
        ),
        "state.changed" => (&["from_state", "to_state"], &["expected_duration_ms"]),
        "progress.updated" => (&["progress"], &["eta_ms"]),
        "tool.invoked" => (
            &["tool", "summary_normal"],
            &[
                "description",
                "args_summary",
                "expected_duration_ms",
                "risk_level",
                "irreversible",
                "tool_call_id",
            ],
        ),
        "tool.completed" => (
            &["tool", "status"],
            &["tool_call_id", "duration_ms", "error_message"],
        ),
        "output.streaming" => (
            &["chunk", "position", "complete"],
            &["coalesce_hint", "output_id", "content_type", "language"],
        ),
        "awaiting.confirmation" => (
            &[
                "action",
                "consequence",
                "reply_token",
                "timeout_seconds",
                "default_decision",
            ],
            &[
                "risk_level",
                "irreversible",
                "reversibility",
                "allowed_replies",
                "extra_context",
            ],
        ),
        "awaiting.clarification" => (
            &["question", "reply_token", "timeout_seconds"],
            &[
                "accepted_response_kinds",
                "choices",
                "context",
                "default_response",
            ],
        ),
        "handoff.requested" => (
            &["reason", "target_kind"],
            &["target_uri", "packaged_context", "urgency_for_handoff"],
        ),
        _ => return None,
    })
}

const ENVELOPE: [&str; 10] = [
    "@context",
    "aaep_version",
    "type",
    "event_id",
    "session_id",
    "sequence_number",
    "timestamp",
    "producer",
    "urgency",
    "localization_hints",
];
const SUMMARIES: [&str; 3] = ["summary_terse", "summary_normal", "summary_detailed"];

impl EventRules {
    fn must(&mut self, holds: bool, event: &Value, rule: &str) {
        if !holds {
            self.faults.push(format!("{rule}: {}", text(event, "type")));
        }
    }

    /// Chapter 3.
    fn envelope(&mut self, index: usize, event: &Value) {
        let names = kind(event);
        let Some((required, optional)) = fields(names) else {
            return self.must(false, event, "3.2.2 known type");
        };
        let object = event.as_object().unwrap();
        for name in ENVELOPE.iter().take(9).chain(required) {
            self.must(
                object.contains_key(*name),
                event,
                &format!("{name} is there"),
            );
        }
        for name in object.keys() {
            let known = [&ENVELOPE[..], &SUMMARIES, required, optional]
                .iter()
                .any(|names| names.contains(&name.as_str()));
            self.must(known, event, &format!("3.5 no field {name}"));
        }
        self.must(
            event["@context"] == "https://aaep-protocol.org/context/v1",
            event,
            "3.2.1",
        );
        self.must(event["aaep_version"] == "1.0.0", event, "3.4.4");
        self.must(is_id(text(event, "event_id"), "evt_"), event, "3.2.3 form");
        let new = self.ids.insert(text(event, "event_id").to_owned());
        self.must(new, event, "3.2.3 unique");
        self.must(
            is_id(text(event, "session_id"), "sess_"),
            event,
            "3.2.4 form",
        );
        if index == 0 {
            self.session = text(event, "session_id").to_owned();
        }
        self.must(
            text(event, "session_id") == self.session,
            event,
            "3.2.4 the same",
        );
        self.must(event["sequence_number"] == index, event, "3.4.1");
        let stamp = text(event, "timestamp").to_owned();
        self.must(
            stamp.len() == 24 && stamp.ends_with('Z') && stamp.as_bytes()[19] == b'.',
            event,
            "3.2.5 milliseconds",
        );
        self.must(stamp >= self.stamp, event, "3.2.5 never back");
        self.stamp = stamp;
        self.must(
            !text(&event["producer"], "agent_id").is_empty(),
            event,
            "3.2.6",
        );
        self.must(
            !text(&event["producer"], "agent_name").is_empty(),
            event,
            "3.2.6.3",
        );
        self.must(text(event, "urgency") == urgency(names), event, "3.3.2");
        self.must(
            event["localization_hints"]["primary_language"] == "en-US",
            event,
            "11.1",
        );
        self.must(
            event.to_string().len() < 64 * 1024 && object.len() <= 32,
            event,
            "3.7",
        );
        if names != "output.streaming" {
            self.must(
                !text(event, "summary_terse").is_empty(),
                event,
                "a terse summary",
            );
            self.must(
                !text(event, "summary_normal").is_empty(),
                event,
                "a normal summary",
            );
        }
        let gaps = event.to_string().contains("{answer}");
        self.must(!gaps, event, "no placeholder is left");
    }

    /// Chapter 4.
    fn order(&mut self, index: usize, event: &Value, last: bool) {
        let names = kind(event).to_owned();
        let ends = matches!(
            names.as_str(),
            "session.completed" | "session.errored" | "session.cancelled"
        );
        self.must(
            (names == "session.started") == (index == 0),
            event,
            "4.5.1 start",
        );
        self.must(ends == last, event, "4.5.1 end");
        if let Some(token) = self.asked.take() {
            self.must(
                names == "state.changed" && event["from_state"] == "awaiting_input",
                event,
                "4.5.3 the end of a question comes next",
            );
            self.consent = self.accepted.contains(&token);
            self.refused = !self.consent;
        }
        match names.as_str() {
            "state.changed" => {
                let from = text(event, "from_state").to_owned();
                let expected = if self.changed {
                    self.state.clone()
                } else {
                    "idle".to_owned()
                };
                self.must(from == expected, event, "4.2.1 chain");
                self.must(
                    self.tools.is_empty(),
                    event,
                    "4.3.2 a tool ends before the state changes",
                );
                self.changed = true;
                self.state = text(event, "to_state").to_owned();
            }
            "tool.invoked" => {
                let call = text(event, "tool_call_id").to_owned();
                self.must(is_id(&call, "call_"), event, "4.3.1 call id");
                let new = self.calls.insert(call.clone());
                self.must(new, event, "4.3.1 unique");
                self.must(self.state == "calling_tool", event, "A.3 state");
                if event["irreversible"] == true {
                    self.must(self.consent, event, "4.3.1 irreversible only with consent");
                    self.consent = false;
                }
                self.must(!self.refused, event, "4.5.3 no tool after a refusal");
                self.tools.insert(call, text(event, "tool").to_owned());
            }
            "tool.completed" => {
                let tool = self.tools.remove(text(event, "tool_call_id"));
                self.must(
                    tool.as_deref() == Some(text(event, "tool")),
                    event,
                    "4.5.2 pairing",
                );
                let status = text(event, "status");
                self.must(
                    matches!(status, "success" | "error" | "timeout"),
                    event,
                    "4.3.2 status",
                );
                self.must(
                    (status == "success") == event["error_message"].is_null(),
                    event,
                    "4.3.2 message",
                );
            }
            "output.streaming" => {
                let id = text(event, "output_id").to_owned();
                self.must(is_id(&id, "out_"), event, "output id");
                let (sent, complete) = self.outputs.get(&id).copied().unwrap_or((0, false));
                self.must(!complete, event, "4.5.4 nothing after complete");
                self.must(
                    event["position"] == sent,
                    event,
                    "4.3.3 position in characters",
                );
                self.must(self.state == "writing_output", event, "A.6 state");
                let sent = sent + text(event, "chunk").chars().count() as u64;
                self.outputs.insert(id, (sent, event["complete"] == true));
                let hint = event["coalesce_hint"].as_str();
                self.must(
                    matches!(hint, None | Some("sentence" | "completion")),
                    event,
                    "4.3.3 hint",
                );
            }
            "awaiting.confirmation" => {
                let irreversible = event["irreversible"] == true;
                self.must(
                    irreversible == (event["reversibility"] == "irreversible"),
                    event,
                    "both say the same",
                );
                if irreversible {
                    self.must(event["default_decision"] == "reject", event, "6.4.1");
                }
                self.question(event);
            }
            "awaiting.clarification" => {
                self.question(event);
                // A clarification's end allows the tool that follows (although it is not consent to an action).
                self.asked = None;
                self.refused = false;
            }
            _ => {}
        }
    }

    fn question(&mut self, event: &Value) {
        let token = text(event, "reply_token").to_owned();
        self.must(is_id(&token, "rpl_"), event, "6.2.1");
        self.must(self.state == "awaiting_input", event, "A.4 state");
        self.must(
            event["timeout_seconds"]
                .as_u64()
                .is_some_and(|seconds| (30..=600).contains(&seconds)),
            event,
            "6.4.2",
        );
        self.asked = Some(token);
    }

    fn end(&mut self) {
        if !self.tools.is_empty() {
            self.faults.push("4.3.2 a tool never ended".to_owned());
        }
        if self.outputs.values().any(|(_, complete)| !complete) {
            self.faults
                .push("4.5.4 an output was never completed".to_owned());
        }
        if self.asked.is_some() {
            self.faults.push("4.5.3 a question never ended".to_owned());
        }
    }
}

mod tests {
    use serde_json::json;

    use super::*;

    /// A session that keeps every rule.
    fn session() -> Vec<Value> {
        let bodies = [
            json!({"type": "aaep:agent.session.started"}),
            json!({"type": "aaep:agent.state.changed", "from_state": "idle", "to_state": "awaiting_input"}),
            json!({"type": "aaep:agent.awaiting.confirmation", "action": "A", "consequence": "C", "reply_token": "rpl_1",
                   "timeout_seconds": 60, "default_decision": "reject", "irreversible": true, "reversibility": "irreversible"}),
            json!({"type": "aaep:agent.state.changed", "from_state": "awaiting_input", "to_state": "calling_tool"}),
            json!({"type": "aaep:agent.tool.invoked", "tool": "t", "tool_call_id": "call_1", "irreversible": true}),
            json!({"type": "aaep:agent.tool.completed", "tool": "t", "tool_call_id": "call_1", "status": "success"}),
            json!({"type": "aaep:agent.state.changed", "from_state": "calling_tool", "to_state": "writing_output"}),
            json!({"type": "aaep:agent.output.streaming", "chunk": "é!", "position": 0, "complete": false, "output_id": "out_1"}),
            json!({"type": "aaep:agent.output.streaming", "chunk": "x", "position": 2, "complete": true, "output_id": "out_1"}),
            json!({"type": "aaep:agent.session.completed"}),
        ];
        let complete = |(index, mut event): (usize, Value)| {
            let envelope = json!({"@context": "https://aaep-protocol.org/context/v1", "aaep_version": "1.0.0",
                "event_id": format!("evt_{index}"), "session_id": "sess_1", "sequence_number": index,
                "timestamp": "2026-01-01T00:00:00.000Z", "producer": {"agent_id": "a", "agent_name": "A"},
                "urgency": urgency(kind(&event)), "localization_hints": {"primary_language": "en-US"}});
            let object = event.as_object_mut().unwrap();
            if object["type"] != "aaep:agent.output.streaming" {
                object.insert("summary_terse".to_owned(), json!("S."));
                object.insert("summary_normal".to_owned(), json!("S."));
            }
            object.extend(envelope.as_object().unwrap().clone());
            event
        };
        bodies.into_iter().enumerate().map(complete).collect()
    }

    #[test]
    fn the_rules_find_what_is_wrong_and_nothing_else() {
        let accepted = BTreeSet::from(["rpl_1".to_owned()]);
        assert_eq!(faults(&session(), &accepted), Vec::<String>::new());
        let found = |change: &dyn Fn(&mut Vec<Value>), rule: &str| {
            let mut events = session();
            change(&mut events);
            let faults = faults(&events, &accepted);
            assert!(
                faults.iter().any(|fault| fault.contains(rule)),
                "{rule}: {faults:?}"
            );
        };
        found(
            &|events| events[1]["from_state"] = json!("thinking"),
            "4.2.1 chain",
        );
        found(&|events| events[8]["position"] = json!(3), "4.3.3 position");
        found(
            &|events| events[7]["complete"] = json!(true),
            "4.5.4 nothing after",
        );
        found(
            &|events| events[8]["complete"] = json!(false),
            "4.5.4 an output",
        );
        found(
            &|events| events[5]["tool_call_id"] = json!("call_2"),
            "4.5.2",
        );
        found(&|events| events.truncate(9), "4.5.1 end");
        found(&|events| events.swap(2, 3), "A.4 state");
        found(&|events| events[4]["sequence_number"] = json!(9), "3.4.1");
        found(&|events| events[4]["urgency"] = json!("critical"), "3.3.2");
        found(&|events| events[4]["custom"] = json!(1), "3.5");
        let refused = faults(&session(), &BTreeSet::new());
        assert!(
            refused.iter().any(|fault| fault.contains("consent")),
            "{refused:?}"
        );
    }
}
