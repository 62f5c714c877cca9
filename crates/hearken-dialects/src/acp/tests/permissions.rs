//! Permissions: what is asked, what goes back, and when nothing does.

use super::*;

fn outcome(id: &str, outcome: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"outcome":{outcome}}}}}"#)
}

const CANCEL: &str = r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#;

#[test]
fn each_decision_selects_its_option_to_the_letter() {
    for (decision, option) in [
        ("accept", "once"),
        ("reject", "no"),
        ("allow from now on: Every touch", "always"),
    ] {
        let mut run = AcpRig::prompted();
        run.update(touch("in_progress"));
        run.asks(&json!("p/1"), &json!({"toolCallId": "c"}));
        let asked = run.last("awaiting.confirmation").clone();
        assert_eq!(asked["action"], "touch x");
        assert_eq!(
            asked["allowed_replies"],
            json!(["accept", "allow from now on: Every touch", "reject"])
        );
        assert_eq!(asked["extra_context"]["title"], "Touch a file");
        assert_eq!(asked["risk_level"], Value::Null, "nobody stated one");
        run.decide(8, decision, None);
        let wanted = format!(r#"{{"outcome":"selected","optionId":"{option}"}}"#);
        assert_eq!(run.sent, [(8, outcome("\"p/1\"", &wanted))]);
        run.written(8, true);
        assert_eq!(run.settled, [(8, true)]);
        // Repeating the answer would count as a second one.
        run.decide(9, decision, None);
        assert_eq!((run.sent.len(), run.settled[1]), (1, (9, false)));
        assert_eq!(run.faults, [""; 0]);
    }
}

#[test]
fn what_is_ambiguous_is_chosen_by_its_number_and_an_options_kind_is_said_whatever_its_name() {
    let mut run = AcpRig::prompted();
    let options = json!([
        {"optionId": "a", "name": "Reject", "kind": "allow_always"},
        {"optionId": "b", "name": "One", "kind": "allow_once"},
        {"optionId": "c", "name": "Two", "kind": "allow_once"},
        {"optionId": "d", "name": "Two", "kind": "allow_once"},
        {"optionId": "e", "name": "Odd", "kind": "purple"},
    ]);
    run.frame(
        json!({"jsonrpc": "2.0", "id": 5, "method": "session/request_permission",
        "params": {"sessionId": "s", "toolCall": {"toolCallId": "c", "title": "Look at it"}, "options": options}}),
    );
    assert_eq!(
        run.last("awaiting.confirmation")["allowed_replies"],
        json!([
            "allow from now on: Reject",
            "allow once: One",
            "allow once: Two",
            "allow once: Two (2)",
            "not said whether it allows: Odd"
        ])
    );
    run.decide(1, "accept", None);
    run.decide(2, "reject", None);
    assert_eq!(
        (run.sent.len(), run.settled.as_slice()),
        (0, &[(1, false), (2, false)][..])
    );
    run.decide(3, "allow once: Two (2)", None);
    assert!(run.frames()[0].contains("\"optionId\":\"d\""));
}

#[test]
fn a_permission_without_options_is_seen_and_can_not_be_answered() {
    let mut run = AcpRig::prompted();
    run.frame(
        json!({"jsonrpc": "2.0", "id": 5, "method": "session/request_permission",
        "params": {"sessionId": "s", "toolCall": {"toolCallId": "c", "title": "Look at it"}, "options": []}}),
    );
    assert_eq!((run.view_only, run.sent.len()), (1, 0));
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn several_are_asked_one_after_the_other_and_the_turn_ends_after_the_last() {
    let mut run = AcpRig::prompted();
    let asked = |run: &AcpRig| {
        run.kinds()
            .iter()
            .filter(|kind| *kind == "awaiting.confirmation")
            .count()
    };
    run.asks(&json!(1), &json!({"toolCallId": "a", "title": "one"}));
    run.asks(&json!(2), &json!({"toolCallId": "b", "title": "two"}));
    run.update(
        json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "x"}}),
    );
    run.frame(json!({"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "end_turn"}}));
    assert_eq!(asked(&run), 1);
    run.decide(7, "accept", None);
    run.written(7, true);
    assert_eq!(asked(&run), 2);
    assert_eq!(run.last("awaiting.confirmation")["action"], "two");
    assert!(!run.kinds().contains(&"session.completed".to_owned()));
    run.decide(8, "reject", None);
    run.written(8, true);
    assert_eq!(run.kinds().last().unwrap(), "session.completed");
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn a_stop_cancels_what_is_open_and_what_comes_until_the_agent_has_stopped() {
    let mut run = AcpRig::prompted();
    run.asks(&json!(1), &json!({"toolCallId": "a"}));
    run.asks(&json!(2), &json!({"toolCallId": "b"}));
    run.person_request(&PersonRequest::Stop);
    run.asks(&json!(3), &json!({"toolCallId": "c"}));
    let cancelled = |id: &str| outcome(id, r#"{"outcome":"cancelled"}"#);
    assert_eq!(
        run.frames(),
        [CANCEL, &cancelled("1"), &cancelled("2"), &cancelled("3")]
    );
    assert_eq!(run.over, [QuestionEnd::Stopped], "only one was asked");
    run.person_request(&PersonRequest::Stop);
    assert_eq!(run.sent.len(), 4);
    run.frame(json!({"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "cancelled"}}));
    assert_eq!(run.last("session.cancelled")["cancelled_by"], "user");
    run.person_request(&PersonRequest::Stop);
    assert_eq!(
        run.phrase_keys,
        [
            "stop_turn.asked_to_stop",
            "acp.cancelled_too",
            "stop_turn.stopping",
            "stop_turn.none"
        ]
    );
    assert_eq!(run.faults, [""; 0]);
}

/// qwen-code reports a call that a stop cancelled as failed: it must not be announced as if it had run.
#[test]
fn a_call_that_a_stop_cancelled_is_told_only_if_it_is_made_all_the_same() {
    let ends = |run: &mut AcpRig, id: &str, status: &str| {
        run.update(
            json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status}),
        );
    };
    let mut run = AcpRig::prompted();
    run.update(touch("in_progress"));
    run.asks(&json!(1), &json!({"toolCallId": "c"}));
    run.asks(&json!(2), &json!({"toolCallId": "d"}));
    run.person_request(&PersonRequest::Stop);
    run.update(json!({"sessionUpdate": "tool_call", "toolCallId": "e", "title": "t", "status": "in_progress"}));
    run.asks(&json!(3), &json!({"toolCallId": "e"}));
    run.after(Duration::from_secs(60));
    for id in ["c", "e"] {
        ends(&mut run, id, "failed");
    }
    let tools = |run: &AcpRig| {
        let kinds = run.kinds();
        kinds
            .iter()
            .filter(|kind| kind.starts_with("tool."))
            .count()
    };
    assert_eq!(tools(&run), 0);
    ends(&mut run, "d", "completed");
    assert_eq!(tools(&run), 2, "what ran is told");
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn an_answer_that_is_on_its_way_stays_the_persons_through_a_stop() {
    let mut run = AcpRig::prompted();
    run.asks(
        &json!(1),
        &json!({"toolCallId": "a", "title": "Look at it"}),
    );
    run.decide(7, "accept", None);
    run.person_request(&PersonRequest::Stop);
    assert_eq!(run.frames().len(), 2, "the answer and the stop");
    run.written(7, true);
    assert_eq!((run.frames().len(), run.over.len()), (2, 0));
    // If it was not delivered, the answer of the stop is still owed.
    let mut run = AcpRig::prompted();
    run.asks(
        &json!(1),
        &json!({"toolCallId": "a", "title": "Look at it"}),
    );
    run.decide(7, "accept", None);
    run.person_request(&PersonRequest::Stop);
    run.written(7, false);
    assert_eq!(run.frames()[2], outcome("1", r#"{"outcome":"cancelled"}"#));
    assert_eq!(run.settled, [(7, false)]);
    assert_eq!(run.over, [QuestionEnd::Stopped]);
}

#[test]
fn what_the_agent_takes_back_is_answered_by_a_refusal_and_is_open_no_more() {
    let take_back = |id: i64| json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id}});
    let mut run = AcpRig::prompted();
    run.asks(&json!(1), &json!({"toolCallId": "a", "title": "one"}));
    run.asks(&json!(2), &json!({"toolCallId": "b", "title": "two"}));
    run.frame(take_back(2));
    assert_eq!(run.over, [], "it was never asked");
    run.frame(take_back(1));
    assert_eq!(run.over, [QuestionEnd::TakenBack]);
    run.frame(take_back(1));
    run.frame(take_back(55));
    let refused = |id: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32800,"message":"Request cancelled"}}}}"#
        )
    };
    assert_eq!(run.frames(), [refused("2"), refused("1")]);
    assert_eq!(run.kinds().last().unwrap(), "thinking");
    run.decide(7, "accept", None);
    assert_eq!(
        (run.sent.len(), run.settled.as_slice()),
        (2, &[(7, false)][..])
    );
}

