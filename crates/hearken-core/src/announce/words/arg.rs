//! What is put into a phrase, by whose words it is.
//!
//! Responsibilities: the kinds of arguments. Not here: how each is made fit to be said (`phrase`).

use std::sync::Arc;

/// One argument of a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arg {
    /// The program's own word or number.
    Own(String),
    /// The program's own words that sound otherwise than they are written.
    Sounding {
        /// As they are written.
        text: String,
        /// As they are spoken.
        spoken: String,
    },
    /// A name from the wire: shortened and stripped to one harmless word group.
    Name(String),
    /// A tool's name from the wire, as words.
    Tool(String),
    /// An agent's text, normalised as prose.
    Agent(String, Option<Arc<str>>),
    /// An agent's text in a question: nothing is abbreviated, every sign is said.
    Exact(String, Option<Arc<str>>),
    /// A command, which stands on rows of its own and can be told from every other by its words.
    Command(String),
    /// A path, an address or another name of a command within the program's own words, to the letter.
    Inline(String),
}

impl Arg {
    /// Makes an argument out of the program's own words.
    pub fn own(text: impl ToString) -> Self {
        Self::Own(text.to_string())
    }

    /// Returns whether nothing would be said in its place.
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
