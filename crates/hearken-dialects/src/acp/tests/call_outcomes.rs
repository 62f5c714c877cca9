//! What became of a call: the exit of its program, a stop, and the verb of what it did.

use super::*;

fn call(id: &str, kind: &str, title: &str, input: &Value) -> Value {
    json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": title, "kind": kind, "status": "in_progress",
        "rawInput": input})
}

fn ends(id: &str, status: &str, more: &Value) -> Value {
    let mut update =
        json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status});
    for (name, value) in more.as_object().unwrap() {
        update[name] = value.clone();
    }
    update
}

fn sleeps(run: &mut AcpRig) {
    run.update(call(
        "c",
        "execute",
        "Run a command",
        &json!({"command": "sleep 20"}),
    ));
}

/// Returns the status, the title and the exit of the last call that is over.
fn end(run: &AcpRig) -> (String, String, Value) {
    let event = run.last("tool.completed");
    let call = &event["extensions"]["hearken"]["call"];
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (
        text(&event["status"]),
        text(&call["title"]),
        call["exit"].clone(),
    )
}

#[test]
fn a_code_other_than_zero_is_a_failure_whatever_the_agent_calls_it() {
    for (status, more, wanted, exit) in [
        (
            "completed",
            json!({"rawOutput": {"output": "x", "metadata": {"exit": 3}}}),
            "error",
            json!({"code": 3}),
        ),
        (
            "completed",
            json!({"rawOutput": {"output": "x", "metadata": {"exit": 0}}}),
            "success",
            json!({"code": 0}),
        ),
        (
            "completed",
            json!({"rawOutput": {"metadata": {"exit": null}, "output": "User aborted the command"}}),
            "stopped",
            json!({"stopped": true}),
        ),
        (
            "completed",
            json!({"rawOutput": {"metadata": {"exit": null},
                "output": "shell tool terminated command after exceeding timeout 9 ms"}}),
            "timeout",
            json!({"timed_out": true}),
        ),
        (
            "failed",
            json!({"_meta": {"terminal_exit": {"exit_code": null, "signal": "SIGTERM"}}}),
            "error",
            json!({"signal": "SIGTERM"}),
        ),
        ("failed", json!({}), "error", Value::Null),
    ] {
        let mut run = AcpRig::prompted();
        sleeps(&mut run);
        run.update(ends("c", status, &more));
        assert_eq!(
            end(&run),
            (wanted.to_owned(), "sleep 20".to_owned(), exit),
            "{more}"
        );
        assert_eq!(run.faults, [""; 0]);
    }
}

#[test]
fn output_that_came_piece_by_piece_is_put_together() {
    let mut run = AcpRig::prompted();
    sleeps(&mut run);
    let wrote = |text: &str| json!({"_meta": {"terminal_output_delta": {"data": text}}});
    run.update(ends("c", "in_progress", &wrote("one\ntw")));
    let mut last = wrote("o\n");
    last["_meta"]["terminal_exit"] = json!({"exit_code": 3});
    run.update(ends("c", "failed", &last));
    let event = run.last("tool.completed");
    assert_eq!(
        event["extensions"]["hearken"]["output"]["lines"],
        json!(["one", "two"])
    );
    assert_eq!(event["error_message"], "one\ntwo");
}

#[test]
fn what_agents_put_around_an_output_is_no_part_of_it() {
    for text in [
        "one\ntwo\n<shellId: 0 completed with exit code 3>",
        "```console\none\ntwo\n```",
        "\none\ntwo\n",
    ] {
        let mut run = AcpRig::prompted();
        sleeps(&mut run);
        let content = json!({"type": "content", "content": {"type": "text", "text": text}});
        run.update(ends("c", "completed", &json!({"content": [content]})));
        let output = &run.last("tool.completed")["extensions"]["hearken"]["output"];
        assert_eq!(output["lines"], json!(["one", "two"]), "{text}");
    }
}

