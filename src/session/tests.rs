#![allow(clippy::unwrap_used)]

mod bounds;
mod linked;
mod order;
mod properties;
mod rules;

use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::protocol::{Answer, Decision, Machine, Now, decode};

/// Plays events into [`Sessions`] on a clock of its own.
struct Stage {
    sessions: Sessions,
    now: Now,
    count: u64,
}

const LINK: LinkId = LinkId(0);

impl Stage {
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

    fn wait(&mut self, ms: u64) -> Vec<What> {
        self.now = self.now.after(Duration::from_millis(ms));
        self.sessions
            .tick(self.now)
            .into_iter()
            .map(|change| change.what)
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

    fn put(&mut self, link: LinkId, event: &Value) -> Vec<What> {
        let decoded = decode(&event.to_string()).unwrap();
        self.sessions
            .apply(link, decoded, self.now)
            .into_iter()
            .map(|change| change.what)
            .collect()
    }

    fn on(&mut self, kind: &str, fields: Value) -> Vec<What> {
        let event = self.event(kind, fields);
        self.put(LINK, &event)
    }

    fn start(&mut self) {
        self.on("session.started", json!({}));
        self.on(
            "state.changed",
            json!({"from_state": "idle", "to_state": "thinking"}),
        );
    }

    fn ask(&mut self, token: &str) -> PromptId {
        self.ask_with(token, json!({}))
    }

    fn ask_with(&mut self, token: &str, more: Value) -> PromptId {
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
                if let What::PromptOpened(id) = what {
                    Some(*id)
                } else {
                    None
                }
            })
            .unwrap()
    }

    fn answer(&mut self, id: PromptId, decision: Decision) -> Vec<What> {
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
            .map(|change| change.what)
            .collect()
    }

    fn tool(&mut self, name: &str, call: &str) -> Vec<What> {
        self.on(
            "tool.invoked",
            json!({"tool": name, "tool_call_id": call, "irreversible": true, "risk_level": "high"}),
        )
    }

    fn done(&mut self, name: &str, call: &str, status: &str) -> Vec<What> {
        self.on(
            "tool.completed",
            json!({"tool": name, "tool_call_id": call, "status": status}),
        )
    }
}

fn dangers(what: &[What]) -> Vec<Danger> {
    what.iter()
        .filter_map(|what| {
            if let What::Danger(danger) = what {
                Some(danger.clone())
            } else {
                None
            }
        })
        .collect()
}

fn anomalies(what: &[What]) -> Vec<AnomalyKind> {
    what.iter()
        .filter_map(|what| {
            if let What::Anomaly(anomaly) = what {
                Some(anomaly.kind)
            } else {
                None
            }
        })
        .collect()
}

fn closed(what: &[What]) -> Option<(PromptId, Closing)> {
    what.iter().find_map(|what| match what {
        What::PromptClosed { prompt, how } => Some((*prompt, how.clone())),
        _ => None,
    })
}

#[test]
fn an_accepted_email_as_the_minimal_producer_sends_it() {
    let mut stage = Stage::new();
    stage.start();
    stage.tool("send_email", "call_1");
    let id = stage.ask("rpl_1");
    assert_eq!(
        stage.sessions.prompt(id).unwrap().tool.as_deref(),
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
            Closing::ToolWentOn {
                how: ToolEvent::Succeeded
            }
        ))
    );
    assert!(matches!(
        stage.sessions.prompt(id).unwrap().reply,
        ReplyState::Resolved { .. }
    ));
    assert_eq!(stage.sessions.iter().next().unwrap().phase, Phase::Running);
}

#[test]
fn an_accepted_email_as_the_chapters_want_it() {
    let mut stage = Stage::new();
    stage.start();
    stage.on(
        "state.changed",
        json!({"from_state": "thinking", "to_state": "awaiting_input"}),
    );
    let id = stage.ask("rpl_1");
    stage.answer(id, Decision::Accept);
    let what = stage.on(
        "state.changed",
        json!({"from_state": "awaiting_input", "to_state": "calling_tool"}),
    );
    assert!(matches!(
        closed(&what),
        Some((_, Closing::StateLeft { .. }))
    ));
    stage.tool("send_email", "call_1");
    assert_eq!(stage.wait(5000), []);
    assert_eq!(dangers(&stage.done("send_email", "call_1", "success")), []);
}

