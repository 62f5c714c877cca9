//! What comes with a command after its question.

use super::*;

#[test]
fn what_only_describes_a_command_is_no_other_question_and_anything_else_is() {
    let command = "echo hello > note.txt";
    let asked = |kind: &str, later: Value| {
        let mut run = AcpRig::prompted();
        run.asks(
            &json!(1),
            &json!({"toolCallId": "a", "kind": kind, "title": "bash", "rawInput": {"command": command}}),
        );
        let mut update = json!({"sessionUpdate": "tool_call_update", "toolCallId": "a"});
        update
            .as_object_mut()
            .unwrap()
            .extend(later.as_object().unwrap().clone());
        run.update(update);
        run
    };
    let described = json!({"rawInput": {"command": command, "description": "Write a note"}});
    let mut run = asked("execute", described.clone());
    assert_eq!(run.count("awaiting.confirmation"), 1);
    run.decide(7, "accept", None);
    let once =
        r#"{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"selected","optionId":"once"}}}"#;
    assert_eq!(run.sent, [(7, once.to_owned())]);
    // Another description changes no more than the first.
    let mut run = asked("execute", described.clone());
    run.update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "a",
        "rawInput": {"command": command, "description": "Harmless"}}),
    );
    assert_eq!(run.count("awaiting.confirmation"), 1);
    run.update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "a",
        "rawInput": {"command": "rm -rf src", "description": "Harmless"}}),
    );
    assert_eq!(run.count("awaiting.confirmation"), 2);
    // A tool of another kind may do something with its description.
    assert_eq!(asked("other", described).count("awaiting.confirmation"), 2);
    for later in [
        json!({"rawInput": {"command": "rm -rf src", "description": "Write a note"}}),
        json!({"rawInput": {"command": command, "description": "Write a note", "cwd": "/etc"}}),
        json!({"rawInput": {"command": command, "description": "Write a note", "timeout": 5}}),
        json!({"rawInput": {"command": command, "description": "Write a note", "script": "rm x"}}),
        json!({"rawInput": {"command": command, "description": {"run": "rm x"}}}),
        json!({"rawInput": {"command": command, "request_description": "Write a note"}}),
        json!({"rawInput": {"description": "Write a note"}}),
        json!({"rawInput": {"command": command, "description": "Write a note"}, "kind": "delete"}),
        json!({"rawInput": {"command": command, "description": "Write a note"}, "title": "rm x"}),
        json!({"rawInput": {"command": command, "description": "Write a note"},
            "locations": [{"path": "/etc/passwd"}]}),
        json!({"rawInput": {"command": command, "description": "Write a note"},
            "content": [{"type": "diff", "path": "a", "oldText": "a", "newText": "b"}]}),
        json!({"rawInput": {"command": command, "description": "Write a note"},
            "content": [{"type": "content", "content": {"type": "text", "text": "also rm x"}}]}),
    ] {
        let run = asked("execute", later.clone());
        assert_eq!(run.count("awaiting.confirmation"), 2, "{later}");
        assert_eq!(run.faults, [""; 0], "{later}");
    }
}
