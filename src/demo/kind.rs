//! The twelve core event types as the demo writes them.
//!
//! Responsibilities: their names on the wire, the urgency that chapter 3.3.2 recommends, the fields that
//! chapter 4 requires. Not here: reading events as a subscriber does (`protocol`) and filling in an
//! envelope (`session`).

/// A core event type (AAEP chapter 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    SessionStarted,
    SessionCompleted,
    SessionErrored,
    SessionCancelled,
    StateChanged,
    ProgressUpdated,
    ToolInvoked,
    ToolCompleted,
    OutputStreaming,
    AwaitingConfirmation,
    AwaitingClarification,
    HandoffRequested,
}

impl Kind {
    /// All types.
    pub(super) const ALL: [Kind; 12] = [
        Kind::SessionStarted,
        Kind::SessionCompleted,
        Kind::SessionErrored,
        Kind::SessionCancelled,
        Kind::StateChanged,
        Kind::ProgressUpdated,
        Kind::ToolInvoked,
        Kind::ToolCompleted,
        Kind::OutputStreaming,
        Kind::AwaitingConfirmation,
        Kind::AwaitingClarification,
        Kind::HandoffRequested,
    ];

    /// Returns the compact name used in `type`.
    pub(super) const fn wire(self) -> &'static str {
        match self {
            Kind::SessionStarted => "aaep:agent.session.started",
            Kind::SessionCompleted => "aaep:agent.session.completed",
            Kind::SessionErrored => "aaep:agent.session.errored",
            Kind::SessionCancelled => "aaep:agent.session.cancelled",
            Kind::StateChanged => "aaep:agent.state.changed",
            Kind::ProgressUpdated => "aaep:agent.progress.updated",
            Kind::ToolInvoked => "aaep:agent.tool.invoked",
            Kind::ToolCompleted => "aaep:agent.tool.completed",
            Kind::OutputStreaming => "aaep:agent.output.streaming",
            Kind::AwaitingConfirmation => "aaep:agent.awaiting.confirmation",
            Kind::AwaitingClarification => "aaep:agent.awaiting.clarification",
            Kind::HandoffRequested => "aaep:agent.handoff.requested",
        }
    }

    /// Returns the type with a compact name.
    pub(super) fn from_wire(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.wire() == name)
    }

    /// Returns the urgency that chapter 3.3.2 recommends (and that chapter 4 requires for four types).
    pub(super) const fn urgency(self) -> &'static str {
        match self {
            Kind::SessionErrored
            | Kind::AwaitingConfirmation
            | Kind::AwaitingClarification
            | Kind::HandoffRequested => CRITICAL,
            Kind::StateChanged | Kind::ProgressUpdated => "background",
            Kind::SessionStarted
            | Kind::SessionCompleted
            | Kind::SessionCancelled
            | Kind::ToolInvoked
            | Kind::ToolCompleted
            | Kind::OutputStreaming => "normal",
        }
    }

    /// Returns the payload fields that a scenario must write itself (chapter 4, except what the server
    /// fills in).
    pub(super) const fn required(self) -> &'static [&'static str] {
        match self {
            Kind::SessionStarted | Kind::SessionCompleted => &["summary_normal"],
            Kind::SessionErrored => &["error_category", "summary_normal"],
            Kind::SessionCancelled => &["cancelled_by", "summary_normal"],
            Kind::StateChanged => &["from_state", "to_state"],
            Kind::ProgressUpdated => &["progress"],
            Kind::ToolInvoked => &["tool", "summary_normal"],
            Kind::ToolCompleted => &["tool", "status"],
            Kind::OutputStreaming => &["chunk", "complete"],
            Kind::AwaitingConfirmation => &[
                "action",
                "consequence",
                "timeout_seconds",
                "default_decision",
            ],
            Kind::AwaitingClarification => &["question", "timeout_seconds"],
            Kind::HandoffRequested => &["reason", "target_kind"],
        }
    }

    /// Returns whether the type ends its session.
    pub(super) const fn ends_session(self) -> bool {
        match self {
            Kind::SessionCompleted | Kind::SessionErrored | Kind::SessionCancelled => true,
            Kind::SessionStarted
            | Kind::StateChanged
            | Kind::ProgressUpdated
            | Kind::ToolInvoked
            | Kind::ToolCompleted
            | Kind::OutputStreaming
            | Kind::AwaitingConfirmation
            | Kind::AwaitingClarification
            | Kind::HandoffRequested => false,
        }
    }
}

/// The urgency of events that are never dropped (chapter 2.2.9).
pub(super) const CRITICAL: &str = "critical";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_again() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_wire(kind.wire()), Some(kind));
        }
        assert_eq!(Kind::from_wire("aaep:agent.purple.flamingo"), None);
    }
}
