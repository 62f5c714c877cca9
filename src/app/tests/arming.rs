//! When a question takes an answer, and from which key or line.

use super::*;

#[test]
fn an_early_key_is_swallowed_and_told() {
    let mut stage = Stage::new(KEYS);
    stage.press('y');
    assert!(stage.heard("No question is open"));
    stage.wait(100);
    stage.ask("rpl_1");
    stage.wait(399);
    stage.press('y');
    assert!(stage.sent.is_empty());
    assert!(stage.heard("Not yet"));
    stage.wait(399);
    stage.press('y');
    assert!(stage.sent.is_empty(), "each key starts the wait again");
    stage.wait(400);
    stage.press('y');
    assert_eq!(stage.decision(), Some("accept"));
}

#[test]
fn a_key_of_any_kind_starts_the_wait_again() {
    let mut stage = Stage::new(KEYS);
    stage.ask("rpl_1");
    stage.wait(390);
    stage.code(KeyCode::F(5));
    stage.wait(390);
    stage.press('y');
    assert!(stage.sent.is_empty());
}

#[test]
fn high_risk_takes_two_steps_and_any_other_key_leaves_it_open() {
    let mut stage = Stage::new(KEYS);
    stage.ask_with("rpl_1", json!({"risk_level": "high", "irreversible": true}));
    stage.wait(500);
    stage.press('c');
    assert!(stage.sent.is_empty());
    stage.wait(500);
    stage.press('y');
    assert!(stage.sent.is_empty());
    assert!(stage.heard("This needs a second step"));
    stage.wait(500);
    stage.press('z');
    assert!(stage.heard("Not confirmed. Question 1 is still open"));
    stage.wait(500);
    stage.press('c');
    assert!(stage.sent.is_empty(), "the first step was undone");
    stage.wait(500);
    stage.press('y');
    stage.wait(500);
    stage.press('c');
    assert_eq!(stage.decision(), Some("accept"));
}

#[test]
fn the_two_steps_in_one_burst_are_no_decision() {
    let mut stage = Stage::new(KEYS);
    stage.ask_with("rpl_1", json!({"risk_level": "high"}));
    stage.wait(500);
    stage.press('y');
    stage.wait(20);
    stage.press('c');
    assert!(stage.sent.is_empty());
}

#[test]
fn a_reject_in_the_middle_of_two_steps_rejects() {
    let mut stage = Stage::new(KEYS);
    stage.ask_with("rpl_1", json!({"risk_level": "high"}));
    stage.wait(500);
    stage.press('y');
    stage.wait(500);
    stage.press('n');
    assert_eq!(stage.decision(), Some("reject"));
}

#[test]
fn with_a_voice_the_question_must_be_heard_or_skipped() {
    let mut stage = Stage::new(Options {
        voice: VoiceWish::Speak,
        ..KEYS
    });
    stage.input(Input::Voice(VoiceEvent::Ready {
        engine: "test".into(),
    }));
    stage.speak_all();
    stage.ask("rpl_1");
    stage.wait(500);
    stage.press('y');
    assert!(stage.sent.is_empty());
    assert!(stage.heard("not said to its end"));
    stage.wait(500);
    stage.press('s');
    stage.wait(500);
    stage.press('y');
    assert_eq!(stage.decision(), Some("accept"), "skipping counts as heard");

    let mut stage = Stage::new(Options {
        voice: VoiceWish::Speak,
        ..KEYS
    });
    stage.input(Input::Voice(VoiceEvent::Ready {
        engine: "test".into(),
    }));
    stage.speak_all();
    stage.ask("rpl_1");
    stage.speak_all();
    stage.wait(500);
    stage.press('y');
    assert_eq!(stage.decision(), Some("accept"), "heard");

    let mut stage = Stage::new(Options {
        voice: VoiceWish::Speak,
        ..KEYS
    });
    stage.ask("rpl_1");
    stage.wait(19_900);
    stage.press('n');
    assert!(stage.sent.is_empty());
    stage.wait(500);
    stage.press('n');
    assert_eq!(stage.decision(), Some("reject"), "20 seconds passed");
}

#[test]
fn a_change_of_the_shown_question_arms_again() {
    let mut stage = Stage::new(KEYS);
    stage.ask("rpl_1");
    stage.wait(100);
    stage.ask("rpl_2");
    stage.wait(5000);
    stage.event(
        "state.changed",
        json!({"from_state": "awaiting_input", "to_state": "thinking"}),
    );
    assert!(stage.sent.is_empty());
    stage.press('n');
    assert_eq!(stage.sent.last().unwrap().1["reply_token"], "rpl_1");
    stage.press('n');
    assert_eq!(stage.sent.len(), 1, "question 2 is shown only now");
    assert!(stage.heard("Not yet"));
    stage.wait(400);
    stage.press('n');
    assert_eq!(stage.sent.last().unwrap().1["reply_token"], "rpl_2");
}

