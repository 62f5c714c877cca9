//! Random streams, legal and not: no panic, no invalid event, no lost question, no run that the person did not want,
//! and no answer that the person did not give.

use proptest::prelude::*;

use super::super::client::ConnectionPhase;
use super::*;

#[derive(Debug, Clone)]
enum Move {
    Taken,
    Text(u8, &'static str),
    Calls(u8, &'static str),
    Brings(u8),
    Thinks,
    Snapshot(u8),
    Interrupt(Vec<u8>),
    Older(u8, bool),
    Finishes(&'static str),
    Fails,
    Decides(&'static str),
    Responds(&'static str),
    Prompt,
    Stop,
    Wait,
    Lost(bool),
    Closes,
    Connecting,
    Odd(String),
}

fn step() -> impl Strategy<Value = Move> {
    let text = prop::sample::select(vec!["", "One. ", "else"]);
    let given = prop::sample::select(vec![
        "",
        "{}",
        "{\"path\":\"a\"}",
        "{\"command\":\"ls\"}",
        "odd",
    ]);
    let decision = prop::sample::select(vec!["accept", "accept", "reject", "odd"]);
    let words = prop::sample::select(vec!["1", "words", "{}", "hearken.cancel", ""]);
    let outcome = prop::sample::select(vec!["success", "cancelled", "odd"]);
    prop_oneof![
        5 => Just(Move::Taken),
        2 => (0..3_u8, text).prop_map(|(id, text)| Move::Text(id, text)),
        3 => (0..3_u8, given).prop_map(|(id, given)| Move::Calls(id, given)),
        2 => (0..3_u8).prop_map(Move::Brings),
        1 => Just(Move::Thinks),
        1 => (0..3_u8).prop_map(Move::Snapshot),
        4 => prop::collection::vec(0..6_u8, 0..4).prop_map(Move::Interrupt),
        2 => (0..4_u8, any::<bool>()).prop_map(|(id, named)| Move::Older(id, named)),
        2 => outcome.prop_map(Move::Finishes),
        1 => Just(Move::Fails),
        5 => decision.prop_map(Move::Decides),
        4 => words.prop_map(Move::Responds),
        4 => Just(Move::Prompt),
        1 => Just(Move::Stop),
        1 => Just(Move::Wait),
        1 => any::<bool>().prop_map(Move::Lost),
        5 => Just(Move::Closes),
        5 => Just(Move::Connecting),
        1 => "\\PC{0,20}".prop_map(Move::Odd),
    ]
}

/// An interrupt of each kind.
fn interrupt(kind: u8) -> Value {
    let schema = match kind {
        0 => {
            json!({"type": "object", "properties": {"approved": {"type": "boolean"}}, "required": ["approved"]})
        }
        1 => json!({"type": "string", "enum": ["a", "b"]}),
        2 => json!({"properties": {"a": {"type": "string"}, "b": {"type": "boolean"}}}),
        3 => json!({"properties": {"a": {"type": "object"}}}),
        _ => Value::Null,
    };
    let reason = if kind == 4 { "confirmation" } else { "x" };
    json!({"id": format!("i{kind}"), "reason": reason, "toolCallId": format!("c{kind}"), "message": "Well?", "responseSchema": schema})
}

fn older(kind: u8) -> Value {
    match kind {
        0 => json!("Well?"),
        1 => json!({"action_requests": [{"name": "touch", "args": {"path": "a"}}]}),
        2 => {
            json!({"message": "Who?", "response_schema": {"properties": {"a": {"type": "string"}}}})
        }
        _ => json!([1, {"x": []}]),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::tests::runs(64)))]

    #[test]
    fn no_question_is_lost_and_no_answer_is_invented(steps in prop::collection::vec(step(), 0..80)) {
        let mut run = AguiRig::new();
        let (mut number, mut prompts, mut stops) = (0, 0, 0);
        // How many answers each post may carry.
        let mut given = 0;
        for step in steps {
            let stood = run.posts.len();
            // Unrequested events are heard, and from then on no run is posted.
            let is_open = matches!(run.machine.line, ConnectionPhase::Open | ConnectionPhase::Spent);
            match step {
                Move::Taken if run.machine.line == ConnectionPhase::Posted => run.taken(),
                Move::Taken => {}
                Move::Text(..)
                | Move::Calls(..)
                | Move::Brings(_)
                | Move::Thinks
                | Move::Snapshot(_)
                | Move::Interrupt(_)
                | Move::Older(..)
                | Move::Finishes(_)
                | Move::Fails
                | Move::Odd(_)
                    if !is_open => {}
                Move::Text(id, text) => run.text(&format!("m{id}"), text),
                Move::Calls(id, given) => run.calls(&format!("c{id}"), "touch", given),
                Move::Brings(id) => run.brings(&format!("c{id}"), "x"),
                Move::Thinks => run.says(json!({"type": "THINKING_START"})),
                Move::Snapshot(id) => run.says(json!({"type": "MESSAGES_SNAPSHOT", "messages": [
                    {"id": "u", "role": "user", "content": "x"}, {"id": format!("s{id}"), "role": "assistant", "content": "Whole."}, id]})),
                Move::Interrupt(kinds) => {
                    let all: Vec<Value> = kinds.into_iter().map(interrupt).collect();
                    run.says(json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": {"type": "interrupt", "interrupts": all}}));
                }
                Move::Older(kind, named) => {
                    let id = if named { json!({"id": format!("i{kind}")}) } else { Value::Null };
                    run.says(json!({"type": "CUSTOM", "name": "on_interrupt", "value": older(kind).to_string(), "rawEvent": id}));
                }
                Move::Finishes(outcome) => run.says(json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": {"type": outcome}})),
                Move::Fails => run.says(json!({"type": "RUN_ERROR", "message": "no"})),
                Move::Decides(decision) => {
                    number += 1;
                    given += 1;
                    run.decide(number, decision, Some("why"));
                }
                Move::Responds(words) => {
                    number += 1;
                    given += 1;
                    run.respond(number, Response::Text(words.to_owned()));
                }
                Move::Prompt => {
                    prompts += 1;
                    run.prompt("more");
                }
                Move::Stop => {
                    stops += 1;
                    run.person_request(&PersonRequest::Stop);
                }
                Move::Wait => run.after(Duration::from_secs(2)),
                Move::Lost(refused) if !run.waits => run.lost(if refused { Fault::Refused } else { Fault::Closed }),
                Move::Closes if !run.waits => run.news(&LinkEvent::StreamEnded),
                Move::Connecting if matches!(run.machine.line, ConnectionPhase::Soon | ConnectionPhase::Lost) && !run.waits => run.connecting(),
                Move::Lost(_) | Move::Closes | Move::Connecting => {}
                Move::Odd(text) => {
                    run.news(&LinkEvent::Frame(Frame::of(text.clone())));
                    for kind in ["RUN_FINISHED", "TOOL_CALL_START", "TEXT_MESSAGE_CHUNK", "CUSTOM", "STATE_DELTA", "TOOL_CALL_RESULT", &text] {
                        run.says(json!({"type": kind, "name": text, "delta": text, "toolCallId": text, "toolCallName": text, "outcome": text, "content": [text]}));
                    }
                }
            }
            for post in run.posts.iter().skip(stood) {
                // Every answer that goes out was given by the person, and only a stop cancels.
                let resume = post["resume"].as_array().cloned().unwrap_or_default();
                let older = post["forwardedProps"].get("command").is_some();
                prop_assert!(resume.is_empty() && !older || given > 0 || stops > 0, "nobody answered: {post}");
                let is_prompt = resume.is_empty() && !older;
                prop_assert!(!is_prompt || prompts > 0 || given > 0, "nobody asked for it: {post}");
            }
            // A reason that an answer has no room for becomes a prompt of its own.
            prop_assert!(run.posts.len() <= prompts + 2 * given + stops, "{} posts", run.posts.len());
            // A turn that waits for the person has a question open.
            let asks = run.machine.turn.as_ref().is_some_and(|turn| turn.asks());
            let waits = run.machine.interruption.is_some();
            let goes = run.machine.going.is_some() || run.machine.sent.is_some();
            prop_assert!(!waits || asks || goes, "a question is lost");
        }
        prop_assert_eq!(&run.faults, &Vec::<String>::new());
        for n in 1..=number {
            let times = run.settled.iter().filter(|(it, _)| *it == n).count();
            let waits = run.machine.going.is_some() || run.machine.sent.is_some();
            prop_assert!(times == 1 || times == 0 && waits, "{n} settled {times} times");
        }
    }

    #[test]
    fn whatever_is_asked_is_asked_of_the_person_and_goes_out_together(kinds in prop::collection::btree_set(0..6_u8, 1..5)) {
        let mut run = AguiRig::busy();
        run.interrupts(kinds.iter().map(|kind| interrupt(*kind)).collect());
        for number in 1..40 {
            let asked = run.events.iter().rev().find(|it| it["reply_token"].is_string()).unwrap().clone();
            if run.posts.len() > 1 {
                break;
            }
            if asked["type"] == "aaep:agent.awaiting.confirmation" {
                run.decide(number, "accept", None);
            } else if asked["accepted_response_kinds"].to_string().contains("yes_no") {
                run.respond(number, Response::YesNo(true));
            } else {
                let text = if asked["question"].to_string().contains("JSON") { "{}" } else { "1" };
                run.respond(number, Response::Text(text.to_owned()));
            }
        }
        let resume = run.posts[1]["resume"].as_array().unwrap();
        let answered: std::collections::BTreeSet<u8> = resume.iter().map(|it| it["interruptId"].as_str().unwrap()[1..].parse().unwrap()).collect();
        prop_assert_eq!(answered, kinds);
        prop_assert!(resume.iter().all(|it| it["status"] == "resolved"));
        prop_assert_eq!(&run.faults, &Vec::<String>::new());
    }
}
