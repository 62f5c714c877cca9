//! What a dialect wants done, or reports.
//!
//! Responsibilities: the outputs of a dialect ([`DialectOutput`]), and the steps of its own state machines. Not here:
//! carrying them out (`app`).

use crate::link::{
    DeliveryFailure, Fault, HttpCall, LastWords, Phrase, Receipt, ServerRoute, ServiceCall, Stream,
};
use crate::protocol::{
    AgentId, Answer, Machine, NamedStep, RecordedReply, TransitionError, Watcher,
};

use super::NoEvent;

/// An output of a dialect: what it wants done, or reports.
#[derive(Debug, Clone, PartialEq)]
pub enum DialectOutput {
    /// An AAEP event, as JSON text. Whatever its dialect, the one decoder reads it.
    Event(String),
    /// An AAEP event with a question that can be seen here, but not answered.
    ViewOnly(String),
    /// A frame that means nothing in this dialect, or the number of consecutive frames that mean nothing for the same
    /// reason: they are counted and reported, never skipped in silence.
    Unread(NoEvent, u64),
    /// Send this frame; the outcome is reported as `LinkEvent::Replied` with this number.
    Send {
        /// The app's number of a reply, or one of the dialect's own [`RequestNumbers`](super::RequestNumbers).
        request: u64,
        /// The frame, without line ending or length prefix.
        frame: String,
    },
    /// Hand this message to the handler that carries out the person's decisions instead of the source; the outcome is
    /// reported as `LinkEvent::Replied` with this number.
    Hand {
        /// The app's number of a reply.
        request: u64,
        /// The message, as JSON.
        message: String,
    },
    /// Make one request beside the stream; its answer is reported as `LinkEvent::Answered` with this number.
    Call {
        /// The app's number of a reply, or one of the dialect's own [`RequestNumbers`](super::RequestNumbers).
        request: u64,
        /// The request to make.
        call: HttpCall,
    },
    /// Make one request to a service behind a broker; its answer is reported as `LinkEvent::Answered` with this number.
    CallService {
        /// The app's number of a reply, or one of the dialect's own [`RequestNumbers`](super::RequestNumbers).
        request: u64,
        /// The request to make.
        call: ServiceCall,
    },
    /// Wait no longer for the answers to the request to a service with this number.
    LeaveCall(u64),
    /// Answer an incoming request (`LinkEvent::Request`). If the answer is the person's, the outcome is reported as
    /// `LinkEvent::Replied` with their number.
    Respond {
        /// Our number of the incoming request.
        id: u64,
        /// The number of the person's answer; `None` if the answer is not theirs.
        request: Option<u64>,
        /// The answer, as JSON.
        body: String,
    },
    /// Follow this stream in the connection attempt under way.
    Follow(Stream),
    /// The connection attempt under way has failed for this reason, which also decides whether and when to retry.
    Refuse(Fault),
    /// Release the events held back for their order: nothing more is coming that they could wait for.
    Release,
    /// Send this when the link closes, for whatever reason; it replaces the previous last words.
    LastWords(Option<LastWords>),
    /// Leave the connection and follow the source another way.
    ChangeWay(ServerRoute),
    /// Give up and close the source: it can't be used, for this reason.
    Close(Fault),
    /// The outcome of an answer from the person.
    Settled {
        /// The number of the reply.
        request: u64,
        /// Whether it was delivered, as far as that is known.
        outcome: Result<Receipt, DeliveryFailure>,
    },
    /// What became of the open questions.
    Standing(OpenQuestionsChange),
    /// The question under this token is decided. For the only open question of a session, the session's change of state
    /// already shows that; if others are open, the session keeps its state, and only this output reports it.
    Decided {
        /// The token of the question.
        token: String,
        /// The state that its session would have entered.
        to: String,
    },
    /// A capture shows the answer to a question.
    Answered(RecordedReply),
    /// Somebody else answered the question under this token, as its source reports.
    AnsweredBy {
        /// The token of the question.
        token: String,
        /// The person's name, if it is known.
        person: Option<String>,
        /// The answer.
        answer: Answer,
    },
    /// The question under this token is over for a reason that no event states.
    Over {
        /// The token of the question.
        token: String,
        /// The reason.
        reason: QuestionEnd,
    },
    /// What was missed begins or is complete; only a link that has reported `LinkEvent::Missed` has any.
    Missed(CatchUpPhase),
    /// The name proven over this connection; `None` if none is.
    Proven(Option<String>),
    /// Tell the person this; `source` is filled in with the source's name.
    Announce(Phrase),
    /// Warn the person of this: an agent did something that they have to hear of.
    Warn(Phrase),
    /// What an agent wrote and did before the person followed it, for the history.
    Recalled(AgentPast),
    /// Tell this only to people who want every detail; others can look it up.
    Detail(Phrase),
    /// One of the dialect's own state machines took a step, or refused one.
    Stepped(DialectStep),
}

