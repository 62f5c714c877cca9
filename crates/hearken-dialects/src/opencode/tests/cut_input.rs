//! Input that is too long, too much or unreadable: it is announced, and nothing can be allowed by it.

use super::*;

/// A permission that no command describes.
fn fetch(patterns: Value, always: Value, metadata: Value) -> Value {
    json!({"id": "per_1", "sessionID": "ses_a", "permission": "webfetch", "patterns": patterns,
        "metadata": metadata, "always": always, "tool": {"messageID": "msg_2", "callID": "c"}})
}

/// Asks for a permission; returns the question's answers and the announced count of those left out.
fn asked(what: Value) -> (OpencodeRig, Value, Option<String>) {
    let mut run = OpencodeRig::busy();
    run.says("permission.asked", what);
    let allowed = run.last("awaiting.confirmation")["allowed_replies"].clone();
    let left_out = run.phrases.iter().find_map(|phrase| {
        let (_, n) = phrase.args.iter().find(|(name, _)| *name == "n")?;
        (phrase.key == "opencode.left_out").then(|| format!("{n:?}"))
    });
    (run, allowed, left_out)
}

#[test]
fn what_is_asked_in_short_is_allowed_by_no_key_and_can_be_read_in_full() {
    let many: Vec<String> = (0..65).map(|n| format!("https://{n}.example")).collect();
    let end = "x".repeat(600) + "END";
    let input = "y".repeat(5000) + "END";
    for (patterns, metadata, in_full) in [
        (json!(many), json!({}), "https://64.example"),
        (json!([end]), json!({}), "xEND"),
        (json!(["https://a.example", 7]), json!({}), "7"),
        (
            json!(["https://a.example"]),
            json!({"body": input, "n": 1}),
            "yEND",
        ),
    ] {
        let (mut run, allowed, left_out) = asked(fetch(patterns, json!(["*"]), metadata));
        assert_eq!(allowed, json!(["reject"]));
        assert_eq!(left_out.as_deref(), Some("Own(\"2\")"));
        let question = run.last("awaiting.confirmation");
        let whole = question["extra_context"]["whole"].as_str().unwrap();
        assert!(whole.contains(in_full), "{whole}");
        run.decide(1, "accept", None);
        assert_eq!(run.settled, [(1, false)]);
        run.decide(2, "reject", None);
        assert_eq!(run.posted().1, json!({"reply": "reject"}));
        assert_eq!(run.faults, Vec::<String>::new());
    }
}

#[test]
fn a_command_is_whole_however_long_what_else_is_said_of_it() {
    let command = "echo ".to_owned() + &"x".repeat(6000);
    let mut what = touch("per_1", "c");
    what["patterns"] = json!([command]);
    what["metadata"] = json!({"command": command, "n": "y".repeat(5000)});
    let (run, allowed, left_out) = asked(what);
    assert_eq!(run.last("awaiting.confirmation")["action"], json!(command));
    assert_eq!(allowed[0], "accept");
    assert_eq!(left_out, None);
}

#[test]
fn what_would_be_allowed_for_good_is_said_to_its_end_or_not_offered() {
    let url = json!(["https://a.example"]);
    for (always, offered, left_out) in [
        (json!(["a", "b"]), 3, None),
        (json!([]), 2, None),
        (Value::Null, 2, None),
        (json!(vec!["a"; 65]), 2, Some("Own(\"1\")")),
        (json!(["a", {"b": 1}]), 2, Some("Own(\"1\")")),
        (json!("a"), 2, Some("Own(\"1\")")),
        (json!(["a".repeat(400)]), 2, Some("Own(\"1\")")),
    ] {
        let (_, allowed, told) = asked(fetch(url.clone(), always.clone(), json!({})));
        assert_eq!(allowed.as_array().unwrap().len(), offered, "{always}");
        assert_eq!(told.as_deref(), left_out, "{always}");
    }
}

#[test]
fn a_question_that_cannot_be_read_is_told() {
    let mut run = OpencodeRig::busy();
    run.says("permission.asked", json!({"sessionID": "ses_a"}));
    run.says("question.asked", json!({"id": "que_1", "questions": 7}));
    assert_eq!(run.phrase_keys, ["opencode.unread", "opencode.unread"]);
    let mut run = OpencodeRig::at("/", TransportKind::EventStream);
    run.connects(&json!({}), &json!([{"id": "per_1"}, 7]), &json!([]));
    assert_eq!(run.phrase_keys, ["opencode.unread"]);
}

#[test]
fn a_question_with_more_answers_than_are_said_is_not_asked_in_part() {
    let mut run = OpencodeRig::busy();
    let labels: Vec<Value> = (0..32).map(|n| json!({"label": n.to_string()})).collect();
    let mut what = two("que_1");
    what["questions"][1]["options"] = json!(labels);
    run.says("question.asked", what);
    assert_eq!(run.phrase_keys, ["opencode.too_many"]);
    run.respond(1, "1");
    assert_eq!(run.settled.len(), 1);
    assert!(run.calls.iter().all(|call| call.1 == "GET"));
}

#[test]
fn calls_that_are_over_take_no_room_of_those_that_come() {
    let mut run = OpencodeRig::busy();
    for n in 0..300 {
        run.shell(&format!("c{n}"), "running");
        run.shell(&format!("c{n}"), "completed");
    }
    run.shell("d", "running");
    run.part(
        json!({"id": "prt_t", "messageID": "msg_2", "type": "tool", "tool": "bash", "callID": "d",
        "state": {"status": "running", "input": {"command": "touch b.txt"}}}),
    );
    let mut what = touch("per_1", "d");
    what["metadata"] = json!({});
    run.says("permission.asked", what);
    let question = run.last("awaiting.confirmation");
    assert_eq!(question["action"], "touch b.txt");
}

#[test]
fn a_permission_that_says_nothing_of_its_call_is_for_what_is_known_of_it() {
    let mut run = OpencodeRig::busy();
    run.part(
        json!({"id": "p", "messageID": "m", "type": "tool", "tool": "webfetch", "callID": "c",
        "state": {"status": "pending", "input": {}, "title": "Reads a page"}}),
    );
    let mut what = fetch(json!([]), json!([]), json!({}));
    run.says("permission.asked", what.clone());
    assert_eq!(run.last("awaiting.confirmation")["action"], "webfetch");
    // What the call also needs is not the call itself.
    let mut run = OpencodeRig::busy();
    run.shell("c", "running");
    what["permission"] = "external_directory".into();
    what["patterns"] = json!(["/etc/*"]);
    run.says("permission.asked", what);
    let question = run.last("awaiting.confirmation");
    assert_eq!(question["action"], "external_directory: /etc/*");
}
