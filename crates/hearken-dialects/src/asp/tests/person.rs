//! What a person hears of a session and decides about it.

use crate::asp::Asp;
use crate::every_language::EveryLanguage;
use crate::link::{Frame, LinkEvent, Receipt};
use crate::protocol::{Answer, Reply, ReplyToken, Response};
use crate::{Cx, Dialect, DialectOutput, DialectSetup, SharedWording, TransportKind};

use super::streams::{StreamRun, escalated, wire};
use super::*;

/// Feeds a session that is carrying out an agreement and then escalates.
fn executing(run: &mut StreamRun) {
    escalated(run);
    for (sender, performative, body) in [
        (BUYER, "INFORM", json!({"informType": "resolution"})),
        (
            BUYER,
            "COMMIT",
            json!({"commitmentId": "c1", "terms": {"price": 12}}),
        ),
        (SELLER, "ACCEPT", json!({"commitmentId": "c1"})),
        (
            SELLER,
            "ESCALATE",
            json!({"reason": "They are late.", "urgency": "high"}),
        ),
    ] {
        run.frame(wire("s1", sender, performative, body));
    }
}

fn said(event: &Value) -> &str {
    event["summary_normal"].as_str().unwrap_or_default()
}

#[test]
fn a_message_that_does_not_count_is_never_announced_as_if_it_did() {
    let mut run = StreamRun::new(true);
    run.frame(wire(
        "s1",
        BUYER,
        "PROPOSE",
        json!({"type": "session-invitation"}),
    ));
    for quantity in [1, 2] {
        let body = json!({"subject": "Widgets", "terms": {"quantity": quantity}});
        run.frame(wire("s1", SELLER, "COMMIT", body));
        let last = run.events.last().unwrap();
        assert_eq!(
            said(last),
            "widgets.example seller sent COMMIT: Widgets. It does not count."
        );
        assert_eq!(last["urgency"], Value::Null, "not critical");
    }
    // The reason is said once.
    assert_eq!(run.told, ["asp.departure.illegal"]);
    // Nor is an acceptance of one's own commitment.
    let mut run = StreamRun::new(true);
    for message in [
        wire("s1", BUYER, "COMMIT", json!({"terms": {"price": 1}})),
        wire("s1", BUYER, "ACCEPT", json!({})),
    ] {
        run.frame(message);
    }
    assert_eq!(
        said(run.events.last().unwrap()),
        "acme.example buyer sent ACCEPT. It does not count."
    );
}

#[test]
fn an_escalation_states_the_terms_and_whether_they_bind() {
    let mut run = StreamRun::new(true);
    escalated(&mut run);
    let asked = run.events.last().unwrap();
    let wanted = "The price is below my limit. Last offer, from acme.example buyer: price 12. Nothing is binding.";
    assert_eq!(asked["context"], wanted);
    assert!(
        asked["context_de"]
            .as_str()
            .unwrap()
            .ends_with("Nichts ist verbindlich.")
    );
    let mut run = StreamRun::new(true);
    escalated(&mut run);
    for (sender, performative, body) in [
        (BUYER, "INFORM", json!({"informType": "resolution"})),
        (BUYER, "COMMIT", json!({"terms": {"price": 12}})),
        (SELLER, "COUNTER", json!({"terms": {"price": 13}})),
        (
            BUYER,
            "ESCALATE",
            json!({"reason": "Too dear.", "urgency": "high"}),
        ),
    ] {
        run.frame(wire("s1", sender, performative, body));
    }
    let asked = run.events.last().unwrap();
    let wanted = "Too dear. Last offer, from widgets.example seller: price 13. Nothing is binding.";
    assert_eq!(asked["context"], wanted);
    let mut run = StreamRun::new(true);
    executing(&mut run);
    let asked = run.events.last().unwrap();
    assert_eq!(
        asked["context"],
        "They are late. Agreed, and binding: price 12."
    );
    assert_eq!(run.faults, [] as [String; 0]);
}

#[test]
fn closing_what_binds_takes_two_steps() {
    let mut run = StreamRun::new(true);
    executing(&mut run);
    let asked = run.events.last().unwrap();
    assert_eq!(
        asked["extensions"]["hearken"]["final_choices"],
        json!(["close"])
    );
    assert_eq!(
        asked["choices"][1]["label"],
        "Close, and the session ends for good, perhaps as a breach of what was agreed"
    );
    // Nothing binds before, and nothing is left to fulfil after the result.
    let mut run = StreamRun::new(true);
    escalated(&mut run);
    assert_eq!(
        run.events.last().unwrap()["extensions"]["hearken"]["final_choices"],
        Value::Null
    );
    let mut run = StreamRun::new(true);
    executing(&mut run);
    for (performative, body) in [
        ("INFORM", json!({"informType": "resolution"})),
        ("INFORM", json!({"informType": "result"})),
        ("ESCALATE", json!({"reason": "And now?", "urgency": "low"})),
    ] {
        run.frame(wire("s1", SELLER, performative, body));
    }
    assert_eq!(
        run.events.last().unwrap()["extensions"]["hearken"]["final_choices"],
        Value::Null
    );
}

