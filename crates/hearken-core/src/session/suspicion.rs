//! What is held against a call.

use super::key::QuestionId;

/// Why a person is asked about a call (A.8.4, chapter 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gravity {
    /// It can't be undone.
    Irreversible,
    /// Its risk is high.
    HighRisk,
}

/// That a call carries out what was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Suspicion {
    /// The rejected question.
    pub question: QuestionId,
    /// Whether that is sure.
    pub is_sure: bool,
    /// Whether silence rejected it, not the person.
    pub by_silence: bool,
}
