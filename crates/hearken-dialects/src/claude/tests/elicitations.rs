//! What tool servers ask through the agent: forms and addresses, answered, handed back and withdrawn.

use super::*;

impl ClaudeRig {
    fn elicits(&mut self, more: Value) -> u64 {
        let mut body = json!({"mcp_server_name": "deploy", "message": "Where to?", "mode": "form"});
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        self.hook("Elicitation", body)
    }

    /// Returns what a waiting form was answered with.
    fn filled_in(&self, id: u64) -> Value {
        let (by, body) = &self.answers[&id];
        assert!(by.is_some(), "the answer is the person's");
        body["hookSpecificOutput"].clone()
    }
}

fn fields() -> Value {
    json!({"requested_schema": {"type": "object", "required": ["host"], "properties": {
        "host": {"type": "string", "title": "Host"},
        "fast": {"type": "boolean", "title": "Fast"}}}})
}

#[test]
fn a_form_is_asked_part_by_part_and_its_content_goes_back_to_the_hook() {
    let mut run = ClaudeRig::busy();
    let id = run.elicits(fields());
    let asked = run.last("awaiting.clarification")["question"].clone();
    assert_eq!(asked, "deploy asks: Where to? Part 1 of 2: Host.");
    assert_eq!(run.phrase_keys, ["hooks.only_here"]);
    run.respond(1, "server1");
    run.respond(2, true);
    assert!(run.is_held(id), "the whole form is checked first");
    run.respond(3, "1");
    let content = json!({"host": "server1", "fast": true});
    assert_eq!(
        run.filled_in(id),
        json!({"hookEventName": "Elicitation", "action": "accept", "content": content})
    );
    run.written(3, true);
    assert_eq!(run.settled, [(1, true), (2, true), (3, true)]);
    assert_eq!(run.count("session.completed"), 1);
    assert!(run.machine.waiting_requests.is_empty() && run.machine.elicited.is_empty());
    // The turn goes on meanwhile, and what was said once is not said again.
    let other =
        run.elicits(json!({"message": "And?", "requested_schema": fields()["requested_schema"]}));
    assert_eq!(run.phrase_keys, ["hooks.only_here"]);
    run.respond(4, "hearken.decline");
    assert_eq!(
        run.filled_in(other),
        json!({"hookEventName": "Elicitation", "action": "decline"})
    );
    run.written(4, true);
    let cancelled =
        run.elicits(json!({"message": "Or?", "requested_schema": fields()["requested_schema"]}));
    run.respond(5, "hearken.cancel");
    assert_eq!(run.filled_in(cancelled)["action"], "cancel");
    run.written(5, true);
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn an_address_is_read_with_its_host_and_opened_by_the_person_alone() {
    let mut run = ClaudeRig::busy();
    let url = json!({"mode": "url", "url": "https://a.example/x", "message": "Sign in"});
    let id = run.elicits(url);
    let asked = run.last("awaiting.clarification")["question"].clone();
    assert_eq!(
        asked,
        "At a.example: deploy asks: Sign in. Will you open this address yourself? https://a.example/x"
    );
    run.respond(1, true);
    assert_eq!(
        run.filled_in(id),
        json!({"hookEventName": "Elicitation", "action": "accept"})
    );
    run.written(1, true);
    let end = run.last("session.completed");
    assert_eq!(end["result_uri"], "https://a.example/x");
    let id = run.elicits(json!({"mode": "url", "url": "https://b.example/"}));
    run.respond(2, false);
    assert_eq!(run.filled_in(id)["action"], "decline");
    run.written(2, true);
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn what_can_not_be_asked_here_is_left_to_its_own_terminal() {
    let mut run = ClaudeRig::busy();
    for (more, told) in [
        (
            json!({"requested_schema": {"properties": {"a": {"type": "odd"}}}}),
            "claude.form.unread",
        ),
        (
            json!({"mode": "url", "url": "file:///etc/passwd"}),
            "claude.form.unread",
        ),
        (json!({"mode": "url"}), "claude.not_asked"),
        (json!({}), "claude.not_asked"),
    ] {
        let id = run.elicits(more);
        assert!(run.let_go(id), "nothing is decided");
        assert_eq!(run.phrase_keys.last(), Some(&told));
    }
    for n in 0..17 {
        let schema = fields()["requested_schema"].clone();
        let id = run.elicits(json!({"message": n.to_string(), "requested_schema": schema}));
        assert_eq!(run.is_held(id), n < 16);
    }
    assert_eq!(run.phrase_keys.last(), Some(&"claude.form.too_many"));
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_form_that_nobody_answers_goes_back_and_one_that_is_withdrawn_is_over() {
    let mut run = ClaudeRig::busy();
    let id = run.elicits(fields());
    run.after(Duration::from_secs(299));
    assert!(run.is_held(id));
    run.after(Duration::from_secs(2));
    assert!(run.let_go(id), "no decision");
    assert_eq!(run.phrase_keys, ["hooks.only_here", "hooks.handed_back"]);
    assert_eq!(run.over, [QuestionEnd::TakenBack]);

    let id =
        run.elicits(json!({"message": "Again?", "requested_schema": fields()["requested_schema"]}));
    let token = run.token();
    run.news(&LinkEvent::Lapsed { id });
    assert_eq!(run.phrase_keys[2..], ["claude.given_up"]);
    run.respond_under(1, &token, "late");
    assert_eq!(run.settled, [(1, false)]);

    let id = run.elicits(
        json!({"message": "Once more?", "requested_schema": fields()["requested_schema"]}),
    );
    run.hook("SessionEnd", json!({}));
    assert!(run.let_go(id));
    assert_eq!(run.over.len(), 3);
    assert!(run.machine.waiting_requests.is_empty() && run.machine.deadline().is_none());
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn an_answer_that_did_not_arrive_is_over_too() {
    let mut run = ClaudeRig::busy();
    let id = run.elicits(json!({"requested_schema": {"properties": {"ok": {"type": "boolean"}}}}));
    run.respond(1, true);
    run.respond(2, "1");
    run.written(2, false);
    assert_eq!(run.settled, [(1, true), (2, false)]);
    assert!(!run.is_held(id) && run.machine.elicited.is_empty());
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_form_in_a_capture_is_seen_until_it_is_answered() {
    let mut run = ClaudeRig::over(TransportKind::OneWay);
    let mut body = fields();
    for (key, value) in [
        ("session_id", "s1"),
        ("hook_event_name", "Elicitation"),
        ("mcp_server_name", "deploy"),
    ] {
        body[key] = value.into();
    }
    run.frame(&body);
    assert_eq!(run.view_only, 1);
    assert!(run.phrase_keys.is_empty());
    run.frame(
        json!({"session_id": "s1", "hook_event_name": "ElicitationResult", "action": "accept"}),
    );
    assert!(run.machine.elicited.is_empty());
    assert_eq!(run.faults, Vec::<String>::new());
}
