use serde_json::json;

use super::super::CORE_CONTEXT;
use super::super::event::*;
use super::super::finding::{Finding, Severity};
use super::super::schema::{CORE, ENVELOPE};
use super::*;

#[path = "decode_tests/reading_steps.rs"]
mod reading_steps;

fn with(fields: Value) -> Value {
    let mut event = json!({
        "@context": "https://aaep-protocol.org/context/v1",
        "type": "aaep:agent.tool.invoked",
        "event_id": "evt_1", "session_id": "sess_1",
        "timestamp": "2026-05-24T14:22:11.342Z",
        "producer": {"agent_id": "a"},
        "localization_hints": {"primary_language": "en"},
        "tool": "t", "summary_normal": "s",
    });
    for (key, value) in fields.as_object().unwrap() {
        event[key] = value.clone();
    }
    event
}

fn findings(event: &Value) -> Vec<(Severity, String)> {
    decode(&event.to_string())
        .unwrap()
        .findings
        .into_iter()
        .map(|f| (f.severity, f.field))
        .collect()
}

#[test]
fn a_clean_event_has_no_findings() {
    assert_eq!(findings(&with(json!({}))), []);
}

#[test]
fn both_forms_of_a_type_are_equal() {
    for name in [
        "aaep:agent.tool.invoked",
        "https://aaep-protocol.org/types/agent.tool.invoked",
    ] {
        let decoded = decode(&with(json!({"type": name})).to_string()).unwrap();
        assert!(matches!(decoded.event, Event::ToolInvoked(_)), "{name}");
    }
}

#[test]
fn every_departure_is_named_and_the_event_survives() {
    use Severity::{Error, Note, Warning};
    for (change, severity, field) in [
        (json!({"@context": null}), Error, "@context"),
        (
            json!({"@context": ["https://x.example/", CORE_CONTEXT]}),
            Error,
            "@context",
        ),
        (json!({"event_id": null}), Error, "event_id"),
        (json!({"event_id": "evt_a-b"}), Error, "event_id"),
        (json!({"session_id": 3}), Error, "session_id"),
        (json!({"timestamp": "May 24, 2026"}), Error, "timestamp"),
        (
            json!({"timestamp": "2026-05-24T14:22:11.3Z"}),
            Error,
            "timestamp",
        ),
        (json!({"producer": {}}), Error, "producer.agent_id"),
        (json!({"urgency": "loud"}), Error, "urgency"),
        (json!({"type": "aaep:agent.purple.flamingo"}), Error, "type"),
        (json!({"tool": ""}), Error, "tool"),
        (json!({"risk_level": "extreme"}), Error, "risk_level"),
        (json!({"sequence_number": "7"}), Error, "sequence_number"),
        (json!({"custom_field": 1}), Warning, "custom_field"),
        (json!({"aaep_mood": 1}), Warning, "aaep_mood"),
        (
            json!({"extensions": {"medai": {}}}),
            Warning,
            "extensions.medai",
        ),
        (
            json!({"reversibility": "irreversible"}),
            Note,
            "reversibility",
        ),
    ] {
        let found = findings(&with(change.clone()));
        assert!(
            found.contains(&(severity, field.to_owned())),
            "{change}: {found:?}"
        );
    }
}

#[test]
fn a_declared_extension_is_fine() {
    let event = with(json!({
        "@context": [CORE_CONTEXT, "https://example.org/medai/context/v1"],
        "extensions": {"medai": {"x": 1}},
    }));
    assert_eq!(findings(&event), []);
}

