//! The nine states of a session and every step between them, derived from the rows of the document.
//!
//! Responsibilities: the states, the events, and the table of single steps that follows from the rows of
//! `session_rules`. Not here: the rows themselves (`session_rules`), which message means which step (`session`).
//!
//! Mental model: the document's rows say "any" and "the previous state"; a machine needs single steps. They are
//! expanded at compile time, with the document's two reservations: a row for one state takes precedence over a row for
//! any, and nothing ever leaves CLOSED or FAILED.

use crate::protocol::{Machine, Transition};

use super::performatives::names;
use super::session_rules::{ROWS, RowOrigin, RowTarget};

names!(
    /// The state of a session.
    State {
        /// No session exists.
        Idle = "IDLE",
        /// An invitation was sent.
        Invited = "INVITED",
        /// Both sides have stated their identity.
        Introduced = "INTRODUCED",
        /// The sides negotiate.
        Conversing = "CONVERSING",
        /// One side has committed itself, and the other has not answered yet.
        Agreeing = "AGREEING",
        /// A binding agreement is being fulfilled.
        Executing = "EXECUTING",
        /// The session waits for a human or a higher authority.
        Escalated = "ESCALATED",
        /// The session ended normally.
        Closed = "CLOSED",
        /// The session ended abnormally.
        Failed = "FAILED",
    }
);

impl State {
    /// Returns whether the session is over.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Closed | Self::Failed)
    }
}

names!(
    /// The triggers of the document's rows.
    Trigger {
        /// PROPOSE with the type `session-invitation`.
        Invitation = "invitation",
        /// ACCEPT of the invitation, and an identity from both sides.
        Introduction = "introduction",
        /// REJECT of the invitation.
        InvitationRejected = "invitation rejected",
        /// The invitation has expired.
        InvitationExpired = "invitation expired",
        /// PROPOSE, QUERY, INFORM or OBSERVE.
        Conversation = "conversation",
        /// COMMIT.
        Commitment = "COMMIT",
        /// ACCEPT of the commitment.
        CommitmentAccepted = "commitment accepted",
        /// REJECT of the commitment.
        CommitmentRejected = "commitment rejected",
        /// COUNTER of the commitment.
        CommitmentCountered = "commitment countered",
        /// CLOSE after the result was reported.
        Fulfilled = "CLOSE after the result",
        /// CLOSE.
        Close = "CLOSE",
        /// ESCALATE.
        Escalation = "ESCALATE",
        /// INFORM with the type `resolution`.
        Resolution = "resolution",
        /// WITHDRAW.
        Withdrawal = "WITHDRAW",
        /// The session's time is over.
        SessionExpired = "session expired",
        /// The escalation's time is over.
        EscalationExpired = "escalation expired",
        /// The time for a response is over.
        ResponseExpired = "response expired",
        /// INFORM of an unrecoverable error.
        UnrecoverableError = "unrecoverable error",
        /// The session's server reports a breach of the protocol.
        Violation = "protocol violation",
    }
);

/// An event in the life of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionOccurrence {
    /// A row's trigger.
    By(Trigger),
    /// A resolution, which leads back to the state before the escalation.
    Back(State),
    /// The session's server reports this state.
    Told(State),
}

type StateStep = Transition<State, SessionOccurrence>;

/// The states that a session can leave.
const ALIVE: [State; 7] = [
    State::Idle,
    State::Invited,
    State::Introduced,
    State::Conversing,
    State::Agreeing,
    State::Executing,
    State::Escalated,
];

/// The states that an escalation can return to.
const BEFORE: [State; 6] = [
    State::Idle,
    State::Invited,
    State::Introduced,
    State::Conversing,
    State::Agreeing,
    State::Executing,
];

/// An upper bound on the number of steps; the build fails if it is too low.
const ROOM: usize = 256;

struct Steps {
    steps: [StateStep; ROOM],
    len: usize,
}

impl Steps {
    /// Adds a step, unless the state already handles the event.
    const fn add(mut self, from: State, event: SessionOccurrence, to: State) -> Self {
        let mut at = 0;
        while at < self.len {
            let step = &self.steps[at];
            if step.from as u8 == from as u8 && same(step.event, event) {
                return self;
            }
            at += 1;
        }
        self.steps[self.len] = Transition { from, event, to };
        self.len += 1;
        self
    }
}

