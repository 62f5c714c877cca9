mod aftermath;
mod evasions;
mod event_order;
mod linked_sessions;
mod order_properties;
mod protocol_departures;
mod question_events;
mod rejections;
mod returned_link;
mod session_bounds;
mod team;
mod tokens;

use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::protocol::{Answer, Decision, Machine, Now, decode};

/// A stage that plays events into [`Sessions`] on its own clock.
struct SessionStage {
    sessions: Sessions,
    now: Now,
    count: u64,
}

const LINK: LinkId = LinkId(0);

impl SessionStage {
    fn new() -> Self {
        let mut sessions = Sessions::default();
        let now = Now {
            monotonic: Duration::ZERO,
            wall: "2026-01-01T00:00:00Z".parse().unwrap(),
        };
        sessions.add_link(LINK, true);
        Self {
            sessions,
            now,
            count: 0,
        }
    }

    fn wait(&mut self, ms: u64) -> Vec<ChangeKind> {
        self.now = self.now.after(Duration::from_millis(ms));
        self.sessions
            .tick(self.now)
            .into_iter()
            .map(|change| change.kind)
            .collect()
    }

    fn event(&mut self, kind: &str, fields: Value) -> Value {
        self.count += 1;
        let mut event = json!({
            "@context": "https://aaep-protocol.org/context/v1",
            "type": format!("aaep:agent.{kind}"),
            "event_id": format!("evt_{}", self.count),
            "session_id": "sess_1",
            "timestamp": format!("{:.3}", self.now.wall),
            "producer": {"agent_id": "a"},
            "summary_normal": "s",
        });
        for (key, value) in fields.as_object().unwrap() {
            event[key] = value.clone();
        }
        event
    }

    fn put(&mut self, link: LinkId, event: &Value) -> Vec<ChangeKind> {
        let decoded = decode(&event.to_string()).unwrap();
        self.sessions
            .apply(link, decoded, self.now)
            .into_iter()
            .map(|change| change.kind)
            .collect()
    }

    fn on(&mut self, kind: &str, fields: Value) -> Vec<ChangeKind> {
        let event = self.event(kind, fields);
        self.put(LINK, &event)
    }

    fn state(&mut self, from: &str, to: &str) -> Vec<ChangeKind> {
        self.on("state.changed", json!({"from_state": from, "to_state": to}))
    }

    fn start(&mut self) {
        self.on("session.started", json!({}));
        self.state("idle", "thinking");
    }

    fn ask(&mut self, token: &str) -> QuestionId {
        self.ask_with(token, json!({}))
    }

    fn ask_with(&mut self, token: &str, more: Value) -> QuestionId {
        let mut fields = json!({
            "action": "Send an email to Bob", "consequence": "It is gone.", "reply_token": token, "timeout_seconds": 300,
            "default_decision": "reject", "risk_level": "high", "irreversible": true, "urgency": "critical",
        });
        for (key, value) in more.as_object().unwrap() {
            fields[key] = value.clone();
        }
        let what = self.on("awaiting.confirmation", fields);
        what.iter()
            .find_map(|what| {
                if let ChangeKind::QuestionOpened(id) = what {
                    Some(*id)
                } else {
                    None
                }
            })
            .unwrap()
    }

    fn answer(&mut self, id: QuestionId, decision: Decision) -> Vec<ChangeKind> {
        self.sessions.reply_sending(
            id,
            Answer::Decision {
                decision,
                rationale: None,
            },
            self.now.wall,
            self.now,
        );
        self.sessions
            .reply_sent(id, self.now)
            .into_iter()
            .map(|change| change.kind)
            .collect()
    }

    fn tool(&mut self, name: &str, call: &str) -> Vec<ChangeKind> {
        self.on(
            "tool.invoked",
            json!({"tool": name, "tool_call_id": call, "irreversible": true, "risk_level": "high"}),
        )
    }

    fn done(&mut self, name: &str, call: &str, status: &str) -> Vec<ChangeKind> {
        self.on(
            "tool.completed",
            json!({"tool": name, "tool_call_id": call, "status": status}),
        )
    }
}

fn dangers(what: &[ChangeKind]) -> Vec<Danger> {
    what.iter()
        .filter_map(|what| {
            if let ChangeKind::Danger(danger) = what {
                Some(danger.clone())
            } else {
                None
            }
        })
        .collect()
}

fn anomalies(what: &[ChangeKind]) -> Vec<AnomalyKind> {
    what.iter()
        .filter_map(|what| {
            if let ChangeKind::Anomaly(anomaly) = what {
                Some(anomaly.kind)
            } else {
                None
            }
        })
        .collect()
}

