//! One followed session, and its question after a lost connection.
//!
//! Responsibilities: showing a question again that is still open when the connection is back. Not here: the session
//! itself (`conversation`), matching frames to sessions (`translator`).

use crate::Cx;

use super::conversation::AspConversation;
use super::escalation::QuestionPhase;
use super::long_names::AnswerNames;
use super::states::State;

/// A followed session, and when it was last heard of.
#[derive(Debug)]
pub(super) struct FollowedSession {
    pub(super) conversation: AspConversation,
    pub(super) heard: u64,
    /// The names used in answers to it.
    pub(super) names: AnswerNames,
    /// The token of a question that was open when the connection was lost, until the session is known to wait still.
    lost: Option<String>,
}

impl FollowedSession {
    /// Starts following a session that was heard of now.
    pub(super) fn new(told: AspConversation, heard: u64) -> Self {
        Self {
            conversation: told,
            heard,
            names: AnswerNames::default(),
            lost: None,
        }
    }

    /// Remembers the open question while the connection is lost.
    pub(super) fn lose(&mut self) {
        let question = self.conversation.question.as_ref();
        self.lost = question
            .filter(|question| question.phase == QuestionPhase::Asked)
            .map(|question| question.token.clone());
    }

    /// Shows the question again that was open when the connection was lost, if the session still waits for its
    /// resolution: otherwise the person could not answer it.
    pub(super) fn still_waits(&mut self, cx: &mut Cx<'_>) {
        let waits = self.conversation.negotiation.standing().state() == State::Escalated;
        let question = self.conversation.question.as_ref();
        let is_it = question.is_some_and(|question| {
            question.phase == QuestionPhase::Asked && self.lost.as_ref() == Some(&question.token)
        });
        if self.lost.take().is_some() && waits && is_it {
            self.conversation.show(cx);
        }
    }
}
