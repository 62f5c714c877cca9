use super::*;

fn input() -> Value {
    json!({"turnId": "u", "itemId": "c", "isBlocking": true, "autoResolutionMs": null, "questions": [
        {"id": "colour", "header": "Colour", "question": "Which colour?", "isOther": true, "isSecret": false,
            "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": ""}]},
        {"id": "size", "header": "Size", "question": "Which size?", "isOther": false, "isSecret": false, "options": null}]})
}

#[test]
fn questions_of_the_agent_are_asked_one_after_the_other_and_answered_together() {
    let mut run = CodexRig::in_turn();
    run.request(json!(5), "item/tool/requestUserInput", input());
    let asked = run.last("awaiting.clarification");
    assert_eq!(asked["question"], "Question 1 of 2: Which colour?");
    assert_eq!(
        asked["accepted_response_kinds"],
        json!(["multiple_choice", "freetext"])
    );
    assert_eq!(
        asked["choices"][0],
        json!({"value": "Red", "label": "Red: warm"})
    );
    run.respond(1, Response::Text("Red".to_owned()));
    assert_eq!((run.outcomes.len(), run.answers().len()), (1, 0));
    assert_eq!(
        run.last("awaiting.clarification")["question"],
        "Question 2 of 2: Which size?"
    );
    run.respond(2, Response::Text("Big".to_owned()));
    let answers =
        json!({"answers": {"colour": {"answers": ["Red"]}, "size": {"answers": ["Big"]}}});
    assert_eq!(run.answers(), [(json!(5), answers)]);
    run.written(2, true);
    run.resolved(json!(5));
    assert_eq!(run.outcomes.last(), Some(&(2, Ok(Receipt::Taken))));
    assert_eq!(run.kinds().last().unwrap(), "thinking");
    // Answered elsewhere halfway through: nothing is sent.
    run.request(json!(6), "item/tool/requestUserInput", input());
    run.respond(3, Response::Text("Red".to_owned()));
    run.resolved(json!(6));
    assert_eq!(run.answers().len(), 1);
    assert_eq!(run.kinds().last().unwrap(), "thinking");
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn an_answer_that_did_not_go_out_can_be_given_again() {
    let mut run = CodexRig::in_turn();
    run.request(json!(5), "item/tool/requestUserInput", input());
    run.respond(1, Response::Text("Red".to_owned()));
    run.respond(2, Response::Text("Big".to_owned()));
    run.written(2, false);
    assert!(run.outcomes[1].1.is_err());
    run.respond(3, Response::Text("Small".to_owned()));
    assert_eq!(
        run.answers()[1].1["answers"]["size"]["answers"],
        json!(["Small"])
    );
    assert_eq!(
        run.answers()[1].1["answers"]["colour"]["answers"],
        json!(["Red"])
    );
}

#[test]
fn a_secret_is_typed_nowhere() {
    let mut run = CodexRig::in_turn();
    let question = json!({"id": "k", "question": "Which key?", "isOther": false, "isSecret": true, "options": null});
    run.request(
        json!(5),
        "item/tool/requestUserInput",
        json!({"turnId": "u", "itemId": "c", "questions": [question]}),
    );
    assert_eq!(run.view_only, 1);
    let asked = run.last("awaiting.clarification")["question"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(asked.starts_with("Which key? This is a secret."), "{asked}");
    run.respond(1, Response::Text("x".to_owned()));
    assert!(run.answers().is_empty());
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn a_tool_of_a_server_is_allowed_once_for_the_conversation_or_for_ever() {
    let mut run = CodexRig::in_turn();
    let call = json!({"type": "mcpToolCall", "id": "x", "server": "mock", "tool": "echo", "status": "inProgress",
        "arguments": {"text": "x"}, "result": null, "error": null});
    run.item("item/started", "u", call);
    let asks = json!({"turnId": "u", "serverName": "mock", "mode": "form", "message": "Allow the mock MCP server to run tool \"echo\"?",
        "_meta": {"codex_approval_kind": "mcp_tool_call", "persist": ["session", "always"], "tool_name": "echo", "tool_params": {"text": "x"}},
        "requestedSchema": {"type": "object", "properties": {}}});
    run.request(json!(2), "mcpServer/elicitation/request", asks);
    let asked = run.last("awaiting.confirmation");
    assert_eq!(asked["action"], "mock: echo (text: x)");
    assert_eq!(
        asked["allowed_replies"],
        json!([
            "accept",
            "allow, and this tool without asking until this conversation ends",
            "allow, and this tool without asking in every conversation",
            "reject",
            "reject, and stop the turn"
        ])
    );
    run.after(Duration::from_secs(3));
    assert_eq!(run.count("tool.invoked"), 0, "it waits");
    run.decide(
        1,
        "allow, and this tool without asking until this conversation ends",
        None,
    );
    assert_eq!(
        run.answers()[0].1,
        json!({"action": "accept", "content": {}, "_meta": {"persist": "session"}})
    );
    run.written(1, true);
    run.resolved(json!(2));
    assert_eq!(run.count("tool.invoked"), 1);
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn forms_of_servers_are_asked_field_by_field_and_can_be_declined() {
    let form = |properties: Value, required: Value| {
        json!({"turnId": "u", "serverName": "mock", "mode": "form", "_meta": null,
        "message": "Which branch?", "requestedSchema": {"type": "object", "properties": properties, "required": required}})
    };
    let mut run = CodexRig::in_turn();
    run.request(
        json!(1),
        "mcpServer/elicitation/request",
        form(
            json!({"branch": {"type": "string", "title": "Branch"},
        "force": {"type": "boolean"}, "n": {"type": "integer"}}),
            json!(["branch", "n"]),
        ),
    );
    let asked = run.last("awaiting.clarification");
    assert_eq!(
        asked["question"],
        "Question 1 of 2: mock asks: Which branch? It wants: Branch"
    );
    run.respond(1, Response::Text("main".to_owned()));
    assert_eq!(
        run.last("awaiting.clarification")["accepted_response_kinds"],
        json!(["numeric", "multiple_choice"])
    );
    run.respond(2, Response::Number(3.0));
    assert_eq!(
        run.answers()[0].1,
        json!({"action": "accept", "content": {"branch": "main", "n": 3}, "_meta": null})
    );
    run.written(2, true);
    run.resolved(json!(1));
    let choice = json!({"type": "string", "oneOf": [{"const": "a", "title": "The first"}, {"const": "b", "title": "The second"}]});
    run.request(
        json!(2),
        "mcpServer/elicitation/request",
        form(json!({"one": choice}), json!([])),
    );
    let choices = run.last("awaiting.clarification")["choices"].clone();
    assert_eq!(choices[0], json!({"value": "a", "label": "The first"}));
    assert_eq!(choices[2]["label"], "decline it");
    run.respond(3, Response::Text("hearken:decline".to_owned()));
    assert_eq!(
        run.answers()[1].1,
        json!({"action": "decline", "content": null, "_meta": null})
    );
    run.written(3, true);
    run.resolved(json!(2));
    // A form that can't be asked is reported, and stays open for other clients.
    run.request(
        json!(3),
        "mcpServer/elicitation/request",
        form(json!({"deep": {"type": "object"}}), json!([])),
    );
    assert_eq!(
        (run.phrase_keys.last(), run.answers().len()),
        (Some(&"codex.not_asked"), 2)
    );
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn a_page_to_open_is_asked_with_its_host() {
    let mut run = CodexRig::in_turn();
    run.request(
        json!(1),
        "mcpServer/elicitation/request",
        json!({"turnId": "u", "serverName": "mock", "mode": "url", "_meta": null,
        "message": "Sign in", "url": "https://example.com/login?x", "elicitationId": "e"}),
    );
    assert_eq!(
        run.last("awaiting.confirmation")["action"],
        "mock wants you to open a page of example.com: https://example.com/login?x (Sign in)"
    );
    run.decide(1, "reject", None);
    assert_eq!(run.answers()[0].1["action"], "decline");
}

#[test]
fn what_is_for_other_clients_is_left_to_them_and_what_is_for_a_person_is_told() {
    let mut run = CodexRig::in_turn();
    run.request(json!(1), "item/tool/call", json!({"turnId": "u"}));
    run.request(json!(2), "attestation/generate", json!({}));
    run.request(json!(3), "applyPatchApproval", json!({"turnId": "u"}));
    run.request(
        json!(4),
        "item/commandExecution/requestApproval",
        json!({"turnId": "u"}),
    );
    assert_eq!(run.answers(), [], "the first answer would count for all");
    assert_eq!(
        run.phrase_keys,
        [
            "codex.left_to_others",
            "codex.left_to_others",
            "codex.not_asked",
            "codex.not_asked"
        ]
    );
}
