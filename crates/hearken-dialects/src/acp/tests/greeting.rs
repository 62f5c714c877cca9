//! The greeting, the conversation, prompts before, during and after a turn.

use super::*;

const GREETING: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":"#,
    r#"{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false,"session":{"configOptions":{"boolean":{}}},"#,
    r#""elicitation":{"form":{},"url":{}}},"clientInfo":{"name":"hearken","#,
    r#""title":"hearken","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}}}"#
);

#[test]
fn each_message_goes_out_in_its_turn_and_to_the_letter() {
    let mut run = AcpRig::new(TransportKind::Lines);
    run.person_request(&PersonRequest::Prompt("say \"hi\"\nand go".to_owned()));
    assert_eq!(
        (run.sent.len(), run.phrase_keys.as_slice()),
        (0, &["prompt.early"][..])
    );
    run.news(&LinkEvent::Connected);
    assert_eq!(run.frames(), [GREETING]);
    run.frame(json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1}}));
    assert_eq!(
        run.frames()[1],
        r#"{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/work/a","mcpServers":[]}}"#
    );
    run.frame(json!({"jsonrpc": "2.0", "id": 2, "result": {"sessionId": "a/b"}}));
    assert_eq!(
        run.frames()[2],
        r#"{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"a/b","prompt":[{"type":"text","text":"say \"hi\"\nand go"}]}}"#
    );
    assert_eq!(
        run.last("session.started")["request_text"],
        "say \"hi\"\nand go"
    );
    assert_eq!(
        run.last("session.started")["extensions"]["hearken"]["thread"],
        "a/b"
    );
    assert_eq!(run.sent.len(), 3);
}

#[test]
fn a_prompt_during_a_turn_waits_for_its_end() {
    let mut run = AcpRig::prompted();
    run.person_request(&PersonRequest::Prompt("and then".to_owned()));
    assert_eq!(
        (run.sent.len(), run.phrase_keys.as_slice()),
        (0, &["prompt.held"][..])
    );
    run.frame(json!({"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "end_turn"}}));
    assert!(run.frames()[0].contains("\"id\":4,\"method\":\"session/prompt\""));
    assert!(run.frames()[0].contains("and then"));
    for _ in 0..40 {
        run.person_request(&PersonRequest::Prompt("more".to_owned()));
    }
    assert!(run.phrase_keys.contains(&"prompt.too_many"));
    run.news(&LinkEvent::Ended);
    assert!(run.phrase_keys.contains(&"prompt.unsent"));
    run.person_request(&PersonRequest::Prompt("more".to_owned()));
    assert_eq!(run.phrase_keys.last(), Some(&"prompt.nobody"));
    assert_eq!(run.last("session.errored")["error_category"], "unknown");
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn an_agent_that_can_not_begin_is_given_up_with_what_helps() {
    let refused =
        |code: i64| json!({"jsonrpc": "2.0", "id": 2, "error": {"code": code, "message": "no"}});
    for (greeting, answer, key) in [
        (2, None, "acp.version"),
        (1, Some(refused(-32000)), "acp.sign_in"),
        (1, Some(refused(-32603)), "acp.no_start"),
        (
            1,
            Some(json!({"jsonrpc": "2.0", "id": 2, "result": {}})),
            "acp.no_session",
        ),
    ] {
        let mut run = AcpRig::new(TransportKind::Lines);
        run.news(&LinkEvent::Connected);
        run.person_request(&PersonRequest::Prompt("go".to_owned()));
        run.frame(
            json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": greeting,
            "authMethods": []}}),
        );
        if let Some(answer) = answer {
            run.frame(answer);
        }
        let [
            Fault::Rejected {
                reason,
                again: false,
                ..
            },
        ] = run.closed.as_slice()
        else {
            panic!("{:?}", run.closed);
        };
        assert_eq!(reason.key, key);
        assert!(run.phrase_keys.contains(&"prompt.unsent"), "{key}");
    }
}

/// The greeting of an agent that speaks nothing but version 2, as its documents have it.
#[test]
fn an_agent_of_version_2_is_left_with_its_name_and_one_sentence() {
    let mut run = AcpRig::new(TransportKind::Lines);
    run.news(&LinkEvent::Connected);
    run.frame(
        json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 2,
        "capabilities": {"session": {"prompt": {"image": {}}, "mcp": {"stdio": {}}}},
        "info": {"name": "my-agent", "title": "My Agent", "version": "1.0.0"}, "authMethods": []}}),
    );
    let [
        Fault::Rejected {
            reason,
            again: false,
            ..
        },
    ] = run.closed.as_slice()
    else {
        panic!("{:?}", run.closed);
    };
    assert_eq!(reason.key, "acp.version");
    assert_eq!(run.frames().len(), 1, "only our greeting was sent");
    assert_eq!((run.phrase_keys.as_slice(), run.unread), (&[][..], 0));
}

