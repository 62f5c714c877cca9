//! What an agent does in a turn, and when it is announced.

use super::*;

fn says(text: &str) -> Value {
    json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})
}

fn ends(run: &mut AcpRig, reason: &str) {
    run.frame(json!({"jsonrpc": "2.0", "id": 3, "result": {"stopReason": reason}}));
}

/// A position counts characters, even at the end; otherwise, the text would seem to come twice.
#[test]
fn each_piece_of_text_begins_where_the_one_before_it_ended() {
    let mut run = AcpRig::prompted();
    for text in ["Grüße. ", "Now ", "I look."] {
        run.update(says(text));
    }
    ends(&mut run, "end_turn");
    let mut at = 0;
    let pieces = run.events.iter().filter(|event| event["chunk"].is_string());
    for piece in pieces.clone() {
        assert_eq!(piece["position"], json!(at), "{piece}");
        at += piece["chunk"].as_str().unwrap().chars().count();
    }
    assert_eq!((pieces.count(), at), (4, 18));
}

#[test]
fn what_a_call_did_is_named_when_it_is_done() {
    let mut run = AcpRig::prompted();
    run.update(touch("in_progress"));
    run.update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}),
    );
    let done = run.last("tool.completed");
    assert_eq!(done["summary_terse"], "Done.");
    let started = run.last("tool.invoked")["summary_normal"].clone();
    assert_eq!(
        done["summary_normal"],
        format!("Done: {}", started.as_str().unwrap())
    );
}

/// opencode sends the change with its request, and at the end only says that the file was written, under a path without
/// its leading slash.
#[test]
fn what_was_changed_is_known_at_the_end_though_the_agent_does_not_say_it_again() {
    let mut run = AcpRig::prompted();
    let diff = json!({"type": "diff", "path": "/work/a/src/main.rs", "oldText": "a\n", "newText": "a\nb\n"});
    run.update(
        json!({"sessionUpdate": "tool_call", "toolCallId": "w", "title": "/work/a/src/main.rs",
        "kind": "edit", "status": "pending", "content": [diff]}),
    );
    run.update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "w", "status": "completed",
        "title": "work/a/src/main.rs", "content": [{"type": "content", "content": {"type": "text", "text": "Wrote it."}}]}));
    assert_eq!(
        run.last("tool.completed")["summary_normal"],
        "Edited src/main.rs, 1 line added."
    );
    ends(&mut run, "end_turn");
    assert_eq!(
        run.last("session.completed")["summary_normal"],
        "Edited src/main.rs."
    );
}

#[test]
fn a_title_that_is_a_path_in_the_folder_is_said_as_people_do() {
    let mut run = AcpRig::prompted();
    for (title, said) in [
        ("work/a/notes.txt", "Read notes.txt."),
        ("/work/a/notes.txt", "Read notes.txt."),
        ("/work/ab/notes.txt", "Read /work/ab/notes.txt."),
        ("work/a/x && y", "Done: work/a/x && y"),
    ] {
        run.update(json!({"sessionUpdate": "tool_call", "toolCallId": title, "title": title, "kind": "read",
            "status": "completed"}));
        assert_eq!(run.last("tool.completed")["summary_normal"], said);
    }
}

#[test]
fn a_turn_is_told_from_its_prompt_to_its_end() {
    let mut run = AcpRig::prompted();
    run.update(json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "secret"}}));
    run.update(says("I "));
    run.update(says("look."));
    run.update(touch("in_progress"));
    run.update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}),
    );
    run.update(json!({"sessionUpdate": "plan", "entries": [
        {"content": "a", "priority": "high", "status": "completed"},
        {"content": "run the tests", "priority": "high", "status": "in_progress"}]}));
    run.update(says("Done."));
    run.after(Duration::from_secs(3));
    ends(&mut run, "end_turn");
    let kinds = run.kinds();
    let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
    assert_eq!(
        kinds,
        [
            "session.started",
            "thinking",
            "writing_output",
            "output.streaming",
            "output.streaming",
            "output.streaming",
            "calling_tool",
            "tool.invoked",
            "tool.completed",
            "thinking",
            "progress.updated",
            "writing_output",
            "output.streaming",
            "output.streaming",
            "thinking",
            "session.completed",
        ]
    );
    assert!(
        !run.events
            .iter()
            .any(|event| event.to_string().contains("secret"))
    );
    let plan = &run.last("progress.updated")["progress"];
    assert_eq!(
        *plan,
        json!({"step": 2, "total_steps": 2, "description": "run the tests"})
    );
    assert_eq!(run.last("session.completed")["duration_ms"], 3000);
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn each_way_to_end_has_words_of_its_own() {
    for (reason, kind, words) in [
        ("end_turn", "session.completed", None),
        ("max_tokens", "session.completed", Some("as much as it may")),
        (
            "max_turn_requests",
            "session.completed",
            Some("as many steps as it may"),
        ),
        ("refusal", "session.completed", Some("It refused")),
        ("purple", "session.completed", Some("does not know")),
        ("cancelled", "session.cancelled", Some("not by you")),
    ] {
        let mut run = AcpRig::prompted();
        ends(&mut run, reason);
        let end = run.last(kind);
        let said = end["summary_normal"].as_str();
        match words {
            Some(words) => assert!(said.unwrap().contains(words), "{reason}: {said:?}"),
            None => assert_eq!(said, None),
        }
        assert_eq!(run.faults, [""; 0]);
    }
    let mut run = AcpRig::prompted();
    run.frame(json!({"jsonrpc": "2.0", "id": 3, "error": {"code": -32603, "message": "no model"}}));
    let said = run.last("session.errored")["summary_normal"]
        .as_str()
        .unwrap();
    assert_eq!(said, "The agent could not go on: no model");
}

