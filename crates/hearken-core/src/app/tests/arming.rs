//! When a question can be answered, and by which key or line.

use super::*;

#[test]
fn an_early_key_is_swallowed_and_told() {
    let mut stage = Stage::new(KEYS);
    stage.press('y');
    stage.assert_heard(phrase!("reply.no_question"));
    stage.wait(100);
    stage.ask("rpl_1");
    stage.wait(399);
    stage.press('y');
    assert!(stage.sent.is_empty());
    stage.assert_heard(phrase!("reply.not_yet"));
    stage.wait(399);
    stage.code(KeyCode::F(5));
    stage.wait(399);
    stage.press('y');
    assert!(stage.sent.is_empty(), "each key starts the wait again");
    stage.wait(699);
    stage.press('y');
    assert!(stage.sent.is_empty(), "it may only have been held");
    stage.wait(700);
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
    stage.wait(5000);
    stage.press('y');
    assert!(stage.sent.is_empty());
    stage.assert_heard(phrase!("reply.second_step.keys"));
    stage.wait(500);
    stage.press('z');
    stage.assert_heard(phrase!("reply.still_open", n = 1));
    stage.wait(500);
    stage.press('c');
    assert!(stage.sent.is_empty(), "the first step was undone");
    stage.wait(2000);
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
        voice: SpeechMode::Speak,
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
    stage.assert_heard(phrase!("reply.not_yet.said"));
    stage.wait(500);
    stage.press('s');
    stage.wait(500);
    stage.press('y');
    assert_eq!(stage.decision(), Some("accept"), "skipping counts as heard");

    let mut stage = Stage::new(Options {
        voice: SpeechMode::Speak,
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
        voice: SpeechMode::Speak,
        ..KEYS
    });
    stage.ask("rpl_1");
    stage.wait(19_900);
    stage.press('n');
    assert!(stage.sent.is_empty());
    stage.wait(800);
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
    stage.assert_heard(phrase!("reply.not_yet"));
    stage.wait(700);
    stage.press('n');
    assert_eq!(stage.sent.last().unwrap().1["reply_token"], "rpl_2");
}

