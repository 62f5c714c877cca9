//! Questions of a link that is back: how certain it is that they are still open.

use super::*;

fn lost_with_a_question() -> (SessionStage, QuestionId) {
    let mut stage = SessionStage::new();
    stage.start();
    let id = stage.ask_with("rpl_1", json!({"timeout_seconds": 60}));
    stage.sessions.link_lost(LINK, stage.now);
    stage.sessions.link_connected(LINK, stage.now);
    (stage, id)
}

fn what(changes: Vec<Change>) -> Vec<ChangeKind> {
    changes.into_iter().map(|change| change.kind).collect()
}

#[test]
fn a_server_that_resumes_is_believed_with_a_doubt_until_its_session_speaks() {
    let (mut stage, id) = lost_with_a_question();
    let standing = |stage: &SessionStage| stage.sessions.question(id).unwrap().reach;
    let changes = stage
        .sessions
        .link_resumed(LINK, AnswerReach::Resumed, stage.now);
    assert_eq!(what(changes), [ChangeKind::QuestionAnswerable(id)]);
    assert_eq!(standing(&stage), AnswerReach::Resumed);
    assert!(stage.sessions.question(id).unwrap().is_answerable());
    // An event of its own session removes the doubt, which is no longer news.
    let progress = stage.event("progress.updated", json!({"progress": {"percent": 1}}));
    let told = stage.put(LINK, &progress);
    assert!(
        !told.contains(&ChangeKind::QuestionAnswerable(id)),
        "{told:?}"
    );
    assert_eq!(standing(&stage), AnswerReach::Live);
}

#[test]
fn a_doubtful_question_runs_out_and_is_lost_like_any_other() {
    let (mut stage, id) = lost_with_a_question();
    stage
        .sessions
        .link_resumed(LINK, AnswerReach::Resumed, stage.now);
    assert_eq!(stage.sessions.link_lost(LINK, stage.now), [id], "told anew");
    let now = stage.now.after(Duration::from_secs(1));
    stage.sessions.link_resumed(LINK, AnswerReach::Resumed, now);
    let told = stage
        .sessions
        .tick(stage.now.after(Duration::from_secs(61)));
    assert!(what(told).contains(&ChangeKind::QuestionTimedOut(id)));
    assert!(stage.sessions.question(id).unwrap().is_answerable());
}

impl SessionStage {
    fn unnamed(&mut self, kind: &str, fields: Value) -> Vec<ChangeKind> {
        let mut event = self.event(kind, fields);
        event.as_object_mut().unwrap().remove("event_id");
        self.put(LINK, &event)
    }
}

/// The sender of a list of old events may not be the agent that waits.
#[test]
fn a_replayed_duplicate_makes_no_question_surely_answerable() {
    let mut stage = SessionStage::new();
    stage.start();
    let question = stage.event(
        "awaiting.confirmation",
        json!({"action": "Send", "consequence": "It leaves.", "reply_token": "rpl_1", "timeout_seconds": 60,
               "default_decision": "reject", "urgency": "critical", "risk_level": "low", "irreversible": false}),
    );
    let progress = stage.event("progress.updated", json!({"progress": {"percent": 1}}));
    stage.put(LINK, &question);
    stage.put(LINK, &progress);
    let id = QuestionId(1);
    stage.sessions.link_lost(LINK, stage.now);
    stage.wait(5000);
    stage.sessions.link_connected(LINK, stage.now);
    assert_eq!(stage.put(LINK, &progress), []);
    assert_eq!(stage.wait(2000), [], "it says nothing of the question");
    assert!(!stage.sessions.question(id).unwrap().is_answerable());
    stage.put(LINK, &question);
    stage.wait(2000);
    let question = stage.sessions.question(id).unwrap();
    assert_eq!(question.reach, AnswerReach::Resumed, "it is perhaps open");
    assert!(question.is_answerable() && question.wants_second_step());
    // A new event of the session comes from the program that runs it.
    stage.on("progress.updated", json!({"progress": {"percent": 2}}));
    let question = stage.sessions.question(id).unwrap();
    assert_eq!(question.reach, AnswerReach::Live);
    assert!(!question.wants_second_step());
}

#[test]
fn a_server_without_ids_that_is_heard_again_is_believed_with_a_doubt() {
    let (mut stage, id) = lost_with_a_question();
    let told = stage.unnamed("progress.updated", json!({"progress": {"percent": 1}}));
    assert!(
        told.contains(&ChangeKind::QuestionAnswerable(id)),
        "{told:?}"
    );
    let question = stage.sessions.question(id).unwrap();
    assert_eq!(question.reach, AnswerReach::Resumed);
    assert!(question.is_answerable() && question.wants_second_step());
}

