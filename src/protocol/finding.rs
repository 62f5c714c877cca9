//! What is wrong with a message, precisely enough to act on.

use std::fmt;

/// Grades a [`Finding`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// A departure that is common and harmless, or a recommendation not followed.
    Note,
    /// A rule for producers is broken, and the event is understood all the same.
    Warning,
    /// Validation by 3.9 fails.
    Error,
}

/// Says what is wrong with one field of one message. It never carries the field's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The field, dotted from the top of the message; empty for the message as a whole.
    pub field: String,
    /// What was wrong, in words.
    pub problem: String,
    /// The section of AAEP that says so.
    pub section: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let grade = match self.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        if self.field.is_empty() {
            write!(f, "{grade}: {} (section {})", self.problem, self.section)
        } else {
            write!(
                f,
                "{grade}: {} {} (section {})",
                self.field, self.problem, self.section
            )
        }
    }
}
