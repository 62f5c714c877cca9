//! The machines of appendix A as tables: session, state, tool, question, output.
//!
//! Responsibilities: the tables, and which row an event means. Not here: what a step costs or brings
//! the person (`apply` and its neighbours), the machine of a link (`app`).
//!
//! The session, the tools and the outputs follow A.1, A.3 and A.6 to the letter: what is in no row is
//! an anomaly. The question is A.4 and A.5 as the person's side sees them: between the question and
//! its end lies the way of an answer. The states of A.2 are the typical flow, which a producer may
//! leave; what is in no row there is shown in a trace, and is no anomaly.

use crate::protocol::{Event, ToolStatus, state_machine};

state_machine! {
    /// Says where a session is in its life (A.1).
    machine Lifecycle = "session";
    /// Says what an event means for the life of its session.
    events LifecycleEvent {
        /// `session.started`.
        Started = "session.started",
        /// We came in its middle, so its start was before our time; that is no fault.
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
        /// Nothing is known of it.
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
    /// Says what an agent does, by the seven states of 4.2.1 and their typical flow (A.2).
    machine AgentState = "state";
    /// Says which state is entered.
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
        /// It is blocked until somebody answers.
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

/// Some of an agent's states, one bit each.
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
    /// Returns which state a name on the wire means.
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
    /// Returns what entering a state is called.
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
    /// Says where one call of a tool is (A.3).
    machine ToolRun = "tool";
    /// Says what happens to a call.
    events ToolEvent {
        /// `tool.invoked`.
        Invoked = "tool.invoked",
        /// `tool.completed` with success.
        Succeeded = "tool.completed success",
        /// `tool.completed` with an error, or with a status of the producer's own.
        Failed = "tool.completed error",
        /// `tool.completed` because it took too long.
        TimedOut = "tool.completed timeout",
        /// The session ends; a call that still runs was never completed.
        SessionEnded = "session ends",
    }
    states {
        /// It was not called.
        Absent = "not called",
        /// It runs.
        Running = "running",
        /// It did what it was called for.
        Succeeded = "succeeded",
        /// It did not.
        Failed = "failed",
        /// It was given up.
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
    /// Returns what the end of a call is.
    pub fn completed(status: &ToolStatus) -> Self {
        match status {
            ToolStatus::Success => Self::Succeeded,
            ToolStatus::Timeout => Self::TimedOut,
            ToolStatus::Error | ToolStatus::Other(_) => Self::Failed,
        }
    }
}

state_machine! {
    /// Says where a question and its answer are (A.4, A.5, chapter 6).
    machine QuestionRun = "question";
    /// Says what happens to a question.
    events QuestionEvent {
        /// `awaiting.confirmation` or `awaiting.clarification`.
        Asked = "asked",
        /// The person decides, or an attempt to send the decision begins anew.
        Decided = "decided",
        /// The server takes the answer.
        Delivered = "delivered",
        /// It is written to its last byte, where nobody acknowledges anything.
        Written = "written",
        /// An attempt fails, and nothing of it has left or was taken.
        NotDelivered = "not delivered",
        /// An attempt fails, and nobody knows whether it arrived.
        FateUnknown = "fate unknown",
        /// It is not tried again by itself, or taken back.
        GivenUp = "given up",
        /// What was taken for delivered is in doubt: the connection it was written to is lost, or the
        /// agent asks again.
        Doubted = "doubted",
        /// Our own count of its time ends.
        TimeEnded = "time ended",
        /// The agent's events show that it is over.
        Closed = "closed",
    }
    states {
        /// It was not asked.
        Absent = "not asked",
        /// It waits for the person.
        Unanswered = "unanswered",
        /// The answer is on its way.
        Sending = "sending",
        /// An attempt failed without arriving, the next one comes.
        Retrying = "retrying",
        /// The answer is on its way once more, and perhaps arrived before.
        SendingAgain = "sending again",
        /// The answer perhaps arrived, and is tried again.
        RetryingAgain = "retrying again",
        /// The answer perhaps arrived, and the person may answer again.
        Perhaps = "perhaps arrived",
        /// The answer was written.
        Written = "written",
        /// The server took the answer.
        Sent = "sent",
        /// Probably timed out, and still answerable.
        TimedOut = "timed out",
        /// Over, with our answer still on its way.
        Settling = "settling",
        /// Over, by our answer.
        Resolved = "resolved",
        /// Over, perhaps by our answer.
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
    /// Says where one output is (A.6).
    machine OutputRun = "output";
    /// Says what happens to an output.
    events OutputEvent {
        /// A chunk with `complete: false`.
        Chunk = "chunk",
        /// The chunk with `complete: true`.
        LastChunk = "last chunk",
        /// The session ends; an output without its last chunk was cut.
        SessionEnded = "session ends",
    }
    states {
        /// Nothing of it came.
        Absent = "not begun",
        /// It is being written.
        Streaming = "streaming",
        /// Its last chunk came.
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
    /// Returns whether an answer has gone out and nothing speaks against its arrival.
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
    /// Returns what a chunk is.
    pub fn chunk(complete: bool) -> Self {
        if complete {
            Self::LastChunk
        } else {
            Self::Chunk
        }
    }
}
