//! What a search found is on the screen, with a sign beside it, at every size.

use super::*;

fn says(app: &mut App, now: Now, text: &str) {
    event(
        app,
        now,
        json!({"type": "aaep:agent.output.streaming", "output_id": "o", "chunk": text, "position": 0, "complete": true}),
    );
}

fn search(app: &mut App, now: Now, text: &str) {
    press(app, KeyCode::Char('/'), now);
    for c in text.chars() {
        press(app, KeyCode::Char(c), now);
    }
    press(app, KeyCode::Enter, now);
    assert!(app.hit().is_some(), "{text}");
}

const SIZES: [(u16, u16); 7] = [
    (24, 10),
    (30, 8),
    (40, 10),
    (60, 20),
    (80, 24),
    (140, 40),
    (200, 60),
];

/// Asserts that a row with the sign has a word, at every size.
fn assert_found(app: &App, now: Now, word: &str) {
    for (width, height) in SIZES {
        let (rows, _) = screen(app, now, width, height);
        let found = |row: &&String| row.starts_with("» ") && row.to_lowercase().contains(word);
        assert!(
            rows.iter().any(|row| found(&row)),
            "{width}x{height}: {rows:#?}"
        );
    }
}

#[test]
fn a_word_in_the_middle_of_a_long_line_of_code_is_found() {
    let (mut app, now) = app();
    let code: Vec<String> = (0..60)
        .map(|n| format!("let name_{n} = value_{n};"))
        .collect();
    says(
        &mut app,
        now,
        &format!("```rust\n{}\n```\n", code.join("\n")),
    );
    search(&mut app, now, "NAME_41");
    assert_found(&app, now, "name_41");
    // What was found is not said a second time below.
    let (rows, _) = screen(&app, now, 40, 10);
    assert!(rows[0].starts_with("Match 1 of 1"), "{rows:#?}");
    assert_eq!(rows.iter().filter(|row| row.contains("Match")).count(), 1);
}

#[test]
fn a_word_at_the_end_of_a_long_sentence_is_found() {
    let (mut app, now) = app();
    let words: Vec<String> = (0..120).map(|n| format!("word{n}")).collect();
    says(
        &mut app,
        now,
        &format!("{} marmalade stands here.", words.join(" ")),
    );
    search(&mut app, now, "marmalade stands");
    assert_found(&app, now, "marmalade");
}

#[test]
fn a_word_in_a_folded_table_is_found() {
    let (mut app, now) = app();
    let mut table = "| Setting | Default | What it does | Since |\n|---|---|---|---|\n".to_owned();
    for n in 0..12 {
        let what = format!("Says what number {n} does with what it is given");
        table.push_str(&format!("| setting_{n} | {n} | {what} | 1.{n} |\n"));
    }
    says(&mut app, now, &table);
    search(&mut app, now, "setting_7");
    assert_found(&app, now, "setting_7");
    search(&mut app, now, "number 9 does with");
    assert_found(&app, now, "number");
}

#[test]
fn what_a_question_asked_is_found_beside_the_next_one() {
    let (mut app, now) = app();
    says(
        &mut app,
        now,
        "The quick brown fox jumps over the lazy dog.",
    );
    ask(&mut app, now, "Send it");
    let later = Now {
        monotonic: now.monotonic + Duration::from_secs(30),
        ..now
    };
    // As long as the question was not in sight, nothing covers it.
    let mut terminal = Terminal::new(TestBackend::new(40, 10)).unwrap();
    let mut showing = crate::app::QuestionVisibility::SideQuestion;
    terminal
        .draw(|frame| showing = draw(frame, &app, now, &TimeZone::UTC, LOOK))
        .unwrap();
    let at = now.monotonic;
    app.update(Input::Drawn { showing, at }, now);
    search(&mut app, later, "lazy dog");
    for (width, height) in [(40, 10), (80, 24), (140, 40)] {
        let (rows, _) = screen(&app, later, width, height);
        let found = |row: &&String| row.starts_with("» ") && row.contains("lazy");
        assert!(
            rows.iter().any(|row| found(&row)),
            "{width}x{height}: {rows:#?}"
        );
    }
}

#[test]
fn what_looking_back_finds_otherwise_has_no_sign() {
    let (mut app, now) = app();
    says(&mut app, now, "The quick brown fox.");
    press(&mut app, KeyCode::Up, now);
    let (rows, _) = screen(&app, now, 40, 10);
    assert!(!rows.concat().contains('»'), "{rows:#?}");
}
