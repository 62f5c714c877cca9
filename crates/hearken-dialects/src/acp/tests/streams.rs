//! Random agents and random people: what must hold whatever both do.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// One random step; the numbers choose ids and the like.
#[derive(Debug, Clone)]
enum RandomStep {
    Agent(Value),
    Text(String),
    Asks(u8, u8),
    TakesBack(u8),
    Decides(&'static str),
    Written(bool),
    /// The agent asks for a form.
    Elicits(u8),
    /// The person answers the open question with this kind of answer.
    Fills(&'static str),
    Prompt,
    Stop,
    Abandon,
    Set,
    Wait(u16),
    Ends(&'static str),
}

fn update(update: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}})
}

fn step() -> impl Strategy<Value = RandomStep> {
    let status = prop_oneof![
        Just("pending"),
        Just("in_progress"),
        Just("completed"),
        Just("failed"),
        Just("odd")
    ];
    let call = (0..4_u8, status, prop::bool::ANY).prop_map(|(id, status, news)| {
        let kind = if news { "tool_call_update" } else { "tool_call" };
        RandomStep::Agent(update(json!({"sessionUpdate": kind, "toolCallId": id.to_string(), "title": "t",
            "kind": "edit", "status": status, "content": [{"type": "diff", "path": "p", "newText": "x"}]})))
    });
    let words = prop_oneof![
        Just("agent_message_chunk"),
        Just("agent_thought_chunk"),
        Just("user_message_chunk")
    ];
    let says = (words, 0..3_u8, ".{0,8}").prop_map(|(kind, message, text)| {
        RandomStep::Agent(update(
            json!({"sessionUpdate": kind, "messageId": message.to_string(),
            "content": {"type": "text", "text": text}}),
        ))
    });
    let plan = (0..3_usize, 0..3_usize).prop_map(|(done, open)| {
        let entry = |status: &str| json!({"content": "c", "priority": "low", "status": status});
        let entries: Vec<Value> = std::iter::repeat_n(entry("completed"), done)
            .chain(std::iter::repeat_n(entry("in_progress"), open))
            .collect();
        RandomStep::Agent(update(json!({"sessionUpdate": "plan", "entries": entries})))
    });
    let odd = prop_oneof![
        Just(update(json!(null))),
        Just(update(json!({"sessionUpdate": 7, "content": []}))),
        Just(json!({"jsonrpc": "2.0", "id": {}, "method": "session/request_permission"})),
        Just(json!({"jsonrpc": "2.0", "id": "f", "method": "fs/write_text_file", "params": []})),
        Just(json!({"jsonrpc": "2.0", "id": "e", "method": "elicitation/create", "params": {}})),
        Just(json!({"jsonrpc": "2.0", "id": 77, "result": {"stopReason": "end_turn"}})),
        Just(json!({"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": "m"}})),
        Just(json!({"jsonrpc": "2.0"})),
        Just(json!([1])),
    ]
    .prop_map(RandomStep::Agent);
    prop_oneof![
        4 => call,
        3 => says,
        1 => plan,
        1 => odd,
        1 => "\\PC{0,12}".prop_map(RandomStep::Text),
        4 => (0..12_u8, 0..4_u8).prop_map(|(id, call)| RandomStep::Asks(id, call)),
        2 => (0..12_u8).prop_map(RandomStep::Elicits),
        1 => (0..12_u8).prop_map(RandomStep::TakesBack),
        3 => prop_oneof![Just("1"), Just("2"), Just("3"), Just("hearken.decline"), Just("hearken.cancel"), Just("odd")]
            .prop_map(RandomStep::Fills),
        1 => Just(RandomStep::Set),
        4 => prop_oneof![Just("accept"), Just("reject"), Just("allow from now on: Every touch"), Just("odd")]
            .prop_map(RandomStep::Decides),
        4 => prop::bool::weighted(0.8).prop_map(RandomStep::Written),
        1 => Just(RandomStep::Prompt),
        1 => Just(RandomStep::Stop),
        1 => Just(RandomStep::Abandon),
        1 => (0..7000_u16).prop_map(RandomStep::Wait),
        1 => prop_oneof![Just("end_turn"), Just("cancelled"), Just("refusal")].prop_map(RandomStep::Ends),
    ]
}

