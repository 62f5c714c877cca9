//! Forms and addresses that an agent asks for.

use proptest::prelude::*;

use super::*;

impl AcpRig {
    /// Has the agent ask for a form.
    pub fn elicits(&mut self, id: &Value, schema: &Value) {
        self.frame(json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create",
            "params": {"sessionId": "s", "mode": "form", "message": "Tell me.", "requestedSchema": schema}}));
    }

    /// Has the agent ask to open an address.
    pub fn opens(&mut self, id: &Value, url: &str) {
        self.frame(json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create",
            "params": {"requestId": 1, "mode": "url", "elicitationId": "e", "url": url, "message": "Sign in."}}));
    }
}

fn question(run: &AcpRig) -> &Value {
    run.last("awaiting.clarification")
}

fn values(run: &AcpRig) -> Vec<&str> {
    let choices = question(run)["choices"].as_array().unwrap().iter();
    choices.map(|it| it["value"].as_str().unwrap()).collect()
}

fn answer(id: &str, answer: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{answer}}}"#)
}

const WITHOUT: &str = "hearken.without";
const DECLINE: &str = "hearken.decline";
const CANCEL: &str = "hearken.cancel";

fn form() -> Value {
    json!({"type": "object", "required": ["strategy", "count"], "properties": {
        "brave": {"type": "boolean", "title": "Be brave", "default": true},
        "count": {"type": "integer", "minimum": 1, "maximum": 5},
        "name": {"type": "string", "description": "Whose", "maxLength": 5},
        "parts": {"type": "array", "minItems": 1, "items": {"type": "string", "enum": ["x", "y"]}},
        "strategy": {"type": "string", "oneOf": [{"const": "slow", "title": "Slow, and sure"}, {"const": "fast", "title": "Fast"}]},
    }})
}

