//! Updates that come after the agent has ended its turn.

use super::*;

fn call(status: &str) -> Value {
    json!({"sessionUpdate": "tool_call", "toolCallId": "e", "title": "npm start", "kind": "execute", "status": status,
        "rawInput": {"command": "npm start"}})
}

fn news(status: &str) -> Value {
    json!({"sessionUpdate": "tool_call_update", "toolCallId": "e", "status": status})
}

/// A turn that has ended while its call runs.
fn ended() -> AcpRig {
    let mut run = AcpRig::prompted();
    run.update(call("in_progress"));
    run.after(Duration::from_secs(2));
    run.frame(json!({"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "end_turn"}}));
    run
}

fn last_kinds(run: &AcpRig, count: usize) -> Vec<String> {
    let kinds = run.kinds();
    kinds[kinds.len() - count..].to_vec()
}

#[test]
fn late_news_belong_to_the_turn_that_ended() {
    let mut run = ended();
    assert_eq!(last_kinds(&run, 1), ["tool.invoked"]);
    run.after(Duration::from_secs(1));
    run.update(news("completed"));
    run.update(json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "It has stopped."}}));
    run.after(Duration::from_secs(1));
    assert_eq!(run.count("session.started"), 1);
    assert_eq!(
        run.last("tool.completed")["summary_normal"],
        "Done: npm start"
    );
    let last = last_kinds(&run, 3);
    assert_eq!(last, ["output.streaming", "thinking", "session.completed"]);
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn a_program_that_writes_for_ever_does_not_hold_back_the_end() {
    let mut run = ended();
    for _ in 0..12 {
        run.after(Duration::from_secs(1));
        run.update(news("in_progress"));
    }
    assert_eq!(run.count("session.completed"), 1);
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn a_prompt_or_a_stop_waits_for_no_late_news() {
    let mut run = ended();
    run.person_request(&PersonRequest::Prompt("go on".to_owned()));
    assert!(run.frames().last().unwrap().contains("session/prompt"));
    assert_eq!(run.count("session.completed"), 1);
    assert_eq!(run.count("session.started"), 2);
    let mut run = ended();
    run.person_request(&PersonRequest::Stop);
    assert_eq!(run.count("session.completed"), 1);
    assert_eq!(run.phrase_keys.last().unwrap(), &"stop_turn.none");
}

#[test]
fn a_call_that_runs_on_keeps_its_name() {
    let mut run = ended();
    run.after(Duration::from_secs(6));
    assert_eq!(run.count("session.completed"), 1);
    run.after(Duration::from_secs(60));
    run.update(news("completed"));
    assert_eq!(run.last("tool.invoked")["summary_normal"], "npm start");
    assert_eq!(
        run.last("tool.completed")["summary_normal"],
        "Done: npm start"
    );
    assert_eq!(run.faults, [""; 0]);
}
