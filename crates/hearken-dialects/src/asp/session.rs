//! One session as somebody sees it who only listens.
//!
//! Responsibilities: what each message means in its state, the step that follows, what departs from the document, and the
//! four waits. Not here: the tables (`rules`, `states`), how anything is told (`translate`).
//!
//! Mental model: two of the document's tables judge every message. The table of transitions moves the session; the table
//! of allowed performatives only forbids. Where one allows what the other does not, the session moves and the
//! disagreement is told. What neither allows moves nothing. Nothing ever leaves CLOSED or FAILED. A wait whose end is only
//! counted here makes the session *probably* FAILED: the next message proves that it lives.

use std::time::Duration;

use crate::protocol::{Machine, Now, StateObserver, Unobserved};

use super::chain::{Break, Chain, Placed};
use super::meaning::is_met;
use super::message::Message;
use super::rules::{self, Act, Row, Timeout, WAITS};
use super::states::{Happens, State, Trigger};
use super::waits::{Due, default_of};
use super::words::{Informs, Performative};

/// How many parties of a session are known by name: two negotiate, others watch.
const MOST_PARTIES: usize = 8;

/// Where a session is believed to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Messages say so.
    At(State),
    /// A wait ended by our own count, so it has probably failed.
    ProbablyFailed {
        /// The state that messages left it in.
        was: State,
        /// Which wait.
        by: Timeout,
    },
}

impl Standing {
    /// Returns the state that messages left the session in.
    pub const fn state(self) -> State {
        match self {
            Self::At(state) | Self::ProbablyFailed { was: state, .. } => state,
        }
    }
}

/// Names a departure from the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Departure {
    /// The state allows no such message, and it moves nothing.
    Illegal(State),
    /// The session moves by one table, and the other does not allow the message.
    TablesDisagree(State),
    /// A message comes after the end.
    AfterEnd(State),
    /// It answers what its own sender offered.
    AnswersItself,
    /// It accepts another commitment than the one that waits.
    OtherCommitment,
    /// What must be true for its step is not.
    Unmet,
    /// The performative is none of the thirteen.
    UnknownPerformative,
    /// Its place in the chain is wrong.
    Chain(Break),
    /// The response is late: by one table it fails the session, by another the waiting side may go on.
    ResponseLate,
    /// Whoever runs the session names another state than its messages do.
    ToldOtherwise(State),
}

/// One step that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    /// The state that was left.
    pub from: State,
    /// What moved it.
    pub by: Happens,
    /// The state that was entered.
    pub to: State,
    /// The row that says so; absent where only the session's server does.
    pub row: Option<&'static Row>,
}

/// What a message is to its session beyond a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// What its performative says.
    Plain,
    /// It invites.
    Invites,
    /// One side says who it is; the session waits for the other, or for the ACCEPT.
    Introduces,
    /// It refuses a message that was out of order.
    RefusesOrder,
    /// It accepts the commitment, which binds from now on.
    Binds,
    /// It closes before the result was told, alone: perhaps a breach.
    PerhapsBreach,
    /// It is the other side's CLOSE of a mutual close.
    ConfirmsClose,
}

/// What came of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// What it is.
    pub meaning: Meaning,
    /// The step, where it made one.
    pub step: Option<Move>,
    /// What departs from the document, in the order in which it is found.
    pub departures: Vec<Departure>,
}

/// What came of the end of a wait, by our own count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expired {
    /// Which wait.
    pub timeout: Timeout,
    /// The state that it was waited in.
    pub state: State,
    /// The step that the document says follows.
    pub row: &'static Row,
    /// What departs from the document by that.
    pub departure: Option<Departure>,
}

