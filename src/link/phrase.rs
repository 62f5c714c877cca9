//! A sentence that is not worded yet: the key of a phrase and what stands in it.
//!
//! Responsibilities: letting rooms that know no words say something. Not here: the words, and how each kind of
//! argument is made safe to say (`announce`).

use super::Fault;

/// Holds the key of a phrase and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    /// The key in the files of phrases.
    pub key: &'static str,
    /// What stands in it, by the names that the phrase has for them.
    pub args: Vec<(&'static str, Word)>,
}

/// Is what stands in a phrase, by whose word it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// A number, or a text of ours.
    Own(String),
    /// A name that a stranger chose.
    Name(String),
    /// Several such names.
    Names(Vec<String>),
    /// What the other side says in its own words.
    Agent(String),
    /// Another phrase.
    Phrase(Phrase),
    /// Several phrases, one behind the other.
    Phrases(Vec<Phrase>),
    /// Why something did not work.
    Fault(Fault),
}

impl Phrase {
    /// Names a phrase without arguments.
    pub fn new(key: &'static str) -> Self {
        Self {
            key,
            args: Vec::new(),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn with(mut self, name: &'static str, word: Word) -> Self {
        self.args.push((name, word));
        self
    }
}

impl std::fmt::Display for Phrase {
    /// Writes the key, for a line of a log; what stands in it may be a stranger's.
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(self.key)
    }
}
