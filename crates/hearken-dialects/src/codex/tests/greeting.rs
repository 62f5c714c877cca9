use super::*;
use crate::link::PhraseArg;

fn methods(run: &CodexRig) -> Vec<&str> {
    let all = run
        .sent
        .iter()
        .filter_map(|(_, frame)| frame["method"].as_str());
    all.collect()
}

#[test]
fn a_server_is_greeted_and_every_thread_that_is_loaded_is_joined() {
    let mut run = CodexRig::new(TransportKind::WebSocket, None);
    run.connect(&["t", "s"]);
    assert_eq!(
        methods(&run),
        [
            "initialize",
            "initialized",
            "thread/loaded/list",
            "thread/resume",
            "thread/resume"
        ]
    );
    assert_eq!(
        run.sent[3].1["params"],
        json!({"threadId": "t", "excludeTurns": true})
    );
    // One that is never stored is an errand of Codex's own, and no conversation.
    run.frame(json!({"id": 4, "result": resumed("idle")}));
    run.frame(
        json!({"id": 3, "error": {"code": -32600, "message": "no rollout found for thread id t"}}),
    );
    assert!(run.phrase_keys.is_empty());
    let about = json!({"id": "t", "ephemeral": true, "threadSource": "thread_title"});
    run.grant("thread/read", &json!({"thread": about}));
    assert_eq!(run.phrase_keys, ["codex.attached"]);
    let PhraseArg::Own(n) = &run.phrases[0].args[0].1 else {
        panic!("no number");
    };
    assert_eq!(n, "1");
    let mut run = CodexRig::new(TransportKind::WebSocket, None);
    run.connect(&[]);
    assert_eq!(run.phrase_keys, ["codex.no_thread"]);
    // A thread that begins later, and one that another client loads.
    run.frame(json!({"method": "thread/started", "params": {"thread": {"id": "t"}}}));
    run.frame(json!({"method": "thread/status/changed", "params": {"threadId": "s", "status": {"type": "idle"}}}));
    run.frame(json!({"method": "thread/status/changed", "params": {"threadId": "r", "status": {"type": "notLoaded"}}}));
    assert_eq!(
        methods(&run)
            .iter()
            .filter(|it| **it == "thread/resume")
            .count(),
        2
    );
}

#[test]
fn one_thread_is_joined_by_its_name_and_no_other() {
    let mut run = CodexRig::new(TransportKind::WebSocket, Some("t"));
    run.news(&LinkEvent::Connected);
    run.grant("initialize", &json!({}));
    assert_eq!(
        methods(&run),
        ["initialize", "initialized", "thread/resume"]
    );
    run.grant("thread/resume", &resumed("idle"));
    run.frame(json!({"method": "thread/started", "params": {"thread": {"id": "s"}}}));
    let other = json!({"method": "turn/started", "params": {"threadId": "s", "turn": {"id": "x"}}});
    run.frame(other);
    run.request(
        json!(1),
        "item/commandExecution/requestApproval",
        json!({"turnId": "u", "itemId": "c", "command": "ls"}),
    );
    let mut of_other = json!({"turnId": "u", "itemId": "c", "command": "ls"});
    of_other["threadId"] = json!("s");
    run.frame(
        json!({"id": 2, "method": "item/commandExecution/requestApproval", "params": of_other}),
    );
    assert_eq!(
        (
            run.count("session.started"),
            run.count("awaiting.confirmation")
        ),
        (1, 1)
    );
    assert_eq!((run.sent.len(), run.answers().len()), (3, 0));
}

