//! What is wrong with a message, precisely enough to act on.

use std::fmt;

/// Grades a [`Finding`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Out of the ordinary, and no more.
    Note,
    /// A MUST or a SHOULD that is no part of 3.9, of a schema or of a rule of order is not kept.
    Warning,
    /// Validation by 3.9 or a schema fails, or a rule of order is broken.
    Error,
}

impl Severity {
    /// Gives the grade's name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
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
        let grade = self.severity;
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
