//! Finding tasks, following them, and coming back after a loss.

use super::*;

fn listed(tasks: Value) -> Value {
    json!({"tasks": tasks, "nextPageToken": ""})
}

fn begun(at: &str, id: &str, state: &str) -> Value {
    let mut task = task(id, state, "");
    task["status"]["timestamp"] = at.into();
    task
}

/// Creates a run that gets this task list at first.
fn joins(tasks: Value) -> A2aRig {
    let mut run = A2aRig::over(TransportKind::EventStream, None);
    run.connects(&card("1.0", true));
    run.answers("ListTasks", listed(tasks));
    run
}

#[test]
fn a_task_that_runs_is_joined_and_what_it_said_before_is_not_said() {
    let mut run = joins(json!([
        begun("2026-03-07T14:00:00Z", "t1", "WORKING"),
        begun("2026-03-07T13:00:00Z", "t0", "COMPLETED")
    ]));
    let stream = run.call("SubscribeToTask");
    assert_eq!(stream.params["id"], "t1");
    let mut whole = task("t1", "WORKING", "");
    whole["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": "Old. "}]}]);
    whole["history"] = json!([message("u1", "USER", "do it")]);
    run.piece(stream.number, json!({"task": whole}));
    run.piece(stream.number, grows("t1", "New.", true));
    assert_eq!(run.last("session.started")["request_text"], "do it");
    // Output skipped at a gap is announced when the whole arrives: a piece alone may have a gap before it.
    run.ends(stream.number);
    run.after(Duration::from_secs(3));
    let again = run.call("SubscribeToTask").number;
    let mut whole = task("t1", "COMPLETED", "");
    whole["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": "Old. New."}]}]);
    run.piece(again, json!({"task": whole}));
    assert_eq!(run.said(), "New.");
    assert_eq!(run.count("session.started"), 1);
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn tasks_that_begin_later_are_heard_whole_and_old_ones_never() {
    let old = begun("2026-03-07T14:00:00Z", "t0", "COMPLETED");
    let mut run = joins(json!([old]));
    run.after(Duration::from_secs(5));
    let older = begun("2026-03-07T10:00:00Z", "t-1", "FAILED");
    let done = begun("2026-03-07T14:01:00Z", "t2", "COMPLETED");
    let works = begun("2026-03-07T14:02:00Z", "t3", "WORKING");
    run.answers("ListTasks", listed(json!([works, done, old, older])));
    let streams: Vec<&str> = run
        .calls
        .iter()
        .filter(|it| it.streams)
        .filter_map(|it| it.params["id"].as_str())
        .collect();
    assert_eq!(streams, ["t2", "t3"]);
    let second = run
        .calls
        .iter()
        .find(|it| it.params["id"] == "t2")
        .unwrap()
        .number;
    run.answered(second, Ok(refusal(-32004)));
    let mut whole = task("t2", "COMPLETED", "");
    whole["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": "It is done."}]}]);
    run.answers("GetTask", whole);
    assert_eq!(run.said(), "It is done.");
    // The list is known now, and is requested no more often than stated.
    run.after(Duration::from_secs(5));
    let lists = run.made("ListTasks");
    run.after(Duration::from_secs(60));
    assert_eq!(run.made("ListTasks"), lists);
    run.answers("ListTasks", listed(json!([done])));
    assert_eq!(run.count("session.started"), 1);
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn after_a_loss_nothing_is_asked_twice_nothing_said_twice_and_nothing_lost() {
    let (mut run, stream) = A2aRig::busy();
    run.piece(stream, stands("t1", "WORKING", "Looking."));
    run.piece(stream, grows("t1", "One. ", false));
    run.piece(stream, stands("t1", "INPUT_REQUIRED", "Which?"));
    run.lost();
    assert_eq!(run.stood, []);
    run.connects(&card("1.0", true));
    let again = run
        .calls
        .iter()
        .rev()
        .find(|it| it.method == "SubscribeToTask")
        .unwrap()
        .number;
    run.answers(
        "ListTasks",
        listed(json!([task("t1", "INPUT_REQUIRED", "Which?")])),
    );
    assert_eq!(run.stood, []);
    let mut whole = task("t1", "INPUT_REQUIRED", "Which?");
    whole["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": "One. Two. "}]}]);
    whole["history"] = json!([
        message("m Looking.", "AGENT", "Looking."),
        message("m9", "AGENT", "Meanwhile."),
        message("u", "USER", "x")
    ]);
    run.piece(again, json!({"task": whole}));
    assert_eq!(run.stood, [OpenQuestionsChange::Back]);
    assert_eq!(run.count("awaiting.clarification"), 1);
    run.respond(1, "blue");
    run.answers("SendMessage", task("t1", "WORKING", ""));
    run.piece(again, stands("t1", "WORKING", ""));
    run.piece(again, grows("t1", "Three.", true));
    assert_eq!(run.said(), "Looking.One. Meanwhile.Two. Three.");
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_task_that_was_decided_and_one_that_was_forgotten_meanwhile_are_over() {
    for is_known in [true, false] {
        let (mut run, stream) = A2aRig::busy();
        run.piece(stream, stands("t1", "INPUT_REQUIRED", "Which?"));
        run.lost();
        run.connects(&card("1.0", true));
        let again = run.call("SubscribeToTask").number;
        run.answered(again, Ok(refusal(if is_known { -32004 } else { -32001 })));
        match is_known {
            true => run.answers("GetTask", task("t1", "COMPLETED", "It is blue.")),
            false => run.refuses("GetTask", -32001),
        }
        let end = if is_known {
            "session.completed"
        } else {
            "session.errored"
        };
        assert_eq!(run.kinds().last().unwrap(), end);
        assert_eq!(run.said(), if is_known { "It is blue." } else { "" });
        assert_eq!(run.faults, Vec::<String>::new());
    }
}

