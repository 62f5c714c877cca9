//! What whoever serves the demo's agent wants to know of those who come.
//!
//! Responsibilities: naming what happened, without a token and without anybody's words. Not here: wording and
//! writing it (`runtime`).

use std::sync::Arc;

use serde_json::Value;

use super::verdict::Verdict;

/// Hears what happens; it must not wait for anything.
pub type Hearer = Arc<dyn Fn(News) + Send + Sync>;

/// What happened at the demo's door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// Somebody listens now.
    Came {
        /// Their number, from 1, by the order in which they came.
        number: u64,
        /// Whether they agreed on terms before.
        agreed: bool,
        /// How many are there now.
        there: usize,
    },
    /// Somebody is gone.
    Left {
        /// Their number.
        number: u64,
        /// How many are still there.
        there: usize,
    },
    /// A scenario begins.
    Started {
        /// Its name.
        scenario: String,
    },
    /// Somebody answered a question, or tried to.
    Answered {
        /// What kind of answer it was.
        answer: Answer,
        /// What became of it.
        verdict: Verdict,
    },
}

/// What kind of answer came, and nothing of what was written in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// A confirmation was accepted.
    Accept,
    /// A confirmation was rejected.
    Reject,
    /// A clarification was answered.
    Response,
    /// It is none that is known.
    Unknown,
}

impl Answer {
    /// Looks at the kind of a message.
    pub(super) fn of(message: Option<&Value>) -> Self {
        let field = |name: &str| message?.get(name)?.as_str();
        match (field("type"), field("decision")) {
            (Some("confirmation.reply"), Some("accept")) => Self::Accept,
            (Some("confirmation.reply"), Some("reject")) => Self::Reject,
            (Some("clarification.reply"), _) => Self::Response,
            (_, _) => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_told_by_its_kind_alone() {
        let reply = |kind: &str, decision: &str| {
            Answer::of(Some(&json!({
                "type": kind, "decision": decision, "reply_token": "rpl_1", "response": "secret",
            })))
        };
        assert_eq!(reply("confirmation.reply", "accept"), Answer::Accept);
        assert_eq!(reply("confirmation.reply", "reject"), Answer::Reject);
        assert_eq!(reply("confirmation.reply", "later"), Answer::Unknown);
        assert_eq!(reply("clarification.reply", ""), Answer::Response);
        assert_eq!(Answer::of(None), Answer::Unknown);
    }
}