#[test]
fn what_ran_when_the_person_stopped_is_stopped_whatever_the_agent_says() {
    for last in [
        Some(ends("c", "completed", &json!({}))),
        Some(ends("c", "failed", &json!({}))),
        Some(ends(
            "c",
            "completed",
            &json!({"rawOutput": {"exitCode": 130}}),
        )),
        None,
    ] {
        let mut run = AcpRig::prompted();
        sleeps(&mut run);
        run.after(Duration::from_secs(2));
        run.person_request(&PersonRequest::Stop);
        run.update(last.clone().unwrap_or_else(
            || json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "x"}}),
        ));
        run.frame(json!({"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "cancelled"}}));
        let (status, title, _) = end(&run);
        assert_eq!((status.as_str(), title.as_str()), ("stopped", "sleep 20"));
        assert_eq!(run.count("tool.completed"), 1);
        // Its end is reported late as well, and is not announced.
        run.update(ends("c", "failed", &json!({})));
        assert_eq!(run.count("session.started"), 1);
        assert_eq!(run.faults, [""; 0]);
    }
}

#[test]
fn what_was_done_before_a_stop_or_in_spite_of_it_is_done() {
    let mut run = AcpRig::prompted();
    sleeps(&mut run);
    run.update(ends("c", "completed", &json!({})));
    run.person_request(&PersonRequest::Stop);
    assert_eq!(end(&run).0, "success");

    let mut run = AcpRig::prompted();
    sleeps(&mut run);
    run.person_request(&PersonRequest::Stop);
    run.update(ends(
        "c",
        "completed",
        &json!({"rawOutput": {"exitCode": 0}}),
    ));
    assert_eq!(end(&run).0, "success");

    let mut run = AcpRig::prompted();
    run.update(call("e", "edit", "Edit", &json!({})));
    run.person_request(&PersonRequest::Stop);
    let diff = json!({"type": "diff", "path": "/work/a/x.txt", "oldText": "a\n", "newText": "b\n"});
    run.update(ends("e", "completed", &json!({"content": [diff]})));
    assert_eq!(
        run.last("tool.completed")["summary_normal"],
        "Edited x.txt, 1 line added, 1 removed."
    );
    // A turn that the agent ends while its call runs stops nothing.
    let mut run = AcpRig::prompted();
    sleeps(&mut run);
    run.after(Duration::from_secs(2));
    run.frame(json!({"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "end_turn"}}));
    run.after(Duration::from_secs(6));
    assert_eq!(end(&run).0, "no_end_reported");
}

/// Copilot reports nothing between the permission and the end.
#[test]
fn a_call_that_was_allowed_counts_as_running_after_a_moment() {
    let mut run = AcpRig::prompted();
    let mut update = call("c", "execute", "Runs it", &json!({"command": "sleep 20"}));
    update["status"] = json!("pending");
    run.update(update);
    run.asks(&json!("p"), &json!({"toolCallId": "c"}));
    run.decide(1, "accept", None);
    run.written(1, true);
    assert_eq!(run.count("tool.invoked"), 0);
    run.after(Duration::from_secs(1));
    assert_eq!(run.last("tool.invoked")["summary_normal"], "sleep 20");
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn what_a_call_does_is_said_by_its_verb() {
    let path = "/work/a/add.py";
    for (kind, title, input, more, begins, done) in [
        (
            "read",
            "ReadFile: add.py",
            json!({"file_path": path}),
            json!({}),
            "Reading add.py",
            "Read add.py.",
        ),
        (
            "read",
            "Viewing /work/a/add.py",
            json!({"path": path}),
            json!({}),
            "Reading add.py",
            "Read add.py.",
        ),
        (
            "search",
            "grep",
            json!({"pattern": "TODO", "path": "/work/a/src"}),
            json!({}),
            "Searching for TODO in src",
            "Searched for TODO in src.",
        ),
        (
            "fetch",
            "x",
            json!({"url": "https://a.example/b"}),
            json!({}),
            "Fetching https://a.example/b",
            "Fetched https://a.example/b.",
        ),
        (
            "edit",
            "write",
            json!({"filePath": path, "content": "one\ntwo\n"}),
            json!({"rawOutput": {"metadata": {"exists": false}}}),
            "Writing add.py",
            "New file add.py, 2 lines.",
        ),
        (
            "edit",
            "write",
            json!({"filePath": path, "content": "one\ntwo\n"}),
            json!({}),
            "Writing add.py",
            "Wrote add.py.",
        ),
        (
            "edit",
            "Edit",
            json!({"filePath": path}),
            json!({"content": [{"type": "diff", "path": path, "oldText": null, "newText": "a\n"}]}),
            "Editing add.py",
            "New file add.py, 1 line.",
        ),
        (
            "edit",
            "Edit",
            json!({"filePath": path}),
            json!({"content": [{"type": "diff", "path": path, "oldText": "a\nb\n", "newText": "a\n"}]}),
            "Editing add.py",
            "Edited add.py, 1 line removed.",
        ),
        (
            "delete",
            "Delete",
            json!({"path": path}),
            json!({}),
            "Deleting add.py",
            "Deleted add.py.",
        ),
        (
            "execute",
            "Shell: npm test (Runs it)",
            json!({"command": "npm test"}),
            json!({}),
            "npm test",
            "Done: npm test",
        ),
        (
            "read",
            "Read add.py",
            json!({"command": "cat add.py"}),
            json!({}),
            "Read add.py",
            "Done: Read add.py",
        ),
        // Nothing says what it is about.
        (
            "search",
            "Find a place",
            json!({"where": "here"}),
            json!({}),
            "Find a place",
            "Done: Find a place",
        ),
        (
            "think",
            "Ponder",
            json!({}),
            json!({}),
            "Ponder",
            "Done: Ponder",
        ),
    ] {
        let mut run = AcpRig::prompted();
        run.update(call("c", kind, title, &input));
        run.after(Duration::from_secs(2));
        assert_eq!(run.last("tool.invoked")["summary_normal"], begins);
        run.update(ends("c", "completed", &more));
        assert_eq!(
            run.last("tool.completed")["summary_normal"],
            done,
            "{title}"
        );
        assert_eq!(run.faults, [""; 0]);
    }
}
