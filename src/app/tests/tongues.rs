//! Load and language, changed while a run lasts.

use super::*;
use crate::config::{Load, SourceAnnounce};
use crate::voice::VoiceEvent;

const SPOKEN: Options = Options {
    manner: Manner::Lines,
    lines: Some(LineSource::Pipe),
    voice: VoiceWish::Speak,
    until: Until::NoSource,
};

/// One connected source with a voice, under certain languages.
fn stage(languages: &[&str], own: SourceAnnounce) -> Stage {
    let mut config = Config::default();
    config.announce.languages = languages.iter().map(|tag| (*tag).to_owned()).collect();
    let source = SourceSetup {
        name: "planner".into(),
        answerable: true,
        announce: own,
        ..SourceSetup::default()
    };
    let mut stage = Stage::under(config, SPOKEN, vec![source]);
    stage.input(Input::Voice(VoiceEvent::Ready {
        engine: "memory".into(),
    }));
    stage.link(0, LinkEvent::Connected);
    stage.speak_all();
    stage.lines.clear();
    stage.spoken.clear();
    stage
}

fn usual(languages: &[&str]) -> Stage {
    stage(languages, SourceAnnounce::default())
}

/// Takes a line, and gives what it has the voice say, with the language of each.
fn voiced(stage: &mut Stage, line: &str) -> Vec<(String, Option<String>)> {
    let read = stage.now.monotonic;
    let mut spoken = Vec::new();
    let mut inputs = vec![Input::Line {
        text: line.into(),
        read,
    }];
    while let Some(input) = inputs.pop() {
        for effect in stage.app.update(input, stage.now) {
            if let Effect::Speak(utterance) = effect {
                inputs.push(Input::Voice(VoiceEvent::Ended(utterance.id)));
                spoken.push((utterance.text, utterance.language));
            }
        }
    }
    spoken
}

#[test]
fn the_load_goes_round_by_a_key_and_to_a_level_by_a_line() {
    let mut stage = usual(&["en"]);
    for (line, words) in [
        ("j", "Load: high."),
        ("load", "Load: low. Only what is urgent"),
        ("j", "Load: medium."),
        ("load low", "Load: low."),
        ("load low", "Load: low."),
    ] {
        stage.lines.clear();
        stage.type_line(line);
        assert_eq!(stage.lines.len(), 1, "{:?}", stage.lines);
        assert!(stage.lines[0].starts_with(words), "{:?}", stage.lines);
    }
    assert_eq!(stage.app.announcer().load_of(LinkId(0)), Load::Low);
    let mut keys = Stage::new(KEYS);
    keys.press('j');
    assert!(keys.heard("Load: high."), "{:?}", keys.lines);
}

#[test]
fn a_new_load_holds_at_once_and_frees_the_text_that_waited() {
    let mut stage = usual(&["en"]);
    stage.type_line("load low");
    stage.event("session.started", json!({"summary_normal": "Off."}));
    let chunk = json!({"chunk": "One. Two. Thr", "output_id": "out_1", "complete": false});
    stage.event("output.streaming", chunk);
    stage.speak_all();
    let words = |stage: &Stage| -> String {
        let words: Vec<&str> = stage.spoken.iter().map(|(_, text)| text.as_str()).collect();
        words.join(" ")
    };
    assert!(!words(&stage).contains("Off."), "{}", words(&stage));
    assert!(!stage.heard("One."), "{:?}", stage.lines);
    stage.type_line("load medium");
    stage.speak_all();
    assert!(words(&stage).contains("One. Two."), "{}", words(&stage));
    let call =
        json!({"tool": "look_up", "tool_call_id": "call_1", "summary_normal": "Looking it up."});
    stage.event("tool.invoked", call);
    stage.speak_all();
    assert!(
        words(&stage).contains("Looking it up."),
        "{}",
        words(&stage)
    );
}

