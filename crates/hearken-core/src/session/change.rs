//! What an event, or time, changed: the input of the announcer.

use std::sync::Arc;
use std::time::Duration;

use crate::protocol::{
    Attached, HandoffRequested, Now, OutputId, OutputStreaming, Progress, SessionCancelled,
    SessionCompleted, SessionErrored, SessionStarted, StateChanged, TextDirection, ToolCompleted,
    ToolInvoked, UnknownEvent, Urgency,
};

use super::anomaly::{Anomaly, Danger};
use super::fate::Aftermath;
use super::key::{PromptId, SessionKey};
use super::prompt::Closing;

/// Reports one change of one session.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Whose.
    pub key: SessionKey,
    /// The agent's name for a person.
    pub agent: Arc<str>,
    /// When it was noticed.
    pub at: Now,
    /// How urgent the event was; what only time brings is normal.
    pub urgency: Urgency,
    /// The language of the event's texts.
    pub language: Option<Arc<str>>,
    /// The languages that the producer would try next, in order (11.1.1).
    pub fallbacks: Vec<String>,
    /// The direction of the event's texts.
    pub direction: Option<TextDirection>,
    /// Whether it is old news, replayed by the server right after we connected; what is young is none.
    pub replayed: bool,
    /// What belongs to the event and is read on demand.
    pub attached: Arc<Attached>,
    /// What.
    pub what: What,
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// Successfully.
    Completed(SessionCompleted),
    /// By an error.
    Errored(SessionErrored),
    /// Before completion.
    Cancelled(SessionCancelled),
}

/// What changed.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// A session began.
    SessionStarted(SessionStarted),
    /// A session is seen for the first time in its middle; that is normal after connecting.
    SessionJoined,
    /// A session ended.
    SessionEnded(Ended),
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
        /// Time since it was invoked, where that was seen.
        elapsed: Option<Duration>,
    },
    /// Text arrived.
    Output {
        /// Which output; absent is the session's nameless one.
        output: Option<OutputId>,
        /// The chunk.
        event: OutputStreaming,
        /// The action that was not allowed here, of which this is the first text: to be introduced as such.
        after: Option<Box<Aftermath>>,
    },
    /// A question was opened.
    PromptOpened(PromptId),
    /// The link of an open question is back and its session speaks: it can be answered again.
    PromptAnswerable(PromptId),
    /// Another question came that has the token of this one: an answer may count for either.
    PromptDoubted(PromptId),
    /// The earlier question of the same token is over: this one can be answered now.
    PromptFreed(PromptId),
    /// The agent asks again what was answered here: perhaps the answer did not arrive.
    PromptUnheard(PromptId),
    /// An agent has so many open questions that one more waits; it is asked when there is room.
    QuestionsWaiting {
        /// How many of this agent's wait now.
        waiting: usize,
    },
    /// A question's time is running out.
    PromptWarning {
        /// Which question.
        prompt: PromptId,
        /// Time left.
        remaining: Duration,
    },
    /// Our own count of a question's time ended; it stays answerable until an event closes it.
    PromptTimedOut(PromptId),
    /// Something happened that may mean a question is decided; said once.
    PromptPerhapsResolved(PromptId),
    /// A question was closed by the agent.
    PromptClosed {
        /// Which question.
        prompt: PromptId,
        /// By what.
        how: Closing,
    },
    /// The agent asks somebody else to take over.
    Handoff(HandoffRequested),
    /// An event of a type that we don't know.
    Unknown {
        /// The type as it was written.
        type_name: String,
        /// Its texts.
        event: UnknownEvent,
    },
    /// The protocol was broken.
    Anomaly(Anomaly),
    /// The person is in danger.
    Danger(Danger),
}
