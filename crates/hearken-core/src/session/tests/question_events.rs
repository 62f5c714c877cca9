//! The life of a question: its time, its link, its end, and what counts as its answer.

use super::*;

#[test]
fn an_answer_after_the_end_is_told() {
    let mut stage = SessionStage::new();
    stage.start();
    let id = stage.ask("rpl_1");
    stage.sessions.reply_sending(
        id,
        Answer::Decision {
            decision: Decision::Accept,
            rationale: None,
        },
        stage.now.wall,
        stage.now,
    );
    stage.on("session.cancelled", json!({"cancelled_by": "timeout"}));
    let what: Vec<ChangeKind> = stage
        .sessions
        .reply_sent(id, stage.now)
        .into_iter()
        .map(|change| change.kind)
        .collect();
    assert_eq!(dangers(&what), [Danger::AnsweredAfterEnd { question: id }]);
}

#[test]
fn time_warns_and_then_probably_ends_a_question_that_stays_answerable() {
    let mut stage = SessionStage::new();
    stage.start();
    let id = stage.ask_with("rpl_1", json!({"timeout_seconds": 100}));
    assert_eq!(stage.wait(49_999), []);
    assert!(
        matches!(stage.wait(1)[..], [ChangeKind::QuestionWarning { remaining, .. }] if remaining == Duration::from_secs(50))
    );
    assert!(
        matches!(stage.wait(30_000)[..], [ChangeKind::QuestionWarning { remaining, .. }] if remaining == Duration::from_secs(20))
    );
    assert_eq!(stage.wait(20_000), [ChangeKind::QuestionTimedOut(id)]);
    assert!(stage.sessions.question(id).unwrap().is_answerable());
    assert_eq!(stage.sessions.deadline(), None);
    let what = stage.on("session.completed", json!({}));
    assert!(matches!(
        closed(&what),
        Some((_, CloseReason::SessionEnded))
    ));
    assert!(!stage.sessions.question(id).unwrap().is_open());
}

#[test]
fn a_short_time_is_warned_of_at_a_tenth() {
    let mut stage = SessionStage::new();
    stage.start();
    stage.ask_with("rpl_1", json!({"timeout_seconds": 20}));
    assert_eq!(stage.wait(10_000).len(), 1);
    assert_eq!(stage.wait(7_999), []);
    assert!(
        matches!(stage.wait(1)[..], [ChangeKind::QuestionWarning { remaining, .. }] if remaining == Duration::from_secs(2))
    );
}

#[test]
fn the_clock_of_another_machine_takes_no_time_from_a_question() {
    let mut stage = SessionStage::new();
    let on = |machine: &str, hours: i64, stage: &SessionStage| {
        let millis = stage.now.wall.as_millisecond() + hours * 3_600_000;
        json!({
            "timestamp": format!("{:.3}", Timestamp::from_millisecond(millis).unwrap()),
            "session_id": format!("sess_{machine}"),
            "extensions": {"hearken": {"host": machine}},
        })
    };
    for _ in 0..3 {
        for (machine, hours) in [("right", 0), ("ahead", 5), ("behind", -5)] {
            let fields = on(machine, hours, &stage);
            stage.on("progress.updated", fields);
        }
        stage.wait(1000);
    }
    for (machine, hours) in [("ahead", 5), ("behind", -5), ("right", 0)] {
        let mut fields = on(machine, hours, &stage);
        fields["timeout_seconds"] = 100.into();
        let id = stage.ask_with(&format!("rpl_{machine}"), fields);
        let question = stage.sessions.question(id).unwrap();
        let left = stage.sessions.expires(question).unwrap() - stage.now.monotonic;
        assert_eq!(left, Duration::from_secs(100), "{machine}");
    }
}

#[test]
fn the_producers_clock_may_differ() {
    let mut stage = SessionStage::new();
    let stamp = |stage: &SessionStage, late_ms: i64| {
        let millis = stage.now.wall.as_millisecond() - 3_600_000 - late_ms;
        format!("{:.3}", Timestamp::from_millisecond(millis).unwrap())
    };
    let fresh = stamp(&stage, 0);
    stage.on("session.started", json!({"timestamp": fresh}));
    let late = stamp(&stage, 40_000);
    let id = stage.ask_with("rpl_1", json!({"timeout_seconds": 100, "timestamp": late}));
    let question = stage.sessions.question(id).unwrap();
    assert_eq!(
        stage.sessions.expires(question),
        Some(Duration::from_secs(60)),
        "40 s were spent under way"
    );
}