#[test]
fn the_reason_of_a_rejection_is_the_next_prompt() {
    let mut run = AcpRig::prompted();
    run.asks(&json!(1), &json!({"toolCallId": "a"}));
    run.person_request(&PersonRequest::Prompt("later".to_owned()));
    run.decide(7, "reject", Some("use a branch"));
    run.written(7, true);
    assert_eq!(run.phrase_keys.last(), Some(&"acp.reason_follows"));
    run.frame(json!({"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "end_turn"}}));
    assert!(run.frames().last().unwrap().contains("use a branch"));
}

#[test]
fn what_leads_out_of_the_folder_is_said_and_nothing_hides_a_command() {
    let mut run = AcpRig::prompted();
    run.asks(
        &json!(1),
        &json!({"toolCallId": "a", "title": "Read the readme", "kind": "read", "locations": [{"path": "/etc/passwd"}],
            "rawInput": {"command": ["sh", "-c", "rm -rf 'a b'"], "cwd": "/work/a"}}),
    );
    let asked = run.last("awaiting.confirmation");
    assert_eq!(asked["action"], "rm -rf 'a b'");
    let deed = &asked["extensions"]["hearken"]["deed"];
    assert_eq!(deed["commands"], json!([asked["action"]]));
    assert_eq!(deed["paths"], json!(["/etc/passwd"]));
    assert_eq!(deed["edits"], false);
    run.asks(
        &json!(2),
        &json!({"toolCallId": "b", "title": "fetch", "kind": "fetch", "rawInput": {"url": "https://x.example/"}}),
    );
    run.decide(7, "reject", None);
    run.written(7, true);
    assert_eq!(
        run.last("awaiting.confirmation")["action"],
        "fetch (url: https://x.example/)"
    );
}

#[test]
fn a_call_that_went_on_without_the_answer_closes_its_question() {
    let mut run = AcpRig::prompted();
    run.asks(&json!(1), &json!({"toolCallId": "c", "title": "x"}));
    run.update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}),
    );
    let kinds = run.kinds();
    assert!(
        kinds.ends_with(&["tool.completed".to_owned(), "thinking".to_owned()]),
        "{kinds:?}"
    );
    assert!(run.sent.is_empty());
}

