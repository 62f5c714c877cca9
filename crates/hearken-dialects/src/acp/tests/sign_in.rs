//! Signing in: the ways that an agent offers, and repeating what it refused.

use super::*;

fn ways() -> Value {
    json!([
        {"id": "browser", "name": "Browser", "description": "Opens a page"},
        {"id": "key", "name": "A key", "type": "env_var", "vars": [{"name": "FOX_KEY", "secret": true}, {"name": "FOX_ORG"}]},
        {"id": "hand", "name": "By hand", "type": "terminal", "args": ["login", "--now"], "env": {"LOGIN": "1"}},
        {"name": "no id"},
    ])
}

fn refused(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": "Authentication required"}})
}

fn new(id: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"session/new","params":{{"cwd":"/work/a","mcpServers":[]}}}}"#
    )
}

fn authenticate(id: u64, way: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"authenticate","params":{{"methodId":"{way}"}}}}"#
    )
}

/// Creates a client with a held prompt, of an agent that requires signing in.
fn wanting(ways: Value) -> AcpRig {
    let mut run = AcpRig::new(TransportKind::Lines);
    run.person_request(&PersonRequest::Prompt("go".to_owned()));
    run.news(&LinkEvent::Connected);
    run.frame(
        json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1, "authMethods": ways,
        "agentInfo": {"name": "fox", "title": "Fox"}}}),
    );
    run.frame(refused(2));
    run.sent.clear();
    run.phrase_keys.clear();
    run
}

