//! A confirmation that takes one step although its agent states neither risk nor whether it can be undone.
//!
//! Responsibilities: that this was granted, and that nothing else is eased by it. Not here: what grants it (`app`).

use super::key::PromptId;
use super::prompt::Prompt;
use super::question::Question;
use super::sessions::Sessions;

impl Sessions {
    /// Lets a confirmation be accepted in one step, as far as it takes two only for what is not stated.
    pub fn ease(&mut self, id: PromptId) {
        self.prompts.change(id, |prompt| prompt.eased = true);
    }
}

impl Prompt {
    /// Returns whether nothing is stated of its risk and of undoing it, and that was granted to be enough.
    pub(super) fn may_be_unstated(&self) -> bool {
        let Question::Confirmation(asked) = &self.question else {
            return false;
        };
        let unstated = asked.risk_level.is_none()
            && asked.reversibility.is_none()
            && asked.irreversible.is_none();
        self.eased && unstated && self.risk().is_none()
    }
}
