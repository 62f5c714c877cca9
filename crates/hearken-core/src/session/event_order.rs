//! The order of a session's events by their sequence numbers (3.4.1).
//!
//! Responsibilities: holding back, for a moment, events that came before their turn; noticing missing, late or
//! wrongly numbered events. Not here: the effects of the events (`event_effects`).
//!
//! Mental model: an event whose number is ahead waits for the ones before it, but never for long
//! ([`PATIENCE`]), and never with many others ([`WINDOW`]). If the gap is filled, the order is repaired and
//! nothing is announced. If not, the waiting events are applied in order and the gap is announced once. Nothing
//! overtakes a waiting event: an event that can't wait releases the waiting ones first. After [`HABIT`] gaps, a
//! producer counts as leaving numbers out by habit (filters, a rate limit), and its events no longer wait,
//! except at an end, because nothing may come after it. If we join a run in its middle, nothing waits for
//! earlier events. Only number 1 of an unknown session waits, for its start. Old events that a server replays
//! are not held, because they have no turn.
//!
//! Worked example: 3, 5, 4 is heard as 3, 4, 5. With 3, 5, 6 and nothing else, 5 and 6 are heard a quarter of a second
//! later, with "1 message is missing". With 3 and 5 to 13 in one go, 5 to 13 are heard as soon as more than [`WINDOW`]
//! of them wait, with the same words.

use crate::link::LinkId;
use crate::protocol::{Decoded, Now};

use super::anomaly::AnomalyKind;
use super::change::Change;
use super::context::Context;
use super::key::SessionKey;
use super::machine_observer::Observer;
use super::machines::LifecycleEvent;
use super::model::Numbering;
use super::sessions::Sessions;
use super::waiting_lists::{EarlyEvent, EventArrival, PATIENCE, WINDOW};

/// The number of unfilled gaps after which a session counts as leaving numbers out by habit.
const HABIT: u32 = 2;
/// When an event is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ApplyTime {
    /// Immediately, before whatever waits.
    Now,
    /// Immediately, but after everything that waits.
    BehindHeld,
    /// Not yet: events before this number are missing.
    Later(u64),
}

impl Sessions {
    /// Returns whether any event still waits for its turn.
    pub fn is_holding(&self) -> bool {
        !self.waiting.early.is_empty()
    }

    /// Applies a live event when its turn comes, and with it the events that waited for it.
    pub(super) fn in_order(
        &mut self,
        key: &SessionKey,
        decoded: Box<Decoded>,
        arrived: EventArrival,
        now: Now,
        observer: &mut dyn Observer,
        changes: &mut Vec<Change>,
    ) {
        match self.turn(key, &decoded) {
            ApplyTime::Later(number) => {
                let since = now.monotonic;
                let early = EarlyEvent {
                    decoded,
                    arrived,
                    since,
                };
                self.waiting.early.insert((key.clone(), number), early);
                while self.waiting.is_crowded(key) {
                    self.release_run(key, now, observer, changes);
                }
                return;
            }
            ApplyTime::BehindHeld => {
                while self.waiting.holds(key) {
                    self.release_run(key, now, observer, changes);
                }
            }
            ApplyTime::Now => {}
        }
        self.take_in_turn(key, decoded, now, arrived, observer, changes);
        self.take_followers(key, now, observer, changes);
    }

    /// Returns when an event is to be applied.
    fn turn(&self, key: &SessionKey, decoded: &Decoded) -> ApplyTime {
        let Some(number) = decoded.envelope.sequence_number else {
            return ApplyTime::BehindHeld;
        };
        let life = LifecycleEvent::of(&decoded.event);
        let (wanted, patient) = match self.sessions.get(key) {
            Some(session) if session.is_ended() => (None, false),
            Some(session) => match session.numbering {
                Numbering::Next(wanted) => (Some(wanted), session.unfilled < HABIT),
                Numbering::Unknown | Numbering::Absent | Numbering::Mixed | Numbering::Shared => {
                    (None, false)
                }
            },
            // A helper's numbers may begin anywhere.
            None if self.lead_of(key).is_some() => (None, false),
            // Only the start is missing, or the event follows a beginning that already waits for the start.
            None => {
                let begins = number == 1 && life != LifecycleEvent::Started;
                let wanted = (begins || self.waiting.holds(key)).then_some(0);
                (wanted, true)
            }
        };
        let ends = match life {
            LifecycleEvent::Completed | LifecycleEvent::Errored | LifecycleEvent::Cancelled => true,
            LifecycleEvent::Started | LifecycleEvent::Joined | LifecycleEvent::Activity => false,
        };
        let is_held = self.waiting.has(key, number);
        match wanted {
            Some(wanted) if number <= wanted => ApplyTime::Now,
            Some(_) if (patient || ends) && !is_held => ApplyTime::Later(number),
            Some(_) | None => ApplyTime::BehindHeld,
        }
    }

    /// Applies the held events of a session whose turn comes with the event before them.
    pub(super) fn take_followers(
        &mut self,
        key: &SessionKey,
        now: Now,
        observer: &mut dyn Observer,
        changes: &mut Vec<Change>,
    ) {
        // Events hardly ever wait.
        if !self.is_holding() {
            return;
        }
        let Some(key) = self.numbered_by(key).map(|session| session.key.clone()) else {
            return;
        };
        while let Some(next) = self.next_in_turn(&key) {
            self.take_in_turn(&key, next.decoded, now, next.arrived, observer, changes);
        }
    }

