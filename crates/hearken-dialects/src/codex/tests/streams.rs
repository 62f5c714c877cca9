//! Random servers and random people: what must hold whatever both do.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// One random step; the numbers choose ids and the like.
#[derive(Debug, Clone)]
enum RandomStep {
    Begins,
    Ends(&'static str),
    Item(&'static str, Value),
    Delta(u8, String),
    Odd(Value),
    Text(String),
    Asks(u8, u8),
    Input(u8),
    Resolved(u8),
    Decides(&'static str),
    Responds(&'static str),
    Written(bool),
    Prompt,
    Stop,
    Abandon,
    Wait(u16),
    Loses,
    Returns(&'static str),
}

fn step() -> impl Strategy<Value = RandomStep> {
    let status = prop_oneof![
        Just("inProgress"),
        Just("completed"),
        Just("failed"),
        Just("declined"),
        Just("odd")
    ];
    let call = (0..4_u8, status, prop::bool::ANY).prop_map(|(id, status, over)| {
        let method = if over {
            "item/completed"
        } else {
            "item/started"
        };
        RandomStep::Item(method, touch(&format!("c{id}"), status))
    });
    let says = (0..3_u8, ".{0,8}", prop::bool::ANY).prop_map(|(id, text, over)| {
        let method = if over {
            "item/completed"
        } else {
            "item/started"
        };
        RandomStep::Item(
            method,
            json!({"type": "agentMessage", "id": format!("m{id}"), "text": text}),
        )
    });
    let odd = prop_oneof![
        Just(json!({"method": "turn/completed", "params": {"threadId": "t"}})),
        Just(
            json!({"method": "item/started", "params": {"threadId": "t", "turnId": 7, "item": []}})
        ),
        Just(
            json!({"id": {}, "method": "item/commandExecution/requestApproval", "params": {"threadId": "t"}})
        ),
        Just(json!({"id": 99, "method": "item/tool/call", "params": {"threadId": "t"}})),
        Just(
            json!({"id": 77, "result": {"data": [{"id": "u0", "status": "inProgress", "items": [7]}]}})
        ),
        Just(json!({"id": null, "error": {"code": 1, "message": "m"}})),
        Just(
            json!({"method": "serverRequest/resolved", "params": {"threadId": "t", "requestId": [1]}})
        ),
        Just(json!({"method": "thread/started", "params": {"thread": {"id": "s"}}})),
        Just(
            json!({"method": "thread/status/changed", "params": {"threadId": "t", "status": {"type": "idle"}}})
        ),
        Just(json!([1])),
    ];
    prop_oneof![
        2 => Just(RandomStep::Begins),
        1 => prop_oneof![Just("completed"), Just("interrupted"), Just("failed")].prop_map(RandomStep::Ends),
        4 => call,
        2 => says,
        1 => (0..3_u8, ".{0,8}").prop_map(|(id, text)| RandomStep::Delta(id, text)),
        1 => odd.prop_map(RandomStep::Odd),
        1 => "\\PC{0,12}".prop_map(RandomStep::Text),
        5 => (0..12_u8, 0..4_u8).prop_map(|(id, call)| RandomStep::Asks(id, call)),
        2 => (0..12_u8).prop_map(RandomStep::Input),
        2 => (0..12_u8).prop_map(RandomStep::Resolved),
        4 => prop_oneof![Just("accept"), Just("reject"), Just("reject, and stop the turn"), Just("odd")].prop_map(RandomStep::Decides),
        2 => prop_oneof![Just("Red"), Just("x")].prop_map(RandomStep::Responds),
        4 => prop::bool::weighted(0.8).prop_map(RandomStep::Written),
        1 => Just(RandomStep::Prompt),
        1 => Just(RandomStep::Stop),
        1 => Just(RandomStep::Abandon),
        1 => (0..7000_u16).prop_map(RandomStep::Wait),
        1 => Just(RandomStep::Loses),
        3 => prop_oneof![Just("active"), Just("waiting"), Just("idle")].prop_map(RandomStep::Returns),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::tests::runs(150)))]

    #[test]
    fn nothing_is_answered_that_nobody_answered_and_no_question_is_lost(steps in prop::collection::vec(step(), 0..50)) {
        let mut run = CodexRig::in_turn();
        let mut turn = "u".to_owned();
        // The server's open requests over the present connection: the item of each id.
        let mut open: BTreeMap<u8, String> = BTreeMap::new();
        let mut decided: Vec<(u64, &'static str)> = Vec::new();
        let (mut request, mut up, mut turns) = (0, true, 0_u32);
        for step in steps {
            let (sent, settled) = (run.sent.len(), run.outcomes.len());
            let unsettled = |run: &CodexRig, number: u64| !run.outcomes.iter().any(|(it, _)| *it == number);
            match &step {
                RandomStep::Loses if up => {
                    up = false;
                    // A server that is still the same asks again; here, every server that returns has restarted.
                    open.clear();
                    run.lose();
                }
                RandomStep::Returns(status) if !up => {
                    up = true;
                    run.connect(&["t"]);
                    run.grant("thread/resume", &resumed(status));
                    let asked = run.sent.iter().rev().any(|(_, frame)| frame["method"] == "thread/turns/list");
                    if asked && run.sent.last().unwrap().1["method"] == "thread/turns/list" {
                        run.grant("thread/turns/list", &json!({"data": [{"id": turn, "status": "inProgress", "items": []}]}));
                    }
                }
                RandomStep::Written(went) => {
                    if let Some((number, _)) = decided.iter().find(|(it, _)| unsettled(&run, *it)).copied() {
                        run.written(number, *went);
                    }
                }
                RandomStep::Wait(ms) => run.after(Duration::from_millis(u64::from(*ms))),
                RandomStep::Decides(decision) => {
                    if decided.iter().any(|(it, _)| unsettled(&run, *it)) { continue; }
                    request += 1;
                    decided.push((request, decision));
                    run.decide(request, decision, None);
                }
                RandomStep::Responds(words) => {
                    if decided.iter().any(|(it, _)| unsettled(&run, *it)) { continue; }
                    request += 1;
                    decided.push((request, "words"));
                    run.respond(request, Response::Text((*words).to_owned()));
                }
                RandomStep::Prompt => run.person_request(&PersonRequest::Prompt("more".to_owned())),
                RandomStep::Abandon => run.person_request(&PersonRequest::Abandon),
                RandomStep::Stop => run.person_request(&PersonRequest::Stop),
                _ if !up => continue,
                RandomStep::Begins => {
                    turns += 1;
                    turn = format!("u{turns}");
                    open.clear();
                    run.begins(&turn, "go on");
                }
                RandomStep::Ends(how) => {
                    open.clear();
                    run.ends(&turn, how);
                }
                RandomStep::Item(method, item) => {
                    // The approval of a declined item is no longer asked.
                    if item["status"] == "declined" {
                        open.retain(|_, asked| item["id"] != **asked);
                    }
                    run.item(method, &turn, item.clone());
                }
                RandomStep::Delta(id, text) => run.says("item/agentMessage/delta", json!({"turnId": turn, "itemId": format!("m{id}"), "delta": text})),
                RandomStep::Odd(frame) => run.frame(frame),
                RandomStep::Text(text) => run.frame(text),
                RandomStep::Asks(id, call) => {
                    if open.contains_key(id) { continue; }
                    let item = format!("c{call}");
                    open.insert(*id, item.clone());
                    run.request(json!(id), "item/commandExecution/requestApproval", json!({"turnId": turn, "itemId": item, "command": "ls"}));
                }
                RandomStep::Input(id) => {
                    if open.contains_key(id) { continue; }
                    open.insert(*id, String::new());
                    let question = json!({"id": "q", "question": "Which?", "isOther": true, "options": [{"label": "Red"}]});
                    run.request(json!(id), "item/tool/requestUserInput", json!({"turnId": turn, "itemId": "i", "questions": [question]}));
                }
                RandomStep::Resolved(id) => {
                    open.remove(id);
                    run.resolved(json!(id));
                }
                RandomStep::Loses | RandomStep::Returns(_) => {}
            }
            for (number, frame) in run.sent.iter().skip(sent) {
                if frame.get("method").is_some() {
                    continue;
                }
                let id = frame["id"].as_u64().unwrap();
                if frame.get("error").is_some() {
                    prop_assert_eq!(id, 99, "an approval was refused: {}", frame);
                    continue;
                }
                prop_assert!(up, "nobody is there: {frame}");
                let answer = &frame["result"];
                let said = match &step {
                    RandomStep::Decides("accept") => json!({"decision": "accept"}),
                    RandomStep::Decides("reject") => json!({"decision": "decline"}),
                    RandomStep::Decides(_) => json!({"decision": "cancel"}),
                    RandomStep::Responds(words) => json!({"answers": {"q": {"answers": [words]}}}),
                    _ => Value::Null,
                };
                prop_assert_eq!(answer, &said, "nobody answered so");
                prop_assert_eq!(*number, request);
                let id = u8::try_from(id).unwrap();
                let asked = run.machine.asked_now();
                prop_assert!(asked.iter().any(|it| it.is(&json!(id))), "{} is not what is asked", frame);
            }
            for (number, _) in run.outcomes.iter().skip(settled) {
                prop_assert_eq!(run.outcomes.iter().filter(|(it, _)| it == number).count(), 1);
            }
        }
        prop_assert_eq!(&run.faults, &Vec::<String>::new());
        // The server's open requests wait here, unless the person stopped the turn, or it was no longer announced.
        if run.over.is_empty() && !run.phrase_keys.contains(&"stop_turn.asked_to_stop") && up {
            let waiting = run.machine.waiting();
            for id in open.keys() {
                let answered = run.sent.iter().any(|(_, frame)| frame["id"] == *id && frame.get("method").is_none());
                let untold = run.phrase_keys.contains(&"codex.not_asked");
                prop_assert!(answered || untold || waiting.iter().any(|it| it.is(&json!(id))), "{id} was lost: {waiting:?}");
            }
        }
    }

    #[test]
    fn nothing_that_a_server_writes_makes_it_panic(texts in prop::collection::vec("\\PC{0,40}", 0..20)) {
        let mut run = CodexRig::in_turn();
        for text in texts {
            run.frame(&text);
            run.says(&text, json!({"turnId": "u", "item": {"type": text, "id": text}}));
            run.item("item/started", "u", json!({"type": "fileChange", "id": text, "changes": [{"path": text, "kind": {"type": text}, "diff": text}]}));
            run.request(json!(text), "item/commandExecution/requestApproval",
                json!({"turnId": "u", "itemId": text, "command": text, "availableDecisions": [text, {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": [text]}}]}));
            run.request(json!(text), "mcpServer/elicitation/request", json!({"turnId": "u", "serverName": text, "message": text,
                "requestedSchema": {"properties": {text.clone(): {"type": "string", "enum": [text]}}}}));
        }
        run.after(Duration::from_secs(10));
        prop_assert_eq!(&run.faults, &Vec::<String>::new());
    }
}
