//! Whose words are announced, if several agents speak.

use super::*;

#[test]
fn the_agent_is_named_when_there_are_several() {
    let mut stage = Stage::new(Options {
        voice: SpeechMode::Speak,
        ..KEYS
    });
    stage.input(Input::Voice(VoiceEvent::Ready {
        engine: "test".into(),
    }));
    stage.speak_all();
    stage.event("session.started", json!({"summary_normal": "First"}));
    stage.speak_all();
    assert!(!stage.spoken.iter().any(|(_, text)| text == "Mailer:"));
    stage.event(
        "session.started",
        json!({"summary_normal": "Second", "producer": {"agent_id": "b", "agent_name": "Banker"}}),
    );
    stage.speak_all();
    // An agent that the words name is not named again.
    assert!(!stage.spoken.iter().any(|(_, text)| text == "Banker:"));
    stage.event("progress.updated", json!({"summary_normal": "Third"}));
    stage.speak_all();
    assert!(stage.spoken.iter().any(|(_, text)| text == "Mailer:"));
}

#[test]
fn agents_that_share_a_name_are_told_apart() {
    let mut stage = Stage::new(PIPE);
    stage.event_on(0, "session.started", json!({"summary_normal": "One"}));
    stage.event_on(1, "session.started", json!({"summary_normal": "Two"}));
    stage.event_on(0, "session.completed", json!({"summary_normal": "Done"}));
    let agents: Vec<_> = stage
        .app
        .history()
        .iter()
        .filter_map(|told| told.agent.as_deref().map(str::to_owned))
        .collect();
    assert_eq!(
        agents,
        ["Mailer", "Mailer of source 2", "Mailer of source 1"]
    );
    stage.type_line("t");
    stage.assert_heard("Mailer of source 2: working");
}

#[test]
fn an_agent_that_is_called_like_hearken_is_announced_as_one() {
    for name in [
        "hearken",
        "hearken 2",
        "hearken says",
        "Danger",
        "Question",
        "Quest\u{456}on",
    ] {
        let mut stage = Stage::new(PIPE);
        stage.event(
            "session.started",
            json!({"summary_normal": "One", "producer": {"agent_id": "x", "agent_name": name}}),
        );
        let told = stage.app.history().iter().last().unwrap();
        let agent = told.agent.as_deref().unwrap();
        assert!(agent.starts_with("agent "), "{name:?}: {agent:?}");
    }
}
