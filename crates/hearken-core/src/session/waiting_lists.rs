//! Waiting lists: questions that are not raised yet, events before their turn, calls without a question.
//!
//! Responsibilities: storing these, within limits of time and number. Not here: why they wait and what releases
//! them (`unraised_questions`, `event_order`, `consent`).

use std::collections::BTreeMap;
use std::time::Duration;

use crate::protocol::{Decoded, Now};

use super::key::SessionKey;

/// The most events of one session that wait at once: transports that reorder events displace them by a few
/// places.
pub(super) const WINDOW: usize = 8;
/// How long an event waits for an earlier one: too short to be noticed between sentences.
pub(super) const PATIENCE: Duration = Duration::from_millis(250);
/// The most events that are held over all sessions, so that no producer can fill the memory with events whose turn
/// never comes.
const MOST_HELD: usize = 64;

/// How long an irreversible call may run before the person hears that no question was asked: producers that invoke
/// first ask within milliseconds.
pub(super) const UNASKED_AFTER: Duration = Duration::from_secs(2);

/// How an event came to be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventArrival {
    /// Just now.
    Live,
    /// As old news, right after connecting.
    Replayed,
    /// Under another event's id.
    UnderUsedId,
}

/// Why a question is not raised yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnraisedReason {
    /// Old events may be being replayed, and one of them may answer it.
    Replay,
    /// Its agent has so many open questions that it waits for room.
    Room,
}

/// One event that came before its turn.
#[derive(Debug, Clone)]
pub(super) struct EarlyEvent {
    pub(super) decoded: Box<Decoded>,
    pub(super) arrived: EventArrival,
    pub(super) since: Duration,
}

/// The events of all sessions that came before their turn.
#[derive(Debug, Clone, Default)]
pub(super) struct EarlyEvents {
    pub(super) early: BTreeMap<(SessionKey, u64), EarlyEvent>,
}

impl EarlyEvents {
    /// Returns when the first of these events has waited long enough.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.early
            .values()
            .map(|early| early.since + PATIENCE)
            .min()
    }

    /// Returns whether events of a session wait.
    pub(super) fn holds(&self, key: &SessionKey) -> bool {
        self.of(key).next().is_some()
    }

    /// Returns whether the event of a session with this number waits.
    pub(super) fn has(&self, key: &SessionKey, number: u64) -> bool {
        !self.early.is_empty() && self.early.contains_key(&(key.clone(), number))
    }

    pub(super) fn of(
        &self,
        key: &SessionKey,
    ) -> impl Iterator<Item = (&(SessionKey, u64), &EarlyEvent)> {
        // Events hardly ever wait, and each lookup clones the key.
        let waits = (!self.early.is_empty())
            .then(|| self.early.range((key.clone(), 0)..=(key.clone(), u64::MAX)));
        waits.into_iter().flatten()
    }

    /// Returns whether an event of a session has waited long enough.
    pub(super) fn is_overdue(&self, key: &SessionKey, now: Now) -> bool {
        self.of(key)
            .any(|(_, early)| now.monotonic >= early.since + PATIENCE)
    }

    /// Returns whether more events wait than may.
    pub(super) fn is_crowded(&self, key: &SessionKey) -> bool {
        self.early.len() > MOST_HELD || self.of(key).count() > WINDOW
    }

    pub(super) fn take(&mut self, key: &SessionKey, number: u64) -> Option<EarlyEvent> {
        if self.early.is_empty() {
            return None;
        }
        self.early.remove(&(key.clone(), number))
    }

    pub(super) fn take_first(&mut self, key: &SessionKey) -> Option<EarlyEvent> {
        let number = self.of(key).next()?.0.1;
        self.take(key, number)
    }
}