#[test]
fn a_permission_whose_call_went_on_is_still_answered_when_it_is_taken_back_or_stopped() {
    let went_on = |run: &mut AcpRig| {
        run.asks(&json!(1), &json!({"toolCallId": "a", "title": "one"}));
        run.update(
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "a", "status": "completed"}),
        );
        run.sent.clear();
    };
    let mut run = AcpRig::prompted();
    went_on(&mut run);
    run.person_request(&PersonRequest::Stop);
    let cancelled = outcome("1", r#"{"outcome":"cancelled"}"#);
    assert_eq!(run.frames(), [CANCEL, &cancelled]);
    let mut run = AcpRig::prompted();
    went_on(&mut run);
    run.frame(json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}}));
    assert!(run.frames()[0].contains("-32800"), "{:?}", run.frames());
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn all_that_a_permission_is_for_is_told_however_much_it_is() {
    let mut run = AcpRig::prompted();
    let mut diffs: Vec<Value> = (0..40)
        .map(|n| json!({"type": "diff", "path": format!("src/f{n}.rs"), "oldText": "a", "newText": "b"}))
        .collect();
    let far = format!("src/{}/.ssh/config", "../".repeat(400));
    diffs.push(json!({"type": "diff", "path": far, "oldText": "a", "newText": "b"}));
    run.asks(&json!(1), &json!({"toolCallId": "a", "content": diffs}));
    let action = run.last("awaiting.confirmation")["action"].to_string();
    for n in 0..40 {
        assert!(action.contains(&format!("src/f{n}.rs")), "{n}");
    }
    assert!(action.contains(&far), "no path is cut");
    let mut run = AcpRig::prompted();
    let call = json!({"toolCallId": "b", "title": "Run", "rawInput": "rm -rf x"});
    run.asks(&json!(1), &call);
    let action = run.last("awaiting.confirmation")["action"].to_string();
    assert!(action.contains("rm -rf x"), "{action}");
    assert_eq!(run.faults, [""; 0]);
}

