//! Checks docs/events.md against the code: every event of the protocol goes through the whole
//! pipeline.

use std::time::Duration;

use hearken::announce::{Announcement, AnnouncementKind, Class};
use hearken::config::{Config, Verbosity};
use hearken::dialect;
use hearken::link::LinkId;
use hearken::protocol::Now;
use hearken::session::Sessions;
use serde_json::{Value, json};

use crate::documents::holds_generated;
use crate::support::stage::Stage;

/// An event, and the earlier events it needs.
struct Sample {
    kind: &'static str,
    before: Vec<Value>,
    fields: Value,
}

fn sample(kind: &'static str, fields: Value) -> Sample {
    Sample {
        kind,
        before: vec![],
        fields,
    }
}

fn samples() -> Vec<Sample> {
    let invoked = json!({"kind": "tool.invoked", "tool": "send_email", "tool_call_id": "call_1", "summary_normal": "Sending the email"});
    vec![
        Sample {
            kind: "session.started",
            // The previous run is over: two at once would be distinguished in the words.
            before: vec![json!({"kind": "session.completed"})],
            fields: json!({"session_id": "sess_2", "summary_terse": "Booking", "summary_normal": "Booking a train", "request_text": "Get me to Rome"}),
        },
        sample(
            "state.changed",
            json!({"from_state": "idle", "to_state": "thinking"}),
        ),
        sample(
            "state.changed",
            json!({"from_state": "idle", "to_state": "calling_tool", "summary_terse": "Looking", "summary_normal": "Looking at trains"}),
        ),
        sample(
            "progress.updated",
            json!({"progress": {"percent": 40.0, "description": "Comparing prices"}}),
        ),
        sample(
            "progress.updated",
            json!({"progress": {"step": 2, "total_steps": 5}}),
        ),
        sample(
            "tool.invoked",
            json!({"tool": "find_trains", "tool_call_id": "call_2", "summary_terse": "Trains", "summary_normal": "Looking for trains", "args_summary": "to Rome"}),
        ),
        sample(
            "tool.invoked",
            json!({"tool": "buyTicket", "tool_call_id": "call_3", "irreversible": true}),
        ),
        Sample {
            kind: "tool.completed",
            before: vec![invoked.clone()],
            fields: json!({"tool": "send_email", "tool_call_id": "call_1", "status": "success", "duration_ms": 2000, "summary_normal": "The email is sent"}),
        },
        Sample {
            kind: "tool.completed",
            before: vec![invoked],
            fields: json!({"tool": "send_email", "tool_call_id": "call_1", "status": "error", "error_message": "no such address"}),
        },
        sample(
            "output.streaming",
            json!({"chunk": "The **09:00** train is best. ", "coalesce_hint": "sentence", "output_id": "out_1", "position": 0}),
        ),
        sample(
            "awaiting.confirmation",
            json!({"action": "Buy the ticket", "consequence": "89 euros are charged", "reply_token": "rpl_1", "timeout_seconds": 120, "default_decision": "reject", "risk_level": "medium", "reversibility": "irreversible", "urgency": "critical"}),
        ),
        sample(
            "awaiting.clarification",
            json!({"question": "Which class?", "reply_token": "rpl_2", "timeout_seconds": 60, "accepted_response_kinds": ["multiple_choice"], "choices": [{"value": "1", "label": "First"}, {"value": "2", "label": "Second"}], "urgency": "critical"}),
        ),
        sample(
            "handoff.requested",
            json!({"reason": "The card was refused", "target_kind": "human", "summary_normal": "A person has to pay", "urgency": "critical"}),
        ),
        sample(
            "session.completed",
            json!({"summary_terse": "Booked", "summary_normal": "The train is booked", "duration_ms": 61000, "output_summary": "Seat 12"}),
        ),
        sample(
            "session.errored",
            json!({"error_category": "transient", "summary_normal": "The shop does not answer", "remediation_hint": "Wait a minute", "urgency": "critical"}),
        ),
        sample(
            "session.cancelled",
            json!({"cancelled_by": "user", "summary_normal": "Stopped", "partial_result": "Two trains found"}),
        ),
        sample(
            "weather.changed",
            json!({"summary_normal": "It rains in Rome"}),
        ),
    ]
}

