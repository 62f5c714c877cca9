//! The words that a report needs in the person's language.
//!
//! Responsibilities: the interface. Not here: the words, which are in the phrase files (`announce`).

use crate::protocol::Problem;
use crate::session::{AnomalyKind, Danger};

/// A source of the words of a report. A report has its facts as keys and names; their words depend on the
/// person's language.
pub trait Wording {
    /// Returns the phrase of a key, with its placeholders filled in.
    fn text(&self, key: &str, args: &[(&str, String)]) -> String;

    /// Returns what is wrong with a field in words, or with the message as a whole if the name is empty.
    fn problem(&self, field: &str, problem: &Problem) -> String;

    /// Returns a departure from the order in words.
    fn departure(&self, kind: AnomalyKind, detail: &str) -> String;

    /// Returns a danger to the person in words; the tool's name is safe to show.
    fn danger(&self, danger: &Danger, tool: &str) -> String;
}