/// As codex-acp 0.16 writes them.
#[test]
fn what_codex_writes_around_a_command_is_neither_the_command_nor_its_output() {
    let script = "git add -A && git commit -m 'Round'";
    let call = json!({"call_id": "c", "turn_id": "t", "started_at_ms": 1, "command": ["/bin/bash", "-lc", script],
        "cwd": "/work/a", "parsed_cmd": [{"type": "unknown"}], "available_decisions": ["approved", "abort"]});
    let amendment = "Proposed Amendment: git\nadd\n-A";
    let mut run = AcpRig::prompted();
    run.asks(
        &json!(1),
        &json!({"toolCallId": "c", "kind": "execute", "status": "pending", "title": script, "rawInput": call,
            "content": [{"type": "content", "content": {"type": "text", "text": amendment}}]}),
    );
    let asked = run.last("awaiting.confirmation").clone();
    assert_eq!(asked["action"], script);
    assert_eq!(asked["extra_context"], json!({"content": amendment}));
    assert_eq!(asked["extensions"]["hearken"]["output"], Value::Null);
    run.decide(7, "accept", None);
    run.written(7, true);
    run.update(
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": script, "kind": "execute",
            "status": "in_progress", "rawInput": call}),
    );
    run.update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed",
            "rawOutput": {"stdout": "fatal: not a git repository\n", "stderr": "", "exit_code": 128,
            "aggregated_output": "fatal: not a git repository\n"}}),
    );
    let failed = run.last("tool.completed");
    assert_eq!(failed["error_message"], "fatal: not a git repository");
    let output = &failed["extensions"]["hearken"]["output"];
    assert_eq!(output["lines"], json!(["fatal: not a git repository"]));
    assert_eq!(output["of"], script);
}

