//! What somebody missed while away, as a broker delivers it afterwards.

use super::*;
use crate::dialect::{BrokerPlace, TransportKind};
use crate::link::Frame;

/// A space on a broker; what was missed comes next.
pub(super) fn space(missed: u64) -> Stage {
    let source = SourceSetup {
        name: "space".to_owned(),
        answerable: true,
        carrier: TransportKind::Broker,
        dialect: crate::config::Dialect::Nats,
        broker: Some(BrokerPlace::default()),
        ..SourceSetup::default()
    };
    let mut stage = Stage::of(PIPE, vec![source]);
    stage.link(0, LinkEvent::Connecting { attempt: 1 });
    stage.link(0, LinkEvent::Connected);
    if missed > 0 {
        stage.link(0, LinkEvent::Missed { count: missed });
    }
    stage
}

/// An event of the machine `build-3`, as the broker delivers it.
fn delivered(stage: &mut Stage, id: u64, lane: &str, kind: &str, more: Value) {
    let mut event = json!({
        "@context": "https://aaep-protocol.org/context/v1", "type": format!("aaep:agent.{kind}"),
        "aaep_version": "1.0.0", "event_id": format!("evt_{id}"), "session_id": "sess_1",
        "sequence_number": id, "timestamp": "2026-01-01T00:00:00Z",
        "producer": {"agent_id": "fox", "agent_name": "Fox"},
    });
    let more = more.as_object().unwrap().clone();
    event.as_object_mut().unwrap().extend(more);
    let frame = Frame {
        event: Some(format!("aaep.v1.main.build-3.fox.sess_1.{lane}")),
        position: Some(id + 1),
        ..Frame::of(event.to_string())
    };
    stage.link(0, LinkEvent::Frame(frame));
}

fn work(stage: &mut Stage) {
    delivered(
        stage,
        0,
        "life",
        "session.started",
        json!({"summary_normal": "At work."}),
    );
    let text = json!({"chunk": "One sentence. Another one.", "complete": true, "output_id": "o"});
    delivered(stage, 1, "text", "output.streaming", text);
}

fn question(stage: &mut Stage, id: u64, token: &str) {
    let waits = json!({"from_state": "thinking", "to_state": "awaiting_input"});
    delivered(stage, id, "ask", "state.changed", waits);
    let asks = json!({
        "action": "rm -rf build", "reply_token": token, "default_decision": "reject",
        "summary_normal": "Remove it?",
    });
    delivered(stage, id + 1, "ask", "awaiting.confirmation", asks);
}

#[test]
fn what_was_missed_is_counted_and_the_open_question_is_asked_after_that() {
    let mut stage = space(4);
    work(&mut stage);
    question(&mut stage, 2, "rpl_1");
    stage.link(0, LinkEvent::CaughtUp);
    // The machines may still say what runs.
    stage.assert_not_heard(phrase!("away.missed"));
    stage.wait(2000);
    let counts = "While you were away: 1 session started, 2 sentences of text. 1 question waits for you. \
                  1 agent works.";
    let at = |words: &str| stage.lines.iter().position(|line| line.contains(words));
    let (counted, asked) = (at(counts), at("Question 1"));
    assert!(counted.is_some() && counted < asked, "{:?}", stage.lines);
    stage.assert_not_heard("One sentence.");
    stage.type_line("find Another");
    assert!(stage.heard("Another one."), "it is in the history");
}

#[test]
fn a_question_that_was_decided_meanwhile_is_not_asked() {
    let mut stage = space(5);
    work(&mut stage);
    question(&mut stage, 2, "rpl_1");
    let back = json!({"from_state": "awaiting_input", "to_state": "thinking"});
    delivered(&mut stage, 4, "ask", "state.changed", back);
    stage.link(0, LinkEvent::CaughtUp);
    stage.wait(2000);
    stage.assert_heard(phrase!("away.missed"));
    stage.assert_not_heard("Question 1");
    stage.assert_not_heard("waits for you");
}

#[test]
fn nothing_worth_a_word_is_not_announced() {
    let mut stage = space(1);
    stage.link(0, LinkEvent::CaughtUp);
    stage.wait(2000);
    stage.assert_not_heard(phrase!("away.missed"));
}

#[test]
fn a_link_that_is_lost_meanwhile_still_asks_what_has_come() {
    let mut stage = space(9);
    work(&mut stage);
    question(&mut stage, 2, "rpl_1");
    stage.link(
        0,
        LinkEvent::Lost {
            fault: Fault::Closed,
            retry_in: Duration::from_secs(1),
        },
    );
    stage.assert_heard(phrase!("away.missed"));
    stage.assert_heard(phrase!("question.head", n = 1));
    // Afterwards, everything is announced as usual.
    stage.link(0, LinkEvent::Connecting { attempt: 2 });
    stage.link(0, LinkEvent::Connected);
    stage.wait(2000);
    let text = json!({"chunk": "It goes on.", "complete": true, "output_id": "p"});
    delivered(&mut stage, 4, "text", "output.streaming", text);
    stage.assert_heard("It goes on.");
}

#[test]
fn whoever_missed_nothing_hears_everything_at_once() {
    let mut stage = space(0);
    work(&mut stage);
    stage.wait(2000);
    stage.assert_heard("One sentence.");
    stage.assert_not_heard(phrase!("away.missed"));
}
