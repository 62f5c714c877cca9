use super::*;
use crate::Recognition;
use crate::codex::recognise;

#[test]
fn a_turn_is_a_session_that_begins_with_its_prompt_and_says_each_text_once() {
    let mut run = CodexRig::in_turn();
    let message = |text: &str| json!({"type": "agentMessage", "id": "m", "text": text});
    run.item(
        "item/started",
        "u",
        json!({"type": "reasoning", "id": "r", "summary": [], "content": []}),
    );
    run.says(
        "item/reasoning/textDelta",
        json!({"turnId": "u", "itemId": "r", "delta": "secret thought"}),
    );
    run.item("item/started", "u", message(""));
    for delta in ["Hello ", "from "] {
        run.says(
            "item/agentMessage/delta",
            json!({"turnId": "u", "itemId": "m", "delta": delta}),
        );
    }
    // One piece was never heard.
    run.item("item/completed", "u", message("Hello from the model."));
    run.says("turn/completed", json!({"turn": {"id": "u", "status": "completed", "items": [message("Hello from the model.")]}}));
    assert_eq!(run.said(), "Hello from the model.");
    assert_eq!(run.last("session.started")["request_text"], "do it");
    assert_eq!(
        run.last("session.started")["extensions"]["hearken"]["thread"],
        "t"
    );
    assert_eq!(
        run.kinds(),
        [
            "session.started",
            "thinking",
            "writing_output",
            "output.streaming",
            "output.streaming",
            "output.streaming",
            "output.streaming",
            "thinking",
            "session.completed"
        ]
    );
    assert!(run.faults.is_empty(), "{:?}", run.faults);
    // A late item of it is ignored.
    run.item("item/completed", "u", touch("late", "completed"));
    assert_eq!(run.count("session.started"), 1);
}