fn event(kind: &str, now: Now, number: u64, fields: &Value) -> String {
    let mut event = json!({
        "@context": "https://aaep-protocol.org/context/v1",
        "type": format!("aaep:agent.{kind}"),
        "event_id": format!("evt_{number}"),
        "session_id": "sess_1",
        "timestamp": format!("{:.3}", now.wall),
        "producer": {"agent_id": "traveller", "agent_name": "Traveller"},
        "localization_hints": {"primary_language": "en-US"},
    });
    for (key, value) in fields.as_object().unwrap() {
        if key != "kind" {
            event[key] = value.clone();
        }
    }
    event.to_string()
}

/// Plays a sample; returns the announcements of its last event.
fn told(sample: &Sample, verbosity: Verbosity) -> Vec<Announcement> {
    let mut config = Config::default();
    config.announce.verbosity = verbosity;
    let mut stage = Stage::new(config, "2026-04-21T12:00:00Z".parse().unwrap());
    stage.wait(Duration::from_secs(2));
    let started = json!({"summary_normal": "Ready"});
    let first = event("session.started", stage.now, 1, &started);
    stage.frame(&first);
    for (number, before) in (2..).zip(&sample.before) {
        let text = event(before["kind"].as_str().unwrap(), stage.now, number, before);
        stage.frame(&text);
    }
    stage.wait_for_silence();
    let last = stage.app.history().last().unwrap().id;
    let text = event(sample.kind, stage.now, 9, &sample.fields);
    stage.frame(&text);
    stage
        .app
        .history()
        .iter()
        .filter(|told| told.id > last && told.kind != AnnouncementKind::Anomaly)
        .map(|told| (**told).clone())
        .collect()
}

/// Returns the names of the changes that an event makes.
fn changes(sample: &Sample) -> String {
    let mut sessions = Sessions::default();
    sessions.add_link(LinkId(0), true);
    let now = Now {
        monotonic: Duration::from_secs(9),
        wall: "2026-04-21T12:00:00Z".parse().unwrap(),
    };
    let started = json!({"kind": "session.started", "summary_normal": "Ready"});
    let mut names = Vec::new();
    let events = std::iter::once(&started).chain(&sample.before);
    for (number, fields) in (1..).zip(events) {
        let text = event(fields["kind"].as_str().unwrap(), now, number, fields);
        sessions.apply(LinkId(0), dialect::read(&text).unwrap(), now);
    }
    let text = event(sample.kind, now, 9, &sample.fields);
    for change in sessions.apply(LinkId(0), dialect::read(&text).unwrap(), now) {
        let name = format!("{:?}", change.kind);
        let name = name.split(['(', ' ', '{']).next().unwrap().to_owned();
        if name != "Anomaly" {
            names.push(format!("`{name}`"));
        }
    }
    names.join(" ")
}

fn words(told: &[Announcement], verbosity: Verbosity) -> String {
    let texts: Vec<String> = told.iter().map(Announcement::text).collect();
    assert!(!texts.is_empty(), "nothing is told at {verbosity:?}");
    texts.join(" / ")
}

#[test]
fn the_words_of_every_event_are_documented_as_they_are_said() {
    let mut rows = String::new();
    for sample in samples() {
        let [terse, normal, detailed] = [Verbosity::Terse, Verbosity::Normal, Verbosity::Detailed]
            .map(|level| {
                let told = told(&sample, level);
                (words(&told, level), told)
            });
        let class = match normal.1[0].class {
            Class::Alert => "P0",
            Class::Response => "P1",
            Class::Outcome => "P2",
            Class::Activity => "P3",
            Class::Stream => "P4",
        };
        if class == "P0" && normal.1[0].about.is_some() {
            assert_eq!(
                terse.0, detailed.0,
                "a question is asked in full at every verbosity"
            );
        }
        let mut spoken = format!("\"{}\"", terse.0);
        for (level, words, before) in [
            ("normal", &normal.0, &terse.0),
            ("detailed", &detailed.0, &normal.0),
        ] {
            if words != before {
                spoken.push_str(&format!("; {level}: \"{words}\""));
            }
        }
        rows.push_str(&format!(
            "- `{}` ({}, {class}): {spoken}\n",
            sample.kind,
            changes(&sample)
        ));
    }
    holds_generated("docs/events.md", "words", &rows);
}
