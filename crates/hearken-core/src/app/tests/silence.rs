//! What is announced while nothing happens, and what is left out while the person wants quiet.

use super::*;

#[test]
fn a_silent_agent_that_works_is_heard_to_be_working() {
    let mut stage = Stage::new(VOICE);
    stage.voiced();
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    stage.speak_all();
    stage.spoken.clear();
    stage.wait(2_999);
    assert!(stage.spoken.is_empty());
    let lines = stage.lines.len();
    stage.wait(1);
    assert_eq!(stage.said(), ["Working."]);
    stage.speak_all();
    stage.wait(4_900);
    assert_eq!(stage.said(), ["Working."]);
    // An announcement restarts the count, and an ended agent does not beat.
    stage.event("session.completed", json!({"summary_normal": "Done"}));
    stage.speak_all();
    stage.wait(60_000);
    assert!(
        !stage.said()[1..]
            .iter()
            .any(|line| *line == phrase!("heartbeat")),
        "{:?}",
        stage.said()
    );
    assert_eq!(stage.lines.len(), lines + 1, "a beat is no line");
    assert!(
        stage
            .app
            .history()
            .iter()
            .all(|told| told.kind != AnnouncementKind::Heartbeat)
    );
}

#[test]
fn where_a_tick_is_heard_it_comes_every_five_seconds_and_a_word_ever_more_rarely() {
    for (heard, wanted) in [(true, 6), (false, 3)] {
        let mut stage = Stage::new(VOICE);
        stage.voiced();
        stage.input(Input::Voice(VoiceEvent::Cues { heard }));
        stage.event("session.started", json!({"summary_normal": "Off we go"}));
        stage.speak_all();
        stage.spoken.clear();
        for _ in 0..290 {
            stage.wait(100);
            stage.speak_all();
        }
        assert_eq!(stage.said(), vec!["Working."; wanted], "heard: {heard}");
    }
    let mut config = crate::config::Config::default();
    config.voice.cues.tick = false;
    let mut signals = Signals::new(VoiceState::Checking);
    signals.cues_heard(true);
    assert_eq!(
        signals.beat(&config.voice.cues),
        Beat::Word,
        "an off switch leaves the word"
    );
}

#[test]
fn no_heart_beats_while_a_question_waits_or_quiet_is_wanted_or_nothing_came_for_long() {
    let mut stage = Stage::new(VOICE);
    stage.voiced();
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    stage.ask("rpl_1");
    stage.speak_all();
    stage.spoken.clear();
    stage.wait(20_000);
    assert!(
        !stage
            .said()
            .iter()
            .any(|line| *line == phrase!("heartbeat")),
        "it waits for the person"
    );
    let mut stage = Stage::new(VOICE);
    stage.voiced();
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    stage.press('k');
    stage.speak_all();
    stage.spoken.clear();
    stage.wait(20_000);
    assert!(stage.spoken.is_empty(), "{:?}", stage.said());
    stage.press('k');
    stage.speak_all();
    stage.spoken.clear();
    for _ in 0..300 {
        stage.wait(5_000);
        stage.speak_all();
    }
    let beats = stage.said().len();
    assert!(
        (14..=22).contains(&beats),
        "{beats} beats in 25 minutes: none after ten"
    );
}

#[test]
fn a_muted_agent_is_silent_but_for_what_is_urgent() {
    let mut stage = Stage::new(VOICE);
    stage.voiced();
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    stage.press('m');
    stage.assert_heard(phrase!("mute.on", agent = "Mailer"));
    stage.speak_all();
    stage.spoken.clear();
    stage.chunk("A long story. ");
    stage.event(
        "tool.completed",
        json!({"tool": "x", "status": "error", "summary_normal": "No"}),
    );
    assert!(stage.heard("A long story."), "it is shown");
    assert!(stage.spoken.is_empty(), "{:?}", stage.said());
    stage.ask("rpl_1");
    stage.speak_all();
    assert!(stage.said().contains(&"Send rpl 1"), "{:?}", stage.said());
    stage.press('m');
    stage.assert_heard(phrase!("mute.off", agent = "Mailer"));
}

