//! Runs: prompts, events, how they end, losses.

use super::*;

fn contents(post: &Value) -> Vec<(String, String)> {
    let messages = post["messages"].as_array().unwrap().iter();
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    messages
        .map(|it| (text(&it["role"]), text(&it["content"])))
        .collect()
}

#[test]
fn a_prompt_is_a_run_and_a_run_is_a_turn() {
    let mut run = AguiRig::new();
    assert_eq!(run.posts.len(), 0, "nothing is posted unasked");
    run.prompt("do it");
    assert_eq!(run.events.len(), 0, "nobody has taken it yet");
    let post = run.posts[0].clone();
    assert_eq!(contents(&post), [("user".to_owned(), "do it".to_owned())]);
    assert_eq!(post.get("resume"), None);
    run.taken();
    run.says(json!({"type": "REASONING_MESSAGE_CONTENT", "messageId": "t", "delta": "secret"}));
    run.says(json!({"type": "STEP_STARTED", "stepName": "look"}));
    run.says(json!({"type": "STEP_STARTED", "stepName": "__start__"}));
    run.text("m", "One. ");
    run.text("m", "Two.");
    run.calls("c", "find", "{\"what\":\"x\"}");
    run.brings("c", "found");
    run.says(json!({"type": "TEXT_MESSAGE_START", "messageId": "u", "role": "user"}));
    run.text("u", "not the agent's");
    run.finishes(json!({"type": "success"}));
    let started = run.last("session.started");
    assert_eq!(started["request_text"], "do it");
    assert_eq!(started["extensions"]["hearken"]["thread"], post["threadId"]);
    assert_eq!(run.said(), "One. Two.");
    assert_eq!(run.count("progress.updated"), 1);
    let completed = run.last("tool.completed");
    assert_eq!(
        (completed["tool"].as_str(), completed["status"].as_str()),
        (Some("find"), Some("not_stated"))
    );
    assert_eq!(run.count("session.completed"), 1);
    assert_eq!(run.faults, Vec::<String>::new());

    // The next run carries the conversation.
    run.prompt("more");
    let post = &run.posts[1];
    assert_eq!(post["threadId"], run.posts[0]["threadId"]);
    assert_ne!(post["runId"], run.posts[0]["runId"]);
    let roles: Vec<String> = contents(post).into_iter().map(|it| it.0).collect();
    assert_eq!(
        roles,
        [
            "user",
            "reasoning",
            "assistant",
            "assistant",
            "tool",
            "user"
        ]
    );
}

#[test]
fn a_prompt_during_a_run_waits_for_its_end() {
    let mut run = AguiRig::busy();
    run.prompt("and then this");
    assert_eq!(
        (run.phrase_keys.as_slice(), run.posts.len()),
        (["prompt.held"].as_slice(), 1)
    );
    run.finishes(json!(null));
    assert_eq!(run.posts.len(), 2);
    assert_eq!(contents(&run.posts[1]).last().unwrap().1, "and then this");
    for _ in 0..20 {
        run.prompt("x");
    }
    assert_eq!(run.phrase_keys.last(), Some(&"prompt.too_many"));
}

