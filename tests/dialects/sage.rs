//! Sage from end to end: heard through the app in every face, answered, checked and traced, its tables in the
//! documentation.

use std::time::Duration;

use hearken::config::{Config, Dialect, Verbosity};
use hearken::demo;
use hearken::dialect::sage;
use hearken::inspect::{Checker, Format, Tracer};
use hearken::protocol::{Machine, Severity};
use serde_json::Value;

use crate::documents::steps;
use crate::support::stage::Stage;

#[test]
fn the_tables_of_sage_are_those_of_the_code() {
    let mut gaps = String::new();
    for gap in sage::GAPS {
        let step = gap.step;
        gaps.push_str(&format!(
            "- {} to {}, by {}: {}\n",
            step.from.label(),
            step.to.label(),
            sage::AgentRun::event_label(step.event),
            gap.because
        ));
    }
    let machines = [
        ("Session", steps::<sage::Session>()),
        ("Agent", steps::<sage::AgentRun>()),
        ("Gaps that the agent's machine fills", gaps),
        ("Tool", steps::<sage::Tool>()),
        ("Stream", steps::<sage::Stream>()),
    ];
    let machines: Vec<String> = machines
        .iter()
        .map(|(name, rows)| format!("{name}:\n\n{rows}"))
        .collect();
    insta::assert_snapshot!("machines", machines.join("\n"));
    let mut mapping = String::new();
    for row in sage::MAPPING {
        mapping.push_str(&format!("- {} ({}): {}\n", row.says, row.form, row.becomes));
    }
    insta::assert_snapshot!("mapping", mapping);
}

const STREAM: &str = include_str!("../fixtures/sage/stream.jsonl");
const TERMINAL: &str = include_str!("../fixtures/sage/terminal.txt");

fn traced(text: &str) -> String {
    let mut tracer = Tracer::new();
    for line in text.lines() {
        tracer.line(line);
    }
    let english = hearken::announce::Phrases::english().unwrap();
    tracer.finish(Format::Text, &english).unwrap()
}

#[test]
fn a_trace_shows_the_steps_of_its_own_machines_by_their_own_names() {
    let trace = traced(STREAM);
    for step in [
        "session: Active to Processing, by Chat",
        "agent turn_001: Thinking to WaitingPermission, by NeedPermission",
        "agent turn_001: WaitingPermission to Thinking, by PermissionDenied",
        "CheckingPermission to Denied, by PermissionDenied",
        "agent turn_001: Thinking to Error, by Error",
        "stream: Connected to Streaming, by StartStreaming",
        "stream: Streaming to Completed, by Complete; line 13",
    ] {
        assert!(trace.contains(step), "{step} is not in\n{trace}");
    }
    assert!(!trace.contains("illegal"), "{trace}");
    // A turn that ends twice counts as ended once.
    let last = STREAM.lines().last().unwrap();
    let trace = traced(&format!("{STREAM}{last}\n"));
    let wanted = "illegal: session: Active does not take AgentComplete; line 14";
    assert!(trace.contains(wanted), "{trace}");
}

/// A recording keeps what Sage wrote beside the events that it became, and what happened to the connection.
#[test]
fn a_trace_of_a_recording_shows_the_connection_and_what_was_translated() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let trace = |name: &str| {
        let file = folder.path().join(name);
        let output = crate::support::child::command(&["trace", file.to_str().unwrap()]).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let meta = |kind: &str, more: &str| {
        format!("{{\"at\":\"2026-06-30T00:00:09Z\",\"link\":0,\"kind\":\"{kind}\"{more}}}\n")
    };
    let lost = [
        meta("connecting", ",\"attempt\":1"),
        meta("connected", ""),
        meta("frame", ",\"line\":5"),
        meta(
            "lost",
            ",\"fault\":\"the connection was closed\",\"retry_in_ms\":1",
        ),
        meta("connecting", ",\"attempt\":1"),
        meta("connected", ""),
        meta("frame", ",\"line\":13"),
        meta("ended", ""),
    ];
    write("sage.jsonl", STREAM);
    write("sage.jsonl.meta.jsonl", &lost.concat());
    let traced = trace("sage.jsonl");
    for step in [
        "stream: Streaming to Failed, by Error; line 5",
        "stream: Failed to Connecting, by Reconnect",
        "stream: Connecting to Connected, by Connected",
        "stream: Connected to Streaming, by StartStreaming; line 6",
        "stream: Streaming to Completed, by Complete; line 13",
    ] {
        assert!(traced.contains(step), "{step} is not in\n{traced}");
    }
    assert!(!traced.contains("illegal"), "{traced}");
    // hearken's own recordings have events of AAEP.
    let event = r#"{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:agent.session.started","event_id":"evt_1","session_id":"sess_1","timestamp":"2026-06-30T00:00:00Z","producer":{"agent_id":"sage","agent_name":"Sage"}}"#;
    let raw = STREAM
        .lines()
        .map(|line| meta("raw", &format!(",\"message\":{line}")));
    let beside: String = raw
        .chain([meta("frame", ",\"line\":1"), lost[3].clone()])
        .collect();
    write("own.jsonl", &format!("{event}\n"));
    write("own.jsonl.meta.jsonl", &beside);
    let traced = trace("own.jsonl");
    for step in [
        "agent turn_001: Thinking to Error, by Error",
        "stream: Streaming to Failed, by Error; line 1",
        "session: no session to active, by session.started",
    ] {
        assert!(traced.contains(step), "{step} is not in\n{traced}");
    }
}