#[test]
fn a_source_with_a_load_or_languages_of_its_own_keeps_them_and_is_named() {
    let own = SourceAnnounce {
        load: Some(Load::Low),
        languages: Some(vec!["fr".into(), "en-GB".into()]),
        ..SourceAnnounce::default()
    };
    let mut stage = stage(&["en", "de"], own);
    stage.type_line("j");
    assert!(stage.heard("planner keeps low."), "{:?}", stage.lines);
    stage.type_line("language");
    assert!(
        stage.heard("planner behält Französisch, Englisch GB."),
        "{:?}",
        stage.lines
    );
    let tags = stage.app.announcer().languages_of(LinkId(0));
    assert_eq!(tags, ["fr", "en-GB"]);
}

#[test]
fn the_language_goes_round_and_takes_words_texts_and_voice_with_it() {
    let mut stage = usual(&["en-US", "de"]);
    let told = voiced(&mut stage, "language");
    assert_eq!(
        told,
        [(
            "Sprache: Deutsch. Danach Englisch US.".to_owned(),
            Some("de".to_owned())
        )]
    );
    let started = json!({"summary_normal": "Hello.", "summary_normal_de": "Hallo.",
                         "localization_hints": {"primary_language": "en"}});
    stage.event("session.started", started);
    assert!(stage.heard("Begonnen: Hallo."), "{:?}", stage.lines);
    stage.speak_all();
    let told = voiced(&mut stage, "language");
    // English began the run, so the engine's own voice speaks it.
    assert_eq!(
        told[0],
        ("Language: English US. Then German.".to_owned(), None)
    );
}

#[test]
fn what_was_said_before_a_change_keeps_its_voice() {
    let mut stage = usual(&["en", "de"]);
    let connected = (
        "Connected to planner, without a handshake.".to_owned(),
        None,
    );
    assert_eq!(
        voiced(&mut stage, "again"),
        std::slice::from_ref(&connected)
    );
    voiced(&mut stage, "language");
    assert_eq!(voiced(&mut stage, "again"), [connected]);
    let link_ended = Input::Link {
        link: LinkId(0),
        event: LinkEvent::Ended,
    };
    stage.input(link_ended);
    stage.speak_all();
    voiced(&mut stage, "language");
    let told = voiced(&mut stage, "again");
    assert_eq!(
        told,
        [("planner ist zu Ende.".to_owned(), Some("de".to_owned()))],
        "German words keep their German voice"
    );
}

#[test]
fn english_is_asked_for_where_the_engine_may_speak_another_language_by_itself() {
    let mut stage = usual(&["de", "en-GB"]);
    let german = Phrases::for_languages(&["de".into()]).unwrap();
    stage.app.tongue = Arc::clone(german.tongue());
    let told = voiced(&mut stage, "language");
    assert_eq!(
        told,
        [(
            "Language: English GB. Then German.".to_owned(),
            Some("en-GB".to_owned())
        )]
    );
}

#[test]
fn a_language_without_words_of_ours_is_heard_from_agents_and_that_is_said() {
    let mut stage = usual(&["en", "de"]);
    stage.type_line("language fr");
    assert_eq!(
        stage.lines,
        ["Language: French. Then English, German. hearken's own words are English."]
    );
    let started = json!({"summary_normal": "Hello.", "summary_normal_fr": "Bonjour.",
                         "localization_hints": {"primary_language": "en"}});
    stage.event("session.started", started);
    assert!(stage.heard("Started: Bonjour."), "{:?}", stage.lines);
}

#[test]
fn what_is_no_language_changes_nothing_and_one_alone_does_not_go_round() {
    let mut stage = usual(&["en"]);
    stage.type_line("language");
    assert!(stage.heard("English is your only language. Type language"));
    stage.type_line("language German please");
    assert!(
        stage.heard("German please is no language."),
        "{:?}",
        stage.lines
    );
    assert_eq!(stage.app.announcer().languages_of(LinkId(0)), ["en"]);
    for number in 0..40 {
        let (one, two) = (
            char::from(b'a' + number / 26),
            char::from(b'a' + number % 26),
        );
        stage.type_line(&format!("language q{one}{two}"));
    }
    assert!(stage.app.announcer().languages_of(LinkId(0)).len() <= 16);
}