#[test]
fn pasted_text_and_held_keys_never_answer() {
    let mut stage = Stage::new(KEYS);
    stage.ask("rpl_1");
    stage.wait(1000);
    stage.paste("y\ny\nn");
    for _ in 0..50 {
        stage.wait(30);
        let mut key = KeyEvent::new(KeyCode::Char('y'), KeyModifiers::NONE);
        key.kind = crossterm::event::KeyEventKind::Repeat;
        stage.key(key);
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
    stage.assert_heard(phrase!("reply.which", count = 2));
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
fn a_line_that_must_name_its_question_is_shown_how_with_its_own_decision() {
    let mut stage = Stage::new(PIPE);
    stage.ask("rpl_1");
    stage.wait(1);
    stage.ask("rpl_2");
    stage.wait(5000);
    for (line, example) in [
        ("y", "y 1"),
        ("n", "n 1"),
        ("c", "c 1"),
        ("r too dear", "r #1 TEXT"),
        ("a later", "a #1 TEXT"),
        ("o 3", "o 1 3"),
    ] {
        stage.lines.clear();
        stage.type_line(line);
        let told = format!("2 questions are open. Say which one, for example: {example}.");
        assert!(stage.heard(&told), "{line}: {:?}", stage.lines);
    }
    assert!(stage.sent.is_empty());
    // The same, just after the question changed.
    stage.type_line("n 1");
    stage.wait(100);
    stage.type_line("n");
    stage.assert_heard(phrase!("reply.changed", example = "n 2"));
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
    stage.assert_heard(phrase!("reply.not_yet.early", n = 1));
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
    stage.assert_heard(phrase!("reply.which", example = "o 1 1"));
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
    stage.assert_heard(phrase!("help.closed.unanswered"));
    stage.wait(700);
    stage.press('y');
    assert_eq!(stage.decision(), Some("accept"), "{:?}", stage.lines);
}

#[test]
fn a_key_that_the_help_names_acts_or_says_that_it_only_closed_the_help() {
    let pressed = |code: KeyCode| {
        let mut stage = Stage::new(KEYS);
        stage.press('?');
        stage.lines.clear();
        stage.code(code);
        (stage.app.mode(), stage.lines, stage.quit)
    };
    let (mode, ..) = pressed(KeyCode::Char('/'));
    assert_eq!(mode, Mode::Searching);
    let (mode, lines, _) = pressed(KeyCode::Char('k'));
    assert_eq!(mode, Mode::Watching);
    assert!(lines[0].contains("urgent"), "{lines:?}");
    let (_, lines, _) = pressed(KeyCode::Char('y'));
    assert_eq!(lines, ["No question is open."]);
    for code in [KeyCode::Char('q'), KeyCode::Char('x'), KeyCode::Enter] {
        let (mode, lines, quit) = pressed(code);
        assert_eq!((mode, quit), (Mode::Watching, None), "{code:?}");
        assert_eq!(lines, ["Help is closed."], "{code:?}");
    }
}

#[test]
fn nobody_accepts_what_the_screen_has_not_shown_to_its_end() {
    let paged = || {
        let mut stage = Stage::new(KEYS);
        stage.blocked = true;
        stage.ask("rpl_1");
        stage.see(0, 3);
        stage.wait(1000);
        stage
    };
    let mut stage = paged();
    stage.press('y');
    stage.assert_heard(phrase!("reply.not_yet.seen", n = 1));
    for page in [1, 2] {
        stage.press('d');
        stage.see(page, 3);
    }
    stage.wait(1000);
    stage.press('y');
    assert_eq!(stage.sent.len(), 1);

    // Rejecting requires only knowing that there is a question.
    let mut stage = paged();
    stage.press('n');
    assert_eq!(stage.sent.len(), 1);

    // Another size has other pages; what was seen in full stays seen.
    let mut stage = paged();
    stage.see(1, 2);
    stage.press('y');
    assert!(stage.sent.is_empty());
    stage.see(0, 1);
    stage.see(0, 3);
    stage.wait(1000);
    stage.press('y');
    assert_eq!(stage.sent.len(), 1);
}

const VOICED: Options = Options {
    voice: SpeechMode::Speak,
    ..KEYS
};

fn high(stage: &mut Stage, token: &str) {
    stage.ask_with(token, json!({"risk_level": "high", "irreversible": true}));
    stage.wait(500);
}

#[test]
fn a_question_is_answered_only_after_the_write_of_it_returned() {
    let mut stage = Stage::new(KEYS);
    stage.blocked = true;
    stage.ask("rpl_1");
    stage.wait(1000);
    stage.press('y');
    stage.assert_heard(phrase!("reply.not_yet.drawing", n = 1));
    stage.wait(4000);
    stage.press('y');
    assert!(stage.sent.is_empty(), "the terminal was stopped");
    stage.assert_heard(phrase!("reply.not_yet.unshown", n = 1));
    stage.wait(1000);
    // The terminal continues, and the key that was read earlier is judged later.
    let read = stage.now.monotonic;
    stage.wait(2000);
    stage.see(0, 1);
    stage.wait(2000);
    let key = KeyEvent::new(KeyCode::Char('n'), KeyModifiers::NONE);
    stage.input(Input::Stroke(Stroke::key(key, read)));
    assert!(stage.sent.is_empty(), "read before it was in sight");
    stage.press('y');
    assert_eq!(stage.decision(), Some("accept"));
}

#[test]
fn a_terminal_without_a_size_takes_no_answer_but_to_what_was_heard() {
    let mut stage = Stage::new(KEYS);
    stage.blocked = true;
    high(&mut stage, "rpl_1");
    stage.see(0, 1);
    stage.wait(500);
    stage.press('y');
    stage.assert_heard(phrase!("reply.second_step.keys"));
    stage.wait(500);
    stage.draw(QuestionVisibility::Blank);
    stage.assert_heard(phrase!("reply.still_open"));
    stage.press('c');
    stage.wait(500);
    for key in ['y', 'c', 'n'] {
        stage.press(key);
        stage.wait(1000);
    }
    assert!(stage.sent.is_empty(), "{:?}", stage.sent);

    let mut stage = Stage::new(VOICED);
    stage.blocked = true;
    stage.voiced();
    stage.ask("rpl_1");
    stage.wait(500);
    stage.press('s');
    stage.wait(30_000);
    stage.press('y');
    assert!(stage.sent.is_empty(), "neither shown nor heard");
    let mut stage = Stage::new(VOICED);
    stage.blocked = true;
    stage.voiced();
    stage.ask("rpl_1");
    stage.wait(500);
    stage.speak_all();
    stage.wait(399);
    stage.press('y');
    assert!(stage.sent.is_empty(), "said just now");
    stage.wait(1000);
    stage.press('y');
    assert_eq!(stage.decision(), Some("accept"), "heard");
}

#[test]
fn a_line_that_is_only_queued_was_not_shown() {
    let mut stage = Stage::new(PIPE);
    stage.blocked = true;
    stage.ask("rpl_1");
    stage.wait(5000);
    stage.type_line("y 1");
    assert!(stage.sent.is_empty());
    stage.assert_heard(phrase!("reply.not_yet.unshown"));
}

#[test]
fn any_input_is_a_hand_at_work() {
    let hands = [
        TerminalInput::Noise,
        TerminalInput::Paste("y".into()),
        TerminalInput::Stalled,
        TerminalInput::Focus(true),
    ];
    for hand in hands {
        let mut stage = Stage::new(KEYS);
        stage.ask("rpl_1");
        stage.wait(1000);
        stage.strike(hand.clone());
        stage.wait(399);
        stage.press('y');
        assert!(stage.sent.is_empty(), "{hand:?}");

        let mut stage = Stage::new(KEYS);
        high(&mut stage, "rpl_1");
        stage.press('y');
        stage.wait(200);
        stage.strike(hand.clone());
        assert!(stage.heard(phrase!("reply.still_open")), "{hand:?}");
        stage.wait(500);
        stage.press('c');
        assert!(stage.sent.is_empty(), "{hand:?}");
    }
}

#[test]
fn what_slow_and_trembling_hands_do_ends_no_second_step() {
    let released = KeyEvent {
        kind: KeyEventKind::Release,
        ..KeyEvent::new(KeyCode::Char('y'), KeyModifiers::NONE)
    };
    let mut stage = Stage::new(KEYS);
    high(&mut stage, "rpl_1");
    // The key is held down until the keyboard repeats it, and released.
    stage.press('y');
    for wait in [600, 33, 33] {
        stage.wait(wait);
        stage.press('y');
    }
    stage.key(released);
    stage.strike(TerminalInput::Focus(false));
    stage.wait(200);
    stage.press('c');
    assert_eq!(stage.decision(), Some("accept"));

    // With slow keys, touching another key counts for nothing.
    let mut config = Config::default();
    config.questions.slow_ms = 600;
    let mut stage = Stage::with(KEYS, config);
    high(&mut stage, "rpl_1");
    let hold = |stage: &mut Stage, key| {
        for wait in [500, 50, 50, 50] {
            stage.press(key);
            stage.wait(wait);
        }
    };
    hold(&mut stage, 'y');
    stage.assert_heard(phrase!("reply.second_step.keys"));
    stage.press('x');
    stage.wait(1000);
    hold(&mut stage, 'c');
    assert_eq!(stage.decision(), Some("accept"));
}

#[test]
fn a_key_that_is_held_answers_one_question_and_not_the_next() {
    let mut stage = Stage::new(KEYS);
    stage.ask("rpl_1");
    stage.ask("rpl_2");
    stage.wait(1000);
    stage.press('y');
    assert_eq!(stage.sent.len(), 1);
    for wait in [660, 33, 33, 33] {
        stage.wait(wait);
        stage.press('y');
    }
    assert_eq!(stage.sent.len(), 1, "{:?}", stage.sent);
}

#[test]
fn a_second_step_lapses_by_either_clock_before_a_late_key() {
    let confirm = |mono: u64, wall: u64, read_before: u64| {
        let mut stage = Stage::new(KEYS);
        high(&mut stage, "rpl_1");
        stage.press('y');
        // The app was not called in between: the program was stopped, or the machine slept.
        let since = stage.now;
        stage.now = since.after(Duration::from_millis(wall));
        stage.now.monotonic = since.monotonic + Duration::from_millis(mono);
        let read = stage.now.monotonic - Duration::from_millis(read_before);
        let key = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::NONE);
        stage.input(Input::Stroke(Stroke::key(key, read)));
        stage.decision().map(str::to_owned)
    };
    let patience = Config::default().questions.confirm_seconds * 1000;
    let accepted = Some("accept".to_owned());
    assert_eq!(confirm(patience - 1, patience - 1, 0), accepted);
    assert_eq!(confirm(patience, patience, 0), None);
    // The machine slept, and one clock stopped.
    assert_eq!(confirm(1000, patience, 0), None);
    // The wall clock was set back.
    assert_eq!(confirm(patience, 0, 0), None);
    // Read in time, but judged too late.
    assert_eq!(confirm(patience + 500, patience + 500, 1000), accepted);
}

#[test]
fn a_paste_that_does_not_end_is_told() {
    let mut stage = Stage::new(KEYS);
    stage.strike(TerminalInput::Stalled);
    stage.assert_heard(phrase!("reply.paste_stalled"));
}
