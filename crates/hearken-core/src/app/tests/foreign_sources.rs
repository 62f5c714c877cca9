//! Sources that send something other than AAEP.

use super::*;

const OPENCODE: &str = r#"{"type":"message.part.updated","properties":{"part":{"text":"Hi"}}}"#;

fn frame(stage: &mut Stage, text: &str) {
    let text = text.to_owned();
    stage.link(0, LinkEvent::Frame(Frame::of(text)));
}

fn one_source() -> Stage {
    let mut stage = Stage::of(
        PIPE,
        vec![SourceSetup {
            name: "one".into(),
            ..SourceSetup::default()
        }],
    );
    stage.link(0, LinkEvent::Connected);
    stage.lines.clear();
    stage
}

#[test]
fn what_is_not_aaep_is_told_once_and_never_as_an_agent() {
    let mut stage = one_source();
    for _ in 0..5 {
        frame(&mut stage, OPENCODE);
    }
    assert_eq!(
        stage.lines,
        ["What one sends is not AAEP so far. It looks like events of opencode."]
    );
    assert_eq!(stage.app.sessions().iter().count(), 0);
    stage.link(0, LinkEvent::Ended);
    stage.wait(1000);
    assert_eq!(stage.quit, Some(Exit::NoSource));
}

#[test]
fn a_source_of_which_nothing_is_aaep_is_left() {
    let mut stage = one_source();
    for _ in 0..200 {
        frame(&mut stage, "<!doctype html>");
    }
    assert_eq!(
        stage.lines,
        [
            "What one sends is not AAEP so far. It looks like a web page.",
            "one is left, because nothing that it sends is AAEP.",
        ]
    );
    stage.wait(1000);
    assert_eq!(stage.quit, Some(Exit::NoSource));
}

#[test]
fn aaep_beside_something_else_is_followed() {
    let mut stage = Stage::new(PIPE);
    frame(&mut stage, "Compiling agent v0.1.0");
    stage.event("session.started", json!({"summary_normal": "Hello"}));
    for _ in 0..100 {
        frame(&mut stage, "Compiling agent v0.1.0");
    }
    stage.assert_heard("Hello");
    assert_eq!(
        stage
            .lines
            .iter()
            .filter(|line| line.contains("AAEP"))
            .count(),
        1
    );
    // An unknown type of AAEP is not foreign (3.2.2).
    stage.event(
        "purple.flamingo",
        json!({"summary_normal": "A flamingo passes."}),
    );
    stage.assert_heard("A flamingo passes.");

    let mut stage = Stage::new(PIPE);
    stage.event("session.started", json!({"summary_normal": "Hello"}));
    for _ in 0..100 {
        frame(&mut stage, OPENCODE);
    }
    let told = "Something that one sent is not AAEP. It looks like events of opencode. Everything else goes on.";
    assert_eq!(stage.lines.iter().filter(|line| *line == told).count(), 1);
}

#[test]
fn what_an_agent_keeps_of_its_conversations_is_named_once_with_the_way_to_hear_that_agent() {
    const ROLLOUT: &str =
        r#"{"timestamp":"t","type":"event_msg","payload":{"type":"agent_message"}}"#;
    let mut stage = one_source();
    for _ in 0..5 {
        frame(&mut stage, ROLLOUT);
    }
    assert_eq!(
        stage.lines,
        [
            "one holds a rollout of Codex, which hearken can't read. To hear Codex, start it with hearken run codex."
        ]
    );
    stage.link(0, LinkEvent::Ended);
    stage.wait(1000);
    assert_eq!(stage.quit, Some(Exit::NoSource));
    // Its first lines may look like nothing in particular.
    let mut stage = one_source();
    frame(&mut stage, r#"{"type":"last-prompt","sessionId":"s"}"#);
    frame(
        &mut stage,
        r#"{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{"role":"user"}}"#,
    );
    stage.assert_heard(phrase!(
        "link.kept.claude",
        source = "one",
        what = "a transcript of Claude Code"
    ));
    stage.assert_heard("hearken hooks install claude");
    // Beside AAEP, it is just another message in something else.
    let mut stage = Stage::new(PIPE);
    stage.event("session.started", json!({"summary_normal": "Working"}));
    frame(&mut stage, ROLLOUT);
    stage.assert_heard(phrase!("link.foreign.some", what = "a rollout of Codex"));
    stage.assert_not_heard("hearken run codex");
}

fn recording(text: &str) -> Stage {
    let mut stage = Stage::of(
        PIPE,
        vec![SourceSetup {
            name: "one".into(),
            recording: Some(Recording::default()),
            ..SourceSetup::default()
        }],
    );
    stage.link(0, LinkEvent::Connected);
    stage.lines.clear();
    text.lines().for_each(|line| frame(&mut stage, line));
    stage.link(0, LinkEvent::Ended);
    stage
}

#[test]
fn what_an_agent_saved_over_many_lines_is_named() {
    for (saved, name) in [
        (
            json!({"info": {"id": "ses_1", "title": "T"}, "messages": [{"info": {"role": "user"}, "parts": []}]}),
            "opencode",
        ),
        (
            json!({"sessionId": "s", "projectHash": "h", "messages": [{"type": "user", "content": "Hi"}]}),
            "Gemini CLI",
        ),
    ] {
        let stage = recording(&serde_json::to_string_pretty(&saved).unwrap());
        assert!(stage.lines[0].contains(name), "{:?}", stage.lines);
        for wrong in ["plain text", "can't be understood"] {
            stage.assert_not_heard(wrong);
        }
    }
}

#[test]
fn an_object_over_many_lines_that_nobody_saves_is_still_told() {
    let pretty = serde_json::to_string_pretty(&json!({"a": 1, "b": [1, 2]})).unwrap();
    let stage = recording(&pretty);
    assert!(phrase!("anomaly.undecodable", source = "one").is_in(&stage.lines[0]));
    stage.assert_heard(phrase!("foreign.text"));
    let long = vec![json!({"a": 1}); 40];
    let stage = recording(&serde_json::to_string_pretty(&long).unwrap());
    assert!(phrase!("anomaly.undecodable", source = "one").is_in(&stage.lines[0]));
}
