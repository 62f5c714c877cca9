//! Sources with their own announcement settings, and the effect of a key on these.

use super::*;
use crate::config::{Load, SourceAnnounce, Verbosity};

const SPOKEN: Options = Options {
    manner: AnswerMethod::Lines,
    lines: Some(LineSource::Pipe),
    voice: SpeechMode::Speak,
    until: EndCondition::NoSource,
};

/// Returns a stage with two connected sources and a voice: "plain" with the general settings, and "own".
fn stage(own: SourceAnnounce) -> Stage {
    let source = |name: &str, announce: SourceAnnounce| SourceSetup {
        name: name.into(),
        answerable: true,
        announce,
        ..SourceSetup::default()
    };
    let sources = vec![
        source("plain", SourceAnnounce::default()),
        source("own", own),
    ];
    let mut stage = Stage::of(SPOKEN, sources);
    stage.input(Input::Voice(VoiceEvent::Ready {
        engine: "memory".into(),
    }));
    for link in 0..2 {
        stage.link(link, LinkEvent::Connected);
    }
    stage.speak_all();
    stage.lines.clear();
    stage.spoken.clear();
    stage
}

/// Has both sources send the same event, each under a different agent name.
fn both(stage: &mut Stage, kind: &str, fields: &Value) {
    for link in 0..2 {
        let mut fields = fields.clone();
        fields["producer"] =
            json!({"agent_id": format!("a{link}"), "agent_name": format!("Agent {link}")});
        stage.event_on(link, kind, fields);
    }
    stage.speak_all();
}

#[test]
fn the_verbosity_of_a_source_is_its_own_and_stays_so() {
    let mut stage = stage(SourceAnnounce {
        verbosity: Some(Verbosity::Terse),
        ..SourceAnnounce::default()
    });
    let started = json!({"summary_terse": "Short.", "summary_normal": "Middle.", "summary_detailed": "Long."});
    both(&mut stage, "session.started", &started);
    assert_eq!(
        stage.lines,
        ["Agent 0 started: Middle.", "Agent 1 started: Short."]
    );
    stage.lines.clear();
    stage.type_line("v");
    assert_eq!(stage.lines, ["Verbosity: detailed. own keeps terse."]);
    stage.lines.clear();
    let tool = json!({"tool": "look_up", "tool_call_id": "call_1", "summary_terse": "Short.",
                      "summary_normal": "Middle.", "summary_detailed": "Long."});
    both(&mut stage, "tool.invoked", &tool);
    assert!(stage.lines[0].starts_with("Long."), "{:?}", stage.lines);
    assert_eq!(stage.lines[1], "Short.");
    // A source that was left no longer keeps its settings.
    stage.link(1, LinkEvent::Ended);
    stage.lines.clear();
    stage.type_line("v");
    assert_eq!(stage.lines, ["Verbosity: terse."]);
}

#[test]
fn a_question_is_asked_in_full_whatever_the_sources_own_settings() {
    let mut stage = stage(SourceAnnounce {
        verbosity: Some(Verbosity::Terse),
        load: Some(Load::Low),
        quiet: true,
        ..SourceAnnounce::default()
    });
    stage.event_on(
        1,
        "awaiting.confirmation",
        json!({"action": "Send it", "consequence": "It is gone", "reply_token": "t", "timeout_seconds": 300,
               "default_decision": "reject", "urgency": "critical"}),
    );
    stage.speak_all();
    let said = stage.spoken.iter().map(|(_, text)| text.as_str());
    let said = said.collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("Send it") && said.contains("It is gone"),
        "{said}"
    );
}

#[test]
fn the_load_of_a_source_is_its_own() {
    let mut stage = stage(SourceAnnounce {
        load: Some(Load::Low),
        ..SourceAnnounce::default()
    });
    both(
        &mut stage,
        "session.started",
        &json!({"summary_normal": "Off."}),
    );
    let chunk = json!({"chunk": "One. Two. ", "output_id": "o", "coalesce_hint": "sentence"});
    both(&mut stage, "output.streaming", &chunk);
    let spoken: Vec<&str> = stage.spoken.iter().map(|(_, text)| text.as_str()).collect();
    let told = spoken.join(" ");
    assert!(
        phrase!("session.started", agent = "Agent 0", summary = "Off").is_in(&told)
            && told.contains("One."),
        "{told}"
    );
    assert!(
        !told.contains("Agent 1"),
        "under low load neither starts nor parts are said: {told}"
    );
    assert!(
        stage.heard(phrase!(
            "session.started",
            agent = "Agent 1",
            summary = "Off"
        )),
        "it is shown"
    );
}

#[test]
fn the_languages_of_a_source_are_its_own() {
    let mut stage = stage(SourceAnnounce {
        languages: Some(vec!["de".into()]),
        ..SourceAnnounce::default()
    });
    let started = json!({"summary_normal": "Hello.", "summary_normal_de": "Hallo.",
                         "localization_hints": {"primary_language": "en"}});
    both(&mut stage, "session.started", &started);
    assert_eq!(
        stage.lines,
        ["Agent 0 started: Hello.", "Agent 1 started: Hallo."]
    );
}

#[test]
fn a_quiet_source_is_shown_and_each_of_its_agents_can_be_heard_again() {
    let mut stage = stage(SourceAnnounce {
        quiet: true,
        ..SourceAnnounce::default()
    });
    let words = |stage: &Stage| -> String {
        let words: Vec<&str> = stage.spoken.iter().map(|(_, text)| text.as_str()).collect();
        words.join(" ")
    };
    both(
        &mut stage,
        "session.started",
        &json!({"summary_normal": "Off."}),
    );
    assert!(!words(&stage).contains("Agent 1"), "{}", words(&stage));
    assert_eq!(stage.lines.len(), 2, "both are shown");
    stage.type_line("m");
    stage.assert_heard(phrase!("mute.off", agent = "Agent 1"));
    let tool = json!({"tool": "look_up", "tool_call_id": "call_1"});
    both(&mut stage, "tool.invoked", &tool);
    assert!(words(&stage).contains("Agent 1"), "{}", words(&stage));
}
