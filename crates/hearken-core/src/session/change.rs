//! The changes caused by an event or by the passing of time: the announcer's input.

use std::sync::Arc;
use std::time::Duration;

use crate::protocol::{
    Attachments, HandoffRequested, Now, OutputId, OutputStreaming, Progress, SessionCancelled,
    SessionCompleted, SessionErrored, SessionStarted, StateChanged, TextDirection, ToolCompleted,
    ToolInvoked, UnknownEvent, Urgency,
};

use super::action_fate::DeniedAction;
use super::anomaly::{Anomaly, Danger};
use super::key::{QuestionId, SessionKey};
use super::model::SessionEndKind;
use super::question::CloseReason;

/// One change of one session.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The session.
    pub key: SessionKey,
    /// The agent's display name.
    pub agent: Arc<str>,
    /// When it was noticed.
    pub at: Now,
    /// How urgent the event was; a change caused by time alone is normal.
    pub urgency: Urgency,
    /// The language of the event's texts.
    pub language: Option<Arc<str>>,
    /// The languages that the producer would try next, in order (11.1.1).
    pub fallbacks: Vec<String>,
    /// The direction of the event's texts.
    pub direction: Option<TextDirection>,
    /// Whether it is old news, replayed by the server right after we connected; a young event never counts as old.
    pub replayed: bool,
    /// Extra data of the event that is read on demand.
    pub attached: Arc<Attachments>,
    /// An id that relates the event to records outside AAEP (3.4.2).
    pub correlation: Option<Arc<str>>,
    /// What changed.
    pub kind: ChangeKind,
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionEndEvent {
    /// Successfully.
    Completed(SessionCompleted),
    /// By an error.
    Errored(SessionErrored),
    /// Before completion.
    Cancelled(SessionCancelled),
}

/// The kinds of change.
#[derive(Debug, Clone, PartialEq)]
pub enum ChangeKind {
    /// A session began.
    SessionStarted(SessionStarted),
    /// A session is first seen in the middle of its run, which is normal after connecting.
    SessionJoined,
    /// An agent works in a session that another agent has begun (A.9, pattern 1).
    HelperJoined,
    /// The session of such an agent ended with its lead's; the lead's end is announced.
    HelperEnded(SessionEndKind),
    /// A session ended.
    SessionEnded(SessionEndEvent),
    /// The agent entered another state.
    StateChanged(StateChanged),
    /// Progress was made.
    Progress(Progress),
    /// A tool is about to be called.
    ToolInvoked(ToolInvoked),
    /// A tool returned.
    ToolCompleted {
        /// The event.
        event: ToolCompleted,
        /// The time since it was invoked, if that was seen.
        elapsed: Option<Duration>,
    },
    /// Text arrived.
    Output {
        /// The output; absent means the session's nameless one.
        output: Option<OutputId>,
        /// The chunk.
        event: OutputStreaming,
        /// The action that was not allowed, if this is the first text after it and needs that introduction.
        after: Option<Box<DeniedAction>>,
    },
    /// A question was opened.
    QuestionOpened(QuestionId),
    /// The link of an open question is back and its session is active: it can be answered again.
    QuestionAnswerable(QuestionId),
    /// Another question arrived with this one's token: an answer may count for either.
    QuestionDoubted(QuestionId),
    /// The earlier question with the same token is over: this one can be answered now.
    QuestionFreed(QuestionId),
    /// The agent repeats a question that was answered here: the answer may not have arrived.
    QuestionUnheard(QuestionId),
    /// An agent has so many open questions that another one waits; it is asked when there is room.
    QuestionsWaiting {
        /// The number of this agent's questions that now wait.
        waiting: usize,
    },
    /// A question's time is running out.
    QuestionWarning {
        /// The question.
        question: QuestionId,
        /// The time left.
        remaining: Duration,
    },
    /// A question's time ran out by our own count; the question stays answerable until an event closes it.
    QuestionTimedOut(QuestionId),
    /// Something happened that may mean that a question is decided; reported once.
    QuestionPerhapsResolved(QuestionId),
    /// A question was closed by the agent.
    QuestionClosed {
        /// The question.
        question: QuestionId,
        /// What closed it.
        reason: CloseReason,
    },
    /// The agent asks somebody else to take over.
    Handoff(HandoffRequested),
    /// An event of an unknown type arrived.
    Unknown {
        /// The type as written.
        type_name: String,
        /// Its texts.
        event: UnknownEvent,
    },
    /// The protocol was broken.
    Anomaly(Anomaly),
    /// The person is in danger.
    Danger(Danger),
}
