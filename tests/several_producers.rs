//! Several questions of several real producers, several clients of one, and a producer that dies
//! while an answer is on its way.

use hearken_wording::phrase;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::child::Hearken;
use super::{ProducerProcess, free_port, watch};

/// Waits for a question, and returns its number.
fn question(hearken: &mut Hearken) -> u64 {
    let asked = hearken.announced("confirmation", "send_email");
    asked["question"].as_u64().unwrap()
}

fn accept(hearken: &mut Hearken, number: u64) {
    hearken.say(&format!("y {number}"));
    hearken.announced("reply", phrase!("reply.second_step.*"));
    hearken.say(&format!("c {number}"));
    hearken.announced("reply", phrase!("reply.accepting.*"));
}

#[test]
fn three_questions_of_three_producers_are_answered_in_another_order() {
    let one = ProducerProcess::start("aaep-minimal-producer", free_port(), &[]);
    let two = ProducerProcess::start("aaep-minimal-producer", free_port(), &[]);
    // An entirely different program, with its own sessions, tokens and wording.
    let three = ProducerProcess::start("aaep-maf-server", free_port(), &[]);
    let arguments = [
        "watch",
        &one.url(),
        &two.url(),
        &three.url(),
        "--face",
        "json",
        "--voice",
        "none",
    ];
    let mut hearken = Hearken::start(&arguments);
    for _ in 0..3 {
        hearken.announced("connection", phrase!("link.connected.*"));
    }
    let mut numbers = Vec::new();
    for peer in [&one, &two, &three] {
        peer.ask("Send an email to bob");
        numbers.push(question(&mut hearken));
    }
    assert_eq!(numbers, [1, 2, 3]);
    hearken.say("y");
    hearken.announced("reply", phrase!("reply.which", count = 3));
    hearken.say("n 3");
    hearken.announced("reply", phrase!("reply.rejecting.*"));
    hearken.announced(
        "confirmation",
        phrase!("question.closed.answered", n = 3, answer = "reject"),
    );
    accept(&mut hearken, 1);
    hearken.announced(
        "confirmation",
        phrase!("question.closed.answered", n = 1, answer = "accept"),
    );
    hearken.say("n 2");
    hearken.announced(
        "confirmation",
        phrase!("question.closed.answered", n = 2, answer = "reject"),
    );
    hearken.say("y");
    // The one settled last, by its own answer.
    hearken.announced(
        "reply",
        phrase!("reply.over.answered", fate = "Your answer was: reject"),
    );
    let dangers = hearken
        .seen()
        .iter()
        .filter(|line| serde_json::from_str::<Value>(line).unwrap()["kind"] == "danger")
        .count();
    assert_eq!(dangers, 0, "{:#?}", hearken.seen());
}

#[test]
fn a_question_that_another_client_answers_is_settled_here_too() {
    let peer = ProducerProcess::start("aaep-minimal-producer", free_port(), &[]);
    let mut here = watch(&peer);
    let mut there = watch(&peer);
    peer.ask("Send an email to bob");
    let number = question(&mut here);
    let other = question(&mut there);
    there.say(&format!("n {other}"));
    there.announced(
        "confirmation",
        phrase!("question.closed.answered", answer = "reject"),
    );
    let settled = here.announced(
        "confirmation",
        &format!("Question {number} was settled without you"),
    );
    let text = settled["text"].as_str().unwrap();
    assert!(!text.contains("your answer"), "{text}");
    here.say(&format!("y {number}"));
    here.announced("reply", phrase!("reply.over"));
}

#[test]
fn a_producer_that_dies_with_an_answer_on_its_way_is_never_told_as_answered() {
    let peer = ProducerProcess::start("aaep-minimal-producer", free_port(), &[]);
    let mut hearken = watch(&peer);
    peer.ask("Send an email to bob");
    let number = question(&mut hearken);
    let process = Pid::from_raw(i32::try_from(peer.child.id()).unwrap()).unwrap();
    // It accepts the connection and answers nothing: meanwhile, the answer is on its way.
    kill_process(process, Signal::STOP).unwrap();
    accept(&mut hearken, number);
    peer.kill();
    let fate = hearken.wait("the answer's fate", |line| {
        let told: Value = serde_json::from_str(line).unwrap();
        let text = told["text"].as_str().unwrap();
        told["question"] == number
            && [
                "Nobody confirmed",
                "Whether it arrived is not known",
                "not delivered",
                "may already be decided",
                "can't be answered",
                "may",
            ]
            .iter()
            .any(|words| text.contains(words))
    });
    let fate: Value = serde_json::from_str(&fate).unwrap();
    assert_eq!(fate["class"], "alert", "{fate:#}");
    assert!(
        !hearken.seen().iter().any(|line| line.contains("Sent.")),
        "{:#?}",
        hearken.seen()
    );
}
