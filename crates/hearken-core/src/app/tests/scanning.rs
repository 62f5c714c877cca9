//! One or two switches reach everything, under the same rules as keys.

use super::*;
use crate::config::ScanConfig;
use crate::keys::{Keymap, Scan};

const STEP: KeyCode = KeyCode::F(7);
const SELECT: KeyCode = KeyCode::F(8);

pub(super) fn stage(step: &str, auto_ms: u64) -> Stage {
    let options = KEYS;
    let source = || SourceSetup {
        name: "one".into(),
        answerable: true,
        ..SourceSetup::default()
    };
    let phrases = Arc::new(Phrases::english().unwrap().scanned());
    let mut stage = Stage::worded(
        phrases,
        KeyRing::default(),
        Config::default(),
        options,
        vec![source(), source()],
    );
    stage.link(0, LinkEvent::Connected);
    stage.wait(2000);
    stage.lines.clear();
    switch(&mut stage, step, auto_ms);
    stage
}

/// Configures the scanning keys of a stage.
fn switch(stage: &mut Stage, step: &str, auto_ms: u64) {
    let settings = ScanConfig {
        step: step.into(),
        select: "F8".into(),
        auto_ms,
        ..ScanConfig::default()
    };
    let keys = Scan::new(&settings, &Keymap::default()).unwrap();
    stage.app.key_input.set_scanning(Scanning::new(keys));
}

impl Stage {
    fn step_to(&mut self, words: &str) {
        for _ in 0..20 {
            self.wait(500);
            self.lines.clear();
            self.code(STEP);
            if self.heard(words) {
                self.wait(500);
                return;
            }
        }
        panic!("never at {words}: {:?}", self.lines);
    }
}

#[test]
fn a_question_is_accepted_in_two_steps_by_two_switches() {
    let mut stage = stage("F7", 0);
    stage.ask_with("rpl_1", json!({"risk_level": "high", "irreversible": true}));
    stage.step_to("Accept it");
    stage.code(SELECT);
    stage.assert_heard(phrase!("reply.second_step.*"));
    stage.wait(500);
    stage.code(SELECT);
    assert!(stage.sent.is_empty(), "the same switch again does nothing");
    stage.assert_heard(phrase!("scan.nothing"));
    stage.step_to("Confirm it");
    stage.code(SELECT);
    assert_eq!(stage.decision(), Some("accept"));
}

#[test]
fn a_selection_is_armed_like_a_key() {
    let mut stage = stage("F7", 0);
    stage.ask("rpl_1");
    stage.wait(500);
    stage.code(STEP);
    stage.wait(100);
    stage.code(SELECT);
    assert!(stage.sent.is_empty());
    stage.assert_heard(phrase!("reply.not_yet"));
    // It is still in focus, and the same switch selects it in time.
    stage.wait(1000);
    stage.code(SELECT);
    assert_eq!(stage.decision(), Some("accept"));
    stage.wait(1000);
    stage.code(SELECT);
    assert_eq!(stage.sent.len(), 1, "what was done is in focus no more");
}

#[test]
fn what_comes_too_early_in_the_list_is_not_lost() {
    let mut stage = stage("F7", 0);
    stage.ask("rpl_1");
    for _ in 0..2 {
        stage.wait(500);
        stage.code(STEP);
    }
    stage.assert_heard(phrase!("scan.reject"));
    stage.wait(100);
    stage.code(SELECT);
    assert!(stage.sent.is_empty());
    stage.assert_heard(phrase!("reply.not_yet"));
    stage.wait(1000);
    stage.code(SELECT);
    assert_eq!(stage.decision(), Some("reject"));
}

#[test]
fn the_changes_of_an_edit_are_named_by_what_they_show() {
    let mut stage = stage("F7", 0);
    let hunks = json!([{"line": 1, "lines": ["+a"], "left_out": 0}]);
    stage.ask_with(
        "rpl_1",
        json!({"extensions": {"hearken": {"changes": [{
            "path": "f.py", "added": 1, "removed": 0, "places": 1, "hunks": hunks}]}}}),
    );
    stage.step_to("Next changes");
    stage.code(SELECT);
    assert!(stage.heard("Added: a"), "{:?}", stage.lines);
    stage.step_to("Earlier changes");
}

