//! The origin of an answer or a command.

use std::time::Duration;

use crate::keys::KeyPress;

/// The origin of an answer, which decides how it is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerOrigin {
    /// A key press.
    Key(KeyPress),
    /// A line.
    Line {
        /// When it was read.
        read: Duration,
    },
    /// The completion of an answer whose beginning passed the check: only the question must still be open.
    Begun,
}
