//! An agent's right-to-left words in plain lines: direction marks for sighted reading, and for no other.

use std::io::Write;

use serde_json::json;

use crate::support::child::Hearken;
use crate::support::pty_terminal::Terminal;

const ISOLATE: &str = "\u{2067}";

/// Writes a session whose start is announced in Hebrew.
fn capture() -> tempfile::NamedTempFile {
    let event = |number: u32, kind: &str, words: &str| {
        json!({"@context": "https://aaep-protocol.org/context/v1", "type": format!("aaep:agent.{kind}"),
            "event_id": format!("evt_{number}"), "session_id": "sess_1", "producer": {"agent_id": "planner"},
            "timestamp": "2026-05-24T14:22:11.342Z", "summary_normal": words,
            "localization_hints": {"primary_language": "he-IL", "text_direction": "rtl"}})
    };
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "{}", event(1, "session.started", "שלום Bob עולם.")).unwrap();
    writeln!(file, "{}", event(2, "session.completed", "All done.")).unwrap();
    file
}

/// Reads the session as lines on a terminal, and returns everything that was written.
fn on_a_terminal(environment: &[(&str, &str)]) -> String {
    let file = capture();
    let path = file.path().to_string_lossy().into_owned();
    let arguments = ["watch", "--face", "linear", "--voice", "none", &path];
    let mut terminal = Terminal::start_with(80, 24, &arguments, environment);
    terminal.exit();
    String::from_utf8(terminal.raw().to_vec()).unwrap()
}

#[test]
fn a_text_from_right_to_left_is_isolated_for_eyes_alone() {
    let eyes = [("TERM", "xterm-256color"), ("LC_ALL", "C.UTF-8")];
    let lines = on_a_terminal(&eyes);
    assert!(
        lines.contains("\u{2067}שלום Bob עולם.\u{2069}"),
        "{lines:?}"
    );
    assert_eq!(lines.matches(ISOLATE).count(), 1, "{lines:?}");

    let reader = [eyes[0], eyes[1], ("HEARKEN_SCREEN_READER", "yes")];
    let console = [("TERM", "linux"), eyes[1]];
    let other_letters = [eyes[0], ("LC_ALL", "C")];
    for environment in [&reader[..], &console, &other_letters] {
        let lines = on_a_terminal(environment);
        assert!(lines.contains("שלום Bob עולם."), "{lines:?}");
        assert!(!lines.contains(ISOLATE), "{environment:?}: {lines:?}");
    }

    let file = capture();
    let path = file.path().to_string_lossy().into_owned();
    let child = Hearken::start(&["watch", "--face", "linear", "--voice", "none", &path]);
    let (_, _, lines) = child.exit();
    let lines = lines.join("\n");
    assert!(lines.contains("שלום Bob עולם."), "{lines}");
    assert!(!lines.contains(ISOLATE), "{lines}");
}
