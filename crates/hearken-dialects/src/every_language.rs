//! The phrase files, for the tests of the dialects.
//!
//! The crate that words phrases depends on this one, and implements [`Wording`] of the copy of this crate that it was
//! built with; so its sentences are converted here.

use hearken_core::app::EveryLanguage as Words;
use hearken_core::dialect::Wording as _;

use crate::{WordedSentence, Wording};

/// Words phrases in every language that is built in.
#[derive(Debug)]
pub(crate) struct EveryLanguage(Words);

impl EveryLanguage {
    pub(crate) fn best_for(languages: &[String]) -> Self {
        Self(Words::best_for(languages))
    }
}

impl Wording for EveryLanguage {
    fn say(&self, key: &str, args: &[(&str, &str)]) -> Vec<WordedSentence> {
        let said = self.0.say(key, args).into_iter();
        said.map(|said| WordedSentence {
            language: said.language,
            terse: said.terse,
            normal: said.normal,
            detailed: said.detailed,
        })
        .collect()
    }
}
