//! The person's answers, including races with other clients.

use super::*;

fn asked() -> (A2aRig, u64) {
    let (mut run, stream) = A2aRig::busy();
    run.piece(stream, stands("t1", "INPUT_REQUIRED", "Which?"));
    (run, stream)
}

#[test]
fn an_answer_is_a_message_to_the_task_and_is_heard_of_once() {
    let (mut run, stream) = asked();
    run.respond(1, "blue");
    let sent = run.call("SendMessage").params;
    assert_eq!(sent["message"]["parts"], json!([{"text": "blue"}]));
    assert_eq!(
        (&sent["message"]["taskId"], &sent["message"]["contextId"]),
        (&json!("t1"), &json!("c1"))
    );
    assert_eq!(sent["configuration"]["returnImmediately"], true);
    // The stream may be faster than the answer to the message.
    run.piece(stream, stands("t1", "WORKING", ""));
    run.piece(stream, grows("t1", "Blue.", false));
    assert_eq!(run.settled, []);
    let mut whole = task("t1", "WORKING", "");
    whole["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": "Blue."}]}]);
    run.answers("SendMessage", json!({"task": whole}));
    assert_eq!(run.settled, [(1, true)]);
    run.piece(stream, stands("t1", "COMPLETED", ""));
    assert_eq!((run.said().as_str(), run.made("SendMessage")), ("Blue.", 1));
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_task_that_goes_on_by_itself_was_answered_elsewhere() {
    let (mut run, stream) = asked();
    run.piece(stream, stands("t1", "WORKING", ""));
    let left = run.last("state.changed");
    assert_eq!(
        (&left["from_state"], &left["to_state"]),
        (&json!("awaiting_input"), &json!("thinking"))
    );
    // The late answer is not sent.
    run.respond(1, "blue");
    assert_eq!(
        (run.settled.as_slice(), run.made("SendMessage")),
        ([(1, false)].as_slice(), 0)
    );
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn who_was_slower_is_told_and_the_task_goes_on() {
    let (mut run, stream) = asked();
    run.respond(1, "blue");
    run.piece(stream, stands("t1", "WORKING", ""));
    run.refuses("SendMessage", -32004);
    assert_eq!(run.settled, [(1, false)]);
    assert_eq!(run.kinds().last().unwrap(), "thinking");
    run.piece(stream, stands("t1", "COMPLETED", "It is done."));
    assert_eq!(run.kinds().last().unwrap(), "session.completed");
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn an_answer_that_was_not_taken_can_be_given_again() {
    let (mut run, _) = asked();
    run.respond(1, "blue");
    let number = run.call("SendMessage").number;
    run.answered(number, Err(Fault::TimedOut));
    run.respond(2, "red");
    assert_eq!(
        run.call("SendMessage").params["message"]["parts"],
        json!([{"text": "red"}])
    );
    run.answers("SendMessage", task("t1", "WORKING", ""));
    assert_eq!(run.settled, [(1, false), (2, true)]);
    assert_eq!(run.count("awaiting.clarification"), 1);
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_task_that_ends_takes_its_question_with_it() {
    let (mut run, stream) = asked();
    run.piece(stream, stands("t1", "CANCELED", ""));
    assert_eq!(run.over, [QuestionEnd::TakenBack]);
    assert_eq!(run.kinds().last().unwrap(), "session.cancelled");
    // A task that the server forgot is over, too.
    let (mut run, _) = asked();
    run.respond(1, "blue");
    run.refuses("SendMessage", -32001);
    assert_eq!(run.settled, [(1, false)]);
    assert_eq!(run.kinds().last().unwrap(), "session.errored");
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn nothing_but_words_is_an_answer() {
    let (mut run, _) = asked();
    run.respond(1, " ");
    assert_eq!(
        (run.settled.as_slice(), run.made("SendMessage")),
        ([(1, false)].as_slice(), 0)
    );
}