#[test]
fn a_long_text_beside_a_question_is_told_in_parts_and_what_is_left_out_is_counted() {
    let mut run = AcpRig::prompted();
    let plan = "Do this next.\n".repeat(6000);
    run.asks(
        &json!(1),
        &json!({"toolCallId": "c", "title": "Leave the plan mode",
            "content": [{"type": "content", "content": {"type": "text", "text": plan}}]}),
    );
    let context = run.last("awaiting.confirmation")["extra_context"].clone();
    let context = context.as_object().unwrap();
    let told = |(name, text): (&String, &Value)| match name.as_str() {
        "content_lines_left_out" => None,
        _ => text.as_str().map(str::to_owned),
    };
    let told: String = context.iter().filter_map(told).collect();
    let lines = told.matches("Do this next.").count();
    let left_out: usize = context["content_lines_left_out"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(lines + left_out, 6000);
}

#[test]
fn what_a_tool_is_called_with_is_said_whatever_it_is_called() {
    let mut run = AcpRig::prompted();
    run.asks(
        &json!(1),
        &json!({"toolCallId": "k", "title": "kill_process", "rawInput": {"process_id": 4321, "content": "hi"},
            "content": [{"type": "content", "content": {"type": "text", "text": "This will be public."}}]}),
    );
    let asked = run.last("awaiting.confirmation");
    assert_eq!(
        asked["action"],
        "kill_process (process_id: 4321, content: hi)"
    );
    assert_eq!(
        asked["extra_context"],
        json!({"process_id": "4321", "content": "hi", "request_content": "This will be public."})
    );
}

#[test]
fn what_no_answer_is_safe_for_can_only_be_rejected() {
    let ask = |run: &mut AcpRig, id: u64, call: Value, options: &Value| {
        run.frame(
            json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission",
            "params": {"sessionId": "s", "toolCall": call, "options": options}}),
        );
    };
    let options = json!([
        {"optionId": "once", "name": "Allow", "kind": "allow_once"},
        {"optionId": "no", "name": "Reject", "kind": "reject_once"},
    ]);
    let ls = json!({"toolCallId": "a", "kind": "execute", "rawInput": {"command": "ls"}});
    let rm = json!({"toolCallId": "b", "kind": "execute", "rawInput": {"command": "rm -rf src"}});
    let only_reject =
        |run: &AcpRig| run.last("awaiting.confirmation")["allowed_replies"] == json!(["reject"]);
    // A call that says nothing about what it does.
    let mut run = AcpRig::prompted();
    let silent = json!({"toolCallId": "a", "kind": "execute", "title": "bash", "rawInput": {}});
    ask(&mut run, 5, silent, &options);
    assert!(only_reject(&run));
    // One id for two open requests.
    let mut run = AcpRig::prompted();
    ask(&mut run, 5, ls.clone(), &options);
    assert!(!only_reject(&run));
    ask(&mut run, 5, rm, &options);
    assert!(only_reject(&run), "it is asked again");
    assert_eq!(run.last("awaiting.confirmation")["action"], "ls");
    run.decide(1, "accept", None);
    assert_eq!(
        (run.sent.len(), run.settled.as_slice()),
        (0, &[(1, false)][..])
    );
    // One option for both decisions.
    let mut run = AcpRig::prompted();
    let both = json!([
        {"optionId": "x", "name": "Allow", "kind": "allow_once"},
        {"optionId": "x", "name": "Reject", "kind": "reject_once"},
    ]);
    ask(&mut run, 5, ls, &both);
    run.decide(1, "accept", None);
    assert_eq!(
        (run.sent.len(), run.settled.as_slice()),
        (0, &[(1, false)][..])
    );
}

#[test]
fn every_input_is_said_counted_or_both_and_values_are_compared_as_values() {
    for (input, action, more) in [
        (
            json!({"command": "find", "args": [".", "-delete"]}),
            "find . -delete",
            vec![],
        ),
        (
            json!({"command": "ls", "cmd": "rm -rf src"}),
            "ls",
            vec!["cmd"],
        ),
        (
            json!({"command": "ls", "script": "x", "env": {"A": "b"}, "stdin": "y"}),
            "ls",
            vec!["script", "env", "stdin"],
        ),
        // That a text happens to contain a value proves nothing.
        (
            json!({"command": "rm -rf src", "force": "rm"}),
            "rm -rf src",
            vec!["force"],
        ),
    ] {
        let mut run = AcpRig::prompted();
        run.asks(
            &json!(1),
            &json!({"toolCallId": "k", "kind": "execute", "title": "bash", "rawInput": input}),
        );
        let asked = run.last("awaiting.confirmation");
        assert_eq!(asked["action"], action, "{input}");
        for name in &more {
            assert_ne!(
                asked["extra_context"][name],
                Value::Null,
                "{name} of {input}"
            );
        }
    }
    let mut run = AcpRig::prompted();
    run.asks(
        &json!(1),
        &json!({"toolCallId": "k", "kind": "other", "title": "Transfer 500 euros from Bob to Alice",
            "rawInput": {"amount": 5, "from": "Alice", "to": "Bob"}}),
    );
    let asked = run.last("awaiting.confirmation")["action"]
        .as_str()
        .unwrap();
    for input in ["amount: 5", "from: Alice", "to: Bob"] {
        assert!(asked.contains(input), "{asked}");
    }
}

