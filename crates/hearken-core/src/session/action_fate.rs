//! The fate of an action that was asked about, which introduces the agent's next words.
//!
//! Responsibilities: the data of that introduction. Not here: when it is noted (`aftermath`), the words (`announce`).

use super::key::QuestionId;

/// Why an action may not have been allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DenialReason {
    /// The person rejected it here.
    Rejected,
    /// The agent's next step implies that it was rejected.
    Declined,
    /// The time for an answer ran out.
    TimedOut,
    /// It was decided elsewhere, and nothing shows how.
    Elsewhere,
}

/// The introduction of the agent's next words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeniedAction {
    pub(super) question: QuestionId,
    /// The action.
    pub action: String,
    /// The fate of the action.
    pub fate: DenialReason,
}
