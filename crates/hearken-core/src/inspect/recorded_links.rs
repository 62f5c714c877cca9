//! What a recording contains beside its events: changes of its links, and texts that were translated.
//!
//! Responsibilities: that data, returning it in the order of the events, and feeding it to the translators, so
//! that the machines of another protocol are traced across lost connections. Not here: reading it from the file
//! beside the recording (`transport`).

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;

use crate::dialect::{ConnectionChange, DialectOutput};
use crate::protocol::Now;

use super::translated_captures::Translator;

/// Something that a recording contains beside its events.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedExtra {
    /// The number of events before it.
    pub after: u64,
    /// When it happened.
    pub at: Timestamp,
    /// The link.
    pub link: usize,
    /// What happened.
    pub history: LinkHistory,
}

/// What happened beside the events.
#[derive(Debug, Clone, PartialEq)]
pub enum LinkHistory {
    /// The connection changed.
    Changed(ConnectionChange),
    /// This text arrived, and was translated into events.
    Arrived(String),
}

/// The items still to be fed, and the translators for texts that were translated during the recording.
#[derive(Debug, Default)]
pub(super) struct Links {
    has_any: bool,
    due: VecDeque<RecordedExtra>,
    translators: BTreeMap<usize, Translator>,
}

impl Links {
    pub(super) fn new(beside: Vec<RecordedExtra>) -> Self {
        Self {
            has_any: !beside.is_empty(),
            due: beside.into(),
            translators: BTreeMap::new(),
        }
    }

    /// Returns whether anything was recorded beside the events.
    pub(super) fn had_any(&self) -> bool {
        self.has_any
    }

    /// Returns the next item, if it happened before event number `lines + 1`; without a number, whenever it
    /// happened.
    pub(super) fn next(&mut self, lines: Option<u64>) -> Option<RecordedExtra> {
        let first = self.due.front()?;
        let is_due = lines.is_none_or(|lines| first.after <= lines);
        is_due.then(|| self.due.pop_front()).flatten()
    }

    /// Feeds an item to its translator: that of the capture itself, if it is in another protocol, or else that
    /// of the link.
    pub(super) fn feed(
        &mut self,
        one: &RecordedExtra,
        capture: &mut Translator,
        now: Now,
    ) -> Vec<DialectOutput> {
        if capture.is_at_work() {
            return match &one.history {
                LinkHistory::Changed(change) => capture.changed(*change, now),
                LinkHistory::Arrived(_) => Vec::new(),
            };
        }
        let translator = self.translators.entry(one.link).or_default();
        match &one.history {
            LinkHistory::Changed(change) => translator.changed(*change, now),
            LinkHistory::Arrived(text) if translator.takes(text) => translator.text(text, now),
            LinkHistory::Arrived(_) => Vec::new(),
        }
    }
}
