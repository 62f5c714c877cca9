//! The data that a step of a question's machine adds, and the state that it leads to.
//!
//! Responsibilities: joining a row of the table with its data. Not here: which step is taken (`answer_path`).

use super::machines::QuestionRun;
use super::question::{CloseReason, GivenAnswer, ReplyState};

/// The data of a step; absent data is unchanged.
#[derive(Debug, Default)]
pub(super) struct TransitionData {
    pub(super) given: Option<GivenAnswer>,
    pub(super) how: Option<CloseReason>,
}

impl ReplyState {
    /// Returns a state of the table with its data; `None` if the data is missing, which no row allows.
    pub(super) fn enter(
        to: QuestionRun,
        given: Option<GivenAnswer>,
        how: Option<CloseReason>,
    ) -> Option<Self> {
        Some(match to {
            QuestionRun::Absent => return None,
            QuestionRun::Unanswered => Self::Unanswered,
            QuestionRun::TimedOut => Self::TimedOut,
            QuestionRun::Sending => Self::Sending(given?),
            QuestionRun::Retrying => Self::Retrying(given?),
            QuestionRun::SendingAgain => Self::SendingAgain(given?),
            QuestionRun::RetryingAgain => Self::RetryingAgain(given?),
            QuestionRun::Perhaps => Self::Perhaps(given?),
            QuestionRun::Written => Self::Written(given?),
            QuestionRun::Sent => Self::Sent(given?),
            QuestionRun::Settling => Self::Settling(given?, how?),
            QuestionRun::Resolved => Self::Resolved(given?, how?),
            QuestionRun::PerhapsResolved => Self::PerhapsResolved(given?, how?),
            QuestionRun::Withdrawn => Self::Withdrawn(how?),
        })
    }
}