#[test]
fn an_error_ends_the_turn_with_its_words_and_the_next_prompt_goes_on() {
    let mut run = AguiRig::busy();
    run.calls("c", "find", "{}");
    run.says(json!({"type": "RUN_ERROR", "message": "the model is tired"}));
    run.closes();
    let errored = run.last("session.errored");
    assert!(
        errored["summary_normal"]
            .as_str()
            .unwrap()
            .contains("the model is tired")
    );
    run.prompt("again");
    let text = run.posts[1]["messages"].to_string();
    assert!(
        !text.contains("toolCalls"),
        "a call without a result goes out with no run: {text}"
    );
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_run_that_breaks_off_is_told_and_never_posted_again_by_itself() {
    for whole in [true, false] {
        let mut run = AguiRig::busy();
        run.text("m", "Half a");
        match whole {
            true => run.closes(),
            false => {
                run.lost(Fault::Closed);
                run.connecting();
            }
        }
        run.after(Duration::from_secs(60));
        assert_eq!(run.posts.len(), 1, "{whole}");
        assert_eq!(run.count("session.errored"), 1);
        assert_eq!(run.phrase_keys.contains(&"agui.lost"), !whole);
        run.prompt("again");
        assert_eq!(run.posts.len(), 2);
        let last = contents(&run.posts[1]);
        assert_eq!(
            last[1],
            ("assistant".to_owned(), "Half a".to_owned()),
            "what was heard was said"
        );
        assert_eq!(run.faults, Vec::<String>::new());
    }
}

#[test]
fn a_prompt_that_did_not_leave_is_told_and_not_kept_and_one_that_may_have_is_kept() {
    for (fault, key, kept) in [
        (Fault::Refused, "prompt.not_taken", 1),
        (
            Fault::Status {
                status: 422,
                retry_after: None,
            },
            "prompt.not_taken",
            1,
        ),
        (Fault::Closed, "prompt.perhaps_taken", 2),
    ] {
        let mut run = AguiRig::new();
        run.prompt("one");
        run.lost(fault.clone());
        assert_eq!(run.phrase_keys, [key], "{fault:?}");
        assert_eq!(run.events.len(), 0);
        run.prompt("two");
        assert_eq!(
            (run.posts.len(), run.anew),
            (1, 1),
            "it waits for no time that nobody needs"
        );
        run.connecting();
        assert_eq!(run.posts.len(), 2);
        assert_eq!(contents(&run.posts[1]).len(), kept, "{fault:?}");
    }
}

#[test]
fn leaving_a_run_cuts_its_connection_and_says_no_more_than_is_known() {
    let mut run = AguiRig::busy();
    run.text("m", "One. ");
    run.prompt("then this");
    run.person_request(&PersonRequest::Stop);
    assert_eq!(run.phrase_keys, ["prompt.held", "agui.left"]);
    assert_eq!(run.anew, 1);
    let cancelled = run.last("session.cancelled");
    assert_eq!(cancelled["cancelled_by"], "user");
    run.connecting();
    assert_eq!(run.posts.len(), 2, "what waited is sent");
    run.taken();
    run.finishes(json!(null));
    run.person_request(&PersonRequest::Stop);
    assert_eq!(run.phrase_keys.last(), Some(&"stop_turn.none"));
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn an_endpoint_that_keeps_the_stream_open_behind_its_end_holds_nobody_up() {
    let mut run = AguiRig::busy();
    run.says(json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}));
    run.prompt("more");
    assert_eq!((run.posts.len(), run.anew), (1, 0));
    run.after(Duration::from_secs(2));
    assert_eq!(run.anew, 1);
    run.connecting();
    assert_eq!(run.posts.len(), 2);
}

#[test]
fn what_was_not_streamed_is_said_when_the_conversation_is_and_nothing_twice() {
    let mut run = AguiRig::busy();
    run.text("m", "Streamed.");
    let asked = run.posts[0]["messages"][0].clone();
    let messages = json!([{"id": "old", "role": "assistant", "content": "Long ago."}, asked,
        {"id": "m", "role": "assistant", "content": "Streamed."},
        {"id": "other", "role": "assistant", "content": " Streamed. "},
        {"id": "n", "role": "assistant", "content": "Whole.", "toolCalls": [{"id": "c", "type": "function", "function": {"name": "find", "arguments": "{}"}}]},
        {"id": "r", "role": "tool", "toolCallId": "c", "content": "x"}]);
    for _ in 0..2 {
        run.says(json!({"type": "MESSAGES_SNAPSHOT", "messages": messages}));
    }
    assert_eq!(run.said(), "Streamed.Whole.");
    assert_eq!(
        (run.count("tool.invoked"), run.count("tool.completed")),
        (1, 1)
    );
    run.finishes(json!(null));
    run.prompt("more");
    assert_eq!(
        run.posts[1]["messages"][0]["id"], "old",
        "the agent's word of it counts"
    );
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn the_shared_state_goes_back_and_is_told_to_nobody() {
    let mut run = AguiRig::busy();
    let before = run.events.len();
    run.says(json!({"type": "STATE_SNAPSHOT", "snapshot": {"n": 1}}));
    run.says(
        json!({"type": "STATE_DELTA", "delta": [{"op": "replace", "path": "/n", "value": 2}]}),
    );
    assert_eq!(run.events.len(), before);
    run.finishes(json!(null));
    run.prompt("more");
    assert_eq!(run.posts[1]["state"], json!({"n": 2}));
    run.taken();
    run.says(json!({"type": "STATE_DELTA", "delta": [{"op": "odd"}]}));
    assert_eq!(run.phrase_keys, ["agui.state_lost"]);
}

#[test]
fn a_capture_is_heard_and_nobody_can_be_asked() {
    let mut run = AguiRig::at("", TransportKind::OneWay);
    run.says(json!({"type": "RUN_STARTED", "threadId": "t", "runId": "r",
        "input": {"messages": [{"id": "u", "role": "user", "content": "do it"}]}}));
    run.text("m", "Done.");
    run.says(json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}));
    assert_eq!(run.last("session.started")["request_text"], "do it");
    assert_eq!(
        (run.said().as_str(), run.count("session.completed")),
        ("Done.", 1)
    );
    run.prompt("more");
    assert_eq!(run.phrase_keys, ["prompt.nobody"]);
    assert!(!run.machine.connection().takes_prompts && !run.machine.connection().rests);
    assert_eq!(
        super::super::recognise(r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#),
        Recognition::Surely
    );
}
