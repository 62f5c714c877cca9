//! Confirmations that take one step although their agent states neither the risk nor whether the action can be undone.
//!
//! Responsibilities: recording that this was granted, and limiting it to these two facts. Not here: granting it
//! (`app`).

use super::key::QuestionId;
use super::question::Question;
use super::question_body::QuestionBody;
use super::sessions::Sessions;

impl Sessions {
    /// Allows a confirmation to be accepted in one step if it would take two only because these two are not
    /// stated.
    pub fn ease(&mut self, id: QuestionId) {
        self.questions.change(id, |question| question.eased = true);
    }
}

impl Question {
    /// Returns whether neither its risk nor its reversibility is stated, and one step was granted regardless.
    pub(super) fn may_be_unstated(&self) -> bool {
        let QuestionBody::Confirmation(asked) = &self.body else {
            return false;
        };
        let unstated = asked.risk_level.is_none()
            && asked.reversibility.is_none()
            && asked.irreversible.is_none();
        self.eased && unstated && self.risk().is_none()
    }
}
