//! The sentences that a translator needs inside AAEP events.
//!
//! Responsibilities: the way from a phrase key to its words in every language, without knowing them. Not here: the
//! words themselves (the phrase files, which `announce` reads).
//!
//! Mental model: what a dialect says in its own name is a [`Phrase`](crate::link::Phrase), which `app` puts into words.
//! What it says about a session is an AAEP event, which may be recorded, replayed and later heard in another language;
//! so the event itself contains the sentences, one for each verbosity and language, as AAEP provides (2.2.8, 11.5.1).

use std::fmt::Debug;
use std::sync::Arc;

use crate::event_writer::short;
use crate::protocol::{Summary, SummaryLevel};

/// A sentence that every phrase file has: its languages are those of all sentences.
const ANY_PHRASE: &str = "acp.end.gone";

/// One sentence in one language, at each verbosity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordedSentence {
    /// The language (BCP 47).
    pub language: String,
    /// The short form.
    pub terse: String,
    /// The standard form.
    pub normal: String,
    /// The long form.
    pub detailed: String,
}

/// A source of words for phrases, in every available language; the first is the fallback for all others.
pub trait Wording: Debug + Send + Sync {
    /// Returns the words of a phrase; never empty.
    fn say(&self, key: &str, args: &[(&str, &str)]) -> Vec<WordedSentence>;
}

/// A shared [`Wording`], for code that creates dialects.
#[derive(Debug, Clone)]
pub struct SharedWording(Arc<dyn Wording>);

impl SharedWording {
    /// Wraps a wording.
    pub fn new(wording: impl Wording + 'static) -> Self {
        Self(Arc::new(wording))
    }

    /// Returns the words of a phrase.
    pub fn say(&self, key: &str, args: &[(&str, &str)]) -> Vec<WordedSentence> {
        self.0.say(key, args)
    }

    /// Returns a sentence as the summary of an event, in every language and at each verbosity.
    pub fn summary(&self, key: &str, args: &[(&str, &str)]) -> Summary {
        summary(self.say(key, args))
    }

    /// Returns the language of our sentences in the main fields of an event; `None` if there is no such sentence.
    pub fn language(&self) -> Option<String> {
        let said = self.say(ANY_PHRASE, &[]).into_iter().next();
        said.map(|said| said.language)
    }
}

/// Returns a sentence as a summary: the first language in the main fields, the others as variants (11.5.1).
pub fn summary(said: impl IntoIterator<Item = WordedSentence>) -> Summary {
    let mut summary = Summary::default();
    for (at, said) in said.into_iter().enumerate() {
        let levels = [
            (SummaryLevel::Terse, short(&said.terse)),
            (SummaryLevel::Normal, said.normal),
            (SummaryLevel::Detailed, said.detailed),
        ];
        for (level, text) in levels {
            if text.trim().is_empty() {
                continue;
            }
            match (at, level) {
                (0, SummaryLevel::Terse) => summary.terse = Some(text),
                (0, SummaryLevel::Normal) => summary.normal = Some(text),
                (0, SummaryLevel::Detailed) => summary.detailed = Some(text),
                (_, level) => summary.variants.push((level, said.language.clone(), text)),
            }
        }
    }
    summary
}

impl Default for SharedWording {
    /// Returns the keys as the words: enough for reports, which hold no payload.
    fn default() -> Self {
        Self::new(Keys)
    }
}

#[derive(Debug)]
struct Keys;

impl Wording for Keys {
    fn say(&self, key: &str, _: &[(&str, &str)]) -> Vec<WordedSentence> {
        vec![WordedSentence {
            language: "en".to_owned(),
            terse: key.to_owned(),
            normal: key.to_owned(),
            detailed: key.to_owned(),
        }]
    }
}