#[test]
fn a_call_that_runs_is_told_after_a_while_and_one_that_asks_only_once_it_is_allowed() {
    let invoked = |run: &AcpRig| {
        run.kinds()
            .iter()
            .filter(|kind| *kind == "tool.invoked")
            .count()
    };
    let mut run = AcpRig::prompted();
    run.update(touch("pending"));
    run.after(Duration::from_secs(60));
    run.update(touch("in_progress"));
    assert_eq!(invoked(&run), 0);
    let due = run.machine.deadline().unwrap() - run.now.monotonic;
    run.after(due);
    assert_eq!(invoked(&run), 1);

    let mut run = AcpRig::prompted();
    run.update(touch("in_progress"));
    run.asks(&json!("p"), &json!({"toolCallId": "c"}));
    run.after(Duration::from_secs(60));
    assert_eq!(invoked(&run), 0, "it waits for the person");
    run.decide(1, "accept", None);
    assert_eq!(invoked(&run), 0, "nothing has gone out yet");
    run.written(1, true);
    assert_eq!(invoked(&run), 1);
    assert_eq!(run.faults, [""; 0]);

    let mut run = AcpRig::prompted();
    run.update(touch("in_progress"));
    run.asks(&json!("p"), &json!({"toolCallId": "c"}));
    run.decide(1, "reject", None);
    run.written(1, true);
    run.update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed"}));
    assert_eq!(invoked(&run), 0, "it never ran");
}

#[test]
fn an_edit_is_told_by_its_lines() {
    let mut run = AcpRig::prompted();
    let diff = json!([{"type": "diff", "path": "/work/a/src/main.rs", "oldText": "a\nb\n", "newText": "a\nc\nd\n"}]);
    run.asks(
        &json!(9),
        &json!({"toolCallId": "e", "title": "Edit main.rs", "kind": "edit", "content": diff}),
    );
    let asked = run.last("awaiting.confirmation");
    assert_eq!(
        asked["action"],
        "Edits src/main.rs: 2 lines added, 1 removed"
    );
    assert_eq!(
        asked["extra_context"],
        json!({"title": "Edit main.rs"}),
        "what it calls itself is told, and is not what is asked for"
    );
    let hunks = json!([{"line": 1, "lines": [" a", "-b", "+c", "+d"], "left_out": 0}]);
    assert_eq!(asked["extensions"]["hearken"]["changes"][0]["hunks"], hunks);
    assert_eq!(asked["consequence"], Value::Null);
    run.decide(1, "accept", None);
    run.written(1, true);
    run.update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "e", "status": "completed"}),
    );
    let done = run.last("tool.completed");
    assert_eq!(
        done["summary_normal"],
        "Edited src/main.rs, 2 lines added, 1 removed."
    );
    ends(&mut run, "end_turn");
    assert_eq!(
        run.last("session.completed")["summary_normal"],
        "Edited src/main.rs."
    );
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn what_a_call_brought_and_what_is_planned_travel_beside_the_event() {
    let mut run = AcpRig::prompted();
    run.update(touch("in_progress"));
    let text: String = (0..100_000)
        .map(|n| format!("{n} {}\n", "x".repeat(45)))
        .collect();
    run.update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed",
            "content": [{"type": "content", "content": {"type": "text", "text": text}}]}),
    );
    let output = &run.last("tool.completed")["extensions"]["hearken"]["output"];
    assert_eq!(
        (&output["of"], &output["count"]),
        (&json!("touch x"), &json!(100_000))
    );
    assert!(run.last("tool.completed").to_string().len() < 64 * 1024);
    let step =
        |text: &str, status: &str| json!({"content": text, "priority": "high", "status": status});
    run.update(json!({"sessionUpdate": "plan",
        "entries": [step("look", "completed"), step("touch", "in_progress"), step("rest", "pending")]}));
    let plan = run.last("progress.updated");
    assert_eq!(plan["progress"]["step"], 2);
    assert_eq!(
        plan["extensions"]["hearken"]["plan"],
        json!([{"step": "look", "stage": "done"}, {"step": "touch", "stage": "now"},
            {"step": "rest", "stage": "open"}])
    );
    assert_eq!(run.faults, [""; 0]);
}