#[test]
fn pasted_text_and_held_keys_never_answer() {
    let mut stage = Stage::new(KEYS);
    stage.ask("rpl_1");
    stage.wait(1000);
    stage.input(Input::Paste("y\ny\nn".into()));
    for _ in 0..50 {
        stage.wait(30);
        let mut key = KeyEvent::new(KeyCode::Char('y'), KeyModifiers::NONE);
        key.kind = crossterm::event::KeyEventKind::Repeat;
        stage.input(Input::Key(key));
    }
    assert!(stage.sent.is_empty());
}

#[test]
fn lines_answer_with_a_number_and_bare_only_when_it_is_clear() {
    let mut stage = Stage::new(PIPE);
    stage.ask("rpl_1");
    stage.wait(1);
    stage.ask("rpl_2");
    stage.wait(5000);
    stage.type_line("y");
    assert!(stage.sent.is_empty());
    assert!(stage.heard("2 questions are open"));
    stage.type_line("n 2");
    assert_eq!(stage.sent.last().unwrap().1["reply_token"], "rpl_2");
    stage.wait(100);
    stage.type_line("y");
    assert_eq!(stage.sent.len(), 1, "changed just now");
    stage.wait(2000);
    stage.type_line("y");
    assert_eq!(stage.sent.last().unwrap().1["reply_token"], "rpl_1");
}

#[test]
fn a_line_read_before_the_question_was_written_does_not_count() {
    let mut stage = Stage::new(PIPE);
    let early = stage.now.monotonic;
    stage.ask("rpl_1");
    stage.input(Input::Line {
        text: "y 1".into(),
        read: early,
    });
    assert!(stage.sent.is_empty());
    assert!(stage.heard("typed before question 1 was shown"));
    stage.wait(1);
    stage.type_line("y 1");
    assert_eq!(stage.decision(), Some("accept"));
}

#[test]
fn on_a_terminal_a_line_counts_when_it_was_begun_later() {
    let mut stage = Stage::new(Options {
        lines: Some(LineSource::Terminal),
        ..PIPE
    });
    stage.ask("rpl_1");
    stage.wait(399);
    stage.type_line("y 1");
    assert!(stage.sent.is_empty());
    stage.wait(2);
    stage.type_line("y 1");
    assert_eq!(stage.decision(), Some("accept"));
}

#[test]
fn several_open_questions_are_answered_by_number_in_every_way() {
    let mut stage = Stage::new(PIPE);
    for n in 1..=3 {
        stage.event("awaiting.clarification", json!({
            "question": format!("Which {n}?"), "reply_token": format!("rpl_{n}"), "timeout_seconds": 300, "urgency": "critical",
            "accepted_response_kinds": ["multiple_choice", "freetext"], "choices": ["red", "blue"],
        }));
    }
    stage.wait(3000);
    stage.type_line("o 1");
    assert!(stage.sent.is_empty());
    assert!(stage.heard("for example: o 1 1"), "{:?}", stage.lines);
    stage.type_line("o 2 2");
    stage.type_line("a 1 green, please");
    let answers: Vec<(&str, &str)> = stage
        .sent
        .iter()
        .map(|(_, body)| {
            (
                body["reply_token"].as_str().unwrap(),
                body["response"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(answers, [("rpl_2", "blue"), ("rpl_1", "green, please")]);
}

#[test]
fn a_question_closes_the_help_that_would_hide_it() {
    let mut stage = Stage::new(KEYS);
    stage.press('?');
    assert_eq!(stage.app.mode(), Mode::Help);
    stage.ask("rpl_1");
    assert_eq!(stage.app.mode(), Mode::Watching);
    stage.wait(500);
    stage.press('?');
    stage.wait(500);
    stage.press('y');
    assert!(stage.sent.is_empty(), "the help is open");
}

#[test]
fn nobody_accepts_what_the_screen_has_not_shown_to_its_end() {
    let mut stage = Stage::new(KEYS);
    stage.ask("rpl_1");
    let prompt = PromptId(1);
    let part = |page| {
        Input::Drawn(Drawn {
            prompt,
            page,
            pages: 3,
        })
    };
    stage.input(part(0));
    stage.wait(1000);
    stage.press('y');
    assert!(
        stage.heard("There is more of question 1"),
        "{:?}",
        stage.lines
    );
    for page in [1, 2] {
        stage.press('d');
        stage.input(part(page));
    }
    stage.wait(1000);
    stage.press('y');
    assert_eq!(stage.sent.len(), 1);

    // Rejecting needs no more than knowing that there is a question.
    let mut stage = Stage::new(KEYS);
    stage.ask("rpl_1");
    stage.input(part(0));
    stage.wait(1000);
    stage.press('n');
    assert_eq!(stage.sent.len(), 1);

    // Another size has other pages; what was seen whole stays seen.
    let mut stage = Stage::new(KEYS);
    stage.ask("rpl_1");
    stage.input(part(0));
    stage.input(Input::Drawn(Drawn {
        prompt,
        page: 1,
        pages: 2,
    }));
    stage.wait(1000);
    stage.press('y');
    assert!(stage.sent.is_empty());
    stage.input(Input::Drawn(Drawn {
        prompt,
        page: 0,
        pages: 1,
    }));
    stage.input(part(0));
    stage.wait(1000);
    stage.press('y');
    assert_eq!(stage.sent.len(), 1);
}
