//! Repeated findings, each reported once with its count.
//!
//! Responsibilities: which findings are the same, how often each occurs, and where the last one is. Not here:
//! their words (`report`).

use std::collections::HashMap;

use crate::protocol::Severity;

use super::report::{FoundIn, ReportFact, ReportItem};
use super::report_wording::Wording;
use super::stream_rules::Fact;

/// The most kinds of findings that are distinguished; names from the wire can produce any number of kinds, and those
/// beyond the bound are reported one by one.
const MOST_KINDS: usize = 4096;

/// The properties that two findings must share to be the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct FindingKind {
    place: FoundIn,
    rule: &'static str,
    section: &'static str,
    event: Option<String>,
    field: String,
    /// The details of the rule.
    details: String,
    session: Option<String>,
}

/// A finding and how often it occurred.
#[derive(Debug, Clone)]
pub struct RepeatedFinding {
    /// The first occurrence.
    pub item: ReportItem,
    /// The number of occurrences.
    pub times: u64,
    /// The line of the last occurrence.
    pub last: u64,
}

impl RepeatedFinding {
    /// Returns it as one line, with the count if it is more than one.
    pub fn to_text(&self, wording: &dyn Wording) -> String {
        let times = if self.times > 1 {
            let args = [
                ("n", self.times.to_string()),
                ("last", self.last.to_string()),
            ];
            wording.text("check.times", &args)
        } else {
            String::new()
        };
        self.item.in_words(times, wording)
    }
}

/// A collection of findings, each kind once.
#[derive(Debug, Clone, Default)]
pub struct RepeatedFindings {
    kinds: HashMap<FindingKind, usize>,
    list: Vec<RepeatedFinding>,
}

impl RepeatedFindings {
    /// Adds a finding, and returns whether it is the first of its kind.
    ///
    /// # Errors
    /// Returns a finding beyond the bound to the caller, to be reported separately.
    pub fn take(&mut self, item: ReportItem) -> Result<bool, Box<ReportItem>> {
        let kind = kind_of(&item);
        if let Some(known) = self.kinds.get(&kind).and_then(|at| self.list.get_mut(*at)) {
            known.times += 1;
            known.last = item.line;
            return Ok(false);
        }
        if self.list.len() >= MOST_KINDS {
            return Err(Box::new(item));
        }
        self.kinds.insert(kind, self.list.len());
        self.list.push(RepeatedFinding {
            last: item.line,
            item,
            times: 1,
        });
        Ok(true)
    }

    /// Returns all findings, in the order of their first occurrences.
    pub fn into_list(self) -> Vec<RepeatedFinding> {
        self.list
    }
}

/// Returns the kind of a finding. Every danger, and every error in a session's order, is a separate incident,
/// so its line is part of its kind.
fn kind_of(item: &ReportItem) -> FindingKind {
    let told = match &item.fact {
        ReportFact::Problem(problem) => format!("{problem:?}"),
        ReportFact::Stream(Fact::Foreign(what)) => what.name().to_owned(),
        ReportFact::Stream(fact) => format!("{fact:?}"),
        ReportFact::Danger(_) => item.line.to_string(),
        ReportFact::Order(_) if item.severity == Severity::Error => item.line.to_string(),
        ReportFact::Order(_) => String::new(),
    };
    FindingKind {
        place: item.place,
        rule: item.rule,
        section: item.section,
        event: item.event.clone(),
        field: item.field.clone(),
        details: told,
        session: match item.place {
            FoundIn::End => item.session.clone(),
            FoundIn::Line | FoundIn::Event | FoundIn::Order | FoundIn::Danger => None,
        },
    }
}
