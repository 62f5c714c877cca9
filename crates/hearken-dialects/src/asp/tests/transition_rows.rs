//! The transition table, row by row.

use serde_json::json;

use crate::asp::session_rules::{ROWS, RowOrigin, RowTarget, Section};
use crate::asp::states::{SessionOccurrence, Trigger};
use crate::protocol::Machine;

use super::*;

/// The document's table: number, from, to, and the words of its trigger.
const TABLE: &str = "\
1|IDLE|INVITED|PROPOSE with type: session-invitation
2|INVITED|INTRODUCED|ACCEPT + both parties exchange INFORM with informType: identity
3|INVITED|FAILED|REJECT, or invitation timeout expires
4|INTRODUCED|CONVERSING|Any conversational performative (PROPOSE, QUERY, INFORM, OBSERVE)
5|CONVERSING|AGREEING|COMMIT
6|CONVERSING|CLOSED|CLOSE
7|CONVERSING|ESCALATED|ESCALATE
8|CONVERSING|FAILED|Session timeout expires
9|AGREEING|EXECUTING|ACCEPT of the pending COMMIT
10|AGREEING|CONVERSING|REJECT or COUNTER of the pending COMMIT
11|EXECUTING|CLOSED|CLOSE after obligations fulfilled
12|EXECUTING|ESCALATED|ESCALATE
13|EXECUTING|FAILED|Unrecoverable error
14|ESCALATED|(previous state)|Resolution received
15|ESCALATED|CLOSED|CLOSE
16|Any|CLOSED|WITHDRAW
17|Any|CLOSED|CLOSE
18|Any|FAILED|Timeout, protocol violation, hash chain integrity failure";

fn rows() -> impl Iterator<Item = (u8, &'static str, &'static str, &'static str)> {
    TABLE.lines().map(|line| {
        let mut cells = line.split('|');
        let mut next = || cells.next().unwrap();
        (next().parse().unwrap(), next(), next(), next())
    })
}

/// Runs one row by messages; returns where it leads, and the row that the machine reports.
fn run(from: State, message: &AspMessage) -> (State, Option<Section>) {
    let mut session = session_in(from);
    let taken = take(&mut session, message);
    let row = taken.step.and_then(|step| step.row);
    (session.standing().state(), row.map(|row| row.place))
}

#[test]
fn the_rows_are_the_documents() {
    let of = |name: &str| {
        if name == "Any" {
            RowOrigin::Any
        } else {
            RowOrigin::State(state_named(name))
        }
    };
    let to = |name: &str| match name {
        "(previous state)" => RowTarget::Previous,
        name => RowTarget::State(state_named(name)),
    };
    let wanted: Vec<_> = rows()
        .map(|(n, a, b, _)| (Section::Table(n), of(a), to(b)))
        .collect();
    let have: Vec<_> = ROWS
        .iter()
        .map(|row| (row.place, row.from, row.to))
        .collect();
    assert_eq!(have[..18], wanted);
    // The details and the diagram let any state escalate.
    assert_eq!(
        have[18..],
        [(
            Section::Details(8),
            RowOrigin::Any,
            RowTarget::State(State::Escalated)
        )]
    );
}

#[test]
fn rows_1_to_15_move_the_session_by_their_messages() {
    let final_error = || {
        message(
            SELLER,
            "INFORM",
            json!({"informType": "error", "recoverable": false}),
        )
    };
    let cases: &[(u8, &str, AspMessage)] = &[
        (1, "IDLE", invitation()),
        (3, "INVITED", message(SELLER, "REJECT", json!({}))),
        (4, "INTRODUCED", message(SELLER, "PROPOSE", json!({}))),
        (4, "INTRODUCED", message(SELLER, "QUERY", json!({}))),
        (4, "INTRODUCED", message(SELLER, "INFORM", json!({}))),
        (4, "INTRODUCED", message(SELLER, "OBSERVE", json!({}))),
        (5, "CONVERSING", message(SELLER, "COMMIT", json!({}))),
        (6, "CONVERSING", message(SELLER, "CLOSE", json!({}))),
        (7, "CONVERSING", message(SELLER, "ESCALATE", json!({}))),
        (9, "AGREEING", message(SELLER, "ACCEPT", json!({}))),
        (10, "AGREEING", message(SELLER, "REJECT", json!({}))),
        (10, "AGREEING", message(SELLER, "COUNTER", json!({}))),
        (12, "EXECUTING", message(SELLER, "ESCALATE", json!({}))),
        (13, "EXECUTING", final_error()),
        (15, "ESCALATED", message(SELLER, "CLOSE", json!({}))),
    ];
    for (number, from, message) in cases {
        let (_, row_from, to, _) = rows().find(|(n, ..)| n == number).unwrap();
        assert_eq!(*from, row_from, "the case is the row's");
        assert_eq!(
            run(state_named(from), message),
            (state_named(to), Some(Section::Table(*number))),
            "row {number}: {message:?}"
        );
    }
}