#[test]
fn the_ways_are_a_question_and_what_was_refused_is_asked_for_again_once_one_is_taken() {
    let mut run = wanting(ways());
    let asked = run.last("awaiting.clarification").clone();
    let labels: Vec<&str> = asked["choices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|choice| choice["label"].as_str().unwrap())
        .collect();
    assert_eq!(
        labels,
        [
            "Browser: Opens a page",
            "A key, with what FOX_KEY, FOX_ORG held when hearken started",
            "By hand, by hand in a terminal",
            "try again, I have signed in elsewhere",
        ]
    );
    let token = run.token();
    for value in ["0", "5", "x"] {
        run.respond_under(5, &token, value);
        assert_eq!(run.settled.last(), Some(&(5, false)), "{value}");
    }
    run.respond_under(6, &token, "1");
    assert_eq!(run.sent, [(6, authenticate(3, "browser"))]);
    run.respond_under(7, &token, "2");
    assert_eq!(run.settled.last(), Some(&(7, false)), "one is on its way");
    run.written(6, true);
    assert_eq!(
        run.last("session.completed")["summary_normal"],
        "The agent signs you in: Browser. It may open your browser."
    );
    assert_eq!(run.kinds().last().unwrap(), "session.completed");
    assert!(run.machine.connection().in_turn);
    run.frame(json!({"jsonrpc": "2.0", "id": 3, "result": {}}));
    assert_eq!(run.phrase_keys, ["acp.sign_in.done"]);
    assert_eq!(run.frames()[1], new(4));
    run.frame(json!({"jsonrpc": "2.0", "id": 4, "result": {"sessionId": "s"}}));
    assert!(run.frames()[2].contains(r#""method":"session/prompt""#));
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn what_does_not_work_is_told_and_asked_again_and_an_answer_that_did_not_go_out_can_be_given_again()
{
    let mut run = wanting(ways());
    run.respond(6, "2");
    run.written(6, false);
    run.respond(7, "2");
    // The agent's answer may arrive before the report that our request was written.
    run.frame(
        json!({"jsonrpc": "2.0", "id": 4, "error": {"code": -32603, "message": "no such key"}}),
    );
    run.written(7, true);
    assert_eq!(run.phrase_keys, ["acp.sign_in.failed"]);
    let asked = |run: &AcpRig| {
        let asks = |kind: &&String| *kind == "awaiting.clarification";
        run.kinds().iter().filter(asks).count()
    };
    assert_eq!(asked(&run), 2);
    // A way by hand is explained, requested from nobody, and asked again.
    let sent = run.sent.len();
    run.respond(8, "3");
    assert_eq!(run.settled.last(), Some(&(8, true)));
    let said = run.last("session.completed")["summary_normal"].to_string();
    assert!(
        said.contains("login --now") && said.contains("LOGIN=1"),
        "{said}"
    );
    assert_eq!((run.sent.len(), asked(&run)), (sent, 3));
    run.respond(9, "4");
    assert_eq!(run.frames().last(), Some(&new(5).as_str()));
    run.frame(refused(5));
    assert_eq!(asked(&run), 4, "still not");
    run.news(&LinkEvent::Ended);
    assert_eq!(run.phrase_keys.last(), Some(&"prompt.unsent"));
    assert_eq!(run.kinds().last().unwrap(), "session.errored");
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn signing_in_is_taken_back_by_a_stop_and_asked_again_when_the_agent_says_so() {
    let mut run = wanting(ways());
    run.person_request(&PersonRequest::Stop);
    assert_eq!(run.phrase_keys, ["stop_turn.none"], "nothing is under way");
    run.respond(6, "1");
    run.written(6, true);
    run.person_request(&PersonRequest::Stop);
    assert_eq!(
        run.frames()[1],
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":3}}"#
    );
    run.frame(json!({"jsonrpc": "2.0", "id": 3, "error": {"code": -32800, "message": "Request cancelled"}}));
    assert_eq!(
        run.phrase_keys[1..],
        ["acp.sign_in.stops", "acp.sign_in.failed"]
    );
    assert_eq!(run.kinds().last().unwrap(), "awaiting.clarification");
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn a_prompt_that_is_refused_for_it_is_kept_and_sent_when_somebody_is_signed_in() {
    let mut run = AcpRig::new(TransportKind::Lines);
    run.news(&LinkEvent::Connected);
    run.frame(
        json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1, "authMethods": ways()}}),
    );
    run.frame(json!({"jsonrpc": "2.0", "id": 2, "result": {"sessionId": "s"}}));
    run.person_request(&PersonRequest::Prompt("do it".to_owned()));
    run.frame(refused(3));
    assert_eq!(run.last("session.errored")["error_category"], "unknown");
    run.person_request(&PersonRequest::Prompt("and this".to_owned()));
    let sent = run.sent.len();
    run.respond(6, "1");
    run.written(6, true);
    run.frame(json!({"jsonrpc": "2.0", "id": 4, "result": {}}));
    assert_eq!(run.sent.len(), sent + 2);
    assert!(run.frames()[sent + 1].contains("do it"));
    run.frame(json!({"jsonrpc": "2.0", "id": 5, "result": {"stopReason": "end_turn"}}));
    assert!(run.frames()[sent + 2].contains("and this"));
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn a_conversation_of_before_that_was_chosen_is_asked_for_again_and_not_another_one() {
    let mut run = AcpRig::wanting(TransportKind::Lines, ConversationToContinue::Last);
    run.news(&LinkEvent::Connected);
    let capabilities = json!({"loadSession": true, "sessionCapabilities": {"list": {}}});
    run.frame(
        json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1, "authMethods": ways(),
        "agentCapabilities": capabilities}}),
    );
    run.frame(json!({"jsonrpc": "2.0", "id": 2, "result": {"sessions": [{"sessionId": "old", "cwd": "/work/a"}]}}));
    run.frame(refused(3));
    run.respond(6, "4");
    assert!(
        run.frames()[3].contains(r#""id":4,"method":"session/load","params":{"sessionId":"old""#)
    );
    run.frame(json!({"jsonrpc": "2.0", "id": 4, "result": {}}));
    assert!(run.phrase_keys.contains(&"acp.earlier.open"));
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn an_agent_that_offers_too_much_offers_what_can_be_asked() {
    let many: Vec<Value> = (0..100)
        .map(|n| json!({"id": n.to_string(), "description": "x".repeat(9000)}))
        .collect();
    let run = wanting(many.into());
    let asked = run.last("awaiting.clarification");
    assert_eq!(asked["choices"].as_array().unwrap().len(), 32);
    assert_eq!(run.faults, [""; 0]);
}
