//! Words typed without beginning a prompt first: their letters are keys.

use super::*;

/// Presses keys one after another, slowly.
fn typed(stage: &mut Stage, word: &str) {
    for c in word.chars() {
        stage.wait(900);
        stage.press(c);
    }
}

#[test]
fn words_that_are_typed_without_beginning_a_prompt_accept_nothing() {
    for word in [
        "cycle",
        "try",
        "my code",
        "ready",
        "copy files",
        "ok send it",
        "running",
    ] {
        let mut stage = Stage::new(KEYS);
        stage.ask("rpl_1");
        stage.wait(2000);
        typed(&mut stage, word);
        stage.wait(2000);
        assert_ne!(
            stage.decision(),
            Some("accept"),
            "{word}: {:?}",
            stage.lines
        );
        assert!(
            stage.heard("That may be part of a word."),
            "{word}: {:?}",
            stage.lines
        );
    }
}

#[test]
fn whoever_means_a_key_that_may_be_part_of_a_word_presses_it_again() {
    let mut stage = Stage::new(KEYS);
    stage.ask("rpl_1");
    stage.wait(2000);
    typed(&mut stage, "tyy");
    assert_eq!(stage.decision(), Some("accept"), "{:?}", stage.lines);
}

#[test]
fn whoever_stops_speech_or_hears_details_answers_with_the_next_key() {
    for keys in ["sy", "dy"] {
        let mut stage = Stage::new(KEYS);
        stage.ask("rpl_1");
        stage.wait(2000);
        typed(&mut stage, keys);
        assert_eq!(
            stage.decision(),
            Some("accept"),
            "{keys}: {:?}",
            stage.lines
        );
    }
}
