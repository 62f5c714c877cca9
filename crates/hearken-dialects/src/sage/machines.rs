//! Sage's four machines, as the code of its document has them, and the few steps that it lacks.
//!
//! Responsibilities: the tables, and which of their rows are gaps filled here. Not here: which message means which event
//! (`translate`), what a step is in AAEP's terms.
//!
//! The document draws each machine and writes it as code, and the two differ. The code counts, because it is what runs;
//! `docs/dialects.md` lists the differences. Where the code has no step for what Sage really does, a gap is filled:
//! [`GAPS`] lists those rows, and nothing else was added.

use crate::protocol::{Transition, state_machine};

state_machine! {
    /// Says where a conversation is (section 2).
    machine Session = "session";
    /// Says what happens to a conversation.
    events SessionEvent {
        /// It is ready.
        Initialized = "Initialized",
        /// The person said something.
        Chat = "Chat",
        /// The agent needs to be told something.
        NeedInput = "NeedInput",
        /// It was told.
        Resume = "Resume",
        /// The agent is done.
        AgentComplete = "AgentComplete",
        /// It ends.
        End = "End",
        /// It breaks.
        Error = "Error",
        /// It took too long.
        Timeout = "Timeout",
    }
    states {
        /// It is being made.
        Initializing = "Initializing",
        /// It waits for the person.
        Active = "Active",
        /// An agent works.
        Processing = "Processing",
        /// The agent waits to be told something.
        Paused = "Paused",
        /// It is over.
        Ended = "Ended",
    }
    initial Initializing;
    transitions {
        Initializing, Initialized => Active;
        Active, Chat => Processing;
        Processing, AgentComplete => Active;
        Processing, NeedInput => Paused;
        Paused, Resume => Processing;
        Initializing | Active | Processing | Paused | Ended, End => Ended;
        Initializing | Active | Processing | Paused | Ended, Error => Ended;
        Initializing | Active | Processing | Paused | Ended, Timeout => Ended;
    }
}

state_machine! {
    /// Says where the agent of one turn is (section 3).
    machine Agent = "agent";
    /// Says what happens to an agent.
    events AgentEvent {
        /// It is ready.
        Ready = "Ready",
        /// It is given a task.
        Execute = "Execute",
        /// The model wrote text.
        TextOutput = "TextOutput",
        /// The model wants tools.
        ToolCalls = "ToolCalls",
        /// One of them returned.
        ToolComplete = "ToolComplete",
        /// All of them returned.
        ToolsComplete = "ToolsComplete",
        /// Something must be allowed first.
        NeedPermission = "NeedPermission",
        /// It was allowed.
        PermissionGranted = "PermissionGranted",
        /// It was denied.
        PermissionDenied = "PermissionDenied",
        /// The next step begins.
        Continue = "Continue",
        /// It is done.
        Complete = "Complete",
        /// It is stopped.
        Cancel = "Cancel",
        /// It broke.
        Error = "Error",
    }
    states {
        /// It is being made.
        Initializing = "Initializing",
        /// It can take a task.
        Ready = "Ready",
        /// It waits for the model.
        Thinking = "Thinking",
        /// Its tools run.
        ExecutingTools = "ExecutingTools",
        /// It waits for a permission.
        WaitingPermission = "WaitingPermission",
        /// It did its task.
        Completed = "Completed",
        /// It was stopped.
        Cancelled = "Cancelled",
        /// It broke.
        Error = "Error",
    }
    initial Initializing;
    transitions {
        Initializing, Ready => Ready;
        Ready, Execute => Thinking;
        Thinking, ToolCalls => ExecutingTools;
        ExecutingTools, ToolComplete => ExecutingTools;
        ExecutingTools, ToolsComplete => Thinking;
        Thinking, NeedPermission => WaitingPermission;
        WaitingPermission, PermissionGranted => Thinking;
        Initializing | Ready | Thinking | ExecutingTools | WaitingPermission | Completed | Cancelled | Error, Complete => Completed;
        Initializing | Ready | Thinking | ExecutingTools | WaitingPermission | Completed | Cancelled | Error, Cancel => Cancelled;
        Initializing | Ready | Thinking | ExecutingTools | WaitingPermission | Completed | Cancelled | Error, Error => Error;
        // The gaps: see `GAPS`.
        WaitingPermission, PermissionDenied => Thinking;
        ExecutingTools, NeedPermission => WaitingPermission;
        Thinking, TextOutput => Thinking;
        Thinking, Continue => Thinking;
    }
}

/// One gap of the document's code: a step that it lacks and Sage takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The step.
    pub step: Transition<Agent, AgentEvent>,
    /// Why it must be there.
    pub because: &'static str,
}

