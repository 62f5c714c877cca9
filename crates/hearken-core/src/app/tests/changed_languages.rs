//! Load and language, changed during a run.

use super::*;
use crate::announce::VoiceEvent;
use crate::config::{Load, SourceAnnounce};

const SPOKEN: Options = Options {
    manner: AnswerMethod::Lines,
    lines: Some(LineSource::Pipe),
    voice: SpeechMode::Speak,
    until: EndCondition::NoSource,
};

/// Returns a stage with one connected source and a voice, for these languages.
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

/// Types a line, and returns what it makes the voice say, with the language of each utterance.
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
        ("load", "Load: low. Only urgent news"),
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
    keys.assert_heard(phrase!("load.to_high"));
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
    stage.assert_not_heard("One.");
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
    stage.assert_heard(phrase!("own.keeps", source = "planner", value = "low"));
    stage.type_line("language");
    stage.assert_heard("planner behält Französisch, Englisch GB.");
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
    stage.assert_heard("beginnt: Hallo.");
    stage.speak_all();
    let told = voiced(&mut stage, "language");
    // The run began in English, so the engine's own voice speaks it.
    assert_eq!(
        told[0],
        ("Language: English US. Then German.".to_owned(), None)
    );
}

#[test]
fn what_was_said_before_a_change_keeps_its_voice() {
    let mut stage = usual(&["en", "de"]);
    let connected = ("Connected.".to_owned(), None);
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
    stage.app.tuning.set_tongue(Arc::clone(german.tongue()));
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
    stage.assert_heard(phrase!("session.started", summary = "Bonjour"));
}

#[test]
fn what_is_no_language_changes_nothing_and_one_alone_does_not_go_round() {
    let mut stage = usual(&["en"]);
    stage.type_line("language");
    stage.assert_heard(phrase!("language.alone_lines", language = "English"));
    stage.type_line("language German please");
    stage.assert_heard(phrase!("language.unknown", input = "German please"));
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

/// Asks a person who knows these languages a question in English with translations.
fn asked_in(languages: &[&str], kind: &str, mut fields: Value) -> Stage {
    let mut config = Config::default();
    config.announce.languages = languages.iter().map(|tag| (*tag).to_owned()).collect();
    let mut stage = Stage::with(PIPE, config);
    stage.lines.clear();
    fields["localization_hints"] = json!({"primary_language": "en-US", "text_direction": "ltr"});
    fields["reply_token"] = json!("rpl_1");
    fields["timeout_seconds"] = json!(300);
    fields["urgency"] = json!("critical");
    stage.event(kind, fields);
    stage
}

fn languages_of(stage: &Stage) -> Vec<(String, Option<String>)> {
    let mut told = stage.app.history().iter();
    let asked = told
        .find(|told| told.text().starts_with("Question 1."))
        .unwrap();
    let agents = asked
        .segments
        .iter()
        .filter(|it| it.mark == crate::announce::Mark::Agent);
    agents
        .map(|it| {
            (
                it.text().to_owned(),
                it.language.as_deref().map(str::to_owned),
            )
        })
        .collect()
}

fn in_language(text: &str, tag: &str) -> (String, Option<String>) {
    (text.to_owned(), Some(tag.to_owned()))
}

#[test]
fn a_confirmation_is_asked_in_the_persons_language_where_it_was_sent() {
    let fields = json!({"action": "Send the letter", "consequence": "It is gone",
        "action_de": "Den Brief senden", "consequence_de": "Er ist weg", "action_fr": "Envoyer la lettre",
        "risk_level": "low", "irreversible": false});
    let kind = "awaiting.confirmation";
    let stage = asked_in(&["de-AT", "en"], kind, fields.clone());
    assert_eq!(
        languages_of(&stage),
        [
            in_language("Den Brief senden", "de"),
            in_language("Er ist weg", "de")
        ]
    );
    stage.assert_heard(phrase!("question.part.consequence", text = "Er ist weg"));
    let stage = asked_in(&["en-GB", "de"], kind, fields.clone());
    assert_eq!(
        languages_of(&stage),
        [
            in_language("Send the letter", "en-US"),
            in_language("It is gone", "en-US")
        ]
    );
    // Text that does not exist in that language is marked with its own language.
    let stage = asked_in(&["fr"], kind, fields.clone());
    assert_eq!(
        languages_of(&stage),
        [
            in_language("Envoyer la lettre", "fr"),
            in_language("It is gone", "en-US")
        ]
    );
    stage.assert_heard("If accepted, in English: It is gone");
    // So is a summary in a language other than that of the action.
    let mut mixed = fields;
    mixed["action_de"] = json!(null);
    mixed["summary_detailed"] = json!("All of it");
    mixed["summary_detailed_de"] = json!("Alles davon");
    let mut stage = asked_in(&["de"], kind, mixed);
    stage.type_line("d 1");
    stage.assert_heard("Why, in German: Alles davon");
}

#[test]
fn a_clarification_is_asked_and_answered_in_the_persons_language() {
    let kind = "awaiting.clarification";
    for choices in [
        json!([{"value": "s", "label": "small", "label_de": "klein"},
               {"value": "l", "label": "large", "label_de": "gro\u{df}"}]),
        json!(["s", "l"]),
    ] {
        let fields = json!({"question": "Which size?", "question_de": "Welche Gr\u{f6}\u{df}e?",
            "context": "Two fit", "choices": choices, "choices_de": ["klein", "gro\u{df}"]});
        let mut stage = asked_in(&["de"], kind, fields);
        stage.assert_heard("Welche Gr\u{f6}\u{df}e?");
        stage.assert_heard("Choice 2: gro\u{df}.");
        stage.assert_heard("Why, in English: Two fit");
        stage.wait(2500);
        stage.type_line("a 1 gro\u{df}");
        stage.type_line("a gro\u{df}");
        assert_eq!(
            stage.sent[0].1["response"], "l",
            "what is sent stays the producer's"
        );
    }
}

#[test]
fn a_variant_brings_its_direction() {
    let fields = json!({"action": "Send", "action_he": "API \u{5e9}\u{5dc}\u{5d7}",
        "risk_level": "low", "irreversible": false});
    let stage = asked_in(&["he"], "awaiting.confirmation", fields.clone());
    let direction = |stage: &Stage| {
        let question = stage.app.question(QuestionId(1)).unwrap();
        question.direction
    };
    assert_eq!(direction(&stage), Some(crate::protocol::TextDirection::Rtl));
    let stage = asked_in(&["en"], "awaiting.confirmation", fields);
    assert_eq!(direction(&stage), Some(crate::protocol::TextDirection::Ltr));
    // The same holds for a summary.
    let mut stage = asked_in(&["he"], "awaiting.confirmation", json!({"action": "Send"}));
    stage.event(
        "session.started",
        json!({"session_id": "sess_2", "summary_normal": "Go", "summary_normal_he": "API \u{5e9}\u{5dc}",
               "localization_hints": {"primary_language": "en", "text_direction": "ltr"}}),
    );
    let mut told = stage.app.history().iter();
    let told = told.find(|told| told.text().contains("API")).unwrap();
    assert_eq!(told.direction, Some(crate::protocol::TextDirection::Rtl));
}
