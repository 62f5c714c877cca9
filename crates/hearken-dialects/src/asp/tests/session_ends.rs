//! How sessions end, are joined in the middle, and follow their server's reports.

use serde_json::json;

use crate::asp::session::{Departure, MessageIntent};

use super::*;

#[test]
fn both_sides_of_a_mutual_close_are_ordinary_and_a_third_is_not() {
    let mut session = session_in(State::Conversing);
    let first = take(
        &mut session,
        &message(BUYER, "CLOSE", json!({"reason": "agreed"})),
    );
    assert_eq!(
        (first.departures, first.meaning),
        (vec![], MessageIntent::Plain)
    );
    let second = take(
        &mut session,
        &message(SELLER, "CLOSE", json!({"reason": "agreed"})),
    );
    assert_eq!(
        (second.departures, second.meaning),
        (vec![], MessageIntent::ConfirmsClose)
    );
    for again in [BUYER, SELLER] {
        let third = take(&mut session, &message(again, "CLOSE", json!({})));
        assert_eq!(third.departures, [Departure::AfterEnd(State::Closed)]);
    }
}

#[test]
fn a_close_in_executing_is_perhaps_a_breach_unless_the_result_was_told() {
    let close = |reason: &str| message(SELLER, "CLOSE", json!({"reason": reason}));
    let result = message(SELLER, "INFORM", json!({"informType": "result"}));
    for (result_told, reason, wanted) in [
        (false, "unilateral", MessageIntent::PerhapsBreach),
        (false, "enough", MessageIntent::PerhapsBreach),
        (true, "unilateral", MessageIntent::PerhapsBreach),
        (true, "fulfilled", MessageIntent::Plain),
    ] {
        let mut session = session_in(State::Executing);
        if result_told {
            take(&mut session, &result);
        }
        let taken = take(&mut session, &close(reason));
        assert_eq!(taken.meaning, wanted, "{result_told} {reason}");
        assert_eq!(session.standing(), PresumedState::At(State::Closed));
    }
    // A result reported while no work is agreed does not count.
    let mut session = session_in(State::Conversing);
    for it in [
        result,
        message(BUYER, "COMMIT", json!({})),
        message(SELLER, "ACCEPT", json!({})),
    ] {
        take(&mut session, &it);
    }
    assert_eq!(
        take(&mut session, &close("done")).meaning,
        MessageIntent::PerhapsBreach
    );
    let mut session = session_in(State::Conversing);
    assert_eq!(
        take(&mut session, &close("unilateral")).meaning,
        MessageIntent::Plain
    );
}

#[test]
fn a_session_that_is_heard_from_its_middle_begins_where_its_first_message_is_allowed() {
    for (first, state) in [
        (message(BUYER, "COUNTER", json!({})), State::Conversing),
        (
            message(BUYER, "INFORM", json!({"informType": "identity"})),
            State::Invited,
        ),
        (
            message(BUYER, "INFORM", json!({"informType": "progress"})),
            State::Executing,
        ),
        (
            message(BUYER, "INFORM", json!({"informType": "resolution"})),
            State::Escalated,
        ),
    ] {
        let mut session = Negotiation::joined(&first);
        assert_eq!(session.standing(), PresumedState::At(state));
        assert_eq!(take(&mut session, &first).departures, [], "{first:?}");
    }
}

#[test]
fn whoever_runs_the_session_says_where_it_is_until_it_is_over() {
    let mut session = session_in(State::Conversing);
    assert_eq!(
        session.apply_reported_state(State::Conversing, at(1), &mut NoObserver),
        None
    );
    let taken = session
        .apply_reported_state(State::Executing, at(1), &mut NoObserver)
        .unwrap();
    assert_eq!(
        (taken.step.unwrap().to, taken.departures),
        (State::Executing, vec![])
    );
    let taken = session
        .apply_reported_state(State::Escalated, at(1), &mut NoObserver)
        .unwrap();
    assert_eq!(taken.step.unwrap().to, State::Escalated);
    assert_eq!(session.before(), State::Executing);
    session
        .apply_reported_state(State::Failed, at(1), &mut NoObserver)
        .unwrap();
    let taken = session
        .apply_reported_state(State::Conversing, at(1), &mut NoObserver)
        .unwrap();
    assert_eq!(
        taken.departures,
        [Departure::ToldOtherwise(State::Conversing)]
    );
    assert_eq!(session.standing(), PresumedState::At(State::Failed));
}

#[test]
fn what_comes_twice_is_taken_once() {
    let mut first = message(BUYER, "COMMIT", json!({}));
    first.id = Some("m1".to_owned());
    let mut session = session_in(State::Conversing);
    assert!(session.take(&first, at(0), &mut NoObserver).is_some());
    assert_eq!(session.take(&first, at(0), &mut NoObserver), None);
    assert_eq!(session.standing(), PresumedState::At(State::Agreeing));
}
