//! Nothing is written while a line is open or new lines are held back, and nothing is lost because of that.

use super::*;

pub(super) const EDITOR: Options = Options {
    manner: AnswerMethod::Lines,
    lines: Some(LineSource::Editor),
    voice: SpeechMode::Silent,
    until: EndCondition::NoSource,
};

fn say_something(stage: &mut Stage, words: &str) {
    stage.event(
        "output.streaming",
        json!({"output_id": "o", "chunk": format!("{words}. "), "position": 0, "coalesce_hint": "sentence"}),
    );
}

#[test]
fn lines_wait_while_a_line_is_open_and_come_in_their_order() {
    let mut stage = Stage::new(EDITOR);
    stage.event("session.started", json!({"summary_normal": "Started."}));
    stage.lines.clear();
    stage.input(Input::LineBegun);
    stage.ask("rpl_1");
    stage.event("session.errored", json!({"summary_normal": "It broke."}));
    assert!(stage.lines.is_empty(), "{:?}", stage.lines);
    assert_eq!(stage.bells, 1, "a question rings all the same");
    stage.input(Input::LineLeft);
    let at = |words: &str| stage.lines.iter().position(|line| line.contains(words));
    assert!(
        at("Question 1").unwrap() < at("broke").unwrap(),
        "{:?}",
        stage.lines
    );
}

#[test]
fn a_line_answers_only_what_was_written_before_it_was_begun() {
    let mut stage = Stage::new(EDITOR);
    stage.input(Input::LineBegun);
    let begun = stage.now.monotonic;
    stage.ask("rpl_1");
    stage.wait(5000);
    stage.input(Input::Line {
        text: "y 1".into(),
        read: begun,
    });
    assert!(stage.sent.is_empty(), "begun before the question came");
    stage.assert_heard(phrase!("reply.not_yet.early", n = 1));
    stage.wait(399);
    stage.type_line("y 1");
    assert!(stage.sent.is_empty(), "begun right after it was written");
    stage.assert_heard(phrase!("reply.not_yet.soon", n = 1));
    stage.wait(400);
    stage.type_line("y 1");
    assert_eq!(stage.decision(), Some("accept"));
}

#[test]
fn held_lines_let_the_answers_to_lines_through_and_no_unread_question_be_answered() {
    let mut stage = Stage::new(EDITOR);
    stage.type_line("p");
    stage.assert_heard("Held");
    stage.ask("rpl_1");
    stage.assert_not_heard("Send rpl_1");
    stage.wait(5000);
    stage.type_line("y");
    assert!(stage.sent.is_empty());
    stage.assert_heard(phrase!("reply.not_yet.held", n = 1));
    stage.type_line("t");
    stage.assert_heard("1 question");
    // Reading its details counts as reading it.
    stage.type_line("d 1");
    stage.assert_heard("Send rpl_1");
    stage.wait(500);
    stage.type_line("n 1");
    assert_eq!(stage.decision(), Some("reject"));
    stage.type_line("p");
    stage.assert_heard(phrase!("hold.off"));
}

#[test]
fn what_is_too_much_to_hold_is_counted_and_questions_stay() {
    let mut stage = Stage::new(EDITOR);
    stage.event("session.started", json!({"summary_normal": "Started."}));
    stage.type_line("p");
    stage.ask("rpl_1");
    for n in 0..1200 {
        stage.event(
            "tool.invoked",
            json!({"tool": format!("t{n}"), "tool_call_id": format!("c{n}"), "summary_normal": format!("Call {n}.")}),
        );
    }
    stage.type_line("p");
    assert!(
        stage.heard(phrase!("hold.left_out")),
        "{:?}",
        &stage.lines[..4]
    );
    stage.assert_heard("Send rpl_1");
    assert!(stage.lines.len() < 1100);
}

#[test]
fn what_waits_is_written_before_the_end() {
    let mut stage = Stage::new(EDITOR);
    stage.type_line("p");
    say_something(&mut stage, "The last words");
    stage.event("session.completed", json!({"summary_normal": "All done."}));
    stage.assert_not_heard("All done");
    stage.type_line("q");
    assert_eq!(stage.quit, Some(Exit::Clean));
    stage.assert_heard("All done");
}

