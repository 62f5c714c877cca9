//! Ends that come before the answer: it is fetched and heard, once, before the end.

use super::*;

/// Returns the task `t1`, completed, with one artifact for each text.
fn done(artifacts: &[(&str, &str)]) -> Value {
    let mut task = task("t1", "COMPLETED", "");
    let artifact = |(id, text): &(&str, &str)| json!({"artifactId": id, "parts": [{"text": text}]});
    task["artifacts"] = artifacts.iter().map(artifact).collect();
    task
}

/// Returns a piece of an artifact of `t1`.
fn piece(id: &str, text: &str, append: bool) -> Value {
    let mut piece = grows("t1", text, append);
    piece["artifactUpdate"]["artifact"]["artifactId"] = id.into();
    piece
}

/// Checks that the end was announced, and after everything else.
fn is_over(run: &A2aRig) {
    assert_eq!(run.count("session.completed"), 1);
    assert_eq!(run.kinds().last().unwrap(), "session.completed");
    assert!(!run.waits("GetTask"));
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn an_answer_that_the_end_overtook_is_heard_before_the_end() {
    let (mut run, stream) = A2aRig::busy();
    run.piece(stream, stands("t1", "WORKING", "Looking."));
    run.piece(stream, stands("t1", "COMPLETED", ""));
    run.ends(stream);
    assert_eq!(run.count("session.completed"), 0, "its answer is not heard");
    assert_eq!(run.call("GetTask").params["id"], "t1");
    run.answers("GetTask", done(&[("a", "It is 14 degrees.")]));
    assert_eq!(run.said(), "Looking.It is 14 degrees.");
    is_over(&run);
    // The task is not followed any more.
    run.after(Duration::from_secs(3));
    assert_eq!(run.made("SubscribeToTask"), 0);
}

#[test]
fn an_answer_that_still_comes_by_itself_is_heard_once() {
    let (mut run, stream) = A2aRig::busy();
    run.piece(stream, stands("t1", "COMPLETED", ""));
    run.piece(stream, piece("a", "It is 14 degrees.", false));
    run.answers("GetTask", done(&[("b", "It is 14 degrees.")]));
    assert_eq!(run.said(), "It is 14 degrees.");
    is_over(&run);
}

#[test]
fn an_answer_in_pieces_under_ever_new_names_is_heard_whole() {
    let (mut run, stream) = A2aRig::busy();
    for (id, text) in [("a1", "One. "), ("a2", "Two. "), ("a3", "Three.")] {
        run.piece(stream, piece(id, text, true));
    }
    run.piece(stream, stands("t1", "COMPLETED", ""));
    run.answers("GetTask", done(&[("a9", "One. Two. Three.")]));
    assert_eq!(run.said(), "One. Two. Three.");
    is_over(&run);
}

#[test]
fn the_rest_of_an_answer_is_heard_and_its_beginning_not_again() {
    let (mut run, stream) = A2aRig::busy();
    run.piece(stream, piece("a1", "One. ", false));
    // The beginning of this one was missed.
    run.piece(stream, piece("a2", "Three.", true));
    run.piece(stream, stands("t1", "COMPLETED", ""));
    run.answers("GetTask", done(&[("b", "One. Two. Three.")]));
    assert_eq!(
        run.said().split_whitespace().collect::<Vec<_>>(),
        ["One.", "Two.", "Three."]
    );
    is_over(&run);
    // More of an artifact was announced, and did not come.
    let (mut run, stream) = A2aRig::busy();
    let mut first = piece("a", "One. ", false);
    first["artifactUpdate"]["lastChunk"] = false.into();
    run.piece(stream, first);
    run.piece(stream, stands("t1", "COMPLETED", ""));
    run.answers("GetTask", done(&[("a", "One. Two.")]));
    assert_eq!(run.said(), "One. Two.");
    is_over(&run);
}

#[test]
fn an_answer_that_was_heard_is_not_fetched() {
    let (mut run, stream) = A2aRig::busy();
    run.piece(stream, piece("a", "One. ", false));
    run.piece(stream, piece("a", "Two.", true));
    run.piece(stream, stands("t1", "COMPLETED", ""));
    is_over(&run);
    let (mut run, stream) = A2aRig::busy();
    run.piece(stream, stands("t1", "COMPLETED", "All done."));
    is_over(&run);
    assert_eq!(run.made("GetTask"), 0);
}

#[test]
fn an_answer_after_a_question_is_fetched_too() {
    let (mut run, stream) = A2aRig::busy();
    run.piece(stream, piece("a", "I can paint it. ", false));
    run.piece(stream, stands("t1", "INPUT_REQUIRED", "Which?"));
    run.respond(1, "blue");
    run.answers("SendMessage", task("t1", "WORKING", ""));
    run.piece(stream, stands("t1", "COMPLETED", ""));
    run.answers(
        "GetTask",
        done(&[("a", "I can paint it. "), ("b", "It is blue.")]),
    );
    assert_eq!(run.said(), "I can paint it. It is blue.");
    is_over(&run);
}

#[test]
fn a_task_without_an_answer_ends_after_a_second_look() {
    let (mut run, stream) = A2aRig::busy();
    run.piece(stream, stands("t1", "COMPLETED", ""));
    run.answers("GetTask", done(&[]));
    assert_eq!(run.count("session.completed"), 0, "it may not be there yet");
    run.after(Duration::from_secs(1));
    run.answers("GetTask", done(&[]));
    is_over(&run);
    assert!(
        !run.phrase_keys.contains(&"a2a.not_fetched"),
        "there is none"
    );
}

#[test]
fn a_message_in_the_history_is_an_answer_as_well() {
    let (mut run, stream) = A2aRig::busy();
    run.piece(stream, stands("t1", "COMPLETED", ""));
    let mut whole = done(&[]);
    whole["history"] = json!([
        message("u", "USER", "do it"),
        message("h", "AGENT", "I did it.")
    ]);
    run.answers("GetTask", whole);
    assert_eq!(run.said(), "I did it.");
    is_over(&run);
}

#[test]
fn an_answer_that_can_not_be_fetched_is_said_to_be_missing_and_nothing_hangs() {
    let ways: [fn(&mut A2aRig); 4] = [
        |run| run.refuses("GetTask", -32001),
        |run| run.answered(run.call("GetTask").number, Ok("<html>".to_owned())),
        |run| {
            for _ in 0..2 {
                run.answered(run.call("GetTask").number, Err(Fault::TimedOut));
                run.after(Duration::from_secs(1));
            }
        },
        // No answer comes at all.
        |run| {
            run.after(Duration::from_secs(6));
            run.refuses("GetTask", -32603);
        },
    ];
    for way in ways {
        let (mut run, stream) = A2aRig::busy();
        run.person_request(&PersonRequest::Prompt("more".to_owned()));
        run.piece(stream, stands("t1", "COMPLETED", ""));
        way(&mut run);
        assert_eq!(run.phrase_keys.last(), Some(&"a2a.not_fetched"));
        is_over(&run);
        let next = run.call("SendStreamingMessage");
        assert_eq!(next.params["message"]["parts"][0]["text"], "more");
    }
}

#[test]
fn a_connection_that_breaks_before_the_fetch_delays_no_end_for_long() {
    let (mut run, stream) = A2aRig::busy();
    run.piece(stream, stands("t1", "COMPLETED", ""));
    run.lost();
    run.connects(&card("1.0", true));
    run.after(Duration::from_secs(1));
    run.answers("GetTask", done(&[("a", "It is 14 degrees.")]));
    assert_eq!(run.said(), "It is 14 degrees.");
    is_over(&run);
    let (mut run, stream) = A2aRig::busy();
    run.piece(stream, stands("t1", "COMPLETED", ""));
    run.lost();
    run.after(Duration::from_secs(6));
    assert_eq!(run.phrase_keys.last(), Some(&"a2a.not_fetched"));
    is_over(&run);
}