#[test]
fn a_form_is_asked_part_by_part_said_once_more_changed_and_sent() {
    let mut run = AcpRig::prompted();
    run.elicits(&json!("f"), &form());
    assert_eq!(
        question(&run)["question"],
        "Tell me. Part 1 of 5: Be brave."
    );
    assert_eq!(
        question(&run)["accepted_response_kinds"],
        json!(["yes_no", "multiple_choice"])
    );
    assert_eq!(values(&run), ["hearken.usual", WITHOUT, DECLINE, CANCEL]);
    run.respond(1, "hearken.usual");
    assert_eq!(
        question(&run)["question"],
        "Part 2 of 5: count. A number from 1 up to 5."
    );
    assert_eq!(
        values(&run),
        [DECLINE, CANCEL],
        "it is required, and has no default"
    );
    for wrong in [0.0, 6.0, 2.5] {
        run.number(2, wrong);
        assert_eq!(run.phrase_keys.pop(), Some("acp.form.wrong"), "{wrong}");
    }
    run.number(3, 3.0);
    run.respond(4, "too long");
    assert_eq!(run.phrase_keys.pop(), Some("acp.form.wrong"));
    run.respond(5, "Ada");
    assert_eq!(question(&run)["multi_select"], true);
    run.respond(6, "2, 1");
    run.respond(7, "1");
    assert_eq!(
        question(&run)["question"],
        "Is this right? Be brave: yes; count: 3; name: Ada; parts: y, x; strategy: Slow, and sure"
    );
    // Changing one part leads back to the final check.
    run.respond(8, "4");
    run.respond(9, WITHOUT);
    assert!(run.sent.is_empty());
    run.respond(10, "1");
    assert_eq!(
        run.sent,
        [(
            10,
            answer(
                "\"f\"",
                r#"{"action":"accept","content":{"brave":true,"count":3,"parts":["y","x"],"strategy":"slow"}}"#
            )
        )]
    );
    assert_eq!(
        run.kinds().last().unwrap(),
        "awaiting.clarification",
        "not before it went out"
    );
    run.written(10, true);
    assert_eq!(run.kinds().last().unwrap(), "session.completed");
    run.respond(11, "1");
    assert_eq!(run.settled.last(), Some(&(11, false)));
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn a_form_is_declined_closed_and_cancelled() {
    let one = json!({"properties": {"a": {"type": "boolean"}}});
    let mut run = AcpRig::prompted();
    run.elicits(&json!(1), &one);
    run.respond(1, DECLINE);
    assert_eq!(run.frames(), [answer("1", r#"{"action":"decline"}"#)]);
    run.written(1, true);
    run.elicits(&json!(1), &one);
    run.respond(1, CANCEL);
    assert_eq!(run.frames()[1], answer("1", r#"{"action":"cancel"}"#));
    run.written(1, true);
    for (at, action) in [("4", "cancel"), ("3", "decline")] {
        run.elicits(&json!(2), &one);
        run.yes(2, true);
        run.respond(3, at);
        let wanted = answer("2", &format!(r#"{{"action":"{action}"}}"#));
        assert_eq!(run.frames().last(), Some(&wanted.as_str()));
        run.written(3, true);
    }
    run.elicits(&json!(4), &one);
    run.opens(&json!(5), "https://a.example/");
    let sent = run.sent.len();
    run.person_request(&PersonRequest::Stop);
    run.elicits(&json!(6), &one);
    let cancel = answer("4", r#"{"action":"cancel"}"#);
    assert_eq!(run.frames()[sent + 1], cancel);
    assert_eq!(
        run.frames()[sent + 2..],
        [answer("6", r#"{"action":"cancel"}"#)]
    );
    assert_eq!(
        run.over,
        [QuestionEnd::Stopped],
        "what belongs to no turn stays"
    );
    assert_eq!(run.machine.waiting().len(), 1);
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn what_the_agent_takes_back_is_refused_and_an_answer_on_its_way_stays() {
    let take_back = |id: i64| json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id}});
    let one = json!({"properties": {"a": {"type": "boolean"}}});
    let mut run = AcpRig::prompted();
    run.asks(&json!(7), &json!({"toolCallId": "c", "title": "x"}));
    run.elicits(&json!(8), &one);
    let token = run.token();
    run.frame(take_back(8));
    assert_eq!(
        run.frames(),
        [r#"{"jsonrpc":"2.0","id":8,"error":{"code":-32800,"message":"Request cancelled"}}"#]
    );
    assert_eq!(
        (run.over.as_slice(), run.machine.waiting().len()),
        (&[QuestionEnd::TakenBack][..], 1)
    );
    run.respond_under(1, &token, DECLINE);
    assert_eq!(run.settled, [(1, false)]);
    run.elicits(&json!(9), &one);
    run.respond(2, DECLINE);
    run.frame(take_back(9));
    run.written(2, true);
    assert_eq!(run.sent.len(), 2, "one answer each");
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn an_address_is_told_with_its_host_first_and_opened_by_nobody_here() {
    let mut run = AcpRig::prompted();
    run.opens(&json!(1), "http://bank.example@evil.example/x?y=1");
    assert_eq!(
        question(&run)["question"],
        "At evil.example: Sign in. The connection is not encrypted. A name before the host can mislead. \
         Will you open this address yourself? http://bank.example@evil.example/x?y=1"
    );
    run.yes(1, false);
    assert_eq!(run.frames(), [answer("1", r#"{"action":"decline"}"#)]);
    run.written(1, true);
    run.opens(&json!(2), "https://a.example/x");
    run.yes(2, true);
    assert_eq!(run.frames()[1], answer("2", r#"{"action":"accept"}"#));
    run.written(2, true);
    assert_eq!(
        run.last("session.completed")["result_uri"],
        "https://a.example/x"
    );
    for _ in 0..2 {
        run.frame(json!({"jsonrpc": "2.0", "method": "elicitation/complete", "params": {"elicitationId": "e"}}));
    }
    assert_eq!(run.phrase_keys, ["acp.url.done"], "once");
    run.opens(&json!(3), "file:///etc/passwd");
    assert!(run.frames()[2].contains(r#""id":3,"error":{"code":-32602"#));
    assert_eq!(run.phrase_keys.last(), Some(&"acp.url.unread"));
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn what_can_not_be_asked_whole_is_refused_and_nothing_is_answered_for_it() {
    let many: serde_json::Map<String, Value> = (0..30)
        .map(|n| (n.to_string(), json!({"type": "boolean"})))
        .collect();
    let mut run = AcpRig::prompted();
    for (n, schema) in [
        json!({}),
        json!({"properties": {}}),
        json!({"properties": {"a": {"type": "boolean"}}, "required": ["b"]}),
        json!({"properties": {"a": {"type": "slider"}}}),
        json!({"properties": {"a": {"type": "string", "enum": []}}}),
        json!({"properties": {"a": {"type": "array", "items": {}}}}),
        json!({"properties": many}),
    ]
    .iter()
    .enumerate()
    {
        run.elicits(&json!(n), schema);
        assert!(
            run.frames()
                .last()
                .unwrap()
                .contains(r#""error":{"code":-32602"#),
            "{schema}"
        );
    }
    assert!(
        run.phrase_keys
            .iter()
            .all(|told| *told == "acp.form.unread")
    );
    let sent = run.sent.len();
    for n in 0..17 {
        run.elicits(&json!(100 + n), &form());
    }
    assert_eq!(
        (run.sent.len(), run.phrase_keys.last()),
        (sent + 1, Some(&"acp.form.too_many"))
    );
    run.news(&LinkEvent::Ended);
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn of_many_answers_one_is_typed_and_a_capture_only_shows_what_was_asked() {
    let all: Vec<String> = (0..200)
        .map(|n| format!("v{n}"))
        .chain(["7".to_owned()])
        .collect();
    let mut run = AcpRig::prompted();
    run.elicits(&json!(1), &json!({"properties": {"a": {"type": "string", "enum": all, "default": "v3"}}, "required": ["a"]}));
    assert_eq!(values(&run), ["hearken.usual", DECLINE, CANCEL]);
    run.respond(1, "v900");
    assert_eq!(run.phrase_keys, ["acp.form.wrong"]);
    run.respond(2, "V150");
    run.respond(3, "2");
    run.respond(4, "7");
    run.respond(5, "1");
    assert!(
        run.frames()[0].contains(r#""content":{"a":"7"}"#),
        "by its name"
    );
    let mut run = AcpRig::new(TransportKind::OneWay);
    run.frame(json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 1, "agentCapabilities": {}}}));
    run.elicits(&json!(1), &form());
    run.respond(1, DECLINE);
    assert_eq!(
        (run.view_only, run.settled.as_slice()),
        (1, &[(1, false)][..])
    );
    assert!(run.sent.is_empty());
    assert_eq!(run.faults, [""; 0]);
}

fn property() -> impl Strategy<Value = Value> {
    let bound = || prop::option::of(0..6_u8);
    let listed = prop::collection::btree_set("[a-d]{1,2}", 1..5);
    prop_oneof![
        (bound(), bound()).prop_map(|(least, most)| json!({"type": "string", "minLength": least, "maxLength": most})),
        prop_oneof![Just("email"), Just("date"), Just("uri")]
            .prop_map(|format| json!({"type": "string", "format": format})),
        (bound(), bound(), prop::bool::ANY).prop_map(|(least, most, whole)| {
            json!({"type": if whole { "integer" } else { "number" }, "minimum": least, "maximum": most, "default": 2})
        }),
        prop::bool::ANY.prop_map(|usual| json!({"type": "boolean", "default": usual})),
        listed.clone().prop_map(|list| json!({"type": "string", "enum": list})),
        (listed, bound()).prop_map(|(list, least)| {
            json!({"type": "array", "minItems": least, "items": {"type": "string", "enum": list}})
        }),
    ]
}

/// Returns a schema without nulls, which JSON Schema does not treat as absent.
fn said(mut schema: Value) -> Value {
    for property in schema["properties"].as_object_mut().unwrap().values_mut() {
        property
            .as_object_mut()
            .unwrap()
            .retain(|_, value| !value.is_null());
    }
    schema
}

#[derive(Debug, Clone)]
enum Hand {
    Text(String),
    Choice(usize),
    Number(f64),
    Yes(bool),
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::tests::runs(200)))]

    #[test]
    fn whatever_is_sent_fits_the_form_and_was_said_by_the_person(
        properties in prop::collection::btree_map("[a-z]{1,3}", (property(), prop::bool::ANY), 1..5),
        hands in prop::collection::vec(prop_oneof![
            "[a-d@.:x0-9-]{0,6}".prop_map(Hand::Text),
            (0..8_usize).prop_map(Hand::Choice),
            (-2..8_i32).prop_map(|n| Hand::Number(f64::from(n) / 2.0)),
            prop::bool::ANY.prop_map(Hand::Yes),
        ], 0..60),
    ) {
        let required: Vec<&String> = properties.iter().filter(|(_, it)| it.1).map(|(name, _)| name).collect();
        let all: serde_json::Map<String, Value> =
            properties.iter().map(|(name, it)| (name.clone(), it.0.clone())).collect();
        let schema = json!({"type": "object", "properties": all, "required": required});
        let mut run = AcpRig::prompted();
        run.elicits(&json!(1), &schema);
        let mut sent = None;
        for (at, hand) in hands.iter().enumerate() {
            let request = at as u64 + 1;
            let kinds = question(&run)["accepted_response_kinds"].to_string();
            match hand {
                Hand::Text(text) if kinds.contains("freetext") => run.respond(request, text.as_str()),
                Hand::Choice(choice) => {
                    let value = values(&run).get(*choice).map(|it| (*it).to_owned());
                    if let Some(value) = value {
                        run.respond(request, value.as_str());
                    }
                }
                Hand::Number(number) if kinds.contains("numeric") => run.number(request, *number),
                Hand::Yes(yes) if kinds.contains("yes_no") => run.yes(request, *yes),
                Hand::Text(_) | Hand::Number(_) | Hand::Yes(_) => {}
            }
            if let Some((number, frame)) = run.sent.first() {
                prop_assert_eq!(*number, request, "by an answer of the person");
                sent = Some(serde_json::from_str::<Value>(frame).unwrap());
                break;
            }
        }
        if let Some(sent) = sent.filter(|it| it["result"]["action"] == "accept") {
            let checked = jsonschema::validator_for(&said(schema)).unwrap();
            let faults: Vec<String> = checked.iter_errors(&sent["result"]["content"]).map(|it| it.to_string()).collect();
            prop_assert_eq!(faults, Vec::<String>::new());
        }
        prop_assert_eq!(&run.faults, &Vec::<String>::new());
    }
}