#[test]
fn what_was_in_focus_for_one_question_is_nothing_for_another() {
    let mut stage = stage("F7", 0);
    stage.ask("rpl_1");
    stage.step_to("Accept it");
    stage.ask("rpl_2");
    stage.event("awaiting.confirmation", json!({"action": "Send rpl_1", "reply_token": "rpl_3", "risk_level": "low", "urgency": "critical"}));
    stage.press('n');
    stage.wait(1000);
    stage.lines.clear();
    stage.sent.clear();
    stage.code(SELECT);
    assert!(stage.sent.is_empty(), "{:?}", stage.sent);
    stage.assert_heard(phrase!("scan.nothing"));
}

#[test]
fn a_choice_and_a_text_are_given_by_switches() {
    let mut stage = stage("F7", 0);
    stage.event(
        "awaiting.clarification",
        json!({"question": "Which?", "reply_token": "rpl_1", "timeout_seconds": 300, "choices": [
            {"value": "a", "label": "First"}, {"value": "b", "label": "Second"}],
            "accepted_response_kinds": ["multiple_choice", "freetext"], "urgency": "critical"}),
    );
    stage.step_to("Choose option");
    stage.code(SELECT);
    stage.step_to("Second");
    stage.code(SELECT);
    assert_eq!(stage.sent[0].1["response"], "b");
    stage.event(
        "awaiting.clarification",
        json!({"question": "What?", "reply_token": "rpl_2", "timeout_seconds": 300,
            "accepted_response_kinds": ["freetext"], "urgency": "critical"}),
    );
    stage.step_to("Type answer");
    stage.code(SELECT);
    stage.step_to("0 1 2");
    stage.code(SELECT);
    stage.step_to("4");
    stage.code(SELECT);
    stage.assert_heard("4");
    stage.step_to("Send it");
    stage.code(SELECT);
    assert_eq!(stage.sent[1].1["response"], "4");
}

#[test]
fn one_switch_is_enough_when_time_steps() {
    let mut stage = stage("", 2000);
    stage.ask("rpl_1");
    stage.wait(500);
    stage.code(SELECT);
    stage.assert_heard(phrase!("scan.accept"));
    stage.wait(2100);
    stage.assert_heard(phrase!("scan.reject"));
    stage.code(SELECT);
    assert!(stage.sent.is_empty(), "meant for what was there before");
    stage.lines.clear();
    stage.code(SELECT);
    assert!(stage.sent.is_empty(), "the switch bounces");
    stage.assert_heard(phrase!("scan.too_soon"));
    stage.assert_heard(phrase!("scan.accept"));
    // It stays while the reason is heard.
    stage.wait(3500);
    stage.code(SELECT);
    assert_eq!(stage.decision(), Some("accept"));
}

#[test]
fn stepping_by_itself_rests() {
    let mut stage = stage("", 500);
    stage.code(SELECT);
    stage.wait(60_000);
    stage.lines.clear();
    stage.wait(60_000);
    assert!(stage.lines.is_empty(), "{:?}", stage.lines);
}

#[test]
fn a_switch_that_is_held_selects_once() {
    let mut stage = stage("", 2000);
    stage.ask_with("rpl_1", json!({"risk_level": "high", "irreversible": true}));
    stage.wait(1000);
    stage.code(SELECT);
    stage.wait(1000);
    stage.assert_heard(phrase!("scan.accept"));
    // The switch is held down for three seconds, and the keyboard repeats it.
    stage.code(SELECT);
    stage.assert_heard(phrase!("reply.second_step.*"));
    stage.wait(500);
    for _ in 0..75 {
        stage.code(SELECT);
        stage.wait(33);
    }
    assert!(stage.sent.is_empty(), "{:?}", stage.lines);
}

#[test]
fn steps_end_no_second_step() {
    let mut stage = stage("F7", 0);
    stage.ask_with("rpl_1", json!({"risk_level": "high", "irreversible": true}));
    stage.wait(500);
    stage.press('y');
    for _ in 0..3 {
        stage.wait(300);
        stage.code(STEP);
    }
    stage.wait(300);
    stage.press('c');
    assert_eq!(stage.decision(), Some("accept"));
}

