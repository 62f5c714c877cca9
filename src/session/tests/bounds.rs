//! What a stranger can grow, and what stays when it does.

use super::*;

#[test]
fn everything_a_stranger_can_grow_is_bounded() {
    let mut stage = Stage::new();
    for n in 0..1000 {
        stage.on(
            "tool.invoked",
            json!({"tool": "t", "session_id": format!("sess_{n}")}),
        );
        stage.on(
            "tool.invoked",
            json!({"tool": format!("t{n}"), "session_id": "sess_x"}),
        );
        stage.on("output.streaming", json!({"chunk": "a", "position": 0, "complete": false, "output_id": format!("out_{n}"), "session_id": "sess_x"}));
    }
    assert!(stage.sessions.iter().count() <= 256);
    let dropped = stage.sessions.dropped();
    assert!(dropped.running_sessions > 700 && dropped.outputs > 900 && dropped.tools > 700);
    let busy = stage
        .sessions
        .iter()
        .find(|session| session.key.session.as_str() == "sess_x")
        .unwrap();
    assert!(busy.tools.len() <= 256 && busy.outputs().count() <= 64);
}

#[test]
fn ended_sessions_leave_first_and_waiting_ones_last() {
    let mut stage = Stage::new();
    stage.on("session.started", json!({"session_id": "sess_asks"}));
    let id = stage.ask_with("rpl_1", json!({"session_id": "sess_asks"}));
    for n in 0..600 {
        stage.wait(1);
        stage.on(
            "session.started",
            json!({"session_id": format!("sess_{n}")}),
        );
        if n % 2 == 0 {
            stage.on(
                "session.completed",
                json!({"session_id": format!("sess_{n}")}),
            );
        }
    }
    assert!(stage.sessions.prompt(id).unwrap().is_answerable());
    assert!(
        stage
            .sessions
            .iter()
            .any(|it| it.key.session.as_str() == "sess_asks")
    );
    let ended = stage.sessions.iter().filter(|it| it.is_ended()).count();
    assert!(
        ended <= 1,
        "{ended} ended ones are kept while running ones were forgotten"
    );
}

#[test]
fn closed_questions_of_a_megabyte_leave_early_and_are_counted() {
    let mut stage = Stage::new();
    stage.start();
    for n in 0..20 {
        let id = stage.ask_with(
            &format!("rpl_{n}"),
            json!({"action": format!("{n}{}", "x".repeat(1 << 20))}),
        );
        stage.answer(id, Decision::Reject);
        stage.on(
            "state.changed",
            json!({"from_state": "awaiting_input", "to_state": "thinking"}),
        );
    }
    assert!(
        stage.sessions.prompts.len() <= 5,
        "{}",
        stage.sessions.prompts.len()
    );
    assert!(stage.sessions.dropped().questions >= 15);
}

#[test]
fn texts_that_are_only_shown_are_cut() {
    let mut stage = Stage::new();
    let long = "y".repeat(100_000);
    stage.on("session.started", json!({"request_text": long}));
    stage.on(
        "state.changed",
        json!({"from_state": "idle", "to_state": long}),
    );
    let chained = stage.on(
        "state.changed",
        json!({"from_state": long, "to_state": "idle"}),
    );
    // The schema allows 64 characters; the chain holds all the same.
    assert_eq!(
        anomalies(&chained),
        [AnomalyKind::Invalid],
        "a long name is still itself"
    );
    stage.on(
        "state.changed",
        json!({"from_state": "idle", "to_state": long}),
    );
    stage.on(
        "progress.updated",
        json!({"progress": {"description": long}}),
    );
    let session = stage.sessions.iter().next().unwrap();
    assert!(session.request.as_ref().unwrap().len() < 3000);
    assert!(session.state.as_ref().unwrap().len() < 3000);
    assert!(
        session
            .progress
            .as_ref()
            .unwrap()
            .description
            .as_ref()
            .unwrap()
            .len()
            < 3000
    );
}
