//! Random streams, legal and not: no panic, no invalid event, no lost question, no answer that the person did not give.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum ServerStep {
    Works(u8),
    Rests(u8),
    Person(u8),
    Text(u8, &'static str),
    More(u8, &'static str),
    Shell(u8, &'static str),
    Wants(u8),
    Wonders(u8),
    Decided(u8, bool),
    Decides(&'static str),
    Responds(&'static str),
    Answers(u16),
    Stop,
    Abandon,
    Prompt,
    Wait,
    Lost,
    Odd(String),
}

fn step() -> impl Strategy<Value = ServerStep> {
    let text = prop::sample::select(vec!["", "One. ", "One. Two. ", "else"]);
    let status = prop::sample::select(vec!["pending", "running", "completed", "error", "odd"]);
    let decision = prop::sample::select(vec![
        "accept",
        "reject",
        "allow from now on: touch *",
        "odd",
    ]);
    let words = prop::sample::select(vec!["1", "2, 1", "decline", "green", ""]);
    prop_oneof![
        3 => (0..2_u8).prop_map(ServerStep::Works),
        2 => (0..2_u8).prop_map(ServerStep::Rests),
        1 => any::<u8>().prop_map(ServerStep::Person),
        2 => (0..3_u8, text.clone()).prop_map(|(id, text)| ServerStep::Text(id, text)),
        2 => (0..3_u8, text).prop_map(|(id, text)| ServerStep::More(id, text)),
        3 => (0..3_u8, status).prop_map(|(id, status)| ServerStep::Shell(id, status)),
        4 => (0..6_u8).prop_map(ServerStep::Wants),
        2 => (6..9_u8).prop_map(ServerStep::Wonders),
        1 => (0..9_u8, any::<bool>()).prop_map(|(id, allowed)| ServerStep::Decided(id, allowed)),
        4 => decision.prop_map(ServerStep::Decides),
        3 => words.prop_map(ServerStep::Responds),
        6 => prop::sample::select(vec![200_u16, 200, 200, 404, 500]).prop_map(ServerStep::Answers),
        1 => Just(ServerStep::Stop),
        1 => Just(ServerStep::Abandon),
        1 => Just(ServerStep::Prompt),
        1 => Just(ServerStep::Wait),
        1 => Just(ServerStep::Lost),
        1 => "\\PC{0,20}".prop_map(ServerStep::Odd),
    ]
}

fn name(id: u8) -> String {
    format!("{}_{id}", if id < 6 { "per" } else { "que" })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::tests::runs(64)))]

    #[test]
    fn no_question_is_lost_and_no_answer_is_invented(steps in prop::collection::vec(step(), 0..60)) {
        let mut run = OpencodeRig::new();
        // What the person wanted to send.
        let mut decided: BTreeMap<u64, bool> = BTreeMap::new();
        let (mut number, mut posts, mut aborts) = (0, 0, 0);
        for step in steps {
            let decides = matches!(step, ServerStep::Decides(_) | ServerStep::Responds(_));
            let stops = matches!(step, ServerStep::Stop);
            match step {
                ServerStep::Works(id) => run.works(&format!("ses_{}", if id == 0 { "a" } else { "b" })),
                ServerStep::Rests(id) => {
                    run.rests(&format!("ses_{}", if id == 0 { "a" } else { "b" }));
                }
                ServerStep::Person(id) => run.person(&format!("msg_{id}"), "words"),
                ServerStep::Text(id, text) => run.text(&format!("prt_{id}"), text),
                ServerStep::More(id, text) => run.more(&format!("prt_{id}"), text),
                ServerStep::Shell(id, status) => run.shell(&format!("c{id}"), status),
                ServerStep::Wants(id) => run.says("permission.asked", touch(&name(id), &format!("c{}", id % 3))),
                ServerStep::Wonders(id) => run.says("question.asked", two(&name(id))),
                ServerStep::Decided(id, allowed) => {
                    let reply = if allowed { "once" } else { "reject" };
                    run.says("permission.replied", json!({"sessionID": "ses_a", "requestID": name(id), "reply": reply}));
                }
                ServerStep::Decides(decision) => {
                    number += 1;
                    decided.insert(number, false);
                    run.decide(number, decision, None);
                }
                ServerStep::Responds(words) => {
                    number += 1;
                    decided.insert(number, false);
                    run.respond(number, words);
                }
                ServerStep::Answers(status) => {
                    let waits = run.calls.iter().find(|call| call.0 < 1 << 32 && !run.settled.iter().any(|it| it.0 == call.0));
                    if let Some((request, ..)) = waits {
                        let answer = HttpAnswer { status, location: None, retry_after: None, body: "true".to_owned() };
                        run.news(&LinkEvent::Answered { request: *request, outcome: Ok(answer) });
                    }
                }
                ServerStep::Abandon => run.person_request(&PersonRequest::Abandon),
                ServerStep::Stop => run.person_request(&PersonRequest::Stop),
                ServerStep::Prompt => run.person_request(&PersonRequest::Prompt("more".to_owned())),
                ServerStep::Wait => run.after(Duration::from_secs(2)),
                ServerStep::Lost => {
                    run.news(&LinkEvent::Lost { fault: Fault::Closed, retry_in: Duration::from_secs(1) });
                    run.says("server.connected", json!({}));
                }
                ServerStep::Odd(text) => {
                    run.frame(&text);
                    run.says("session.status", json!(text));
                    run.says("permission.asked", json!({"id": text, "sessionID": text, "metadata": text, "patterns": [text]}));
                    run.says("question.asked", json!({"id": text, "sessionID": "ses_b", "questions": [text, {"question": text}]}));
                    run.says("message.part.updated", json!({"part": {"type": text, "sessionID": "ses_a", "id": text, "callID": text, "state": {}}}));
                    run.says(&format!("x.{text}"), json!({}));
                }
            }
            let answers = run.calls.iter().filter(|call| call.2.ends_with("/reply") || call.2.ends_with("/reject")).count();
            prop_assert!(answers <= posts + usize::from(decides), "nobody answered: {:?}", run.calls.last());
            posts = answers;
            let stopped = run.calls.iter().filter(|call| call.2.ends_with("/abort")).count();
            prop_assert!(stopped <= aborts + usize::from(stops), "nobody stopped: {:?}", run.calls.last());
            aborts = stopped;
        }
        prop_assert_eq!(&run.faults, &Vec::<String>::new());
        for number in decided.keys() {
            let times = run.settled.iter().filter(|(it, _)| it == number).count();
            let waits = run.calls.iter().any(|call| call.0 == *number);
            prop_assert!(times == 1 || times == 0 && waits, "{number} settled {times} times");
        }
    }

    #[test]
    fn whatever_is_asked_in_a_turn_that_goes_on_is_asked_of_the_person(ids in prop::collection::vec(0..9_u8, 1..30)) {
        let mut run = OpencodeRig::busy();
        let wanted: BTreeSet<String> = ids.iter().map(|id| name(*id)).collect();
        for id in &ids {
            match *id {
                ..6 => run.says("permission.asked", touch(&name(*id), &format!("c{id}"))),
                _ => run.says("question.asked", two(&name(*id))),
            }
        }
        let mut answered = BTreeSet::new();
        for number in 1..60 {
            if run.kinds().last().unwrap() == "awaiting.confirmation" {
                run.decide(number, "accept", None);
            } else if run.kinds().last().unwrap() == "awaiting.clarification" {
                run.respond(number, "1");
            } else {
                break;
            }
            if let Some((_, _, path, _)) = run.calls.iter().find(|call| call.0 == number).cloned() {
                let id = path.split('/').nth(2).unwrap().to_owned();
                prop_assert!(answered.insert(id), "{path} twice");
                run.answers(&path, 200, &json!(true));
            }
        }
        prop_assert_eq!(answered, wanted);
        prop_assert_eq!(&run.faults, &Vec::<String>::new());
    }
}
