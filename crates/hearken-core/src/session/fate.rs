//! What became of an action that was asked about, and what the agent's next words are introduced with.
//!
//! Responsibilities: those words' data. Not here: when they are noted (`aftermath`), the words (`announce`).

use super::key::PromptId;

/// Why an action was perhaps not allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The person rejected it here.
    Rejected,
    /// What the agent did next implies that it was rejected.
    Declined,
    /// The time for an answer was over.
    TimedOut,
    /// It was decided somewhere else, and nothing shows how.
    Elsewhere,
}

/// What the agent's next words are introduced with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aftermath {
    pub(super) prompt: PromptId,
    /// The action.
    pub action: String,
    /// What became of it.
    pub fate: Fate,
}