#[test]
fn the_items_of_a_question_have_two_words_each_and_the_last_one_told_is_in_focus() {
    let mut stage = stage("F7", 0);
    assert_eq!(stage.app.scanned(), None);
    stage.ask("rpl_1");
    let mut heard = std::collections::BTreeSet::new();
    for _ in 0..20 {
        stage.wait(500);
        stage.code(STEP);
        let told = stage.app.answers().last().unwrap().clone();
        assert_eq!(stage.app.scanned(), Some(told.id));
        assert_eq!(
            told.shown().trim_end_matches('.').split(' ').count(),
            2,
            "{told:?}"
        );
        heard.insert(told.shown());
    }
    assert!(heard.len() > 8, "{heard:?}");
    stage.wait(500);
    stage.code(SELECT);
    assert_eq!(stage.app.scanned(), None, "a selection leaves the focus");
}

/// Returns a stage with an idle agent, and two switches.
fn agent() -> Stage {
    let phrases = Arc::new(Phrases::english().unwrap().scanned());
    let mut stage = super::newcomer::ready_in(phrases, KEYS, Config::default(), 1);
    switch(&mut stage, "F7", 0);
    stage.wait(2000);
    stage.lines.clear();
    stage
}

#[test]
fn an_idle_agent_is_told_a_prepared_prompt_in_two_steps() {
    let mut stage = agent();
    stage.code(STEP);
    assert_eq!(stage.lines, ["Tell agent"]);
    stage.wait(500);
    stage.code(SELECT);
    stage.assert_heard(phrase!("prompt.editing.scan"));
    stage.step_to("Run the tests.");
    stage.code(SELECT);
    assert!(stage.prompts(0).is_empty(), "it is not sent at once");
    stage.wait(500);
    stage.lines.clear();
    stage.code(STEP);
    assert_eq!(stage.lines, ["Send it"]);
    stage.wait(500);
    stage.code(SELECT);
    assert_eq!(stage.prompts(0)[0].1, "Run the tests.");
    // While it works, it can be stopped in two steps.
    stage.step_to("Stop agent");
    stage.code(SELECT);
    stage.assert_heard("Select “Stop agent” once more");
    stage.step_to("Stop agent");
    stage.code(SELECT);
    let cancelled = |(_, body): &(LinkId, Value)| body["method"] == "session/cancel";
    assert!(stage.frames.iter().any(cancelled), "{:?}", stage.frames);
}

#[test]
fn the_persons_own_prompts_take_the_place_of_hearkens() {
    let phrases = Arc::new(Phrases::english().unwrap().scanned());
    let mut config = Config::default();
    config.scanning.prompts = vec!["Feed the cat.".into()];
    let mut stage = super::newcomer::ready_in(phrases, KEYS, config, 1);
    switch(&mut stage, "F7", 0);
    stage.step_to("Tell agent");
    stage.code(SELECT);
    stage.step_to("Feed the cat.");
    stage.code(STEP);
    stage.assert_heard("e t a o i n");
}

#[test]
fn what_is_in_focus_gives_its_place_to_nothing_else() {
    let mut stage = agent();
    stage.step_to("Leave source");
    // The agent begins to work, and everything moves by one.
    stage.type_prompt("do it");
    stage.code(SELECT);
    stage.assert_heard(phrase!("leave.program"));
    assert_eq!(stage.quit, None);
    stage.wait(500);
    stage.step_to("Go back");
    stage.code(SELECT);
    stage.step_to("Stop agent");
    stage.turn_ends();
    stage.lines.clear();
    stage.code(SELECT);
    stage.assert_heard(phrase!("scan.nothing"));
}

#[test]
fn no_sentence_names_a_key_that_switches_do_not_have() {
    let mut stage = agent();
    stage.type_prompt("do it");
    stage.asks(7, json!({"toolCallId": "t1", "title": "Delete it"}));
    let asked = stage.lines.iter().find(|it| it.contains("Delete it"));
    let asked = asked.unwrap();
    assert!(
        asked.ends_with("“Accept it” then “Confirm it”, “Reject it”, “Read details”."),
        "{asked}"
    );
    stage.step_to("Accept it");
    stage.code(SELECT);
    stage.assert_heard("Select “Confirm it” to confirm");
    stage.step_to("Go back");
    stage.code(SELECT);
    stage.step_to("Quit hearken");
    stage.code(SELECT);
    let asked = stage.lines.last().unwrap();
    assert!(
        asked.ends_with("Select “Quit hearken” again to leave, or “Go back” to stay."),
        "{asked}"
    );
    assert_eq!(
        stage.app.scanned_items().unwrap(),
        ["Quit hearken", "Go back"]
    );
}

