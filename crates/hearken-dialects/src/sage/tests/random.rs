//! Random streams, legal and not: the events are valid, nothing panics, and no question is lost.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::link::LinkEvent;
use crate::protocol::Severity;
use hearken_core::inspect::Checker;

use super::super::super::{DialectOutput, TransportKind};
use super::SageBench;

/// A message of any kind, at any place.
fn message() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        Just(String::new()),
        Just("Permission denied".to_owned()),
        Just("step 2 started".to_owned()),
        "\\PC{0,12}",
    ];
    let place = (0..2_u8, 0..2_u8, 0..3_u8, 0..3_u8);
    let kind = prop_oneof![
        3 => Just("item.created"), 3 => Just("item.updated"), 3 => Just("item.completed"),
        3 => Just("permission.requested"), 3 => Just("permission.resolved"),
        1 => Just("thread.started"), 1 => Just("thread.ended"), 2 => Just("turn.started"),
        2 => Just("turn.completed"), 1 => Just("turn.interrupted"), 1 => Just("error.reported"),
        1 => Just("error.tool_failed"), 1 => Just("turn.start"), 1 => Just("permission.respond.result"),
        1 => Just("odd"),
    ];
    let word = prop_oneof![
        Just("started"),
        Just("completed"),
        Just("failed"),
        Just("interrupted"),
        Just("odd"),
        Just("")
    ];
    let item = prop_oneof![
        3 => Just("tool_call"), 2 => Just("assistant_message"), 1 => Just("user_message"),
        1 => Just("message"), 1 => Just("system_message"), 1 => Just("result"), 1 => Just("odd"),
    ];
    let parts = (
        place,
        kind,
        item,
        word,
        text.clone(),
        text,
        any::<Option<bool>>(),
        any::<bool>(),
    );
    parts.prop_map(|((thread, turn, item_id, request), kind, item, status, words, more, success, asks)| {
        let envelope = match kind {
            "error.tool_failed" => "error",
            "turn.start" => "request",
            "permission.respond.result" => "response",
            _ => "notification",
        };
        let mut message = json!({
            "protocol_version": "sage.runtime.v0", "kind": envelope, "type": kind, "id": "x",
            "thread_id": format!("t{thread}"), "turn_id": format!("u{turn}"), "source": "runtime",
            "item_id": format!("i{item_id}"),
            "payload": {
                "item_type": item, "status": status, "content": words, "tool_name": more,
                "success": success, "decision": if asks { "allow" } else { "deny" },
                "risk": if asks { "low" } else { "odd" }, "reason": words, "input": {"a": more},
                "input_redacted": success.unwrap_or_default(), "message": words, "code": "permission_denied",
                "result": more, "input_item_id": "i0", "accepted": asks,
            },
        });
        if kind.starts_with("permission") || asks {
            message["request_id"] = json!(format!("r{request}"));
        }
        message.to_string()
    })
}

/// A line of a program: JSON, or text as to a terminal.
fn line() -> impl Strategy<Value = String> {
    let shown = prop_oneof![
        Just("⏺ bash(ls)".to_owned()),
        Just("\r\u{1b}[K⏺ I look".to_owned()),
        Just("  and see".to_owned()),
        Just("  ⎿ a.rs".to_owned()),
        Just("    b.rs".to_owned()),
        Just(String::new()),
        "\\PC{0,12}",
    ];
    let kind = prop_oneof![
        Just("system"),
        Just("assistant"),
        Just("tool_call_start"),
        Just("tool_call_result"),
        Just("user_prompt"),
        Just("error"),
        Just("result"),
        Just("odd")
    ];
    let words = prop_oneof![
        Just("Sage Agent starting".to_owned()),
        Just("Task: x".to_owned()),
        Just("Waiting for input: what?".to_owned()),
        Just("Error: no".to_owned()),
        Just("Task interrupted by user".to_owned()),
        "\\PC{0,12}",
    ];
    let json =
        (kind, words, 0..3_u8, any::<Option<bool>>()).prop_map(|(kind, words, call, success)| {
            json!({
            "type": kind, "message": words, "content": words, "timestamp": "2026-06-30T00:00:00Z",
            "call_id": format!("c{call}"), "tool_name": "read", "success": success, "error": words,
        })
        .to_string()
        });
    prop_oneof![shown, json]
}

/// Feeds frames with pauses between, and checks the output.
fn holds(frames: Vec<(String, u16)>) -> Result<(), TestCaseError> {
    let mut bench = SageBench::new(TransportKind::Lines);
    let mut checker = Checker::new();
    let mut bad = Vec::new();
    let mut asked = BTreeSet::new();
    let mut judge = |out: &[DialectOutput], bad: &mut Vec<String>| {
        for one in out {
            if let DialectOutput::Event(text) | DialectOutput::ViewOnly(text) = one {
                for item in checker.line(text) {
                    if item.severity == Severity::Error {
                        bad.push(format!(
                            "{}: {} {:?}\n{text}",
                            item.rule, item.field, item.fact
                        ));
                    }
                }
            }
        }
    };
    for (frame, pause) in frames {
        let open = bench.sage.questions.clone();
        let out = bench.frame(&frame);
        judge(&out, &mut bad);
        let message: Value = serde_json::from_str(&frame).unwrap_or_default();
        if message["type"] == "permission.requested" {
            let thread = message["thread_id"].as_str().unwrap_or_default();
            let request = message["request_id"].as_str().unwrap_or_default();
            let known = open.find(thread, request).is_some();
            let asks = |one: &DialectOutput| matches!(one, DialectOutput::Event(text) | DialectOutput::ViewOnly(text) if text.contains("awaiting.confirmation"));
            prop_assert!(
                known || out.iter().any(asks),
                "a question was lost: {}",
                frame
            );
            asked.insert((thread.to_owned(), request.to_owned()));
        }
        judge(&bench.wait(u64::from(pause)), &mut bad);
    }
    judge(&bench.news(&LinkEvent::Ended), &mut bad);
    judge(&bench.wait(60_000), &mut bad);
    let (left, _) = checker.finish();
    let errors = left
        .into_iter()
        .filter(|item| item.severity == Severity::Error);
    bad.extend(errors.map(|item| format!("at the end: {} {:?}", item.rule, item.fact)));
    prop_assert!(bad.is_empty(), "{}", bad.join("\n"));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::tests::runs(100), ..ProptestConfig::default() })]

    #[test]
    fn a_check_finds_no_error_in_what_is_told_of_envelopes(
        frames in prop::collection::vec((message(), prop_oneof![Just(0_u16), 0..700_u16]), 1..40)
    ) {
        holds(frames)?;
    }

    #[test]
    fn a_check_finds_no_error_in_what_is_told_of_lines(
        frames in prop::collection::vec((line(), prop_oneof![Just(0_u16), 0..700_u16]), 1..40)
    ) {
        holds(frames)?;
    }
}
