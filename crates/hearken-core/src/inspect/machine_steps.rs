//! The steps of a session's machines, as a trace keeps them.
//!
//! Responsibilities: their data, and judging each. Not here: watching the machines (`trace`), writing the steps
//! (`trace`, `mermaid`).

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use crate::protocol::Machine;
use crate::session::AgentState;

/// One step that was taken or refused. Every name in it is safe to show.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RecordedStep {
    /// The line of the event that caused it.
    pub(super) line: u64,
    /// The time since the session's first step.
    pub(super) since: Duration,
    /// The time of day.
    pub(super) wall: Timestamp,
    /// The machine of the session.
    pub(super) lane: MachineLane,
    /// The state that was left.
    pub(super) from: String,
    /// What happened.
    pub(super) event: &'static str,
    /// The state afterwards: the same one if the step was refused.
    pub(super) to: String,
    /// Whether the step is missing in the table.
    pub(super) refused: bool,
    /// How often the machine then stepped in place.
    pub(super) repeats: u64,
    /// The time of the last such step.
    pub(super) until: Duration,
}

/// One machine of a session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MachineLane {
    /// The machine's name.
    pub(super) machine: &'static str,
    /// What it belongs to; empty if the session has only one such machine.
    pub(super) subject: String,
}

impl MachineLane {
    pub(super) fn label(&self) -> String {
        if self.subject.is_empty() {
            self.machine.to_owned()
        } else {
            format!("{} {}", self.machine, self.subject)
        }
    }
}

/// The trace of one session.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SessionTrace {
    pub(super) agent: String,
    pub(super) session: String,
    /// The time of its first step.
    pub(super) begin: Duration,
    pub(super) steps: Vec<RecordedStep>,
    /// The index of the last step of each machine.
    pub(super) last: BTreeMap<MachineLane, usize>,
}

/// Judges a step: the states of A.2 are a typical flow, the other machines are rules.
pub(super) fn verdict(step: &RecordedStep) -> &'static str {
    match step.refused {
        false => "legal",
        true if step.lane.machine == AgentState::NAME => "unusual",
        true => "illegal",
    }
}
