//! One session as a listener sees it.
//!
//! Responsibilities: what each message means in its state, the step that follows, departures from the document, and the
//! four timeouts. Not here: the tables (`session_rules`, `states`), announcing anything (`translator`).
//!
//! Mental model: two of the document's tables judge every message. The table of transitions moves the session; the
//! table of allowed performatives only forbids. If one allows what the other does not, the session moves and the
//! disagreement is reported. What neither allows moves nothing. Nothing ever leaves CLOSED or FAILED. A timeout that is
//! only counted here makes the session *probably* FAILED: the next message proves that it is alive.

use std::time::Duration;

use crate::protocol::{Machine, NoObserver, Now, StateObserver};

use super::chain::{Chain, ChainFault, MessageNovelty};
use super::message::AspMessage;
use super::message_meaning::is_met;
use super::performatives::{Informs, Performative};
use super::session_rules::{self, MessageRow, Timeout, TransitionRow, WAITS};
use super::states::{SessionOccurrence, State, Trigger};
use super::timeouts::{RunningTimeout, default_of};

/// How many parties of a session are remembered by name: two negotiate, others watch.
const MOST_PARTIES: usize = 8;

/// The presumed state of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PresumedState {
    /// The state according to the messages.
    At(State),
    /// A timeout expired by our own count, so the session has probably failed.
    ProbablyFailed {
        /// The state according to the messages.
        was: State,
        /// The timeout.
        by: Timeout,
    },
}

impl PresumedState {
    /// Returns the state according to the messages.
    pub const fn state(self) -> State {
        match self {
            Self::At(state) | Self::ProbablyFailed { was: state, .. } => state,
        }
    }
}

/// A departure from the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Departure {
    /// The state does not allow the message, which moves nothing.
    Illegal(State),
    /// One table moves the session, and the other does not allow the message.
    TablesDisagree(State),
    /// A message came after the end.
    AfterEnd(State),
    /// It answers its sender's own offer.
    AnswersItself,
    /// It accepts another commitment than the pending one.
    OtherCommitment,
    /// The precondition of its step is not met.
    Unmet,
    /// The performative is not one of the thirteen.
    UnknownPerformative,
    /// Its position in the chain is wrong.
    Chain(ChainFault),
    /// A timeout expired by our own count.
    Expired(Timeout),
    /// The response is late: one table fails the session, the other lets the waiting side go on.
    ResponseLate,
    /// The session's server reports another state than the messages imply.
    ToldOtherwise(State),
}

/// A completed step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionMove {
    /// The state that was left.
    pub from: State,
    /// What moved the session.
    pub by: SessionOccurrence,
    /// The state that was entered.
    pub to: State,
    /// The row behind it; `None` if only the session's server reported the step.
    pub row: Option<&'static TransitionRow>,
}

/// What a message means beyond its step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageIntent {
    /// Only what its performative says.
    Plain,
    /// It invites.
    Invites,
    /// One side states its identity; the session waits for the other, or for the ACCEPT.
    Introduces,
    /// It refuses a message that was out of order.
    RefusesOrder,
    /// It accepts the commitment, which is binding from now on.
    Binds,
    /// It closes unilaterally, before the result was reported: perhaps a breach.
    PerhapsBreach,
    /// It is the other side's CLOSE of a mutual close.
    ConfirmsClose,
}

/// The effect of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageEffect {
    /// What the message means.
    pub meaning: MessageIntent,
    /// The step, if it caused one.
    pub step: Option<SessionMove>,
    /// The departures from the document, in the order found.
    pub departures: Vec<Departure>,
}

impl MessageEffect {
    /// Returns whether the message counts for nothing: it is out of order, or not its sender's to send.
    pub fn is_void(&self) -> bool {
        self.departures.iter().any(|departure| {
            matches!(
                departure,
                Departure::Illegal(_) | Departure::AnswersItself | Departure::OtherCommitment
            )
        })
    }
}

/// The effect of a timeout that expired by our own count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpiredTimeout {
    /// The timeout.
    pub timeout: Timeout,
    /// The state in which it ran.
    pub state: State,
    /// The step that the document prescribes.
    pub row: &'static TransitionRow,
    /// The departure from the document, if any.
    pub departure: Option<Departure>,
}

/// The course of one session.
#[derive(Debug, Clone)]
pub struct Negotiation {
    pub(super) standing: PresumedState,
    /// The state before the escalation.
    pub(super) before: State,
    pub(super) inviter: Option<String>,
    pub(super) accepted: bool,
    pub(super) introduced: Vec<String>,
    pub(super) commitment: Option<Commitment>,
    pub(super) result_told: bool,
    pub(super) closed_by: Vec<String>,
    pub(super) lasts: Option<Duration>,
    pub(super) waits: [Option<RunningTimeout>; WAITS.len()],
    pub(super) chain: Chain,
    /// The state before a step that the server reported, until the message behind that step arrives.
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
            standing: PresumedState::At(State::INITIAL),
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
    /// Joins a session in its middle, with its first message heard, in the state that allows the message; CONVERSING if
    /// the message does not show the state.
    pub fn joined(first: &AspMessage) -> Self {
        let state = match first.informs {
            Informs::Identity => State::Invited,
            Informs::Progress | Informs::Result | Informs::Error => State::Executing,
            Informs::Resolution => State::Escalated,
            Informs::Other => State::Conversing,
        };
        Self::joined_in(state)
    }

