//! Several agents: one session of many (A.9, pattern 1), linked sessions (pattern 2), and the trace
//! of A.10.

use super::*;
use crate::protocol::TransitionError;

fn started(agent: &str, session: &str, extensions: Value) -> Value {
    json!({"producer": {"agent_id": agent, "agent_name": agent.to_uppercase()}, "session_id": session, "extensions": extensions})
}

#[test]
fn agents_under_one_session_id_have_each_their_own_state() {
    let mut stage = SessionStage::new();
    for agent in ["a", "b"] {
        stage.on("session.started", started(agent, "sess_1", json!({})));
    }
    let by = |agent: &str, from: &str, to: &str| json!({"producer": {"agent_id": agent}, "from_state": from, "to_state": to});
    let mut found = Vec::new();
    for fields in [
        by("a", "idle", "thinking"),
        by("b", "idle", "thinking"),
        by("a", "thinking", "calling_tool"),
        by("b", "thinking", "writing_output"),
    ] {
        found.extend(anomalies(&stage.on("state.changed", fields)));
    }
    assert_eq!(found, [], "each chain is its own");
    let mut states: Vec<_> = stage
        .sessions
        .iter()
        .map(|session| session.state.clone().unwrap())
        .collect();
    states.sort();
    assert_eq!(states, ["calling_tool", "writing_output"]);
    stage.on("session.completed", json!({"producer": {"agent_id": "a"}}));
    let running: Vec<&str> = stage
        .sessions
        .iter()
        .filter(|session| !session.is_ended())
        .map(|session| session.key.agent.as_str())
        .collect();
    assert_eq!(running, ["b"], "one agent's end is not the other's");
}

#[test]
fn linked_sessions_know_whose_part_they_are() {
    for extensions in [
        json!({"parent_session_id": "sess_main"}),
        json!({"other": {"x": 1}, "orchestra": {"parent_session_id": "sess_main"}}),
    ] {
        let mut stage = SessionStage::new();
        stage.on(
            "session.started",
            started("planner", "sess_main", json!({})),
        );
        stage.on(
            "session.started",
            started("searcher", "sess_sub", extensions),
        );
        let part = stage
            .sessions
            .iter()
            .find(|session| session.key.session.as_str() == "sess_sub")
            .unwrap();
        assert_eq!(
            stage.sessions.parent(part).unwrap().agent.as_ref(),
            "PLANNER"
        );
        stage.on(
            "session.completed",
            json!({"producer": {"agent_id": "planner"}, "session_id": "sess_main"}),
        );
        let part = stage
            .sessions
            .iter()
            .find(|session| session.key.session.as_str() == "sess_sub")
            .unwrap();
        assert!(!part.is_ended(), "each machine is independent");
    }
}

#[test]
fn a_parent_of_another_source_or_of_itself_is_none() {
    let mut stage = SessionStage::new();
    let other = stage.event(
        "session.started",
        started("planner", "sess_main", json!({})),
    );
    stage.put(LinkId(1), &other);
    stage.on(
        "session.started",
        started(
            "searcher",
            "sess_sub",
            json!({"parent_session_id": "sess_main"}),
        ),
    );
    stage.on(
        "session.started",
        started(
            "loner",
            "sess_self",
            json!({"parent_session_id": "sess_self"}),
        ),
    );
    let sessions: Vec<&Session> = stage
        .sessions
        .iter()
        .filter(|it| it.key.link == LINK)
        .collect();
    assert_eq!(sessions.len(), 2);
    assert!(
        sessions
            .iter()
            .all(|it| stage.sessions.parent(it).is_none())
    );
}

/// An observer that records its notifications.
#[derive(Default)]
struct Diary {
    lines: Vec<String>,
    before: usize,
}

impl Observer for Diary {
    fn before(&mut self, _: &MachineStep<'_>) {
        self.before += 1;
    }
    fn after(&mut self, step: &MachineStep<'_>, to: &'static str) {
        if step.named.from != to {
            self.lines.push(format!(
                "{} {} -> {to}: {}",
                step.named.machine, step.named.from, step.named.event
            ));
        }
    }
    fn error(&mut self, step: &MachineStep<'_>, error: &TransitionError) {
        self.lines.push(format!("{} {error}", step.named.machine));
    }
}

#[test]
fn the_trace_of_a_session_is_every_step_of_its_machines() {
    let mut stage = SessionStage::new();
    let mut diary = Diary::default();
    let mut on = |kind: &str, fields: Value| {
        let event = stage.event(kind, fields);
        let decoded = decode(&event.to_string()).unwrap();
        stage
            .sessions
            .apply_observed(LINK, decoded, stage.now, &mut diary);
    };
    on("session.started", json!({}));
    on(
        "state.changed",
        json!({"from_state": "idle", "to_state": "thinking"}),
    );
    on(
        "tool.invoked",
        json!({"tool": "balance", "tool_call_id": "call_1"}),
    );
    on(
        "tool.completed",
        json!({"tool": "balance", "tool_call_id": "call_1", "status": "success"}),
    );
    on(
        "tool.completed",
        json!({"tool": "balance", "tool_call_id": "call_1", "status": "success"}),
    );
    on(
        "awaiting.confirmation",
        json!({"action": "Send", "reply_token": "rpl_1", "timeout_seconds": 30, "default_decision": "reject"}),
    );
    on(
        "state.changed",
        json!({"from_state": "awaiting_input", "to_state": "writing_output"}),
    );
    on(
        "output.streaming",
        json!({"chunk": "a", "position": 0, "complete": false}),
    );
    on(
        "output.streaming",
        json!({"chunk": "b", "position": 1, "complete": true}),
    );
    on("session.completed", json!({}));
    on("session.completed", json!({}));
    assert_eq!(
        diary.lines,
        [
            "session no session -> active: session.started",
            "state idle -> thinking: to thinking",
            "tool not called -> running: tool.invoked",
            "tool running -> succeeded: tool.completed success",
            "tool tool does not take tool.completed success in the state succeeded",
            "question not asked -> unanswered: asked",
            "state awaiting_input -> writing_output: to writing_output",
            "question unanswered -> withdrawn: closed",
            "output not begun -> streaming: chunk",
            "output streaming -> complete: last chunk",
            "session active -> completed: session.completed",
            "session session does not take session.completed in the state completed",
        ]
    );
    assert!(
        diary.before >= diary.lines.len(),
        "one call before each step"
    );
}