#[test]
fn quiet_cuts_what_is_said_and_lets_questions_through() {
    let mut stage = Stage::new(VOICE);
    stage.voiced();
    stage.chunk("One. Two. Three. ");
    assert_eq!(
        stage.said().last(),
        Some(&"Already running when hearken connected.")
    );
    stage.press('k');
    stage.assert_heard(phrase!("quiet.on"));
    let id = stage.spoken[0].0;
    stage.input(Input::Voice(VoiceEvent::Cut(id)));
    stage.speak_all();
    assert!(!stage.said().contains(&"Two."), "{:?}", stage.said());
    stage.ask("rpl_1");
    stage.speak_all();
    assert!(stage.said().contains(&"Send rpl 1"), "{:?}", stage.said());
}

#[test]
fn what_is_urgent_waits_two_seconds_at_most_when_nothing_may_be_interrupted() {
    let mut stage = Stage::new(VOICE);
    stage.voiced();
    stage.press('i');
    stage.speak_all();
    stage.spoken.clear();
    stage.chunk("A sentence that goes on for a while. ");
    stage.speak_all();
    stage.spoken.clear();
    stage.chunk("Another one. And one more. ");
    assert_eq!(stage.said(), ["Another one."]);
    stage.ask("rpl_1");
    assert_eq!(stage.said(), ["Another one."], "it is not cut");
    stage.wait(2_000);
    let id = stage.spoken[0].0;
    stage.input(Input::Voice(VoiceEvent::Cut(id)));
    assert!(
        stage.said()[1].starts_with("Question 1."),
        "two seconds are enough"
    );
}

/// Returns whether the last state is spoken, not only shown.
fn says_the_last_state(stage: &Stage) -> bool {
    let mut told = stage.app.history().iter().rev();
    let state = told.find(|told| told.kind == AnnouncementKind::State);
    state.is_some_and(|state| state.aloud == Presentation::Spoken)
}

#[test]
fn a_state_right_behind_words_of_its_session_is_not_said_however_many_others_spoke_between() {
    for others in [0, 1, 200] {
        let mut stage = Stage::new(PIPE);
        let tool = |stage: &mut Stage, session: usize| {
            stage.event(
                "tool.invoked",
                json!({"tool": "look_up", "tool_call_id": format!("call_{session}"), "summary_normal": "Looking it up",
                    "session_id": format!("sess_{session}")}),
            );
        };
        let enters = |stage: &mut Stage, from: &str, to: &str| {
            stage.event("state.changed", json!({"from_state": from, "to_state": to}));
            says_the_last_state(stage)
        };
        tool(&mut stage, 1);
        (2..2 + others).for_each(|session| tool(&mut stage, session));
        let said = enters(&mut stage, "idle", "deciding");
        assert!(!said, "{others} others: {:?}", stage.read);
        stage.now = stage.now.after(Duration::from_millis(2_999));
        let said = enters(&mut stage, "deciding", "thinking");
        assert!(!said, "{others} others, and too soon: {:?}", stage.read);
        stage.now = stage.now.after(Duration::from_millis(1));
        let said = enters(&mut stage, "thinking", "deciding");
        assert!(said, "{others} others, after a pause: {:?}", stage.read);
    }
}

/// A state under the producer's own name is news; each sentence about one is heard, and none replaces another.
#[test]
fn states_of_the_producers_own_are_said_however_soon_they_come() {
    let mut stage = Stage::new(PIPE);
    stage.event("session.started", json!({"summary_normal": "At work"}));
    let mut enters = |from: &str, to: &str, fields: serde_json::Value| {
        let mut all = json!({"from_state": from, "to_state": to});
        for (name, value) in fields.as_object().unwrap() {
            all[name] = value.clone();
        }
        stage.event("state.changed", all);
        says_the_last_state(&stage)
    };
    assert!(!enters("idle", "thinking", json!({})));
    assert!(enters("thinking", "haggling", json!({})));
    // The same state again says nothing new, unless in a sentence.
    assert!(!enters("haggling", "haggling", json!({})));
    for words in ["They ask for 14.", "They ask for 12."] {
        let fields = json!({"summary_normal": words});
        assert!(enters("haggling", "haggling", fields), "{words}");
    }
}
