//! What a task becomes: its states, artifacts, messages, questions.

use super::*;

#[test]
fn a_task_is_a_session_with_its_words_its_output_and_its_end() {
    let (mut run, stream) = A2aRig::busy();
    run.piece(stream, stands("t1", "WORKING", "Looking."));
    run.piece(stream, grows("t1", "One. ", false));
    run.piece(stream, grows("t1", "Two.", true));
    run.piece(stream, stands("t1", "COMPLETED", "All done."));
    run.ends(stream);
    assert_eq!(run.last("session.started")["request_text"], "do it");
    assert_eq!(
        run.last("session.started")["extensions"]["hearken"]["thread"],
        "c1"
    );
    assert_eq!(run.last("session.started")["producer"]["agent_name"], "Fox");
    assert_eq!(run.said(), "Looking.One. Two.All done.");
    assert_eq!(run.kinds().last().unwrap(), "session.completed");
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn each_end_is_told_in_its_own_words() {
    for (state, kind, words) in [
        (
            "FAILED",
            "session.errored",
            "The agent could not go on: The disk is full.",
        ),
        (
            "REJECTED",
            "session.errored",
            "The agent does not do this: The disk is full.",
        ),
        (
            "CANCELED",
            "session.cancelled",
            "It was cancelled, and not by you.",
        ),
    ] {
        let (mut run, stream) = A2aRig::busy();
        run.piece(stream, stands("t1", state, "The disk is full."));
        assert_eq!(run.kinds().last().unwrap(), kind);
        assert_eq!(run.last(kind)["summary_normal"], words);
        assert_eq!(run.faults, Vec::<String>::new());
    }
}

#[test]
fn a_question_is_asked_once_for_each_time_that_its_state_is_entered() {
    let (mut run, stream) = A2aRig::busy();
    for _ in 0..2 {
        run.piece(stream, stands("t1", "INPUT_REQUIRED", "Which?"));
    }
    run.piece(
        stream,
        json!({"task": task("t1", "INPUT_REQUIRED", "Which?")}),
    );
    assert_eq!(run.count("awaiting.clarification"), 1);
    assert_eq!(run.last("awaiting.clarification")["question"], "Which?");
    // Another client answered; then the task asks the same again.
    run.piece(stream, stands("t1", "WORKING", ""));
    assert_eq!(run.kinds().last().unwrap(), "thinking");
    run.piece(stream, stands("t1", "INPUT_REQUIRED", "Which?"));
    assert_eq!(run.count("awaiting.clarification"), 2);
    // A different question in the same state is a new question.
    run.piece(stream, stands("t1", "INPUT_REQUIRED", "Which else?"));
    assert_eq!(run.count("awaiting.clarification"), 3);
    // The question's text is not announced as output as well.
    assert_eq!(run.said(), "");
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn signing_in_is_handed_over_with_the_host_first() {
    let (mut run, stream) = A2aRig::busy();
    run.piece(
        stream,
        stands(
            "t1",
            "AUTH_REQUIRED",
            "Sign in: https://login.example/d?c=1",
        ),
    );
    let handoff = run.last("handoff.requested");
    assert_eq!(handoff["target_uri"], "https://login.example/d?c=1");
    let words = handoff["summary_normal"].as_str().unwrap();
    assert!(words.starts_with("At login.example:"), "{words}");
    let question = run.last("awaiting.clarification")["question"]
        .as_str()
        .unwrap();
    assert!(question.contains("login.example"), "{question}");
    run.respond(1, "done");
    assert_eq!(run.call("SendMessage").params["message"]["taskId"], "t1");
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn what_is_no_text_is_named_and_never_lost_in_silence() {
    let (mut run, stream) = A2aRig::busy();
    let mut given = grows("t1", "", false);
    given["artifactUpdate"]["artifact"]["parts"] =
        json!([{"url": "https://a.example/x", "filename": "report.pdf"}, {"data": {"a": 1}}]);
    run.piece(stream, given);
    assert!(run.phrase_keys.contains(&"a2a.gives"));
    // A question without text is asked all the same.
    run.piece(stream, stands("t1", "INPUT_REQUIRED", ""));
    assert_eq!(run.count("awaiting.clarification"), 1);
    run.piece(stream, stands("t1", "PONDERING", ""));
    assert!(run.phrase_keys.contains(&"a2a.state"));
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn the_old_version_is_read_as_the_new_one() {
    let mut run = A2aRig::over(TransportKind::EventStream, None);
    run.connects(&card("0.3", true));
    assert_eq!(run.phrase_keys, ["a2a.attached", "a2a.no_list"]);
    run.person_request(&PersonRequest::Prompt("do it".to_owned()));
    let call = run.call("message/stream");
    assert_eq!(call.params["message"]["kind"], "message");
    assert_eq!(call.params["message"]["role"], "user");
    let status = |state: &str, last: bool| {
        json!({"kind": "status-update", "taskId": "t1", "contextId": "c1", "final": last, "status": {"state": state,
            "message": {"kind": "message", "messageId": "m1", "role": "agent", "parts": [{"kind": "text", "text": "Which?"}]}}})
    };
    run.piece(
        call.number,
        json!({"kind": "task", "id": "t1", "contextId": "c1", "status": {"state": "submitted"}}),
    );
    run.piece(call.number, json!({"kind": "artifact-update", "taskId": "t1", "contextId": "c1", "append": false,
        "artifact": {"artifactId": "a", "parts": [{"kind": "text", "text": "Hello."}, {"kind": "file", "file": {"name": "x.png"}}]}}));
    run.piece(call.number, status("input-required", true));
    run.ends(call.number);
    assert_eq!(run.said(), "Hello.");
    assert_eq!(run.last("awaiting.clarification")["question"], "Which?");
    run.respond(1, "blue");
    assert_eq!(
        run.call("message/send").params["configuration"]["blocking"],
        false
    );
    run.answers(
        "message/send",
        json!({"kind": "task", "id": "t1", "contextId": "c1", "status": {"state": "completed"}}),
    );
    assert_eq!(run.settled, [(1, true)]);
    // Nothing came since the question.
    run.answers(
        "tasks/get",
        json!({"kind": "task", "id": "t1", "contextId": "c1", "status": {"state": "completed"},
            "artifacts": [{"artifactId": "b", "parts": [{"kind": "text", "text": "Blue."}]}]}),
    );
    assert_eq!(run.said(), "Hello.Blue.");
    assert_eq!(run.kinds().last().unwrap(), "session.completed");
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn what_was_written_down_is_heard_and_can_not_be_answered() {
    let mut run = A2aRig::over(TransportKind::OneWay, None);
    let frame = |what: Value| LinkEvent::Frame(Frame::of(what.to_string()));
    run.news(&frame(card("1.0", true)));
    let result = |what: Value| json!({"jsonrpc": "2.0", "id": 1, "result": what});
    run.news(&frame(result(json!({"task": task("t1", "WORKING", "")}))));
    run.news(&frame(result(stands("t1", "INPUT_REQUIRED", "Which?"))));
    assert_eq!((run.view_only, run.calls.len()), (1, 0));
    run.respond(1, "blue");
    assert_eq!(run.settled, [(1, false)]);
    run.news(&LinkEvent::Frame(Frame::of("{}")));
    assert_eq!(run.unread, 1);
    run.news(&LinkEvent::Ended);
    assert_eq!(run.kinds().last().unwrap(), "session.errored");
    assert_eq!(
        super::super::recognise(&card("1.0", true).to_string()),
        Recognition::Surely
    );
    let told = result(stands("t1", "WORKING", "")).to_string();
    assert_eq!(super::super::recognise(&told), Recognition::Surely);
    assert_eq!(
        super::super::recognise(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
        Recognition::No
    );
    assert_eq!(run.faults, Vec::<String>::new());
}
