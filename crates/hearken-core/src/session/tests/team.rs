//! Several agents in one session, which one of them begins and ends (A.9, pattern 1).

use super::*;
use crate::session::session_store::MOST_TEAM;

/// A session that Lead has begun and Helper works in.
fn team() -> SessionStage {
    let mut stage = SessionStage::new();
    stage.start();
    assert_eq!(
        by_helper(&mut stage, "state.changed", entering("idle", "thinking"))[0],
        ChangeKind::HelperJoined
    );
    stage
}

fn entering(from: &str, to: &str) -> Value {
    json!({"from_state": from, "to_state": to})
}

fn by_helper(stage: &mut SessionStage, kind: &str, mut fields: Value) -> Vec<ChangeKind> {
    fields["producer"] = json!({"agent_id": "helper"});
    stage.on(kind, fields)
}

fn helper(stage: &SessionStage) -> &Session {
    let mut all = stage.sessions.iter();
    all.find(|session| session.key.agent.as_str() == "helper")
        .unwrap()
}

const TRANSFER: &str = r#"{"tool": "transfer", "tool_call_id": "call_1", "irreversible": true}"#;

fn transfer() -> Value {
    serde_json::from_str(TRANSFER).unwrap()
}

fn transferred() -> Value {
    json!({"tool": "transfer", "tool_call_id": "call_1", "status": "success"})
}

#[test]
fn a_helper_joins_its_lead_and_ends_with_it() {
    let mut stage = team();
    assert!(helper(&stage).helps && helper(&stage).is_whole());
    let lead = stage.sessions.parent(helper(&stage)).unwrap();
    assert_eq!(lead.key.agent.as_str(), "a");
    let what = stage.on("session.completed", json!({}));
    assert_eq!(anomalies(&what), []);
    assert_eq!(what[0], ChangeKind::HelperEnded(SessionEndKind::Completed));
    assert!(matches!(what[1], ChangeKind::SessionEnded(_)));
    assert!(helper(&stage).is_ended());
}

#[test]
fn a_helpers_call_after_the_end_is_a_danger_also_if_it_comes_only_then() {
    let mut stage = team();
    stage.on("session.completed", json!({}));
    let what = by_helper(&mut stage, "tool.invoked", transfer());
    assert!(matches!(dangers(&what)[..], [Danger::ActsAfterEnd { .. }]));

    let mut stage = SessionStage::new();
    stage.start();
    stage.on("session.completed", json!({}));
    let what = by_helper(&mut stage, "tool.invoked", json!({"tool": "list"}));
    assert_eq!(anomalies(&what), [AnomalyKind::AfterEnd]);
    assert!(matches!(dangers(&what)[..], [Danger::ActsAfterEnd { .. }]));
}

#[test]
fn what_a_helper_leaves_running_at_the_end_is_reported() {
    let mut stage = team();
    by_helper(&mut stage, "tool.invoked", json!({"tool": "list"}));
    let what = stage.on("session.completed", json!({}));
    assert_eq!(anomalies(&what), [AnomalyKind::ToolLeftOpen]);
}

#[test]
fn one_agent_asks_and_another_does_what_was_accepted() {
    let asks = json!({"action": "Transfer $500", "consequence": "It is gone.", "reply_token": "rpl_1",
        "timeout_seconds": 300, "default_decision": "reject", "irreversible": true, "urgency": "critical"});
    for helper_asks in [true, false] {
        let mut stage = team();
        let play = |stage: &mut SessionStage, by_helper_: bool, kind: &str, fields: Value| {
            if by_helper_ {
                by_helper(stage, kind, fields)
            } else {
                stage.on(kind, fields)
            }
        };
        play(
            &mut stage,
            helper_asks,
            "awaiting.confirmation",
            asks.clone(),
        );
        let id = stage.sessions.open_questions().next().unwrap().id;
        stage.answer(id, Decision::Accept);
        let mut what = play(&mut stage, !helper_asks, "tool.invoked", transfer());
        assert!(what.iter().any(
            |what| matches!(what, ChangeKind::QuestionClosed { question, .. } if *question == id)
        ));
        what.extend(stage.wait(5000));
        what.extend(play(
            &mut stage,
            !helper_asks,
            "tool.completed",
            transferred(),
        ));
        assert_eq!(dangers(&what), [], "helper asks: {helper_asks}");
    }
}

#[test]
fn a_helper_that_does_what_its_lead_was_refused_is_a_danger() {
    let mut stage = team();
    let id = stage.ask("rpl_1");
    stage.answer(id, Decision::Reject);
    let words = json!({"tool": "send_email", "tool_call_id": "call_1", "summary_normal": "Sending an email to Bob"});
    by_helper(&mut stage, "tool.invoked", words);
    let done = json!({"tool": "send_email", "tool_call_id": "call_1", "status": "success"});
    let what = by_helper(&mut stage, "tool.completed", done);
    assert!(matches!(
        dangers(&what)[..],
        [Danger::DoneAfterRejection { .. }]
    ));
}

