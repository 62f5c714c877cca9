//! Every departure that appendix A and chapters 3, 4 and 6 name, each with a script that breaks
//! only that rule.

use std::collections::BTreeSet;

use super::*;
use crate::protocol::Severity;

mod scripts;

use scripts::scripts;

/// Plays a script, one event and its fields per row; `accept`, `reject` and `wait` stand for the
/// person and the clock.
fn play(rows: &[(&str, Value)]) -> (SessionStage, Vec<AnomalyKind>, Vec<Danger>) {
    let mut stage = SessionStage::new();
    let (mut kinds, mut risks) = (Vec::new(), Vec::new());
    for (kind, fields) in rows {
        stage.wait(10);
        let what = match *kind {
            "wait" => stage.wait(fields.as_u64().unwrap()),
            "accept" | "reject" => {
                let id = stage.sessions.open_questions().next().unwrap().id;
                let decision = if *kind == "accept" {
                    Decision::Accept
                } else {
                    Decision::Reject
                };
                stage.answer(id, decision)
            }
            kind => stage.on(kind, fields.clone()),
        };
        kinds.extend(anomalies(&what));
        risks.extend(dangers(&what));
    }
    (stage, kinds, risks)
}

fn started() -> (&'static str, Value) {
    ("session.started", json!({}))
}
fn ended() -> (&'static str, Value) {
    ("session.completed", json!({}))
}
fn state(from: &str, to: &str) -> (&'static str, Value) {
    ("state.changed", json!({"from_state": from, "to_state": to}))
}
fn invoked(tool: &str, call: &str) -> (&'static str, Value) {
    ("tool.invoked", json!({"tool": tool, "tool_call_id": call}))
}
fn danger(tool: &str, call: &str) -> (&'static str, Value) {
    (
        "tool.invoked",
        json!({"tool": tool, "tool_call_id": call, "irreversible": true, "risk_level": "high"}),
    )
}
fn completed(tool: &str, call: &str) -> (&'static str, Value) {
    (
        "tool.completed",
        json!({"tool": tool, "tool_call_id": call, "status": "success"}),
    )
}
fn chunk(output: &str, position: u64, complete: bool) -> (&'static str, Value) {
    (
        "output.streaming",
        json!({"output_id": output, "position": position, "complete": complete, "chunk": "abc"}),
    )
}
fn asked(token: &str) -> (&'static str, Value) {
    (
        "awaiting.confirmation",
        json!({"action": "Transfer 500 dollars", "consequence": "It is gone.", "reply_token": token, "timeout_seconds": 300,
               "default_decision": "reject", "risk_level": "high", "irreversible": true, "urgency": "critical"}),
    )
}
fn numbered(row: (&'static str, Value), number: u64) -> (&'static str, Value) {
    let (kind, mut fields) = row;
    fields["sequence_number"] = json!(number);
    (kind, fields)
}

type RuleRow = (&'static str, Value);

#[test]
fn each_rule_that_is_broken_is_named_and_nothing_else() {
    for (kind, rows, wanted) in scripts() {
        let (_, found, _) = play(&rows);
        assert_eq!(found, wanted, "{}", kind.name());
        assert!(wanted.contains(&kind), "{}", kind.name());
    }
}

/// Another protocol may ask for a decision that no call follows; a call named by its question is still
/// expected.
#[test]
fn a_translated_question_without_a_call_needs_none() {
    let translated = |(kind, mut fields): RuleRow| {
        if kind != "accept" {
            fields["extensions"] = json!({"hearken": {"translated": "codex"}});
        }
        (kind, fields)
    };
    for (names, wanted) in [
        (json!({}), vec![]),
        (
            json!({"tool_call_id": "call_1"}),
            vec![AnomalyKind::AcceptedWithoutTool],
        ),
        (
            json!({"tool": "shell"}),
            vec![AnomalyKind::AcceptedWithoutTool],
        ),
    ] {
        let (kind, mut fields) = asked("rpl_1");
        for (name, value) in names.as_object().unwrap() {
            fields[name] = value.clone();
        }
        let rows = [
            started(),
            state("idle", "awaiting_input"),
            (kind, fields),
            ("accept", json!(null)),
            state("awaiting_input", "thinking"),
            ended(),
        ];
        let (_, found, _) = play(&rows.map(translated));
        assert_eq!(found, wanted, "{names}");
    }
}

#[test]
fn there_is_a_script_for_every_kind() {
    let scripted: BTreeSet<AnomalyKind> = scripts().into_iter().map(|(kind, _, _)| kind).collect();
    let missing: Vec<&str> = AnomalyKind::ALL
        .iter()
        .filter(|kind| !scripted.contains(kind))
        .map(|kind| kind.name())
        .collect();
    assert_eq!(missing, [""; 0]);
    let names: BTreeSet<&str> = AnomalyKind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(names.len(), AnomalyKind::ALL.len());
}

/// The sequences of appendix A.8, by their numbers.
#[test]
fn every_sequence_of_a_8_is_caught() {
    use AnomalyKind as K;
    let (_, found, _) = play(&[started(), completed("x", "call_1"), ended()]);
    assert_eq!(found, [K::CompletionWithoutInvocation], "A.8.1");
    let errored = (
        "session.errored",
        json!({"error_category": "unknown", "urgency": "critical"}),
    );
    let (_, found, _) = play(&[started(), ended(), errored]);
    assert_eq!(found, [K::SecondEnd], "A.8.2");
    let (_, found, risks) = play(&[started(), ended(), invoked("x", "call_1")]);
    assert_eq!(found, [K::AfterEnd], "A.8.3");
    assert_eq!(risks, [Danger::ActsAfterEnd { tool: "x".into() }]);
    let (_, _, risks) = play(&[
        started(),
        state("idle", "thinking"),
        danger("transfer_funds", "call_1"),
        completed("transfer_funds", "call_1"),
        ended(),
    ]);
    assert_eq!(
        risks,
        [Danger::Unasked {
            tool: "transfer_funds".into(),
            done: true,
            gravity: Gravity::Irreversible,
        }],
        "A.8.4"
    );
    let (_, found, risks) = play(&[
        started(),
        state("idle", "thinking"),
        asked("rpl_xyz"),
        ("reject", json!(null)),
        danger("transfer", "call_1"),
        completed("transfer", "call_1"),
    ]);
    assert!(found.contains(&K::InvokedAfterRejection), "A.8.5");
    assert!(
        matches!(&risks[..], [Danger::DoneAfterRejection { .. }]),
        "A.8.5"
    );
    let (_, found, _) = play(&[started(), chunk("out_1", 0, true), chunk("out_1", 3, false)]);
    assert_eq!(found, [K::ChunkAfterComplete], "A.8.6");
    let (_, found, _) = play(&[
        started(),
        chunk("out_1", 0, false),
        chunk("out_1", 50, false),
        chunk("out_1", 30, false),
    ]);
    assert_eq!(found, [K::PositionDecreased], "A.8.7");
}

/// The complete session of section 4.6, which has no `awaiting_input` and goes from `thinking` to
/// leaving `calling_tool`: the chapter calls it legal, because events imply states.
#[test]
fn the_session_of_section_4_6_breaks_no_rule_of_order() {
    let (stage, found, risks) = play(&[
        started(),
        state("idle", "thinking"),
        invoked("fetch_balance", "call_1"),
        completed("fetch_balance", "call_1"),
        state("thinking", "deciding"),
        state("deciding", "thinking"),
        asked("rpl_xyz"),
        ("accept", json!(null)),
        danger("transfer_funds", "call_2"),
        completed("transfer_funds", "call_2"),
        state("calling_tool", "writing_output"),
        chunk("out_1", 0, false),
        chunk("out_1", 3, true),
        ended(),
    ]);
    let errors: Vec<&AnomalyKind> = found
        .iter()
        .filter(|kind| kind.severity() == Severity::Error)
        .collect();
    assert_eq!(errors, [&AnomalyKind::Invalid; 0]);
    // Requirements of appendix A beyond the chapter are still reported.
    assert!(found.contains(&AnomalyKind::AwaitingInputMissing));
    assert_eq!(risks, []);
    assert!(stage.sessions.iter().all(Session::is_ended));
}

/// A session that keeps every rule, with parallel tools, a question, a clarification and two outputs
/// side by side.
#[test]
fn a_session_that_keeps_every_rule_is_never_blamed() {
    let clarify = (
        "awaiting.clarification",
        json!({"question": "Which age?", "reply_token": "rpl_9", "timeout_seconds": 300, "urgency": "critical",
               "accepted_response_kinds": ["freetext"]}),
    );
    let (_, found, risks) = play(&[
        numbered(started(), 0),
        numbered(state("idle", "thinking"), 1),
        numbered(clarify, 2),
        numbered(state("awaiting_input", "thinking"), 3),
        numbered(state("thinking", "calling_tool"), 4),
        numbered(invoked("a", "call_1"), 5),
        numbered(invoked("b", "call_2"), 6),
        numbered(completed("b", "call_2"), 7),
        numbered(completed("a", "call_1"), 8),
        numbered(state("calling_tool", "awaiting_input"), 9),
        numbered(asked("rpl_1"), 10),
        ("accept", json!(null)),
        numbered(state("awaiting_input", "calling_tool"), 11),
        numbered(danger("transfer", "call_3"), 12),
        numbered(completed("transfer", "call_3"), 13),
        numbered(state("calling_tool", "writing_output"), 14),
        numbered(chunk("out_1", 0, false), 15),
        numbered(chunk("out_2", 0, false), 16),
        numbered(chunk("out_1", 3, true), 17),
        numbered(chunk("out_2", 3, true), 18),
        numbered(ended(), 19),
    ]);
    // The clarification came before any state change: A.4 requires one "at or before" both.
    assert_eq!(found, [AnomalyKind::AwaitingInputMissing]);
    assert_eq!(risks, []);
}

#[test]
fn a_producer_that_was_joined_late_is_not_blamed_for_what_came_before() {
    let (_, found, risks) = play(&[
        completed("balance", "call_1"),
        state("calling_tool", "thinking"),
        state("thinking", "writing_output"),
        chunk("out_1", 500, false),
        chunk("out_1", 503, true),
        ended(),
    ]);
    assert_eq!(found, []);
    assert_eq!(risks, []);
}

/// Each danger, with the question before the call, as in the chapters, and after it, as with real producers.
#[test]
fn every_danger_is_found_in_both_orders() {
    let done = |tool: &str| Danger::Unasked {
        tool: tool.into(),
        done: true,
        gravity: Gravity::Irreversible,
    };
    let before = || vec![started(), state("idle", "thinking")];
    let with = |rows: Vec<(&'static str, Value)>| play(&[before(), rows].concat()).2;
    // There was no question.
    assert_eq!(
        with(vec![danger("send", "call_1"), completed("send", "call_1")]),
        [done("send")]
    );
    // The question is about one call, and another one is carried out.
    assert_eq!(
        with(vec![
            asked("rpl_1"),
            ("accept", json!(null)),
            danger("transfer", "call_1"),
            completed("transfer", "call_1"),
            danger("wipe", "call_2"),
            completed("wipe", "call_2"),
        ]),
        [done("wipe")]
    );
    assert_eq!(
        with(vec![
            danger("transfer", "call_1"),
            asked("rpl_1"),
            ("accept", json!(null)),
            completed("transfer", "call_1"),
            danger("wipe", "call_2"),
            completed("wipe", "call_2"),
        ]),
        [done("wipe")]
    );
    // The action is rejected, and carried out.
    let rejected = |tool: &str| {
        vec![Danger::DoneAfterRejection {
            tool: tool.into(),
            suspicion: Suspicion {
                question: QuestionId(1),
                is_sure: true,
                by_silence: false,
            },
        }]
    };
    assert_eq!(
        with(vec![
            asked("rpl_1"),
            ("reject", json!(null)),
            danger("transfer", "call_1"),
            completed("transfer", "call_1")
        ]),
        rejected("transfer")
    );
    assert_eq!(
        with(vec![
            danger("transfer", "call_1"),
            asked("rpl_1"),
            ("reject", json!(null)),
            completed("transfer", "call_1")
        ]),
        rejected("transfer")
    );
    // Silence accepts.
    let silent = || {
        let (kind, mut fields) = asked("rpl_1");
        fields["default_decision"] = json!("accept");
        (kind, fields)
    };
    let silence = [Danger::AcceptsBySilence {
        question: QuestionId(1),
    }];
    assert_eq!(with(vec![silent(), danger("transfer", "call_1")]), silence);
    assert_eq!(with(vec![danger("transfer", "call_1"), silent()]), silence);
    // A call runs for two seconds without a question; then one comes.
    assert_eq!(
        with(vec![
            danger("send", "call_1"),
            ("wait", json!(2500)),
            asked("rpl_1")
        ]),
        [Danger::Unasked {
            tool: "send".into(),
            done: false,
            gravity: Gravity::Irreversible,
        }]
    );
}