#[test]
fn row_2_wants_the_accept_and_an_identity_of_both_in_any_order() {
    let parts = [
        message(SELLER, "ACCEPT", json!({})),
        identity(BUYER),
        identity(SELLER),
    ];
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let mut session = session_in(State::Invited);
        for (done, part) in order.iter().enumerate() {
            assert_eq!(
                session.standing(),
                PresumedState::At(State::Invited),
                "{order:?} after {done}"
            );
            let taken = take(&mut session, &parts[*part]);
            assert_eq!(taken.departures, [], "identities in INVITED are ordinary");
            assert_eq!(taken.step.is_some(), done == 2);
        }
        assert_eq!(session.standing(), PresumedState::At(State::Introduced));
    }
    let mut session = session_in(State::Invited);
    for part in [&parts[0], &parts[1], &parts[1]] {
        take(&mut session, part);
    }
    assert_eq!(
        session.standing(),
        PresumedState::At(State::Invited),
        "twice the same identity is one"
    );
}

#[test]
fn row_11_wants_the_result_first() {
    let mut session = session_in(State::Executing);
    take(
        &mut session,
        &message(SELLER, "INFORM", json!({"informType": "result"})),
    );
    let taken = take(
        &mut session,
        &message(SELLER, "CLOSE", json!({"reason": "done"})),
    );
    assert_eq!(taken.step.unwrap().row.unwrap().place, Section::Table(11));
    assert_eq!(
        run(State::Executing, &message(SELLER, "CLOSE", json!({}))).1,
        Some(Section::Table(17))
    );
}

#[test]
fn row_14_returns_to_the_state_before_whichever_it_was() {
    let resolution = message(
        "agent://boss.example/human",
        "INFORM",
        json!({"informType": "resolution"}),
    );
    for state in [
        "IDLE",
        "INVITED",
        "INTRODUCED",
        "CONVERSING",
        "AGREEING",
        "EXECUTING",
    ] {
        let mut session = session_in(state_named(state));
        take(&mut session, &message(SELLER, "ESCALATE", json!({})));
        assert_eq!(
            session.standing(),
            PresumedState::At(State::Escalated),
            "{state}"
        );
        // A second escalation does not change the way back.
        take(&mut session, &message(BUYER, "ESCALATE", json!({})));
        let taken = take(&mut session, &resolution);
        assert_eq!(session.standing(), PresumedState::At(state_named(state)));
        assert_eq!(taken.step.unwrap().row.unwrap().place, Section::Table(14));
    }
    // What waited for an answer before still waits.
    let mut session = session_in(State::Agreeing);
    for it in [
        message(SELLER, "ESCALATE", json!({})),
        resolution,
        message(SELLER, "ACCEPT", json!({})),
    ] {
        take(&mut session, &it);
    }
    assert_eq!(session.standing(), PresumedState::At(State::Executing));
}

#[test]
fn rows_16_to_18_leave_every_state_that_is_not_over() {
    let triggers = [
        Trigger::InvitationExpired,
        Trigger::SessionExpired,
        Trigger::EscalationExpired,
        Trigger::ResponseExpired,
        Trigger::UnrecoverableError,
        Trigger::Violation,
    ];
    for state in State::ALL {
        let over = state.is_terminal();
        for trigger in triggers {
            let wanted = (!over).then_some(State::Failed);
            assert_eq!(
                state.transition(SessionOccurrence::By(trigger)).ok(),
                wanted,
                "{state:?} {trigger:?}"
            );
        }
        for performative in ["WITHDRAW", "CLOSE"] {
            let (to, row) = run(*state, &message(SELLER, performative, json!({})));
            assert_eq!(
                to,
                if over { *state } else { State::Closed },
                "{state:?} {performative}"
            );
            assert_eq!(row.is_some(), !over);
        }
        assert_eq!(
            run(*state, &message(BUYER, "WITHDRAW", json!({}))).1,
            (!over).then_some(Section::Table(16))
        );
    }
}

#[test]
fn every_single_step_is_one_of_a_row() {
    for step in State::valid_transitions() {
        let meant = ROWS.iter().any(|row| {
            let leaves = match row.from {
                RowOrigin::State(from) => from == step.from,
                RowOrigin::Any => !step.from.is_terminal(),
            };
            leaves
                && match (step.event, row.to) {
                    (SessionOccurrence::By(trigger), RowTarget::State(to)) => {
                        row.on.contains(&trigger) && to == step.to
                    }
                    (SessionOccurrence::Back(state), RowTarget::Previous) => state == step.to,
                    (SessionOccurrence::Told(state), _) => state == step.to,
                    (SessionOccurrence::By(_), RowTarget::Previous)
                    | (SessionOccurrence::Back(_), RowTarget::State(_)) => false,
                }
        });
        assert!(meant, "{step:?}");
    }
    for state in [State::Closed, State::Failed] {
        assert!(state.is_final());
        assert!(
            State::EVENTS
                .iter()
                .all(|event| !state.can_transition(*event))
        );
    }
}
