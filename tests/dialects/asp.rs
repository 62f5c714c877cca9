//! ASP as a person hears it: every message of a negotiation, and what each decision about an escalation takes.

use std::time::Duration;

use hearken::config::{Config, Dialect, Verbosity};
use hearken::demo;
use hearken::dialect::Identity;
use hearken::inspect::{Checker, Format, Tracer};
use hearken_wording::phrase;
use serde_json::{Value, json};

use super::{KEY, start};
use crate::support::stage::Stage;

/// A negotiation of one message a second, up to its end.
const NEGOTIATION: &str = include_str!("../fixtures/asp/negotiation.jsonl");

fn stage(verbosity: Verbosity) -> Stage {
    let mut config = Config::default();
    config.announce.verbosity = verbosity;
    let identity = Identity::new(demo::PERSON, KEY).unwrap();
    Stage::speaking(config, start(), Dialect::Asp, Some(identity))
}

/// Feeds messages, one a second.
fn hear<'a>(stage: &mut Stage, messages: impl Iterator<Item = &'a str>) {
    for message in messages {
        stage.wait(Duration::from_secs(1));
        stage.frame(message);
    }
}

/// Returns the messages up to the binding agreement, and then an escalation.
fn escalated_while_executing() -> Vec<String> {
    let mut messages: Vec<String> = NEGOTIATION.lines().take(12).map(str::to_owned).collect();
    let last: Value = serde_json::from_str(&messages[11]).unwrap();
    let escalates = json!({"version": "asp/0.1", "messageId": "e1", "sessionId": last["sessionId"],
        "sender": last["sender"], "recipient": last["recipient"], "performative": "ESCALATE",
        "content": {"body": {"reason": "The widgets are late.", "urgency": "high", "timeout": 600}}});
    messages.push(escalates.to_string());
    messages
}

fn spoken(stage: &Stage) -> String {
    stage.script.join("\n")
}

#[test]
fn every_message_of_a_negotiation_is_heard_and_normal_says_no_less_than_terse() {
    for verbosity in [Verbosity::Terse, Verbosity::Normal, Verbosity::Detailed] {
        let mut stage = stage(verbosity);
        hear(&mut stage, NEGOTIATION.lines());
        stage.wait_for_silence();
        let (lines, script) = (stage.lines.concat(), spoken(&stage));
        for words in [
            "9 dollars each",
            "14 dollars each",
            "11 dollars each",
            "12 dollars each",
            "Is freight included?",
            "Freight is included.",
            "500 widgets delivered.",
        ] {
            assert!(lines.contains(words), "{verbosity:?}: {words}\n{lines}");
            assert!(script.contains(words), "{verbosity:?}: {words}\n{script}");
        }
    }
}

#[test]
fn nothing_is_binding_after_a_counter_to_a_commitment_and_the_question_has_the_terms() {
    for verbosity in [Verbosity::Terse, Verbosity::Normal] {
        let mut stage = stage(verbosity);
        let messages = NEGOTIATION.lines().take(11);
        hear(&mut stage, messages);
        let last: Value = serde_json::from_str(NEGOTIATION.lines().nth(11).unwrap()).unwrap();
        let message = |id: &str, performative: &str, body: Value| {
            let mut message = last.clone();
            message["messageId"] = id.into();
            message["sequenceNumber"] = Value::Null;
            message["performative"] = performative.into();
            message["content"]["body"] = body;
            message.to_string()
        };
        let counter = message(
            "c",
            "COUNTER",
            json!({"terms": {"price": "13 dollars each"}}),
        );
        let reason = json!({"reason": "Above my limit.", "urgency": "high"});
        let escalates = message("e", "ESCALATE", reason);
        hear(
            &mut stage,
            [counter.as_str(), escalates.as_str()].into_iter(),
        );
        stage.wait_for_silence();
        let script = spoken(&stage);
        let question = script.split_once("Question 1.").unwrap().1;
        // What happened is said, and the question says where it leaves them.
        let heard = stage.lines.concat();
        assert_eq!(heard.matches("Nothing is binding.").count(), 2, "{heard}");
        assert!(question.contains("Nothing is binding."), "{script}");
        assert!(question.contains("price 13 dollars each"), "{script}");
        let heard = stage.lines.len();
        stage.press('d');
        stage.wait_for_silence();
        let details = stage.lines[heard..].concat();
        assert!(details.contains("price 13 dollars each"), "{details}");
    }
}

