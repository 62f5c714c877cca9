//! One token, one answer, for a whole link.

use super::*;

fn token_use(stage: &SessionStage, id: QuestionId) -> TokenUse {
    stage.sessions.question(id).unwrap().token_use
}

fn answerable(stage: &SessionStage, id: QuestionId) -> bool {
    stage.sessions.question(id).unwrap().is_answerable()
}

fn mild(more: Value) -> Value {
    let mut fields = json!({"risk_level": "low", "irreversible": false});
    for (key, value) in more.as_object().unwrap() {
        fields[key] = value.clone();
    }
    fields
}

impl SessionStage {
    fn leaves_the_question(&mut self) -> Vec<ChangeKind> {
        self.state("awaiting_input", "thinking")
    }
}

#[test]
fn a_token_of_another_question_waits_for_it_and_takes_two_steps() {
    for other in [
        json!({"action": "Delete all backups"}),
        json!({"session_id": "sess_2"}),
        json!({"producer": {"agent_id": "b"}}),
        json!({"consequence": "All of it is gone."}),
        json!({"tool_call_id": "call_9"}),
    ] {
        let mut stage = SessionStage::new();
        stage.start();
        let first = stage.ask_with("rpl_1", mild(json!({})));
        assert!(!stage.sessions.question(first).unwrap().wants_second_step());
        let second = stage.ask_with("rpl_1", mild(other.clone()));
        assert!(answerable(&stage, first), "{other}: it stays answerable");
        assert!(!answerable(&stage, second), "{other}");
        assert_eq!(token_use(&stage, second), TokenUse::Shared { with: first });
        // Its answer does not free the token yet; its end does.
        stage.answer(first, Decision::Accept);
        assert!(!answerable(&stage, second), "{other}");
        let told = stage.leaves_the_question();
        assert!(
            told.contains(&ChangeKind::QuestionFreed(second)),
            "{other}: {told:?}"
        );
        assert!(answerable(&stage, second));
        assert!(stage.sessions.question(second).unwrap().wants_second_step());
    }
}

#[test]
fn a_token_counts_for_its_own_link_only() {
    let mut stage = SessionStage::new();
    stage.sessions.add_link(LinkId(1), true);
    stage.start();
    stage.ask("rpl_1");
    let fields = json!({"action": "x", "reply_token": "rpl_1", "timeout_seconds": 300});
    let elsewhere = stage.event("awaiting.confirmation", fields);
    stage.put(LinkId(1), &elsewhere);
    assert_eq!(token_use(&stage, QuestionId(2)), TokenUse::Own);
    assert!(answerable(&stage, QuestionId(2)));
}

#[test]
fn several_of_one_token_have_it_one_after_another() {
    let mut stage = SessionStage::new();
    stage.start();
    let asked: Vec<QuestionId> = (0..3)
        .map(|n| stage.ask_with("rpl_1", json!({"session_id": format!("sess_{n}")})))
        .collect();
    assert_eq!(
        token_use(&stage, asked[2]),
        TokenUse::Shared { with: asked[0] }
    );
    let end = |n: usize| json!({"session_id": format!("sess_{n}")});
    let told = stage.on("session.completed", end(0));
    assert!(told.contains(&ChangeKind::QuestionFreed(asked[1])));
    assert!(!told.contains(&ChangeKind::QuestionFreed(asked[2])));
    assert_eq!(
        token_use(&stage, asked[2]),
        TokenUse::Shared { with: asked[1] }
    );
    let told = stage.on("session.completed", end(1));
    assert!(told.contains(&ChangeKind::QuestionFreed(asked[2])));
}

#[test]
fn a_used_token_is_known_far_beyond_the_closed_questions() {
    let mut stage = SessionStage::new();
    stage.start();
    let first = stage.ask_with("rpl_used", mild(json!({})));
    stage.answer(first, Decision::Accept);
    stage.leaves_the_question();
    for n in 0..5000 {
        stage.ask_with(
            &format!("rpl_{n}"),
            mild(json!({"action": format!("Send {n}")})),
        );
        stage.leaves_the_question();
    }
    assert_eq!(stage.sessions.question(first), None, "long forgotten");
    let again = stage.ask_with("rpl_used", mild(json!({})));
    assert_eq!(token_use(&stage, again), TokenUse::UsedBefore);
    assert!(stage.sessions.question(again).unwrap().wants_second_step());
    // Another action under an unanswered token is also recognised.
    stage.leaves_the_question();
    let other = stage.ask_with("rpl_4999", mild(json!({"action": "Wipe the disk"})));
    assert_eq!(token_use(&stage, other), TokenUse::UsedBefore);
    // However many questions are asked, the memory of asked tokens is bounded, and does not push out answered
    // ones.
    assert!(stage.sessions.tokens[&LINK].is_within_bounds());
}

