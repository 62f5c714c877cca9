//! The four timeouts.

use serde_json::json;

use crate::asp::session::{Departure, ExpiredTimeout};
use crate::asp::session_rules::{Section, Timeout, WAITS};

use super::*;

/// The document's table: the timeout, its default, the field that sets it.
const TABLE: [(&str, Option<u64>, &str); 4] = [
    ("invitation", Some(30), "PROPOSE validUntil"),
    ("response", None, "constraints.maxResponseTimeMs"),
    ("session", Some(3600), "PROPOSE terms.proposed_duration"),
    ("escalation", Some(3600), "ESCALATE timeout"),
];

fn one(expired: Vec<ExpiredTimeout>) -> ExpiredTimeout {
    assert_eq!(expired.len(), 1, "{expired:?}");
    expired[0]
}

#[test]
fn the_waits_are_the_documents() {
    let have: Vec<_> = WAITS
        .iter()
        .map(|wait| (wait.timeout.name(), wait.default_seconds, wait.field))
        .collect();
    assert_eq!(have, TABLE);
    for (at, timeout) in Timeout::ALL.iter().enumerate() {
        assert_eq!(
            (
                *timeout as usize,
                crate::asp::session_rules::wait(*timeout).timeout
            ),
            (at, *timeout)
        );
    }
}

#[test]
fn an_invitation_waits_half_a_minute_or_as_long_as_it_says() {
    let mut session = session_in(State::Invited);
    assert_eq!(session.deadline(), Some(Duration::from_secs(30)));
    assert_eq!(session.tick(at(29)), []);
    let expired = one(session.tick(at(30)));
    assert_eq!(
        (expired.timeout, expired.state, expired.row.place),
        (Timeout::Invitation, State::Invited, Section::Table(3))
    );
    assert_eq!(
        expired.departure,
        Some(Departure::Expired(Timeout::Invitation))
    );
    let probably = PresumedState::ProbablyFailed {
        was: State::Invited,
        by: Timeout::Invitation,
    };
    assert_eq!((session.standing(), session.deadline()), (probably, None));
    // The timeout is only counted here: a later message proves that the session is alive.
    take(&mut session, &message(SELLER, "ACCEPT", json!({})));
    assert_eq!(session.standing(), PresumedState::At(State::Invited));
    let mut session = Negotiation::default();
    let body = json!({"type": "session-invitation", "validUntil": at(90).wall.to_string()});
    take(&mut session, &message(BUYER, "PROPOSE", body));
    assert_eq!(session.deadline(), Some(Duration::from_secs(90)));
    assert_eq!(
        session_in(State::Introduced).deadline(),
        None,
        "an answer ends the wait"
    );
}

#[test]
fn a_session_waits_an_hour_or_as_long_as_its_invitation_says() {
    let mut session = session_in(State::Conversing);
    assert_eq!(session.tick(at(3599)), []);
    let expired = one(session.tick(at(3600)));
    assert_eq!(
        (expired.timeout, expired.row.place),
        (Timeout::Session, Section::Table(8))
    );
    let mut session = Negotiation::default();
    let body = json!({"type": "session-invitation", "terms": {"proposed_duration": 600}});
    take(&mut session, &message(BUYER, "PROPOSE", body));
    for message in &way_to(State::Executing)[1..] {
        take(&mut session, message);
    }
    let expired = one(session.tick(at(600)));
    assert_eq!(
        (expired.timeout, expired.row.place),
        (Timeout::Session, Section::Table(18))
    );
}

#[test]
fn an_escalation_waits_an_hour_or_as_long_as_it_says() {
    let mut session = session_in(State::Agreeing);
    take(
        &mut session,
        &message(SELLER, "ESCALATE", json!({"timeout": 120})),
    );
    let expired = one(session.tick(at(120)));
    assert_eq!(
        (expired.timeout, expired.row.place),
        (Timeout::Escalation, Section::Table(18))
    );
    assert_eq!(session.standing().state(), State::Escalated);
    let mut session = session_in(State::Invited);
    take(&mut session, &message(SELLER, "ESCALATE", json!({})));
    assert_eq!(
        session.deadline(),
        Some(Duration::from_secs(3600)),
        "the invitation waits no more"
    );
    take(
        &mut session,
        &message(BUYER, "INFORM", json!({"informType": "resolution"})),
    );
    assert_eq!(session.deadline(), None, "a resolution ends the wait");
}

#[test]
fn a_response_is_waited_for_only_where_a_message_says_so_and_the_tables_disagree_about_its_end() {
    assert_eq!(session_in(State::Introduced).deadline(), None);
    let mut session = session_in(State::Introduced);
    let mut asks = message(BUYER, "QUERY", json!({}));
    asks.respond_within = Some(Duration::from_secs(5));
    take(&mut session, &asks);
    let expired = one(session.tick(at(5)));
    assert_eq!(
        (expired.timeout, expired.row.place),
        (Timeout::Response, Section::Table(18))
    );
    assert_eq!(expired.departure, Some(Departure::ResponseLate));
    take(&mut session, &asks);
    take(&mut session, &message(BUYER, "INFORM", json!({})));
    assert_eq!(
        session.deadline(),
        Some(Duration::from_secs(5)),
        "who waits does not answer itself"
    );
    take(&mut session, &message(SELLER, "INFORM", json!({})));
    assert_eq!(session.deadline(), Some(Duration::from_secs(3600)));
}

#[test]
fn nothing_is_waited_for_after_the_end() {
    for state in [State::Closed, State::Failed] {
        let mut session = session_in(state);
        assert_eq!((session.deadline(), session.tick(at(9999))), (None, vec![]));
    }
}