/// Runs a call, and returns the types of its events, except changes of state.
fn told_of(
    run: &mut AcpRig,
    name: &str,
    input: &Value,
    end: &str,
    plan: Option<&Value>,
) -> Vec<String> {
    let began = run.events.len();
    let id = format!("{began} {end} {input}");
    run.update(
        json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": name,
        "kind": "other", "status": "pending", "rawInput": {}}),
    );
    run.update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "in_progress",
        "title": name, "rawInput": input}),
    );
    if let Some(entries) = plan {
        run.update(json!({"sessionUpdate": "plan", "entries": entries}));
    }
    run.update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": end,
        "title": "2 todos", "rawInput": input, "rawOutput": {"output": "[]"}}),
    );
    let types = run.events[began..].iter();
    let types = types.map(|event| event["type"].as_str().unwrap().replace("aaep:agent.", ""));
    types.filter(|it| it != "state.changed").collect()
}

fn todos(second: &str) -> Value {
    json!([{"content": "Look", "status": "completed", "priority": "high", "id": "1"},
        {"content": "Fix it", "status": second, "priority": "high", "id": "2"}])
}

const OF_A_TOOL: [&str; 2] = ["tool.invoked", "tool.completed"];

/// opencode writes its plan by a call titled "2 todos", and sends no plan; others send one beside such a call.
#[test]
fn a_call_that_writes_down_a_plan_is_told_as_the_plan() {
    let mut run = AcpRig::prompted();
    let input = json!({"todos": todos("pending")});
    let told = told_of(&mut run, "todowrite", &input, "completed", None);
    assert_eq!(told, ["progress.updated"]);
    let (plan, input) = (todos("in_progress"), json!({"todos": todos("in_progress")}));
    let told = told_of(&mut run, "todowrite", &input, "completed", Some(&plan));
    assert_eq!(told, ["progress.updated"]);
    // Repeating the same list is no news; a list that could not be written down is no plan.
    let told = told_of(&mut run, "todowrite", &input, "completed", None);
    assert_eq!(told, Vec::<String>::new());
    let input = json!({"todos": todos("completed")});
    assert_eq!(
        told_of(&mut run, "todowrite", &input, "failed", None),
        OF_A_TOOL
    );
    let progress = &run.last("progress.updated")["progress"];
    assert_eq!(progress["description"], "Fix it");
    let step = (&progress["step"], &progress["total_steps"]);
    assert_eq!(step, (&json!(2), &json!(2)));
}

/// Nothing that a call did hides behind a list among its inputs.
#[test]
fn a_call_that_is_given_more_than_a_list_or_is_of_another_tool_is_told() {
    let mut run = AcpRig::prompted();
    let list = json!({"todos": todos("pending")});
    for (name, input) in [
        ("jira_create", list.clone()),
        ("", list),
        (
            "todowrite",
            json!({"todos": todos("pending"), "command": "rm x"}),
        ),
        (
            "todowrite",
            json!({"todos": todos("pending"), "path": "/etc"}),
        ),
        ("todowrite", json!({"todos": [{"status": "pending"}]})),
        ("todowrite", json!({"todos": "all"})),
        ("todowrite", json!({})),
    ] {
        let told = told_of(&mut run, name, &input, "completed", None);
        assert_eq!(told, OF_A_TOOL, "{name} {input}");
    }
}

/// The texts before and after such a call are two outputs, as around any call.
#[test]
fn text_ends_before_a_call_that_writes_down_a_plan() {
    let mut run = AcpRig::prompted();
    run.update(says("Let me plan"));
    told_of(
        &mut run,
        "todowrite",
        &json!({"todos": todos("pending")}),
        "completed",
        None,
    );
    run.update(says("Now I look."));
    let outputs = run
        .events
        .iter()
        .filter_map(|event| event["output_id"].as_str());
    let outputs: std::collections::BTreeSet<&str> = outputs.collect();
    assert_eq!(outputs.len(), 2, "{:?}", run.events);
}

