//! The machines of appendix A as tables: session, state, tool, question, output.
//!
//! Responsibilities: the tables, and the row that an event selects. Not here: the consequences of a step for the person
//! (`event_effects` and its neighbours), the machine of a link (`app`).
//!
//! The session, the tools and the outputs follow A.1, A.3 and A.6 to the letter: a step without a row is an anomaly.
//! The question is A.4 and A.5 as seen from the person's side: between the question and its end lies the path of an
//! answer. The states of A.2 are the typical flow, which a producer may leave; a step without a row there is shown in a
//! trace and is not an anomaly.

use crate::protocol::{Event, ToolStatus, state_machine};

state_machine! {
    /// The life of a session (A.1).
    machine Lifecycle = "session";
    /// The meaning of an event for the life of its session.
    events LifecycleEvent {
        /// `session.started`.
        Started = "session.started",
        /// We joined in the middle, after the start, which is not a fault.
        Joined = "joined",
        /// Any event between start and end.
        Activity = "event",
        /// `session.completed`.
        Completed = "session.completed",
        /// `session.errored`.
        Errored = "session.errored",
        /// `session.cancelled`.
        Cancelled = "session.cancelled",
    }
    states {
        /// Nothing is known about it.
        Absent = "no session",
        /// Between start and end.
        Active = "active",
        /// Ended successfully.
        Completed = "completed",
        /// Ended by an error.
        Errored = "errored",
        /// Ended before completion.
        Cancelled = "cancelled",
    }
    initial Absent;
    transitions {
        Absent, Started => Active;
        Absent, Joined => Active;
        Active, Activity => Active;
        Active, Completed => Completed;
        Active, Errored => Errored;
        Active, Cancelled => Cancelled;
    }
}

impl LifecycleEvent {
    /// Returns what an event means for the life of its session.
    pub fn of(event: &Event) -> Self {
        match event {
            Event::SessionStarted(_) => Self::Started,
            Event::SessionCompleted(_) => Self::Completed,
            Event::SessionErrored(_) => Self::Errored,
            Event::SessionCancelled(_) => Self::Cancelled,
            Event::StateChanged(_)
            | Event::Progress(_)
            | Event::ToolInvoked(_)
            | Event::ToolCompleted(_)
            | Event::OutputStreaming(_)
            | Event::AwaitingConfirmation(_)
            | Event::AwaitingClarification(_)
            | Event::HandoffRequested(_)
            | Event::Unknown(_) => Self::Activity,
        }
    }
}

state_machine! {
    /// An agent's activity: the seven states of 4.2.1 and their typical flow (A.2).
    machine AgentState = "state";
    /// The state that is entered.
    events Entered {
        /// `idle`.
        Idle = "to idle",
        /// `thinking`.
        Thinking = "to thinking",
        /// `calling_tool`.
        CallingTool = "to calling_tool",
        /// `deciding`.
        Deciding = "to deciding",
        /// `writing_output`.
        WritingOutput = "to writing_output",
        /// `awaiting_input`.
        AwaitingInput = "to awaiting_input",
        /// `handing_off`.
        HandingOff = "to handing_off",
        /// A state of the producer's own.
        Other = "to another state",
    }
    states {
        /// It does nothing.
        Idle = "idle",
        /// It reasons.
        Thinking = "thinking",
        /// It uses a tool.
        CallingTool = "calling_tool",
        /// It chooses what comes next.
        Deciding = "deciding",
        /// It writes for the person.
        WritingOutput = "writing_output",
        /// It is blocked until it gets an answer.
        AwaitingInput = "awaiting_input",
        /// It prepares to hand over.
        HandingOff = "handing_off",
        /// A state of the producer's own, which 4.2.1 allows.
        Other = "another state",
    }
    initial Idle;
    transitions {
        Idle, Thinking => Thinking;
        Thinking, CallingTool => CallingTool;
        Thinking, Deciding => Deciding;
        Thinking, WritingOutput => WritingOutput;
        Thinking, AwaitingInput => AwaitingInput;
        Thinking, HandingOff => HandingOff;
        Thinking, Idle => Idle;
        CallingTool, Thinking => Thinking;
        CallingTool, Deciding => Deciding;
        CallingTool, WritingOutput => WritingOutput;
        CallingTool, AwaitingInput => AwaitingInput;
        Deciding, Thinking => Thinking;
        Deciding, CallingTool => CallingTool;
        Deciding, WritingOutput => WritingOutput;
        Deciding, AwaitingInput => AwaitingInput;
        Deciding, HandingOff => HandingOff;
        WritingOutput, Thinking => Thinking;
        WritingOutput, AwaitingInput => AwaitingInput;
        WritingOutput, Idle => Idle;
        AwaitingInput, Thinking => Thinking;
        AwaitingInput, CallingTool => CallingTool;
        AwaitingInput, Deciding => Deciding;
        AwaitingInput, WritingOutput => WritingOutput;
        AwaitingInput, HandingOff => HandingOff;
    }
}