#[test]
fn every_character_has_a_name_and_the_space_is_told_like_the_others() {
    for language in ["en", "de", "es"] {
        let phrases = Phrases::for_languages(&[language.to_owned()]).unwrap();
        let phrases = Arc::new(phrases.scanned());
        let mut stage = super::newcomer::ready_in(phrases, KEYS, Config::default(), 1);
        switch(&mut stage, "F7", 0);
        stage.press('>');
        let groups = stage.app.scanned_items().unwrap();
        assert!(
            !groups.iter().any(|group| group.contains("  ")),
            "{groups:?}"
        );
    }
    let mut stage = agent();
    stage.press('>');
    stage.step_to("q z space");
    stage.code(SELECT);
    let letters = stage.app.scanned_items().unwrap();
    assert_eq!(
        letters,
        ["q", "z", "space", "dot", "comma", "dash", "Go back"]
    );
    stage.step_to("space");
    stage.code(SELECT);
    assert_eq!(stage.app.cx.editor().0, " ");
}

#[test]
fn the_first_line_says_what_each_switch_does() {
    for (step, words) in [
        ("Space", "Space steps, Enter selects."),
        ("", "Enter selects."),
    ] {
        let phrases = Arc::new(Phrases::english().unwrap().scanned());
        let mut config = Config::default();
        config.scanning.step = step.into();
        config.scanning.select = "Enter".into();
        let stage = Stage::worded(phrases, KeyRing::default(), config, KEYS, vec![]);
        let first = stage.lines.first().unwrap();
        assert!(first.ends_with(&format!(". {words}")), "{first}");
    }
}

#[test]
fn what_is_written_is_sent_by_the_first_item_whatever_was_opened_before() {
    let mut stage = agent();
    stage.press('>');
    let items = |stage: &Stage| stage.app.scanned_items().unwrap();
    let empty = items(&stage);
    assert!(!empty.contains(&"Send it".to_owned()), "{empty:?}");
    stage.step_to("e t a");
    stage.code(SELECT);
    stage.step_to("o");
    stage.code(SELECT);
    let written = items(&stage);
    assert_eq!(written[..2], ["Send it", "e t a o i n"]);
    // A group that is opened in vain changes nothing.
    stage.step_to("0 1 2");
    stage.code(SELECT);
    stage.lines.clear();
    stage.step_to("Go back");
    stage.code(SELECT);
    stage.assert_heard("Send it");
    assert_eq!(items(&stage), written);
    stage.step_to("e t a");
    stage.step_to("Send it");
    stage.code(SELECT);
    assert_eq!(stage.prompts(0)[0].1, "o");
    // Without text there is nothing to send again.
    stage.press('>');
    stage.step_to("e t a");
    stage.code(SELECT);
    stage.step_to("e");
    stage.code(SELECT);
    stage.step_to("Delete last");
    stage.code(SELECT);
    assert!(!items(&stage).contains(&"Send it".to_owned()));
}

#[test]
fn what_is_about_speech_is_offered_where_something_speaks() {
    for (voice, offered) in [
        (SpeechMode::Silent, &[][..]),
        (SpeechMode::LeaveToReader, &["Say again"]),
        (SpeechMode::Speak, &["Stop speech", "Say again"]),
    ] {
        let mut stage = Stage::new(Options { voice, ..KEYS });
        switch(&mut stage, "F7", 0);
        let items = stage.app.scanned_items().unwrap();
        let about_speech = ["Stop speech", "Say again"];
        let found: Vec<&str> = items
            .iter()
            .map(String::as_str)
            .filter(|item| about_speech.contains(item))
            .collect();
        assert_eq!(found, offered, "{items:?}");
        assert!(items.contains(&"Say status".to_owned()), "{items:?}");
    }
}