#[test]
fn a_question_that_is_shown_again_in_what_is_replayed_is_answerable_unless_that_decides_it() {
    for decided in [false, true] {
        let mut stage = SessionStage::new();
        stage.start();
        let asked = json!({"action": "Send", "consequence": "It leaves.", "reply_token": "rpl_1", "timeout_seconds": 60,
                           "default_decision": "reject", "urgency": "critical", "timestamp": "2026-01-01T00:00:00.000Z"});
        stage.unnamed("awaiting.confirmation", asked.clone());
        let id = QuestionId(1);
        stage.sessions.link_lost(LINK, stage.now);
        stage.wait(5000);
        stage.sessions.link_connected(LINK, stage.now);
        let mut told = stage.unnamed("awaiting.confirmation", asked);
        if decided {
            let left = json!({"from_state": "awaiting_input", "to_state": "thinking", "timestamp": "2026-01-01T00:00:03.000Z"});
            told.extend(stage.unnamed("state.changed", left));
        }
        assert!(
            !told.contains(&ChangeKind::QuestionAnswerable(id)),
            "{told:?}"
        );
        let repeated = AnomalyKind::QuestionRepeated;
        assert!(!anomalies(&told).contains(&repeated), "it breaks no rule");
        let later = stage.wait(250);
        assert_eq!(
            later.contains(&ChangeKind::QuestionAnswerable(id)),
            !decided
        );
        let question = stage.sessions.question(id).unwrap();
        assert_eq!(question.is_open(), !decided);
        assert_eq!(question.reach == AnswerReach::Resumed, !decided);
    }
}

#[test]
fn a_question_of_which_nothing_is_heard_on_the_new_connection_ends_as_that() {
    let (mut stage, id) = lost_with_a_question();
    let told = stage.wait(60_000);
    let reason = CloseReason::Unheard;
    assert!(
        told.contains(&ChangeKind::QuestionClosed {
            question: id,
            reason
        }),
        "{told:?}"
    );
}

#[test]
fn nobody_hears_that_an_answered_question_may_be_decided() {
    let mut stage = SessionStage::new();
    stage.start();
    let id = stage.ask("rpl_1");
    stage.answer(id, Decision::Accept);
    let told = stage.on("progress.updated", json!({"progress": {"percent": 1}}));
    assert!(
        !told.contains(&ChangeKind::QuestionPerhapsResolved(id)),
        "{told:?}"
    );
    let told = stage.on(
        "output.streaming",
        json!({"chunk": "I go on.", "position": 0, "complete": true}),
    );
    assert!(
        !told.contains(&ChangeKind::QuestionPerhapsResolved(id)),
        "{told:?}"
    );
}

#[test]
fn the_age_of_a_replayed_question_shortens_its_time() {
    let mut stage = SessionStage::new();
    let question = stage.event(
        "awaiting.confirmation",
        json!({"action": "Send", "consequence": "It leaves.", "reply_token": "rpl_1", "timeout_seconds": 60,
               "default_decision": "reject", "urgency": "critical"}),
    );
    stage.wait(50_000);
    stage.sessions.link_connected(LINK, stage.now);
    stage.put(LINK, &question);
    let told = stage.wait(250);
    assert!(
        told.contains(&ChangeKind::QuestionOpened(QuestionId(1))),
        "{told:?}"
    );
    let told = stage.wait(9750);
    assert!(
        told.contains(&ChangeKind::QuestionTimedOut(QuestionId(1))),
        "{told:?}"
    );
}

#[test]
fn a_call_whose_connection_is_lost_is_neither_said_to_run_nor_to_be_unasked_for_sure() {
    let mut stage = SessionStage::new();
    stage.on("session.started", json!({"sequence_number": 0}));
    let call = json!({"tool": "send_email", "tool_call_id": "call_1", "irreversible": true, "sequence_number": 1});
    stage.on("tool.invoked", call);
    let unheard = |stage: &SessionStage| stage.sessions.iter().any(Session::is_unheard);
    assert!(!unheard(&stage));
    stage.sessions.link_lost(LINK, stage.now);
    assert!(unheard(&stage));
    let gravity = Gravity::Irreversible;
    let told = stage.wait(3_000);
    let tool = "send_email".to_owned();
    assert_eq!(
        dangers(&told),
        [Danger::PerhapsUnaskedLost { tool, gravity }]
    );
    // It is the same server after all, and the numbers show that nothing is missing.
    stage.sessions.link_connected(LINK, stage.now);
    assert!(unheard(&stage), "a connection says nothing of the session");
    stage.now = stage.now.after(Duration::from_secs(2));
    let done = json!({"tool": "send_email", "tool_call_id": "call_1", "status": "success", "sequence_number": 2});
    let told = stage.on("tool.completed", done);
    let (tool, done) = ("send_email".to_owned(), true);
    assert_eq!(
        dangers(&told),
        [Danger::Unasked {
            tool,
            done,
            gravity
        }]
    );
    assert!(!unheard(&stage));
}

