//! The answers that were sent while a recording was made, each at its place among the events.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::protocol::Answer;
use crate::session::{Change, ChangeKind, QuestionId};

/// The answers of a recording: keyed by the line of their question until that line is read, then by
/// the question until they are due.
#[derive(Debug, Default)]
pub(super) struct RecordedAnswers {
    by_line: BTreeMap<u64, (Answer, Timestamp)>,
    waiting: Vec<(QuestionId, Answer, Timestamp)>,
}

impl RecordedAnswers {
    pub(super) fn new(by_line: BTreeMap<u64, (Answer, Timestamp)>) -> Self {
        Self {
            by_line,
            waiting: Vec::new(),
        }
    }

    /// Notes the changes of a line: an answer to a question opened there now waits until it is due.
    pub(super) fn note(&mut self, line: u64, changes: &[Change]) {
        for change in changes {
            if let ChangeKind::QuestionOpened(id) = change.kind
                && let Some((answer, at)) = self.by_line.remove(&line)
            {
                self.waiting.push((id, answer, at));
            }
        }
    }

    /// Returns the answers that were sent before the timestamp of an event; all of them if there is
    /// no timestamp.
    pub(super) fn before(
        &mut self,
        stamp: Option<Timestamp>,
    ) -> Vec<(QuestionId, Answer, Timestamp)> {
        let is_due = |at: Timestamp| stamp.is_none_or(|stamp| at <= stamp);
        let (due, waiting) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|(_, _, at)| is_due(*at));
        self.waiting = waiting;
        due
    }
}
