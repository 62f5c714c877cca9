//! The table of allowed performatives, cell by cell, and where it disagrees with the table of transitions.

use serde_json::json;

use crate::asp::performatives::Informs;
use crate::asp::session::{Departure, MessageIntent};
use crate::asp::session_rules::{self, MessageRow};

use super::*;

/// The document's table.
const TABLE: &str = "\
IDLE: PROPOSE (session-invitation only)
INVITED: ACCEPT, REJECT
INTRODUCED: PROPOSE, QUERY, INFORM, OBSERVE
CONVERSING: PROPOSE, ACCEPT, REJECT, COUNTER, INFORM, QUERY, CLARIFY, COMMIT, DELEGATE, OBSERVE, WITHDRAW, ESCALATE, CLOSE
AGREEING: ACCEPT, REJECT, COUNTER, CLARIFY, ESCALATE, CLOSE
EXECUTING: INFORM (progress result error), QUERY, ESCALATE, CLOSE
ESCALATED: INFORM (resolution), CLOSE
CLOSED:
FAILED:";

/// The effect of each performative without further fields, in the order of the thirteen: `.` allowed and moves nothing,
/// `>` allowed and moves, `d` allowed only by the transitions and moves, `!` allowed by neither and moves nothing, `x`
/// the session is over.
///
/// The order: PROPOSE ACCEPT REJECT COUNTER INFORM QUERY CLARIFY COMMIT DELEGATE OBSERVE WITHDRAW ESCALATE CLOSE.
const CAME: &str = "\
IDLE       !!!!!!!!!!ddd
INVITED    !.>!!!!!!!ddd
INTRODUCED >!!!>>!!!>ddd
CONVERSING .......>..>>>
AGREEING   !>>>!!.!!!d>>
EXECUTING  !!!!!.!!!!d>>
ESCALATED  !!!!!!!!!!dd>
CLOSED     xxxxxxxxxxxxx
FAILED     xxxxxxxxxxxxx";

/// Parses a line of the document's table: the performatives, and the kinds that each is limited to.
fn cells(line: &str) -> (State, Vec<(Performative, Vec<&str>)>) {
    let (state, cells) = line.split_once(':').unwrap();
    let cells = cells
        .split(',')
        .map(str::trim)
        .filter(|cell| !cell.is_empty());
    let cells = cells.map(|cell| match cell.split_once(" (") {
        Some((name, kinds)) => (
            Performative::read(name).unwrap(),
            kinds.trim_end_matches(')').split(' ').collect(),
        ),
        None => (Performative::read(cell).unwrap(), Vec::new()),
    });
    (state_named(state), cells.collect())
}

#[test]
fn each_cell_is_the_documents() {
    for line in TABLE.lines() {
        let (state, cells) = cells(line);
        for performative in Performative::ALL {
            let kinds = match performative {
                Performative::Inform => Informs::ALL,
                _ => &[Informs::Other],
            };
            for (informs, invites) in kinds
                .iter()
                .flat_map(|kind| [(*kind, false), (*kind, true)])
            {
                if invites && *performative != Performative::Propose {
                    continue;
                }
                let wanted = cells.iter().any(|(allowed, only)| {
                    allowed == performative
                        && (only.is_empty()
                            || only.contains(&informs.name())
                            || invites && only == &["session-invitation", "only"])
                });
                let act = MessageRow {
                    performative: *performative,
                    informs,
                    invites,
                };
                assert_eq!(
                    session_rules::is_allowed(state, act),
                    wanted,
                    "{state:?} {act:?}"
                );
            }
        }
    }
}

#[test]
fn what_comes_of_each_performative_in_each_state() {
    for line in CAME.lines() {
        let (name, came) = line.split_at(11);
        let state = state_named(name);
        assert_eq!(came.len(), 13);
        for (performative, sign) in Performative::ALL.iter().zip(came.chars()) {
            let mut session = session_in(state);
            let taken = take(
                &mut session,
                &message(SELLER, performative.name(), json!({})),
            );
            let moved = taken.step.is_some();
            let seen = match taken.departures.as_slice() {
                [] if moved => '>',
                [] => '.',
                [Departure::TablesDisagree(in_state)] if moved && *in_state == state => 'd',
                [Departure::Illegal(in_state)] if !moved && *in_state == state => '!',
                [Departure::AfterEnd(in_state)] if !moved && *in_state == state => 'x',
                other => panic!("{state:?} {performative:?}: {other:?}, {:?}", taken.step),
            };
            // The session was closed by the buyer, so the seller's CLOSE is the other half of a mutual close.
            let seen = if taken.meaning == MessageIntent::ConfirmsClose {
                'x'
            } else {
                seen
            };
            assert_eq!(seen, sign, "{state:?} {performative:?}");
            assert_eq!(
                moved,
                session.standing() != PresumedState::At(state)
                    || state == State::Escalated && moved
            );
        }
    }
}

