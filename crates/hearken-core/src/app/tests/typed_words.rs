//! Words typed without beginning a prompt first: their letters are keys.

use super::*;

/// Presses keys one after another, each after so many milliseconds.
fn typed(stage: &mut Stage, word: &str, pace: u64) {
    for c in word.chars() {
        stage.wait(pace);
        stage.press(c);
    }
}

/// Words as people type them to agents. None begins with a key that answers.
const WORDS: [&str; 20] = [
    "cycle",
    "try",
    "my code",
    "recycle it",
    "copy files",
    "connect",
    "running",
    "commit and push",
    "fix the bug",
    "python",
    "psychology",
    "list the keys",
    "zyklus",
    "können sie",
    "lauf weiter",
    "haz la copia",
    "vuelve a probar",
    "kyc check",
    "why",
    "make it shorter",
];

#[test]
fn words_that_are_typed_without_beginning_a_prompt_answer_nothing() {
    for word in WORDS {
        for (pace, risk) in [50, 150, 300, 450, 700, 1000, 1300, 1600, 1900]
            .into_iter()
            .flat_map(|pace| [(pace, "low"), (pace, "high")])
        {
            let mut stage = Stage::new(KEYS);
            stage.ask_with("rpl_1", json!({"risk_level": risk}));
            stage.wait(2000);
            typed(&mut stage, word, pace);
            stage.code(KeyCode::Enter);
            stage.wait(2000);
            let answer = stage.decision();
            assert_eq!(answer, None, "{word} at {pace} ms: {:?}", stage.lines);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(runs(500)))]

    /// Whatever follows a letter that is for nothing, however slow the hands are: nothing is answered until the
    /// keyboard was quiet for longer than they take for a letter.
    #[test]
    fn nothing_that_begins_with_a_stray_letter_answers(
        begin in "[cmkvjiufp ]",
        rest in prop::collection::vec(("[a-pr-wyz ]", 20_u64..3000), 1..12),
        risk in prop::sample::select(vec!["low", "high", "unknown"]),
    ) {
        let mut stage = Stage::new(KEYS);
        stage.ask_with("rpl_1", json!({"risk_level": risk}));
        stage.wait(2000);
        stage.press(begin.chars().next().unwrap());
        for (c, gap) in rest {
            stage.wait(gap);
            stage.press(c.chars().next().unwrap());
            prop_assert!(matches!(stage.app.mode(), Mode::Watching), "{:?}", stage.lines);
        }
        prop_assert_eq!(stage.decision(), None);
        stage.wait(5000);
        stage.press('n');
        prop_assert_eq!(stage.decision(), Some("reject"));
    }
}

#[test]
fn slow_hands_accept_nothing_by_a_word_under_a_second_step() {
    for word in ["cycle", "yes", "try", "recycle", "my cycle"] {
        for pace in [2000, 2500, 3000] {
            let mut stage = Stage::new(KEYS);
            stage.ask_with("rpl_1", json!({"risk_level": "unknown"}));
            stage.wait(2000);
            typed(&mut stage, word, pace);
            assert_eq!(
                stage.decision(),
                None,
                "{word} at {pace}: {:?}",
                stage.lines
            );
        }
    }
}

#[test]
fn a_word_typed_fluently_does_nothing_from_its_third_letter_on_and_says_so_once() {
    let mut stage = Stage::new(KEYS);
    stage.event(
        "output.streaming",
        json!({"output_id": "o", "delta": "Hello.", "complete": true}),
    );
    stage.wait(2000);
    stage.lines.clear();
    typed(&mut stage, "move it", 150);
    let told: Vec<&String> = stage
        .lines
        .iter()
        .filter(|line| phrase!("reply.typed_words.*").is_in(line))
        .collect();
    assert_eq!(told.len(), 1, "{:?}", stage.lines);
    assert!(
        phrase!("mute.on", agent = "Mailer").is_in(told[0]),
        "what it changed is said again: {told:?}"
    );
    stage.assert_not_heard("load");
    stage.lines.clear();
    stage.code(KeyCode::Enter);
    stage.assert_heard(phrase!("reply.typed_words.*"));
    stage.wait(5000);
    stage.press('t');
    assert!(
        !phrase!("reply.typed_words.*").is_in(stage.lines.last().unwrap()),
        "{:?}",
        stage.lines
    );
}

#[test]
fn whoever_means_a_key_that_may_be_part_of_a_word_pauses_or_presses_another_key() {
    for (keys, wait, escape) in [
        ("ty", 2000, false),
        ("tby", 5000, false),
        ("tby", 500, true),
    ] {
        let mut stage = Stage::new(KEYS);
        stage.ask("rpl_1");
        stage.wait(2000);
        typed(&mut stage, keys, 900);
        assert_eq!(stage.decision(), None, "{:?}", stage.lines);
        stage.assert_heard(phrase!("reply.not_yet.word"));
        if escape {
            stage.code(KeyCode::Esc);
        }
        stage.wait(wait);
        stage.press('y');
        assert_eq!(
            stage.decision(),
            Some("accept"),
            "{keys}: {:?}",
            stage.lines
        );
    }
}

#[test]
fn whoever_looks_or_hears_details_answers_with_the_next_key() {
    for (keys, pace) in [("dy", 500), ("ty", 2000), ("hhhy", 2000), ("sy", 2000)] {
        let mut stage = Stage::new(KEYS);
        stage.ask("rpl_1");
        stage.wait(2000);
        typed(&mut stage, keys, pace);
        assert_eq!(
            stage.decision(),
            Some("accept"),
            "{keys}: {:?}",
            stage.lines
        );
    }
}

#[test]
fn the_end_of_a_torn_mouse_report_mutes_nobody() {
    let mut config = Config::default();
    config.screen.mouse = crate::config::MouseChoice::Click;
    let mut stage = Stage::with(KEYS, config);
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    stage.wait(1000);
    stage.press('3');
    stage.press('M');
    stage.assert_not_heard("muted");
    stage.wait(1000);
    stage.press('m');
    stage.assert_heard(phrase!("mute.on", agent = "Mailer"));
}
