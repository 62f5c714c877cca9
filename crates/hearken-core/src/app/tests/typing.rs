//! Typing an answer: the state of the line after each key, and the echo.

use super::*;

/// Asks for words, opens the line, and clears the announcements so far.
fn typing(config: Config) -> Stage {
    let mut stage = Stage::with(KEYS, config);
    stage.event("awaiting.clarification", json!({
        "question": "Why?", "reply_token": "rpl_1", "timeout_seconds": 300, "accepted_response_kinds": ["freetext"],
        "urgency": "critical",
    }));
    stage.wait(500);
    stage.press('a');
    stage.lines.clear();
    stage
}

fn type_in(stage: &mut Stage, text: &str) {
    for c in text.chars() {
        stage.press(c);
    }
}

fn echo(choice: crate::config::EchoChoice) -> Config {
    let mut config = Config::default();
    config.questions.echo = choice;
    config
}

fn said(stage: &mut Stage, what: impl FnOnce(&mut Stage)) -> Vec<String> {
    stage.lines.clear();
    what(stage);
    std::mem::take(&mut stage.lines)
}

#[test]
fn words_are_said_when_they_are_finished_or_each_character_by_the_setting() {
    use crate::config::EchoChoice;
    for (choice, wanted) in [
        (EchoChoice::Words, vec!["an"]),
        (EchoChoice::Characters, vec!["a", "n", "space", "a"]),
        (EchoChoice::Both, vec!["a", "n", "an", "a"]),
        (EchoChoice::None, vec![]),
    ] {
        let mut stage = typing(echo(choice));
        let told = said(&mut stage, |stage| type_in(stage, "an a"));
        assert_eq!(told, wanted, "{choice:?}");
    }
}

#[test]
fn what_is_deleted_is_said_and_gone() {
    let mut stage = typing(Config::default());
    type_in(&mut stage, "one two");
    assert_eq!(
        said(&mut stage, |stage| stage.code(KeyCode::Backspace)),
        ["o"]
    );
    assert_eq!(stage.app.editor(), ("one tw", 6));
    let control = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL);
    assert_eq!(said(&mut stage, |stage| stage.key(control('w'))), ["tw"]);
    assert_eq!(stage.app.editor(), ("one ", 4));
    stage.code(KeyCode::Home);
    assert_eq!(said(&mut stage, |stage| stage.code(KeyCode::Delete)), ["o"]);
    assert_eq!(stage.app.editor(), ("ne ", 0));
    assert_eq!(
        said(&mut stage, |stage| stage.code(KeyCode::Backspace)),
        ["nothing to delete"]
    );
}

#[test]
fn the_line_is_reviewed_by_character_word_and_whole() {
    let mut stage = typing(Config::default());
    assert_eq!(
        said(&mut stage, |stage| stage.code(KeyCode::Up)),
        ["The line is empty."]
    );
    type_in(&mut stage, "one two");
    for (code, wanted) in [
        (KeyCode::Right, "end of the line"),
        (KeyCode::Left, "o"),
        (KeyCode::Home, "o"),
        (KeyCode::Right, "n"),
        (KeyCode::End, "end of the line"),
        (KeyCode::Up, "one two"),
        (KeyCode::Down, "one two"),
    ] {
        assert_eq!(
            said(&mut stage, |stage| stage.code(code)),
            [wanted],
            "{code:?}"
        );
    }
    let word = |code| KeyEvent::new(code, KeyModifiers::CONTROL);
    assert_eq!(
        said(&mut stage, |stage| stage.key(word(KeyCode::Left))),
        ["two"]
    );
    assert_eq!(
        said(&mut stage, |stage| stage.key(word(KeyCode::Left))),
        ["one"]
    );
    assert_eq!(
        said(&mut stage, |stage| stage.key(word(KeyCode::Right))),
        ["two"]
    );
}

#[test]
fn pasted_text_is_one_line_without_controls_and_is_never_sent_by_itself() {
    let mut stage = typing(Config::default());
    stage.paste("yes\r\nand\u{1b}[31m\tno\u{7}\n");
    assert_eq!(stage.app.editor().0, "yes  and[31m no ");
    assert!(stage.sent.is_empty());
    stage.code(KeyCode::Enter);
    assert_eq!(stage.sent.len(), 1);
}

#[test]
fn an_answer_is_as_long_as_the_protocol_allows_and_what_is_left_out_is_told() {
    let mut stage = typing(Config::default());
    stage.paste(&"ä".repeat(8192));
    assert_eq!(stage.app.editor().0.len(), 16 * 1024);
    let told = said(&mut stage, |stage| stage.press('z'));
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(stage.app.editor().0.len(), 16 * 1024);
    let mut stage = typing(Config::default());
    let pasted = said(&mut stage, |stage| stage.paste(&"z".repeat(20_000)));
    assert_eq!(pasted, told, "the same sentence");
    assert_eq!(stage.app.editor().0.len(), 16 * 1024);
}

#[test]
fn what_is_typed_is_never_news() {
    let mut stage = typing(Config::default());
    let before = stage.app.history().len();
    type_in(&mut stage, "a secret word ");
    stage.code(KeyCode::Up);
    assert_eq!(stage.app.history().len(), before);
}