#[test]
fn the_kinds_that_a_cell_narrows_to_are_ordinary_and_others_are_not() {
    for (state, kind, ordinary) in [
        (State::Executing, "progress", true),
        (State::Executing, "result", true),
        (State::Executing, "error", true),
        (State::Executing, "identity", false),
        (State::Executing, "resolution", false),
        (State::Escalated, "resolution", true),
        (State::Escalated, "progress", false),
        (State::Invited, "identity", true),
        (State::Invited, "progress", false),
    ] {
        let mut session = session_in(state);
        let taken = take(
            &mut session,
            &message(SELLER, "INFORM", json!({"informType": kind})),
        );
        assert_eq!(taken.departures.is_empty(), ordinary, "{state:?} {kind}");
    }
    let mut session = session_in(State::Conversing);
    let taken = take(&mut session, &invitation());
    assert_eq!(
        (taken.departures, taken.step),
        (vec![], None),
        "CONVERSING allows every PROPOSE"
    );
}

#[test]
fn a_refusal_of_order_moves_nothing_anywhere_and_departs_from_nothing() {
    for state in State::ALL {
        let mut session = session_in(*state);
        let refusal = message(
            SELLER,
            "REJECT",
            json!({"code": "invalid_state_transition"}),
        );
        let taken = take(&mut session, &refusal);
        assert_eq!(taken.meaning, MessageIntent::RefusesOrder);
        assert_eq!((taken.departures, taken.step), (vec![], None), "{state:?}");
        assert_eq!(session.standing(), PresumedState::At(*state));
    }
}

#[test]
fn nobody_answers_their_own_offer() {
    for (state, performative) in [
        (State::Invited, "ACCEPT"),
        (State::Invited, "REJECT"),
        (State::Agreeing, "ACCEPT"),
        (State::Agreeing, "REJECT"),
    ] {
        let mut session = session_in(state);
        let taken = take(&mut session, &message(BUYER, performative, json!({})));
        assert_eq!(
            taken.departures,
            [Departure::AnswersItself],
            "{state:?} {performative}"
        );
        assert_eq!(session.standing(), PresumedState::At(state));
    }
    let mut session = session_in(State::Agreeing);
    let taken = take(
        &mut session,
        &message(SELLER, "ACCEPT", json!({"commitmentId": "another"})),
    );
    assert_eq!(taken.departures, [Departure::OtherCommitment]);
    assert_eq!(session.standing(), PresumedState::At(State::Agreeing));
}

#[test]
fn a_precondition_that_can_be_seen_and_is_not_met_is_told_and_the_step_is_made() {
    let bare = |performative: &str| {
        let value = json!({"performative": performative, "sender": SELLER, "content": {}});
        AspMessage::read(value.as_object().unwrap()).unwrap()
    };
    for (state, performative, to) in [
        (State::Invited, "REJECT", State::Failed),
        (State::Conversing, "COMMIT", State::Agreeing),
        (State::Conversing, "CLOSE", State::Closed),
        (State::Conversing, "WITHDRAW", State::Closed),
        (State::Conversing, "ESCALATE", State::Escalated),
        (State::Agreeing, "REJECT", State::Conversing),
    ] {
        let mut session = session_in(state);
        let taken = take(&mut session, &bare(performative));
        assert_eq!(
            taken.departures,
            [Departure::Unmet],
            "{state:?} {performative}"
        );
        assert_eq!(session.standing(), PresumedState::At(to));
    }
    let mut session = session_in(State::Agreeing);
    assert_eq!(take(&mut session, &bare("COUNTER")).departures, []);
    let mut session = session_in(State::Conversing);
    assert_eq!(
        take(&mut session, &bare("PURPLE")).departures,
        [Departure::UnknownPerformative]
    );
}