#[test]
fn a_lost_link_makes_fates_unknown_until_the_session_speaks_again() {
    let mut stage = SessionStage::new();
    stage.start();
    let id = stage.ask("rpl_1");
    assert_eq!(stage.sessions.link_lost(LINK, stage.now), [id]);
    assert!(!stage.sessions.question(id).unwrap().is_answerable());
    stage.sessions.link_connected(LINK, stage.now);
    // A restarted server: another session, another question.
    stage.now = stage.now.after(Duration::from_millis(10));
    stage.on("session.started", json!({"session_id": "sess_2"}));
    let new = stage.ask_with("rpl_2", json!({"session_id": "sess_2"}));
    assert!(stage.sessions.question(new).unwrap().is_answerable());
    assert!(!stage.sessions.question(id).unwrap().is_answerable());
    // It is the old server after all: its session is active.
    let what = stage.on("progress.updated", json!({"progress": {"percent": 3}}));
    assert!(what.contains(&ChangeKind::QuestionAnswerable(id)));
    assert!(stage.sessions.question(id).unwrap().is_answerable());
}

#[test]
fn a_question_whose_link_stays_lost_ends_with_its_time() {
    let mut stage = SessionStage::new();
    stage.start();
    let id = stage.ask("rpl_1");
    stage.sessions.link_lost(LINK, stage.now);
    let what = stage.wait(300_000);
    assert_eq!(closed(&what), Some((id, CloseReason::LinkGone)));
    assert_eq!(stage.sessions.deadline(), None);
}

#[test]
fn what_is_over_without_an_event_is_closed_as_that_and_leaving_it_closes_nothing_more() {
    for how in [CloseReason::Stopped, CloseReason::TakenBack] {
        let mut stage = SessionStage::new();
        stage.start();
        let id = stage.ask("rpl_1");
        let changes = stage.sessions.over(LINK, &how, stage.now);
        let what: Vec<ChangeKind> = changes.into_iter().map(|change| change.kind).collect();
        assert_eq!(closed(&what), Some((id, how)));
        let left = json!({"from_state": "awaiting_input", "to_state": "thinking"});
        let what = stage.on("state.changed", left);
        assert!(
            matches!(what.as_slice(), [ChangeKind::StateChanged(_)]),
            "{what:?}"
        );
        assert!(!stage.sessions.question(id).unwrap().is_open());
    }
}

#[test]
fn of_two_questions_of_a_session_the_one_under_the_token_is_decided() {
    let mut stage = SessionStage::new();
    stage.start();
    let first = stage.ask("rpl_1");
    let second = stage.ask_with("rpl_2", json!({"action": "Send another"}));
    let how = CloseReason::StateLeft {
        to: "calling_tool".to_owned(),
    };
    let changes = stage.sessions.decided(LINK, "rpl_1", &how, stage.now);
    let what: Vec<ChangeKind> = changes.into_iter().map(|change| change.kind).collect();
    assert_eq!(closed(&what), Some((first, how.clone())));
    assert!(stage.sessions.question(second).unwrap().is_open());
    assert!(
        stage
            .sessions
            .decided(LINK, "rpl_1", &how, stage.now)
            .is_empty()
    );
}

#[test]
fn replayed_questions_are_raised_only_if_nothing_answered_them() {
    let mut stage = SessionStage::new();
    let mut old = Vec::new();
    old.push(stage.event("session.started", json!({})));
    old.push(stage.event(
        "awaiting.confirmation",
        json!({"action": "x", "reply_token": "rpl_1", "timeout_seconds": 300}),
    ));
    let answered = stage.event(
        "state.changed",
        json!({"from_state": "awaiting_input", "to_state": "thinking"}),
    );
    stage.now = stage.now.after(Duration::from_secs(5));
    stage.sessions.link_connected(LINK, stage.now);
    for event in old.iter().chain([&answered]) {
        let what = stage.put(LINK, event);
        assert!(
            !what
                .iter()
                .any(|what| matches!(what, ChangeKind::QuestionOpened(_))),
            "{what:?}"
        );
    }
    assert_eq!(stage.wait(2000), [], "answered before we came");

    let mut stage = SessionStage::new();
    stage
        .sessions
        .link_connected(LINK, stage.now.after(Duration::from_secs(5)));
    stage.now = stage.now.after(Duration::from_secs(5));
    for event in &old {
        stage.put(LINK, event);
    }
    assert!(stage.sessions.open_questions().next().is_none());
    assert_eq!(stage.wait(249), []);
    assert!(
        matches!(stage.wait(1)[..], [ChangeKind::QuestionOpened(_)]),
        "250 ms of silence"
    );
    assert_eq!(stage.sessions.open_questions().count(), 1);
}

#[test]
fn only_the_same_agents_end_closes_a_question() {
    let mut stage = SessionStage::new();
    stage.start();
    let id = stage.ask("rpl_1");
    let other = json!({"producer": {"agent_id": "b"}});
    let what = stage.on("session.completed", other);
    assert_eq!(closed(&what), None);
    assert!(stage.sessions.question(id).unwrap().is_open());
}

