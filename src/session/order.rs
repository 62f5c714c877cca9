//! The order of a session's events by their sequence numbers (3.4.1).
//!
//! Responsibilities: holding back, for a moment, what came before its turn; noticing what is missing,
//! late or numbered wrongly. Not here: what the events do (`apply`).
//!
//! Mental model: an event whose number is ahead waits for the ones before it, but never for long, and
//! never many: a window of [`WINDOW`] numbers and [`PATIENCE`]. What fills the gap puts everything
//! right and nothing is told. When nothing fills it, the events go on in order and the gap is told
//! once. A producer that leaves numbers out as a habit (filters, a rate limit) is not waited for
//! after [`HABIT`] gaps. Old events that a server replays are not held: they have no turn.
//!
//! Worked example: 3, 5, 4 is heard as 3, 4, 5. With 3, 5, 6 and nothing else, 5 and 6 are heard
//! a quarter of a second later, with "1 message is missing".

use std::collections::BTreeMap;
use std::time::Duration;

use crate::protocol::{Decoded, Event, Now};

use super::anomaly::AnomalyKind;
use super::apply::Context;
use super::change::Change;
use super::key::{LinkId, SessionKey};
use super::model::Numbering;
use super::observe::Observer;
use super::sessions::{Arrived, Sessions};

/// How far ahead of its turn an event may be held: transports that reorder do it by a few.
const WINDOW: u64 = 8;
/// How long an event waits for the one before it: shorter than a person notices between sentences.
const PATIENCE: Duration = Duration::from_millis(250);
/// How many unfilled gaps show that a session leaves numbers out as a habit.
const HABIT: u32 = 2;
/// How many events are held over all sessions, so that nobody fills the memory with events that
/// have no turn.
const MOST_HELD: usize = 64;

/// Holds one event that came before its turn.
#[derive(Debug, Clone)]
struct Early {
    decoded: Decoded,
    since: Duration,
}

/// Holds the events of all sessions that came before their turn.
#[derive(Debug, Clone, Default)]
pub(super) struct Waiting {
    early: BTreeMap<(SessionKey, u64), Early>,
}

impl Waiting {
    /// Gives when the first of them has waited long enough.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.early
            .values()
            .map(|early| early.since + PATIENCE)
            .min()
    }

    fn of(&self, key: &SessionKey) -> impl Iterator<Item = (&(SessionKey, u64), &Early)> {
        self.early.range((key.clone(), 0)..=(key.clone(), u64::MAX))
    }

    fn take(&mut self, key: &SessionKey, number: u64) -> Option<Decoded> {
        self.early
            .remove(&(key.clone(), number))
            .map(|early| early.decoded)
    }

    fn take_first(&mut self, key: &SessionKey) -> Option<Decoded> {
        let number = self.of(key).next()?.0.1;
        self.take(key, number)
    }
}

impl Sessions {
    /// Holds an event back whose turn has not come, or gives it back.
    pub(super) fn hold_early(
        &mut self,
        key: &SessionKey,
        decoded: Decoded,
        now: Now,
    ) -> Option<Decoded> {
        let Some(number) = decoded.envelope.sequence_number else {
            return Some(decoded);
        };
        let ahead = match self.sessions.get(key) {
            Some(session) if session.is_ended() || session.unfilled >= HABIT => None,
            Some(session) => match session.numbering {
                Numbering::Next(wanted) => number.checked_sub(wanted),
                Numbering::Unknown | Numbering::Absent | Numbering::Mixed => None,
            },
            // Near its beginning, the start itself may be under way.
            None if !matches!(decoded.event, Event::SessionStarted(_)) => Some(number),
            None => None,
        };
        let waits = ahead.is_some_and(|ahead| (1..=WINDOW).contains(&ahead))
            && self.waiting.early.len() < MOST_HELD
            && !self.waiting.early.contains_key(&(key.clone(), number));
        if !waits {
            return Some(decoded);
        }
        let since = now.monotonic;
        self.waiting
            .early
            .insert((key.clone(), number), Early { decoded, since });
        None
    }

