//! Choosing by number, by letter and step by step, and choosing several.

use super::*;

const DAYS: [&str; 4] = ["Monday", "Tuesday", "Thursday", "Ärzte"];

/// Asks for a day, opens the choices, and clears the announcements so far.
fn choosing(more: Value) -> Stage {
    let mut stage = Stage::new(KEYS);
    let choices: Vec<Value> = DAYS
        .iter()
        .enumerate()
        .map(|(at, day)| json!({"value": format!("v{}", at + 1), "label": day}))
        .collect();
    let mut fields = json!({
        "question": "Which day?", "reply_token": "rpl_1", "timeout_seconds": 300, "urgency": "critical",
        "accepted_response_kinds": ["multiple_choice"], "choices": choices,
    });
    for (key, value) in more.as_object().unwrap() {
        fields[key] = value.clone();
    }
    stage.event("awaiting.clarification", fields);
    stage.wait(500);
    stage.press('o');
    assert!(matches!(stage.app.mode(), Mode::Choosing(_, 0)));
    stage.lines.clear();
    stage
}

fn focus(stage: &Stage) -> Option<&str> {
    stage.app.choice_in_focus().map(|at| DAYS[at])
}

fn response(stage: &Stage) -> Option<&Value> {
    assert!(stage.sent.len() <= 1);
    stage.sent.first().map(|(_, body)| &body["response"])
}

#[test]
fn nothing_is_in_focus_before_something_was_moved_and_enter_alone_never_answers() {
    let mut stage = choosing(json!({}));
    assert_eq!(focus(&stage), None);
    stage.code(KeyCode::Enter);
    stage.press(' ');
    assert_eq!(response(&stage), None);
    stage.assert_heard(phrase!("choice.open"));
}

#[test]
fn the_arrows_stop_at_both_ends_and_say_where_they_are() {
    let mut stage = choosing(json!({}));
    for (code, day) in [
        (KeyCode::Up, "Ärzte"),
        (KeyCode::Down, "Ärzte"),
        (KeyCode::Up, "Thursday"),
        (KeyCode::Home, "Monday"),
        (KeyCode::Up, "Monday"),
        (KeyCode::Down, "Tuesday"),
        (KeyCode::End, "Ärzte"),
    ] {
        stage.code(code);
        assert_eq!(focus(&stage), Some(day), "{code:?}");
        let place = DAYS.iter().position(|other| *other == day).unwrap() + 1;
        let said = format!("{place} of 4: {day}");
        assert_eq!(stage.lines.last(), Some(&said));
    }
    assert_eq!(response(&stage), None);
    stage.code(KeyCode::Enter);
    assert_eq!(response(&stage), Some(&json!("v4")));
}

#[test]
fn a_letter_goes_round_among_those_that_begin_with_it_in_either_case() {
    let mut stage = choosing(json!({}));
    for (letter, day) in [
        ('t', "Tuesday"),
        ('T', "Thursday"),
        ('t', "Tuesday"),
        ('ä', "Ärzte"),
    ] {
        stage.press(letter);
        assert_eq!(focus(&stage), Some(day), "{letter}");
    }
    // Neither `n` nor `y` is an answer here, and a letter with which no choice begins leaves the focus
    // unchanged.
    for letter in ['n', 'y'] {
        stage.press(letter);
        assert_eq!(focus(&stage), Some("Ärzte"));
        stage.assert_heard(&format!("No choice begins with {letter}."));
    }
    assert_eq!(response(&stage), None);
}

#[test]
fn a_digit_takes_its_choice_and_one_too_many_is_told() {
    let mut stage = choosing(json!({}));
    stage.press('7');
    assert_eq!(response(&stage), None);
    assert!(!stage.lines.is_empty(), "it says why");
    if !matches!(stage.app.mode(), Mode::Choosing(..)) {
        stage.wait(500);
        stage.press('o');
    }
    stage.press('2');
    assert_eq!(response(&stage), Some(&json!("v2")));
}

#[test]
fn several_are_picked_with_space_and_sent_in_their_order() {
    let mut stage = choosing(json!({"multi_select": true}));
    stage.code(KeyCode::End);
    stage.press(' ');
    assert_eq!(stage.lines.last().unwrap(), "4 of 4, picked: Ärzte");
    assert_eq!(stage.app.is_picked(3), Some(true));
    stage.code(KeyCode::Home);
    assert_eq!(stage.lines.last().unwrap(), "1 of 4, not picked: Monday");
    stage.press(' ');
    stage.code(KeyCode::Down);
    stage.press(' ');
    stage.press(' ');
    assert_eq!(stage.lines.last().unwrap(), "2 of 4, not picked: Tuesday");
    stage.code(KeyCode::Enter);
    assert_eq!(response(&stage), Some(&json!("v1, v4")));
}

#[test]
fn where_one_is_taken_space_picks_nothing() {
    let mut stage = choosing(json!({}));
    stage.code(KeyCode::Down);
    stage.press(' ');
    assert_eq!(stage.app.is_picked(0), None);
    assert_eq!(response(&stage), None);
}

#[test]
fn leaving_forgets_the_focus() {
    let mut stage = choosing(json!({}));
    stage.code(KeyCode::End);
    stage.code(KeyCode::Esc);
    assert_eq!(stage.app.mode(), Mode::Watching);
    stage.wait(500);
    stage.press('o');
    assert_eq!(focus(&stage), None);
    stage.code(KeyCode::Enter);
    assert_eq!(response(&stage), None);
}

#[test]
fn what_is_picked_stays_picked_until_it_is_taken() {
    let mut stage = choosing(json!({"multi_select": true}));
    stage.code(KeyCode::Home);
    stage.press(' ');
    stage.code(KeyCode::Down);
    stage.code(KeyCode::Down);
    stage.press(' ');
    stage.blocked = true;
    stage.draw(QuestionVisibility::Blank);
    stage.code(KeyCode::Enter);
    stage.assert_heard(phrase!("reply.not_yet"));
    assert_eq!(response(&stage), None);
    assert_eq!(
        (stage.app.is_picked(0), stage.app.is_picked(2)),
        (Some(true), Some(true))
    );
    stage.blocked = false;
    stage.wait(500);
    stage.code(KeyCode::Down);
    stage.code(KeyCode::Enter);
    assert_eq!(response(&stage), Some(&json!("v1, v3")));
}

#[test]
fn leaving_the_choices_lets_go_of_what_was_picked() {
    let mut stage = choosing(json!({"multi_select": true}));
    stage.code(KeyCode::Home);
    stage.press(' ');
    stage.code(KeyCode::Esc);
    stage.wait(500);
    stage.press('o');
    assert_eq!(stage.app.is_picked(0), Some(false));
    stage.code(KeyCode::Enter);
    assert_eq!(response(&stage), None);
}
