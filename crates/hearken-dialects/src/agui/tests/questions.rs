//! Interrupts: the questions, the person's answers, and what is sent.

use super::*;

fn approval(id: &str, call: &str) -> Value {
    json!({"id": id, "reason": "tool_call", "toolCallId": call, "message": "Approve?",
        "responseSchema": {"type": "object", "properties": {"approved": {"type": "boolean"}, "reason": {"type": "string"}}, "required": ["approved"]}})
}

/// A run that was interrupted for two calls.
fn two() -> AguiRig {
    let mut run = AguiRig::busy();
    run.calls("c", "touch", "{\"path\":\"a.txt\"}");
    run.calls("d", "touch", "{\"path\":\"b.txt\"}");
    run.interrupts(json!([approval("i", "c"), approval("j", "d")]));
    run
}

#[test]
fn all_interrupts_are_answered_before_the_run_goes_on() {
    let mut run = two();
    let question = run.last("awaiting.confirmation");
    assert_eq!(question["action"], "touch (path: a.txt)");
    assert_eq!(
        run.count("tool.invoked"),
        0,
        "nothing runs while it is asked"
    );
    run.decide(1, "accept", None);
    assert_eq!(
        (run.posts.len(), run.settled.as_slice()),
        (1, [(1, true)].as_slice())
    );
    run.decide(2, "reject", Some("not that one"));
    assert_eq!(run.posts.len(), 2);
    let wanted = json!([
        {"interruptId": "i", "status": "resolved", "payload": {"approved": true}},
        {"interruptId": "j", "status": "resolved", "payload": {"approved": false, "reason": "not that one"}},
    ]);
    assert_eq!(run.posts[1]["resume"], wanted);
    assert_eq!(run.posts[1]["threadId"], run.posts[0]["threadId"]);
    assert_eq!(run.settled.len(), 1, "nobody has taken it yet");
    run.taken();
    assert_eq!(run.settled, [(1, true), (2, true)]);
    assert_eq!(run.count("tool.invoked"), 1, "what was allowed runs");
    run.brings("c", "made");
    run.brings("d", "denied");
    run.text("m", "One of them.");
    run.finishes(json!({"type": "success"}));
    assert_eq!(
        run.count("tool.completed"),
        1,
        "what was rejected did not run"
    );
    assert_eq!(
        (run.count("session.started"), run.count("session.completed")),
        (1, 1),
        "it is one turn"
    );
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn answers_that_did_not_leave_are_given_again_and_such_that_may_have_are_not() {
    let mut run = two();
    run.decide(1, "accept", None);
    run.decide(2, "accept", None);
    run.lost(Fault::Refused);
    assert_eq!(run.settled.last(), Some(&(2, false)));
    run.connecting();
    assert_eq!(run.posts.len(), 2, "not by itself");
    run.decide(3, "accept", None);
    assert_eq!(
        (run.posts.len(), run.posts[2]["resume"].clone()),
        (3, run.posts[1]["resume"].clone())
    );
    run.lost(Fault::Closed);
    assert_eq!(run.settled.last(), Some(&(3, false)));
    assert_eq!(run.count("session.errored"), 1);
    run.decide(4, "accept", None);
    run.connecting();
    assert_eq!(run.posts.len(), 3, "it may have run");
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn stopping_closes_what_is_asked_and_tells_the_agent() {
    let mut run = two();
    run.decide(1, "accept", None);
    run.person_request(&PersonRequest::Stop);
    let wanted = json!([{"interruptId": "i", "status": "cancelled"}, {"interruptId": "j", "status": "cancelled"}]);
    assert_eq!(run.posts[1]["resume"], wanted);
    assert_eq!(
        (run.over.as_slice(), run.phrase_keys.last()),
        ([QuestionEnd::Stopped].as_slice(), Some(&"agui.cancelled"))
    );
    run.taken();
    run.finishes(json!(null));
    assert_eq!(run.last("session.cancelled")["cancelled_by"], "user");
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn the_form_of_an_answer_follows_its_schema() {
    let mut run = AguiRig::busy();
    let form = json!({"properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 1}}, "required": ["name", "age"]});
    run.interrupts(
        json!([{"id": "i", "reason": "input_required", "message": "Who?", "responseSchema": form}]),
    );
    assert!(
        run.last("awaiting.clarification")["question"]
            .as_str()
            .unwrap()
            .contains("Who?")
    );
    run.respond(1, Response::Text("Ann".to_owned()));
    run.respond(2, Response::Number(0.0));
    assert_eq!(run.phrase_keys.last(), Some(&"acp.form.wrong"));
    run.respond(3, Response::Number(41.0));
    assert_eq!(run.posts.len(), 1, "it is asked whether it is right so");
    run.respond(4, Response::Text("1".to_owned()));
    let payload = json!({"name": "Ann", "age": 41});
    assert_eq!(
        run.posts[1]["resume"],
        json!([{"interruptId": "i", "status": "resolved", "payload": payload}])
    );
    run.taken();
    for (schema, answer, payload) in [
        (
            json!({"type": "boolean"}),
            Response::YesNo(false),
            json!(false),
        ),
        (
            json!({"type": "string", "enum": ["red", "green"]}),
            Response::Text("2".to_owned()),
            json!("green"),
        ),
        (json!({"type": "number"}), Response::Number(1.5), json!(1.5)),
        (
            json!({"type": "object", "properties": {"a": {"type": "object"}}}),
            Response::Text("{\"a\":{}}".to_owned()),
            json!({"a": {}}),
        ),
        (
            json!(null),
            Response::Text("true".to_owned()),
            json!("true"),
        ),
    ] {
        run.interrupts(
            json!([{"id": "i", "reason": "x", "message": "Which?", "responseSchema": schema}]),
        );
        run.respond(9, answer);
        assert_eq!(
            run.posts.last().unwrap()["resume"][0]["payload"],
            payload,
            "{schema}"
        );
        run.taken();
    }
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_form_can_be_closed_without_an_answer() {
    let mut run = AguiRig::busy();
    let schema = json!({"properties": {"colour": {"type": "string", "enum": ["red", "green"]}}});
    run.interrupts(json!([{"id": "i", "reason": "x", "responseSchema": schema}]));
    run.respond(1, Response::Text("hearken.cancel".to_owned()));
    assert_eq!(
        run.posts[1]["resume"],
        json!([{"interruptId": "i", "status": "cancelled"}])
    );
    assert_eq!(run.faults, Vec::<String>::new());
}

/// Ends the run with LangGraph interrupts of these values, named from `i0` on.
fn older(run: &mut AguiRig, values: &[Value], named: bool) {
    for (at, value) in values.iter().enumerate() {
        let mut event =
            json!({"type": "CUSTOM", "name": "on_interrupt", "value": value.to_string()});
        if named {
            event["rawEvent"] = json!({"id": format!("i{at}")});
        }
        run.says(event);
    }
    run.finishes(json!(null));
}

#[test]
fn the_older_interrupts_of_langgraph_go_back_as_it_wants_them() {
    let resume =
        |run: &AguiRig| run.posts.last().unwrap()["forwardedProps"]["command"]["resume"].clone();
    let mut run = AguiRig::busy();
    older(&mut run, &[json!("Which colour?")], false);
    assert_eq!(
        run.last("awaiting.clarification")["question"],
        "Which colour?"
    );
    run.respond(1, Response::Text("green".to_owned()));
    assert_eq!(
        (resume(&run), run.posts[1].get("resume")),
        (json!("green"), None)
    );
    run.taken();
    older(&mut run, &[json!("How many?")], false);
    run.respond(2, Response::Text("7".to_owned()));
    assert_eq!(resume(&run), json!("\"7\""), "it would be read as a number");
    run.taken();
    let asks = json!({"action_requests": [{"name": "touch", "args": {"path": "a.txt"}}, {"name": "drop", "args": {"table": "t"}}]});
    older(&mut run, &[asks], true);
    assert_eq!(
        run.last("awaiting.confirmation")["action"],
        "touch (path: a.txt)"
    );
    run.decide(3, "accept", None);
    assert_eq!(
        run.last("awaiting.confirmation")["action"],
        "drop (table: t)"
    );
    run.decide(4, "reject", Some("no"));
    assert_eq!(
        resume(&run),
        json!({"decisions": [{"type": "approve"}, {"type": "reject", "message": "no"}]})
    );
    run.taken();
    older(&mut run, &[json!("A?"), json!("B?")], true);
    run.respond(5, Response::Text("a".to_owned()));
    run.respond(6, Response::Text("b".to_owned()));
    assert_eq!(resume(&run), json!({"i0": "a", "i1": "b"}));
    run.taken();
    older(&mut run, &[json!("A?")], true);
    run.person_request(&PersonRequest::Stop);
    assert_eq!(
        resume(&run),
        json!({"__agui_cancelled__": true, "interrupt_id": "i0"})
    );
    run.taken();
    // The answers could not be told apart.
    older(&mut run, &[json!("A?"), json!("B?")], false);
    assert_eq!(
        (run.phrase_keys.last(), run.count("session.errored")),
        (Some(&"agui.unasked"), 1)
    );
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn what_can_not_be_said_whole_is_not_allowed() {
    for given in [
        format!("{{\"text\":\"{}\"}}", "x".repeat(5000)),
        format!("{{\"text\":\"{}\"}}", "x".repeat(100_000)),
    ] {
        let mut run = AguiRig::busy();
        run.calls("c", "write", &given);
        run.interrupts(json!([approval("i", "c")]));
        assert_eq!(
            run.last("awaiting.confirmation")["allowed_replies"],
            json!(["reject"])
        );
        assert_eq!(run.phrase_keys, ["agui.cut"]);
        run.decide(1, "accept", None);
        assert_eq!(
            (run.posts.len(), run.settled.as_slice()),
            (1, [(1, false)].as_slice())
        );
        run.decide(2, "reject", None);
        assert_eq!(
            run.posts[1]["resume"][0]["payload"],
            json!({"approved": false})
        );
    }
}

#[test]
fn what_lapses_is_answered_no_more() {
    let mut run = AguiRig::busy();
    let mut asks = approval("i", "c");
    asks["expiresAt"] = "2026-03-07T14:31:00Z".into();
    run.calls("c", "touch", "{}");
    run.interrupts(json!([asks]));
    run.after(Duration::from_secs(30));
    assert_eq!(run.over, []);
    run.after(Duration::from_secs(31));
    assert_eq!(
        (run.over.as_slice(), run.count("session.errored")),
        ([QuestionEnd::TakenBack].as_slice(), 1)
    );
    run.decide(1, "accept", None);
    assert_eq!(
        (run.posts.len(), run.settled.as_slice()),
        (1, [(1, false)].as_slice())
    );
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn interrupts_that_can_not_be_asked_are_told_and_never_answered() {
    for interrupts in [
        json!([]),
        json!([{"reason": "x"}]),
        json!([approval("i", "c"), approval("i", "d")]),
        (0..200).map(|n| approval(&format!("i{n}"), "c")).collect(),
    ] {
        let mut run = AguiRig::busy();
        run.interrupts(interrupts);
        assert_eq!(
            (run.phrase_keys.as_slice(), run.count("session.errored")),
            (["agui.unasked"].as_slice(), 1)
        );
        run.prompt("on");
        assert_eq!(run.posts[1].get("resume"), None);
    }
}