/// An agent that agrees to version 1 and then sends what belongs to version 2.
#[test]
fn what_belongs_to_version_2_is_told_once_and_no_permission_of_its_form_is_given() {
    let mut run = AcpRig::prompted();
    let content = json!([{"type": "text", "text": "do it"}]);
    run.update(json!({"sessionUpdate": "user_message", "messageId": "u", "content": content}));
    run.update(json!({"sessionUpdate": "state_update", "state": "running"}));
    run.update(json!({"sessionUpdate": "agent_message", "messageId": "m", "content": content}));
    run.update(json!({"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": []}}));
    run.update(json!({"sessionUpdate": "terminal_update", "terminalId": "t", "command": "ls"}));
    assert_eq!(
        (run.phrase_keys.as_slice(), run.unread),
        (&["acp.mixed"][..], 0)
    );
    run.frame(json!({"jsonrpc": "2.0", "id": 7, "method": "session/request_permission", "params": {
        "sessionId": "s", "title": "Run it?", "subject": {"type": "command", "command": "rm x", "cwd": "/w"},
        "options": [{"optionId": "once", "name": "Yes", "kind": "allow_once"}]}}));
    assert!(
        run.frames()
            .iter()
            .any(|it| it.contains(r#""id":7,"error""#))
    );
    assert_eq!(run.phrase_keys.last(), Some(&"acp.permission_unread"));
    assert!(!run.kinds().contains(&"awaiting.confirmation".to_owned()));
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn ids_of_the_two_sides_are_never_mixed_up() {
    let mut run = AcpRig::prompted();
    // The agent's own request has the id of our prompt, and so has an answer to nothing.
    run.asks(&json!(3), &json!({"toolCallId": "c", "title": "x"}));
    run.frame(json!({"jsonrpc": "2.0", "id": 99, "result": {"stopReason": "end_turn"}}));
    assert!(!run.kinds().contains(&"session.completed".to_owned()));
    run.decide(1, "accept", None);
    assert_eq!(
        run.frames(),
        [
            r#"{"jsonrpc":"2.0","id":3,"result":{"outcome":{"outcome":"selected","optionId":"once"}}}"#
        ]
    );
}

#[test]
fn what_was_not_offered_is_refused_in_silence() {
    let mut run = AcpRig::prompted();
    for (id, method) in [
        ("\"a\"", "fs/read_text_file"),
        ("7", "craft/drainMidTurnQueue"),
    ] {
        run.frame(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"path":"/x"}}}}"#
        ));
    }
    run.frame(r#"{"jsonrpc":"2.0","method":"qwen/notify/session/mode-update","params":{"v":1}}"#);
    assert_eq!(
        run.frames(),
        [
            r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"Method not found"}}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"Method not found"}}"#,
        ]
    );
    assert_eq!(run.phrase_keys, [""; 0]);
}

#[test]
fn of_a_capture_everything_is_heard_and_nothing_sent() {
    let mut run = AcpRig::new(TransportKind::OneWay);
    run.news(&LinkEvent::Connected);
    run.frame(json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 1, "agentCapabilities": {}}}));
    run.frame(json!({"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s"}}));
    run.update(
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hi."}}),
    );
    run.asks(&json!(5), &json!({"toolCallId": "c", "title": "x"}));
    assert_eq!(run.view_only, 1);
    run.decide(1, "accept", None);
    assert_eq!(run.settled, [(1, false)]);
    assert!(run.sent.is_empty());
    assert_eq!(run.faults, [""; 0]);
}