    /// Gives the held event of a session whose turn has come.
    pub(super) fn next_in_turn(&mut self, key: &SessionKey) -> Option<Decoded> {
        match self.sessions.get(key)?.numbering {
            Numbering::Next(number) => self.waiting.take(key, number),
            Numbering::Unknown | Numbering::Absent | Numbering::Mixed => None,
        }
    }

    /// Lets go what has waited long enough, in order.
    pub(super) fn release_overdue(&mut self, now: Now, observer: &mut dyn Observer) -> Vec<Change> {
        let mut overdue: Vec<SessionKey> = self
            .waiting
            .early
            .iter()
            .filter(|(_, early)| now.monotonic >= early.since + PATIENCE)
            .map(|((key, _), _)| key.clone())
            .collect();
        overdue.dedup();
        self.release(overdue, now, observer)
    }

    /// Lets go everything of a link, because nothing more comes that it could wait for.
    pub fn release_link(&mut self, link: LinkId, now: Now) -> Vec<Change> {
        self.release_link_observed(link, now, &mut crate::protocol::Unobserved)
    }

    /// Lets go everything of a link under an observer's eyes.
    pub fn release_link_observed(
        &mut self,
        link: LinkId,
        now: Now,
        observer: &mut dyn Observer,
    ) -> Vec<Change> {
        let mut of_link: Vec<SessionKey> = self
            .waiting
            .early
            .keys()
            .filter(|(key, _)| key.link == link)
            .map(|(key, _)| key.clone())
            .collect();
        of_link.dedup();
        self.release(of_link, now, observer)
    }

    fn release(
        &mut self,
        keys: Vec<SessionKey>,
        now: Now,
        observer: &mut dyn Observer,
    ) -> Vec<Change> {
        let mut changes = Vec::new();
        for key in keys {
            while let Some(decoded) = self.waiting.take_first(&key) {
                changes.append(&mut self.take_in_turn(&key, decoded, now, Arrived::Live, observer));
            }
        }
        changes
    }

    /// Follows the numbers of a session and notes what is wrong with them.
    pub(super) fn follow_numbers(
        &mut self,
        context: &mut Context,
        number: Option<u64>,
        starts: bool,
    ) {
        let replayed = context.replayed;
        let Some(session) = self.sessions.get_mut(&context.key) else {
            return;
        };
        let after = |number: u64| Numbering::Next(number.saturating_add(1));
        let (next, found) = match (session.numbering, number) {
            (Numbering::Mixed, _) => (Numbering::Mixed, None),
            (Numbering::Unknown, Some(number)) if starts && number != 0 => (
                after(number),
                Some((AnomalyKind::SequenceStart, number.to_string())),
            ),
            (Numbering::Unknown, Some(number)) => (after(number), None),
            (Numbering::Unknown | Numbering::Absent, None) => (Numbering::Absent, None),
            (Numbering::Absent, Some(_)) | (Numbering::Next(_), None) => (
                Numbering::Mixed,
                Some((AnomalyKind::SequenceMixed, String::new())),
            ),
            (Numbering::Next(wanted), Some(number)) if number > wanted => (
                after(number),
                // What a server replays is a selection of its own.
                (!replayed).then(|| (AnomalyKind::SequenceGap, (number - wanted).to_string())),
            ),
            (Numbering::Next(wanted), Some(number)) if number < wanted => (
                Numbering::Next(wanted),
                Some((AnomalyKind::SequenceMisorder, number.to_string())),
            ),
            (Numbering::Next(_), Some(number)) => (after(number), None),
        };
        session.numbering = next;
        if let Some((kind, detail)) = found {
            if kind == AnomalyKind::SequenceGap {
                session.unfilled = session.unfilled.saturating_add(1);
            }
            self.anomaly(context, kind, detail);
        }
    }
}