#[test]
fn a_question_that_was_closed_by_inference_and_comes_again_is_asked() {
    let mut stage = SessionStage::new();
    stage.start();
    for round in 0..3 {
        // Each repetition has a new event id and the same token.
        let id = stage.ask_with("rpl_1", mild(json!({})));
        assert_eq!(token_use(&stage, id), TokenUse::Own, "{round}");
        assert!(answerable(&stage, id));
        let told = stage.leaves_the_question();
        assert!(closed(&told).is_some());
    }
}

#[test]
fn the_very_same_open_question_is_one_question() {
    let mut stage = SessionStage::new();
    stage.start();
    let id = stage.ask_with("rpl_1", mild(json!({})));
    let again = stage.event(
        "awaiting.confirmation",
        json!({"action": "Send an email to Bob", "consequence": "It is gone.", "reply_token": "rpl_1",
               "timeout_seconds": 120, "default_decision": "reject", "risk_level": "low", "irreversible": false}),
    );
    let told = stage.put(LINK, &again);
    assert!(anomalies(&told).contains(&AnomalyKind::QuestionRepeated));
    assert_eq!(stage.sessions.open_questions().count(), 1);
    assert_eq!(token_use(&stage, id), TokenUse::Own);
}

#[test]
fn what_was_answered_and_is_asked_again_perhaps_did_not_arrive() {
    let mut stage = SessionStage::new();
    stage.start();
    let fields = json!({"action": "Send it", "reply_token": "rpl_1", "timeout_seconds": 300, "urgency": "critical"});
    stage.on("awaiting.confirmation", fields.clone());
    let id = QuestionId(1);
    stage.answer(id, Decision::Accept);
    assert!(!answerable(&stage, id));
    let told = stage.on("awaiting.confirmation", fields.clone());
    assert!(told.contains(&ChangeKind::QuestionUnheard(id)), "{told:?}");
    assert!(answerable(&stage, id));
    assert!(
        stage
            .sessions
            .question(id)
            .unwrap()
            .reply
            .perhaps()
            .is_some()
    );
    // If it is asked again after its end, its token is no longer new.
    stage.answer(id, Decision::Accept);
    stage.leaves_the_question();
    stage.on("awaiting.confirmation", fields);
    assert_eq!(token_use(&stage, QuestionId(2)), TokenUse::UsedBefore);
}

#[test]
fn the_word_of_the_tool_counts_where_it_is_worse() {
    let invoked = |stage: &mut SessionStage, more: Value| {
        let mut fields = json!({"tool": "wipe", "tool_call_id": "call_1"});
        for (key, value) in more.as_object().unwrap() {
            fields[key] = value.clone();
        }
        stage.on("tool.invoked", fields);
    };
    for (word, asked, two_steps, irreversible) in [
        (
            json!({"irreversible": true, "risk_level": "high"}),
            json!({}),
            true,
            true,
        ),
        (json!({"irreversible": true}), json!({}), true, true),
        (json!({"risk_level": "high"}), json!({}), true, false),
        (
            json!({"risk_level": "low", "irreversible": false}),
            json!({}),
            false,
            false,
        ),
        (json!({"risk_level": "medium"}), json!({}), false, false),
        (
            json!({"risk_level": "low"}),
            json!({"risk_level": "high"}),
            true,
            false,
        ),
        (json!({}), json!({"action": " "}), true, false),
        (json!({}), json!({"action": null}), true, false),
    ] {
        let mut stage = SessionStage::new();
        stage.start();
        invoked(&mut stage, word.clone());
        let mut fields = mild(json!({"tool_call_id": "call_1"}));
        for (key, value) in asked.as_object().unwrap() {
            fields[key] = value.clone();
        }
        let id = stage.ask_with("rpl_1", fields);
        let question = stage.sessions.question(id).unwrap();
        assert_eq!(question.wants_second_step(), two_steps, "{word} {asked}");
        assert_eq!(question.is_irreversible(), irreversible, "{word} {asked}");
    }
    // Silence would accept what the tool calls irreversible.
    let mut stage = SessionStage::new();
    stage.start();
    invoked(
        &mut stage,
        json!({"irreversible": true, "risk_level": "high"}),
    );
    let told = stage.on(
        "awaiting.confirmation",
        mild(
            json!({"action": "Tidy up", "reply_token": "rpl_1", "timeout_seconds": 60,
                    "default_decision": "accept", "tool_call_id": "call_1"}),
        ),
    );
    assert_eq!(
        dangers(&told),
        [Danger::AcceptsBySilence {
            question: QuestionId(1)
        }]
    );
}
