//! The document's rules for sessions, as data: its rows, the performatives of each state, its four timeouts, and where
//! its tables disagree.
//!
//! Responsibilities: the four tables, and lookups for the machine, the tests and the documentation. Not here: single
//! steps (`states`), which message means what (`session`).

use super::performatives::{Informs, Performative};
use super::states::{State, Trigger};

/// The states that a row leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowOrigin {
    /// This state.
    State(State),
    /// Any state that is not over: the document lets nothing leave those.
    Any,
}

/// The state that a row enters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowTarget {
    /// This state.
    State(State),
    /// The state before the escalation.
    Previous,
}

/// The place of a row in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// The transition table, with the row's number.
    Table(u8),
    /// The transition details, with the row's number, and the state diagram; not the table.
    Details(u8),
}

/// How much of a row's preconditions a listener can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreconditionView {
    /// All of them.
    All,
    /// All but this.
    Without(&'static str),
}

/// A row of the transition table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransitionRow {
    /// Its place in the document.
    pub place: Section,
    /// What it leaves.
    pub from: RowOrigin,
    /// What it enters.
    pub to: RowTarget,
    /// The triggers that move the session.
    pub on: &'static [Trigger],
    /// The precondition, in the document's words or fewer.
    pub precondition: &'static str,
    /// How much of the precondition can be seen.
    pub seen: PreconditionView,
}

const fn row(
    number: u8,
    from: RowOrigin,
    to: RowTarget,
    on: &'static [Trigger],
    precondition: &'static str,
    seen: PreconditionView,
) -> TransitionRow {
    TransitionRow {
        place: Section::Table(number),
        from,
        to,
        on,
        precondition,
        seen,
    }
}

const fn at(state: State) -> RowOrigin {
    RowOrigin::State(state)
}

const fn to(state: State) -> RowTarget {
    RowTarget::State(state)
}

/// The transition table, and the rows that only the details have.
pub const ROWS: &[TransitionRow] = &[
    row(
        1,
        at(State::Idle),
        to(State::Invited),
        &[Trigger::Invitation],
        "Valid DPoP proof, known recipient, accessible Agent Card",
        PreconditionView::Without("the proof and the card"),
    ),
    row(
        2,
        at(State::Invited),
        to(State::Introduced),
        &[Trigger::Introduction],
        "Sender trust score meets recipient threshold, Agent Cards verified",
        PreconditionView::Without("the verification"),
    ),
    row(
        3,
        at(State::Invited),
        to(State::Failed),
        &[Trigger::InvitationRejected, Trigger::InvitationExpired],
        "Rejection includes reason, or timeout exceeded",
        PreconditionView::All,
    ),
    row(
        4,
        at(State::Introduced),
        to(State::Conversing),
        &[Trigger::Conversation],
        "Both Agent Cards verified, session fully initialized",
        PreconditionView::Without("the verification"),
    ),
    row(
        5,
        at(State::Conversing),
        to(State::Agreeing),
        &[Trigger::Commitment],
        "Commitment terms well-formed, escrow amount valid (if specified)",
        PreconditionView::Without("the escrow's funds"),
    ),
    row(
        6,
        at(State::Conversing),
        to(State::Closed),
        &[Trigger::Close],
        "Close reason provided",
        PreconditionView::All,
    ),
    row(
        7,
        at(State::Conversing),
        to(State::Escalated),
        &[Trigger::Escalation],
        "Reason and urgency provided",
        PreconditionView::All,
    ),
    row(
        8,
        at(State::Conversing),
        to(State::Failed),
        &[Trigger::SessionExpired],
        "No response within configured timeout",
        PreconditionView::All,
    ),
    row(
        9,
        at(State::Agreeing),
        to(State::Executing),
        &[Trigger::CommitmentAccepted],
        "Accepting party acknowledges terms, escrow verified (if required)",
        PreconditionView::Without("the escrow"),
    ),
    row(
        10,
        at(State::Agreeing),
        to(State::Conversing),
        &[Trigger::CommitmentRejected, Trigger::CommitmentCountered],
        "Rejection includes reason",
        PreconditionView::All,
    ),
    row(
        11,
        at(State::Executing),
        to(State::Closed),
        &[Trigger::Fulfilled],
        "Both parties confirm completion",
        PreconditionView::Without("the other side's CLOSE, which may still come"),
    ),
    row(
        12,
        at(State::Executing),
        to(State::Escalated),
        &[Trigger::Escalation],
        "Reason and urgency provided",
        PreconditionView::All,
    ),
    row(
        13,
        at(State::Executing),
        to(State::Failed),
        &[Trigger::UnrecoverableError],
        "Error cannot be resolved through negotiation",
        PreconditionView::Without("whether it can't, where the message does not say"),
    ),
    row(
        14,
        at(State::Escalated),
        RowTarget::Previous,
        &[Trigger::Resolution],
        "Escalation handler provides resolution",
        PreconditionView::Without("whether the sender is the handler"),
    ),
    row(
        15,
        at(State::Escalated),
        to(State::Closed),
        &[Trigger::Close],
        "Escalation resolved with session termination",
        PreconditionView::All,
    ),
    row(
        16,
        RowOrigin::Any,
        to(State::Closed),
        &[Trigger::Withdrawal],
        "Reason provided",
        PreconditionView::All,
    ),
    row(
        17,
        RowOrigin::Any,
        to(State::Closed),
        &[Trigger::Close],
        "Close reason provided",
        PreconditionView::All,
    ),
    row(
        18,
        RowOrigin::Any,
        to(State::Failed),
        &[
            Trigger::InvitationExpired,
            Trigger::SessionExpired,
            Trigger::EscalationExpired,
            Trigger::ResponseExpired,
            Trigger::UnrecoverableError,
            Trigger::Violation,
        ],
        "Automatic transition, no message required",
        PreconditionView::Without("the hashes themselves; only that each names the one before"),
    ),
    TransitionRow {
        place: Section::Details(8),
        from: RowOrigin::Any,
        to: to(State::Escalated),
        on: &[Trigger::Escalation],
        precondition: "ESCALATE from any participant",
        seen: PreconditionView::All,
    },
];

