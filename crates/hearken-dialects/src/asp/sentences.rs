//! The sentences of a session's events, in every language and at each verbosity.
//!
//! Responsibilities: the arguments of a phrase, and putting its words into the fields of an event. Not here: choosing
//! the phrase (`report_phrases`).

use crate::kit::event_wording::summary;
use crate::protocol::Summary;

use super::conversation::AspConversation;
use super::message::AspMessage;
use super::performatives::Performative;
use super::report_phrases;

/// The arguments for the sentences of a message.
pub(super) struct Args {
    pub(super) sender: String,
    recipient: String,
    about: String,
    reason: String,
    terms: String,
    state: String,
    pub(super) performative: String,
}

impl Args {
    /// Leaves the subject of an offer out if it is still the one that was heard last and there are terms to say.
    pub(super) fn leave_out_known(&mut self, known: &str, performative: Option<Performative>) {
        let offers = matches!(
            performative,
            Some(Performative::Propose | Performative::Counter)
        );
        if offers && !self.terms.is_empty() && self.about == known {
            self.about.clear();
        }
    }

    pub(super) fn pairs(&self) -> [(&'static str, &str); 7] {
        [
            ("sender", &self.sender),
            ("recipient", &self.recipient),
            ("about", &self.about),
            ("reason", &self.reason),
            ("terms", &self.terms),
            ("state", &self.state),
            ("performative", &self.performative),
        ]
    }
}

impl AspConversation {
    /// Returns a word in every language.
    pub(super) fn word(&self, key: &str) -> Vec<(String, String)> {
        let said = self.words.say(key, &[]);
        said.into_iter()
            .map(|said| (said.language, said.normal))
            .collect()
    }

    pub(super) fn args(&self, message: &AspMessage) -> Args {
        let state = report_phrases::state(self.negotiation.standing().state());
        Args {
            sender: report_phrases::name(&message.sender),
            recipient: message
                .recipient
                .as_deref()
                .map(report_phrases::name)
                .unwrap_or_default(),
            about: message.body.about.clone().unwrap_or_default(),
            reason: message.body.reason.clone().unwrap_or_default(),
            terms: report_phrases::terms(message),
            state: state.to_owned(),
            performative: message.performative.map_or_else(
                || message.performative_name.clone(),
                |it| it.name().to_owned(),
            ),
        }
    }

    pub(super) fn bare_args(&self) -> Args {
        Args {
            sender: String::new(),
            recipient: String::new(),
            about: String::new(),
            reason: String::new(),
            terms: String::new(),
            state: report_phrases::state(self.negotiation.standing().state()).to_owned(),
            performative: String::new(),
        }
    }

    /// Returns a sentence as the summary of an event. The argument `state` is the phrase key of the state's name.
    pub(super) fn sentence(&self, key: &str, args: &[(&str, &str)]) -> Summary {
        let state = args
            .iter()
            .find(|(name, _)| *name == "state")
            .map(|(_, key)| *key);
        let names = state.map(|key| self.word(key)).unwrap_or_default();
        let with = |language: &str| -> Vec<(&str, &str)> {
            let name = names.iter().find(|(of, _)| of == language);
            let rest = args.iter().filter(|(name, _)| *name != "state").copied();
            rest.chain(name.map(|(_, word)| ("state", word.as_str())))
                .collect()
        };
        let languages = self.words.say(key, &[]).into_iter();
        summary(languages.filter_map(|of| {
            let said = self.words.say(key, &with(&of.language));
            said.into_iter().find(|said| said.language == of.language)
        }))
    }
}
