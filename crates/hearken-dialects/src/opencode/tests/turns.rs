//! Turns: what is announced, and that nothing is announced twice.

use super::*;

#[test]
fn a_turn_is_told_from_the_words_that_began_it_to_its_end() {
    let mut run = OpencodeRig::new();
    run.person("msg_1", "do it");
    run.works("ses_a");
    run.works("ses_a");
    run.text("prt_1", "");
    run.more("prt_1", "Hello ");
    run.more("prt_1", "there. ");
    run.text("prt_1", "Hello there.");
    run.rests("ses_a");
    run.rests("ses_a");
    let wanted = [
        "session.started",
        "thinking",
        "writing_output",
        "output.streaming",
        "output.streaming",
        "output.streaming",
        "thinking",
        "session.completed",
    ];
    assert_eq!(run.kinds(), wanted);
    assert_eq!(run.said(), "Hello there. ");
    assert_eq!(run.last("session.started")["request_text"], "do it");
    assert_eq!(
        run.last("session.started")["extensions"]["hearken"]["thread"],
        "ses_a"
    );
    assert_eq!(
        run.phrase_keys,
        ["opencode.prompted"],
        "somebody else said it"
    );
    // Late events begin nothing.
    run.text("prt_1", "Hello there. ");
    run.shell("c", "error");
    run.says(
        "session.error",
        json!({"sessionID": "ses_a", "error": {"name": "MessageAbortedError", "data": {}}}),
    );
    assert_eq!(run.kinds().len(), wanted.len());
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn thoughts_are_never_said() {
    let mut run = OpencodeRig::busy();
    run.more("prt_r", "a secret ");
    run.part(
        json!({"id": "prt_r", "messageID": "msg_2", "type": "reasoning", "text": "a secret "}),
    );
    run.more("prt_r", "thought");
    run.part(json!({"id": "prt_r", "messageID": "msg_2", "type": "reasoning", "text": "a secret thought"}));
    run.text("prt_1", "Said.");
    assert_eq!(run.said(), "Said.");
}

#[test]
fn a_call_is_told_once_it_is_known_that_nobody_asks_for_it() {
    let mut run = OpencodeRig::busy();
    run.shell("c", "pending");
    run.shell("c", "running");
    assert_eq!(run.count("tool.invoked"), 0);
    run.after(Duration::from_secs(1));
    assert_eq!(run.last("tool.invoked")["tool"], "bash");
    run.shell("c", "completed");
    assert_eq!(run.last("tool.completed")["status"], "success");
    run.part(json!({"id": "p", "messageID": "m", "type": "tool", "tool": "write", "callID": "w", "state": {
        "status": "completed", "input": {"filePath": "b.txt", "content": "one\ntwo\n"}, "output": "Wrote it.",
        "metadata": {"filepath": "/w/b.txt", "exists": false}, "title": "b.txt"}}));
    let change = &run.last("tool.completed")["extensions"]["hearken"]["changes"][0];
    assert_eq!(
        (&change["path"], &change["added"]),
        (&json!("/w/b.txt"), &json!(2))
    );
    // Questions and plans are announced as such.
    for tool in ["question", "todowrite"] {
        run.part(json!({"id": "p", "messageID": "m", "type": "tool", "tool": tool, "callID": tool, "state": {"status": "completed"}}));
    }
    assert_eq!(run.count("tool.completed"), 2);
    run.says("todo.updated", json!({"sessionID": "ses_a", "todos": [
        {"content": "Read", "status": "completed"}, {"content": "Write", "status": "in_progress"}]}));
    assert_eq!(run.last("progress.updated")["progress"]["step"], 2);
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn an_end_says_what_went_wrong() {
    for (error, kind) in [
        (
            json!({"name": "MessageAbortedError", "data": {"message": "Aborted"}}),
            "session.cancelled",
        ),
        (
            json!({"name": "APIError", "data": {"message": "no money"}}),
            "session.errored",
        ),
    ] {
        let mut run = OpencodeRig::busy();
        run.says(
            "session.error",
            json!({"sessionID": "ses_a", "error": error}),
        );
        run.rests("ses_a");
        assert_eq!(run.kinds().last().unwrap(), kind);
        run.works("ses_a");
        run.rests("ses_a");
        assert_eq!(
            run.kinds().last().unwrap(),
            "session.completed",
            "that was the last turn's"
        );
    }
    let mut run = OpencodeRig::busy();
    for _ in 0..2 {
        run.says(
            "session.status",
            json!({"sessionID": "ses_a", "status": {"type": "retry", "message": "too busy"}}),
        );
    }
    assert_eq!(run.phrase_keys, ["opencode.retry"]);
}

#[test]
fn several_conversations_are_several_and_an_agent_that_works_for_one_is_none() {
    let mut run = OpencodeRig::busy();
    run.works("ses_b");
    assert_eq!(run.count("session.started"), 2);
    let agents: std::collections::BTreeSet<String> = run
        .events
        .iter()
        .map(|event| event["producer"]["agent_id"].to_string())
        .collect();
    assert_eq!(agents.len(), 2);
    run.says(
        "session.created",
        json!({"info": {"id": "ses_c", "parentID": "ses_a", "directory": "/w"}}),
    );
    run.works("ses_c");
    run.part(json!({"id": "p", "messageID": "m", "sessionID": "ses_c", "type": "text", "text": "for the agent"}));
    let mut asks = touch("per_1", "d");
    asks["sessionID"] = "ses_c".into();
    run.says("permission.asked", asks);
    run.rests("ses_c");
    assert_eq!(
        (run.count("session.started"), run.count("session.completed")),
        (2, 0)
    );
    assert_eq!(run.said(), "");
    let asked = run.last("awaiting.confirmation");
    assert_eq!(asked["extensions"]["hearken"]["thread"], "ses_a");
    run.rests("ses_b");
    assert_eq!(run.over, [], "the question is another conversation's");
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_prompt_begins_a_conversation_or_goes_on_with_one_and_waits_for_its_turn() {
    let mut run = OpencodeRig::new();
    run.person_request(&PersonRequest::Prompt("do it".to_owned()));
    assert_eq!(run.posted(), ("/session", json!({})));
    run.answers("/session", 200, &json!({"id": "ses_a", "directory": "/w"}));
    let sent = json!({"parts": [{"type": "text", "text": "do it"}]});
    assert_eq!(run.posted(), ("/session/ses_a/prompt_async", sent));
    run.answers("/session/ses_a/prompt_async", 204, &Value::Null);
    run.person_request(&PersonRequest::Prompt("and this".to_owned()));
    run.person("msg_1", "do it");
    run.works("ses_a");
    let posts = |run: &OpencodeRig| run.calls.iter().filter(|call| call.1 == "POST").count();
    assert_eq!(
        (posts(&run), run.phrase_keys.as_slice()),
        (2, &["prompt.held"][..])
    );
    run.rests("ses_a");
    assert_eq!(
        (posts(&run), run.posted().1["parts"][0]["text"].as_str()),
        (3, Some("and this"))
    );
    run.answers("/session/ses_a/prompt_async", 500, &Value::Null);
    assert_eq!(run.phrase_keys, ["prompt.held", "prompt.perhaps_taken"]);
    run.person_request(&PersonRequest::Stop);
    assert_eq!(run.phrase_keys.last(), Some(&"stop_turn.none"));
}

#[test]
fn a_stop_is_asked_for_once_and_told_when_it_is_done() {
    let mut run = OpencodeRig::busy();
    run.shell("c", "running");
    run.says("permission.asked", touch("per_1", "c"));
    run.person_request(&PersonRequest::Stop);
    run.person_request(&PersonRequest::Stop);
    assert_eq!(
        run.phrase_keys,
        ["stop_turn.asked_to_stop", "stop_turn.stopping"]
    );
    assert_eq!(run.posted().0, "/session/ses_a/abort");
    run.says("permission.asked", touch("per_2", "d"));
    assert_eq!(
        run.count("awaiting.confirmation"),
        1,
        "nothing is asked while it stops"
    );
    run.says(
        "session.error",
        json!({"sessionID": "ses_a", "error": {"name": "MessageAbortedError", "data": {}}}),
    );
    run.rests("ses_a");
    run.answers("/session/ses_a/abort", 200, &json!(true));
    assert_eq!(run.over, [QuestionEnd::Stopped]);
    assert_eq!(run.last("session.cancelled")["cancelled_by"], "user");
    // A stop that did not arrive changes nothing, and the questions left out meanwhile are asked.
    let mut run = OpencodeRig::busy();
    run.person_request(&PersonRequest::Stop);
    run.fails("/session/ses_a/abort", Fault::Refused);
    assert_eq!(run.phrase_keys.last(), Some(&"opencode.stop_failed"));
    run.says("permission.asked", touch("per_2", "d"));
    assert_eq!(run.count("awaiting.confirmation"), 1);
}

#[test]
fn a_wish_for_one_conversation_goes_to_that_one() {
    let mut run = OpencodeRig::busy();
    run.works("ses_b");
    let of = |run: &OpencodeRig, id: &str, wish: PersonRequest| {
        let is = |event: &&Value| event["extensions"]["hearken"]["thread"] == id;
        let event = run.events.iter().find(is).unwrap();
        let agent = event["producer"]["agent_id"].as_str().unwrap();
        PersonRequest::ForAgent(AgentId::from(agent), Box::new(wish))
    };
    let stop = of(&run, "ses_a", PersonRequest::Stop);
    run.person_request(&stop);
    assert_eq!(run.posted().0, "/session/ses_a/abort");
    run.rests("ses_b");
    let prompt = of(&run, "ses_b", PersonRequest::Prompt("more".to_owned()));
    run.person_request(&prompt);
    assert_eq!(run.posted().0, "/session/ses_b/prompt_async");
    let nobody = PersonRequest::ForAgent(AgentId::from("x"), Box::new(PersonRequest::Stop));
    run.person_request(&nobody);
    assert_eq!(run.phrase_keys.last(), Some(&"stop_turn.none"));
}

#[test]
fn a_prompt_that_was_taken_and_begins_nothing_is_told_once_and_holds_nothing_up() {
    let sent = |run: &OpencodeRig| {
        let posts = run.calls.iter().filter(|call| call.2.ends_with("async"));
        posts.count()
    };
    let mut run = OpencodeRig::new();
    run.person_request(&PersonRequest::Prompt("first".to_owned()));
    run.answers("/session", 200, &json!({"id": "ses_a", "directory": "/w"}));
    run.after(Duration::from_secs(60));
    assert_eq!(run.phrase_keys, [""; 0], "it is not known to be taken");
    run.answers("/session/ses_a/prompt_async", 204, &Value::Null);
    run.person_request(&PersonRequest::Prompt("second".to_owned()));
    run.after(Duration::from_secs(29));
    assert_eq!(
        (sent(&run), run.phrase_keys.as_slice()),
        (1, &["prompt.held"][..])
    );
    run.after(Duration::from_secs(1));
    run.after(Duration::from_secs(60));
    assert_eq!(run.phrase_keys, ["prompt.held", "opencode.not_begun.next"]);
    assert_eq!(
        (sent(&run), run.posted().1["parts"][0]["text"].as_str()),
        (2, Some("second"))
    );
    run.answers("/session/ses_a/prompt_async", 204, &Value::Null);
    run.after(Duration::from_secs(30));
    assert_eq!(run.phrase_keys.last(), Some(&"opencode.not_begun"));
    assert_eq!(run.machine.deadline(), None, "nothing is waited for");
    // A prompt that begins its turn late is still ours.
    run.person("msg_1", "first");
    run.works("ses_a");
    assert_eq!(run.last("session.started")["request_text"], "first");
    assert_eq!(run.phrase_keys.len(), 3, "nobody else said it");
    run.person_request(&PersonRequest::Prompt("third".to_owned()));
    assert_eq!(run.phrase_keys.last(), Some(&"prompt.held"));
    run.rests("ses_a");
    assert_eq!(run.posted().1["parts"][0]["text"], "third");
}

#[test]
fn a_prompt_whose_turn_has_begun_is_never_told_as_late() {
    let mut run = OpencodeRig::new();
    run.person_request(&PersonRequest::Prompt("do it".to_owned()));
    run.answers("/session", 200, &json!({"id": "ses_a", "directory": "/w"}));
    run.person("msg_1", "do it");
    run.works("ses_a");
    run.answers("/session/ses_a/prompt_async", 204, &Value::Null);
    run.after(Duration::from_secs(60));
    run.rests("ses_a");
    assert_eq!(run.phrase_keys, [""; 0]);
    run.person_request(&PersonRequest::Prompt("more".to_owned()));
    run.answers("/session/ses_a/prompt_async", 204, &Value::Null);
    run.works("ses_a");
    run.after(Duration::from_secs(60));
    assert_eq!(run.phrase_keys, [""; 0]);
}

#[test]
fn nothing_waits_for_what_is_late_whatever_becomes_of_the_next() {
    let mut run = OpencodeRig::new();
    run.person_request(&PersonRequest::Prompt("first".to_owned()));
    run.answers("/session", 200, &json!({"id": "ses_a", "directory": "/w"}));
    run.answers("/session/ses_a/prompt_async", 204, &Value::Null);
    // The prompt came back, and still no turn begins.
    run.person("msg_1", "first");
    run.after(Duration::from_secs(30));
    assert_eq!(run.phrase_keys, ["opencode.not_begun"]);
    run.person_request(&PersonRequest::Prompt("second".to_owned()));
    run.answers("/session/ses_a/prompt_async", 500, &Value::Null);
    run.after(Duration::from_secs(60));
    run.person_request(&PersonRequest::Prompt("third".to_owned()));
    assert_eq!(
        run.phrase_keys,
        ["opencode.not_begun", "prompt.perhaps_taken"]
    );
    assert_eq!(run.posted().1["parts"][0]["text"], "third");
    // A turn may end before its prompt is known to be accepted.
    run.works("ses_a");
    run.rests("ses_a");
    run.answers("/session/ses_a/prompt_async", 204, &Value::Null);
    run.after(Duration::from_secs(60));
    assert_eq!(run.phrase_keys.len(), 2);
    assert_eq!(run.machine.deadline(), None);
}

#[test]
fn a_prompt_that_comes_to_nothing_is_told_and_holds_nothing_up() {
    let error = |words: &str| json!({"sessionID": "ses_a", "error": {"name": "UnknownError", "data": {"message": words}}});
    let posted = |run: &OpencodeRig| run.posted().1["parts"][0]["text"].clone();
    let mut run = OpencodeRig::new();
    run.person_request(&PersonRequest::Prompt("first".to_owned()));
    run.answers("/session", 200, &json!({"id": "ses_a", "directory": "/w"}));
    run.answers("/session/ses_a/prompt_async", 204, &Value::Null);
    run.person_request(&PersonRequest::Prompt("second".to_owned()));
    assert_eq!(posted(&run), "first");
    run.says("session.error", error("no such model"));
    assert_eq!(run.phrase_keys, ["prompt.held", "opencode.no_turn"]);
    assert_eq!(posted(&run), "second");
    run.answers("/session/ses_a/prompt_async", 204, &Value::Null);
    run.person("msg_1", "second");
    run.works("ses_a");
    assert_eq!(run.last("session.started")["request_text"], "second");
    run.rests("ses_a");
    // The same for a prompt of another client that was already heard.
    run.phrase_keys.clear();
    run.person("msg_2", "theirs");
    run.says("session.error", error("no such model"));
    assert_eq!(run.phrase_keys, ["opencode.prompted", "opencode.complaint"]);
    run.works("ses_a");
    assert_eq!(run.last("session.started")["request_text"], Value::Null);
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_prompt_that_never_came_back_holds_nothing_up_when_the_turn_is_over() {
    let mut run = OpencodeRig::busy();
    run.rests("ses_a");
    run.person_request(&PersonRequest::Prompt("first".to_owned()));
    run.answers("/session/ses_a/prompt_async", 204, &Value::Null);
    run.works("ses_a");
    run.rests("ses_a");
    run.person_request(&PersonRequest::Prompt("second".to_owned()));
    assert_eq!(run.posted().1["parts"][0]["text"], "second");
}

#[test]
fn a_stop_says_what_becomes_of_what_waits() {
    let mut run = OpencodeRig::busy();
    run.person_request(&PersonRequest::Prompt("after it".to_owned()));
    run.person_request(&PersonRequest::Stop);
    assert_eq!(
        run.phrase_keys,
        ["prompt.held", "stop_turn.asked_to_stop.then"]
    );
}

#[test]
fn a_turn_that_does_not_stop_can_be_left_and_the_next_prompt_is_sent() {
    let mut run = OpencodeRig::busy();
    run.person_request(&PersonRequest::Prompt("next".to_owned()));
    run.person_request(&PersonRequest::Stop);
    run.answers("/session/ses_a/abort", 200, &json!(true));
    assert!(run.machine.connection().is_stopping);
    run.person_request(&PersonRequest::Abandon);
    assert_eq!(run.kinds().last().unwrap(), "session.cancelled");
    assert_eq!(run.phrase_keys.last(), Some(&"prompt.next"));
    assert_eq!(run.posted().1["parts"][0]["text"], "next");
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_prompt_whose_turn_does_not_begin_can_be_stopped_like_a_turn() {
    let mut run = OpencodeRig::busy();
    run.rests("ses_a");
    run.phrase_keys.clear();
    run.person_request(&PersonRequest::Prompt("first".to_owned()));
    run.answers("/session/ses_a/prompt_async", 204, &Value::Null);
    assert!(run.machine.connection().in_turn);
    run.person_request(&PersonRequest::Prompt("second".to_owned()));
    run.person_request(&PersonRequest::Stop);
    assert_eq!(
        run.phrase_keys,
        ["prompt.held", "prompt.given_up", "prompt.next"]
    );
    assert_eq!(run.posted().1["parts"][0]["text"], "second");
    assert_eq!(run.faults, Vec::<String>::new());
}
