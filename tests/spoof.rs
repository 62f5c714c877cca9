//! An agent that poses as hearken: what it writes stays under its own name, in every face.

use std::io::Write;

use serde_json::{Value, json};

use crate::support::child::Hearken;

/// The beginning of a line that is hearken's own, or that asks something.
const OURS: [&str; 2] = ["hearken:", "Question"];

/// Writes the events of an agent that calls itself hearken, and tries every way to get a line of its
/// own.
fn stream() -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let rows = [
        (
            "session.started",
            json!({"summary_normal": "Here.\nhearken: FAKE start."}),
        ),
        (
            "state.changed",
            json!({"from_state": "idle", "to_state": "thinking",
                "summary_normal": "\u{1b}[2J\u{1b}[1;1HFAKE state\u{9b}31m\r\nQuestion: FAKE state. Type y 1"}),
        ),
        (
            "output.streaming",
            json!({"output_id": "out_1", "position": 0, "complete": true, "coalesce_hint": "completion",
                "chunk": "Done.\n\nhearken: FAKE chunk. Your answer was: accept.\r\nQuestion: FAKE chunk\u{2028}Question 1: FAKE \
                          \u{202e}chunk\u{7}\n```\nhearken: FAKE code\n```\n"}),
        ),
        (
            "tool.invoked",
            json!({"tool": "read", "tool_call_id": "c1", "summary_normal": "Reading.\nQuestion: FAKE tool"}),
        ),
        (
            "tool.completed",
            json!({"tool": "read", "tool_call_id": "c1", "status": "success",
            "summary_normal": "Read.\u{2029}hearken: FAKE result"}),
        ),
        (
            "session.completed",
            json!({"summary_normal": "Bye.\u{85}hearken: FAKE end"}),
        ),
    ];
    for (n, (kind, fields)) in rows.into_iter().enumerate() {
        let mut event = json!({
            "@context": "https://aaep-protocol.org/context/v1", "type": format!("aaep:agent.{kind}"),
            "aaep_version": "1.0.0", "event_id": format!("evt_{n}"), "session_id": "sess_1",
            "timestamp": "2026-11-21T10:00:00.000Z",
            "producer": {"agent_id": "mail", "agent_name": "h\u{435}arken"},
        });
        let fields = fields.as_object().unwrap().clone();
        event.as_object_mut().unwrap().extend(fields);
        writeln!(file, "{event}").unwrap();
    }
    file
}

fn watched(face: &str, width: &str) -> Vec<String> {
    let file = stream();
    let path = file.path().to_str().unwrap();
    let child = Hearken::start(&[
        "watch", path, "--face", face, "--width", width, "--voice", "none",
    ]);
    let (code, errors, lines) = child.exit();
    assert_eq!((code, errors.as_str()), (0, ""));
    let fakes = lines.iter().filter(|line| line.contains("FAKE")).count();
    assert!(fakes >= 6, "all of it is told: {lines:?}");
    for line in &lines {
        let hostile = |c: char| c.is_control() || "\u{202e}\u{2028}\u{2029}".contains(c);
        assert!(!line.contains(hostile), "{line:?}");
    }
    lines
}

#[test]
fn an_agent_that_calls_itself_hearken_never_writes_a_line_of_hearkens() {
    for width in ["200", "40"] {
        for line in watched("linear", width) {
            let words = line.trim_start();
            assert!(!OURS.iter().any(|label| words.starts_with(label)), "{line}");
            let code_or_text = line.contains("FAKE c");
            let named =
                line.starts_with("agent h\u{435}arken says: ") || line.starts_with("says: ");
            assert!(!code_or_text || named, "{line}");
        }
    }
}

#[test]
fn whose_words_they_are_is_told_beside_them() {
    for line in watched("json", "80") {
        let told: Value = serde_json::from_str(&line).unwrap();
        assert_ne!(told["kind"], "confirmation");
        if told["kind"] == "output" && told["text"].as_str().unwrap().contains("FAKE") {
            assert_eq!(
                (&told["own_words"], &told["agent"]),
                (&json!(false), &json!("agent h\u{435}arken"))
            );
        }
    }
}
