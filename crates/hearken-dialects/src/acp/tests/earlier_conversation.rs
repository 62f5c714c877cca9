//! Continuing an earlier conversation.

use super::*;

/// Creates a client that wants to continue, of an agent with these capabilities for conversations.
fn wanting(earlier: ConversationToContinue, capabilities: Value) -> AcpRig {
    let mut run = AcpRig::wanting(TransportKind::Lines, earlier);
    run.person_request(&PersonRequest::Prompt("go on".to_owned()));
    run.news(&LinkEvent::Connected);
    run.sent.clear();
    run.phrase_keys.clear();
    run.phrases.clear();
    run.frame(json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1, "agentCapabilities": capabilities,
        "agentInfo": {"name": "fox", "title": "Fox"}}}));
    run
}

fn all() -> Value {
    json!({"loadSession": true, "sessionCapabilities": {"list": {}, "resume": {}}})
}

fn lists(run: &mut AcpRig, sessions: Value) {
    run.frame(json!({"jsonrpc": "2.0", "id": 2, "result": {"sessions": sessions}}));
}

fn two() -> Value {
    json!([
        {"sessionId": "old", "cwd": "/work/a", "title": "The first", "updatedAt": "2026-03-01T10:00:00Z"},
        {"sessionId": "elsewhere", "cwd": "/work/b", "updatedAt": "2026-03-06T10:00:00Z"},
        {"sessionId": "new", "cwd": "/work/a", "title": "The last", "updatedAt": "2026-03-05T11:00:00+01:00"},
    ])
}

const LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"session/list","params":{"cwd":"/work/a"}}"#;

fn load(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":3,"method":"session/load","params":{{"sessionId":"{id}","cwd":"/work/a","mcpServers":[]}}}}"#
    )
}

