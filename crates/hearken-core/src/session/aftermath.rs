//! The fate of an action that was asked about, until the agent's next words are announced.
//!
//! Responsibilities: when those words need an introduction, and which one. Not here: how a question is closed
//! (`answer_path`, `question_events`), the words (`announce`).
//!
//! Some agents claim to have acted whatever was decided ("Sent!"). So their words right after a decision other
//! than consent are introduced as their claim, once per question.

use crate::protocol::{Answer, Decision};

use super::action_fate::{DenialReason, DeniedAction};
use super::key::QuestionId;
use super::question::{CloseReason, Question, ReplyState};
use super::question_body::QuestionBody;
use super::sessions::Sessions;

impl Question {
    /// Returns whether its time ran out without an answer from the person, and the agent then continued.
    pub fn ran_out(&self) -> bool {
        self.overdue && matches!(self.reply, ReplyState::Withdrawn(_))
    }
}

impl Sessions {
    /// Notes how to introduce the agent's next words. A decision made elsewhere never replaces the person's own, and
    /// leads to at most one introduction per question.
    pub(super) fn follow(&mut self, id: QuestionId, fate: DenialReason) {
        let Some(question) = self.questions.get(id) else {
            return;
        };
        let Some(session) = self.sessions.get_mut(&question.key) else {
            return;
        };
        let own = fate == DenialReason::Rejected;
        let earlier = session.aftermath.as_ref().map(|earlier| earlier.fate);
        if own || (!question.introduced && earlier != Some(DenialReason::Rejected)) {
            session.aftermath = Some(Box::new(DeniedAction {
                question: id,
                action: question.body.subject().to_owned(),
                fate,
            }));
        }
    }

    /// Drops this question's introduction of the agent's next words.
    pub(super) fn follow_no_more(&mut self, id: QuestionId) {
        if let Some(question) = self.questions.get(id)
            && let Some(session) = self.sessions.get_mut(&question.key)
        {
            session.aftermath.take_if(|it| it.question == id);
        }
    }

    /// Notes that an action was done; only if the person rejected it does that need an introduction.
    pub(super) fn was_done(&mut self, id: QuestionId) {
        if !self.questions.get(id).is_some_and(Question::was_rejected) {
            self.follow_no_more(id);
        }
    }

    /// Notes what a question's closing shows about its action; `overdue` says whether its time was up.
    pub(super) fn follow_closing(&mut self, id: QuestionId, overdue: bool) {
        let Some(question) = self.questions.get(id) else {
            return;
        };
        match fate_of(question, overdue) {
            Some(fate) => self.follow(id, fate),
            None => self.was_done(id),
        }
    }

    /// Returns whether a question's time is up: by our own count, or by the producer's clock, the only clock of
    /// a recording.
    pub(super) fn is_overdue(&self, id: QuestionId) -> bool {
        let question = self.questions.get(id);
        question.is_some_and(|question| {
            question.reply == ReplyState::TimedOut || self.is_over_for(question, 0)
        })
    }

    /// Returns whether a question's time has been up for this many seconds, by the producer's clock.
    pub(super) fn is_over_for(&self, question: &Question, seconds: u64) -> bool {
        let last = self
            .sessions
            .get(&question.key)
            .and_then(|session| session.last_stamp);
        match (question.body.timeout_seconds(), question.asked_at, last) {
            (Some(timeout), Some(asked), Some(last)) => {
                u64::try_from(last.as_second() - asked.as_second())
                    .is_ok_and(|passed| passed >= timeout.saturating_add(seconds))
            }
            (Some(_) | None, Some(_) | None, Some(_) | None) => false,
        }
    }
}

/// Returns the fate of a closed question's action; `None` if it was allowed, if it was decided here, or if the closing
/// shows nothing about it.
fn fate_of(question: &Question, overdue: bool) -> Option<DenialReason> {
    match &question.body {
        QuestionBody::Confirmation(_) => {}
        QuestionBody::Clarification(_) => return None,
    }
    let (given, how) = match &question.reply {
        ReplyState::Withdrawn(how) => (None, how),
        ReplyState::PerhapsResolved(given, how) => (Some(&given.answer), how),
        ReplyState::Unanswered
        | ReplyState::Sending(_)
        | ReplyState::Retrying(_)
        | ReplyState::SendingAgain(_)
        | ReplyState::RetryingAgain(_)
        | ReplyState::Perhaps(_)
        | ReplyState::Written(_)
        | ReplyState::Sent(_)
        | ReplyState::TimedOut
        | ReplyState::Settling(..)
        | ReplyState::Resolved(..) => return None,
    };
    let overdue = overdue && given.is_none();
    let went_on = matches!(
        how,
        CloseReason::StateLeft { .. } | CloseReason::ToolWentOn { .. }
    );
    match (given, how.implied()) {
        _ if !went_on => None,
        // The person's own decision already has its introduction.
        (
            Some(Answer::Decision {
                decision: Decision::Reject,
                ..
            }),
            _,
        ) => None,
        (_, Some(Decision::Accept)) => None,
        // Silence means acceptance here.
        (None, None) if overdue && question.accepts_when_silent() => None,
        (None, Some(Decision::Reject | Decision::Other(_)) | None) if overdue => {
            Some(DenialReason::TimedOut)
        }
        (_, Some(Decision::Reject | Decision::Other(_))) => Some(DenialReason::Declined),
        (None, None) => Some(DenialReason::Elsewhere),
        (Some(_), None) => None,
    }
}