fn speaking(options: Options) -> Stage {
    let mut stage = Stage::new(Options {
        voice: SpeechMode::Speak,
        ..options
    });
    stage.input(Input::Voice(VoiceEvent::Ready {
        engine: "test".into(),
    }));
    stage.speak_all();
    stage.spoken.clear();
    stage.lines.clear();
    stage
}

fn said(stage: &mut Stage) -> String {
    stage.speak_all();
    let said = stage.spoken.drain(..).map(|(_, words)| words);
    said.collect::<Vec<_>>().join(" / ")
}

#[test]
fn a_line_that_goes_on_hears_once_that_a_question_waits_and_the_question_after_it() {
    let mut stage = speaking(EDITOR);
    stage.input(Input::LineBegun);
    stage.ask("rpl_1");
    stage.wait(1900);
    assert_eq!(said(&mut stage), "", "the line may be done by then");
    stage.wait(200);
    assert_eq!(
        said(&mut stage),
        "A question waits until your line is done."
    );
    assert_eq!(stage.lines, ["A question waits until your line is done."]);
    stage.event(
        "session.errored",
        json!({"summary_normal": "It broke.", "session_id": "sess_2"}),
    );
    stage.wait(60_000);
    let words = said(&mut stage);
    assert!(!words.contains("waits"), "one notice a line: {words}");
    assert!(!words.contains("It broke"), "{words}");
    stage.input(Input::LineLeft);
    let words = said(&mut stage);
    assert!(words.contains("Send rpl 1"), "{words}");
    assert!(words.contains("in 3 minutes and 58 seconds"), "{words}");
    assert!(words.contains("It broke"), "{words}");
}

#[test]
fn a_line_that_is_soon_done_hears_the_question_and_no_notice() {
    let mut stage = speaking(EDITOR);
    stage.input(Input::LineBegun);
    stage.ask("rpl_1");
    stage.wait(1000);
    stage.input(Input::LineLeft);
    stage.wait(5000);
    let words = said(&mut stage);
    assert!(words.contains("Send rpl 1"), "{words}");
    assert!(!words.contains("waits"), "{words}");
}

#[test]
fn in_the_editor_of_the_full_face_other_questions_wait_and_its_own_time_is_told() {
    let mut stage = speaking(Options {
        manner: AnswerMethod::Keys,
        lines: None,
        ..EDITOR
    });
    stage.event(
        "awaiting.clarification",
        json!({"question": "How many?", "reply_token": "rpl_1", "timeout_seconds": 60,
               "urgency": "critical", "accepted_response_kinds": ["freetext"]}),
    );
    said(&mut stage);
    stage.wait(500);
    stage.press('a');
    said(&mut stage);
    stage.ask("rpl_2");
    stage.wait(2100);
    assert_eq!(
        said(&mut stage),
        "A question waits until your line is done."
    );
    stage.wait(35_000);
    let words = said(&mut stage);
    assert!(phrase!("question.warning").is_in(&words), "{words}");
    assert!(!words.contains("Send rpl 2"), "{words}");
    stage.press('5');
    stage.code(KeyCode::Enter);
    let words = said(&mut stage);
    assert!(words.contains("Send rpl 2"), "{words}");
}

#[test]
fn a_question_that_is_over_before_the_line_is_not_asked_after_it() {
    let mut stage = speaking(EDITOR);
    stage.event("session.started", json!({}));
    stage.input(Input::LineBegun);
    stage.ask("rpl_1");
    stage.wait(3000);
    stage.event(
        "state.changed",
        json!({"from_state": "awaiting_input", "to_state": "thinking"}),
    );
    said(&mut stage);
    stage.input(Input::LineLeft);
    let words = said(&mut stage);
    assert!(!words.contains("Send rpl 1"), "{words}");
}

#[test]
fn json_lines_are_never_held() {
    let mut stage = Stage::new(EDITOR);
    stage.app.cx.face = Face::new(
        AnswerMethod::Program,
        Some(LineSource::Editor),
        ("start.face.json", "start.why.asked"),
        false,
    );
    stage.type_line("p");
    stage.assert_heard(phrase!("hold.never"));
}
