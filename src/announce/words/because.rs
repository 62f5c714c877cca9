//! Why something of a room without words is so: typed until it is worded, here and nowhere else.
//!
//! Responsibilities: the key of a reason's words with what stands in them, causes of causes, and wording it. Not here:
//! which reasons there are (the rooms that have them), texts of the system (`reason`).

use super::phrase::{Arg, Phrases};

/// Holds why something is so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    key: &'static str,
    details: Vec<(&'static str, Detail)>,
}

/// Is what stands in the words of a reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detail {
    /// A name or a number, as it can be said.
    Own(String),
    /// What the system, or another program of ours, says of itself.
    System(String),
    /// Its own cause.
    Reason(Reason),
}

impl Reason {
    /// Names a reason by the key of its words.
    pub fn new(key: &'static str) -> Self {
        Self {
            key,
            details: Vec::new(),
        }
    }

    /// Takes what the system, or another program of ours, says of itself.
    pub fn said(text: impl ToString) -> Self {
        Self::new("voice.cause.said").system("words", text)
    }

    /// Puts a name or a number into it.
    #[must_use]
    pub fn with(mut self, name: &'static str, text: impl ToString) -> Self {
        self.details.push((name, Detail::Own(text.to_string())));
        self
    }

    /// Puts what the system says of itself into it.
    #[must_use]
    pub fn system(mut self, name: &'static str, text: impl ToString) -> Self {
        self.details.push((name, Detail::System(text.to_string())));
        self
    }

    /// Puts its own cause into it.
    #[must_use]
    pub fn because(mut self, name: &'static str, cause: Self) -> Self {
        self.details.push((name, Detail::Reason(cause)));
        self
    }

    /// Gives the key of its words.
    pub fn key(&self) -> &'static str {
        self.key
    }

    /// Gives what stands in them.
    pub fn details(&self) -> &[(&'static str, Detail)] {
        &self.details
    }

    /// Tells whether it, or one of its causes, is the one of this key.
    pub fn comes_of(&self, key: &str) -> bool {
        let of_cause = |(_, detail): &(&str, Detail)| match detail {
            Detail::Reason(cause) => cause.comes_of(key),
            Detail::Own(_) | Detail::System(_) => false,
        };
        self.key == key || self.details.iter().any(of_cause)
    }
}

impl Phrases {
    /// Words a reason.
    pub fn because(&self, reason: &Reason) -> String {
        let arg = |(name, detail): &(&'static str, Detail)| {
            let text = match detail {
                Detail::Own(text) => text.clone(),
                Detail::System(text) => self.reason(text),
                Detail::Reason(cause) => self.because(cause),
            };
            (*name, Arg::Own(text))
        };
        let args: Vec<(&str, Arg)> = reason.details.iter().map(arg).collect();
        self.text(reason.key, &args)
    }
}