fn closed(what: &[ChangeKind]) -> Option<(QuestionId, CloseReason)> {
    what.iter().find_map(|what| match what {
        ChangeKind::QuestionClosed {
            question,
            reason: how,
        } => Some((*question, how.clone())),
        _ => None,
    })
}

#[test]
fn an_accepted_email_as_the_minimal_producer_sends_it() {
    let mut stage = SessionStage::new();
    stage.start();
    stage.tool("send_email", "call_1");
    let id = stage.ask("rpl_1");
    assert_eq!(
        stage.sessions.question(id).unwrap().tool.as_deref(),
        Some("send_email")
    );
    assert_eq!(
        stage.sessions.iter().next().unwrap().phase,
        Phase::Waiting(id)
    );
    assert_eq!(stage.wait(3000), [], "asked in time: no danger");
    assert_eq!(stage.answer(id, Decision::Accept), []);
    let what = stage.done("send_email", "call_1", "success");
    assert_eq!(dangers(&what), []);
    assert_eq!(
        closed(&what),
        Some((
            id,
            CloseReason::ToolWentOn {
                event: ToolEvent::Succeeded
            }
        ))
    );
    assert!(matches!(
        stage.sessions.question(id).unwrap().reply,
        ReplyState::Resolved { .. }
    ));
    assert_eq!(stage.sessions.iter().next().unwrap().phase, Phase::Running);
}

#[test]
fn an_accepted_email_as_the_chapters_want_it() {
    let mut stage = SessionStage::new();
    stage.start();
    stage.state("thinking", "awaiting_input");
    let id = stage.ask("rpl_1");
    stage.answer(id, Decision::Accept);
    let what = stage.state("awaiting_input", "calling_tool");
    assert!(matches!(
        closed(&what),
        Some((_, CloseReason::StateLeft { .. }))
    ));
    stage.tool("send_email", "call_1");
    assert_eq!(stage.wait(5000), []);
    assert_eq!(dangers(&stage.done("send_email", "call_1", "success")), []);
}

#[test]
fn a_deed_after_a_rejection_is_a_danger_in_both_orders() {
    // Here the call comes first, as with real producers.
    let mut stage = SessionStage::new();
    stage.start();
    stage.tool("send_email", "call_1");
    let id = stage.ask("rpl_1");
    stage.answer(id, Decision::Reject);
    let what = stage.done("send_email", "call_1", "success");
    assert_eq!(
        dangers(&what),
        [Danger::DoneAfterRejection {
            tool: "send_email".into(),
            suspicion: Suspicion {
                question: id,
                is_sure: true,
                by_silence: false,
            }
        }]
    );
    // Here the question comes first, as the chapters require.
    let mut stage = SessionStage::new();
    stage.start();
    let id = stage.ask("rpl_1");
    stage.answer(id, Decision::Reject);
    stage.state("awaiting_input", "calling_tool");
    stage.tool("send_email", "call_1");
    let what = stage.done("send_email", "call_1", "success");
    assert_eq!(
        dangers(&what),
        [Danger::DoneAfterRejection {
            tool: "send_email".into(),
            suspicion: Suspicion {
                question: id,
                is_sure: true,
                by_silence: false,
            }
        }]
    );
}

#[test]
fn a_declined_tool_is_no_danger_and_the_next_output_is_introduced() {
    let mut stage = SessionStage::new();
    stage.start();
    stage.tool("send_email", "call_1");
    let id = stage.ask("rpl_1");
    stage.answer(id, Decision::Reject);
    assert_eq!(dangers(&stage.done("send_email", "call_1", "error")), []);
    let first = stage.on(
        "output.streaming",
        json!({"chunk": "Sent!", "position": 0, "complete": false}),
    );
    assert!(first.iter().any(|what| matches!(what, ChangeKind::Output { after: Some(after), .. } if after.action == "Send an email to Bob" && after.fate == DenialReason::Rejected)));
    let second = stage.on(
        "output.streaming",
        json!({"chunk": " Bye.", "position": 5, "complete": true}),
    );
    assert!(
        second
            .iter()
            .all(|what| !matches!(what, ChangeKind::Output { after: Some(_), .. }))
    );
}

