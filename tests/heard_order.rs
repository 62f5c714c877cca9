//! The order of what is heard, whatever a transport loses or reorders, and wherever a run is joined.
//! `tests/fuzz.rs` plays a hundred thousand more of these streams.

#[path = "heard_order/numbered_streams.rs"]
mod numbered_streams;

use serde_json::{Value, json};

use crate::support::child::Hearken;

#[test]
fn what_arrives_is_heard_in_order_and_nobody_is_blamed_for_what_does_not() {
    for seed in 0..2000 {
        numbered_streams::play(seed);
    }
}

/// A missing message, and an end so far after it that it overtook the waiting events: the run used to end
/// with "Finished" before its last sentences.
#[test]
fn a_run_that_ends_by_itself_ends_after_its_last_word() {
    let event = |number: u64, kind: &str, fields: Value| {
        let mut event = json!({
            "@context": "https://aaep-protocol.org/context/v1", "type": format!("aaep:agent.{kind}"),
            "event_id": format!("evt_{number}"), "session_id": "sess_1", "sequence_number": number,
            "timestamp": "2026-01-01T00:00:00Z", "producer": {"agent_id": "a"}, "summary_normal": "Done with it.",
        });
        for (key, value) in fields.as_object().unwrap() {
            event[key] = value.clone();
        }
        event.to_string()
    };
    let state = json!({"from_state": "idle", "to_state": "writing_output"});
    let mut lines = vec![
        event(0, "session.started", json!({})),
        event(1, "state.changed", state),
    ];
    let mut position = 20;
    for number in 3..12 {
        let text = format!("Sentence {number} is here. ");
        let chunk = json!({"output_id": "out_1", "chunk": text, "position": position,
                           "complete": number == 11});
        position += text.len();
        lines.push(event(number, "output.streaming", chunk));
    }
    lines.push(event(12, "session.completed", json!({})));
    let arguments = [
        "watch", "-", "--face", "json", "--voice", "none", "--until", "ended",
    ];
    let mut hearken = Hearken::start(&arguments);
    for line in &lines {
        hearken.say(line);
    }
    // Its input stays open: it ends because the session has.
    let (code, errors, seen) = hearken.exit();
    assert_eq!(code, 0, "{errors}");
    let told: Vec<(String, String)> = seen
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|line| {
            let text = |name: &str| line[name].as_str().unwrap().to_owned();
            (text("kind"), text("text"))
        })
        .collect();
    let at = |words: &str| {
        told.iter()
            .position(|(_, text)| text.contains(words))
            .unwrap_or_else(|| panic!("{words}: {told:?}"))
    };
    assert!(at("Sentence 3") < at("Sentence 11"), "{told:?}");
    assert!(at("Sentence 11") < at("Finished"), "{told:?}");
    let anomalies: Vec<&str> = told
        .iter()
        .filter(|(kind, _)| kind == "anomaly")
        .map(|(_, text)| text.as_str())
        .collect();
    assert_eq!(anomalies.len(), 1, "{anomalies:?}");
    assert!(anomalies[0].contains("1 message"), "{anomalies:?}");
}
