//! What is inserted into a phrase, by the origin of the words.
//!
//! Responsibilities: the kinds of arguments. Not here: how each is made fit to be spoken (`filled_phrase`).

use std::sync::Arc;

/// One argument of a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arg {
    /// The program's own word or number.
    Own(String),
    /// The program's own words that sound different from what is written.
    Sounding {
        /// The written form.
        text: String,
        /// The spoken form.
        spoken: String,
    },
    /// A name from the wire: shortened and stripped to one harmless word group.
    Name(String),
    /// A tool's name from the wire, as words.
    Tool(String),
    /// An agent's text, normalised as prose.
    Agent(String, Option<Arc<str>>),
    /// An agent's text in a question: nothing is abbreviated, every sign is spoken.
    Exact(String, Option<Arc<str>>),
    /// A command, which is shown on separate rows and whose words distinguish it from every other.
    Command(String),
    /// A path, an address or another name from a command, within the program's own words and exactly as written.
    Inline(String),
}

impl Arg {
    /// Creates an argument from the program's own words.
    pub fn own(text: impl ToString) -> Self {
        Self::Own(text.to_string())
    }

    /// Returns an agent's text with its language; `None` for words of any other kind.
    pub fn agents_text(&self) -> Option<(&str, &Option<Arc<str>>)> {
        match self {
            Self::Agent(text, language) => Some((text, language)),
            Self::Own(_)
            | Self::Sounding { .. }
            | Self::Name(_)
            | Self::Tool(_)
            | Self::Exact(..)
            | Self::Command(_)
            | Self::Inline(_) => None,
        }
    }

    /// Returns whether it would add no words.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Own(text) | Self::Sounding { text, .. } => text.is_empty(),
            Self::Name(text)
            | Self::Tool(text)
            | Self::Agent(text, _)
            | Self::Exact(text, _)
            | Self::Command(text)
            | Self::Inline(text) => text.trim().is_empty(),
        }
    }
}

/// The arguments of a phrase by name.
pub type Args<'a> = [(&'a str, Arg)];
