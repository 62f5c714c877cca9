//! The words that translators put into events, from the phrase files.
//!
//! Responsibilities: every built-in language of a phrase, at each verbosity. Not here: the choice of the phrase (each
//! dialect), what the program says in its own name (`announce`).

use std::sync::OnceLock;

use crate::announce::{Arg, BUILT_IN, Phrases, join};
use crate::config::Verbosity;
use crate::dialect::{WordedSentence, Wording, in_summary};
use crate::link::{Fault, Phrase};
use crate::protocol::Summary;

use super::fault_words::{args_of, fault_told};

/// Phrases in all built-in languages.
#[derive(Debug, Clone)]
pub struct EveryLanguage {
    languages: Vec<String>,
    /// The phrase files, read when the first translator needs them: most runs never do.
    read: OnceLock<Vec<Phrases>>,
}

impl EveryLanguage {
    /// Creates it with the person's languages: the best of them is used where only one language is possible.
    pub fn best_for(languages: &[String]) -> Self {
        Self {
            languages: languages.to_vec(),
            read: OnceLock::new(),
        }
    }

    /// Returns a phrase about a source as the summary of an event, in every language, and the language of its main
    /// texts.
    pub(crate) fn phrase(&self, phrase: &Phrase, source: &str) -> (Summary, Option<String>) {
        let said = self.phrases().iter().map(|phrases| {
            let mut args = vec![("source", Arg::own(source))];
            args.extend(args_of(phrases, phrase));
            let words = |level| join(&phrases.say(phrase.key, level, &args));
            WordedSentence {
                language: phrases.language().to_owned(),
                terse: words(Verbosity::Terse),
                normal: words(Verbosity::Normal),
                detailed: words(Verbosity::Detailed),
            }
        });
        let language = self.phrases().first();
        let language = language.map(|phrases| phrases.language().to_owned());
        (in_summary(said), language)
    }

    /// Returns a fault in words, in the best language.
    pub(crate) fn fault(&self, fault: &Fault) -> String {
        let best = self.phrases().first();
        best.map_or_else(String::new, |phrases| fault_told(phrases, fault))
    }

    fn phrases(&self) -> &[Phrases] {
        self.read.get_or_init(|| {
            let own = Phrases::for_languages(&self.languages).ok();
            let own = own.as_ref().map_or("en", Phrases::language);
            // A test reads every file, so none is missing here.
            let files = BUILT_IN.iter();
            let mut read: Vec<Phrases> = files
                .filter_map(|file| Phrases::built_in(file).ok())
                .collect();
            read.sort_by_key(|phrases| phrases.language() != own);
            read
        })
    }
}

impl Wording for EveryLanguage {
    fn say(&self, key: &str, args: &[(&str, &str)]) -> Vec<WordedSentence> {
        let args: Vec<(&str, Arg)> = args
            .iter()
            .map(|(name, text)| (*name, Arg::own(text)))
            .collect();
        let words = |phrases: &Phrases, level| join(&phrases.say(key, level, &args));
        let said = self.phrases().iter().map(|phrases| WordedSentence {
            language: phrases.language().to_owned(),
            terse: words(phrases, Verbosity::Terse),
            normal: words(phrases, Verbosity::Normal),
            detailed: words(phrases, Verbosity::Detailed),
        });
        said.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_worded_in_every_language_and_at_every_level() {
        let german = EveryLanguage::best_for(&["de-AT".to_owned()]);
        assert_eq!(german.say("question.or", &[])[0].language, "de");
        let words = EveryLanguage::best_for(&[]);
        let said = words.say("session.cancelled", &[("by", "Ann"), ("partial", "half")]);
        assert_eq!(said.len(), BUILT_IN.len());
        assert_eq!(said[0].language, "en");
        assert_eq!(said[0].terse, "Cancelled by Ann");
        assert_eq!(said[0].detailed, "Cancelled by Ann So far: half");
        assert_ne!(said[0].terse, said[1].terse);
    }
}
