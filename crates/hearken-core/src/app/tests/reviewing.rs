//! Looking back at what was announced or missed.

use super::*;

#[test]
fn the_history_is_read_back_and_forth() {
    let mut stage = Stage::new(KEYS);
    for n in 1..4 {
        stage.event(
            "tool.invoked",
            json!({"tool": format!("t{n}"), "summary_normal": format!("Step {n}")}),
        );
    }
    stage.lines.clear();
    for (code, words) in [
        (KeyCode::Up, "Step 3"),
        (KeyCode::Up, "Step 2"),
        (KeyCode::Down, "Step 3"),
        (KeyCode::Down, "That is the last one"),
    ] {
        stage.code(code);
        assert!(
            stage.lines.last().unwrap().contains(words),
            "{words}: {:?}",
            stage.lines
        );
    }
}

#[test]
fn a_whole_turn_is_read_back_to_the_last_answer() {
    let mut stage = Stage::new(KEYS);
    stage.press('w');
    stage.assert_heard(phrase!("turn.none"));
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    stage.chunk("First. Second. ");
    stage.event(
        "tool.invoked",
        json!({"tool": "look_up", "summary_normal": "Looking"}),
    );
    stage.chunk("Third. ");
    stage.press('w');
    stage.assert_heard("All that Mailer wrote: First. Second. Third.");
    stage.ask("rpl_1");
    stage.wait(2000);
    stage.press('n');
    stage.chunk("Fourth. ");
    stage.press('w');
    stage.assert_heard("All that Mailer wrote: Fourth.");
}

#[test]
fn the_history_is_searched_from_the_newest_back() {
    let mut stage = Stage::new(KEYS);
    stage.chunk("The red fox. The blue whale. The RED ant. ");
    stage.press('/');
    for c in "red".chars() {
        stage.press(c);
    }
    stage.code(KeyCode::Enter);
    assert_eq!(stage.lines.last().unwrap(), "Match 1 of 2: The RED ant.");
    // Repeating the search continues it.
    stage.press('/');
    stage.code(KeyCode::Enter);
    assert_eq!(stage.lines.last().unwrap(), "Match 2 of 2: The red fox.");
    stage.press('/');
    stage.code(KeyCode::Enter);
    stage.assert_heard(phrase!("search.no_more", text = "red"));
    stage.press('/');
    stage.press('q');
    stage.code(KeyCode::Esc);
    stage.assert_heard(phrase!("search.left"));
    assert_eq!(stage.quit, None);
    let mut stage = Stage::new(PIPE);
    stage.chunk("The red fox. The blue whale. ");
    stage.type_line("find RED");
    assert_eq!(stage.lines.last().unwrap(), "The red fox.");
    stage.type_line("+");
    assert_eq!(stage.lines.last().unwrap(), "The blue whale.");
    stage.type_line("-");
    stage.type_line("again");
    assert_eq!(stage.lines.last().unwrap(), "The red fox.");
}

#[test]
fn what_is_looked_at_is_spelled_and_then_by_the_alphabet() {
    let mut stage = Stage::new(KEYS);
    stage.chunk("Ab 1. ");
    stage.press('l');
    assert_eq!(stage.lines.last().unwrap(), "capital A, b, space, 1, dot");
    stage.press('l');
    assert_eq!(
        stage.lines.last().unwrap(),
        "capital alfa, bravo, space, 1, dot"
    );
    stage.press('l');
    assert_eq!(stage.lines.last().unwrap(), "capital A, b, space, 1, dot");
}

#[test]
fn a_word_is_chosen_by_steps_and_spelled() {
    let mut stage = Stage::new(KEYS);
    stage.chunk("Push to origin, now. ");
    stage.code(KeyCode::Right);
    assert_eq!(stage.lines.last().unwrap(), "Push");
    stage.code(KeyCode::Left);
    assert_eq!(stage.lines.last().unwrap(), "That is the first word.");
    stage.code(KeyCode::Right);
    stage.code(KeyCode::Right);
    assert_eq!(stage.lines.last().unwrap(), "origin,");
    // News doesn't replace the announcement under review.
    stage.chunk("Other words. ");
    stage.press('l');
    assert_eq!(stage.lines.last().unwrap(), "o, r, i, g, i, n, comma");
    assert_eq!(answer(&stage), ["o, r, i, g, i, n, comma"]);
    // It stays in the pane while the agent continues.
    stage.chunk("More words. ");
    assert!(!stage.app.answers().is_empty());
    stage.press('l');
    assert_eq!(
        stage.lines.last().unwrap(),
        "oscar, romeo, india, golf, india, november, comma"
    );
    stage.code(KeyCode::Right);
    stage.code(KeyCode::Right);
    assert_eq!(stage.lines.last().unwrap(), "That is the last word.");
    // For another announcement, stepping back begins with its last word.
    stage.code(KeyCode::End);
    assert_eq!(answer(&stage), ["More words."]);
    stage.code(KeyCode::Left);
    assert_eq!(stage.lines.last().unwrap(), "words.");
    // Repeating the whole announcement cancels the choice of a word.
    stage.press('r');
    stage.press('l');
    assert!(stage.lines.last().unwrap().starts_with("capital M, o, r"));
    // A question needs the space.
    assert!(!stage.app.answers().is_empty());
    stage.ask("rpl_1");
    assert!(stage.app.answers().is_empty());
}