/// What an agent wrote and did before the person followed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentPast {
    /// The agent.
    pub agent: AgentId,
    /// Its texts and what it said about its calls, oldest first.
    pub texts: Vec<String>,
    /// How many messages before these were left out.
    pub left_out: u64,
}

/// Where a dialect is in the events that were missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CatchUpPhase {
    /// From here on events are ones that were missed: what came before only shows what was going on already.
    Begins,
    /// All of them have come.
    IsOver,
}

/// One step of a dialect's own state machine, for tracing, checking and counting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialectStep {
    /// The other side's name for the conversation; empty for the link itself.
    pub conversation: String,
    /// The other side's name for the part of the conversation concerned; empty for the whole.
    pub subject: String,
    /// The names of the machine, of the state left, and of the event.
    pub named: NamedStep,
    /// The state entered; `None` if the state does not accept the event, and stays.
    pub to: Option<&'static str>,
}

impl DialectStep {
    /// Steps a machine and records the outcome: the next state, or a refusal.
    pub fn step<M: Machine>(
        conversation: &str,
        subject: &str,
        from: M,
        event: M::Event,
        out: &mut Vec<DialectOutput>,
    ) -> Result<M, TransitionError> {
        let mut note = StepObserver {
            conversation,
            subject,
            out,
        };
        from.observed(event, &mut note)
    }
}

/// A machine's observer that turns steps into outputs.
struct StepObserver<'a> {
    conversation: &'a str,
    subject: &'a str,
    out: &'a mut Vec<DialectOutput>,
}

impl StepObserver<'_> {
    fn keep(&mut self, named: NamedStep, to: Option<&'static str>) {
        self.out.push(DialectOutput::Stepped(DialectStep {
            conversation: self.conversation.to_owned(),
            subject: self.subject.to_owned(),
            named,
            to,
        }));
    }
}

impl Watcher for StepObserver<'_> {
    fn before(&mut self, _: NamedStep) {}

    fn after(&mut self, step: NamedStep, to: &'static str) {
        self.keep(step, Some(to));
    }

    fn error(&mut self, step: NamedStep, _: &TransitionError) {
        self.keep(step, None);
    }
}

/// What became of a link's open questions, if no event states it, or not as exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpenQuestionsChange {
    /// After a loss: the same agent that asked is back, so they can be answered.
    Back,
    /// After a loss: an agent resumed where the stream broke off, so answers may still reach the one that asked.
    PerhapsBack,
    /// The agreement under which they were asked has ended: their defaults decide them.
    Decided,
}

/// Why a question is over, if no event states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QuestionEnd {
    /// The person stopped the agent's work, and that cancelled it.
    Stopped,
    /// The agent withdrew it.
    TakenBack,
    /// The agreement under which it was asked has ended: its default decides it.
    Default,
    /// Its bridge was started again and no longer knows it.
    Forgotten,
}
