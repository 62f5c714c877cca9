//! Typed reasons for modules without words of their own: they are worded here and nowhere else.
//!
//! Responsibilities: reasons with arguments and nested causes, reasons for system errors about files and
//! sockets, and wording them all. Not here: all other reasons (the modules that give them).

use std::io::{self, ErrorKind};

use super::phrase::{Arg, Phrases};

/// A reason, as the key of its words and their arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    key: &'static str,
    details: Vec<(&'static str, Detail)>,
}

/// An argument of a reason's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detail {
    /// A name or a number, ready to be spoken.
    Own(String),
    /// The reason's own cause.
    Reason(Reason),
}

impl Reason {
    /// Creates a reason from the key of its words.
    pub fn new(key: &'static str) -> Self {
        Self {
            key,
            details: Vec::new(),
        }
    }

    /// Creates a reason from finished words: a name, or another program's message in its own language.
    pub fn said(text: impl ToString) -> Self {
        Self::new("cause.said").with("words", text)
    }

    /// Creates a reason from a system error.
    pub fn of_system(error: &io::Error) -> Self {
        Self::of_kind(error.kind()).unwrap_or_else(|| Self::said(error))
    }

    /// Creates a reason from a system error on reading a file.
    pub fn of_reading(error: &io::Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound => Self::new("system.no_file"),
            ErrorKind::PermissionDenied => Self::new("system.not_readable"),
            _ => Self::of_system(error),
        }
    }

    /// Returns the reason for a kind of system error, if there are words for it.
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
            // Any other error keeps the system's words, in the system's language.
            _ => return None,
        };
        Some(Self::new(key))
    }

    /// Adds a name or a number to its words.
    #[must_use]
    pub fn with(mut self, name: &'static str, text: impl ToString) -> Self {
        self.details.push((name, Detail::Own(text.to_string())));
        self
    }

    /// Adds its cause to its words.
    #[must_use]
    pub fn because(mut self, name: &'static str, cause: Self) -> Self {
        self.details.push((name, Detail::Reason(cause)));
        self
    }

    /// Returns the key of its words.
    pub fn key(&self) -> &'static str {
        self.key
    }

    /// Returns the arguments of its words.
    pub fn details(&self) -> &[(&'static str, Detail)] {
        &self.details
    }

    /// Returns whether it, or one of its causes, has this key.
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
