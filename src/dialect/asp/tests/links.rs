//! What happens on the link around the messages: attempts to connect, complaints, and what speaks AAEP beside them.

use crate::dialect::asp::Asp;
use crate::dialect::asp::handler::{Identity, tests::KEY};
use crate::dialect::{Carrier, Dialect, Out, Start};
use crate::link::{Address, Frame, LinkEvent, Receipt, Stream, Undelivered};
use crate::protocol::{Answer, Reply, ReplyToken, Response};

use super::*;

fn translator(carrier: Carrier) -> Asp {
    Asp::new(Start {
        carrier,
        identity: Some(Identity::new("agent://home.example/person", KEY).unwrap()),
        ..Start::unattended()
    })
}

fn news(asp: &mut Asp, event: LinkEvent) -> Vec<Out> {
    let mut out = Vec::new();
    asp.news(&event, at(0), &mut out);
    out
}

fn frame(asp: &mut Asp, value: &Value) -> Vec<Out> {
    news(asp, LinkEvent::Frame(Frame::of(value.to_string())))
}

#[test]
fn every_attempt_follows_the_stream() {
    let mut asp = translator(Carrier::EventStream);
    for attempt in 1..3 {
        let out = news(&mut asp, LinkEvent::Connecting { attempt });
        assert_eq!(out, [Out::Follow(Stream::at(Address::Given))]);
    }
}

/// A link of this protocol on which AAEP comes, too: nobody calls that something else, and nobody answers it here.
#[test]
fn what_says_that_it_is_aaep_is_heard_and_not_answered() {
    let mut asp = translator(Carrier::Lines);
    let event = json!({"@context": "https://aaep-protocol.org/context/v1", "type": "aaep:agent.awaiting.confirmation",
        "event_id": "evt_1", "session_id": "sess_1", "reply_token": "rpl_1", "action": "Send it"});
    let out = frame(&mut asp, &event);
    assert_eq!(out, [Out::ViewOnly(event.to_string())]);
    let out = frame(&mut asp, &json!({"type": "subscription.accepted"}));
    assert!(matches!(out[..], [Out::Unread(_)]), "{out:?}");
}

/// An error frame names no message: what was written has perhaps arrived all the same.
#[test]
fn a_complaint_proves_nothing_about_an_answer_that_was_written() {
    let mut asp = translator(Carrier::WebSocket);
    let waits =
        json!({"type": "auth_ok", "sessionId": "s", "state": "ESCALATED", "participants": ["a"]});
    let out = frame(&mut asp, &waits);
    let token = out.iter().find_map(|wish| match wish {
        Out::Event(text) => {
            let event: Value = serde_json::from_str(text).unwrap();
            event["reply_token"].as_str().map(ReplyToken::new)
        }
        _ => None,
    });
    let reply = Reply {
        token: token.expect("a question"),
        answer: Answer::Response(Response::Text("resume".to_owned())),
        timestamp: at(0).wall,
        decided_by: "user:local".to_owned(),
    };
    asp.reply(7, &reply, at(0), &mut Vec::new());
    let written = LinkEvent::Replied {
        request: 7,
        outcome: Ok(Receipt::Written),
    };
    assert_eq!(news(&mut asp, written), []);
    let out = frame(
        &mut asp,
        &json!({"type": "error", "code": "busy", "message": "no"}),
    );
    let settled = out.iter().find_map(|wish| match wish {
        Out::Settled {
            request: 7,
            outcome,
        } => Some(outcome),
        _ => None,
    });
    assert!(
        matches!(settled, Some(Err(Undelivered::Unknown(_)))),
        "{out:?}"
    );
}