/// Follows one session.
#[derive(Debug, Clone)]
pub struct Negotiation {
    pub(super) standing: Standing,
    /// The state before the escalation.
    pub(super) before: State,
    pub(super) inviter: Option<String>,
    pub(super) accepted: bool,
    pub(super) introduced: Vec<String>,
    pub(super) commitment: Option<Commitment>,
    pub(super) result_told: bool,
    pub(super) closed_by: Vec<String>,
    pub(super) lasts: Option<Duration>,
    pub(super) waits: [Option<Due>; WAITS.len()],
    pub(super) chain: Chain,
    /// The state that the server's word left, until the message comes that it may have run ahead of.
    pub(super) told_from: Option<State>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Commitment {
    pub(super) by: String,
    pub(super) ids: Vec<String>,
}

impl Default for Negotiation {
    fn default() -> Self {
        Self {
            standing: Standing::At(State::INITIAL),
            before: State::Conversing,
            inviter: None,
            accepted: false,
            introduced: Vec::new(),
            commitment: None,
            result_told: false,
            closed_by: Vec::new(),
            lasts: None,
            waits: [const { None }; WAITS.len()],
            chain: Chain::default(),
            told_from: None,
        }
    }
}

impl Negotiation {
    /// Begins with a session in its middle, of which the first message that is heard is this one: in the state that allows
    /// it, which is CONVERSING for all that says nothing else.
    pub fn joined(first: &Message) -> Self {
        let state = match first.informs {
            Informs::Identity => State::Invited,
            Informs::Progress | Informs::Result | Informs::Error => State::Executing,
            Informs::Resolution => State::Escalated,
            Informs::Other => State::Conversing,
        };
        Self::joined_in(state)
    }

    /// Begins with a session in its middle, in the state that whoever runs it says.
    pub fn joined_in(state: State) -> Self {
        Self {
            standing: Standing::At(state),
            ..Self::default()
        }
    }

    /// Returns where the session is believed to be.
    pub fn standing(&self) -> Standing {
        self.standing
    }

    /// Returns the state that an escalation returns to.
    pub fn before(&self) -> State {
        self.before
    }

    /// Returns the number that a sender's next message has.
    pub fn next_number(&self, sender: &str) -> u64 {
        self.chain.next_number(sender)
    }

    /// Returns the hash of the last message.
    pub fn last_hash(&self) -> Option<&str> {
        self.chain.last()
    }

    /// Takes the next message; nothing where it came before.
    pub fn take(
        &mut self,
        message: &Message,
        now: Now,
        observer: &mut dyn StateObserver<State>,
    ) -> Option<Taken> {
        let mut departures = match self.chain.place(message) {
            Placed::Again => return None,
            Placed::New(breaks) => breaks.into_iter().map(Departure::Chain).collect(),
        };
        let state = self.standing.state();
        // Whatever a wait made of it, it lives.
        self.standing = Standing::At(state);
        self.answered(&message.sender);
        let (meaning, step) = match self.judge_behind(message, now) {
            Some(judged) => judged,
            None => self.judge(message, now, &mut departures, observer),
        };
        if let Some(limit) = message.respond_within
            && !self.standing.state().is_terminal()
        {
            self.begin(Timeout::Response, now.monotonic + limit, &message.sender);
        }
        Some(Taken {
            meaning,
            step,
            departures,
        })
    }

    /// Judges a message whose step the server told before it: from the state before, where it then leads to the one that
    /// the session is in. The step itself was observed when it was told.
    fn judge_behind(&mut self, message: &Message, now: Now) -> Option<(Meaning, Option<Move>)> {
        let from = self.told_from.take()?;
        let mut behind = self.clone();
        behind.standing = Standing::At(from);
        let mut departures = Vec::new();
        let judged = behind.judge(message, now, &mut departures, &mut Unobserved);
        let is_it = judged.1.is_some() && departures.is_empty() && behind.standing == self.standing;
        is_it.then(|| {
            *self = behind;
            judged
        })
    }

    fn judge(
        &mut self,
        message: &Message,
        now: Now,
        departures: &mut Vec<Departure>,
        observer: &mut dyn StateObserver<State>,
    ) -> (Meaning, Option<Move>) {
        let state = self.standing.state();
        let Some(performative) = message.performative else {
            departures.push(if state.is_terminal() {
                Departure::AfterEnd(state)
            } else {
                Departure::UnknownPerformative
            });
            return (Meaning::Plain, None);
        };
        if message.refuses_order() {
            return (Meaning::RefusesOrder, None);
        }
        if state.is_terminal() {
            let confirms = state == State::Closed
                && performative == Performative::Close
                && !self.closed_by.is_empty()
                && !self.closed_by.contains(&message.sender);
            if confirms {
                remember(&mut self.closed_by, &message.sender);
                return (Meaning::ConfirmsClose, None);
            }
            departures.push(Departure::AfterEnd(state));
            return (Meaning::Plain, None);
        }
        let act = Act {
            performative,
            informs: message.informs,
            invites: message.invites(),
        };
        let allowed = rules::is_allowed(state, act) || rules::is_needed(state, act);
        let read = match self.read(message, performative) {
            Ok(read) => read,
            Err(departure) => {
                departures.push(departure);
                return (Meaning::Plain, None);
            }
        };
        let step = read
            .happens
            .and_then(|happens| self.step(happens, observer));
        match (allowed, step.is_some() || read.is_part) {
            (true, _) => {}
            (false, true) => departures.push(Departure::TablesDisagree(state)),
            (false, false) => departures.push(Departure::Illegal(state)),
        }
        if let Some(step) = &step
            && !is_met(step, message)
        {
            departures.push(Departure::Unmet);
        }
        self.note(message, performative, step.as_ref(), now);
        (read.meaning, step)
    }