#[test]
fn a_line_chooses_a_word_by_its_number_or_a_part_of_it() {
    let mut config = Config::default();
    config.announce.verbosity = crate::config::Verbosity::Detailed;
    let mut stage = Stage::with(PIPE, config);
    stage.chunk("git push --force 2 times. ");
    stage.type_line("l 2");
    assert_eq!(stage.lines.last().unwrap(), "p, u, s, h");
    stage.type_line("l >");
    assert_eq!(stage.lines.last().unwrap(), "--force. Word 3 of 5.");
    stage.type_line("l");
    assert_eq!(stage.lines.last().unwrap(), "dash, dash, f, o, r, c, e");
    stage.type_line("l <");
    stage.type_line("l <");
    assert_eq!(stage.lines.last().unwrap(), "git. Word 1 of 5.");
    stage.type_line("l TIM");
    assert_eq!(stage.lines.last().unwrap(), "t, i, m, e, s, dot");
    stage.type_line("l 99");
    assert_eq!(stage.lines.last().unwrap(), "99 is not in it.");
}

#[test]
fn three_sentences_tell_what_happened_while_the_person_was_away() {
    let mut stage = Stage::new(KEYS);
    stage.press('t');
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    stage.chunk("One. Two. ");
    stage.event(
        "tool.invoked",
        json!({"tool": "a", "tool_call_id": "call_1"}),
    );
    stage.event(
        "tool.completed",
        json!({"tool": "a", "tool_call_id": "call_1", "status": "error", "error_message": "no"}),
    );
    stage.wait(120_000);
    stage.ask("rpl_1");
    stage.press('s');
    stage.wait(1_000);
    stage.press('b');
    let told = stage.lines.last().unwrap().clone();
    assert_eq!(
        told,
        "In the last 2 minutes and 1 second: 1 session started. Meanwhile: 1 question, 1 tool failed, 2 sentences of text. \
         Now 1 question waits for you, and 1 agent works."
    );
}

/// Returns the content of the area for answers.
fn answer(stage: &Stage) -> Vec<String> {
    let answers = stage.app.answers().iter();
    answers.map(|told| told.shown()).collect()
}

#[test]
fn a_search_counts_its_hits_and_escape_leaves_it() {
    let mut stage = Stage::new(KEYS);
    stage.chunk("The red fox. A blue bird. A red hen. ");
    for (place, found) in [(1, "A red hen."), (2, "The red fox.")] {
        stage.press('/');
        for c in "red".chars() {
            stage.press(c);
        }
        stage.code(KeyCode::Enter);
        let said = format!("Match {place} of 2: {found}");
        assert_eq!(stage.lines.last().unwrap(), &said);
        let hit = stage.app.hit().unwrap();
        assert_eq!((hit.place, hit.count), (place, 2));
        assert!(stage.app.is_looking_back());
    }
    stage.code(KeyCode::Up);
    assert_eq!(stage.app.hit(), None, "what is before is no hit");
    stage.code(KeyCode::Esc);
    assert!(!stage.app.is_looking_back());
    assert_eq!(answer(&stage), ["Back at the newest."]);
    // The next search for the same text starts at the end again.
    stage.press('/');
    for c in "red".chars() {
        stage.press(c);
    }
    stage.code(KeyCode::Enter);
    assert_eq!(stage.app.hit().unwrap().place, 1);
}

#[test]
fn an_answer_to_a_key_goes_with_the_next_one_with_what_is_urgent_and_with_news_when_it_was_read() {
    let mut stage = Stage::new(KEYS);
    stage.chunk("One. ");
    stage.press('s');
    assert_eq!(answer(&stage), ["Nothing is being said."]);
    stage.press('r');
    assert_eq!(answer(&stage), ["One."]);
    stage.wait(600);
    stage.press('v');
    assert_eq!(answer(&stage), ["Verbosity: detailed."]);
    stage.chunk("Two. ");
    assert_eq!(answer(&stage).len(), 1, "there was no time to read it");
    stage.wait(10_000);
    assert_eq!(answer(&stage).len(), 1, "time alone takes nothing away");
    stage.chunk("Three. ");
    assert!(answer(&stage).is_empty());
    stage.press('v');
    stage.ask("rpl_1");
    assert!(answer(&stage).is_empty(), "a question is urgent");
    stage.press('v');
    stage.wait(11_000);
    stage.chunk("Four. ");
    assert_eq!(answer(&stage).len(), 1, "news wait behind a question");
}

#[test]
fn by_ear_the_end_of_an_entry_and_of_what_is_known_of_it_is_said() {
    let options = Options {
        voice: SpeechMode::Speak,
        ..KEYS
    };
    let mut stage = Stage::new(options);
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    stage.wait(1000);
    stage.code(KeyCode::Up);
    stage.wait(1000);
    stage.lines.clear();
    stage.press('d');
    assert_eq!(stage.lines, ["No more is known of this entry."]);
    stage.wait(1000);
    stage.press('.');
    let last = stage.app.answers().last().unwrap();
    assert_eq!(last.text(), "That is all of it.");
    assert_eq!(last.aloud, Presentation::Heard, "a screen shows the part");
}
