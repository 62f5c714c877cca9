//! The outcome of a posted message.
//!
//! Responsibilities: distinguishing each case, for tests and for observers. Not here: judging it (`pending_questions`).

use std::fmt;

use serde_json::Value;

use super::posted_reply::Malformed;

/// The outcome of a posted message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PostVerdict {
    /// It answered its question.
    Taken,
    /// No question was ever asked with its token.
    UnknownToken,
    /// Its question was already settled.
    UsedToken,
    /// It was decided after the question's time was up.
    TooLate,
    /// A decision on a clarification, or a response to a confirmation.
    WrongKind,
    /// Its decision, type or choice is not allowed by the question.
    NotAllowed,
    /// It is not a well-formed reply; the only case that is reported to the sender.
    Malformed(Malformed),
}

/// A posted message and its outcome.
#[derive(Clone, PartialEq)]
pub struct PostedMessage {
    /// The message; null if it was not JSON.
    pub message: Value,
    /// The outcome.
    pub verdict: PostVerdict,
}

impl fmt::Debug for PostedMessage {
    /// Omits the message: it contains a token and a person's words.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Received")
            .field("verdict", &self.verdict)
            .finish_non_exhaustive()
    }
}
