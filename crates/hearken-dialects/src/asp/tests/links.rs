//! The link around the messages: connection attempts, error frames, and AAEP in between.

use crate::Cx;
use crate::asp::Asp;
use crate::asp::handler::{Identity, tests::KEY};
use crate::link::{Address, Cause, DeliveryFailure, Fault, Frame, LinkEvent, Receipt, Stream};
use crate::protocol::{Answer, Reply, ReplyToken, Response};
use crate::{Dialect, DialectOutput, DialectSetup, TransportKind};

use super::*;

pub(super) fn translator(carrier: TransportKind) -> Asp {
    Asp::new(DialectSetup {
        carrier,
        identity: Some(Identity::new("agent://home.example/person", KEY).unwrap()),
        ..DialectSetup::unattended()
    })
}

pub(super) fn news(asp: &mut Asp, event: LinkEvent) -> Vec<DialectOutput> {
    let mut out = Vec::new();
    asp.news(&event, &mut Cx::new(at(0), &mut out));
    out
}

pub(super) fn frame(asp: &mut Asp, value: &Value) -> Vec<DialectOutput> {
    news(asp, LinkEvent::Frame(Frame::of(value.to_string())))
}

/// Returns the token of the last question among outputs.
pub(super) fn token(out: &[DialectOutput]) -> Option<String> {
    let of = |wish: &DialectOutput| match wish {
        DialectOutput::Event(text) => {
            let event: Value = serde_json::from_str(text).unwrap();
            event["reply_token"].as_str().map(str::to_owned)
        }
        _ => None,
    };
    out.iter().rev().find_map(of)
}

pub(super) fn reply(token: &str, choice: &str) -> Reply {
    Reply {
        token: ReplyToken::new(token),
        answer: Answer::Response(Response::Text(choice.to_owned())),
        timestamp: at(0).wall,
        decided_by: "user:local".to_owned(),
    }
}

pub(super) fn escalate(id: &str, reason: &str) -> Value {
    json!({"version": "asp/0.1", "messageId": id, "sessionId": "s", "sender": {"agentId": BUYER},
        "performative": "ESCALATE", "content": {"body": {"reason": reason, "urgency": "high"}}})
}

#[test]
fn every_attempt_follows_the_stream() {
    let mut asp = translator(TransportKind::EventStream);
    for attempt in 1..3 {
        let out = news(&mut asp, LinkEvent::Connecting { attempt });
        assert_eq!(out, [DialectOutput::Follow(Stream::at(Address::Given))]);
    }
}

/// AAEP on a link of this protocol is recognised, but cannot be answered here.
#[test]
fn what_says_that_it_is_aaep_is_heard_and_not_answered() {
    let mut asp = translator(TransportKind::Lines);
    let event = json!({"@context": "https://aaep-protocol.org/context/v1", "type": "aaep:agent.awaiting.confirmation",
        "event_id": "evt_1", "session_id": "sess_1", "reply_token": "rpl_1", "action": "Send it"});
    let out = frame(&mut asp, &event);
    assert_eq!(out, [DialectOutput::ViewOnly(event.to_string())]);
    let out = frame(&mut asp, &json!({"type": "subscription.accepted"}));
    assert!(matches!(out[..], [DialectOutput::Unread(_, 1)]), "{out:?}");
}

