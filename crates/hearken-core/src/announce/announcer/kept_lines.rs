//! The lines that a call changed, kept for looking at afterwards; `kept_changes` takes them from an event.

/// The changes to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptChange {
    /// The file's path, cleaned.
    pub path: String,
    /// Its lines, with unchanged ones around them.
    pub lines: Vec<KeptLine>,
    /// How many lines were added or removed, including those that were left out.
    pub changed: u64,
}

/// A line of such changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptLine {
    /// Its number: in the new text, or that of a removed line in the old one; `None` if it is not known.
    pub number: Option<u64>,
    /// `+`, `-` or a space.
    pub sign: char,
    /// The line, cleaned, with its indentation.
    pub text: String,
}
