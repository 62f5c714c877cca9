//! Sage's four machines, as the code in its document has them, and the few steps missing there.
//!
//! Responsibilities: the tables, and which of their rows fill gaps. Not here: which message means which event
//! (`turn_events` and its neighbours), what a step is in AAEP's terms.
//!
//! The document draws each machine and also writes it as code, and the two differ. The code counts, because it is what
//! runs. In the drawings `resume()` leads to ACTIVE, `permission_granted()` to READY, TIMEOUT to PENDING, ENDED and the
//! agent's terminal states to INITIALIZING, and a stream's `complete()`, `reconnect()` and `error()` to DISCONNECTED; a
//! session ends only from PAUSED, an agent only from WAITING PERMISSION. Where the code lacks a step that Sage really
//! takes, the gap is filled: [`GAPS`] lists those rows, and nothing else was added.

use crate::protocol::{Transition, state_machine};

state_machine! {
    /// The state of a conversation (section 2).
    machine Session = "session";
    /// The events of a conversation.
    events SessionEvent {
        /// It is ready.
        Initialized = "Initialized",
        /// The person sent a prompt.
        Chat = "Chat",
        /// The agent needs input.
        NeedInput = "NeedInput",
        /// The input was given.
        Resume = "Resume",
        /// The agent is done.
        AgentComplete = "AgentComplete",
        /// It is ended.
        End = "End",
        /// It fails.
        Error = "Error",
        /// It timed out.
        Timeout = "Timeout",
    }
    states {
        /// It is being set up.
        Initializing = "Initializing",
        /// It waits for the person.
        Active = "Active",
        /// An agent is working.
        Processing = "Processing",
        /// The agent waits for input.
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
    /// The state of a turn's agent (section 3).
    machine Agent = "agent";
    /// The events of an agent.
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
        /// A permission is needed first.
        NeedPermission = "NeedPermission",
        /// The permission was granted.
        PermissionGranted = "PermissionGranted",
        /// The permission was denied.
        PermissionDenied = "PermissionDenied",
        /// The next step begins.
        Continue = "Continue",
        /// It is done.
        Complete = "Complete",
        /// It is stopped.
        Cancel = "Cancel",
        /// It failed.
        Error = "Error",
    }
    states {
        /// It is being set up.
        Initializing = "Initializing",
        /// It can take a task.
        Ready = "Ready",
        /// It waits for the model.
        Thinking = "Thinking",
        /// Its tools are running.
        ExecutingTools = "ExecutingTools",
        /// It waits for a permission.
        WaitingPermission = "WaitingPermission",
        /// It finished its task.
        Completed = "Completed",
        /// It was stopped.
        Cancelled = "Cancelled",
        /// It failed.
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

/// A gap in the document's code: a step that it lacks and Sage takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The step.
    pub step: Transition<Agent, AgentEvent>,
    /// Why it is needed.
    pub because: &'static str,
}

/// Creates a gap.
const fn gap(from: Agent, event: AgentEvent, to: Agent, because: &'static str) -> Gap {
    Gap {
        step: Transition { from, event, to },
        because,
    }
}

/// The steps missing in the document's code; all of them are in the agent's machine.
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
    /// The state of a tool call (section 4).
    machine Tool = "tool";
    /// The events of a call.
    events ToolEvent {
        /// It is started.
        Start = "Start",
        /// Its turn has come.
        PermitAcquired = "PermitAcquired",
        /// It may run.
        PermissionAllowed = "PermissionAllowed",
        /// It may not.
        PermissionDenied = "PermissionDenied",
        /// It makes progress.
        Progress = "Progress",
        /// It succeeded.
        Complete = "Complete",
        /// It failed.
        Fail = "Fail",
        /// It timed out.
        Timeout = "Timeout",
        /// It is stopped.
        Cancel = "Cancel",
    }
    states {
        /// It was called.
        Pending = "Pending",
        /// It waits for its turn.
        Queued = "Queued",
        /// Its permission is being checked.
        CheckingPermission = "CheckingPermission",
        /// It is running.
        Running = "Running",
        /// It succeeded.
        Success = "Success",
        /// It failed.
        Failed = "Failed",
        /// It timed out.
        Timeout = "Timeout",
        /// It was stopped.
        Cancelled = "Cancelled",
        /// It was denied, and never ran.
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
    /// Returns whether the call has not begun to run, so that it must not be announced as running.
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
    /// The state of the connection (section 5).
    machine Stream = "stream";
    /// The events of a connection.
    events StreamEvent {
        /// An attempt is made.
        Connect = "Connect",
        /// It is established.
        Connected = "Connected",
        /// The first data arrives.
        StartStreaming = "StartStreaming",
        /// More data arrives.
        DataReceived = "DataReceived",
        /// It ends normally.
        Complete = "Complete",
        /// It fails.
        Error = "Error",
        /// It is closed.
        Disconnect = "Disconnect",
        /// Another attempt is made.
        Reconnect = "Reconnect",
    }
    states {
        /// There is no connection.
        Disconnected = "Disconnected",
        /// It is being established.
        Connecting = "Connecting",
        /// It is established.
        Connected = "Connected",
        /// Data is arriving.
        Streaming = "Streaming",
        /// It ended normally.
        Completed = "Completed",
        /// It failed.
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