/// A stranger's input takes no more room in many pieces than in one.
#[test]
fn a_long_list_of_nothing_is_counted_and_takes_no_room() {
    let mut asp = translator(TransportKind::OneWay);
    let list = ["7", r#"{"type":"purple"}"#, "{no}"]
        .repeat(40_000)
        .join(",");
    let out = news(&mut asp, LinkEvent::Frame(Frame::of(format!("[{list}]"))));
    let times: Vec<u64> = out
        .iter()
        .map(|wish| match wish {
            DialectOutput::Unread(_, times) => *times,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(times, [40_000; 3]);
    // What comes in between is reported in its place.
    let list = format!("[7,{},7]", escalate("1", "dear"));
    let out = news(&mut asp, LinkEvent::Frame(Frame::of(list)));
    let ends = [out.first(), out.last()];
    assert!(
        ends.iter()
            .all(|end| matches!(end, Some(DialectOutput::Unread(_, 1)))),
        "{out:?}"
    );
}

/// An error frame names no message: what was written may have arrived all the same.
#[test]
fn a_complaint_proves_nothing_about_an_answer_that_was_written() {
    let mut asp = translator(TransportKind::WebSocket);
    let waits =
        json!({"type": "auth_ok", "sessionId": "s", "state": "ESCALATED", "participants": ["a"]});
    let token = token(&frame(&mut asp, &waits)).unwrap();
    asp.reply(
        7,
        &reply(&token, "resume"),
        &mut Cx::new(at(0), &mut Vec::new()),
    );
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
        DialectOutput::Settled {
            request: 7,
            outcome,
        } => Some(outcome),
        _ => None,
    });
    assert!(
        matches!(settled, Some(Err(DeliveryFailure::Unknown(_)))),
        "{out:?}"
    );
}

/// Any report that the session still waits shows its question again: the identical one, which can be answered.
#[test]
fn a_question_that_still_waits_when_the_connection_is_back_is_shown_again() {
    let waits =
        json!({"type": "heartbeat", "sessionId": "s", "state": "ESCALATED", "timestamp": "x"});
    let moved = json!({"type": "session_state", "sessionId": "s", "state": "CONVERSING"});
    for (first, shown) in [
        (escalate("1", "dear"), true),
        (waits.clone(), true),
        (moved, false),
    ] {
        let mut asp = translator(TransportKind::WebSocket);
        let told = frame(&mut asp, &escalate("1", "dear"));
        let asked = token(&told);
        assert!(asked.is_some());
        let answered = frame(&mut asp, &waits);
        assert_eq!(token(&answered), None, "nothing was lost");
        let lost = LinkEvent::Lost {
            fault: Fault::Closed,
            retry_in: Duration::from_secs(1),
        };
        news(&mut asp, lost);
        assert_eq!(news(&mut asp, LinkEvent::Connected), []);
        let back = frame(&mut asp, &first);
        assert_eq!(token(&back), asked.filter(|_| shown), "{first}");
        // Identical to the letter, including its id: another event would be another question.
        assert!(
            !shown || back.iter().any(|out| told.contains(out)),
            "{back:?}"
        );
        assert_eq!(token(&frame(&mut asp, &first)), None, "once");
    }
}

/// The same id is not the same message: a person decides about the latest one.
#[test]
fn an_escalation_with_a_used_id_and_other_words_asks_anew() {
    let mut asp = translator(TransportKind::WebSocket);
    let first = token(&frame(&mut asp, &escalate("1", "buy 1")));
    assert_eq!(frame(&mut asp, &escalate("1", "buy 1")), []);
    let second = token(&frame(&mut asp, &escalate("1", "buy 1000")));
    assert!(first.is_some() && second.is_some() && first != second);
}

#[test]
fn no_two_messages_of_ours_have_one_number() {
    let mut asp = translator(TransportKind::WebSocket);
    let mut numbers = Vec::new();
    for id in ["1", "2"] {
        let token = token(&frame(&mut asp, &escalate(id, id))).unwrap();
        let mut out = Vec::new();
        asp.reply(7, &reply(&token, "resume"), &mut Cx::new(at(0), &mut out));
        numbers.extend(out.iter().filter_map(|wish| match wish {
            DialectOutput::Send { frame, .. } => {
                let sent: Value = serde_json::from_str(frame).unwrap();
                sent["sequenceNumber"].as_u64()
            }
            _ => None,
        }));
    }
    assert_eq!(numbers, [0, 1]);
}

/// A sender with a long name is answered by it or not at all, never by another name.
#[test]
fn a_long_name_is_answered_whole_or_not_at_all() {
    let named = |session: &str, by: &str| {
        json!({"version": "asp/0.1", "messageId": "1", "sessionId": session, "sender": {"agentId": by},
            "performative": "ESCALATE", "content": {"body": {"reason": "dear", "urgency": "high"}}})
    };
    let (long, other) = ("s".repeat(300) + "1", "s".repeat(300) + "2");
    let by = format!("agent://{}.example/x", "b".repeat(300));
    let mut asp = translator(TransportKind::WebSocket);
    let first = token(&frame(&mut asp, &named(&long, &by))).unwrap();
    let second = token(&frame(&mut asp, &named(&other, BUYER))).unwrap();
    assert_ne!(
        first, second,
        "two names that only end differently are two sessions"
    );
    for (token, session, by) in [(first, &long, by.as_str()), (second, &other, BUYER)] {
        let mut out = Vec::new();
        asp.reply(7, &reply(&token, "resume"), &mut Cx::new(at(0), &mut out));
        let [DialectOutput::Send { frame, .. }] = out.as_slice() else {
            panic!("{out:?}");
        };
        let sent: Value = serde_json::from_str(frame).unwrap();
        assert_eq!(sent["sessionId"], session.as_str());
        assert_eq!(sent["recipient"]["agentId"], by);
    }
    for (session, by) in [
        ("s".repeat(5000), BUYER),
        ("s".to_owned(), &*"b".repeat(5000)),
    ] {
        let mut asp = translator(TransportKind::WebSocket);
        let token = token(&frame(&mut asp, &named(&session, by))).unwrap();
        let mut out = Vec::new();
        asp.reply(7, &reply(&token, "resume"), &mut Cx::new(at(0), &mut out));
        let outcome = Err(DeliveryFailure::Kept(Fault::Other(Cause::NameTooLong)));
        assert_eq!(
            out,
            [DialectOutput::Settled {
                request: 7,
                outcome
            }]
        );
    }
}

#[test]
fn what_is_cut_is_said_and_stands_in_the_question() {
    for (length, left_out) in [(2048, None), (2050, Some("2"))] {
        let mut asp = translator(TransportKind::WebSocket);
        let out = frame(&mut asp, &escalate("1", &"r".repeat(length)));
        let told = out.iter().find_map(|wish| match wish {
            DialectOutput::Announce(told) if told.key == "asp.cut" => {
                told.args.iter().find(|(name, _)| *name == "n")
            }
            _ => None,
        });
        let told = told.map(|(_, n)| n.clone());
        assert_eq!(
            told,
            left_out.map(|n| crate::link::PhraseArg::Own(n.to_owned()))
        );
        let context = out.iter().find_map(|wish| match wish {
            DialectOutput::Event(text) => {
                let event: Value = serde_json::from_str(text).unwrap();
                event["context"].as_str().map(str::to_owned)
            }
            _ => None,
        });
        assert_eq!(
            context.unwrap().ends_with("asp.cut.here"),
            left_out.is_some()
        );
    }
}
