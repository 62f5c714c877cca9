//! What reaches the voice and the lines under low load.

use super::*;
use crate::config::Load;

const LOW: Options = Options {
    manner: AnswerMethod::Lines,
    lines: Some(LineSource::Pipe),
    voice: SpeechMode::Speak,
    until: EndCondition::NoSource,
};

#[test]
fn low_load_speaks_what_is_critical_endings_and_whole_outputs_and_shows_the_rest() {
    let mut config = Config::default();
    config.announce.load = Load::Low;
    config.announce.verbosity = crate::config::Verbosity::Detailed;
    let mut stage = Stage::with(LOW, config);
    stage.input(Input::Voice(VoiceEvent::Ready {
        engine: "memory".into(),
    }));
    stage.speak_all();
    stage.spoken.clear();
    stage.lines.clear();
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    stage.event(
        "state.changed",
        json!({"from_state": "idle", "to_state": "thinking"}),
    );
    stage.event(
        "tool.invoked",
        json!({"tool": "look_up", "tool_call_id": "c1"}),
    );
    stage.event(
        "progress.updated",
        json!({"message": "Halfway", "percent": 50}),
    );
    stage.event(
        "tool.completed",
        json!({"tool": "look_up", "tool_call_id": "c1", "status": "success"}),
    );
    stage.speak_all();
    assert!(stage.spoken.is_empty(), "{:?}", stage.said());
    for shown in ["Off we go", "look up"] {
        assert!(stage.heard(shown), "{shown} in {:?}", stage.lines);
    }
    // An output is announced once it is complete, without loss.
    stage.chunk("First part. Second part. ");
    stage.speak_all();
    assert!(stage.spoken.is_empty(), "{:?}", stage.said());
    stage.event(
        "output.streaming",
        json!({"chunk": "The end.", "complete": true, "output_id": "out_1"}),
    );
    stage.speak_all();
    let said = stage.said().join(" ");
    assert!(
        said.contains("First part. Second part. The end."),
        "{said:?}"
    );
    // A critical chunk does not wait for the end of its output, nor for the end of its sentence.
    stage.event(
        "output.streaming",
        json!({"chunk": "Looking at the disk. ", "output_id": "out_2"}),
    );
    stage.speak_all();
    assert!(!stage.said().concat().contains("Looking"));
    stage.spoken.clear();
    stage.lines.clear();
    stage.event(
        "output.streaming",
        json!({"chunk": "The disk is full. Nothing can be", "output_id": "out_2", "urgency": "critical"}),
    );
    stage.speak_all();
    assert_eq!(
        stage.said(),
        ["Looking at the disk.", "The disk is full."],
        "{:?}",
        stage.lines
    );
    stage.event(
        "output.streaming",
        json!({"chunk": " saved. ", "output_id": "out_2"}),
    );
    stage.wait(3000);
    stage.speak_all();
    assert!(
        stage.said().concat().contains("Nothing can be saved."),
        "{:?}",
        stage.said()
    );
    // Critical announcements are spoken immediately and in full.
    stage.ask("rpl_1");
    stage.speak_all();
    let said = stage.said().join(" ");
    assert!(said.contains("Send rpl 1"), "{said:?}");
    stage.wait(20_000);
    stage.type_line("n");
    stage.event(
        "state.changed",
        json!({"from_state": "awaiting_input", "to_state": "thinking"}),
    );
    stage.speak_all();
    stage.spoken.clear();
    stage.event(
        "session.completed",
        json!({"summary_terse": "Short end.", "summary_detailed": "A long end that tells everything."}),
    );
    stage.speak_all();
    let said = stage.said().join(" ");
    assert!(!said.contains("A long end"), "{said:?}");
    assert!(!said.is_empty());
}
