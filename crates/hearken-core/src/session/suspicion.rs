//! Suspicions about calls.

use super::key::QuestionId;

/// Why a person should be asked about a call (A.8.4, chapter 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gravity {
    /// It can't be undone.
    Irreversible,
    /// Its risk is high.
    HighRisk,
}

/// The suspicion that a call carries out a rejected action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Suspicion {
    /// The rejected question.
    pub question: QuestionId,
    /// Whether that is certain.
    pub is_sure: bool,
    /// Whether silence, not the person, rejected it.
    pub by_silence: bool,
}