    fn next_in_turn(&mut self, key: &SessionKey) -> Option<EarlyEvent> {
        match self.sessions.get(key)?.numbering {
            Numbering::Next(number) => self.waiting.take(key, number),
            Numbering::Unknown | Numbering::Absent | Numbering::Mixed | Numbering::Shared => None,
        }
    }

    /// Releases the first of a session's held events and those that follow it without a gap.
    fn release_run(
        &mut self,
        key: &SessionKey,
        now: Now,
        observer: &mut dyn Observer,
        changes: &mut Vec<Change>,
    ) {
        let Some(first) = self.waiting.take_first(key) else {
            return;
        };
        self.take_in_turn(key, first.decoded, now, first.arrived, observer, changes);
        self.take_followers(key, now, observer, changes);
    }

    /// Releases the events that have waited long enough and those before them, in order. Events after another gap wait
    /// for their own time.
    pub(super) fn release_overdue(
        &mut self,
        now: Now,
        observer: &mut dyn Observer,
        changes: &mut Vec<Change>,
    ) {
        if !self.is_holding() {
            return;
        }
        for key in self.holding(|_| true) {
            while self.waiting.is_overdue(&key, now) {
                self.release_run(&key, now, observer, changes);
            }
        }
    }

    /// Returns the sessions that have waiting events.
    fn holding(&self, of: impl Fn(&SessionKey) -> bool) -> Vec<SessionKey> {
        let mut keys: Vec<SessionKey> = self
            .waiting
            .early
            .keys()
            .map(|(key, _)| key)
            .filter(|key| of(key))
            .cloned()
            .collect();
        keys.dedup();
        keys
    }

    /// Releases all events of a link, because nothing more will come to fill their gaps.
    pub fn release_link(&mut self, link: LinkId, now: Now) -> Vec<Change> {
        self.release_link_observed(link, now, &mut crate::protocol::NoObserver)
    }

    /// Releases all events of a link and notifies an observer.
    pub fn release_link_observed(
        &mut self,
        link: LinkId,
        now: Now,
        observer: &mut dyn Observer,
    ) -> Vec<Change> {
        let mut changes = Vec::new();
        for key in self.holding(|key| key.link == link) {
            while self.waiting.holds(&key) {
                self.release_run(&key, now, observer, &mut changes);
            }
        }
        changes
    }

    /// Follows the numbers of a session and reports what is wrong with them.
    pub(super) fn follow_numbers(
        &mut self,
        context: &mut Context,
        number: Option<u64>,
        starts: bool,
    ) {
        let replayed = context.replayed;
        self.share_numbers(context, number);
        let place = match self.sessions.of(context).map(|session| session.numbering) {
            Some(Numbering::Shared) => self.lead_of(context.key).map(|lead| lead.place),
            Some(
                Numbering::Unknown | Numbering::Absent | Numbering::Next(_) | Numbering::Mixed,
            )
            | None => context.place,
        };
        let Some(session) = place.and_then(|place| self.sessions.at_mut(place)) else {
            return;
        };
        let after = |number: u64| Numbering::Next(number.saturating_add(1));
        let (next, found) = match (session.numbering, number) {
            (Numbering::Mixed, _) => (Numbering::Mixed, None),
            (Numbering::Shared, _) => (Numbering::Shared, None),
            (Numbering::Unknown, Some(number)) => {
                session.first_number = Some(number);
                let wrong = starts && number != 0;
                let found = wrong.then(|| (AnomalyKind::SequenceStart, number.to_string()));
                (after(number), found)
            }
            (Numbering::Unknown | Numbering::Absent, None) => (Numbering::Absent, None),
            (Numbering::Absent, Some(_)) | (Numbering::Next(_), None) => (
                Numbering::Mixed,
                Some((AnomalyKind::SequenceMixed, String::new())),
            ),
            (Numbering::Next(wanted), Some(number)) if number > wanted => {
                let missing = number - wanted;
                session.miss(missing);
                // A server replays only its own selection.
                let found = (!replayed).then(|| (AnomalyKind::SequenceGap, missing.to_string()));
                (after(number), found)
            }
            (Numbering::Next(wanted), Some(number)) if number < wanted => {
                // An event sent before the first one that was received is late only because we joined then.
                let before_us = session.first_number.is_some_and(|first| number < first);
                let found =
                    (!before_us).then(|| (AnomalyKind::SequenceMisorder, number.to_string()));
                (Numbering::Next(wanted), found)
            }
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

    /// Returns whether a start that is not the first event of its session was merely overtaken while we joined.
    pub(super) fn was_overtaken(&self, context: &Context, number: Option<u64>) -> bool {
        let near = |first: u64| usize::try_from(first).is_ok_and(|first| first <= WINDOW);
        number == Some(0)
            && self.sessions.of(context).is_some_and(|session| {
                session.first_number.is_some_and(near)
                    && context.now.monotonic <= session.since + PATIENCE
            })
    }
}
