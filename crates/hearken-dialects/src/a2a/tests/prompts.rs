//! Sending prompts to the agent, and stopping it.

use super::*;
use crate::Dialect;

#[test]
fn a_prompt_goes_on_in_its_conversation_and_waits_for_the_turn() {
    let (mut run, stream) = A2aRig::busy();
    assert_eq!(
        run.call("SendStreamingMessage").params["message"].get("contextId"),
        None
    );
    run.person_request(&PersonRequest::Prompt("more".to_owned()));
    assert_eq!(
        (run.phrase_keys.as_slice(), run.made("SendStreamingMessage")),
        (["prompt.held"].as_slice(), 1)
    );
    run.piece(stream, stands("t1", "COMPLETED", "Done."));
    let next = run.call("SendStreamingMessage").params;
    assert_eq!(
        (&next["message"]["contextId"], &next["message"]["parts"]),
        (&json!("c1"), &json!([{"text": "more"}]))
    );
    assert_eq!(next["message"].get("taskId"), None);
}

#[test]
fn an_answer_without_a_task_is_told_as_a_turn() {
    let mut run = A2aRig::new();
    run.person_request(&PersonRequest::Prompt("hello".to_owned()));
    let stream = run.call("SendStreamingMessage").number;
    let mut said = message("m1", "AGENT", "Hello to you.");
    said["contextId"] = "c7".into();
    run.piece(stream, json!({"message": said}));
    run.ends(stream);
    assert_eq!(run.said(), "Hello to you.");
    assert_eq!(run.last("session.started")["request_text"], "hello");
    assert_eq!(run.kinds().last().unwrap(), "session.completed");
    run.person_request(&PersonRequest::Prompt("again".to_owned()));
    assert_eq!(
        run.call("SendStreamingMessage").params["message"]["contextId"],
        "c7"
    );
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_conversation_that_the_server_does_not_name_is_not_gone_on_with_by_a_name_of_ours() {
    let mut run = A2aRig::new();
    run.person_request(&PersonRequest::Prompt("hello".to_owned()));
    let stream = run.call("SendStreamingMessage").number;
    run.piece(stream, json!({"message": message("m1", "AGENT", "Hello.")}));
    run.ends(stream);
    run.person_request(&PersonRequest::Prompt("again".to_owned()));
    let next = run.call("SendStreamingMessage").params;
    assert_eq!(next["message"].get("contextId"), None);
}

#[test]
fn a_prompt_that_is_refused_is_told_and_does_not_block_the_next() {
    for in_stream in [true, false] {
        let mut run = A2aRig::new();
        run.person_request(&PersonRequest::Prompt("one".to_owned()));
        run.person_request(&PersonRequest::Prompt("two".to_owned()));
        let number = run.call("SendStreamingMessage").number;
        if in_stream {
            run.news(&LinkEvent::Piece {
                request: number,
                text: refusal(-32005),
            });
            run.ends(number);
        } else {
            run.answered(number, Ok(refusal(-32005)));
        }
        assert_eq!(run.phrase_keys, ["prompt.held", "prompt.not_taken"]);
        assert_eq!(
            run.call("SendStreamingMessage").params["message"]["parts"],
            json!([{"text": "two"}])
        );
    }
    let mut run = A2aRig::new();
    run.person_request(&PersonRequest::Prompt("one".to_owned()));
    let number = run.call("SendStreamingMessage").number;
    run.answered(number, Err(Fault::TimedOut));
    assert_eq!(run.phrase_keys, ["prompt.perhaps_taken"]);
}

#[test]
fn an_agent_without_streams_is_asked_again_and_again() {
    let mut run = A2aRig::over(TransportKind::EventStream, None);
    run.connects(&card("1.0", false));
    run.person_request(&PersonRequest::Prompt("do it".to_owned()));
    run.answers("SendMessage", json!({"task": task("t1", "WORKING", "")}));
    let mut whole = task("t1", "WORKING", "");
    whole["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": "One. "}]}]);
    run.answers("GetTask", whole.clone());
    run.after(Duration::from_secs(9));
    whole["artifacts"][0]["parts"][0]["text"] = "One. Two.".into();
    whole["status"] = status("COMPLETED", "");
    run.answers("GetTask", whole);
    assert_eq!(run.said(), "One. Two.");
    assert_eq!(run.kinds().last().unwrap(), "session.completed");
    assert!(!run.calls.iter().any(|call| call.streams));
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_stop_is_asked_for_and_told_when_the_server_says_so() {
    let (mut run, stream) = A2aRig::busy();
    run.person_request(&PersonRequest::Stop);
    run.person_request(&PersonRequest::Stop);
    assert_eq!(
        run.phrase_keys,
        ["stop_turn.asked_to_stop", "stop_turn.stopping"]
    );
    assert_eq!(
        (
            run.made("CancelTask"),
            run.call("CancelTask").params["id"].as_str()
        ),
        (1, Some("t1"))
    );
    run.answers("CancelTask", task("t1", "CANCELED", ""));
    // The stream reports it in order.
    assert_eq!(run.count("session.cancelled"), 0);
    run.piece(stream, stands("t1", "CANCELED", ""));
    let end = run.last("session.cancelled");
    assert_eq!(
        (&end["cancelled_by"], run.count("session.cancelled")),
        (&json!("user"), 1)
    );
    run.person_request(&PersonRequest::Stop);
    assert_eq!(run.phrase_keys.last(), Some(&"stop_turn.none"));
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_stop_that_is_refused_is_told_and_the_question_stays() {
    let (mut run, stream) = A2aRig::busy();
    run.piece(stream, stands("t1", "INPUT_REQUIRED", "Which?"));
    run.person_request(&PersonRequest::Stop);
    run.refuses("CancelTask", -32002);
    assert_eq!(run.phrase_keys.last(), Some(&"a2a.stop_failed"));
    assert_eq!(run.over, []);
    run.respond(1, "blue");
    run.answers("SendMessage", task("t1", "WORKING", ""));
    assert_eq!(run.settled, [(1, true)]);
}

#[test]
fn a_wish_is_for_the_conversation_that_it_names() {
    let (mut run, _) = A2aRig::busy();
    let agent = run.last("session.started")["producer"]["agent_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let of = |agent: &str, wish: PersonRequest| {
        PersonRequest::ForAgent(AgentId::from(agent), Box::new(wish))
    };
    run.person_request(&of("somebody", PersonRequest::Stop));
    run.person_request(&of("somebody", PersonRequest::Prompt("x".to_owned())));
    assert_eq!(run.phrase_keys, ["stop_turn.none", "prompt.nobody"]);
    run.person_request(&of(&agent, PersonRequest::Stop));
    assert_eq!(run.made("CancelTask"), 1);
}

#[test]
fn a_task_that_does_not_stop_can_be_left_and_the_next_prompt_is_sent() {
    let (mut run, stream) = A2aRig::busy();
    run.person_request(&PersonRequest::Prompt("more".to_owned()));
    run.person_request(&PersonRequest::Abandon);
    assert_eq!(
        run.phrase_keys.last(),
        Some(&"stop_turn.none"),
        "it was not asked to stop"
    );
    run.person_request(&PersonRequest::Stop);
    assert!(run.machine.connection().is_stopping);
    run.answers("CancelTask", task("t1", "WORKING", ""));
    run.person_request(&PersonRequest::Abandon);
    assert_eq!(run.kinds().last().unwrap(), "session.cancelled");
    let next = run.call("SendStreamingMessage");
    assert_eq!(next.params["message"]["parts"][0]["text"], "more");
    // What still comes of it is not heard.
    run.piece(stream, grows("t1", "Late.", false));
    run.piece(stream, stands("t1", "COMPLETED", ""));
    assert_eq!((run.said().as_str(), run.count("session.started")), ("", 1));
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_prompt_that_no_task_answers_can_be_given_up() {
    let mut run = A2aRig::new();
    run.person_request(&PersonRequest::Prompt("first".to_owned()));
    let first = run.call("SendStreamingMessage").number;
    assert!(run.machine.connection().in_turn);
    run.person_request(&PersonRequest::Prompt("second".to_owned()));
    run.person_request(&PersonRequest::Stop);
    assert_eq!(
        run.phrase_keys,
        ["prompt.held", "prompt.given_up", "prompt.next"]
    );
    let second = run.call("SendStreamingMessage");
    assert_eq!(second.params["message"]["parts"][0]["text"], "second");
    run.answered(first, Err(Fault::TimedOut));
    assert_eq!(run.phrase_keys.len(), 3);
    run.piece(
        second.number,
        json!({"task": task("t2", "COMPLETED", "Done.")}),
    );
    assert_eq!(run.last("session.started")["request_text"], "second");
    assert!(!run.machine.connection().in_turn);
    assert_eq!(run.faults, Vec::<String>::new());
}
