use super::*;

fn decisions(run: &CodexRig) -> Vec<String> {
    let asked = run.last("awaiting.confirmation")["allowed_replies"]
        .as_array()
        .unwrap();
    asked
        .iter()
        .map(|it| it.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_command_is_asked_with_all_its_decisions_and_told_as_running_only_when_it_is_allowed() {
    let mut run = CodexRig::in_turn();
    run.asks(json!(0), "c");
    run.after(Duration::from_secs(5));
    let asked = run.last("awaiting.confirmation");
    assert_eq!(
        (&asked["action"], &asked["risk_level"]),
        (&json!("touch a.txt"), &Value::Null)
    );
    assert_eq!(
        asked["extra_context"]["reason"],
        "Do you want to make the file?"
    );
    assert_eq!(
        decisions(&run),
        [
            "accept",
            "allow, and never ask again about commands that begin with: touch",
            "reject, and stop the turn",
            "reject"
        ]
    );
    assert_eq!(run.count("tool.invoked"), 0);
    run.decide(1, "accept", None);
    assert_eq!(run.answers(), [(json!(0), json!({"decision": "accept"}))]);
    run.written(1, true);
    assert!(
        run.outcomes.is_empty(),
        "the server has not said that it took it"
    );
    run.resolved(json!(0));
    assert_eq!(run.outcomes, [(1, Ok(Receipt::Taken))]);
    assert_eq!(run.count("tool.invoked"), 1);
    run.item("item/completed", "u", touch("c", "completed"));
    assert_eq!(run.last("tool.completed")["status"], "success");
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn every_decision_goes_out_as_the_server_wrote_it() {
    let rule = json!({"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["touch"]}});
    for (decision, wanted) in [
        ("reject", json!("decline")),
        ("reject, and stop the turn", json!("cancel")),
        (
            "allow, and never ask again about commands that begin with: touch",
            rule,
        ),
    ] {
        let mut run = CodexRig::in_turn();
        run.asks(json!("q"), "c");
        run.decide(1, decision, None);
        assert_eq!(run.answers(), [(json!("q"), json!({"decision": wanted}))]);
    }
    let mut run = CodexRig::in_turn();
    run.asks(json!(0), "c");
    run.decide(1, "odd", None);
    assert!(run.answers().is_empty());
    assert!(run.outcomes[0].1.is_err());
}

#[test]
fn without_a_list_of_decisions_those_of_the_schema_are_offered() {
    let mut run = CodexRig::in_turn();
    run.request(json!(0), "item/commandExecution/requestApproval", json!({"turnId": "u", "itemId": "c", "command": "curl x",
        "networkApprovalContext": {"host": "x.example", "protocol": "https"},
        "proposedNetworkPolicyAmendments": [{"host": "x.example", "action": "allow"}, {"host": "x.example", "action": "deny"}, {"host": "x", "action": "odd"}]}));
    assert_eq!(
        run.last("awaiting.confirmation")["action"],
        "Connects to x.example by https (command: curl x)"
    );
    assert_eq!(
        decisions(&run),
        [
            "accept",
            "allow, and the same without asking until this conversation ends",
            "allow everything to x.example, and never ask again",
            "reject everything to x.example, and never ask again",
            "reject",
            "reject, and stop the turn",
        ]
    );
    assert_eq!(
        run.phrase_keys,
        ["codex.left_out"],
        "what is not known is not offered"
    );
    // A rule that can't be read out in full can't be chosen.
    let long = vec!["x"; 300];
    run.request(json!(1), "item/commandExecution/requestApproval", json!({"turnId": "u", "itemId": "d", "command": "ls",
        "availableDecisions": ["accept", {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": long}}]}));
    run.resolved(json!(0));
    assert_eq!(
        decisions(&run),
        ["accept", "reject", "reject, and stop the turn"]
    );
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn rights_are_named_one_by_one_and_given_as_they_were_asked_for() {
    let mut run = CodexRig::in_turn();
    let wanted = json!({"network": {"enabled": true}, "fileSystem": {"read": ["/etc"], "write": ["/b"],
        "entries": [{"path": {"type": "path", "path": "/etc"}, "access": "read"}]}});
    run.request(
        json!(0),
        "item/permissions/requestApproval",
        json!({"turnId": "u", "itemId": "c", "cwd": "/work/a",
        "reason": "I need it", "permissions": wanted}),
    );
    assert_eq!(
        run.last("awaiting.confirmation")["action"],
        "Gets more rights for this turn: use the network; read /etc; write in /b"
    );
    run.decide(1, "accept", None);
    assert_eq!(
        run.answers(),
        [(json!(0), json!({"permissions": wanted, "scope": "turn"}))]
    );
    run.written(1, true);
    run.resolved(json!(0));
    run.request(
        json!(1),
        "item/permissions/requestApproval",
        json!({"turnId": "u", "itemId": "d", "permissions": {"network": {"enabled": true}}}),
    );
    run.decide(2, "reject", None);
    assert_eq!(
        run.answers()[1],
        (json!(1), json!({"permissions": {}, "scope": "turn"}))
    );
    assert_eq!(run.count("tool.invoked"), 0);
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn a_right_that_has_no_words_is_said_as_it_is_written() {
    for (wanted, said) in [
        (
            json!({"fileSystem": {"entries": [{"path": {"path": "/"}, "access": "execute"}]}}),
            r#"fileSystem: {"entries":[{"path":{"path":"/"},"access":"execute"}]}"#,
        ),
        (
            json!({"fileSystem": {"read": ["/etc"], "everything": true}}),
            r#"fileSystem: {"read":["/etc"],"everything":true}"#,
        ),
        (
            json!({"fileSystem": {"entries": [{"path": {"path": "/"}, "access": "deny"}]}}),
            "no access to /",
        ),
        (
            json!({"network": {"enabled": true, "as": "root"}}),
            r#"network: {"enabled":true,"as":"root"}"#,
        ),
        (json!({"clock": {}}), "clock: {}"),
    ] {
        let mut run = CodexRig::in_turn();
        run.request(
            json!(0),
            "item/permissions/requestApproval",
            json!({"turnId": "u", "itemId": "c", "permissions": wanted}),
        );
        let action = run.last("awaiting.confirmation")["action"].clone();
        assert_eq!(action, format!("Gets more rights for this turn: {said}"));
    }
}

#[test]
fn what_another_client_answers_is_decided_elsewhere() {
    let mut run = CodexRig::in_turn();
    run.asks(json!(0), "c");
    run.asks(json!(1), "d");
    assert_eq!(run.count("awaiting.confirmation"), 1, "one after the other");
    run.resolved(json!(1));
    run.resolved(json!(0));
    assert_eq!(run.count("awaiting.confirmation"), 1);
    assert_eq!(run.kinds().last().unwrap(), "thinking");
    assert_eq!(
        run.count("tool.invoked"),
        0,
        "nobody said how it was decided"
    );
    run.item("item/completed", "u", touch("c", "declined"));
    assert_eq!(run.phrase_keys, ["codex.declined"]);
    run.after(Duration::from_secs(2));
    assert_eq!(run.count("tool.invoked"), 1, "the other one runs");
    assert!(run.answers().is_empty());
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn a_running_call_that_is_declined_ends_once_and_who_rejected_it_is_told_nothing() {
    // The call rejected here, if any; whether another call runs after it; and what is announced.
    for (rejected, goes_on, told) in [
        (None, false, &["codex.declined"] as &[&str]),
        (Some("c"), false, &[]),
        (Some("c"), true, &[]),
        (Some("d"), false, &["codex.declined"]),
    ] {
        let mut run = CodexRig::in_turn();
        run.item("item/started", "u", touch("c", "inProgress"));
        run.after(Duration::from_secs(2));
        assert_eq!(run.count("tool.invoked"), 1);
        if let Some(call) = rejected {
            run.asks(json!(0), call);
            run.decide(1, "reject", None);
            run.written(1, true);
            run.resolved(json!(0));
        }
        if goes_on {
            run.item("item/started", "u", touch("e", "inProgress"));
            run.after(Duration::from_secs(2));
        }
        run.item("item/completed", "u", touch("c", "declined"));
        assert_eq!(run.count("tool.completed"), 1);
        assert_eq!(run.phrase_keys, told, "{rejected:?}, {goes_on}");
        run.begins("v", "go on");
        assert_eq!(run.count("tool.completed"), 1 + usize::from(goes_on));
        assert!(run.faults.is_empty(), "{:?}", run.faults);
    }
}

#[test]
fn a_reason_goes_to_the_agent_behind_the_rejection() {
    let mut run = CodexRig::in_turn();
    run.asks(json!(0), "c");
    run.decide(1, "reject", Some("keep it"));
    run.written(1, true);
    run.resolved(json!(0));
    let frame = &run.sent.last().unwrap().1;
    assert_eq!(
        (&frame["method"], &frame["params"]["input"][0]["text"]),
        (&json!("turn/steer"), &json!("keep it"))
    );
    assert_eq!(run.phrase_keys, ["codex.reason_follows"]);
    run.item("item/completed", "u", touch("c", "declined"));
    assert_eq!(run.phrase_keys.len(), 1, "who rejected it knows");
}

#[test]
fn an_answer_that_is_lost_on_its_way_is_perhaps_there_until_the_server_asks_again() {
    let mut run = CodexRig::in_turn();
    run.asks(json!(0), "c");
    run.decide(1, "accept", None);
    run.written(1, true);
    run.lose();
    assert!(matches!(
        run.outcomes[0],
        (1, Err(DeliveryFailure::Unknown(_)))
    ));
    // The server that asked is gone: nothing is sent.
    run.decide(2, "accept", None);
    assert!(matches!(
        run.outcomes[1],
        (2, Err(DeliveryFailure::Kept(_)))
    ));
    run.connect(&["t"]);
    run.grant("thread/resume", &resumed("waiting"));
    run.asks_again(json!(0), "c");
    run.decide(3, "accept", None);
    assert!(
        matches!(run.outcomes[2], (3, Err(DeliveryFailure::Kept(_)))),
        "it is not caught up with"
    );
    run.grant(
        "thread/turns/list",
        &json!({"data": [{"id": "u", "status": "inProgress", "items": []}]}),
    );
    assert_eq!(
        (run.stood.len(), run.count("awaiting.confirmation")),
        (1, 1)
    );
    run.decide(4, "accept", None);
    assert_eq!(
        run.answers().len(),
        2,
        "the same answer to the same question"
    );
    run.written(4, true);
    run.resolved(json!(0));
    assert_eq!(run.outcomes.last(), Some(&(4, Ok(Receipt::Taken))));
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn an_answer_without_a_word_of_the_server_was_written_and_is_doubted_when_it_asks_again() {
    let mut run = CodexRig::in_turn();
    run.asks(json!(0), "c");
    run.decide(1, "accept", None);
    run.written(1, true);
    run.after(Duration::from_secs(4));
    assert_eq!(run.outcomes, [(1, Ok(Receipt::Written))]);
    assert_eq!(run.count("tool.invoked"), 0);
    run.lose();
    run.connect(&["t"]);
    run.grant("thread/resume", &resumed("waiting"));
    run.asks_again(json!(0), "c");
    run.grant(
        "thread/turns/list",
        &json!({"data": [{"id": "u", "status": "inProgress", "items": []}]}),
    );
    assert_eq!(
        (run.stood.len(), run.count("awaiting.confirmation")),
        (0, 2),
        "under the same token"
    );
    let tokens: std::collections::BTreeSet<&str> = run
        .events
        .iter()
        .filter_map(|event| event["reply_token"].as_str())
        .collect();
    assert_eq!((tokens.len(), run.outcomes.len()), (1, 1));
}

#[test]
fn an_answer_that_somebody_was_faster_than_is_settled_by_what_became_of_it() {
    for (went, settled) in [(true, true), (false, false)] {
        let mut run = CodexRig::in_turn();
        run.asks(json!(0), "c");
        run.decide(1, "accept", None);
        run.resolved(json!(0));
        assert!(run.outcomes.is_empty());
        run.written(1, went);
        assert_eq!(run.outcomes[0].1.is_ok(), settled);
        assert_ne!(run.kinds().last().unwrap(), "awaiting_input");
    }
}

#[test]
fn what_was_not_heard_or_can_t_be_said_in_full_is_never_allowed_by_a_key() {
    let refusals = ["reject", "reject, and stop the turn"];
    let mut run = CodexRig::in_turn();
    // What the call does was said before we joined.
    for (id, method) in [
        (json!(0), "item/commandExecution/requestApproval"),
        (json!(1), "item/fileChange/requestApproval"),
    ] {
        run.request(
            id.clone(),
            method,
            json!({"turnId": "u", "itemId": format!("unheard{id}")}),
        );
        assert_eq!(decisions(&run), refusals, "{method}");
        run.resolved(id);
    }
    // More files than are kept.
    let changes: Vec<Value> = (0..600)
        .map(|n| json!({"path": format!("f{n}"), "kind": {"type": "add"}, "diff": "x\n"}))
        .collect();
    let item =
        json!({"type": "fileChange", "id": "many", "status": "inProgress", "changes": changes});
    run.item("item/started", "u", item);
    run.request(
        json!(2),
        "item/fileChange/requestApproval",
        json!({"turnId": "u", "itemId": "many"}),
    );
    assert_eq!(decisions(&run), refusals);
    run.resolved(json!(2));
    // A question longer than a title may be; the details have all of it.
    let message = "x".repeat(600);
    run.request(json!(3), "mcpServer/elicitation/request", json!({"turnId": "u", "serverName": "mock",
        "mode": "form", "message": message, "requestedSchema": {"type": "object", "properties": {}}, "_meta": {"persist": ["session"]}}));
    assert_eq!(decisions(&run), refusals);
    let more = &run.last("awaiting.confirmation")["extra_context"]["question"];
    assert!(more.as_str().unwrap().contains(&message));
    run.resolved(json!(3));
    // The inputs of a tool.
    run.request(
        json!(4),
        "mcpServer/elicitation/request",
        json!({"turnId": "u", "serverName": "mock",
        "mode": "form", "message": "ok?", "requestedSchema": {"type": "object", "properties": {}},
        "_meta": {"tool_name": "t", "tool_params": {"text": "y".repeat(5000)}}}),
    );
    assert_eq!(decisions(&run), refusals);
    assert_eq!(run.phrase_keys, ["codex.left_out"; 5]);
    assert_eq!(run.answers(), []);
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn changes_that_ask_for_a_whole_folder_are_allowed_by_number_alone_with_the_folder_said() {
    let mut run = CodexRig::in_turn();
    let item = json!({"type": "fileChange", "id": "c", "status": "inProgress",
        "changes": [{"path": "/work/a/x", "kind": {"type": "add"}, "diff": "x\n"}]});
    run.item("item/started", "u", item);
    let ask = |run: &mut CodexRig, id: i64, root: &str| {
        let params = json!({"turnId": "u", "itemId": "c", "grantRoot": root});
        run.request(json!(id), "item/fileChange/requestApproval", params);
    };
    ask(&mut run, 0, "/etc");
    let whole = "allow, and writing everywhere in /etc until this conversation ends";
    assert_eq!(
        decisions(&run),
        [whole, "reject", "reject, and stop the turn"]
    );
    assert_eq!(
        run.phrase_keys,
        ["codex.left_out"],
        "for the conversation is more than that, and not offered"
    );
    run.decide(1, "accept", None);
    assert_eq!(run.answers(), [], "that is none of its answers");
    run.decide(2, whole, None);
    assert_eq!(run.answers(), [(json!(0), json!({"decision": "accept"}))]);
    run.written(2, true);
    run.resolved(json!(0));
    // Permissions that can't be read out in full can't be granted.
    ask(&mut run, 1, &format!("/{}", "x".repeat(300)));
    assert_eq!(decisions(&run), ["reject", "reject, and stop the turn"]);
}

#[test]
fn a_decision_that_comes_before_the_word_that_ours_left_is_perhaps_not_ours() {
    let mut run = CodexRig::in_turn();
    run.asks(json!(0), "c");
    run.decide(1, "reject", Some("use b"));
    run.resolved(json!(0));
    assert_eq!(run.outcomes, []);
    run.written(1, true);
    assert_eq!(
        run.outcomes,
        [(1, Ok(Receipt::Written))],
        "nobody says that it was taken"
    );
    // The reason is sent all the same.
    let steer = run
        .sent
        .iter()
        .find(|(_, frame)| frame["method"] == "turn/steer");
    assert_eq!(steer.unwrap().1["params"]["input"][0]["text"], "use b");
    assert_eq!(run.machine.asked_now(), []);
}