#[test]
fn an_unasked_irreversible_call_is_told_after_two_seconds_or_at_its_success() {
    let mut stage = SessionStage::new();
    stage.start();
    stage.tool("send_email", "call_1");
    assert_eq!(stage.wait(1999), []);
    assert_eq!(
        dangers(&stage.wait(1)),
        [Danger::Unasked {
            tool: "send_email".into(),
            done: false,
            gravity: Gravity::Irreversible,
        }]
    );
    assert_eq!(stage.wait(9000), [], "told once while it runs");
    let mut stage = SessionStage::new();
    stage.start();
    stage.tool("send_email", "call_1");
    assert_eq!(
        dangers(&stage.done("send_email", "call_1", "success")),
        [Danger::Unasked {
            tool: "send_email".into(),
            done: true,
            gravity: Gravity::Irreversible,
        }]
    );
    let mut stage = SessionStage::new();
    stage.start();
    stage.tool("send_email", "call_1");
    assert_eq!(
        dangers(&stage.done("send_email", "call_1", "error")),
        [],
        "it did not happen"
    );
}

#[test]
fn one_question_does_not_cover_two_calls() {
    let mut stage = SessionStage::new();
    stage.start();
    let id = stage.ask("rpl_1");
    stage.answer(id, Decision::Accept);
    stage.state("awaiting_input", "calling_tool");
    stage.tool("send_email", "call_1");
    assert_eq!(dangers(&stage.done("send_email", "call_1", "success")), []);
    stage.tool("send_email", "call_2");
    assert_eq!(
        dangers(&stage.done("send_email", "call_2", "success")).len(),
        1
    );
}

#[test]
fn silence_that_accepts_is_a_danger() {
    for (risk, wanted) in [("high", 1), ("medium", 1), ("low", 0)] {
        let mut stage = SessionStage::new();
        stage.start();
        let what = stage.on("awaiting.confirmation", json!({
            "action": "a", "consequence": "c", "reply_token": "rpl_1", "timeout_seconds": 9, "default_decision": "accept",
            "risk_level": risk, "reversibility": "irreversible",
        }));
        assert_eq!(dangers(&what).len(), wanted, "{risk}");
    }
}

#[test]
fn acting_after_the_end_is_a_danger() {
    let mut stage = SessionStage::new();
    stage.start();
    stage.on("session.completed", json!({}));
    let what = stage.tool("send_email", "call_9");
    assert_eq!(
        dangers(&what),
        [Danger::ActsAfterEnd {
            tool: "send_email".into()
        }]
    );
}

#[test]
fn duplicates_are_dropped_per_link_and_agent() {
    let mut stage = SessionStage::new();
    let event = stage.event("session.started", json!({}));
    assert_eq!(stage.put(LINK, &event).len(), 1);
    assert_eq!(stage.put(LINK, &event), []);
    assert_eq!(stage.put(LinkId(1), &event).len(), 1, "another source");
    let mut other = event.clone();
    other["producer"]["agent_id"] = "b".into();
    other["session_id"] = "sess_2".into();
    assert_eq!(stage.put(LINK, &other).len(), 1, "another agent");
    assert_eq!(stage.sessions.dropped().duplicates, 1);
    assert!(stage.sessions.several());
}

#[test]
fn leaving_awaiting_input_twice_does_not_cover_an_unasked_call() {
    let mut stage = SessionStage::new();
    stage.start();
    let id = stage.ask("rpl_1");
    stage.answer(id, Decision::Accept);
    stage.tool("send_email", "call_1");
    stage.state("awaiting_input", "thinking");
    stage.done("send_email", "call_1", "success");
    stage.tool("wipe_disk", "call_2");
    assert_eq!(
        dangers(&stage.done("wipe_disk", "call_2", "success")).len(),
        1
    );
}

#[test]
fn a_flood_of_tools_does_not_hide_an_irreversible_one() {
    let mut stage = SessionStage::new();
    stage.start();
    stage.tool("wipe_disk", "call_0");
    for n in 1..400 {
        stage.on(
            "tool.invoked",
            json!({"tool": "look", "tool_call_id": format!("call_{n}")}),
        );
    }
    assert_eq!(dangers(&stage.wait(2000)).len(), 1);
}

#[test]
fn names_of_a_megabyte_are_shortened_and_stay_apart() {
    let mut stage = SessionStage::new();
    let long = |end: &str| format!("{}{end}", "n".repeat(1 << 20));
    for end in ["a", "b"] {
        stage.on(
            "tool.invoked",
            json!({"tool": long(end), "tool_call_id": long(end)}),
        );
    }
    let session = stage.sessions.iter().next().unwrap();
    assert_eq!(session.tools.len(), 2);
    assert!(session.tools.iter().all(|call| call.tool.len() < 300));
    assert_ne!(session.tools[0].tool, session.tools[1].tool);
}
