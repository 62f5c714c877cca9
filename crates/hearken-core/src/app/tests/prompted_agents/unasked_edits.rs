//! An agent that changes files before it has ever asked.

use super::*;

/// Has the agent of a link run a command to its end, without asking.
fn run(stage: &mut Stage, link: usize, call: &str, command: &str, status: &str) {
    stage.update(link, json!({"sessionUpdate": "tool_call", "toolCallId": call, "title": command, "kind": "execute",
        "status": "in_progress", "rawInput": {"command": command}}));
    stage.update(
        link,
        json!({"sessionUpdate": "tool_call_update", "toolCallId": call, "status": status}),
    );
}

fn notices(stage: &Stage) -> usize {
    stage
        .lines
        .iter()
        .filter(|line| phrase!("oversight.unasked.*").is_in(line))
        .count()
}

#[test]
fn it_is_said_once_for_each_agent_at_its_first_change() {
    let mut stage = Stage::agents(2, PIPE, Config::default());
    run(&mut stage, 0, "1", "ls -la", "completed");
    run(&mut stage, 0, "2", "touch a.txt", "failed");
    assert_eq!(notices(&stage), 0, "{:?}", stage.lines);
    run(&mut stage, 0, "3", "touch a.txt", "completed");
    stage.assert_heard(phrase!("oversight.unasked.*", agent = "Fox 0"));
    run(&mut stage, 0, "4", "rm a.txt", "completed");
    assert_eq!(notices(&stage), 1);
    run(&mut stage, 1, "1", "echo hello > b.txt", "completed");
    assert_eq!(notices(&stage), 2, "{:?}", stage.lines);
}

#[test]
fn an_edit_is_a_change_too() {
    let mut stage = Stage::agent(PIPE, Config::default());
    stage.update(0, json!({"sessionUpdate": "tool_call", "toolCallId": "1", "title": "Edit", "kind": "edit",
        "status": "in_progress", "content": [{"type": "diff", "path": "/work/a/b.txt", "oldText": "a", "newText": "b"}]}));
    stage.update(
        0,
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "completed"}),
    );
    assert_eq!(notices(&stage), 1, "{:?}", stage.lines);
}

#[test]
fn nothing_is_said_of_an_agent_that_has_asked() {
    let mut stage = Stage::agent(PIPE, Config::default());
    stage.link(0, LinkEvent::Frame(Frame::of(json!({"jsonrpc": "2.0", "id": 9, "method": "session/request_permission",
        "params": {"sessionId": "s", "toolCall": {"toolCallId": "1", "title": "touch a.txt", "kind": "execute",
            "rawInput": {"command": "touch a.txt"}},
        "options": [{"optionId": "once", "name": "Yes", "kind": "allow_once"}, {"optionId": "no", "name": "No", "kind": "reject_once"}]}})
        .to_string())));
    run(&mut stage, 0, "2", "touch b.txt", "completed");
    assert_eq!(notices(&stage), 0, "{:?}", stage.lines);
}