#[test]
fn two_calls_of_one_tool_are_asked_about_in_two_questions() {
    for more in [
        json!({}),
        json!({"irreversible": false, "risk_level": "high"}),
    ] {
        let mut stage = SessionStage::new();
        stage.start();
        let call = |stage: &mut SessionStage, id: &str| {
            let mut fields =
                json!({"tool": "send_email", "tool_call_id": id, "irreversible": true});
            for (key, value) in more.as_object().unwrap() {
                fields[key] = value.clone();
            }
            stage.on("tool.invoked", fields);
        };
        let action = json!({"action": "Call send_email with: to=bob"});
        call(&mut stage, "call_1");
        let first = stage.ask_with("rpl_1", action.clone());
        call(&mut stage, "call_2");
        let second = stage.ask_with("rpl_2", action.clone());
        assert!(stage.sessions.question(first).unwrap().is_answerable());
        // Each is closed by its own call's end.
        stage.answer(second, Decision::Reject);
        let told = stage.done("send_email", "call_2", "error");
        assert_eq!(closed(&told).map(|(id, _)| id), Some(second));
        assert!(stage.sessions.question(first).unwrap().is_answerable());
        // A repeated question about the same call is one question.
        let again = stage.ask_with("rpl_3", action);
        assert!(!stage.sessions.question(first).unwrap().is_open());
        stage.answer(again, Decision::Accept);
        let told = stage.done("send_email", "call_1", "success");
        assert_eq!(closed(&told).map(|(id, _)| id), Some(again));
        assert_eq!(dangers(&told), []);
    }
}

#[test]
fn a_question_of_a_machine_whose_clock_is_not_known_has_no_age() {
    let asked = |stage: &SessionStage, hours: i64, more: Value| {
        let there = stage.now.wall - jiff::SignedDuration::from_hours(hours);
        let mut event = json!({
            "@context": "https://aaep-protocol.org/context/v1", "type": "aaep:agent.awaiting.confirmation",
            "event_id": format!("evt_{hours}"), "session_id": "sess_1", "timestamp": format!("{there:.3}"),
            "producer": {"agent_id": "a", "agent_name": "Mailer"},
            "action": "Send", "consequence": "It leaves.", "reply_token": "rpl_1", "timeout_seconds": 60,
            "default_decision": "reject", "urgency": "critical",
        });
        for (key, value) in more.as_object().unwrap() {
            event[key] = value.clone();
        }
        event
    };
    let id = QuestionId(1);
    let timed_out = |told: &[ChangeKind]| told.contains(&ChangeKind::QuestionTimedOut(id));
    // On this machine, old news is as old as its timestamp says.
    let mut stage = SessionStage::new();
    stage.sessions.link_connected(LINK, stage.now);
    let question = asked(&stage, 5, json!({}));
    stage.put(LINK, &question);
    let told = stage.wait(1000);
    assert!(timed_out(&told), "{told:?}");
    // Elsewhere the age is unknown until a freshly stamped event arrives.
    for hours in [5, -5] {
        let mut stage = SessionStage::new();
        stage.sessions.link_leaves_machine(LINK);
        stage.sessions.link_connected(LINK, stage.now);
        let question = asked(&stage, hours, json!({}));
        stage.put(LINK, &question);
        let told = stage.wait(1000);
        assert!(!timed_out(&told), "{told:?}");
        let open = stage.sessions.question(id).unwrap();
        assert!(open.is_open());
        let is_old = hours > 0;
        assert_eq!(stage.sessions.is_age_known(open), !is_old, "{hours}");
        // Its clock is hours behind, as new events show: the question was asked a moment ago.
        let there = stage.now.wall - jiff::SignedDuration::from_hours(hours);
        let at = json!({"timestamp": format!("{there:.3}")});
        stage.wait(2000);
        let told = stage.on("progress.updated", at);
        assert!(!timed_out(&told), "{told:?}");
        assert!(
            stage
                .sessions
                .is_age_known(stage.sessions.question(id).unwrap())
        );
        let told = stage.wait(40_000);
        let warned = |what: &ChangeKind| matches!(what, ChangeKind::QuestionWarning { .. });
        assert!(told.iter().any(warned), "{hours}: {told:?}");
        let told = stage.wait(30_000);
        assert!(timed_out(&told), "{hours}: {told:?}");
    }
    // Its clock is right, so the question is old after all.
    let mut stage = SessionStage::new();
    stage.sessions.link_leaves_machine(LINK);
    stage.sessions.link_connected(LINK, stage.now);
    let question = asked(&stage, 5, json!({}));
    stage.put(LINK, &question);
    let told = stage.wait(1000);
    assert!(!timed_out(&told), "{told:?}");
    stage.on("progress.updated", json!({}));
    let told = stage.wait(10);
    assert!(timed_out(&told), "{told:?}");
    // No further event comes: at the end of its full time it is certainly over.
    let mut stage = SessionStage::new();
    stage.sessions.link_leaves_machine(LINK);
    stage.sessions.link_connected(LINK, stage.now);
    let question = asked(&stage, 5, json!({}));
    stage.put(LINK, &question);
    let told = stage.wait(59_000);
    assert!(
        !told
            .iter()
            .any(|what| matches!(what, ChangeKind::QuestionWarning { .. })),
        "{told:?}"
    );
    assert!(!timed_out(&told), "{told:?}");
    let told = stage.wait(2_000);
    assert!(timed_out(&told), "{told:?}");
}