/// Checks a capture, and returns everything more severe than a note.
fn checked(text: &str) -> Vec<String> {
    let mut checker = Checker::new();
    let mut items = Vec::new();
    for line in text.lines() {
        items.extend(checker.line(line));
    }
    let (rest, summary) = checker.finish();
    items.extend(rest);
    assert_eq!(summary.sessions.len(), 1);
    items
        .iter()
        .filter(|item| item.severity != Severity::Note)
        .map(|item| format!("{}: {} {}", item.line, item.rule, item.field))
        .collect()
}

#[test]
fn a_check_reads_captures_of_both_forms_and_names_what_breaks_their_rules() {
    assert_eq!(checked(STREAM), Vec::<String>::new());
    assert_eq!(checked(TERMINAL), Vec::<String>::new());
    let last = STREAM.lines().last().unwrap();
    let wanted = ["14: departs translated.illegal"];
    assert_eq!(checked(&format!("{STREAM}{last}\n")), wanted);
}

/// What comes after the end of its conversation is told everywhere; so is an end by an error.
#[test]
fn a_turn_after_the_end_and_an_end_by_an_error_are_in_every_report() {
    let message = |kind: &str, turn: &str, payload: Value| {
        serde_json::json!({"protocol_version": "sage.runtime.v0", "kind": "notification", "type": kind,
            "id": "e", "thread_id": "thread_001", "turn_id": turn, "timestamp": "2026-06-30T00:00:09Z",
            "source": "runtime", "payload": payload})
        .to_string()
    };
    let over = message(
        "thread.ended",
        "turn_001",
        serde_json::json!({"reason": "session_error"}),
    );
    let begins = message("turn.started", "turn_002", serde_json::json!({}));
    let ends = message(
        "turn.completed",
        "turn_002",
        serde_json::json!({"status": "completed"}),
    );
    let text = format!("{STREAM}{over}\n{begins}\n{ends}\n");
    let trace = traced(&text);
    for step in [
        "session: Active to Ended, by Error; line 14",
        "illegal: session: Ended does not take Chat; line 15",
    ] {
        assert!(trace.contains(step), "{step} is not in\n{trace}");
    }
    let mut checker = Checker::new();
    let items: Vec<_> = text.lines().flat_map(|line| checker.line(line)).collect();
    let departs = items.iter().filter(|item| item.rule == "departs");
    let departs: Vec<String> = departs
        .map(|item| format!("{} {}", item.line, item.field))
        .collect();
    assert!(
        departs.contains(&"15 sage.after_end".to_owned()),
        "{departs:?}"
    );
    let mut stage = Stage::speaking(Config::default(), begin(), Dialect::Sage, None);
    for line in text.lines() {
        stage.frame(line);
        stage.wait(Duration::from_secs(1));
    }
    stage.wait_for_silence();
    let lines = stage.lines.concat();
    for words in [
        "Sage ended the conversation because of an error: session_error",
        "Sage goes on in a conversation that it had ended.",
    ] {
        assert!(lines.contains(words), "{words}\n{lines}");
    }
}

fn begin() -> jiff::Timestamp {
    "2026-03-07T14:30:00Z".parse().unwrap()
}

fn script() -> &'static demo::Script {
    demo::script("sage").unwrap()
}

/// Plays the demo's run; the person hears the question and answers with a key.
fn run(verbosity: Verbosity, key: char, heard: &str) -> (Stage, String) {
    let mut config = Config::default();
    config.announce.verbosity = verbosity;
    let mut stage = Stage::speaking(config, begin(), Dialect::Sage, None);
    let taken = stage.play_script(script(), "", &Value::Null, 0);
    stage.wait_for_silence();
    let asked = stage.screen(100, 30);
    assert!(stage.sent.is_empty(), "nothing goes out unasked");
    stage.press(key);
    stage.wait(Duration::from_secs(1));
    if stage.sent.is_empty() {
        stage.wait(Duration::from_secs(8));
        stage.press('c');
        stage.wait(Duration::from_secs(1));
    }
    assert!(!stage.sent.is_empty(), "{asked}\n{}", stage.lines.concat());
    let sent: Value = serde_json::from_str(&stage.sent[0].1).unwrap();
    stage.play_script(script(), heard, &sent, taken);
    stage.wait_for_silence();
    (stage, asked)
}

fn golden(name: &str, verbosity: Verbosity) {
    let (stage, asked) = run(verbosity, 'n', "deny");
    insta::assert_snapshot!(format!("sage_{name}_script"), stage.script.join("\n"));
    insta::assert_snapshot!(format!("sage_{name}_lines"), stage.lines.concat());
    insta::assert_snapshot!(format!("sage_{name}_question_100x30"), asked);
    insta::assert_snapshot!(format!("sage_{name}_last_100x30"), stage.screen(100, 30));
}

/// The input of a program that follows along, including the person's answer.
#[test]
fn the_run_for_programs() {
    let (stage, _) = run(Verbosity::Normal, 'n', "deny");
    insta::assert_snapshot!("sage_json", super::for_programs(&stage));
}

#[test]
fn the_run_tersely() {
    golden("terse", Verbosity::Terse);
}

#[test]
fn the_run_normally() {
    golden("normal", Verbosity::Normal);
}

#[test]
fn the_run_in_detail() {
    golden("detailed", Verbosity::Detailed);
}

#[test]
fn the_persons_answer_goes_out_byte_for_byte() {
    for (key, heard) in [('n', "deny"), ('y', "allow")] {
        let (stage, _) = run(Verbosity::Normal, key, heard);
        let sent: Vec<&str> = stage.sent.iter().map(|(_, frame)| frame.as_str()).collect();
        insta::assert_snapshot!(format!("sage_{heard}_frames"), sent.join("\n"));
    }
}
