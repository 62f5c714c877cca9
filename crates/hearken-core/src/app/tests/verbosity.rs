//! Verbosity chooses words and what is spoken; the same events reach the lines at each (2.2.8).

use super::*;
use crate::config::Verbosity;

const LINES: Options = Options {
    manner: AnswerMethod::Lines,
    lines: Some(LineSource::Pipe),
    voice: SpeechMode::Silent,
    until: EndCondition::NoSource,
};

const ALL: [Verbosity; 3] = [Verbosity::Terse, Verbosity::Normal, Verbosity::Detailed];

/// Returns the lines that the last of these events adds.
fn lines(level: Verbosity, events: &[(&str, Value)]) -> Vec<String> {
    let mut config = Config::default();
    config.announce.verbosity = level;
    let mut stage = Stage::with(LINES, config);
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    for (kind, fields) in events {
        stage.read.clear();
        stage.event(kind, fields.clone());
    }
    stage.read
}

#[test]
fn every_tool_start_and_state_reaches_the_lines_at_every_verbosity() {
    let tool = |fields: Value| ("tool.invoked", fields);
    let state = |from: &str, to: &str, words: Value| {
        let mut fields = json!({"from_state": from, "to_state": to});
        fields
            .as_object_mut()
            .unwrap()
            .extend(words.as_object().unwrap().clone());
        ("state.changed", fields)
    };
    let samples = [
        tool(json!({"tool": "look_up", "tool_call_id": "call_1"})),
        tool(
            json!({"tool": "look_up", "tool_call_id": "call_1", "summary_terse": "Trains", "summary_normal": "Looking for trains"}),
        ),
        tool(json!({"tool": "buy", "tool_call_id": "call_1", "irreversible": true})),
        state("idle", "thinking", json!({})),
        state(
            "thinking",
            "deciding",
            json!({"summary_normal": "Weighing"}),
        ),
        state("thinking", "idle", json!({})),
        state("thinking", "reviewing", json!({})),
        state("reviewing", "reviewing", json!({})),
    ];
    for sample in samples {
        for level in ALL {
            let shown = lines(level, std::slice::from_ref(&sample));
            assert!(!shown.is_empty(), "{level:?}: {sample:?}");
        }
    }
}

#[test]
fn a_call_just_accepted_is_shown_at_every_verbosity() {
    for level in ALL {
        let mut config = Config::default();
        config.announce.verbosity = level;
        let mut stage = Stage::with(LINES, config);
        stage.event("session.started", json!({"summary_normal": "Off we go"}));
        stage.ask("rpl_1");
        stage.wait(20_000);
        stage.type_line("y");
        stage.read.clear();
        let call = json!({"tool": "look_up", "tool_call_id": "call_1"});
        stage.event("tool.invoked", call);
        let shown = stage.read.join("\n");
        assert!(shown.contains("look up"), "{level:?}: {shown}");
    }
}

#[test]
fn what_is_critical_keeps_its_words_at_every_verbosity() {
    let samples = [
        (
            "state.changed",
            json!({"from_state": "idle", "to_state": "thinking", "urgency": "critical", "summary_normal": "The disk is full"}),
        ),
        (
            "state.changed",
            json!({"from_state": "idle", "to_state": "calling_tool", "urgency": "critical", "summary_normal": "The disk is full"}),
        ),
        (
            "tool.invoked",
            json!({"tool": "rm", "tool_call_id": "call_1", "urgency": "critical", "summary_normal": "The disk is full"}),
        ),
    ];
    for sample in samples {
        for level in ALL {
            let shown = lines(level, std::slice::from_ref(&sample)).join("\n");
            assert!(shown.contains("The disk is full"), "{level:?}: {shown}");
        }
    }
}

#[test]
fn quiet_still_keeps_a_tool_start_out_of_the_lines() {
    for level in ALL {
        let mut config = Config::default();
        config.announce.verbosity = level;
        config.announce.quiet = true;
        let mut stage = Stage::with(LINES, config);
        stage.event("session.started", json!({"summary_normal": "Off we go"}));
        stage.read.clear();
        let call = json!({"tool": "look_up", "summary_normal": "Looking it up"});
        stage.event("tool.invoked", call);
        let state = json!({"from_state": "idle", "to_state": "thinking"});
        stage.event("state.changed", state);
        let said = stage.read.join("\n");
        assert!(!said.contains("ook"), "{level:?}: {said}");
        assert!(!phrase!("state.thinking").is_in(&said), "{level:?}: {said}");
    }
}