#[test]
fn a_thread_of_which_nothing_is_written_is_asked_for_until_there_is() {
    let mut run = CodexRig::new(TransportKind::WebSocket, None);
    run.connect(&["t"]);
    run.refuse("thread/resume", "no rollout found for thread id t");
    assert_eq!(methods(&run).last(), Some(&"thread/read"));
    run.grant(
        "thread/read",
        &json!({"thread": {"id": "t", "ephemeral": false}}),
    );
    let sent = run.sent.len();
    run.after(Duration::from_secs(1));
    assert_eq!(run.sent.len(), sent, "nothing happens in it");
    run.says(
        "thread/status/changed",
        json!({"status": {"type": "active", "activeFlags": []}}),
    );
    assert_eq!(run.sent.len(), sent + 1);
    run.refuse("thread/resume", "no rollout found for thread id t");
    run.after(Duration::from_millis(200));
    assert_eq!(run.sent.len(), sent + 2);
    run.refuse("thread/resume", "it is broken");
    assert_eq!(run.phrase_keys.last(), Some(&"codex.not_joined"));
}

#[test]
fn a_turn_that_is_joined_in_the_middle_is_told_from_there_on() {
    let mut run = CodexRig::new(TransportKind::WebSocket, None);
    run.connect(&["t"]);
    run.grant("thread/resume", &resumed("waiting"));
    // What comes before the missed part is known has to wait.
    run.asks_again(json!(3), "c");
    assert_eq!(run.events.len(), 0);
    let items = json!([
        {"type": "userMessage", "id": "p", "content": [{"type": "text", "text": "do it"}], "completedAtMs": 1},
        {"type": "agentMessage", "id": "m", "text": "said before", "completedAtMs": 1},
        touch("b", "completed"),
    ]);
    let mut items = items;
    items[2]["completedAtMs"] = json!(1);
    run.grant(
        "thread/turns/list",
        &json!({"data": [{"id": "u", "status": "inProgress", "items": items}]}),
    );
    assert_eq!(run.last("session.started")["request_text"], "do it");
    assert_eq!((run.said(), run.count("tool.invoked")), (String::new(), 0));
    assert_eq!(run.count("awaiting.confirmation"), 1);
    run.item(
        "item/completed",
        "u",
        json!({"type": "agentMessage", "id": "m", "text": "said before"}),
    );
    run.item("item/completed", "u", touch("b", "completed"));
    assert_eq!(
        (run.said(), run.count("tool.completed")),
        (String::new(), 0)
    );
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn what_was_missed_is_told_and_what_was_told_is_not_told_again() {
    let mut run = CodexRig::in_turn();
    run.says(
        "item/agentMessage/delta",
        json!({"turnId": "u", "itemId": "m", "delta": "One. "}),
    );
    run.asks(json!(0), "c");
    run.lose();
    run.connect(&["t"]);
    run.grant("thread/resume", &resumed("active"));
    let items = json!([
        {"type": "userMessage", "id": "pu", "content": [{"type": "text", "text": "do it"}], "completedAtMs": 1},
        {"type": "agentMessage", "id": "m", "text": "One. Two.", "completedAtMs": 1},
        touch("c", "completed"),
    ]);
    let mut items = items;
    items[2]["completedAtMs"] = json!(1);
    run.grant(
        "thread/turns/list",
        &json!({"data": [{"id": "u", "status": "inProgress", "items": items}]}),
    );
    assert_eq!(run.said(), "One. Two.");
    assert_eq!(
        (run.count("session.started"), run.count("tool.completed")),
        (1, 1)
    );
    assert_eq!(
        run.count("awaiting.confirmation"),
        1,
        "it was answered meanwhile"
    );
    assert_eq!(run.stood.len(), 0);
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn a_server_that_was_killed_leaves_no_turn_and_no_question_behind() {
    let mut run = CodexRig::in_turn();
    run.asks(json!(0), "c");
    run.lose();
    // The server is back, with nothing loaded.
    run.connect(&[]);
    let last = json!({"id": "u", "status": "interrupted", "items": [], "error": null});
    run.grant("thread/turns/list", &json!({"data": [last]}));
    assert_eq!(run.count("session.cancelled"), 1);
    assert!(!run.machine.connection().in_turn);
    // Its ids begin anew: the same one asks for something else.
    run.says("thread/status/changed", json!({"status": {"type": "idle"}}));
    run.grant("thread/resume", &resumed("idle"));
    run.begins("v", "more");
    let first = run.token();
    run.frame(json!({"method": "item/commandExecution/requestApproval", "id": 0, "params": {"threadId": "t", "turnId": "v", "itemId": "d", "command": "rm x"}}));
    assert_ne!(run.token(), first);
    assert_eq!(run.last("awaiting.confirmation")["action"], "rm x");
    assert_eq!(run.count("awaiting.confirmation"), 2);
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn the_same_id_for_something_else_is_another_question() {
    let mut run = CodexRig::in_turn();
    run.asks(json!(0), "c");
    run.lose();
    run.connect(&["t"]);
    run.grant("thread/resume", &resumed("waiting"));
    run.asks_again(json!(0), "d");
    run.grant(
        "thread/turns/list",
        &json!({"data": [{"id": "u", "status": "inProgress", "items": []}]}),
    );
    assert_eq!(
        (run.stood.len(), run.count("awaiting.confirmation")),
        (0, 2)
    );
    // A question that the server says it waits for, but does not repeat, is not awaited forever.
    run.lose();
    run.connect(&["t"]);
    run.grant("thread/resume", &resumed("waiting"));
    run.grant(
        "thread/turns/list",
        &json!({"data": [{"id": "u", "status": "inProgress", "items": []}]}),
    );
    assert_eq!(run.kinds().last().unwrap(), "awaiting.confirmation");
    run.after(Duration::from_secs(3));
    assert_eq!(run.kinds().last().unwrap(), "thinking");
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn more_threads_than_can_be_followed_are_told_once() {
    let mut run = CodexRig::new(TransportKind::WebSocket, None);
    let ids: Vec<String> = (0..70).map(|n| format!("n{n}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    run.connect(&ids);
    // Threads without activity make room.
    assert!(!run.phrase_keys.contains(&"codex.too_many"));
    for id in &ids {
        run.frame(
            json!({"method": "turn/started", "params": {"threadId": id, "turn": {"id": "u"}}}),
        );
    }
    assert_eq!(
        run.phrase_keys
            .iter()
            .filter(|it| **it == "codex.too_many")
            .count(),
        1
    );
}

#[test]
fn a_greeting_that_is_refused_closes_the_source_and_an_end_ends_what_is_told() {
    let mut run = CodexRig::new(TransportKind::WebSocket, None);
    run.news(&LinkEvent::Connected);
    run.refuse("initialize", "not now");
    assert_eq!(run.closed.len(), 1);
    let mut run = CodexRig::in_turn();
    run.news(&LinkEvent::Ended);
    assert_eq!(run.count("session.errored"), 1);
    run.person_request(&PersonRequest::Prompt("x".to_owned()));
    assert_eq!(run.phrase_keys, ["prompt.nobody"]);
}

/// Codex opens a thread to find a title; a person may open one that leaves no trace.
#[test]
fn a_thread_that_is_never_stored_is_left_aside_and_missed_only_if_it_is_the_persons() {
    let started = |id: &str, source: Value| {
        json!({"method": "thread/started", "params": {"thread": {
        "id": id, "ephemeral": true, "threadSource": source}}})
    };
    let active = |id: &str| {
        json!({"method": "thread/status/changed", "params": {
        "threadId": id, "status": {"type": "active", "activeFlags": []}}})
    };
    let mut run = CodexRig::joined();
    run.frame(started("title", json!("thread_title")));
    run.frame(active("title"));
    run.frame(json!({"method": "thread/closed", "params": {"threadId": "title"}}));
    run.frame(active("title"));
    assert!(run.phrase_keys.is_empty() && run.sent.is_empty());
    run.frame(started("own", json!("user")));
    run.frame(active("own"));
    run.frame(started("own", json!("user")));
    assert_eq!(run.phrase_keys, ["codex.not_stored"]);
    assert!(run.sent.is_empty());
    // A prompt goes to the one conversation that can be heard.
    run.person_request(&PersonRequest::Prompt("go on".to_owned()));
    assert_eq!(run.sent[0].1["params"]["threadId"], "t");
}