/// Makes a gap.
const fn gap(from: Agent, event: AgentEvent, to: Agent, because: &'static str) -> Gap {
    Gap {
        step: Transition { from, event, to },
        because,
    }
}

/// Lists what the code of the document lacks; all of it is in the agent's machine.
pub const GAPS: [Gap; 4] = [
    gap(
        Agent::WaitingPermission,
        AgentEvent::PermissionDenied,
        Agent::Thinking,
        "a permission can be denied, and the agent goes on without it",
    ),
    gap(
        Agent::ExecutingTools,
        AgentEvent::NeedPermission,
        Agent::WaitingPermission,
        "the permission for a tool is asked for after the tool was called",
    ),
    gap(
        Agent::Thinking,
        AgentEvent::TextOutput,
        Agent::Thinking,
        "the model writes text between its tools",
    ),
    gap(
        Agent::Thinking,
        AgentEvent::Continue,
        Agent::Thinking,
        "a step may end without a tool",
    ),
];

state_machine! {
    /// Says where one call of a tool is (section 4).
    machine Tool = "tool";
    /// Says what happens to a call.
    events ToolEvent {
        /// It is taken up.
        Start = "Start",
        /// It is its turn.
        PermitAcquired = "PermitAcquired",
        /// It may run.
        PermissionAllowed = "PermissionAllowed",
        /// It may not.
        PermissionDenied = "PermissionDenied",
        /// It goes on.
        Progress = "Progress",
        /// It did what it should.
        Complete = "Complete",
        /// It did not.
        Fail = "Fail",
        /// It took too long.
        Timeout = "Timeout",
        /// It is stopped.
        Cancel = "Cancel",
    }
    states {
        /// It was called.
        Pending = "Pending",
        /// It waits for its turn.
        Queued = "Queued",
        /// Whether it may run is being found out.
        CheckingPermission = "CheckingPermission",
        /// It runs.
        Running = "Running",
        /// It did what it should.
        Success = "Success",
        /// It did not.
        Failed = "Failed",
        /// It took too long.
        Timeout = "Timeout",
        /// It was stopped.
        Cancelled = "Cancelled",
        /// It was not allowed, and never ran.
        Denied = "Denied",
    }
    initial Pending;
    transitions {
        Pending, Start => Queued;
        Queued, PermitAcquired => CheckingPermission;
        CheckingPermission, PermissionAllowed => Running;
        CheckingPermission, PermissionDenied => Denied;
        Running, Progress => Running;
        Running, Complete => Success;
        Running, Fail => Failed;
        Running, Timeout => Timeout;
        Pending | Queued | CheckingPermission | Running | Success | Failed | Timeout | Cancelled | Denied, Cancel => Cancelled;
    }
}

impl Tool {
    /// Returns whether the call has not begun to run, so that nobody may be told that it does.
    pub fn is_held(self) -> bool {
        match self {
            Self::Pending | Self::Queued | Self::CheckingPermission => true,
            Self::Running
            | Self::Success
            | Self::Failed
            | Self::Timeout
            | Self::Cancelled
            | Self::Denied => false,
        }
    }

    /// Returns whether the call is over.
    pub fn is_over(self) -> bool {
        match self {
            Self::Pending | Self::Queued | Self::CheckingPermission | Self::Running => false,
            Self::Success | Self::Failed | Self::Timeout | Self::Cancelled | Self::Denied => true,
        }
    }
}

state_machine! {
    /// Says where the connection is (section 5).
    machine Stream = "stream";
    /// Says what happens to a connection.
    events StreamEvent {
        /// It is tried.
        Connect = "Connect",
        /// It is made.
        Connected = "Connected",
        /// The first data comes.
        StartStreaming = "StartStreaming",
        /// More data comes.
        DataReceived = "DataReceived",
        /// It comes to its regular end.
        Complete = "Complete",
        /// It breaks.
        Error = "Error",
        /// It is closed.
        Disconnect = "Disconnect",
        /// It is tried again.
        Reconnect = "Reconnect",
    }
    states {
        /// There is none.
        Disconnected = "Disconnected",
        /// It is being made.
        Connecting = "Connecting",
        /// It is there.
        Connected = "Connected",
        /// Data comes.
        Streaming = "Streaming",
        /// It came to its regular end.
        Completed = "Completed",
        /// It broke.
        Failed = "Failed",
    }
    initial Disconnected;
    transitions {
        Disconnected, Connect => Connecting;
        Connecting, Connected => Connected;
        Connected, StartStreaming => Streaming;
        Streaming, DataReceived => Streaming;
        Streaming, Complete => Completed;
        Disconnected | Connecting | Connected | Streaming | Completed | Failed, Disconnect => Disconnected;
        Disconnected | Connecting | Connected | Streaming | Completed | Failed, Error => Failed;
        Failed, Reconnect => Connecting;
    }
}