    /// Joins a session in its middle, in the state that its server reports.
    pub fn joined_in(state: State) -> Self {
        Self {
            standing: PresumedState::At(state),
            ..Self::default()
        }
    }

    /// Returns the presumed state of the session.
    pub fn standing(&self) -> PresumedState {
        self.standing
    }

    /// Returns the state to which an escalation returns.
    pub fn before(&self) -> State {
        self.before
    }

    /// Returns whether a CLOSE of the escalated session may count as a breach: what was agreed is not fulfilled.
    pub fn would_breach(&self) -> bool {
        self.before == State::Executing && !self.result_told
    }

    /// Returns the number for a sender's next message.
    pub fn next_number(&self, sender: &str) -> u64 {
        self.chain.next_number(sender)
    }

    /// Returns the hash of the last message.
    pub fn last_hash(&self) -> Option<&str> {
        self.chain.last()
    }

    /// Handles the next message; `None` if it is a repeat.
    pub fn take(
        &mut self,
        message: &AspMessage,
        now: Now,
        observer: &mut dyn StateObserver<State>,
    ) -> Option<MessageEffect> {
        let mut departures = match self.chain.place(message) {
            MessageNovelty::Again => return None,
            MessageNovelty::New(breaks) => breaks.into_iter().map(Departure::Chain).collect(),
        };
        let state = self.standing.state();
        // Whatever a timeout made of the session, it is alive.
        self.standing = PresumedState::At(state);
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
        Some(MessageEffect {
            meaning,
            step,
            departures,
        })
    }

    /// Judges a message whose step the server reported first: from the state before, if the message then leads to the
    /// current state. The step itself was observed when it was reported.
    fn judge_behind(
        &mut self,
        message: &AspMessage,
        now: Now,
    ) -> Option<(MessageIntent, Option<SessionMove>)> {
        let from = self.told_from.take()?;
        let mut behind = self.clone();
        behind.standing = PresumedState::At(from);
        let mut departures = Vec::new();
        let judged = behind.judge(message, now, &mut departures, &mut NoObserver);
        let is_it = judged.1.is_some() && departures.is_empty() && behind.standing == self.standing;
        is_it.then(|| {
            *self = behind;
            judged
        })
    }

    fn judge(
        &mut self,
        message: &AspMessage,
        now: Now,
        departures: &mut Vec<Departure>,
        observer: &mut dyn StateObserver<State>,
    ) -> (MessageIntent, Option<SessionMove>) {
        let state = self.standing.state();
        let Some(performative) = message.performative else {
            departures.push(if state.is_terminal() {
                Departure::AfterEnd(state)
            } else {
                Departure::UnknownPerformative
            });
            return (MessageIntent::Plain, None);
        };
        if message.refuses_order() {
            return (MessageIntent::RefusesOrder, None);
        }
        if state.is_terminal() {
            let confirms = state == State::Closed
                && performative == Performative::Close
                && !self.closed_by.is_empty()
                && !self.closed_by.contains(&message.sender);
            if confirms {
                remember(&mut self.closed_by, &message.sender);
                return (MessageIntent::ConfirmsClose, None);
            }
            departures.push(Departure::AfterEnd(state));
            return (MessageIntent::Plain, None);
        }
        let act = MessageRow {
            performative,
            informs: message.informs,
            invites: message.invites(),
        };
        let allowed = session_rules::is_allowed(state, act) || session_rules::is_needed(state, act);
        let read = match self.read(message, performative) {
            Ok(read) => read,
            Err(departure) => {
                departures.push(departure);
                return (MessageIntent::Plain, None);
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

    /// Steps the session if the table has the step.
    fn step(
        &mut self,
        happens: SessionOccurrence,
        observer: &mut dyn StateObserver<State>,
    ) -> Option<SessionMove> {
        let from = self.standing.state();
        let to = from.observed(happens, observer).ok()?;
        // A second escalation does not change the way back.
        if to == State::Escalated && from != State::Escalated {
            self.before = from;
        }
        self.standing = PresumedState::At(to);
        if to != State::Agreeing && to != State::Escalated {
            self.commitment = None;
        }
        let row = match happens {
            SessionOccurrence::By(trigger) => session_rules::row_for(from, trigger),
            SessionOccurrence::Back(_) => session_rules::row_for(from, Trigger::Resolution),
            SessionOccurrence::Told(_) => None,
        };
        Some(SessionMove {
            from,
            by: happens,
            to,
            row,
        })
    }

    /// Records what later messages are judged by, and starts and ends timeouts.
    fn note(
        &mut self,
        message: &AspMessage,
        performative: Performative,
        step: Option<&SessionMove>,
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

    /// Applies the state that the session's server reports; `None` if it is not news.
    pub fn apply_reported_state(
        &mut self,
        state: State,
        now: Now,
        observer: &mut dyn StateObserver<State>,
    ) -> Option<MessageEffect> {
        let from = self.standing.state();
        if from == state {
            self.standing = PresumedState::At(from);
            return None;
        }
        // The server may report a step before or after the message behind it.
        let Some(step) = self.step(SessionOccurrence::Told(state), observer) else {
            return Some(MessageEffect {
                meaning: MessageIntent::Plain,
                step: None,
                departures: vec![Departure::ToldOtherwise(state)],
            });
        };
        self.waits_after(&step, now.monotonic);
        self.told_from = Some(from);
        Some(MessageEffect {
            meaning: MessageIntent::Plain,
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