#[test]
fn a_deed_after_a_rejection_is_a_danger_in_both_orders() {
    // Invoked first, as real producers do.
    let mut stage = Stage::new();
    stage.start();
    stage.tool("send_email", "call_1");
    let id = stage.ask("rpl_1");
    stage.answer(id, Decision::Reject);
    let what = stage.done("send_email", "call_1", "success");
    assert_eq!(
        dangers(&what),
        [Danger::DoneAfterRejection {
            tool: "send_email".into(),
            prompt: id
        }]
    );
    // Asked first, as the chapters want.
    let mut stage = Stage::new();
    stage.start();
    let id = stage.ask("rpl_1");
    stage.answer(id, Decision::Reject);
    stage.on(
        "state.changed",
        json!({"from_state": "awaiting_input", "to_state": "calling_tool"}),
    );
    stage.tool("send_email", "call_1");
    let what = stage.done("send_email", "call_1", "success");
    assert_eq!(
        dangers(&what),
        [Danger::DoneAfterRejection {
            tool: "send_email".into(),
            prompt: id
        }]
    );
}

#[test]
fn a_declined_tool_is_no_danger_and_the_next_output_is_introduced() {
    let mut stage = Stage::new();
    stage.start();
    stage.tool("send_email", "call_1");
    let id = stage.ask("rpl_1");
    stage.answer(id, Decision::Reject);
    assert_eq!(dangers(&stage.done("send_email", "call_1", "error")), []);
    let first = stage.on(
        "output.streaming",
        json!({"chunk": "Sent!", "position": 0, "complete": false}),
    );
    assert!(first.iter().any(|what| matches!(what, What::Output { after_rejection: Some(action), .. } if action == "Send an email to Bob")));
    let second = stage.on(
        "output.streaming",
        json!({"chunk": " Bye.", "position": 5, "complete": true}),
    );
    assert!(second.iter().all(|what| !matches!(
        what,
        What::Output {
            after_rejection: Some(_),
            ..
        }
    )));
}

#[test]
fn an_unasked_irreversible_call_is_told_after_two_seconds_or_at_its_success() {
    let mut stage = Stage::new();
    stage.start();
    stage.tool("send_email", "call_1");
    assert_eq!(stage.wait(1999), []);
    assert_eq!(
        dangers(&stage.wait(1)),
        [Danger::Unasked {
            tool: "send_email".into(),
            done: false
        }]
    );
    assert_eq!(stage.wait(9000), [], "told once while it runs");
    let mut stage = Stage::new();
    stage.start();
    stage.tool("send_email", "call_1");
    assert_eq!(
        dangers(&stage.done("send_email", "call_1", "success")),
        [Danger::Unasked {
            tool: "send_email".into(),
            done: true
        }]
    );
    let mut stage = Stage::new();
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
    let mut stage = Stage::new();
    stage.start();
    let id = stage.ask("rpl_1");
    stage.answer(id, Decision::Accept);
    stage.on(
        "state.changed",
        json!({"from_state": "awaiting_input", "to_state": "calling_tool"}),
    );
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
        let mut stage = Stage::new();
        stage.start();
        let what = stage.on("awaiting.confirmation", json!({
            "action": "a", "consequence": "c", "reply_token": "rpl_1", "timeout_seconds": 9, "default_decision": "accept",
            "risk_level": risk, "reversibility": "irreversible",
        }));
        assert_eq!(dangers(&what).len(), wanted, "{risk}");
    }
}

#[test]
fn an_answer_after_the_end_is_told() {
    let mut stage = Stage::new();
    stage.start();
    let id = stage.ask("rpl_1");
    stage.sessions.reply_sending(
        id,
        Answer::Decision {
            decision: Decision::Accept,
            rationale: None,
        },
        stage.now.wall,
        stage.now,
    );
    stage.on("session.cancelled", json!({"cancelled_by": "timeout"}));
    let what: Vec<What> = stage
        .sessions
        .reply_sent(id, stage.now)
        .into_iter()
        .map(|change| change.what)
        .collect();
    assert_eq!(dangers(&what), [Danger::AnsweredAfterEnd { prompt: id }]);
}