/// The outcome of a request from the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestFate {
    Open,
    Over,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::tests::runs(120)))]

    #[test]
    fn no_permission_is_given_that_was_not_and_none_is_lost(steps in prop::collection::vec(step(), 0..40)) {
        let mut run = AcpRig::prompted();
        // By the id of the request: an id is not reused while it is open.
        let mut requests: BTreeMap<u8, RequestFate> = BTreeMap::new();
        let mut decided: Vec<(u64, &'static str)> = Vec::new();
        let (mut prompt_id, mut request, mut stops, mut taken_back) = (3_u64, 0, 0, Vec::new());
        for step in steps {
            let (sent, settled) = (run.sent.len(), run.settled.len());
            match &step {
                RandomStep::Agent(message) => run.frame(message),
                RandomStep::Text(text) => run.frame(text),
                RandomStep::Asks(id, call) => {
                    if requests.get(id) == Some(&RequestFate::Open) {
                        continue;
                    }
                    requests.insert(*id, RequestFate::Open);
                    run.asks(&json!(id), &json!({"toolCallId": call.to_string(), "title": "t"}));
                }
                RandomStep::TakesBack(id) => {
                    taken_back.push(*id);
                    run.frame(json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id}}));
                }
                RandomStep::Decides(decision) => {
                    // The app has one answer to a question under way at a time.
                    if decided.iter().any(|(number, _)| !run.settled.iter().any(|(it, _)| it == number)) {
                        continue;
                    }
                    request += 1;
                    decided.push((request, decision));
                    run.decide(request, decision, None);
                }
                RandomStep::Written(went) => {
                    let unsettled = |number: &&(u64, &str)| !run.settled.iter().any(|(it, _)| *it == number.0);
                    if let Some((number, _)) = decided.iter().find(unsettled).copied() {
                        run.written(number, *went);
                    }
                }
                RandomStep::Elicits(id) => {
                    if requests.get(id) == Some(&RequestFate::Open) {
                        continue;
                    }
                    requests.insert(*id, RequestFate::Open);
                    run.elicits(&json!(id), &json!({"properties": {"a": {"type": "string", "enum": ["x", "y"]}}}));
                }
                RandomStep::Fills(value) => {
                    if decided.iter().any(|(number, _)| !run.settled.iter().any(|(it, _)| it == number)) {
                        continue;
                    }
                    request += 1;
                    decided.push((request, value));
                    run.respond(request, *value);
                }
                RandomStep::Set => {
                    run.update(json!({"sessionUpdate": "config_option_update", "configOptions": [{"id": "m", "name": "M",
                        "type": "select", "currentValue": "x", "options": [{"value": "x"}, {"value": "y"}]}]}));
                    run.person_request(&PersonRequest::Set(None));
                }
                RandomStep::Prompt => run.person_request(&PersonRequest::Prompt("more".to_owned())),
                RandomStep::Abandon => run.person_request(&PersonRequest::Abandon),
                RandomStep::Stop => {
                    stops += 1;
                    run.person_request(&PersonRequest::Stop);
                }
                RandomStep::Wait(ms) => run.after(Duration::from_millis(u64::from(*ms))),
                RandomStep::Ends(reason) => {
                    run.frame(json!({"jsonrpc": "2.0", "id": prompt_id, "result": {"stopReason": reason}}));
                }
            }
            for (_, frame) in run.sent.iter().skip(sent) {
                let frame: Value = serde_json::from_str(frame).unwrap();
                if frame["method"] == "session/prompt" {
                    prompt_id = frame["id"].as_u64().unwrap();
                }
                let Some(id) = frame["id"].as_u64().filter(|_| frame.get("method").is_none()) else {
                    continue;
                };
                let id = u8::try_from(id).unwrap();
                prop_assert_eq!(requests.get(&id), Some(&RequestFate::Open), "answered without being open: {}", frame);
                let outcome = &frame["result"]["outcome"]["outcome"];
                let action = &frame["result"]["action"];
                if action == "cancel" && !matches!(&step, RandomStep::Fills(_)) {
                    prop_assert!(stops > 0, "nobody stopped: {frame}");
                } else if action.is_string() {
                    let is_said = match &step {
                        RandomStep::Fills("1") => action == "accept",
                        RandomStep::Fills("hearken.decline" | "3") => action == "decline",
                        RandomStep::Fills("hearken.cancel") => action == "cancel",
                        _ => false,
                    };
                    prop_assert!(is_said, "nobody said so: {frame} by {step:?}");
                    continue;
                } else if outcome == "selected" {
                    let is_decided = matches!(&step, RandomStep::Decides("accept" | "reject" | "allow from now on: Every touch"));
                    prop_assert!(is_decided, "nobody decided: {frame}");
                    let option = frame["result"]["outcome"]["optionId"].as_str().unwrap();
                    let wanted = match &step {
                        RandomStep::Decides("accept") => "once",
                        RandomStep::Decides("reject") => "no",
                        _ => "always",
                    };
                    prop_assert_eq!(option, wanted);
                    // An answer that was not delivered can be given again.
                    continue;
                } else if outcome == "cancelled" {
                    prop_assert!(stops > 0, "nobody stopped: {frame}");
                } else {
                    prop_assert_eq!(&frame["error"]["code"], &json!(-32800));
                    prop_assert!(taken_back.contains(&id));
                }
                requests.insert(id, RequestFate::Over);
            }
            // A delivered answer is the last word on its request.
            if let (RandomStep::Written(true), Some((number, true))) = (&step, run.settled.get(settled)) {
                let frame = run.sent.iter().rev().find(|(it, _)| it == number);
                if let Some((_, frame)) = frame {
                    let frame: Value = serde_json::from_str(frame).unwrap();
                    requests.insert(u8::try_from(frame["id"].as_u64().unwrap()).unwrap(), RequestFate::Over);
                }
            }
        }
        prop_assert_eq!(&run.faults, &Vec::<String>::new());
        let open: Vec<u8> = requests.iter().filter(|(_, fate)| **fate == RequestFate::Open).map(|(id, _)| *id).collect();
        let waiting = run.machine.waiting();
        for id in &open {
            // A request in a turn that its agent ended waits for nothing.
            let ends = ["session.completed", "session.cancelled", "session.errored"];
            let over = run.kinds().iter().any(|kind| ends.contains(&kind.as_str()));
            prop_assert!(over || waiting.iter().any(|it| it.is(&json!(id))), "{id} was lost: {waiting:?}");
        }
        for (number, _) in &decided {
            let times = run.settled.iter().filter(|(it, _)| it == number).count();
            prop_assert!(times <= 1);
        }
    }

    #[test]
    fn nothing_that_an_agent_writes_makes_it_panic(texts in prop::collection::vec("\\PC{0,40}", 0..20)) {
        let mut run = AcpRig::open();
        for text in texts {
            run.frame(&text);
            run.frame(json!({"jsonrpc": "2.0", "method": text, "params": {"update": text}}));
            run.frame(json!({"jsonrpc": "2.0", "id": 1, "method": "session/request_permission",
                "params": {"toolCall": {"toolCallId": text, "title": text, "rawInput": {"command": text}}, "options": text}}));
        }
        run.after(Duration::from_secs(10));
        prop_assert_eq!(&run.faults, &Vec::<String>::new());
    }
}
