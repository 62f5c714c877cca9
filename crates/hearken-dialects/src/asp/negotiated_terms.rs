//! The terms under negotiation, for a person who is asked to decide.
//!
//! Responsibilities: the terms that the latest offer, commitment or agreement states, and whether they bind. Not here:
//! the question (`escalation`).

use super::conversation::AspConversation;
use super::message::AspMessage;
use super::performatives::Performative;
use super::report_phrases;
use super::session::MessageEffect;
use super::states::State;

/// The latest terms.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct LatestTerms {
    /// Who stated them.
    by: String,
    terms: String,
}

impl LatestTerms {
    /// Notes the terms of a message that counts.
    pub(super) fn note(&mut self, message: &AspMessage, taken: &MessageEffect) {
        let offers = matches!(
            message.performative,
            Some(Performative::Propose | Performative::Counter | Performative::Commit)
        );
        if !offers || message.invites() || taken.is_void() {
            return;
        }
        let terms = report_phrases::terms(message);
        let terms = match (terms.is_empty(), &message.body.about) {
            (true, Some(about)) => about.clone(),
            (true, None) => return,
            (false, _) => terms,
        };
        let by = report_phrases::name(&message.sender);
        *self = Self { by, terms };
    }
}

impl AspConversation {
    /// Returns the terms that a person's decision is about, in every language; empty if none were heard.
    pub(super) fn terms_in_words(&self) -> Vec<(String, String)> {
        let LatestTerms { by, terms } = &self.offer;
        if terms.is_empty() {
            return Vec::new();
        }
        let key = match self.negotiation.before() {
            State::Executing => "asp.terms.agreed",
            State::Agreeing => "asp.terms.committed",
            State::Idle
            | State::Invited
            | State::Introduced
            | State::Conversing
            | State::Escalated
            | State::Closed
            | State::Failed => "asp.terms.offered",
        };
        let said = self.words.say(key, &[("sender", by), ("terms", terms)]);
        said.into_iter()
            .map(|said| (said.language, said.normal))
            .collect()
    }
}
