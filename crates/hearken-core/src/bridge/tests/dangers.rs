//! What is reported for watchers that do not receive the calls of an agent.

use super::*;
use crate::dialect::fleet::{Census, DangerKind};

fn dangers(effects: &[BridgeEffect]) -> Vec<DangerKind> {
    let dangers = effects.iter().filter_map(|effect| match effect {
        BridgeEffect::Report {
            report: BridgeReport::Danger(danger),
            ..
        } => Some(danger.kind),
        _ => None,
    });
    dangers.collect()
}

fn numbered(kind: &str, id: &str, more: Value) -> Value {
    let mut event = event(kind, more);
    event["event_id"] = id.into();
    event
}

#[test]
fn a_call_that_was_rejected_and_runs_all_the_same_is_reported() {
    let mut bench = BridgeBench::one();
    let asked = bench.asks(0, "rpl_1");
    bench.answers("anna", Decision::Reject, &asked);
    bench.settles(0, Ok(Receipt::Taken));
    let call = json!({"tool": "rm -rf build", "tool_call_id": "c1"});
    let state = json!({"from_state": "awaiting_input", "to_state": "calling_tool"});
    let mut effects = bench.event(0, &numbered("state.changed", "evt_a", state));
    effects.extend(bench.event(0, &numbered("tool.invoked", "evt_b", call)));
    let done = json!({"tool": "rm -rf build", "tool_call_id": "c1", "status": "success"});
    effects.extend(bench.event(0, &numbered("tool.completed", "evt_c", done)));
    assert_eq!(dangers(&effects), [DangerKind::Rejected], "{effects:?}");
}

#[test]
fn an_irreversible_call_that_nobody_was_asked_about_is_reported_when_it_shows() {
    let mut bench = BridgeBench::one();
    bench.event(0, &event("session.started", json!({})));
    let call =
        json!({"tool": "drop", "tool_call_id": "c1", "irreversible": true, "risk_level": "high"});
    let mut effects = bench.event(0, &numbered("tool.invoked", "evt_b", call));
    bench.now.monotonic += Duration::from_secs(10);
    effects.extend(bench.update(BridgeInput::Deadline));
    assert_eq!(dangers(&effects), [DangerKind::Unasked], "{effects:?}");
}

#[test]
fn a_question_that_its_call_decided_is_reported_as_closed() {
    let mut bench = BridgeBench::one();
    bench.event(0, &event("session.started", json!({})));
    let call = json!({"tool": "rm -rf build", "tool_call_id": "c1"});
    bench.event(0, &numbered("tool.invoked", "evt_a", call));
    let state = json!({"from_state": "calling_tool", "to_state": "awaiting_input"});
    bench.event(0, &event("state.changed", state));
    bench.event(0, &question("rpl_1", "rm -rf build"));
    let done = json!({"tool": "rm -rf build", "tool_call_id": "c1", "status": "success"});
    let effects = bench.event(0, &numbered("tool.completed", "evt_b", done));
    let to = "calling_tool".to_owned();
    assert_eq!(closed(&effects), [Closed::Decided { to }], "{effects:?}");
}

#[test]
fn the_census_counts_agents_by_what_they_do() {
    let mut bench = BridgeBench::new(vec![Connection::default(), Connection::default()]);
    bench.asks(0, "rpl_1");
    bench.event(1, &event("session.started", json!({})));
    let census = |working, waiting, silent| Census {
        working,
        waiting,
        silent,
    };
    assert_eq!(bench.bridge.census(bench.now), census(1, 1, 0));
    bench.now.monotonic += Duration::from_secs(60);
    assert_eq!(bench.bridge.census(bench.now), census(0, 1, 1));
}
