//! What is requested after each connection.

use super::*;

fn lost() -> LinkEvent {
    LinkEvent::Lost {
        fault: Fault::Closed,
        retry_in: Duration::from_secs(1),
    }
}

fn messages(last: Value, parts: Value) -> Value {
    json!([
        {"info": {"id": "msg_1", "role": "user"}, "parts": [{"id": "prt_msg_1", "messageID": "msg_1", "type": "text", "text": "do it"}]},
        {"info": last, "parts": parts},
    ])
}

fn answer(whole: bool) -> Value {
    let time = if whole {
        json!({"created": 1, "completed": 2})
    } else {
        json!({"created": 1})
    };
    json!({"id": "msg_2", "role": "assistant", "parentID": "msg_1", "time": time})
}

const WRITTEN: &str = "/session/ses_a/message?limit=50";

#[test]
fn what_was_asked_before_is_asked_and_what_was_said_before_is_not_said() {
    let mut run = OpencodeRig::at("/", TransportKind::EventStream);
    let mut stale = touch("per_0", "z");
    stale["sessionID"] = "ses_old".into();
    run.connects(
        &json!({"ses_a": {"type": "busy"}}),
        &json!([stale, touch("per_1", "c")]),
        &json!([]),
    );
    run.answers(
        "/session/ses_a",
        200,
        &json!({"id": "ses_a", "directory": "/w"}),
    );
    run.answers("/session/ses_old", 200, &json!({"id": "ses_old"}));
    let parts = json!([
        {"id": "prt_1", "messageID": "msg_2", "type": "text", "text": "Said before. "},
        {"id": "prt_t", "messageID": "msg_2", "type": "tool", "tool": "bash", "callID": "c",
            "state": {"status": "running", "input": {"command": "touch a.txt"}}},
    ]);
    run.answers(WRITTEN, 200, &messages(answer(false), parts));
    assert_eq!(run.last("session.started")["request_text"], "do it");
    assert_eq!(
        (run.count("awaiting.confirmation"), run.said().as_str()),
        (1, "")
    );
    assert_eq!(run.phrase_keys, ["opencode.stale"]);
    run.text("prt_1", "Said before. And now. ");
    assert_eq!(run.said(), "And now. ");
    run.says("permission.asked", touch("per_1", "c"));
    assert_eq!(run.count("awaiting.confirmation"), 1, "it is the same");
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_question_that_is_still_asked_is_open_again_and_one_that_is_not_is_over() {
    for (there, wanted) in [(true, "awaiting.confirmation"), (false, "thinking")] {
        let mut run = OpencodeRig::busy();
        run.text("prt_1", "One. ");
        run.says("permission.asked", touch("per_1", "c"));
        run.news(&lost());
        let wants = if there {
            json!([touch("per_1", "c")])
        } else {
            json!([])
        };
        run.connects(&json!({"ses_a": {"type": "busy"}}), &wants, &json!([]));
        assert_eq!(
            run.kinds().last().unwrap(),
            "awaiting.confirmation",
            "nothing is known yet"
        );
        let parts = json!([{"id": "prt_1", "messageID": "msg_2", "type": "text", "text": "One. "}]);
        run.answers(WRITTEN, 200, &messages(answer(false), parts));
        assert_eq!(run.kinds().last().unwrap(), wanted);
        assert_eq!(
            run.stood,
            if there {
                vec![OpenQuestionsChange::Back]
            } else {
                vec![]
            }
        );
        assert_eq!(
            (
                run.count("session.started"),
                run.count("awaiting.confirmation")
            ),
            (1, 1)
        );
    }
}

#[test]
fn what_was_said_meanwhile_is_said_and_an_end_is_told() {
    for (whole, wanted) in [(true, "session.completed"), (false, "session.errored")] {
        let mut run = OpencodeRig::busy();
        run.text("prt_1", "");
        run.more("prt_1", "One. ");
        run.news(&lost());
        run.connects(&json!({}), &json!([]), &json!([]));
        let parts =
            json!([{"id": "prt_1", "messageID": "msg_2", "type": "text", "text": "One. Two. "}]);
        run.answers(WRITTEN, 200, &messages(answer(whole), parts));
        assert_eq!(
            (run.said().as_str(), run.kinds().last().unwrap().as_str()),
            ("One. Two. ", wanted)
        );
        assert_eq!(run.faults, Vec::<String>::new());
    }
}

#[test]
fn what_is_newer_than_an_answer_counts_more() {
    let mut run = OpencodeRig::at("/", TransportKind::EventStream);
    run.connects_alone();
    run.works("ses_a");
    run.says("permission.asked", touch("per_1", "c"));
    run.answers("/session/status", 200, &json!({}));
    run.answers("/permission", 200, &json!([]));
    run.answers("/question", 200, &json!([]));
    assert_eq!(run.kinds().last().unwrap(), "awaiting.confirmation");
    assert_eq!(run.phrase_keys, Vec::<&str>::new());
}

#[test]
fn what_could_not_be_read_is_told_and_closes_nothing() {
    let mut run = OpencodeRig::busy();
    run.says("permission.asked", touch("per_1", "c"));
    run.news(&lost());
    run.connects_alone();
    for path in ["/session/status", "/permission", "/question"] {
        run.fails(path, Fault::TimedOut);
    }
    run.fails(WRITTEN, Fault::TimedOut);
    assert_eq!(run.phrase_keys, ["opencode.missed"]);
    assert_eq!(run.kinds().last().unwrap(), "awaiting.confirmation");
    run.news(&LinkEvent::Failed {
        fault: Fault::Closed,
    });
    assert_eq!(run.kinds().last().unwrap(), "session.errored");
}
