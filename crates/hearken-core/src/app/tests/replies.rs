//! The fate of an answer that is being sent.

use super::*;

#[test]
fn a_failed_answer_is_sent_again_with_its_timestamp_and_told_once() {
    let mut stage = Stage::new(PIPE);
    stage.ask("rpl_1");
    stage.wait(3000);
    stage.type_line("y 1");
    let first = stage.sent[0].1.clone();
    for attempt in 0..3 {
        let request = stage.sent[attempt].0;
        stage.link(
            0,
            LinkEvent::Replied {
                request,
                outcome: Err(DeliveryFailure::Kept(Fault::Refused)),
            },
        );
        stage.wait(10_000);
        assert_eq!(stage.sent.len(), attempt + 2);
    }
    assert_eq!(stage.sent[3].1, first, "the same message");
    assert_eq!(
        stage
            .lines
            .iter()
            .filter(|line| line.contains("is not delivered: nobody answers"))
            .count(),
        1
    );
    let request = stage.sent[3].0;
    stage.link(
        0,
        LinkEvent::Replied {
            request,
            outcome: Ok(Receipt::Taken),
        },
    );
    stage.wait(60_000);
    assert_eq!(stage.sent.len(), 4);
}

#[test]
fn an_answer_that_can_never_be_sent_leaves_the_question_open() {
    let mut stage = Stage::new(PIPE);
    stage.ask("rpl_1");
    stage.wait(3000);
    stage.type_line("n 1");
    let request = stage.sent[0].0;
    let fault = Fault::Status {
        status: 400,
        retry_after: None,
    };
    stage.link(
        0,
        LinkEvent::Replied {
            request,
            outcome: Err(DeliveryFailure::Refused(fault)),
        },
    );
    stage.assert_heard(phrase!("reply.given_up"));
    stage.wait(3000);
    stage.type_line("n 1");
    assert_eq!(stage.sent.len(), 2);
}

#[test]
fn clarifications_take_their_kinds() {
    let ask = |stage: &mut Stage, kinds: Value| {
        stage.event("awaiting.clarification", json!({
            "question": "Which age?", "reply_token": format!("rpl_{}", stage.count), "timeout_seconds": 300, "urgency": "critical",
            "accepted_response_kinds": kinds, "choices": [{"value": "60", "label": "Age 60"}, {"value": "65", "label": "Age 65"}],
        }));
        stage.wait(3000);
    };
    for (kinds, line, wanted) in [
        (json!(["multiple_choice"]), "o 2", json!("65")),
        (json!(["multiple_choice"]), "a age 60", json!("60")),
        (json!(["numeric"]), "a 62.5", json!(62.5)),
        (json!(["yes_no"]), "y 1", json!(true)),
        (json!(["yes_no"]), "n 1", json!(false)),
        (json!(["freetext"]), "a when I like", json!("when I like")),
        (json!(["multiple_choice", "numeric"]), "a 63", json!(63)),
    ] {
        let mut stage = Stage::new(PIPE);
        ask(&mut stage, kinds.clone());
        stage.type_line(line);
        assert_eq!(
            stage.sent.last().map(|(_, body)| body["response"].clone()),
            Some(wanted),
            "{kinds} {line}"
        );
    }
    for (kinds, line, words) in [
        (json!(["multiple_choice"]), "o 3", "from 1 to 2"),
        (json!(["numeric"]), "a soon", "can't be read as a number"),
        (json!(["multiple_choice"]), "y 1", "the number of a choice"),
    ] {
        let mut stage = Stage::new(PIPE);
        ask(&mut stage, kinds);
        stage.type_line(line);
        assert!(stage.sent.is_empty());
        assert!(stage.heard(words), "{line}: {:?}", stage.lines);
    }
}

#[test]
fn the_editor_keeps_the_focus_and_sends_what_was_typed() {
    let mut stage = Stage::new(KEYS);
    stage.event("awaiting.clarification", json!({
        "question": "Why?", "reply_token": "rpl_1", "timeout_seconds": 300, "accepted_response_kinds": ["freetext"], "urgency": "critical",
    }));
    stage.wait(500);
    stage.press('a');
    for c in "yes, now".chars() {
        stage.press(c);
    }
    stage.ask("rpl_2");
    stage.press('!');
    stage.code(KeyCode::Enter);
    assert_eq!(stage.sent.len(), 1);
    assert_eq!(stage.sent[0].1["response"], "yes, now!");
}

#[test]
fn an_answer_that_never_arrived_is_not_called_settled_by_it() {
    let mut stage = Stage::new(PIPE);
    stage.ask("rpl_1");
    stage.wait(3000);
    stage.type_line("y 1");
    let request = stage.sent[0].0;
    let fault = Fault::Status {
        status: 503,
        retry_after: None,
    };
    stage.link(
        0,
        LinkEvent::Replied {
            request,
            outcome: Err(DeliveryFailure::Refused(fault)),
        },
    );
    stage.event(
        "state.changed",
        json!({"from_state": "awaiting_input", "to_state": "thinking"}),
    );
    assert!(
        stage.heard(phrase!("question.closed.elsewhere"))
            && !stage.heard(phrase!("question.closed.answered")),
        "{:?}",
        stage.lines
    );
    stage.wait(2000);
    stage.assert_heard(phrase!("reply.too_late", answer = "accept"));
    assert_eq!(stage.sent.len(), 1);
}

#[test]
fn a_reason_is_read_back_and_a_missing_action_is_told() {
    let mut stage = Stage::new(PIPE);
    stage.ask_with("rpl_1", json!({"action": ""}));
    stage.assert_heard(phrase!("question.no_action"));
    stage.wait(3_000);
    stage.type_line("r too dear");
    stage.assert_heard(phrase!("reply.rejecting.plain", reason = "too dear"));
    stage.type_line("t");
    stage.assert_heard("Mailer: your answer is with it");
}

#[test]
fn a_question_in_a_recording_is_shown_with_its_answer_and_is_not_answerable() {
    let recorded = Recording {
        made_at: Some("2026-11-20T08:00:00Z".parse().unwrap()),
        answers: BTreeMap::from([(
            2,
            (
                Answer::Decision {
                    decision: Decision::Reject,
                    rationale: None,
                },
                "2026-11-20T08:00:09Z".parse().unwrap(),
            ),
        )]),
    };
    let mut stage = Stage::of(
        PIPE,
        vec![SourceSetup {
            name: "run.jsonl".into(),
            answerable: false,
            recording: Some(recorded),
            ..SourceSetup::default()
        }],
    );
    stage.link(0, LinkEvent::Connected);
    stage.assert_heard(phrase!(
        "replay.started",
        source = "run.jsonl",
        made = "2026-11-20 08:00 UTC"
    ));
    stage.event("session.started", json!({"summary_normal": "Going."}));
    stage.ask("rpl_1");
    stage.assert_heard(phrase!("question.one_way"));
    stage.assert_heard(phrase!("question.recorded", n = 1, answer = "reject"));
    stage.wait(5000);
    stage.type_line("y");
    stage.event(
        "state.changed",
        json!({"from_state": "awaiting_input", "to_state": "thinking"}),
    );
    stage.assert_heard(phrase!(
        "question.closed.answered",
        n = 1,
        answer = "reject"
    ));
    assert!(stage.sent.is_empty());
}