#[test]
fn a_question_is_linked_to_a_call_of_another_agent_that_waits_for_it() {
    let mut stage = team();
    by_helper(&mut stage, "tool.invoked", transfer());
    let id = stage.ask("rpl_1");
    let question = stage.sessions.question(id).unwrap();
    assert_eq!(question.tool.as_deref(), Some("transfer"));
    assert_eq!(stage.sessions.call_of(question).unwrap().tool, "transfer");
    assert_eq!(dangers(&stage.wait(5000)), []);
}

#[test]
fn a_helper_may_go_on_with_its_leads_numbers_or_count_its_own() {
    for (own, of_lead) in [([2, 3], [4, 5]), ([0, 1], [2, 3]), ([1, 2], [2, 3])] {
        let mut stage = SessionStage::new();
        let numbered = |number: u64, from: &str, to: &str| json!({"sequence_number": number, "from_state": from, "to_state": to});
        let mut what = stage.on("session.started", json!({"sequence_number": 0}));
        what.extend(stage.on("state.changed", numbered(1, "idle", "thinking")));
        for (number, (from, to)) in own
            .into_iter()
            .zip([("idle", "thinking"), ("thinking", "deciding")])
        {
            what.extend(by_helper(
                &mut stage,
                "state.changed",
                numbered(number, from, to),
            ));
        }
        for (number, (from, to)) in of_lead
            .into_iter()
            .zip([("thinking", "deciding"), ("deciding", "thinking")])
        {
            what.extend(stage.on("state.changed", numbered(number, from, to)));
        }
        what.extend(stage.wait(1000));
        assert_eq!(anomalies(&what), [], "{own:?}");
        let states = stage.sessions.iter().map(|session| session.events);
        assert_eq!(states.collect::<Vec<_>>(), [4, 2], "{own:?}");
    }
}

#[test]
fn what_is_missing_between_the_numbers_of_several_agents_is_found_once() {
    let mut stage = SessionStage::new();
    let numbered = |number: u64| json!({"sequence_number": number, "from_state": "idle", "to_state": "thinking"});
    stage.on("session.started", json!({"sequence_number": 0}));
    stage.on("state.changed", numbered(1));
    by_helper(&mut stage, "state.changed", numbered(2));
    let what = by_helper(
        &mut stage,
        "progress.updated",
        json!({"sequence_number": 5, "progress": {"percent": 10}}),
    );
    assert_eq!(anomalies(&what), [AnomalyKind::SequenceGap]);
    let what = stage.on(
        "progress.updated",
        json!({"sequence_number": 6, "progress": {"percent": 10}}),
    );
    assert_eq!(anomalies(&what), []);
}

#[test]
fn agents_beyond_a_team_of_any_size_are_each_alone() {
    let mut stage = SessionStage::new();
    stage.start();
    let joins = |stage: &mut SessionStage, number: usize| {
        let mut fields = entering("idle", "thinking");
        fields["producer"] = json!({"agent_id": format!("helper-{number}")});
        stage.on("state.changed", fields).remove(0)
    };
    for number in 1..MOST_TEAM {
        assert_eq!(joins(&mut stage, number), ChangeKind::HelperJoined);
    }
    for number in MOST_TEAM..MOST_TEAM + 3 {
        assert_eq!(joins(&mut stage, number), ChangeKind::SessionJoined);
    }
    stage.on("session.completed", json!({}));
    let running = stage.sessions.iter().filter(|session| !session.is_ended());
    assert_eq!(running.count(), 3);
}

#[test]
fn a_second_start_in_one_session_is_found_whichever_agent_sends_it() {
    let mut stage = SessionStage::new();
    stage.start();
    let what = by_helper(&mut stage, "session.started", json!({}));
    assert_eq!(anomalies(&what), [AnomalyKind::SecondStart]);
    let mut stage = team();
    let what = by_helper(&mut stage, "session.started", json!({}));
    assert_eq!(anomalies(&what), [AnomalyKind::SecondStart]);
    assert!(!helper(&stage).helps);
}

#[test]
fn a_lead_that_begins_anew_has_helpers_anew() {
    let mut stage = team();
    stage.on("session.completed", json!({}));
    stage.on("session.started", json!({}));
    let what = by_helper(&mut stage, "state.changed", entering("idle", "thinking"));
    assert_eq!(what[0], ChangeKind::HelperJoined);
    assert_eq!(anomalies(&what), []);
    assert!(!helper(&stage).is_ended());
}

#[test]
fn calls_side_by_side_and_text_beside_a_call_break_no_rule() {
    let mut stage = SessionStage::new();
    stage.start();
    let mut what = stage.on("state.changed", entering("thinking", "calling_tool"));
    for call in ["call_1", "call_2", "call_3"] {
        let fields = json!({"tool": "read", "tool_call_id": call});
        what.extend(stage.on("tool.invoked", fields));
    }
    what.extend(stage.done("read", "call_2", "success"));
    what.extend(stage.on("state.changed", entering("calling_tool", "thinking")));
    what.extend(stage.done("read", "call_1", "success"));
    what.extend(stage.on("state.changed", entering("thinking", "calling_tool")));
    what.extend(stage.on("state.changed", entering("calling_tool", "writing_output")));
    let fields = json!({"chunk": "So far.", "position": 0, "complete": true});
    what.extend(stage.on("output.streaming", fields));
    what.extend(stage.done("read", "call_3", "success"));
    assert_eq!(anomalies(&what), []);
}
