//! Turns: what is announced, how they end, and that nothing is announced twice.

use super::*;

#[test]
fn a_turn_is_told_from_its_prompt_to_its_stop_and_nothing_but_a_permission_is_held() {
    let mut run = ClaudeRig::new();
    let ids = [
        run.hook("SessionStart", json!({"source": "startup", "model": "m"})),
        run.prompted("do it"),
        run.shell("PreToolUse", "c", "touch a.txt"),
        run.shell("PostToolUse", "c", "touch a.txt"),
        run.hook(
            "SubagentStart",
            json!({"agent_id": "a1", "agent_type": "Explore"}),
        ),
        run.hook(
            "SubagentStop",
            json!({"agent_id": "a1", "agent_type": "Explore"}),
        ),
        run.hook(
            "Notification",
            json!({"message": "Signed in", "notification_type": "auth_success"}),
        ),
        run.stops("It is done."),
        run.hook("SessionEnd", json!({"reason": "other"})),
    ];
    assert!(ids.iter().all(|id| run.let_go(*id)), "{:?}", run.answers);
    let wanted = [
        "session.started",
        "thinking",
        "calling_tool",
        "tool.invoked",
        "tool.completed",
        "thinking",
        "writing_output",
        "output.streaming",
        "output.streaming",
        "thinking",
        "session.completed",
    ];
    assert_eq!(run.kinds(), wanted);
    assert_eq!(run.said(), "It is done.");
    let started = run.last("session.started");
    assert_eq!(started["request_text"], "do it");
    assert_eq!(started["extensions"]["hearken"]["thread"], "s1");
    assert_eq!(started["producer"]["model"], "m");
    assert_eq!(
        run.last("tool.completed")["extensions"]["hearken"]["output"]["lines"][0],
        "made"
    );
    let told = [
        "claude.begins",
        "claude.helper.begins",
        "claude.helper.ends",
        "claude.notice",
        "claude.ends",
    ];
    assert_eq!(run.phrase_keys, told);
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_call_is_told_once_it_is_known_that_nobody_asks_for_it() {
    let mut run = ClaudeRig::busy();
    run.shell("PreToolUse", "c", "sleep 60");
    assert_eq!(run.count("tool.invoked"), 0);
    run.after(Duration::from_secs(1));
    assert_eq!(run.last("tool.invoked")["tool"], "Bash");
    run.shell("PostToolUseFailure", "c", "sleep 60");
    assert_eq!(run.last("tool.completed")["status"], "error");
    assert_eq!(run.last("tool.completed")["error_message"], "Exit code 1");
    run.shell("PostToolUse", "c", "sleep 60");
    assert_eq!(
        run.count("tool.completed"),
        1,
        "what is over is not told again"
    );
}

#[test]
fn edits_say_which_lines_change_as_far_as_that_is_known() {
    let mut run = ClaudeRig::busy();
    let patch = json!([{"oldStart": 3, "oldLines": 2, "newStart": 3, "newLines": 2, "lines": [" same", "-old", "+new"]}]);
    for (tool, input, brought, added, removed) in [
        (
            "Edit",
            json!({"file_path": "/work/a/x.rs", "old_string": "old", "new_string": "new"}),
            json!({"filePath": "/work/a/x.rs", "structuredPatch": patch}),
            1,
            1,
        ),
        (
            "Write",
            json!({"file_path": "/work/a/y.rs", "content": "one\ntwo\n"}),
            json!({"type": "create", "filePath": "/work/a/y.rs", "content": "one\ntwo\n"}),
            2,
            0,
        ),
    ] {
        let id = format!("c{tool}");
        run.hook(
            "PreToolUse",
            json!({"tool_name": tool, "tool_input": input, "tool_use_id": id}),
        );
        run.hook("PostToolUse", json!({"tool_name": tool, "tool_input": input, "tool_response": brought, "tool_use_id": id}));
        let change = &run.last("tool.completed")["extensions"]["hearken"]["changes"][0];
        assert_eq!(
            (&change["added"], change["removed"].as_u64().unwrap_or(0)),
            (&json!(added), removed),
            "{change}"
        );
        assert!(
            !change["path"].as_str().unwrap().starts_with('/'),
            "{change}"
        );
    }
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn plans_are_told_as_plans() {
    let mut run = ClaudeRig::busy();
    let todos = json!([{"content": "Read", "status": "completed"}, {"content": "Write", "status": "in_progress"}]);
    let what =
        json!({"tool_name": "TodoWrite", "tool_input": {"todos": todos}, "tool_use_id": "t"});
    run.hook("PreToolUse", what.clone());
    run.hook("PostToolUse", what);
    assert_eq!(run.last("progress.updated")["progress"]["step"], 2);
    run.after(Duration::from_secs(5));
    assert_eq!(run.count("tool.invoked"), 0);
}

#[test]
fn a_turn_that_broke_off_says_why() {
    let mut run = ClaudeRig::busy();
    run.hook(
        "StopFailure",
        json!({"error": "unknown", "last_assistant_message": "no money"}),
    );
    assert_eq!(run.kinds().last().unwrap(), "session.errored");
    assert!(
        run.last("session.errored")["summary_normal"]
            .as_str()
            .unwrap()
            .contains("no money")
    );
}

#[test]
fn an_interrupt_sends_no_stop_and_is_known_by_what_follows() {
    let after: [fn(&mut ClaudeRig); 4] = [
        |run| {
            run.prompted("something else");
        },
        |run| {
            run.hook(
                "Notification",
                json!({"message": "waits", "notification_type": "idle_prompt"}),
            );
        },
        |run| {
            run.hook(
                "PostToolUseFailure",
                json!({"tool_name": "Bash", "tool_input": {"command": "x"},
            "tool_use_id": "c", "error": "interrupted", "is_interrupt": true}),
            );
        },
        |run| {
            run.hook(
                "PreToolUse",
                json!({"tool_name": "Bash", "tool_input": {"command": "x"},
            "tool_use_id": "d", "prompt_id": "another"}),
            );
        },
    ];
    for follows in after {
        let mut run = ClaudeRig::busy();
        follows(&mut run);
        assert_eq!(run.count("session.cancelled"), 1);
        assert_eq!(run.last("session.cancelled")["cancelled_by"], "producer");
        assert_eq!(run.faults, Vec::<String>::new());
    }
}

#[test]
fn a_turn_that_falls_silent_is_perhaps_over_and_that_is_said_once() {
    let mut run = ClaudeRig::busy();
    run.after(Duration::from_secs(170));
    assert!(run.phrase_keys.is_empty());
    assert!(run.machine.deadline().is_some());
    run.after(Duration::from_secs(20));
    run.after(Duration::from_secs(200));
    assert_eq!(run.phrase_keys, ["claude.silent"]);
    // Anything that follows proves that it was not over.
    run.shell("PreToolUse", "c", "sleep 600");
    run.after(Duration::from_secs(2));
    run.after(Duration::from_secs(600));
    assert_eq!(
        run.phrase_keys,
        ["claude.silent"],
        "a call that runs may take its time"
    );
    run.after(Duration::from_secs(30 * 60));
    assert_eq!(run.kinds().last().unwrap(), "session.completed");
    assert_eq!(run.machine.deadline(), None);
    let mut run = ClaudeRig::busy();
    run.asks("touch a.txt");
    run.after(Duration::from_secs(3000));
    assert!(
        run.phrase_keys.is_empty(),
        "what is asked waits for the person"
    );
}

#[test]
fn several_conversations_are_several_agents() {
    let mut run = ClaudeRig::busy();
    run.who = "s2";
    run.prompted("another");
    let first = run.asks("touch b.txt");
    run.who = "s1";
    let second = run.asks("touch a.txt");
    run.stops("Done here.");
    assert!(
        run.is_held(first) && run.let_go(second),
        "only its own question is over with a turn"
    );
    let agents: std::collections::BTreeSet<String> = run
        .events
        .iter()
        .map(|event| event["producer"]["agent_id"].to_string())
        .collect();
    assert_eq!(agents.len(), 2);
}

#[test]
fn conversations_are_bounded_and_what_rests_makes_room() {
    let mut run = ClaudeRig::new();
    for n in 0..64 {
        run.who = Box::leak(format!("s{n}").into_boxed_str());
        run.prompted("do it");
    }
    run.who = "one more";
    let asked = run.asks("touch a.txt");
    assert!(run.let_go(asked), "what can't be asked here is asked there");
    assert!(
        run.phrase_keys.contains(&"claude.too_many_conversations")
            && run.phrase_keys.contains(&"claude.not_followed")
    );
    run.who = "s0";
    run.stops("Done.");
    run.who = "one more";
    let asked = run.asks("touch a.txt");
    assert!(run.is_held(asked));
}

#[test]
fn what_can_not_be_understood_is_told_and_answered_with_nothing() {
    let mut run = ClaudeRig::new();
    for body in [
        "",
        "[]",
        "{}",
        r#"{"hook_event_name":"Stop"}"#,
        r#"{"session_id":"s","hook_event_name":"PreToolUse"}"#,
    ] {
        let id = run.post("/hook", body);
        assert!(run.let_go(id), "{body}");
    }
    assert_eq!(run.unread, 5);
    let id = run.post(
        "/hook",
        r#"{"session_id":"s","hook_event_name":"PermissionRequest"}"#,
    );
    assert!(run.let_go(id));
    let id = run.post("/elsewhere", "{}");
    assert!(run.let_go(id));
    let id = run.post("/too-large", "{}");
    assert!(run.let_go(id));
    for number in 0..2 {
        run.hook("Anything", json!({"number": number}));
    }
    assert_eq!(
        run.phrase_keys,
        ["claude.not_asked", "claude.too_large", "claude.unknown"]
    );
    assert_eq!(run.unread, 9);
    assert!(run.events.is_empty());
}

#[test]
fn it_can_be_neither_told_what_to_do_nor_stopped_and_says_so() {
    let mut run = ClaudeRig::busy();
    run.person_request(&PersonRequest::Prompt("more".to_owned()));
    run.person_request(&PersonRequest::Stop);
    assert_eq!(
        run.phrase_keys,
        ["prompt.only_heard", "stop_turn.only_heard"]
    );
    assert!(run.machine.connection().only_heard && !run.machine.connection().takes_prompts);
}

#[test]
fn a_capture_is_seen_and_can_not_be_answered() {
    let mut run = ClaudeRig::over(TransportKind::OneWay);
    for body in [
        json!({"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "x"}),
        json!({"session_id": "s", "hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": "ls"}}),
    ] {
        run.news(&LinkEvent::Frame(Frame::of(body.to_string())));
    }
    assert_eq!(run.view_only, 1);
    run.decide(1, "accept", None);
    assert_eq!(run.settled, [(1, false)]);
    assert!(run.answers.is_empty());
}

#[test]
fn what_stands_in_its_transcript_is_heard_once_with_what_follows_it_and_nothing_old() {
    let texts = |names: &[(&str, &str)]| -> Value {
        let all = names.iter();
        all.map(|(id, text)| json!({"id": id, "text": text}))
            .collect()
    };
    let with = |run: &mut ClaudeRig, event: &str, all: &[(&str, &str)], mut more: Value| {
        more["hearken_texts"] = texts(all);
        run.hook(event, more);
    };
    let said = |run: &ClaudeRig| -> Vec<String> {
        let chunks = run
            .events
            .iter()
            .filter_map(|event| event["chunk"].as_str());
        let chunks = chunks.filter(|chunk| !chunk.is_empty());
        chunks.map(str::to_owned).collect()
    };
    let call =
        || json!({"tool_name": "Read", "tool_input": {"file_path": "/a"}, "tool_use_id": "c"});
    let mut run = ClaudeRig::new();
    let old = ("o", "It is old.");
    let prompt = || json!({"prompt": "do it", "prompt_id": "p"});
    with(&mut run, "UserPromptSubmit", &[old], prompt());
    let one = ("a", "I look.");
    with(&mut run, "PreToolUse", &[old, one], call());
    with(&mut run, "PostToolUse", &[old, one], call());
    assert_eq!(said(&run), ["I look."]);
    // The same words again are another text; the final text also comes with the end.
    let (two, three) = (("b", "I look."), ("c", "It is done."));
    let stop = || json!({"last_assistant_message": "It is done."});
    with(&mut run, "Stop", &[old, one, two, three], stop());
    assert_eq!(said(&run), ["I look.", "I look.", "It is done."]);
    assert_eq!(run.count("session.completed"), 1);
    // In the next turn they are announced again, and texts alone do not begin a turn.
    with(
        &mut run,
        "Notification",
        &[three, ("d", "Late.")],
        json!({"notification_type": "idle_prompt"}),
    );
    assert_eq!(run.count("session.started"), 1);
    with(&mut run, "UserPromptSubmit", &[three], prompt());
    with(&mut run, "Stop", &[three], stop());
    assert_eq!(said(&run).len(), 4);
    // The transcript contains the reason of a break as if the agent had written it.
    with(&mut run, "UserPromptSubmit", &[three], prompt());
    with(
        &mut run,
        "StopFailure",
        &[("x", "API Error")],
        json!({"error": "API Error"}),
    );
    assert_eq!((said(&run).len(), run.count("session.errored")), (4, 1));
    // A subagent's message contains none of the conversation's own texts.
    with(&mut run, "UserPromptSubmit", &[], prompt());
    let mut aside = call();
    aside["agent_id"] = "h".into();
    with(&mut run, "PreToolUse", &[("e", "Aside.")], aside);
    assert_eq!(said(&run).len(), 4);
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_conversation_that_runs_already_is_not_told_from_its_beginning() {
    let mut run = ClaudeRig::new();
    let old = json!([{"id": "o", "text": "Long ago."}]);
    run.hook(
        "PreToolUse",
        json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": "c", "hearken_texts": old}),
    );
    assert_eq!(run.count("output.streaming"), 0);
}

#[test]
fn the_end_of_a_long_error_is_kept_as_that_is_where_what_failed_stands() {
    let mut run = ClaudeRig::busy();
    let lines: String = (0..600).map(|n| format!("Compiling {n}\n")).collect();
    run.hook(
        "PostToolUseFailure",
        json!({"tool_name": "Bash", "tool_input": {"command": "mix test"}, "tool_use_id": "c",
            "error": format!("Exit code 2\n{lines}1) test adds\n1 test, 1 failure\n")}),
    );
    let output = &run.last("tool.completed")["extensions"]["hearken"]["output"];
    let last = output["lines"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&output["count"], last.as_str()),
        (&json!(603), Some("1 test, 1 failure"))
    );
}

#[test]
fn a_call_that_was_interrupted_is_stopped_and_has_not_failed() {
    let mut run = ClaudeRig::busy();
    run.hook(
        "PostToolUseFailure",
        json!({"tool_name": "Bash", "tool_input": {"command": "sleep 20"}, "tool_use_id": "c",
            "error": "interrupted", "is_interrupt": true}),
    );
    let done = run.last("tool.completed");
    assert_eq!(done["status"], "stopped");
    assert_eq!(done["extensions"]["hearken"]["call"]["title"], "sleep 20");
}