const fn same(one: SessionOccurrence, other: SessionOccurrence) -> bool {
    match (one, other) {
        (SessionOccurrence::By(one), SessionOccurrence::By(other)) => one as u8 == other as u8,
        (SessionOccurrence::Back(one), SessionOccurrence::Back(other))
        | (SessionOccurrence::Told(one), SessionOccurrence::Told(other)) => {
            one as u8 == other as u8
        }
        (SessionOccurrence::By(_), SessionOccurrence::Back(_) | SessionOccurrence::Told(_))
        | (SessionOccurrence::Back(_), SessionOccurrence::By(_) | SessionOccurrence::Told(_))
        | (SessionOccurrence::Told(_), SessionOccurrence::By(_) | SessionOccurrence::Back(_)) => {
            false
        }
    }
}

const fn expand() -> Steps {
    let none = Transition {
        from: State::Failed,
        event: SessionOccurrence::Told(State::Failed),
        to: State::Failed,
    };
    let mut steps = Steps {
        steps: [none; ROOM],
        len: 0,
    };
    let mut row = 0;
    while row < ROWS.len() {
        let mut on = 0;
        while on < ROWS[row].on.len() {
            let trigger = ROWS[row].on[on];
            let mut at = 0;
            while at < ALIVE.len() {
                let leaves = match ROWS[row].from {
                    RowOrigin::State(state) => state as u8 == ALIVE[at] as u8,
                    RowOrigin::Any => true,
                };
                if leaves {
                    steps = match ROWS[row].to {
                        RowTarget::State(to) => {
                            steps.add(ALIVE[at], SessionOccurrence::By(trigger), to)
                        }
                        RowTarget::Previous => back(steps, ALIVE[at]),
                    };
                }
                at += 1;
            }
            on += 1;
        }
        row += 1;
    }
    told(steps)
}

const fn back(mut steps: Steps, from: State) -> Steps {
    let mut at = 0;
    while at < BEFORE.len() {
        steps = steps.add(from, SessionOccurrence::Back(BEFORE[at]), BEFORE[at]);
        at += 1;
    }
    steps
}

/// Adds the reports of the session's server, which are in no row; they cannot leave a final state either.
const fn told(mut steps: Steps) -> Steps {
    let mut from = 0;
    while from < ALIVE.len() {
        let mut to = 0;
        while to < State::ALL.len() {
            steps = steps.add(
                ALIVE[from],
                SessionOccurrence::Told(State::ALL[to]),
                State::ALL[to],
            );
            to += 1;
        }
        from += 1;
    }
    steps
}

static STEPS: Steps = expand();

/// Every possible event.
const EVENTS: [SessionOccurrence; Trigger::ALL.len() + BEFORE.len() + State::ALL.len()] = {
    let mut events = [SessionOccurrence::Told(State::Idle);
        Trigger::ALL.len() + BEFORE.len() + State::ALL.len()];
    let (mut at, mut of) = (0, 0);
    while of < Trigger::ALL.len() {
        events[at] = SessionOccurrence::By(Trigger::ALL[of]);
        (at, of) = (at + 1, of + 1);
    }
    of = 0;
    while of < BEFORE.len() {
        events[at] = SessionOccurrence::Back(BEFORE[of]);
        (at, of) = (at + 1, of + 1);
    }
    of = 0;
    while of < State::ALL.len() {
        events[at] = SessionOccurrence::Told(State::ALL[of]);
        (at, of) = (at + 1, of + 1);
    }
    events
};

impl Machine for State {
    type Event = SessionOccurrence;
    const NAME: &'static str = "ASP session";
    const INITIAL: Self = Self::Idle;
    const STATES: &'static [Self] = Self::ALL;
    const EVENTS: &'static [SessionOccurrence] = &EVENTS;

    fn valid_transitions() -> &'static [StateStep] {
        STEPS.steps.get(..STEPS.len).unwrap_or_default()
    }

    fn label(self) -> &'static str {
        self.name()
    }

    fn event_label(event: SessionOccurrence) -> &'static str {
        match event {
            SessionOccurrence::By(trigger) => trigger.name(),
            SessionOccurrence::Back(_) => Trigger::Resolution.name(),
            SessionOccurrence::Told(_) => "session_state",
        }
    }
}
