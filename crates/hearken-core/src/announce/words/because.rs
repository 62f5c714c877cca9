//! Why something of a room without words is so: typed until it is worded, here and nowhere else.
//!
//! Responsibilities: the key of a reason's words with what stands in them, causes of causes, what the system says of
//! a file or a socket, and wording it. Not here: which other reasons there are (the rooms that have them).

use std::io::{self, ErrorKind};

use super::phrase::{Arg, Phrases};

/// Why something is so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    key: &'static str,
    details: Vec<(&'static str, Detail)>,
}

/// What stands in the words of a reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detail {
    /// A name or a number, as it can be said.
    Own(String),
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

    /// Takes words as they are: a name, or what somebody else says of themselves, in their own language.
    pub fn said(text: impl ToString) -> Self {
        Self::new("cause.said").with("words", text)
    }

    /// Takes what the system says of an attempt.
    pub fn of_system(error: &io::Error) -> Self {
        Self::of_kind(error.kind()).unwrap_or_else(|| Self::said(error))
    }

    /// Takes what the system says of an attempt to read a file.
    pub fn of_reading(error: &io::Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound => Self::new("system.no_file"),
            ErrorKind::PermissionDenied => Self::new("system.not_readable"),
            _ => Self::of_system(error),
        }
    }

    /// Returns what a kind of the system's errors means, where it has words.
    pub fn of_kind(kind: ErrorKind) -> Option<Self> {
        let key = match kind {
            ErrorKind::NotFound => "system.nothing_there",
            ErrorKind::PermissionDenied => "system.denied",
            ErrorKind::IsADirectory => "system.folder",
            ErrorKind::NotADirectory => "system.no_folder",
            ErrorKind::AlreadyExists => "system.exists",
            ErrorKind::AddrInUse => "system.address_taken",
            ErrorKind::AddrNotAvailable => "system.address_elsewhere",
            ErrorKind::ConnectionRefused => "system.refused",
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => "system.closed",
            ErrorKind::TimedOut => "system.timed_out",
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "system.full",
            ErrorKind::FileTooLarge => "system.too_large",
            ErrorKind::ReadOnlyFilesystem => "system.read_only",
            ErrorKind::InvalidData => "system.no_text",
            // What else a system may say has its own words, in the system's language.
            _ => return None,
        };
        Some(Self::new(key))
    }

    /// Puts a name or a number into it.
    #[must_use]
    pub fn with(mut self, name: &'static str, text: impl ToString) -> Self {
        self.details.push((name, Detail::Own(text.to_string())));
        self
    }

    /// Puts its own cause into it.
    #[must_use]
    pub fn because(mut self, name: &'static str, cause: Self) -> Self {
        self.details.push((name, Detail::Reason(cause)));
        self
    }

    /// Returns the key of its words.
    pub fn key(&self) -> &'static str {
        self.key
    }

    /// Returns what stands in them.
    pub fn details(&self) -> &[(&'static str, Detail)] {
        &self.details
    }

    /// Returns whether it, or one of its causes, is the one of this key.
    pub fn comes_of(&self, key: &str) -> bool {
        let of_cause = |(_, detail): &(&str, Detail)| match detail {
            Detail::Reason(cause) => cause.comes_of(key),
            Detail::Own(_) => false,
        };
        self.key == key || self.details.iter().any(of_cause)
    }
}

impl From<&str> for Reason {
    fn from(words: &str) -> Self {
        Self::said(words)
    }
}

impl Phrases {
    /// Words a reason.
    pub fn because(&self, reason: &Reason) -> String {
        let arg = |(name, detail): &(&'static str, Detail)| {
            let text = match detail {
                Detail::Own(text) => text.clone(),
                Detail::Reason(cause) => self.because(cause),
            };
            (*name, Arg::Own(text))
        };
        let args: Vec<(&str, Arg)> = reason.details.iter().map(arg).collect();
        self.text(reason.key, &args)
    }
}