/// A set of an agent's states, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct AgentStates(u16);

impl AgentStates {
    fn bit(state: AgentState) -> u16 {
        1 << state as u8
    }

    pub(super) fn insert(&mut self, state: AgentState) {
        self.0 |= Self::bit(state);
    }

    pub(super) fn contains(self, state: AgentState) -> bool {
        self.0 & Self::bit(state) != 0
    }

    pub(super) fn clear(&mut self) {
        self.0 = 0;
    }
}

impl AgentState {
    /// Returns the state of a name on the wire.
    pub fn named(name: &str) -> Self {
        match name {
            "idle" => Self::Idle,
            "thinking" => Self::Thinking,
            "calling_tool" => Self::CallingTool,
            "deciding" => Self::Deciding,
            "writing_output" => Self::WritingOutput,
            "awaiting_input" => Self::AwaitingInput,
            "handing_off" => Self::HandingOff,
            _ => Self::Other,
        }
    }
}

impl Entered {
    /// Returns the event of entering a state.
    pub fn state(state: AgentState) -> Self {
        match state {
            AgentState::Idle => Self::Idle,
            AgentState::Thinking => Self::Thinking,
            AgentState::CallingTool => Self::CallingTool,
            AgentState::Deciding => Self::Deciding,
            AgentState::WritingOutput => Self::WritingOutput,
            AgentState::AwaitingInput => Self::AwaitingInput,
            AgentState::HandingOff => Self::HandingOff,
            AgentState::Other => Self::Other,
        }
    }
}

state_machine! {
    /// The course of one tool call (A.3).
    machine ToolRun = "tool";
    /// What happens to a call.
    events ToolEvent {
        /// `tool.invoked`.
        Invoked = "tool.invoked",
        /// `tool.completed` with success.
        Succeeded = "tool.completed success",
        /// `tool.completed` with an error, or with a status of the producer's own.
        Failed = "tool.completed error",
        /// `tool.completed` because it took too long.
        TimedOut = "tool.completed timeout",
        /// The session ends; a call that is still running was never completed.
        SessionEnded = "session ends",
    }
    states {
        /// It has not been called.
        Absent = "not called",
        /// It runs.
        Running = "running",
        /// It did what it was called for.
        Succeeded = "succeeded",
        /// It failed.
        Failed = "failed",
        /// It took too long and was given up.
        TimedOut = "timed out",
    }
    initial Absent;
    transitions {
        Absent, Invoked => Running;
        Running, Succeeded => Succeeded;
        Running, Failed => Failed;
        Running, TimedOut => TimedOut;
    }
}

impl ToolEvent {
    /// Returns the event of a call's end.
    pub fn completed(status: &ToolStatus) -> Self {
        match status {
            ToolStatus::Success => Self::Succeeded,
            ToolStatus::Timeout => Self::TimedOut,
            ToolStatus::Error | ToolStatus::Other(_) => Self::Failed,
        }
    }
}

