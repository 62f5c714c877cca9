//! Tools that inspect a stream: is it valid, and what happened in which order. Pure.
//!
//! Responsibilities: a report over the lines of a stream ([`Checker`]), the trace of its state machines ([`Tracer`]),
//! both as text and JSON. Not here: where the lines come from and go to (`runtime`), the rules themselves (`protocol`,
//! `session`), the words ([`Wording`], implemented by a caller that knows the person's language).
//!
//! Mental model: lines go in one by one; what is wrong with them comes out immediately, and the summary at the end.
//! Time comes from the events themselves, so that the same file always gives the same report. A report contains nothing
//! that a person wrote or an agent said, only names of fields, tools, states, agents and sessions, each shortened and
//! without invisible characters.

mod account;
mod answers;
mod beside;
mod check;
mod clock;
mod lines;
mod mermaid;
mod open;
mod repeats;
mod report;
mod rules;
mod safe;
mod steps;
mod texts;
mod trace;
mod translated;
mod wording;

pub use beside::{Beside, Happened};
pub use check::{Checker, Verdict};
pub use lines::Gathered;
pub use repeats::{Repeated, Repeats};
pub use report::{FoundIn, ReportFact, ReportItem, SessionReport, Summary};
pub use rules::{Fact, StreamRule};
pub use trace::{Format, Tracer};
pub use wording::Wording;

#[cfg(test)]
mod tests;