#[test]
fn calls_are_told_with_what_they_do_and_bring() {
    let mut run = CodexRig::in_turn();
    run.item("item/started", "u", touch("c", "inProgress"));
    assert_eq!(run.count("tool.invoked"), 0, "it may still ask");
    run.after(Duration::from_secs(2));
    assert_eq!(run.last("tool.invoked")["summary_normal"], "touch a.txt");
    let mut failed = touch("c", "failed");
    failed["aggregatedOutput"] = json!("one\ntwo\n");
    failed["exitCode"] = json!(3);
    run.item("item/completed", "u", failed);
    let event = run.last("tool.completed");
    assert_eq!(
        (&event["status"], &event["error_message"]),
        (&json!("error"), &json!("one\ntwo"))
    );
    assert_eq!(
        event["extensions"]["hearken"]["call"],
        json!({"title": "touch a.txt", "exit": {"code": 3}})
    );
    let changes = json!([
        {"path": "/work/a/n.txt", "kind": {"type": "add"}, "diff": "one\ntwo\n"},
        {"path": "/work/a/o.txt", "kind": {"type": "update", "move_path": "/work/a/p.txt"}, "diff": "@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n\n\nMoved to: /work/a/p.txt"},
        {"path": "/work/a/q.txt", "kind": {"type": "delete"}, "diff": "x\n"},
    ]);
    let change = |status: &str| json!({"type": "fileChange", "id": "f", "changes": changes, "status": status});
    run.item("item/started", "u", change("inProgress"));
    run.request(
        json!(0),
        "item/fileChange/requestApproval",
        json!({"turnId": "u", "itemId": "f", "reason": "why"}),
    );
    let asked = run.last("awaiting.confirmation");
    assert_eq!(
        asked["action"],
        "Writes n.txt, a new file of 2 lines; Edits o.txt: 1 line added, 1 removed; Moves o.txt to p.txt; Deletes q.txt, 1 line"
    );
    assert_eq!(asked["extra_context"]["reason"], "why");
    assert_eq!(
        asked["extensions"]["hearken"]["deed"]["edits"], false,
        "{asked}"
    );
    run.decide(1, "accept", None);
    run.written(1, true);
    run.resolved(json!(0));
    run.item("item/completed", "u", change("completed"));
    assert_eq!(run.last("tool.completed")["status"], "success");
    let mcp = |status: &str, result: Value| {
        json!({"type": "mcpToolCall", "id": "x", "server": "mock", "tool": "echo",
        "status": status, "arguments": {"text": "x"}, "result": result, "error": null})
    };
    run.item("item/started", "u", mcp("inProgress", Value::Null));
    run.item(
        "item/completed",
        "u",
        mcp(
            "completed",
            json!({"content": [{"type": "text", "text": "echoed"}]}),
        ),
    );
    assert_eq!(run.last("tool.completed")["tool"], "mock.echo");
    run.item(
        "item/completed",
        "u",
        json!({"type": "webSearch", "id": "w", "query": "weather"}),
    );
    assert_eq!(run.last("tool.invoked")["summary_normal"], "weather");
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn plans_are_progress_and_counters_are_silent() {
    let mut run = CodexRig::in_turn();
    let plan = json!([{"step": "one", "status": "completed"}, {"step": "two", "status": "inProgress"}, {"step": "three", "status": "pending"}]);
    run.says(
        "turn/plan/updated",
        json!({"turnId": "u", "explanation": null, "plan": plan}),
    );
    assert_eq!(run.last("progress.updated")["progress"]["step"], 2);
    let (events, told) = (run.events.len(), run.phrase_keys.len());
    run.says(
        "thread/tokenUsage/updated",
        json!({"turnId": "u", "tokenUsage": {}}),
    );
    run.says("turn/diff/updated", json!({"turnId": "u", "diff": "diff"}));
    run.frame(json!({"method": "account/rateLimits/updated", "params": {}}));
    assert_eq!((run.events.len(), run.phrase_keys.len()), (events, told));
}

#[test]
fn each_way_to_end_is_told_and_what_is_wrong_is_said_once() {
    let mut run = CodexRig::in_turn();
    run.ends("u", "interrupted");
    assert_eq!(run.last("session.cancelled")["cancelled_by"], "producer");
    run.begins("v", "more");
    run.says(
        "error",
        json!({"turnId": "v", "error": {"message": "no network"}, "willRetry": true}),
    );
    let turn =
        json!({"id": "v", "items": [], "status": "failed", "error": {"message": "no network"}});
    run.says("turn/completed", json!({"turn": turn}));
    assert_eq!(
        run.last("session.errored")["summary_normal"],
        "The agent could not go on: no network"
    );
    for _ in 0..3 {
        run.says("warning", json!({"message": "odd model"}));
        run.says(
            "item/started",
            json!({"turnId": "x", "item": {"type": "news", "id": "1"}}),
        );
    }
    let count = |key: &str| run.phrase_keys.iter().filter(|told| **told == key).count();
    assert_eq!(
        (
            count("codex.retries"),
            count("codex.warning"),
            count("acp.unknown")
        ),
        (1, 1, 1)
    );
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn two_threads_are_two_agents_and_neither_ends_the_others_turn() {
    let mut run = CodexRig::joined();
    run.begins("u", "one");
    let of_other = |method: &str, more: Value| {
        let mut params = more;
        params["threadId"] = json!("s");
        json!({"method": method, "params": params})
    };
    run.frame(json!({"method": "thread/started", "params": {"thread": {"id": "s"}}}));
    run.refuse("thread/resume", "no rollout found for thread id s");
    run.frame(of_other(
        "thread/status/changed",
        json!({"status": {"type": "active", "activeFlags": []}}),
    ));
    run.grant("thread/resume", &json!({"thread": {"id": "s", "status": {"type": "active", "activeFlags": []}}, "cwd": "/b"}));
    let turn = json!({"id": "u2", "status": "inProgress", "items": [
        {"type": "userMessage", "id": "p", "content": [{"type": "text", "text": "two"}], "completedAtMs": 1}]});
    run.grant("thread/turns/list", &json!({"data": [turn]}));
    assert_eq!(run.last("session.started")["request_text"], "two");
    let agents: std::collections::BTreeSet<String> = run
        .events
        .iter()
        .filter_map(|event| event["producer"]["agent_id"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(agents.len(), 2);
    run.frame(of_other(
        "turn/completed",
        json!({"turn": {"id": "u2", "status": "completed", "items": []}}),
    ));
    assert_eq!(run.count("session.completed"), 1);
    assert!(run.machine.connection().in_turn);
    // Each thread can be addressed by itself.
    assert!(run.machine.connection().converses);
    let other = run.last("session.completed")["producer"]["agent_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let of_other = |wish| PersonRequest::ForAgent(AgentId::from(other.as_str()), Box::new(wish));
    run.person_request(&of_other(PersonRequest::Stop));
    assert_eq!(
        run.phrase_keys.last(),
        Some(&"stop_turn.none"),
        "no other is stopped in its place"
    );
    run.person_request(&of_other(PersonRequest::Prompt("more".to_owned())));
    assert_eq!(run.sent.last().unwrap().1["params"]["threadId"], "s");
    run.person_request(&PersonRequest::Prompt("and".to_owned()));
    assert_eq!(
        run.sent.last().unwrap().1["params"]["threadId"],
        "t",
        "where something happens"
    );
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn prompts_begin_a_turn_or_are_added_to_it_and_a_stop_is_told_when_it_is_done() {
    let mut run = CodexRig::joined();
    run.person_request(&PersonRequest::Stop);
    assert_eq!(run.phrase_keys, ["stop_turn.none"]);
    run.person_request(&PersonRequest::Prompt("do it".to_owned()));
    let frame = &run.sent.last().unwrap().1;
    assert_eq!(
        (&frame["method"], &frame["params"]["input"][0]["text"]),
        (&json!("turn/start"), &json!("do it"))
    );
    run.begins("u", "do it");
    run.person_request(&PersonRequest::Prompt("and that".to_owned()));
    let frame = run.sent.last().unwrap().1.clone();
    assert_eq!(
        (&frame["method"], &frame["params"]["expectedTurnId"]),
        (&json!("turn/steer"), &json!("u"))
    );
    let told = run.phrase_keys.len();
    let echo = json!({"type": "userMessage", "id": "e", "clientId": frame["params"]["clientUserMessageId"], "content": [{"type": "text", "text": "and that"}]});
    run.item("item/started", "u", echo);
    assert_eq!(
        run.phrase_keys.len(),
        told,
        "it is known to whoever wrote it"
    );
    let other = json!({"type": "userMessage", "id": "f", "clientId": null, "content": [{"type": "text", "text": "also"}]});
    run.item("item/started", "u", other);
    assert_eq!(run.phrase_keys.last(), Some(&"codex.added"));
    // A connection lost before the server has answered the prompt is reported.
    let mut lost = CodexRig::joined();
    lost.person_request(&PersonRequest::Prompt("x".to_owned()));
    lost.lose();
    assert_eq!(lost.phrase_keys, ["codex.prompt_lost"]);
    lost.lose();
    assert_eq!(lost.phrase_keys.len(), 1);
    // If the turn was over before the prompt arrived, the prompt begins another.
    run.refuse("turn/steer", "no active turn");
    assert_eq!(run.sent.last().unwrap().1["method"], "turn/start");
    run.asks(json!(3), "c");
    run.person_request(&PersonRequest::Stop);
    assert_eq!(
        (run.phrase_keys.last(), run.over.as_slice()),
        (
            Some(&"stop_turn.asked_to_stop"),
            &[QuestionEnd::Stopped][..]
        )
    );
    assert_eq!(
        run.sent.last().unwrap().1["params"],
        json!({"threadId": "t", "turnId": "u"})
    );
    assert!(run.answers().is_empty(), "the server cancels what it asked");
    run.person_request(&PersonRequest::Stop);
    assert_eq!(run.phrase_keys.last(), Some(&"stop_turn.stopping"));
    run.ends("u", "interrupted");
    run.resolved(json!(3));
    assert_eq!(run.last("session.cancelled")["cancelled_by"], "user");
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn captures_are_recognised_and_read_and_can_not_be_answered() {
    let approval = json!({"id": 0, "method": "item/commandExecution/requestApproval", "params": {"threadId": "t", "turnId": "u", "itemId": "c", "command": "ls"}});
    for (text, sign) in [
        (approval.to_string(), Recognition::Surely),
        (
            json!({"method": "turn/started", "params": {"threadId": "t"}}).to_string(),
            Recognition::Surely,
        ),
        (
            json!({"method": "turn/started", "params": {}}).to_string(),
            Recognition::No,
        ),
        (
            json!({"jsonrpc": "2.0", "method": "turn/started", "params": {"threadId": "t"}})
                .to_string(),
            Recognition::No,
        ),
        (
            json!({"id": 1, "result": {"threadId": "t"}}).to_string(),
            Recognition::No,
        ),
        ("turn/started".to_owned(), Recognition::No),
    ] {
        assert_eq!(recognise(&text), sign, "{text}");
    }
    let mut run = CodexRig::new(TransportKind::OneWay, None);
    run.begins("u", "do it");
    run.frame(approval);
    run.ends("u", "completed");
    assert_eq!((run.view_only, run.sent.len()), (1, 0));
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn a_stop_that_failed_or_was_lost_can_be_wished_again() {
    let stops = |run: &CodexRig| {
        let sent = run.sent.iter();
        sent.filter(|(_, frame)| frame["method"] == "turn/interrupt")
            .count()
    };
    let mut run = CodexRig::in_turn();
    run.person_request(&PersonRequest::Stop);
    run.person_request(&PersonRequest::Stop);
    assert_eq!(
        run.phrase_keys,
        ["stop_turn.asked_to_stop", "stop_turn.stopping"]
    );
    run.refuse("turn/interrupt", "no");
    run.grant("thread/resume", &resumed("active"));
    run.person_request(&PersonRequest::Stop);
    assert_eq!(stops(&run), 2, "{:?}", run.phrase_keys);
    run.phrase_keys.clear();
    run.lose();
    assert_eq!(run.phrase_keys, ["codex.stop_lost"]);
    run.connect(&["t"]);
    run.grant("thread/resume", &resumed("active"));
    run.person_request(&PersonRequest::Stop);
    assert_eq!(stops(&run), 3, "{:?}", run.phrase_keys);
}

#[test]
fn which_of_several_conversations_is_meant_is_never_guessed() {
    let mut run = CodexRig::new(TransportKind::WebSocket, None);
    run.connect(&["a", "b"]);
    run.phrase_keys.clear();
    let sent = run.sent.len();
    run.person_request(&PersonRequest::Prompt("do it".to_owned()));
    assert_eq!(run.phrase_keys, ["codex.which"]);
    for thread in ["a", "b"] {
        let turn = json!({"id": format!("u{thread}"), "items": [], "status": "inProgress"});
        run.frame(json!({"method": "turn/started", "params": {"threadId": thread, "turn": turn}}));
    }
    run.machine.last = None;
    run.person_request(&PersonRequest::Stop);
    assert_eq!(run.phrase_keys, ["codex.which", "codex.which_stop"]);
    assert_eq!(run.sent.len(), sent, "nothing went out");
    run.person_request(&PersonRequest::ForAgent(
        AgentId::from(super::super::client::agent("b").as_str()),
        Box::new(PersonRequest::Stop),
    ));
    assert_eq!(run.sent.last().unwrap().1["params"]["threadId"], "b");
}

#[test]
fn a_long_text_that_comes_again_is_not_said_again() {
    let mut run = CodexRig::in_turn();
    let long = "word ".repeat(20_000);
    run.says(
        "item/agentMessage/delta",
        json!({"turnId": "u", "itemId": "m", "delta": long}),
    );
    run.says(
        "item/agentMessage/delta",
        json!({"turnId": "u", "itemId": "m", "delta": "end"}),
    );
    let whole = json!({"type": "agentMessage", "id": "m", "text": format!("{long}end")});
    run.item("item/completed", "u", whole.clone());
    run.item("item/completed", "u", whole);
    assert_eq!(run.said().len(), long.len() + 3);
}

#[test]
fn of_many_texts_none_is_said_again_after_a_loss() {
    let mut run = CodexRig::in_turn();
    let texts: Vec<Value> = (0..40)
        .map(|n| json!({"type": "agentMessage", "id": format!("m{n}"), "text": format!("Text {n}. "), "completedAtMs": 1}))
        .collect();
    for text in &texts {
        run.item("item/completed", "u", text.clone());
    }
    let said = run.said();
    assert!(said.starts_with("Text 0. ") && said.ends_with("Text 39. "));
    run.lose();
    run.connect(&["t"]);
    run.grant("thread/resume", &resumed("active"));
    run.grant(
        "thread/turns/list",
        &json!({"data": [{"id": "u", "status": "inProgress", "items": texts}]}),
    );
    assert_eq!(run.said(), said);
}

#[test]
fn a_turn_that_does_not_stop_can_be_left_and_a_prompt_without_a_turn_given_up() {
    let mut run = CodexRig::joined();
    run.person_request(&PersonRequest::Prompt("do it".to_owned()));
    assert!(run.machine.connection().in_turn);
    run.person_request(&PersonRequest::Stop);
    assert_eq!(run.phrase_keys, ["prompt.given_up"]);
    assert!(!run.machine.connection().in_turn);
    let mut run = CodexRig::joined();
    run.begins("u", "do it");
    run.person_request(&PersonRequest::Stop);
    assert!(run.machine.connection().is_stopping);
    run.person_request(&PersonRequest::Abandon);
    assert_eq!(run.kinds().last().unwrap(), "session.cancelled");
    // Its end comes late, and says nothing new.
    run.ends("u", "interrupted");
    assert_eq!(run.count("session.cancelled"), 1);
    run.person_request(&PersonRequest::Prompt("next".to_owned()));
    assert_eq!(run.sent.last().unwrap().1["method"], "turn/start");
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}
