//! The twelve core event types as a producer writes them.
//!
//! Responsibilities: their names on the wire, the urgency that chapter 3.3.2 recommends, the fields that
//! chapter 4 requires. Not here: reading events as a subscriber does (`protocol`) and filling in an
//! envelope (`running_session`).

/// A core event type (AAEP chapter 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A session began.
    SessionStarted,
    /// It ended well.
    SessionCompleted,
    /// It failed.
    SessionErrored,
    /// It was stopped.
    SessionCancelled,
    /// Its state changed.
    StateChanged,
    /// The progress of a task changed.
    ProgressUpdated,
    /// A tool call began.
    ToolInvoked,
    /// A tool call ended.
    ToolCompleted,
    /// A piece of an output.
    OutputStreaming,
    /// A decision is asked for.
    AwaitingConfirmation,
    /// An answer is asked for.
    AwaitingClarification,
    /// A person is asked to take over.
    HandoffRequested,
}

impl EventKind {
    /// All types.
    const ALL: [EventKind; 12] = [
        EventKind::SessionStarted,
        EventKind::SessionCompleted,
        EventKind::SessionErrored,
        EventKind::SessionCancelled,
        EventKind::StateChanged,
        EventKind::ProgressUpdated,
        EventKind::ToolInvoked,
        EventKind::ToolCompleted,
        EventKind::OutputStreaming,
        EventKind::AwaitingConfirmation,
        EventKind::AwaitingClarification,
        EventKind::HandoffRequested,
    ];

    /// Returns the compact name used in `type`.
    pub const fn wire(self) -> &'static str {
        match self {
            EventKind::SessionStarted => "aaep:agent.session.started",
            EventKind::SessionCompleted => "aaep:agent.session.completed",
            EventKind::SessionErrored => "aaep:agent.session.errored",
            EventKind::SessionCancelled => "aaep:agent.session.cancelled",
            EventKind::StateChanged => "aaep:agent.state.changed",
            EventKind::ProgressUpdated => "aaep:agent.progress.updated",
            EventKind::ToolInvoked => "aaep:agent.tool.invoked",
            EventKind::ToolCompleted => "aaep:agent.tool.completed",
            EventKind::OutputStreaming => "aaep:agent.output.streaming",
            EventKind::AwaitingConfirmation => "aaep:agent.awaiting.confirmation",
            EventKind::AwaitingClarification => "aaep:agent.awaiting.clarification",
            EventKind::HandoffRequested => "aaep:agent.handoff.requested",
        }
    }

    /// Returns the type with a compact name.
    pub fn from_wire(name: &str) -> Option<EventKind> {
        EventKind::ALL.into_iter().find(|kind| kind.wire() == name)
    }

    /// Returns the urgency that chapter 3.3.2 recommends (and that chapter 4 requires for four types).
    pub const fn urgency(self) -> &'static str {
        match self {
            EventKind::SessionErrored
            | EventKind::AwaitingConfirmation
            | EventKind::AwaitingClarification
            | EventKind::HandoffRequested => CRITICAL,
            EventKind::StateChanged | EventKind::ProgressUpdated => "background",
            EventKind::SessionStarted
            | EventKind::SessionCompleted
            | EventKind::SessionCancelled
            | EventKind::ToolInvoked
            | EventKind::ToolCompleted
            | EventKind::OutputStreaming => "normal",
        }
    }

    /// Returns the payload fields that a template must have (chapter 4, except what the server fills in).
    pub const fn required(self) -> &'static [&'static str] {
        match self {
            EventKind::SessionStarted | EventKind::SessionCompleted => &["summary_normal"],
            EventKind::SessionErrored => &["error_category", "summary_normal"],
            EventKind::SessionCancelled => &["cancelled_by", "summary_normal"],
            EventKind::StateChanged => &["from_state", "to_state"],
            EventKind::ProgressUpdated => &["progress"],
            EventKind::ToolInvoked => &["tool", "summary_normal"],
            EventKind::ToolCompleted => &["tool", "status"],
            EventKind::OutputStreaming => &["chunk", "complete"],
            EventKind::AwaitingConfirmation => &[
                "action",
                "consequence",
                "timeout_seconds",
                "default_decision",
            ],
            EventKind::AwaitingClarification => &["question", "timeout_seconds"],
            EventKind::HandoffRequested => &["reason", "target_kind"],
        }
    }

    /// Returns whether the type ends its session.
    pub const fn ends_session(self) -> bool {
        match self {
            EventKind::SessionCompleted
            | EventKind::SessionErrored
            | EventKind::SessionCancelled => true,
            EventKind::SessionStarted
            | EventKind::StateChanged
            | EventKind::ProgressUpdated
            | EventKind::ToolInvoked
            | EventKind::ToolCompleted
            | EventKind::OutputStreaming
            | EventKind::AwaitingConfirmation
            | EventKind::AwaitingClarification
            | EventKind::HandoffRequested => false,
        }
    }
}

/// The urgency of events that are never dropped (chapter 2.2.9).
pub const CRITICAL: &str = "critical";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_again() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::from_wire(kind.wire()), Some(kind));
        }
        assert_eq!(EventKind::from_wire("aaep:agent.purple.flamingo"), None);
    }
}
