//! What a report needs of the person's language.
//!
//! Responsibilities: naming it. Not here: the words, which stand in the phrase files (`announce`).

use crate::protocol::Problem;
use crate::session::{AnomalyKind, Danger};

/// Gives the words of a report. A report knows what it tells, by keys and names; how that is said is the
/// person's language's own.
pub trait Wording {
    /// Fills in the phrase of a key.
    fn text(&self, key: &str, args: &[(&str, String)]) -> String;

    /// Words what is wrong with a field; without a name it is the message as a whole.
    fn problem(&self, field: &str, problem: &Problem) -> String;

    /// Words what goes against the order.
    fn departure(&self, kind: AnomalyKind, detail: &str) -> String;

    /// Words what endangers the person; the tool's name is safe to show.
    fn danger(&self, danger: &Danger, tool: &str) -> String;
}