#[test]
fn closing_what_is_carried_out_takes_two_steps_and_later_sends_nothing() {
    let choose = |choice: char| {
        let mut stage = stage(Verbosity::Normal);
        hear(
            &mut stage,
            escalated_while_executing().iter().map(String::as_str),
        );
        stage.wait_for_silence();
        let heard = stage.lines.len();
        stage.press('o');
        stage.press(choice);
        stage.wait(Duration::from_secs(1));
        (stage, heard)
    };
    let (mut stage, heard) = choose('2');
    assert!(stage.sent.is_empty(), "{}", stage.lines[heard..].concat());
    let asked = stage.lines[heard..].concat();
    assert!(
        phrase!("reply.second_step.other.keys").is_in(&asked),
        "{asked}"
    );
    stage.wait(Duration::from_secs(8));
    stage.press('c');
    stage.wait(Duration::from_secs(1));
    assert!(stage.sent[0].1.contains(r#""performative":"CLOSE""#));
    let (stage, _) = choose('1');
    assert!(
        stage.sent[0].1.contains(r#""performative":"INFORM""#),
        "one step"
    );
    let (mut stage, heard) = choose('3');
    stage.wait_for_silence();
    assert_eq!(stage.sent, []);
    let told = stage.lines[heard..].concat();
    assert!(!told.contains("Sent."), "{told}");
    assert!(phrase!("asp.later").is_in(&told), "{told}");
}

#[test]
fn what_expired_is_in_every_report_of_a_capture_with_its_own_time() {
    let mut messages: Vec<String> = NEGOTIATION.lines().take(10).map(str::to_owned).collect();
    let last: Value = serde_json::from_str(&messages[9]).unwrap();
    for (id, at, performative, body) in [
        (
            "e",
            "14:31:00",
            "ESCALATE",
            json!({"reason": "Hm.", "urgency": "high", "timeout": 60}),
        ),
        (
            "r",
            "14:33:00",
            "INFORM",
            json!({"informType": "resolution"}),
        ),
        ("q", "16:00:00", "QUERY", json!({"question": "And now?"})),
    ] {
        let mut message = last.clone();
        message["messageId"] = id.into();
        message["sequenceNumber"] = Value::Null;
        message["integrity"] = Value::Null;
        message["timestamp"] = format!("2026-03-07T{at}Z").into();
        message["performative"] = performative.into();
        message["content"]["body"] = body;
        messages.push(message.to_string());
    }
    let mut checker = Checker::new();
    let items: Vec<_> = messages
        .iter()
        .flat_map(|line| checker.line(line))
        .collect();
    let departs = items.iter().filter(|item| item.rule == "departs");
    let departs: Vec<String> = departs
        .map(|item| format!("{} {}", item.line, item.field))
        .collect();
    let wanted = [
        "12 asp.departure.expired.escalation",
        "13 asp.departure.expired.session",
    ];
    assert_eq!(departs, wanted);
    let english = hearken::announce::Phrases::english().unwrap();
    for item in items.iter().filter(|item| item.rule == "departs") {
        let text = item.to_text(&english);
        let says = "departs from the rules of its own protocol: nobody resolved an escalation";
        assert!(!text.contains("asp."), "{text}");
        assert!(item.line != 12 || text.contains(says), "{text}");
    }
    let mut tracer = Tracer::new();
    messages.iter().for_each(|line| tracer.line(line));
    let english = hearken::announce::Phrases::english().unwrap();
    let traced = tracer.finish(Format::Text, &english).unwrap();
    for step in [
        "ESCALATED to probably FAILED, by escalation expired; line 12, 120.000 s",
        "to probably FAILED, by session expired; line 13, 3604.000 s",
    ] {
        assert!(traced.contains(step), "{step} is not in\n{traced}");
    }
}