#[test]
fn two_requests_for_one_call_and_one_with_too_much_can_only_be_rejected() {
    let only_reject =
        |run: &AcpRig| run.last("awaiting.confirmation")["allowed_replies"] == json!(["reject"]);
    // The second request changes the call that the first asked about.
    let mut run = AcpRig::prompted();
    run.asks(
        &json!(1),
        &json!({"toolCallId": "a", "kind": "execute", "rawInput": {"command": "ls"}}),
    );
    assert!(!only_reject(&run));
    run.asks(
        &json!(2),
        &json!({"toolCallId": "a", "kind": "execute", "rawInput": {"command": "rm -rf src"}}),
    );
    assert!(only_reject(&run));
    assert_eq!(run.last("awaiting.confirmation")["action"], "rm -rf src");
    // One number may be written in two ways.
    let mut run = AcpRig::prompted();
    run.asks(
        &json!(1),
        &json!({"toolCallId": "a", "kind": "execute", "rawInput": {"command": "ls"}}),
    );
    run.asks(
        &json!(1.0),
        &json!({"toolCallId": "b", "kind": "execute", "rawInput": {"command": "pwd"}}),
    );
    assert!(only_reject(&run));
    // What is beyond the bound could change unseen.
    let mut run = AcpRig::prompted();
    let many: serde_json::Map<String, Value> =
        (0..600).map(|n| (format!("i{n}"), json!(n))).collect();
    run.asks(
        &json!(1),
        &json!({"toolCallId": "a", "kind": "other", "title": "go", "rawInput": many}),
    );
    assert!(only_reject(&run));
}

#[test]
fn an_input_is_said_by_an_edit_or_a_title_only_if_it_names_the_file() {
    let edit = json!([{"type": "diff", "path": "notes.txt", "oldText": "a", "newText": "b"}]);
    let mut run = AcpRig::prompted();
    run.asks(
        &json!(1),
        &json!({"toolCallId": "a", "kind": "edit", "content": edit,
            "rawInput": {"path": "notes.txt", "also_delete": "notes.txt"}}),
    );
    let deed = &run.last("awaiting.confirmation")["extensions"]["hearken"]["deed"];
    assert_eq!(deed["unsaid"], json!(["also_delete"]));
    let mut run = AcpRig::prompted();
    run.asks(
        &json!(1),
        &json!({"toolCallId": "a", "kind": "other", "title": "notes.txt", "rawInput": {"delete": "notes.txt"}}),
    );
    assert_eq!(
        run.last("awaiting.confirmation")["action"],
        "notes.txt (delete: notes.txt)"
    );
}

#[test]
fn the_folder_of_the_conversation_makes_no_other_call() {
    let mut run = AcpRig::prompted();
    run.asks(
        &json!(1),
        &json!({"toolCallId": "a", "kind": "execute", "rawInput": {"command": "ls"}}),
    );
    let asked = |run: &AcpRig| {
        let kinds = run.kinds();
        kinds
            .iter()
            .filter(|kind| *kind == "awaiting.confirmation")
            .count()
    };
    run.update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "a", "locations": [{"path": "/work/a"}],
        "rawInput": {"command": "ls", "cwd": "/work/a"}}));
    assert_eq!(asked(&run), 1);
    run.update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "a",
        "rawInput": {"command": "ls", "cwd": "/etc"}}),
    );
    assert_eq!(asked(&run), 2);
}
