//! The machine against the document: its tables are repeated here, as independent data.

mod binding;
mod cells;
mod links;
mod person;
mod session_ends;
mod streams;
mod timeouts;
mod transition_rows;

use std::time::Duration;

use serde_json::{Value, json};

use crate::protocol::{NoObserver, Now};

use super::message::AspMessage;
use super::performatives::Performative;
use super::session::{MessageEffect, Negotiation, PresumedState};
use super::states::State;

pub(super) const BUYER: &str = "agent://acme.example/buyer";
pub(super) const SELLER: &str = "agent://widgets.example/seller";

pub(super) fn at(seconds: u64) -> Now {
    let start = Now {
        monotonic: Duration::ZERO,
        wall: "2026-03-07T14:30:00Z".parse().unwrap(),
    };
    start.after(Duration::from_secs(seconds))
}

/// Messages of this dialect, for the tests that all dialects share. The first ones identify it.
pub(crate) const MESSAGES: &[&str] = &[
    r#"{"type":"auth_ok","sessionId":"s1"}"#,
    r#"{"version":"asp/0.1","messageId":"m1","sessionId":"s1","sequenceNumber":0,"sender":{"agentId":"agent://a.example/a"},"performative":"PROPOSE","content":{"mimeType":"application/json","body":{"type":"session-invitation"}}}"#,
    r#"{"version":"asp/0.1","messageId":"m2","sessionId":"s1","sequenceNumber":0,"sender":{"agentId":"agent://b.example/b"},"performative":"ACCEPT","content":{"mimeType":"application/json","body":{}}}"#,
    r#"{"version":"asp/0.1","messageId":"m2","sessionId":"s1","sequenceNumber":1,"sender":{"agentId":"agent://b.example/b"},"performative":"ESCALATE","content":{"mimeType":"application/json","body":{"reason":"said","urgency":"high","options":["resume","abort"]}}}"#,
];

/// Builds a message with everything that the document requires.
pub(super) fn message(sender: &str, performative: &str, body: Value) -> AspMessage {
    let mut full = json!({"reason": "said", "urgency": "high", "terms": {"price": 1}});
    for (key, value) in body.as_object().unwrap() {
        full[key] = value.clone();
    }
    let value = json!({"performative": performative, "sender": sender, "timestamp": at(0).wall.to_string(),
        "content": {"body": full}});
    AspMessage::read(value.as_object().unwrap()).unwrap()
}

pub(super) fn take(session: &mut Negotiation, message: &AspMessage) -> MessageEffect {
    session.take(message, at(0), &mut NoObserver).unwrap()
}

pub(super) fn identity(sender: &str) -> AspMessage {
    message(sender, "INFORM", json!({"informType": "identity"}))
}

pub(super) fn invitation() -> AspMessage {
    message(BUYER, "PROPOSE", json!({"type": "session-invitation"}))
}

/// Returns legal messages that lead from nothing to a state.
pub(super) fn way_to(state: State) -> Vec<AspMessage> {
    let mut way = vec![
        invitation(),
        message(SELLER, "ACCEPT", json!({})),
        identity(BUYER),
        identity(SELLER),
        message(BUYER, "QUERY", json!({"question": "what?"})),
    ];
    let commit = message(BUYER, "COMMIT", json!({"commitmentId": "c1"}));
    match state {
        State::Idle => way.clear(),
        State::Invited => way.truncate(1),
        State::Introduced => way.truncate(4),
        State::Conversing => {}
        State::Agreeing => way.push(commit),
        State::Executing => way.extend([
            commit,
            message(SELLER, "ACCEPT", json!({"commitmentId": "c1"})),
        ]),
        State::Escalated => way.push(message(SELLER, "ESCALATE", json!({}))),
        State::Closed => way.push(message(BUYER, "CLOSE", json!({}))),
        State::Failed => {
            way.truncate(1);
            way.push(message(SELLER, "REJECT", json!({})));
        }
    }
    way
}

/// Returns a session led into a state by messages without departures.
pub(super) fn session_in(state: State) -> Negotiation {
    let mut session = Negotiation::default();
    for message in way_to(state) {
        let taken = take(&mut session, &message);
        assert_eq!(taken.departures, [], "{message:?}");
    }
    assert_eq!(session.standing(), PresumedState::At(state));
    session
}

pub(super) fn state_named(name: &str) -> State {
    State::read(name).unwrap()
}

#[test]
fn every_state_is_reached_by_ordinary_messages() {
    for state in State::ALL {
        session_in(*state);
    }
    assert_eq!((State::ALL.len(), Performative::ALL.len()), (9, 13));
}