#[test]
fn other_activity_is_told_once_and_leaves_the_question_open() {
    let mut stage = SessionStage::new();
    stage.start();
    let id = stage.ask("rpl_1");
    let what = stage.state("thinking", "deciding");
    assert!(what.contains(&ChangeKind::QuestionPerhapsResolved(id)));
    let what = stage.state("deciding", "thinking");
    assert!(!what.contains(&ChangeKind::QuestionPerhapsResolved(id)));
    assert!(stage.sessions.question(id).unwrap().is_answerable());
    let what = stage.on("progress.updated", json!({"progress": {"percent": 50}}));
    assert_eq!(what.len(), 1, "a countdown says nothing about the question");
}

#[test]
fn with_two_open_only_an_answered_one_is_taken_for_decided() {
    let mut stage = SessionStage::new();
    stage.start();
    let first = stage.ask_with("rpl_1", json!({"action": "One"}));
    let second = stage.ask_with("rpl_2", json!({"action": "Two"}));
    stage.answer(second, Decision::Accept);
    let what = stage.state("awaiting_input", "thinking");
    assert_eq!(closed(&what).map(|(id, _)| id), Some(second));
    assert!(stage.sessions.question(first).unwrap().is_open());
}

#[test]
fn the_second_step_is_wanted_unless_all_is_known_to_be_mild() {
    for (fields, wanted) in [
        (json!({}), true),
        (json!({"risk_level": "low", "irreversible": false}), false),
        (
            json!({"risk_level": "medium", "irreversible": null, "reversibility": "reversible"}),
            false,
        ),
        (
            json!({"risk_level": "medium", "irreversible": null, "reversibility": "irreversible"}),
            true,
        ),
        (json!({"risk_level": null, "irreversible": false}), true),
        (json!({"risk_level": "odd", "irreversible": false}), true),
        (json!({"risk_level": "low", "irreversible": null}), true),
        (
            json!({"risk_level": "medium", "irreversible": false, "default_decision": "accept"}),
            true,
        ),
        (
            json!({"risk_level": "low", "irreversible": false, "default_decision": "accept"}),
            true,
        ),
        (
            json!({"risk_level": "low", "irreversible": false, "action": "x".repeat(2000)}),
            true,
        ),
    ] {
        let mut stage = SessionStage::new();
        stage.start();
        let id = stage.ask_with("rpl_1", fields.clone());
        assert_eq!(
            stage.sessions.question(id).unwrap().wants_second_step(),
            wanted,
            "{fields}"
        );
    }
}

#[test]
fn what_differs_in_its_outcome_is_not_the_same_question() {
    let mut stage = SessionStage::new();
    stage.start();
    let first = stage.ask_with("rpl_1", json!({"action": "Run it", "consequence": "ls"}));
    stage.ask_with(
        "rpl_2",
        json!({"action": "Run it", "consequence": "rm -rf /"}),
    );
    assert!(stage.sessions.question(first).unwrap().is_open());
    let third = stage.ask_with("rpl_3", json!({"action": "Run it", "consequence": "ls"}));
    assert!(!stage.sessions.question(first).unwrap().is_open());
    assert!(stage.sessions.question(third).unwrap().is_open());
}

#[test]
fn a_second_start_closes_what_was_asked_before() {
    let mut stage = SessionStage::new();
    stage.start();
    let id = stage.ask("rpl_1");
    let what = stage.on("session.started", json!({}));
    assert!(closed(&what).is_some());
    assert!(!stage.sessions.question(id).unwrap().is_open());
}

#[test]
fn one_wrong_stamp_does_not_end_a_question() {
    let mut stage = SessionStage::new();
    stage.start();
    stage.on(
        "progress.updated",
        json!({"progress": {"percent": 1}, "timestamp": "2030-01-01T00:00:00Z"}),
    );
    let id = stage.ask("rpl_1");
    let question = stage.sessions.question(id).unwrap();
    assert_eq!(
        stage.sessions.expires(question),
        Some(Duration::from_secs(300))
    );
}

/// Another tool or other arguments under the id of the accepted call make it another call.
#[test]
fn a_call_that_is_not_the_accepted_one_is_a_danger() {
    for (before, tool, args, is_danger) in [
        (None, "send", "to: bob", false),
        (None, "delete", "to: bob", true),
        (Some("to: bob"), "send", "to: bob", false),
        (Some("to: bob"), "send", "to: everybody", true),
    ] {
        let mut stage = SessionStage::new();
        stage.start();
        if let Some(args) = before {
            stage.on(
                "tool.invoked",
                json!({"tool": "send", "tool_call_id": "c", "args_summary": args}),
            );
        }
        let id = stage.ask_with("rpl_1", json!({"tool": "send", "tool_call_id": "c"}));
        let accept = Answer::Decision {
            decision: Decision::Accept,
            rationale: None,
        };
        stage
            .sessions
            .reply_sending(id, accept, stage.now.wall, stage.now);
        let changes = stage.on(
            "tool.invoked",
            json!({"tool": tool, "tool_call_id": "c", "args_summary": args}),
        );
        let told = changes.iter().any(|change| matches!(change, ChangeKind::Danger(Danger::RanOtherwise { question, .. }) if *question == id));
        assert_eq!(told, is_danger, "{before:?} {tool} {args}");
    }
}