#[test]
fn what_an_agent_does_unprompted_is_a_turn_that_ends_with_its_silence() {
    let mut run = AcpRig::open();
    run.update(says("By the way."));
    assert_eq!(run.kinds()[0], "session.started");
    assert!(!run.kinds().contains(&"session.completed".to_owned()));
    let due = run.machine.deadline().unwrap() - run.now.monotonic;
    run.after(due);
    assert_eq!(run.kinds().last().unwrap(), "session.completed");
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn what_is_not_known_is_told_once_and_what_is_of_no_interest_never() {
    let mut run = AcpRig::prompted();
    for _ in 0..3 {
        run.update(json!({"sessionUpdate": "purple"}));
        run.update(json!({"sessionUpdate": "usage_update", "used": 1, "size": 2}));
        run.frame(json!({"jsonrpc": "2.0", "method": "_own/thing"}));
    }
    assert_eq!(run.phrase_keys, ["acp.unknown"]);
    run.update(json!({"sessionUpdate": "current_mode_update", "currentModeId": "yolo"}));
    run.update(
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "image", "data": ""}}),
    );
    assert_eq!(
        run.phrase_keys,
        ["acp.unknown", "oversight.starts", "acp.shows"]
    );
}

#[test]
fn too_many_calls_are_counted_and_told() {
    let mut run = AcpRig::prompted();
    for number in 0..300 {
        run.update(
            json!({"sessionUpdate": "tool_call", "toolCallId": number.to_string(), "title": "x"}),
        );
    }
    ends(&mut run, "end_turn");
    assert!(run.phrase_keys.contains(&"acp.calls_left_out"));
    assert_eq!(run.faults, [""; 0]);
}

/// Nothing ends unprompted work: a call in it that never ends must not hold the person up.
#[test]
fn what_an_agent_does_unprompted_holds_up_neither_a_prompt_nor_a_stop() {
    let background = || {
        let mut run = AcpRig::open();
        run.update(touch("in_progress"));
        run.after(Duration::from_secs(60));
        assert_eq!(run.kinds().last().unwrap(), "tool.invoked");
        run
    };
    let mut run = background();
    run.person_request(&PersonRequest::Prompt("go on".to_owned()));
    assert!(run.frames()[0].contains("session/prompt"));
    assert_eq!(run.phrase_keys, [""; 0], "it did not wait");
    let mut run = background();
    run.person_request(&PersonRequest::Stop);
    assert_eq!(run.last("session.cancelled")["cancelled_by"], "user");
    assert_eq!(run.faults, [""; 0]);
}

/// codex-acp writes a notice of its program in one piece, and what the model writes follows without a break.
#[test]
fn a_notice_of_the_agents_program_is_not_the_beginning_of_what_the_model_writes() {
    let says = |run: &mut AcpRig, text: &str| {
        run.update(json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}));
    };
    let outputs = |run: &AcpRig| {
        let names = run.events.iter().map(|event| &event["output_id"]);
        let names = names.filter(|name| !name.is_null()).map(Value::to_string);
        names.collect::<std::collections::BTreeSet<_>>().len()
    };
    for next in ["## Found", "Hello"] {
        let mut run = AcpRig::prompted();
        says(&mut run, "The metadata of the model was not found.");
        says(&mut run, next);
        assert_eq!(outputs(&run), 2, "{next}");
    }
    for (first, next) in [
        ("The metadata of the model was not found.", " So be it."),
        ("The metadata of the model was not found.", "com"),
        ("System.", "Out"),
        ("It is written to the", " System."),
    ] {
        let mut run = AcpRig::prompted();
        says(&mut run, first);
        says(&mut run, next);
        says(&mut run, "X");
        assert_eq!(outputs(&run), 1, "{first} {next}");
    }
}

#[test]
fn a_turn_that_stops_at_a_rejection_says_so_and_not_that_somebody_else_stopped_it() {
    let ended = |run: &mut AcpRig| {
        run.frame(json!({"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "cancelled"}}));
        let over = run.last("session.cancelled");
        (
            over["cancelled_by"].as_str().unwrap().to_owned(),
            over["summary_normal"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        )
    };
    let mut run = AcpRig::prompted();
    run.asks(&json!(1), &json!({"toolCallId": "c", "title": "x"}));
    run.decide(7, "reject", None);
    run.written(7, true);
    let (by, said) = ended(&mut run);
    assert_eq!(
        (by.as_str(), said.as_str()),
        ("user", "It stopped at what you rejected.")
    );
    // A later cancellation has nothing to do with that rejection.
    let mut run = AcpRig::prompted();
    run.asks(&json!(1), &json!({"toolCallId": "c", "title": "x"}));
    run.decide(7, "reject", None);
    run.written(7, true);
    run.asks(&json!(2), &json!({"toolCallId": "d", "title": "y"}));
    run.decide(8, "accept", None);
    run.written(8, true);
    assert_eq!(ended(&mut run).0, "producer");
    let mut run = AcpRig::prompted();
    let (by, said) = ended(&mut run);
    assert_eq!(
        (by.as_str(), said.as_str()),
        ("producer", "It was cancelled, and not by you.")
    );
}