/// Returns the row that moves a session, preferring the more specific one.
pub fn row_for(from: State, trigger: Trigger) -> Option<&'static TransitionRow> {
    if from.is_terminal() {
        return None;
    }
    ROWS.iter().find(|row| {
        let leaves = match row.from {
            RowOrigin::State(state) => state == from,
            RowOrigin::Any => true,
        };
        leaves && row.on.contains(&trigger)
    })
}

/// What a state allows to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowedPerformatives {
    /// This performative.
    Any(Performative),
    /// PROPOSE, and only as an invitation.
    Invitation,
    /// INFORM, and only of these kinds.
    Informs(&'static [Informs]),
}

use AllowedPerformatives::Any;
use Performative::{
    Accept, Clarify, Close, Commit, Counter, Delegate, Escalate, Inform, Observe, Propose, Query,
    Reject, Withdraw,
};

/// The performatives that each state allows.
pub const ALLOWED: &[(State, &[AllowedPerformatives])] = &[
    (State::Idle, &[AllowedPerformatives::Invitation]),
    (State::Invited, &[Any(Accept), Any(Reject)]),
    (
        State::Introduced,
        &[Any(Propose), Any(Query), Any(Inform), Any(Observe)],
    ),
    (
        State::Conversing,
        &[
            Any(Propose),
            Any(Accept),
            Any(Reject),
            Any(Counter),
            Any(Inform),
            Any(Query),
            Any(Clarify),
            Any(Commit),
            Any(Delegate),
            Any(Observe),
            Any(Withdraw),
            Any(Escalate),
            Any(Close),
        ],
    ),
    (
        State::Agreeing,
        &[
            Any(Accept),
            Any(Reject),
            Any(Counter),
            Any(Clarify),
            Any(Escalate),
            Any(Close),
        ],
    ),
    (
        State::Executing,
        &[
            AllowedPerformatives::Informs(&[Informs::Progress, Informs::Result, Informs::Error]),
            Any(Query),
            Any(Escalate),
            Any(Close),
        ],
    ),
    (
        State::Escalated,
        &[
            AllowedPerformatives::Informs(&[Informs::Resolution]),
            Any(Close),
        ],
    ),
    (State::Closed, &[]),
    (State::Failed, &[]),
];

/// A message as the table of allowed performatives sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageRow {
    /// Its performative.
    pub performative: Performative,
    /// The kind of an INFORM; `Other` for any other performative.
    pub informs: Informs,
    /// Whether it invites to a session.
    pub invites: bool,
}

/// Returns whether a state allows a message, by the table of allowed performatives alone.
pub fn is_allowed(state: State, act: MessageRow) -> bool {
    let row = ALLOWED.iter().find(|(of, _)| *of == state);
    let cells = row.map_or(&[][..], |(_, cells)| cells);
    cells.iter().any(|cell| match cell {
        Any(performative) => *performative == act.performative,
        AllowedPerformatives::Invitation => act.performative == Propose && act.invites,
        AllowedPerformatives::Informs(kinds) => {
            act.performative == Inform && kinds.contains(&act.informs)
        }
    })
}

/// Returns whether the transitions need a message that the table does not allow: both sides send their identity while
/// the session is INVITED (row 2).
pub fn is_needed(state: State, act: MessageRow) -> bool {
    state == State::Invited && act.performative == Inform && act.informs == Informs::Identity
}

super::performatives::names!(
    /// A timeout of a session.
    Timeout {
        /// For the answer to an invitation.
        Invitation = "invitation",
        /// For a response to a message.
        Response = "response",
        /// For the end of the session.
        Session = "session",
        /// For the resolution of an escalation.
        Escalation = "escalation",
    }
);

/// The document's definition of a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// The timeout.
    pub timeout: Timeout,
    /// The default, in seconds.
    pub default_seconds: Option<u64>,
    /// The field that overrides the default.
    pub field: &'static str,
    /// The state in which it runs; `None` means any state that is not over.
    pub within: Option<State>,
    /// The trigger of its expiry in the table of transitions.
    pub trigger: Trigger,
}

/// The four timeouts.
pub const WAITS: &[Wait] = &[
    Wait {
        timeout: Timeout::Invitation,
        default_seconds: Some(30),
        field: "PROPOSE validUntil",
        within: Some(State::Invited),
        trigger: Trigger::InvitationExpired,
    },
    Wait {
        timeout: Timeout::Response,
        default_seconds: None,
        field: "constraints.maxResponseTimeMs",
        within: None,
        trigger: Trigger::ResponseExpired,
    },
    Wait {
        timeout: Timeout::Session,
        default_seconds: Some(3600),
        field: "PROPOSE terms.proposed_duration",
        within: None,
        trigger: Trigger::SessionExpired,
    },
    Wait {
        timeout: Timeout::Escalation,
        default_seconds: Some(3600),
        field: "ESCALATE timeout",
        within: Some(State::Escalated),
        trigger: Trigger::EscalationExpired,
    },
];

/// Returns the document's definition of a timeout.
pub fn wait(timeout: Timeout) -> &'static Wait {
    // A test ensures that the table has every timeout, in the order of the enum.
    &WAITS[timeout as usize]
}
