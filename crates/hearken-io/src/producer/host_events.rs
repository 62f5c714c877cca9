//! Events for the host of a producer, about its subscribers.
//!
//! Responsibilities: naming what happened, without tokens and without anybody's words. Not here: wording and
//! writing it (`runtime`).

use std::sync::Arc;

use serde_json::Value;

use super::verdict::PostVerdict;

/// The receiver of such events; it must not block.
pub type Hearer = Arc<dyn Fn(ProducerEvent) + Send + Sync>;

/// Something that happened at a producer's door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProducerEvent {
    /// A subscriber arrived.
    Came {
        /// Its number, from 1, in order of arrival.
        number: u64,
        /// Whether it agreed on terms first.
        agreed: bool,
        /// How many subscribers there are now.
        there: usize,
    },
    /// A subscriber left.
    Left {
        /// Its number.
        number: u64,
        /// How many subscribers remain.
        there: usize,
    },
    /// A subscriber answered a question, or tried to.
    Answered {
        /// The kind of answer.
        answer: AnswerKind,
        /// The outcome.
        verdict: PostVerdict,
    },
}

/// The kind of an answer, without any of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerKind {
    /// A confirmation was accepted.
    Accept,
    /// A confirmation was rejected.
    Reject,
    /// A clarification was answered.
    Response,
    /// An unknown kind.
    Unknown,
}

impl AnswerKind {
    /// Returns the kind of a message.
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
            AnswerKind::of(Some(&json!({
                "type": kind, "decision": decision, "reply_token": "rpl_1", "response": "secret",
            })))
        };
        assert_eq!(reply("confirmation.reply", "accept"), AnswerKind::Accept);
        assert_eq!(reply("confirmation.reply", "reject"), AnswerKind::Reject);
        assert_eq!(reply("confirmation.reply", "later"), AnswerKind::Unknown);
        assert_eq!(reply("clarification.reply", ""), AnswerKind::Response);
        assert_eq!(AnswerKind::of(None), AnswerKind::Unknown);
    }
}