#[test]
fn the_last_one_of_this_folder_is_opened_and_what_was_said_in_it_is_counted_and_not_told() {
    let mut run = wanting(ConversationToContinue::Last, all());
    lists(&mut run, two());
    assert_eq!(run.frames(), [LIST, &load("new")]);
    let says = |kind: &str, text: &str| json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
    for update in [
        says("user_message_chunk", "one"),
        says("agent_message_chunk", "Fine."),
        touch("completed"),
        says("user_message_chunk", "two"),
        says("agent_thought_chunk", "hm"),
        json!({"sessionUpdate": "plan", "entries": [{"content": "x", "status": "completed"}]}),
    ] {
        run.update(update);
    }
    assert_eq!((run.events.len(), run.phrase_keys.len()), (0, 0));
    run.frame(
        json!({"jsonrpc": "2.0", "id": 3, "result": {"modes": {"currentModeId": "ask",
        "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code"}]}}}),
    );
    assert_eq!(run.phrase_keys, ["acp.earlier.open", "oversight.starts"]);
    let said = format!("{:?}", run.phrases[0]);
    assert!(
        said.contains("The last") && said.contains("\"2\""),
        "{said}"
    );
    assert!(
        run.frames()[2].contains(r#""id":4,"method":"session/prompt","params":{"sessionId":"new""#)
    );
    // What comes from now on is new.
    run.update(says("agent_message_chunk", "On it."));
    assert_eq!(run.last("output.streaming")["chunk"], "On it.");
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn which_one_is_a_question_and_its_answer_opens_it() {
    let mut run = wanting(ConversationToContinue::Chosen, all());
    lists(&mut run, two());
    assert_eq!(run.frames(), [LIST]);
    let asked = run.last("awaiting.clarification").clone();
    assert_eq!(
        asked["choices"],
        json!([{"value": "1", "label": "The last, 2026-03-05"}, {"value": "2", "label": "The first, 2026-03-01"}])
    );
    let token = asked["reply_token"].as_str().unwrap().to_owned();
    for (request, token, value) in [
        (6, "other", "1"),
        (7, token.as_str(), "3"),
        (8, token.as_str(), "x"),
    ] {
        run.respond_under(request, token, value);
        assert_eq!(run.settled.last(), Some(&(request, false)));
    }
    run.respond_under(9, &token, "2");
    assert_eq!(run.sent[1], (9, load("old")));
    run.respond_under(10, &token, "1");
    assert_eq!(run.settled.last(), Some(&(10, false)), "one is on its way");
    run.written(9, true);
    assert_eq!(run.settled.last(), Some(&(9, true)));
    assert_eq!(run.kinds().last().unwrap(), "session.completed");
    run.frame(json!({"jsonrpc": "2.0", "id": 3, "result": {}}));
    assert_eq!(run.phrase_keys, ["acp.earlier.open", "oversight.no_modes"]);
    assert!(run.frames()[2].contains("\"sessionId\":\"old\""));
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn an_answer_that_did_not_go_out_can_be_given_again_and_an_agent_that_ends_ends_the_question() {
    let mut run = wanting(ConversationToContinue::Chosen, all());
    lists(&mut run, two());
    let token = run.last("awaiting.clarification")["reply_token"]
        .as_str()
        .unwrap()
        .to_owned();
    run.respond_under(9, &token, "1");
    run.written(9, false);
    run.respond_under(10, &token, "2");
    assert!(run.frames()[2].contains("\"sessionId\":\"old\""));
    run.news(&LinkEvent::Ended);
    assert_eq!(run.kinds().last().unwrap(), "session.errored");
    assert_eq!(run.phrase_keys, ["prompt.unsent"]);
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn who_can_only_resume_is_asked_to_and_one_alone_needs_no_question() {
    let mut run = wanting(
        ConversationToContinue::Chosen,
        json!({"sessionCapabilities": {"list": {}, "resume": {}}}),
    );
    lists(&mut run, json!([{"sessionId": "only", "cwd": "/work/a"}]));
    assert!(run.frames()[1].contains(r#""method":"session/resume","params":{"sessionId":"only""#));
    run.frame(json!({"jsonrpc": "2.0", "id": 3, "result": {}}));
    assert_eq!(run.phrase_keys, ["acp.earlier.open", "oversight.no_modes"]);
    assert!(run.frames()[2].contains("session/prompt"));
}

#[test]
fn who_wants_to_go_on_is_never_given_a_new_conversation() {
    let refused = json!({"jsonrpc": "2.0", "id": 3, "error": {"code": -32603, "message": "gone"}});
    for (capabilities, sessions, answer, key) in [
        (json!({}), None, None, "acp.earlier.never"),
        (
            json!({"loadSession": true}),
            None,
            None,
            "acp.earlier.never",
        ),
        (
            json!({"sessionCapabilities": {"list": {}}}),
            None,
            None,
            "acp.earlier.never",
        ),
        (all(), Some(json!([])), None, "acp.earlier.none"),
        (all(), Some(two()), Some(refused), "acp.earlier.refused"),
    ] {
        let mut run = wanting(ConversationToContinue::Last, capabilities);
        if let Some(sessions) = sessions {
            lists(&mut run, sessions);
        }
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
        assert_eq!(run.phrase_keys, ["prompt.unsent"]);
        assert!(
            !run.frames()
                .iter()
                .any(|frame| frame.contains("session/new"))
        );
    }
}

#[test]
fn a_mode_among_the_options_is_told_when_it_is_another_one() {
    let options = |now: &str| {
        json!([{"id": "model", "category": "model", "currentValue": "m", "options": []},
            {"id": "mode", "category": "mode", "currentValue": now,
                "options": [{"value": "build", "name": "Build"}, {"value": "plan", "name": "Plan"}]}])
    };
    let mut run = AcpRig::new(TransportKind::Lines);
    run.news(&LinkEvent::Connected);
    run.frame(json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1}}));
    run.frame(json!({"jsonrpc": "2.0", "id": 2, "result": {"sessionId": "s", "configOptions": options("build")}}));
    for mode in ["build", "plan"] {
        run.update(
            json!({"sessionUpdate": "config_option_update", "configOptions": options(mode)}),
        );
    }
    run.update(json!({"sessionUpdate": "current_mode_update", "currentModeId": "plan"}));
    assert_eq!(
        run.phrase_keys,
        ["oversight.starts", "acp.ready", "oversight.starts"]
    );
    assert!(format!("{:?}", run.phrases[2]).contains("Plan"));
    assert!(run.events.is_empty());
}