    /// Makes a step where the table has it.
    fn step(&mut self, happens: Happens, observer: &mut dyn StateObserver<State>) -> Option<Move> {
        let from = self.standing.state();
        let to = from.observed(happens, observer).ok()?;
        // A second escalation leaves the way back as it is.
        if to == State::Escalated && from != State::Escalated {
            self.before = from;
        }
        self.standing = Standing::At(to);
        if to != State::Agreeing && to != State::Escalated {
            self.commitment = None;
        }
        let row = match happens {
            Happens::By(trigger) => rules::row_for(from, trigger),
            Happens::Back(_) => rules::row_for(from, Trigger::Resolution),
            Happens::Told(_) => None,
        };
        Some(Move {
            from,
            by: happens,
            to,
            row,
        })
    }

    /// Remembers what later messages are judged by, and begins and ends waits.
    fn note(
        &mut self,
        message: &Message,
        performative: Performative,
        step: Option<&Move>,
        now: Now,
    ) {
        let here = now.monotonic;
        match performative {
            Performative::Close => remember(&mut self.closed_by, &message.sender),
            Performative::Inform if message.informs == Informs::Result => {
                self.result_told |= self.standing.state() == State::Executing;
            }
            Performative::Propose
            | Performative::Accept
            | Performative::Reject
            | Performative::Counter
            | Performative::Inform
            | Performative::Query
            | Performative::Clarify
            | Performative::Commit
            | Performative::Delegate
            | Performative::Observe
            | Performative::Withdraw
            | Performative::Escalate => {}
        }
        let Some(step) = step else { return };
        self.waits_after(step, here);
        match step.to {
            State::Invited if step.from == State::Idle => {
                self.inviter = Some(message.sender.clone());
                self.lasts = message.body.lasts;
                let said = message.body.valid_until.zip(message.stamp);
                let said = said
                    .and_then(|(until, from)| Duration::try_from(until.duration_since(from)).ok());
                if let Some(limit) = said.or_else(|| default_of(Timeout::Invitation)) {
                    self.begin(Timeout::Invitation, here + limit, "");
                }
            }
            State::Agreeing if step.from == State::Conversing => {
                self.commitment = Some(Commitment {
                    by: message.sender.clone(),
                    ids: message.body.subject_ids.clone(),
                });
            }
            State::Escalated => {
                let limit = message
                    .body
                    .timeout
                    .or_else(|| default_of(Timeout::Escalation));
                if let Some(limit) = limit {
                    self.begin(Timeout::Escalation, here + limit, "");
                }
            }
            State::Idle
            | State::Invited
            | State::Introduced
            | State::Conversing
            | State::Agreeing
            | State::Executing
            | State::Closed
            | State::Failed => {}
        }
    }

    /// Takes what whoever runs the session says of its state; nothing where that is no news.
    pub fn told(
        &mut self,
        state: State,
        now: Now,
        observer: &mut dyn StateObserver<State>,
    ) -> Option<Taken> {
        let from = self.standing.state();
        if from == state {
            self.standing = Standing::At(from);
            return None;
        }
        // The server may tell of its step before or after the message that made it.
        let Some(step) = self.step(Happens::Told(state), observer) else {
            return Some(Taken {
                meaning: Meaning::Plain,
                step: None,
                departures: vec![Departure::ToldOtherwise(state)],
            });
        };
        self.waits_after(&step, now.monotonic);
        self.told_from = Some(from);
        Some(Taken {
            meaning: Meaning::Plain,
            step: Some(step),
            departures: Vec::new(),
        })
    }
}

pub(super) fn remember(list: &mut Vec<String>, name: &str) {
    if list.len() < MOST_PARTIES && !list.iter().any(|it| it == name) {
        list.push(name.to_owned());
    }
}