#[test]
fn only_what_cannot_be_understood_is_refused() {
    assert!(matches!(decode("{"), Err(DecodeError::Json { .. })));
    assert_eq!(
        decode("[1]"),
        Err(DecodeError::NotAnObject(JsonKind::Array))
    );
    assert_eq!(decode("{}"), Err(DecodeError::NoType));
    assert_eq!(decode(r#"{"type":7}"#), Err(DecodeError::NoType));
    let bare = decode(r#"{"type":"aaep:agent.state.changed"}"#).unwrap();
    assert_eq!(bare.envelope.producer.agent_id.as_str(), "unknown");
    assert!(bare.findings.len() > 5);
}

#[test]
fn wild_spellings_are_read() {
    let progress = with(json!({
        "type": "aaep:agent.progress.updated", "progress_percent": 40, "progress_message": "half", "estimated_remaining_ms": 5,
    }));
    let Event::Progress(progress) = decode(&progress.to_string()).unwrap().event else {
        panic!()
    };
    assert_eq!(
        (
            progress.percent,
            progress.description.as_deref(),
            progress.eta_ms
        ),
        (Some(40.0), Some("half"), Some(5))
    );

    let clarification = with(json!({
        "type": "aaep:agent.awaiting.clarification", "question": "Which?", "reply_token": "rpl_1", "timeout_seconds": 9,
        "options": ["red", {"id": "b", "label": "blue"}], "free_form_allowed": true,
    }));
    let Event::AwaitingClarification(asked) = decode(&clarification.to_string()).unwrap().event
    else {
        panic!()
    };
    assert_eq!(
        asked.choices[1],
        Choice {
            value: "b".into(),
            label: "blue".into(),
            labels: Vec::new(),
            label_in: None,
        }
    );
    assert_eq!(
        asked.accepted_response_kinds,
        [ResponseKind::MultipleChoice, ResponseKind::Freetext]
    );

    let handoff = with(json!({
        "type": "aaep:agent.handoff.requested", "reason": "r", "handoff_target": "billing", "context_summary": "c",
    }));
    let Event::HandoffRequested(handoff) = decode(&handoff.to_string()).unwrap().event else {
        panic!()
    };
    assert_eq!(handoff.target_kind.as_deref(), Some("billing"));
    assert_eq!(
        handoff.packaged_context,
        [("summary".to_owned(), "c".to_owned())]
    );
}

#[test]
fn either_field_makes_a_question_irreversible() {
    for field in [
        json!({"irreversible": true}),
        json!({"reversibility": "irreversible"}),
    ] {
        let mut event = with(field);
        event["type"] = "aaep:agent.awaiting.confirmation".into();
        event["action"] = "a".into();
        let Event::AwaitingConfirmation(asked) = decode(&event.to_string()).unwrap().event else {
            panic!()
        };
        assert!(asked.is_irreversible());
    }
}

#[test]
fn a_missing_status_is_no_success() {
    let Event::ToolCompleted(done) =
        decode(&with(json!({"type": "aaep:agent.tool.completed"})).to_string())
            .unwrap()
            .event
    else {
        panic!()
    };
    assert_ne!(done.status, ToolStatus::Success);
}

proptest::proptest! {
    #[test]
    fn any_text_is_survived(text in ".{0,200}") {
        let _ = decode(&text);
    }

    #[test]
    fn any_types_in_any_field_are_survived(index in 0usize..12, value in 0usize..7, field in 0usize..40) {
        let core = &CORE[index];
        let names: Vec<&str> = ENVELOPE.iter().map(|field| field.name)
            .chain(["@context", "event_id", "session_id", "timestamp", "producer"])
            .chain(core.fields.iter().map(|field| field.name))
            .chain(core.wild.iter().copied())
            .collect();
        let values = [json!(null), json!(true), json!(-1), json!(1e300), json!(""), json!([[], {}]), json!({"a": [1]})];
        let mut event = with(json!({"type": format!("aaep:{}", core.name)}));
        event[names[field % names.len()]] = values[value].clone();
        proptest::prop_assert!(decode(&event.to_string()).is_ok());
    }
}

#[test]
fn the_spellings_of_real_producers_are_notes() {
    for (name, fields) in [
        (
            "agent.progress.updated",
            json!({"progress_percent": 1, "progress_message": "m", "estimated_remaining_ms": 5}),
        ),
        (
            "agent.awaiting.clarification",
            json!({"options": [], "multi_select": true, "free_form_allowed": true}),
        ),
        (
            "agent.handoff.requested",
            json!({"handoff_target": "x", "context_summary": "y"}),
        ),
        ("agent.session.errored", json!({"error_message": "x"})),
        (
            "agent.awaiting.confirmation",
            json!({"tool": "t", "tool_call_id": "call_1"}),
        ),
    ] {
        let mut event = with(fields.clone());
        event["type"] = format!("aaep:{name}").into();
        let found = decode(&event.to_string()).unwrap().findings;
        for field in fields.as_object().unwrap().keys() {
            let notes: Vec<&Finding> = found
                .iter()
                .filter(|finding| finding.field == *field)
                .collect();
            assert_eq!(notes.len(), 1, "{field}: {notes:?}");
            assert_eq!(notes[0].rule, Rule::OtherSpelling, "{field}");
        }
    }
}

#[test]
fn what_is_no_number_is_absent_and_found() {
    let text = r#"{"type":"aaep:agent.progress.updated","percent":NaN,"message":"x"}"#;
    let decoded = decode(text).unwrap();
    let found = |rule: Rule| decoded.findings.iter().find(|found| found.rule == rule);
    assert_eq!(
        found(Rule::NoNumber).map(|found| found.field.as_str()),
        Some("percent")
    );
    let Event::Progress(progress) = decoded.event else {
        panic!("{:?}", decoded.event);
    };
    assert_eq!(progress.percent, None);
}

#[test]
fn an_event_in_an_envelope_that_was_no_json_is_taken_out_of_it() {
    let text = r#"{"jsonrpc":"2.0","method":"aaep.event","params":{"type":"a:b","x":NaN}}"#;
    assert_eq!(decode(text).unwrap().envelope.type_name, "a:b");
    let other = r#"{"jsonrpc":"2.0","method":"log","params":{"type":"a:b"}}"#;
    assert_eq!(decode(other), Err(DecodeError::NoType));
}

#[test]
fn a_recording_keeps_each_text_as_json_that_everybody_reads() {
    let plain = r#"{"a": 1.50}"#;
    assert_eq!(recordable(plain), [plain]);
    assert_eq!(
        recordable("\u{feff}[{\"a\":NaN,\"b\":1},{\"c\":2}]"),
        [r#"{"b":1}"#, r#"{"c":2}"#]
    );
    assert_eq!(recordable("no JSON {"), ["no JSON {"]);
    assert_eq!(recordable("[]"), ["[]"]);
}
