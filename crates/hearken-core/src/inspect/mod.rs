//! Tools that inspect a stream: is it valid, and what happened in which order. Pure.
//!
//! Responsibilities: a report over the lines of a stream ([`Checker`]), the trace of its state machines ([`Tracer`]),
//! both as text and JSON. Not here: where the lines come from and go to (`runtime`), the rules themselves (`protocol`,
//! `session`), the words ([`Wording`], implemented by a caller that knows the person's language).
//!
//! Mental model: lines go in one by one; findings come out immediately, and the summary at the end. Time comes
//! from the events themselves, so that the same file always gives the same report. A report contains nothing
//! that a person wrote or an agent said, only names of fields, tools, states, agents and sessions, each
//! shortened and without invisible characters.

mod json_lines;
mod line_texts;
mod machine_steps;
mod mermaid;
mod open_ends;
mod recorded_answers;
mod recorded_links;
mod repeated_findings;
mod report;
mod report_wording;
mod safe_names;
mod session_account;
mod stream_check;
mod stream_clock;
mod stream_rules;
mod trace;
mod translated_captures;

pub use json_lines::JsonText;
pub use recorded_links::{LinkHistory, RecordedExtra};
pub use repeated_findings::{RepeatedFinding, RepeatedFindings};
pub use report::{FoundIn, ReportFact, ReportItem, SessionReport, Summary};
pub use report_wording::Wording;
pub use stream_check::{Checker, Verdict};
pub use stream_rules::{Fact, StreamRule};
pub use trace::{Format, Tracer};

#[cfg(test)]
mod tests;
