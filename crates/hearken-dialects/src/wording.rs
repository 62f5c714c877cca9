//! The sentences that a translator needs inside AAEP events.
//!
//! Responsibilities: the way from a phrase's key to its words in every language, without knowing them. Not here: the
//! words (the phrase files, which `announce` reads).
//!
//! Mental model: what a dialect tells in its own name is a [`Phrase`](crate::link::Phrase), which `app` words. What it tells
//! of a session is an AAEP event, which is recorded, replayed and heard in another language later; so its sentences stand
//! in the event, one for each verbosity and language, as AAEP has it (2.2.8, 11.5.1).

use std::fmt::Debug;
use std::sync::Arc;

/// One sentence in one language, at each verbosity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The language (BCP 47).
    pub language: String,
    /// The short form.
    pub terse: String,
    /// The standard form.
    pub normal: String,
    /// The long form.
    pub detailed: String,
}

/// Words a phrase in every language that there is, the first of which any other falls back to.
pub trait Wording: Debug + Send + Sync {
    /// Returns the words of a phrase; never none.
    fn say(&self, key: &str, args: &[(&str, &str)]) -> Vec<Said>;
}

/// Has the way to the words, for whoever makes dialects.
#[derive(Debug, Clone)]
pub struct Words(Arc<dyn Wording>);

impl Words {
    /// Takes whoever knows the words.
    pub fn new(wording: impl Wording + 'static) -> Self {
        Self(Arc::new(wording))
    }

    /// Returns the words of a phrase.
    pub fn say(&self, key: &str, args: &[(&str, &str)]) -> Vec<Said> {
        self.0.say(key, args)
    }
}

impl Default for Words {
    /// Knows no words, and says the keys: enough for reports, in which no payload stands.
    fn default() -> Self {
        Self::new(Keys)
    }
}

#[derive(Debug)]
struct Keys;

impl Wording for Keys {
    fn say(&self, key: &str, _: &[(&str, &str)]) -> Vec<Said> {
        vec![Said {
            language: "en".to_owned(),
            terse: key.to_owned(),
            normal: key.to_owned(),
            detailed: key.to_owned(),
        }]
    }
}
