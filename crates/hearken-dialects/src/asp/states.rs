//! The nine states of a session and every step between them, made out of the rows of the document.
//!
//! Responsibilities: the states, what may happen to them, and the table of single steps that the rows of `rules` mean.
//! Not here: the rows themselves (`rules`), which message means which step (`session`).
//!
//! Mental model: the document's rows say "any" and "the previous state"; a machine wants single steps. They are worked
//! out once, when the program is built, with the document's two reservations: a row for one state comes before a row for
//! any, and nothing ever leaves CLOSED or FAILED.

use crate::protocol::{Machine, Transition};

use super::rules::{From, ROWS, To};
use super::words::names;

names!(
    /// Says where a session is.
    State {
        /// No session exists.
        Idle = "IDLE",
        /// An invitation is out.
        Invited = "INVITED",
        /// Both sides have said who they are.
        Introduced = "INTRODUCED",
        /// They negotiate.
        Conversing = "CONVERSING",
        /// One has committed itself, and the other has not answered yet.
        Agreeing = "AGREEING",
        /// A binding agreement is being fulfilled.
        Executing = "EXECUTING",
        /// The session waits for a human or a higher authority.
        Escalated = "ESCALATED",
        /// It ended normally.
        Closed = "CLOSED",
        /// It ended abnormally.
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
    /// Says what moves a session, as the document's rows name it.
    Trigger {
        /// PROPOSE with the type `session-invitation`.
        Invitation = "invitation",
        /// ACCEPT of the invitation, and an identity of both sides.
        Introduction = "introduction",
        /// REJECT of the invitation.
        InvitationRejected = "invitation rejected",
        /// The time of the invitation is over.
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
        /// CLOSE after the result was told.
        Fulfilled = "CLOSE after the result",
        /// CLOSE.
        Close = "CLOSE",
        /// ESCALATE.
        Escalation = "ESCALATE",
        /// INFORM with the type `resolution`.
        Resolution = "resolution",
        /// WITHDRAW.
        Withdrawal = "WITHDRAW",
        /// The time of the session is over.
        SessionExpired = "session expired",
        /// The time of the escalation is over.
        EscalationExpired = "escalation expired",
        /// The time for a response is over.
        ResponseExpired = "response expired",
        /// INFORM of an error that nothing mends.
        UnrecoverableError = "unrecoverable error",
        /// Whoever runs the session says that the protocol was broken.
        Violation = "protocol violation",
    }
);

/// What happens to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happens {
    /// What a row names.
    By(Trigger),
    /// A resolution comes, which leads back to the state before the escalation.
    Back(State),
    /// Whoever runs the session says in which state it is.
    Told(State),
}

type Step = Transition<State, Happens>;

/// The states that a session can still leave.
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

/// More steps than the rows mean; the build fails where it is too few.
const ROOM: usize = 256;

struct Steps {
    steps: [Step; ROOM],
    len: usize,
}

impl Steps {
    /// Adds a step, unless the state already takes the event.
    const fn add(mut self, from: State, event: Happens, to: State) -> Self {
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

const fn same(one: Happens, other: Happens) -> bool {
    match (one, other) {
        (Happens::By(one), Happens::By(other)) => one as u8 == other as u8,
        (Happens::Back(one), Happens::Back(other)) | (Happens::Told(one), Happens::Told(other)) => {
            one as u8 == other as u8
        }
        (Happens::By(_), Happens::Back(_) | Happens::Told(_))
        | (Happens::Back(_), Happens::By(_) | Happens::Told(_))
        | (Happens::Told(_), Happens::By(_) | Happens::Back(_)) => false,
    }
}

const fn expand() -> Steps {
    let none = Transition {
        from: State::Failed,
        event: Happens::Told(State::Failed),
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
                    From::State(state) => state as u8 == ALIVE[at] as u8,
                    From::Any => true,
                };
                if leaves {
                    steps = match ROWS[row].to {
                        To::State(to) => steps.add(ALIVE[at], Happens::By(trigger), to),
                        To::Previous => back(steps, ALIVE[at]),
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
        steps = steps.add(from, Happens::Back(BEFORE[at]), BEFORE[at]);
        at += 1;
    }
    steps
}

/// Lets whoever runs the session say where it is; that is in no row, and ends where a session ends.
const fn told(mut steps: Steps) -> Steps {
    let mut from = 0;
    while from < ALIVE.len() {
        let mut to = 0;
        while to < State::ALL.len() {
            steps = steps.add(ALIVE[from], Happens::Told(State::ALL[to]), State::ALL[to]);
            to += 1;
        }
        from += 1;
    }
    steps
}

static STEPS: Steps = expand();

/// Everything that may happen.
const EVENTS: [Happens; Trigger::ALL.len() + BEFORE.len() + State::ALL.len()] = {
    let mut events =
        [Happens::Told(State::Idle); Trigger::ALL.len() + BEFORE.len() + State::ALL.len()];
    let (mut at, mut of) = (0, 0);
    while of < Trigger::ALL.len() {
        events[at] = Happens::By(Trigger::ALL[of]);
        (at, of) = (at + 1, of + 1);
    }
    of = 0;
    while of < BEFORE.len() {
        events[at] = Happens::Back(BEFORE[of]);
        (at, of) = (at + 1, of + 1);
    }
    of = 0;
    while of < State::ALL.len() {
        events[at] = Happens::Told(State::ALL[of]);
        (at, of) = (at + 1, of + 1);
    }
    events
};

impl Machine for State {
    type Event = Happens;
    const NAME: &'static str = "ASP session";
    const INITIAL: Self = Self::Idle;
    const STATES: &'static [Self] = Self::ALL;
    const EVENTS: &'static [Happens] = &EVENTS;

    fn valid_transitions() -> &'static [Step] {
        STEPS.steps.get(..STEPS.len).unwrap_or_default()
    }

    fn label(self) -> &'static str {
        self.name()
    }

    fn event_label(event: Happens) -> &'static str {
        match event {
            Happens::By(trigger) => trigger.name(),
            Happens::Back(_) => Trigger::Resolution.name(),
            Happens::Told(_) => "session_state",
        }
    }
}