#[test]
fn acting_after_the_end_is_a_danger() {
    let mut stage = Stage::new();
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
fn time_warns_and_then_probably_ends_a_question_that_stays_answerable() {
    let mut stage = Stage::new();
    stage.start();
    let id = stage.ask_with("rpl_1", json!({"timeout_seconds": 100}));
    assert_eq!(stage.wait(49_999), []);
    assert!(
        matches!(stage.wait(1)[..], [What::PromptWarning { remaining, .. }] if remaining == Duration::from_secs(50))
    );
    assert!(
        matches!(stage.wait(30_000)[..], [What::PromptWarning { remaining, .. }] if remaining == Duration::from_secs(20))
    );
    assert_eq!(stage.wait(20_000), [What::PromptTimedOut(id)]);
    assert!(stage.sessions.prompt(id).unwrap().is_answerable());
    assert_eq!(stage.sessions.deadline(), None);
    let what = stage.on("session.completed", json!({}));
    assert!(matches!(closed(&what), Some((_, Closing::SessionEnded))));
    assert!(!stage.sessions.prompt(id).unwrap().is_open());
}

#[test]
fn a_short_time_is_warned_of_at_a_tenth() {
    let mut stage = Stage::new();
    stage.start();
    stage.ask_with("rpl_1", json!({"timeout_seconds": 20}));
    assert_eq!(stage.wait(10_000).len(), 1);
    assert_eq!(stage.wait(7_999), []);
    assert!(
        matches!(stage.wait(1)[..], [What::PromptWarning { remaining, .. }] if remaining == Duration::from_secs(2))
    );
}

#[test]
fn the_producers_clock_may_differ() {
    let mut stage = Stage::new();
    let stamp = |stage: &Stage, late_ms: i64| {
        let millis = stage.now.wall.as_millisecond() - 3_600_000 - late_ms;
        format!("{:.3}", Timestamp::from_millisecond(millis).unwrap())
    };
    let fresh = stamp(&stage, 0);
    stage.on("session.started", json!({"timestamp": fresh}));
    let late = stamp(&stage, 40_000);
    let id = stage.ask_with("rpl_1", json!({"timeout_seconds": 100, "timestamp": late}));
    let prompt = stage.sessions.prompt(id).unwrap();
    assert_eq!(
        stage.sessions.expires(prompt),
        Some(Duration::from_secs(60)),
        "40 s were spent under way"
    );
}

#[test]
fn a_lost_link_makes_fates_unknown_until_the_session_speaks_again() {
    let mut stage = Stage::new();
    stage.start();
    let id = stage.ask("rpl_1");
    assert_eq!(stage.sessions.link_lost(LINK), [id]);
    assert!(!stage.sessions.prompt(id).unwrap().is_answerable());
    stage.sessions.link_connected(LINK, stage.now);
    // A restarted server: another session, another question.
    stage.now = stage.now.after(Duration::from_millis(10));
    stage.on("session.started", json!({"session_id": "sess_2"}));
    let new = stage.ask_with("rpl_2", json!({"session_id": "sess_2"}));
    assert!(stage.sessions.prompt(new).unwrap().is_answerable());
    assert!(!stage.sessions.prompt(id).unwrap().is_answerable());
    // The old server after all: its session speaks.
    let what = stage.on("progress.updated", json!({"progress": {"percent": 3}}));
    assert!(what.contains(&What::PromptAnswerable(id)));
    assert!(stage.sessions.prompt(id).unwrap().is_answerable());
}

#[test]
fn a_question_whose_link_stays_lost_ends_with_its_time() {
    let mut stage = Stage::new();
    stage.start();
    let id = stage.ask("rpl_1");
    stage.sessions.link_lost(LINK);
    let what = stage.wait(300_000);
    assert_eq!(closed(&what), Some((id, Closing::LinkGone)));
    assert_eq!(stage.sessions.deadline(), None);
}

#[test]
fn replayed_questions_are_raised_only_if_nothing_answered_them() {
    let mut stage = Stage::new();
    let mut old = Vec::new();
    old.push(stage.event("session.started", json!({})));
    old.push(stage.event(
        "awaiting.confirmation",
        json!({"action": "x", "reply_token": "rpl_1", "timeout_seconds": 300}),
    ));
    let answered = stage.event(
        "state.changed",
        json!({"from_state": "awaiting_input", "to_state": "thinking"}),
    );
    stage.now = stage.now.after(Duration::from_secs(5));
    stage.sessions.link_connected(LINK, stage.now);
    for event in old.iter().chain([&answered]) {
        let what = stage.put(LINK, event);
        assert!(
            !what
                .iter()
                .any(|what| matches!(what, What::PromptOpened(_))),
            "{what:?}"
        );
    }
    assert_eq!(stage.wait(2000), [], "answered before we came");

    let mut stage = Stage::new();
    stage
        .sessions
        .link_connected(LINK, stage.now.after(Duration::from_secs(5)));
    stage.now = stage.now.after(Duration::from_secs(5));
    for event in &old {
        stage.put(LINK, event);
    }
    assert!(stage.sessions.open_prompts().next().is_none());
    assert_eq!(stage.wait(249), []);
    assert!(
        matches!(stage.wait(1)[..], [What::PromptOpened(_)]),
        "250 ms of silence"
    );
    assert_eq!(stage.sessions.open_prompts().count(), 1);
}

#[test]
fn duplicates_are_dropped_per_link_and_agent() {
    let mut stage = Stage::new();
    let event = stage.event("session.started", json!({}));
    assert_eq!(stage.put(LINK, &event).len(), 1);
    assert_eq!(stage.put(LINK, &event), []);
    assert_eq!(stage.put(LinkId(1), &event).len(), 1, "another source");
    let mut other = event.clone();
    other["producer"]["agent_id"] = "b".into();
    assert_eq!(stage.put(LINK, &other).len(), 1, "another agent");
    assert_eq!(stage.sessions.dropped().duplicates, 1);
    assert_eq!(stage.sessions.agents(), 3);
}

#[test]
fn only_the_same_agents_end_closes_a_question() {
    let mut stage = Stage::new();
    stage.start();
    let id = stage.ask("rpl_1");
    let other = json!({"producer": {"agent_id": "b"}});
    let what = stage.on("session.completed", other);
    assert_eq!(closed(&what), None);
    assert!(stage.sessions.prompt(id).unwrap().is_open());
}

#[test]
fn other_activity_is_told_once_and_leaves_the_question_open() {
    let mut stage = Stage::new();
    stage.start();
    let id = stage.ask("rpl_1");
    let what = stage.on(
        "state.changed",
        json!({"from_state": "thinking", "to_state": "deciding"}),
    );
    assert!(what.contains(&What::PromptPerhapsResolved(id)));
    let what = stage.on(
        "state.changed",
        json!({"from_state": "deciding", "to_state": "thinking"}),
    );
    assert!(!what.contains(&What::PromptPerhapsResolved(id)));
    assert!(stage.sessions.prompt(id).unwrap().is_answerable());
    let what = stage.on("progress.updated", json!({"progress": {"percent": 50}}));
    assert_eq!(what.len(), 1, "a countdown says nothing about the question");
}

#[test]
fn with_two_open_only_an_answered_one_is_taken_for_decided() {
    let mut stage = Stage::new();
    stage.start();
    let first = stage.ask_with("rpl_1", json!({"action": "One"}));
    let second = stage.ask_with("rpl_2", json!({"action": "Two"}));
    stage.answer(second, Decision::Accept);
    let what = stage.on(
        "state.changed",
        json!({"from_state": "awaiting_input", "to_state": "thinking"}),
    );
    assert_eq!(closed(&what).map(|(id, _)| id), Some(second));
    assert!(stage.sessions.prompt(first).unwrap().is_open());
}

#[test]
fn the_second_step_is_wanted_unless_all_is_known_to_be_mild() {
    for (fields, wanted) in [
        (json!({}), true),
        (json!({"risk_level": "low", "irreversible": false}), false),
        (
            json!({"risk_level": "medium", "irreversible": null, "reversibility": "reversible"}),
            false,
        ),
        (
            json!({"risk_level": "medium", "irreversible": null, "reversibility": "irreversible"}),
            true,
        ),
        (json!({"risk_level": null, "irreversible": false}), true),
        (json!({"risk_level": "odd", "irreversible": false}), true),
        (json!({"risk_level": "low", "irreversible": null}), true),
        (
            json!({"risk_level": "medium", "irreversible": false, "default_decision": "accept"}),
            true,
        ),
        (
            json!({"risk_level": "low", "irreversible": false, "default_decision": "accept"}),
            false,
        ),
        (
            json!({"risk_level": "low", "irreversible": false, "action": "x".repeat(2000)}),
            true,
        ),
    ] {
        let mut stage = Stage::new();
        stage.start();
        let id = stage.ask_with("rpl_1", fields.clone());
        assert_eq!(
            stage.sessions.prompt(id).unwrap().wants_second_step(),
            wanted,
            "{fields}"
        );
    }
}

#[test]
fn a_server_that_sends_again_what_it_sent_before_is_the_one_that_asked() {
    let mut stage = Stage::new();
    stage.start();
    let question = stage.event(
        "awaiting.confirmation",
        json!({"action": "x", "reply_token": "rpl_1", "timeout_seconds": 300}),
    );
    stage.put(LINK, &question);
    stage.sessions.link_lost(LINK);
    stage.sessions.link_connected(LINK, stage.now);
    assert_eq!(
        stage.put(LINK, &question),
        [What::PromptAnswerable(PromptId(1))]
    );
    assert!(stage.sessions.prompt(PromptId(1)).unwrap().is_answerable());
}

#[test]
fn a_token_that_means_something_else_is_another_question_in_two_steps() {
    let mut stage = Stage::new();
    stage.start();
    let mild = json!({"action": "Read the weather", "risk_level": "low", "irreversible": false});
    let first = stage.ask_with("rpl_1", mild.clone());
    assert!(!stage.sessions.prompt(first).unwrap().wants_second_step());
    let mut other = mild;
    other["action"] = "Delete all backups".into();
    let second = stage.ask_with("rpl_1", other);
    assert!(!stage.sessions.prompt(first).unwrap().is_open());
    let second = stage.sessions.prompt(second).unwrap();
    assert!(second.is_answerable() && second.wants_second_step());
}

#[test]
fn what_differs_in_its_outcome_is_not_the_same_question() {
    let mut stage = Stage::new();
    stage.start();
    let first = stage.ask_with("rpl_1", json!({"action": "Run it", "consequence": "ls"}));
    stage.ask_with(
        "rpl_2",
        json!({"action": "Run it", "consequence": "rm -rf /"}),
    );
    assert!(stage.sessions.prompt(first).unwrap().is_open());
    let third = stage.ask_with("rpl_3", json!({"action": "Run it", "consequence": "ls"}));
    assert!(!stage.sessions.prompt(first).unwrap().is_open());
    assert!(stage.sessions.prompt(third).unwrap().is_open());
}

#[test]
fn leaving_awaiting_input_twice_does_not_cover_an_unasked_call() {
    let mut stage = Stage::new();
    stage.start();
    let id = stage.ask("rpl_1");
    stage.answer(id, Decision::Accept);
    stage.tool("send_email", "call_1");
    stage.on(
        "state.changed",
        json!({"from_state": "awaiting_input", "to_state": "thinking"}),
    );
    stage.done("send_email", "call_1", "success");
    stage.tool("wipe_disk", "call_2");
    assert_eq!(
        dangers(&stage.done("wipe_disk", "call_2", "success")).len(),
        1
    );
}

#[test]
fn a_flood_of_tools_does_not_hide_an_irreversible_one() {
    let mut stage = Stage::new();
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
fn a_second_start_closes_what_was_asked_before() {
    let mut stage = Stage::new();
    stage.start();
    let id = stage.ask("rpl_1");
    let what = stage.on("session.started", json!({}));
    assert!(closed(&what).is_some());
    assert!(!stage.sessions.prompt(id).unwrap().is_open());
}

#[test]
fn one_wrong_stamp_does_not_end_a_question() {
    let mut stage = Stage::new();
    stage.start();
    stage.on(
        "progress.updated",
        json!({"progress": {"percent": 1}, "timestamp": "2030-01-01T00:00:00Z"}),
    );
    let id = stage.ask("rpl_1");
    let prompt = stage.sessions.prompt(id).unwrap();
    assert_eq!(
        stage.sessions.expires(prompt),
        Some(Duration::from_secs(300))
    );
}

#[test]
fn names_of_a_megabyte_are_shortened_and_stay_apart() {
    let mut stage = Stage::new();
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