#[test]
fn what_is_older_than_what_was_heard_is_not_believed() {
    let (mut run, stream) = A2aRig::busy();
    run.piece(stream, grows("t1", "One. ", false));
    run.answered(stream, Err(Fault::TimedOut));
    assert!(run.waits("GetTask"));
    run.respond(1, "nothing is asked");
    // Another stream reports more before the answer arrives.
    let number = run.call("GetTask").number;
    run.machine.tasks.get_mut("t1").unwrap().look.stirs += 1;
    run.answered(
        number,
        Ok(json!({"jsonrpc": "2.0", "id": 1, "result": task("t1", "COMPLETED", "")}).to_string()),
    );
    assert_eq!(run.count("session.completed"), 0);
}

#[test]
fn a_server_that_is_gone_is_given_up_once_and_tried_again() {
    let (mut run, stream) = A2aRig::busy();
    run.answered(stream, Err(Fault::Closed));
    let number = run.call("GetTask").number;
    run.answered(number, Err(Fault::Refused));
    run.after(Duration::from_secs(60));
    assert_eq!(run.refused, [Fault::Refused]);
    assert_eq!(run.made("GetTask"), 1);
}

#[test]
fn more_tasks_than_there_are_streams_are_looked_at_in_turn_and_more_than_are_followed_is_told() {
    let all: Vec<Value> = (0..80)
        .map(|n| begun("2026-03-07T14:00:00Z", &format!("t{n}"), "WORKING"))
        .collect();
    let mut run = joins(json!(all));
    assert!(run.phrase_keys.contains(&"a2a.too_many"));
    assert_eq!(run.calls.iter().filter(|it| it.streams).count(), 6);
    for _ in 0..200 {
        while run.waits("GetTask") {
            let id = run.call("GetTask").params["id"]
                .as_str()
                .unwrap()
                .to_owned();
            run.answers("GetTask", task(&id, "WORKING", ""));
        }
        run.after(Duration::from_secs(1));
        assert!(
            run.calls
                .iter()
                .filter(|it| !it.is_over && !it.streams)
                .count()
                <= 12
        );
    }
    assert_eq!(run.count("session.started"), 58);
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn one_task_that_is_named_is_heard_alone() {
    let mut run = A2aRig::over(TransportKind::EventStream, Some("t1"));
    run.connects(&card("0.3", true));
    assert_eq!(
        (
            run.made("ListTasks"),
            run.call("tasks/resubscribe").params["id"].as_str()
        ),
        (0, Some("t1"))
    );
    let stream = run.call("tasks/resubscribe").number;
    run.answered(stream, Ok(refusal(-32001)));
    run.refuses("tasks/get", -32001);
    assert_eq!(run.phrase_keys, ["a2a.attached", "a2a.no_task"]);
    assert_eq!(run.count("session.started"), 0);
}

#[test]
fn who_may_not_ask_and_what_is_no_card_ends_the_link_with_its_reason() {
    let mut run = A2aRig::over(TransportKind::EventStream, None);
    run.connects(&card("1.0", true));
    let request = run.call("ListTasks").number;
    let answer = HttpAnswer {
        status: 401,
        location: None,
        retry_after: None,
        body: String::new(),
    };
    run.news(&LinkEvent::Answered {
        request,
        outcome: Ok(answer),
    });
    assert!(matches!(
        run.closed.as_slice(),
        [Fault::Status { status: 401, .. }]
    ));
    let mut run = A2aRig::over(TransportKind::EventStream, None);
    run.news(&LinkEvent::Connecting { attempt: 1 });
    assert_eq!(
        run.followed,
        [Address::GivenAt("/.well-known/agent-card.json".to_owned())]
    );
    run.news(&LinkEvent::Failed {
        fault: Fault::Status {
            status: 404,
            retry_after: None,
        },
    });
    assert!(matches!(run.closed.as_slice(), [Fault::Rejected { .. }]));
}