state_machine! {
    /// The course of a question and its answer (A.4, A.5, chapter 6).
    machine QuestionRun = "question";
    /// What happens to a question.
    events QuestionEvent {
        /// `awaiting.confirmation` or `awaiting.clarification`.
        Asked = "asked",
        /// The person decides, or a new attempt to send the decision begins.
        Decided = "decided",
        /// The server accepts the answer.
        Delivered = "delivered",
        /// The answer is written to its last byte, to a channel without acknowledgements.
        Written = "written",
        /// An attempt fails, and nothing of the answer has left or was accepted.
        NotDelivered = "not delivered",
        /// An attempt fails, and it is unknown whether the answer arrived.
        FateUnknown = "fate unknown",
        /// The answer is not retried automatically, or it is withdrawn.
        GivenUp = "given up",
        /// An answer that counted as delivered is in doubt: the connection it was written to is lost, or the agent asks
        /// again.
        Doubted = "doubted",
        /// Its time runs out by our own count.
        TimeEnded = "time ended",
        /// The agent's events show that it is over.
        Closed = "closed",
    }
    states {
        /// It has not been asked.
        Absent = "not asked",
        /// It waits for the person.
        Unanswered = "unanswered",
        /// The answer is on its way.
        Sending = "sending",
        /// An attempt failed without arriving; another follows.
        Retrying = "retrying",
        /// The answer is on its way again, and may have arrived before.
        SendingAgain = "sending again",
        /// The answer may have arrived, and is retried.
        RetryingAgain = "retrying again",
        /// The answer may have arrived, and the person may answer again.
        Perhaps = "perhaps arrived",
        /// The answer was written.
        Written = "written",
        /// The server accepted the answer.
        Sent = "sent",
        /// Probably timed out, but still answerable.
        TimedOut = "timed out",
        /// Over, with our answer still on its way.
        Settling = "settling",
        /// Over, by our answer.
        Resolved = "resolved",
        /// Over; it is unknown whether by our answer.
        PerhapsResolved = "perhaps resolved",
        /// Over, without our answer.
        Withdrawn = "withdrawn",
    }
    initial Absent;
    transitions {
        Absent, Asked => Unanswered;
        Unanswered, Decided => Sending;
        Unanswered, TimeEnded => TimedOut;
        Unanswered, Closed => Withdrawn;
        TimedOut, Decided => Sending;
        TimedOut, Closed => Withdrawn;
        Sending, Delivered => Sent;
        Sending, Written => Written;
        Sending, NotDelivered => Retrying;
        Sending, FateUnknown => RetryingAgain;
        Sending, Closed => Settling;
        Retrying, Decided => Sending;
        Retrying, GivenUp => Unanswered;
        Retrying, Closed => Withdrawn;
        SendingAgain, Delivered => Sent;
        SendingAgain, Written => Written;
        SendingAgain, NotDelivered => RetryingAgain;
        SendingAgain, FateUnknown => RetryingAgain;
        SendingAgain, Closed => PerhapsResolved;
        RetryingAgain, Decided => SendingAgain;
        RetryingAgain, GivenUp => Perhaps;
        RetryingAgain, Closed => PerhapsResolved;
        Perhaps, Decided => SendingAgain;
        Perhaps, Closed => PerhapsResolved;
        Written, Doubted => Perhaps;
        Written, Closed => Resolved;
        Sent, Doubted => Perhaps;
        Sent, Closed => Resolved;
        Settling, Delivered => Resolved;
        Settling, Written => Resolved;
        Settling, NotDelivered => Withdrawn;
        Settling, FateUnknown => PerhapsResolved;
    }
}

state_machine! {
    /// The course of one output (A.6).
    machine OutputRun = "output";
    /// What happens to an output.
    events OutputEvent {
        /// A chunk with `complete: false`.
        Chunk = "chunk",
        /// The chunk with `complete: true`.
        LastChunk = "last chunk",
        /// The session ends; an output without its last chunk was cut.
        SessionEnded = "session ends",
    }
    states {
        /// None of it has arrived.
        Absent = "not begun",
        /// It is being written.
        Streaming = "streaming",
        /// Its last chunk has arrived.
        Complete = "complete",
    }
    initial Absent;
    transitions {
        Absent, Chunk => Streaming;
        Absent, LastChunk => Complete;
        Streaming, Chunk => Streaming;
        Streaming, LastChunk => Complete;
        Complete, SessionEnded => Complete;
    }
}

impl QuestionRun {
    /// Returns whether an answer has been sent and nothing suggests that it did not arrive.
    pub(super) fn is_delivered(self) -> bool {
        match self {
            Self::Sending | Self::SendingAgain | Self::Written | Self::Sent => true,
            Self::Absent
            | Self::Unanswered
            | Self::Retrying
            | Self::RetryingAgain
            | Self::Perhaps
            | Self::TimedOut
            | Self::Settling
            | Self::Resolved
            | Self::PerhapsResolved
            | Self::Withdrawn => false,
        }
    }
}

impl OutputEvent {
    /// Returns the event of a chunk.
    pub fn chunk(complete: bool) -> Self {
        if complete {
            Self::LastChunk
        } else {
            Self::Chunk
        }
    }
}
