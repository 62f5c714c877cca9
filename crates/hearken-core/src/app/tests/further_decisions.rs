//! Decisions beyond accept and reject, reasons, and numbers.

use super::*;

fn clarify(stage: &mut Stage, fields: Value) {
    let mut event = json!({"question": "How many?", "reply_token": "rpl_1", "timeout_seconds": 300,
                           "urgency": "critical"});
    for (key, value) in fields.as_object().unwrap() {
        event[key] = value.clone();
    }
    stage.event("awaiting.clarification", event);
}

#[test]
fn a_decision_of_the_producers_own_takes_a_number_and_the_second_step() {
    let mut stage = Stage::new(KEYS);
    stage.ask_with(
        "rpl_1",
        json!({"allowed_replies": ["accept", "reject", "ask_later", "accept_always"]}),
    );
    stage.assert_heard(
        "y accepts, n rejects, o then 1: ask later, o then 2: accept always, d for details.",
    );
    stage.wait(500);
    stage.press('o');
    stage.wait(500);
    stage.press('2');
    assert!(stage.sent.is_empty());
    stage.assert_heard(phrase!(
        "reply.second_step.other.keys",
        answer = "accept always",
        subject = "Send rpl_1"
    ));
    stage.wait(500);
    stage.code(KeyCode::F(5));
    stage.assert_heard(phrase!("reply.still_open"));
    stage.wait(500);
    stage.press('c');
    assert!(stage.sent.is_empty());
    stage.press('o');
    stage.assert_heard(phrase!("reply.not_yet"));
    stage.wait(700);
    stage.press('o');
    stage.press('1');
    stage.wait(500);
    stage.press('c');
    assert_eq!(stage.decision(), Some("ask_later"));
    assert_eq!(stage.sent.len(), 1);
}

#[test]
fn a_decision_of_the_producers_own_is_never_the_only_one_whose_key_is_spoken() {
    let mut stage = Stage::new(Options {
        voice: SpeechMode::Speak,
        ..KEYS
    });
    stage.input(Input::Voice(VoiceEvent::Ready {
        engine: "test".into(),
    }));
    let further = json!({"allowed_replies": ["accept", "reject", "accept_always"]});
    for token in ["rpl_1", "rpl_2"] {
        stage.ask_with(token, further.clone());
        stage.wait(500);
        stage.speak_all();
        stage.press('n');
        stage.event(
            "state.changed",
            json!({"from_state": "awaiting_input", "to_state": "thinking"}),
        );
        stage.speak_all();
        stage.wait(5000);
    }
    let said = stage.said();
    let ways: Vec<&str> = said
        .into_iter()
        .filter(|words| words.contains("letter o"))
        .collect();
    assert_eq!(
        ways,
        [
            "letter y accepts, letter n rejects, letter o then 1: accept always, letter d for details.",
            "Answer as before, letter o then 1: accept always.",
        ]
    );
}

#[test]
fn only_what_the_producer_takes_is_offered_and_sent() {
    let mut stage = Stage::new(PIPE);
    stage.ask_with("rpl_1", json!({"allowed_replies": ["approve", "reject"]}));
    stage.assert_heard("n 1 rejects, o 1 1 for choice 1: approve, d 1 for details.");
    stage.wait(3000);
    stage.type_line("y");
    assert!(stage.sent.is_empty());
    stage.assert_heard(phrase!(
        "reply.wants",
        what = "reject, or the number of a choice from 1 to 1"
    ));
    stage.type_line("c");
    assert!(stage.sent.is_empty());
    stage.type_line("o 1");
    stage.assert_heard(phrase!(
        "reply.second_step.other.lines",
        n = 1,
        answer = "approve"
    ));
    stage.wait(500);
    stage.type_line("o 2");
    stage.assert_heard(phrase!("reply.wants"));
    stage.type_line("o 1");
    stage.wait(500);
    stage.type_line("c");
    assert_eq!(stage.decision(), Some("approve"));
}

#[test]
fn a_reason_is_typed_and_goes_out_with_the_rejection() {
    let mut stage = Stage::new(KEYS);
    stage.ask_with("rpl_1", json!({"risk_level": "high"}));
    stage.wait(500);
    stage.press('e');
    stage.assert_heard(phrase!("reply.reason"));
    assert_eq!(stage.app.editor_label(), "editor.reason");
    for c in "too much yc".chars() {
        stage.press(c);
    }
    stage.code(KeyCode::Esc);
    assert!(stage.sent.is_empty());
    stage.assert_heard(phrase!("reply.editing.left"));
    stage.wait(500);
    stage.press('e');
    stage.code(KeyCode::Enter);
    stage.assert_heard(phrase!("reply.empty"));
    for c in "too much".chars() {
        stage.press(c);
    }
    stage.code(KeyCode::Enter);
    assert_eq!(stage.decision(), Some("reject"));
    assert_eq!(stage.sent[0].1["decision_rationale"], "too much");
    stage.assert_heard(phrase!(
        "reply.rejecting.short",
        subject = "Send rpl_1",
        reason = "too much"
    ));
    // They are the person's words, and no face may present them as the agent's.
    let mut told = stage.app.history().iter();
    let read_back = told
        .find(|told| phrase!("reply.rejecting.short").is_in(&told.text()))
        .unwrap();
    let reason = read_back
        .segments
        .iter()
        .find(|it| it.text().contains("too much"))
        .unwrap();
    assert_eq!(reason.mark, crate::announce::Mark::Own);
}