#[test]
fn a_person_resolves_an_escalation_in_words() {
    let mut run = StreamRun::new(true);
    escalated(&mut run);
    let asked = run.events.last().unwrap();
    assert_eq!(
        asked["accepted_response_kinds"],
        json!(["multiple_choice", "freetext"])
    );
    let token = run.last_token();
    run.reply(1, &token, "Pay twelve, no more.");
    let sent: Value = serde_json::from_str(&run.sent[0].1).unwrap();
    assert_eq!(
        (&sent["performative"], &sent["content"]["body"]),
        (
            &json!("INFORM"),
            &json!({"informType": "resolution", "resolution": "Pay twelve, no more."})
        )
    );
}

/// Nothing is sent, so nothing may be announced as sent; the event says what follows, under a state that is spoken.
#[test]
fn later_is_settled_here_and_said() {
    let mut run = StreamRun::new(true);
    escalated(&mut run);
    let reply = Reply {
        token: ReplyToken::new(run.last_token()),
        answer: Answer::Response(Response::Text("later".to_owned())),
        timestamp: at(0).wall,
        decided_by: "user:local".to_owned(),
    };
    let mut out = Vec::new();
    run.asp.reply(1, &reply, &mut Cx::new(at(0), &mut out));
    let settled = DialectOutput::Settled {
        request: 1,
        outcome: Ok(Receipt::Here),
    };
    assert_eq!(out[0], settled);
    let DialectOutput::Event(event) = &out[1] else {
        panic!("{out:?}")
    };
    let event: Value = serde_json::from_str(event).unwrap();
    assert_eq!(event["to_state"], "escalated");
    assert_eq!(
        said(&event),
        "You decide later. It is asked again in 5 minutes."
    );
}

/// In a capture, time passes by its messages, however fast it is played.
#[test]
fn what_expired_in_a_capture_is_reported() {
    let mut asp = Asp::new(DialectSetup {
        carrier: TransportKind::OneWay,
        words: SharedWording::new(EveryLanguage::best_for(&[])),
        ..DialectSetup::unattended()
    });
    let mut out = Vec::new();
    let mut hear = |seconds: u64, sender: &str, performative: &str, mut body: Value| {
        let limit = body.as_object_mut().unwrap().remove("limit");
        let mut message = wire("s1", sender, performative, body);
        message["timestamp"] = at(seconds).wall.to_string().into();
        if let Some(limit) = limit {
            message["constraints"] = json!({"maxResponseTimeMs": limit});
        }
        let event = LinkEvent::Frame(Frame::of(message.to_string()));
        asp.news(&event, &mut Cx::new(at(0), &mut out));
    };
    hear(0, BUYER, "PROPOSE", json!({"type": "session-invitation"}));
    hear(31, SELLER, "ACCEPT", json!({}));
    hear(32, BUYER, "INFORM", json!({"informType": "identity"}));
    hear(33, SELLER, "INFORM", json!({"informType": "identity"}));
    hear(
        34,
        BUYER,
        "QUERY",
        json!({"question": "What?", "limit": 5000}),
    );
    hear(
        50,
        SELLER,
        "ESCALATE",
        json!({"reason": "Hm.", "urgency": "high", "timeout": 60}),
    );
    hear(120, BUYER, "INFORM", json!({"informType": "resolution"}));
    hear(4000, BUYER, "QUERY", json!({"question": "Still there?"}));
    let departs = out.iter().filter_map(|out| match out {
        DialectOutput::Detail(phrase) => Some(phrase.key),
        _ => None,
    });
    let departs: Vec<&str> = departs.collect();
    let wanted = [
        "asp.departure.expired.invitation",
        "asp.departure.late",
        "asp.departure.expired.escalation",
        "asp.departure.expired.session",
    ];
    assert_eq!(departs, wanted);
    let told = out.iter().filter_map(|out| match out {
        DialectOutput::Event(text) | DialectOutput::ViewOnly(text) => {
            serde_json::from_str::<Value>(text).ok()
        }
        _ => None,
    });
    let told: Vec<String> = told.map(|event| said(&event).to_owned()).collect();
    for words in [
        "The invitation has probably expired. Nobody answered it in time.",
        "No response came in time. The session has probably failed.",
        "The time to resolve the escalation is probably up.",
        "The session's time is probably up.",
    ] {
        assert!(told.iter().any(|told| told == words), "{words}: {told:#?}");
    }
}
