//! What became of a message that was posted.
//!
//! Responsibilities: telling each case apart, for tests and for whoever looks. Not here: judging it (`questions`).

use std::fmt;

use serde_json::Value;

use super::reply::Malformed;

/// What became of a message that was posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It answered its question.
    Taken,
    /// No question was ever asked with its token.
    UnknownToken,
    /// Its question was settled before.
    UsedToken,
    /// It was decided after the question's time was up.
    TooLate,
    /// A decision for a clarification, or a response for a confirmation.
    WrongKind,
    /// Its decision, type or choice is not allowed by the question.
    NotAllowed,
    /// It is not a well-formed reply; the only case the sender is told about.
    Malformed(Malformed),
}

/// A posted message and what became of it.
#[derive(Clone, PartialEq)]
pub struct Received {
    /// The message; null when it was not JSON.
    pub message: Value,
    /// What became of it.
    pub verdict: Verdict,
}

impl fmt::Debug for Received {
    /// Leaves the message out: it holds a token and a person's words.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Received")
            .field("verdict", &self.verdict)
            .finish_non_exhaustive()
    }
}