#[test]
fn a_reason_is_no_longer_than_the_protocol_takes() {
    let mut stage = Stage::new(KEYS);
    stage.ask_with("rpl_1", json!({"risk_level": "high"}));
    stage.wait(500);
    stage.press('e');
    stage.paste(&"ä".repeat(4097));
    stage.assert_heard(phrase!("reply.full"));
    stage.code(KeyCode::Enter);
    assert_eq!(
        stage.sent[0].1["decision_rationale"],
        "ä".repeat(4096),
        "characters are counted, not bytes"
    );
    let mut stage = Stage::new(PIPE);
    stage.ask_with("rpl_1", json!({"risk_level": "high"}));
    stage.wait(500);
    stage.type_line(&format!("r #1 {}", "z".repeat(4097)));
    assert!(stage.sent.is_empty());
    stage.assert_heard(phrase!("reply.reason_long", n = 4097));
    stage.type_line(&format!("r #1 {}", "z".repeat(4096)));
    assert_eq!(stage.decision(), Some("reject"));
}

#[test]
fn a_reason_is_for_a_confirmation_that_takes_a_rejection() {
    let mut stage = Stage::new(KEYS);
    clarify(&mut stage, json!({"accepted_response_kinds": ["yes_no"]}));
    stage.wait(500);
    stage.press('e');
    stage.assert_heard(phrase!("reply.wants", what = "yes or no"));
    assert!(stage.sent.is_empty());
}

#[test]
fn a_number_is_sent_as_it_was_typed_or_refused_in_words() {
    for (typed, sent) in [
        ("67", json!(67)),
        ("-1.5", json!(-1.5)),
        ("+3", json!(3)),
        ("007", json!(7)),
        ("0.10", json!(0.1)),
        ("123456789012345", json!(123456789012345_i64)),
        ("1000000000000000000000", Value::Null),
        ("1,5", Value::Null),
        ("1.000,50", Value::Null),
        ("1e5", Value::Null),
        ("inf", Value::Null),
        ("NaN", Value::Null),
        (".5", Value::Null),
        ("5.", Value::Null),
        ("--5", Value::Null),
        ("0.1234567890123456", Value::Null),
        ("about five", Value::Null),
    ] {
        let mut stage = Stage::new(PIPE);
        clarify(&mut stage, json!({"accepted_response_kinds": ["numeric"]}));
        stage.wait(3000);
        stage.type_line(&format!("a {typed}"));
        let got = stage
            .sent
            .last()
            .map_or(Value::Null, |(_, body)| body["response"].clone());
        assert_eq!(got, sent, "{typed}");
        if sent.is_null() {
            assert!(
                stage.heard(phrase!("reply.number")) || stage.heard(phrase!("reply.number.long")),
                "{typed}: {:?}",
                stage.lines
            );
        }
    }
}

#[test]
fn a_hostile_list_of_decisions_is_bounded() {
    let many: Vec<String> = (0..10_000).map(|n| format!("d{n}")).collect();
    let mut stage = Stage::new(PIPE);
    stage.ask_with("rpl_1", json!({"allowed_replies": many}));
    stage.wait(3000);
    stage.type_line("o 33");
    assert!(stage.sent.is_empty());
    stage.assert_heard(phrase!("reply.wants.choice", count = 32));
}

#[test]
fn an_end_after_a_rejection_never_sounds_as_if_the_thing_were_done() {
    let mut config = Config::default();
    config.announce.verbosity = crate::config::Verbosity::Terse;
    let mut stage = Stage::with(KEYS, config);
    stage.ask("rpl_1");
    stage.wait(500);
    stage.press('n');
    stage.event(
        "state.changed",
        json!({"from_state": "awaiting_input", "to_state": "thinking"}),
    );
    stage.event(
        "session.completed",
        json!({"summary_terse": "Done.", "summary_normal": "The email was not sent."}),
    );
    let end = "Finished. You rejected 1 of its actions. Reported: The email was not sent.";
    stage.assert_heard(end);
    stage.assert_not_heard("Done.");
}

#[test]
fn what_is_not_said_to_be_undone_is_accepted_in_two_steps_whatever_else_is_said_of_it() {
    for risk in ["low", "medium"] {
        let mut stage = Stage::new(KEYS);
        let unknown = json!({"reversibility": "partly", "irreversible": false, "risk_level": risk});
        stage.ask_with("rpl_1", unknown);
        stage.wait(700);
        stage.press('y');
        assert!(stage.sent.is_empty(), "{risk}: {:?}", stage.lines);
        stage.assert_heard(phrase!("reply.second_step.keys"));
        stage.wait(700);
        stage.press('c');
        assert_eq!(stage.decision(), Some("accept"), "{risk}");
    }
}
