//! Answers whose fate only their dialect knows, when the link is over before it says so.

use super::*;
use crate::config::Dialect;
use crate::dialect::Carrier;

fn message(kind: &str, more: Value) -> String {
    let mut map = json!({
        "protocol_version": "sage.runtime.v0", "kind": "notification", "type": kind, "id": "evt",
        "thread_id": "t", "turn_id": "u", "timestamp": "2026-06-30T00:00:00Z", "source": "runtime",
        "payload": {},
    });
    for (name, value) in more.as_object().unwrap() {
        map[name] = value.clone();
    }
    map.to_string()
}

/// Sage, whose question was rejected; the answer is on its way.
fn rejected() -> Stage {
    let source = SourceSetup {
        name: "sage".into(),
        answerable: true,
        carrier: Carrier::Lines,
        dialect: Dialect::Sage,
        program: true,
        ..SourceSetup::default()
    };
    let mut stage = Stage::of(PIPE, vec![source]);
    stage.link(0, LinkEvent::Connected);
    stage.wait(2000);
    let asks = json!({"request_id": "r/1", "item_id": "p", "payload": {"tool_name": "bash",
        "risk": "low", "reason": "clean up", "input_redacted": false, "input": {"cmd": "ls"}}});
    for text in [
        message("thread.started", json!({})),
        message("turn.started", json!({"payload": {"input_item_id": "i"}})),
        message("permission.requested", asks),
    ] {
        stage.link(0, LinkEvent::Frame(Frame::of(text)));
    }
    stage.wait(3000);
    stage.type_line("n 1");
    assert_eq!(stage.sent.len(), 1, "{:?}", stage.lines);
    stage.lines.clear();
    stage
}

fn written(stage: &mut Stage) {
    let request = stage.sent[0].0;
    let outcome = Ok(Receipt::Written);
    stage.link(0, LinkEvent::Replied { request, outcome });
}

fn leaves(stage: &mut Stage) {
    stage.type_line("x");
    stage.type_line("x");
}

const PERHAPS: &str = "perhaps arrived";

#[test]
fn a_run_ends_although_the_link_was_over_before_the_word_for_an_answer() {
    type Over = fn(&mut Stage);
    let ways: [(&str, Over); 3] = [
        ("ended", |stage| stage.link(0, LinkEvent::Ended)),
        ("failed", |stage| {
            let fault = Fault::Exited { code: 1 };
            stage.link(0, LinkEvent::Failed { fault });
        }),
        ("left", leaves),
    ];
    for (way, over) in ways {
        // The transport had said that it was written.
        let mut stage = rejected();
        written(&mut stage);
        over(&mut stage);
        stage.wait(10_000);
        assert!(stage.heard(PERHAPS), "{way}: {:?}", stage.lines);
        assert!(
            !stage.heard("and is sent again"),
            "{way}: {:?}",
            stage.lines
        );
        assert!(stage.quit.is_some(), "{way}: {:?}", stage.lines);
        // It says so only now.
        let mut stage = rejected();
        over(&mut stage);
        stage.wait(10_000);
        assert_eq!(stage.quit, None, "{way}: the transport still owes its word");
        written(&mut stage);
        stage.wait(1000);
        assert!(stage.heard(PERHAPS), "{way}: {:?}", stage.lines);
        assert!(stage.quit.is_some(), "{way}: {:?}", stage.lines);
    }
}
