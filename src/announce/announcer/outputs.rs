//! The outputs whose text is under way, and which of them a pause makes due.
//!
//! Responsibilities: finding one, when the first is due, which leave where there is no more room. Not here: what is
//! made of a chunk (`coalesce`), and what is told of it (`super`).
//!
//! Mental model: each output stands under the time at which it is looked at if nothing more of it comes. Who asks
//! what is due looks at the first of these times and at nothing else, however many outputs there are.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::session::{Keyed, Names, SessionKey, Shelf};

use crate::announce::text::coalesce::Coalescer;
use crate::announce::text::normalise::{Readable, Reader};
use crate::protocol::{OutputId, TextDirection, Urgency};

/// How many bytes the outputs may take whose text is under way; then the one that was silent longest is said as far
/// as it came. 10,000 of usual sentences have room.
const MOST_BYTES: usize = 48 << 20;
/// How many complete outputs are kept, so that what comes late is known to be late.
const MOST_COMPLETE: usize = 256;
/// How many are looked at for the time at which something will be said; behind them it is looked anew.
const MOST_LOOKED: usize = 64;
/// What one takes beside what is counted: its places in lists and what reads its text.
const AROUND: usize = 512;

/// Names an output across all sessions.
pub(super) type OutputKey = (SessionKey, Option<OutputId>);

#[derive(Debug)]
pub(super) struct OutputState {
    pub(super) coalescer: Coalescer,
    pub(super) reader: Reader,
    pub(super) readable: Readable,
    /// White space that came since the last words.
    pub(super) blank: String,
    pub(super) agent: Arc<str>,
    pub(super) urgency: Urgency,
    /// Whether something was said since it became urgent.
    pub(super) said: bool,
    pub(super) direction: Option<TextDirection>,
    pub(super) replayed: bool,
}

#[derive(Debug)]
struct Slot {
    /// It stands here and in the order, so that who looks for one looks no farther than here.
    key: OutputKey,
    state: OutputState,
    /// Which one it is of all that there were: a slot is used again.
    birth: u64,
    touched: u64,
    due: Option<Duration>,
    complete: bool,
    bytes: usize,
}

/// Holds the outputs whose text is under way.
#[derive(Debug)]
pub(super) struct Outputs {
    shelf: Shelf<Slot>,
    /// Their keys, in order.
    keys: BTreeSet<OutputKey>,
    due: BTreeSet<(Duration, usize)>,
    /// All of them with when they were touched, about the one first that was touched first: looked at anew where it
    /// was touched since.
    order: VecDeque<(usize, u64, u64)>,
    complete: VecDeque<(usize, u64)>,
    bytes: usize,
    /// How many bytes there may be.
    room: usize,
    clock: u64,
}

impl Default for Outputs {
    fn default() -> Self {
        Self {
            shelf: Shelf::default(),
            keys: BTreeSet::new(),
            due: BTreeSet::new(),
            order: VecDeque::new(),
            complete: VecDeque::new(),
            bytes: 0,
            room: MOST_BYTES,
            clock: 0,
        }
    }
}

impl Outputs {
    /// Gives less room, which a test can fill.
    #[cfg(test)]
    pub(super) fn narrow(&mut self, room: usize) {
        self.room = room;
    }

    /// Finds the place of an output.
    pub(super) fn place(&self, name: &impl Names<OutputKey>) -> Option<usize> {
        self.shelf.place(name)
    }

    /// Gives the key of what stands at a place.
    pub(super) fn key_at(&self, place: usize) -> Option<&OutputKey> {
        Some(&self.shelf.at(place)?.key)
    }

    /// Gives what stands at a place.
    pub(super) fn at_mut(&mut self, place: usize) -> Option<&mut OutputState> {
        Some(&mut self.shelf.at_mut(place)?.state)
    }

    /// Takes in one that stands nowhere; gives its place.
    pub(super) fn put(&mut self, key: OutputKey, state: OutputState) -> usize {
        self.clock += 1;
        let slot = Slot {
            key: key.clone(),
            state,
            birth: self.clock,
            touched: self.clock,
            due: None,
            complete: false,
            bytes: 0,
        };
        let place = self.shelf.put(slot);
        self.order.push_back((place, self.clock, self.clock));
        self.keys.insert(key);
        place
    }

    /// Takes one out.
    pub(super) fn remove(&mut self, key: &OutputKey) {
        let Some((place, slot)) = self.shelf.take(key) else {
            return;
        };
        self.keys.remove(key);
        self.bytes = self.bytes.saturating_sub(slot.bytes);
        if let Some(due) = slot.due {
            self.due.remove(&(due, place));
        }
    }

    /// Notes that text of one came, or that what waits of it changed: when it is due, and what it takes.
    pub(super) fn note(&mut self, place: usize) {
        let Some(slot) = self.shelf.at_mut(place) else {
            return;
        };
        self.clock += 1;
        slot.touched = self.clock;
        let coalescer = &slot.state.coalescer;
        let due = coalescer.looked_at();
        if due != slot.due {
            if let Some(before) = slot.due {
                self.due.remove(&(before, place));
            }
            if let Some(due) = due {
                self.due.insert((due, place));
            }
            slot.due = due;
        }
        let (agent, session) = (&slot.key.0.agent, &slot.key.0.session);
        let output = slot.key.1.as_ref().map_or(0, |id| id.as_str().len());
        let names = agent.as_str().len() + session.as_str().len() + output;
        let bytes = size_of::<Slot>()
            + AROUND
            + names
            + slot.state.agent.len()
            + slot.state.blank.len()
            + coalescer.weight();
        self.bytes = (self.bytes + bytes).saturating_sub(slot.bytes);
        slot.bytes = bytes;
        if coalescer.is_complete() && !slot.complete {
            slot.complete = true;
            self.complete.push_back((place, slot.birth));
        }
        self.forget_complete();
    }

    fn forget_complete(&mut self) {
        while self.complete.len() > MOST_COMPLETE {
            let Some((place, birth)) = self.complete.pop_front() else {
                return;
            };
            let of_it = self.shelf.at(place).filter(|slot| slot.birth == birth);
            if let Some(key) = of_it.map(|slot| slot.key.clone()) {
                self.remove(&key);
            }
        }
        // What left by another way stands in the order until it is looked at.
        if self.order.len() > 2 * self.keys.len() + MOST_COMPLETE {
            let shelf = &self.shelf;
            self.order.retain(|(place, _, birth)| {
                let slot = shelf.at(*place);
                slot.is_some_and(|slot| slot.birth == *birth)
            });
        }
    }

    /// Gives the one that was silent longest, where there is no more room.
    pub(super) fn crowded_out(&mut self) -> Option<OutputKey> {
        while self.bytes > self.room {
            let (place, touched, birth) = self.order.pop_front()?;
            let Some(slot) = self.shelf.at(place).filter(|slot| slot.birth == birth) else {
                continue;
            };
            if slot.touched == touched {
                return Some(slot.key.clone());
            }
            let touched = slot.touched;
            self.order.push_back((place, touched, birth));
        }
        None
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &OutputKey> {
        self.keys.iter()
    }

    /// Gives those of a session.
    pub(super) fn of_session(&self, session: &SessionKey) -> Vec<OutputKey> {
        let from = (session.clone(), None);
        let of_it = self.keys.range(from..);
        let of_it = of_it.take_while(|key| key.0 == *session);
        of_it.cloned().collect()
    }

    /// Tells whether it is time to look at any.
    pub(super) fn is_due(&self, now: Duration) -> bool {
        self.due.first().is_some_and(|(due, _)| *due <= now)
    }

    /// Gives when there is something to do if nothing more comes before.
    pub(super) fn deadline(&self) -> Option<Duration> {
        let mut due = self.due.iter();
        let looked = due.by_ref().take(MOST_LOOKED);
        let says = |place: usize| {
            let slot = self.shelf.at(place);
            slot.is_some_and(|slot| slot.state.coalescer.deadline().is_some())
        };
        let mut looked = looked.filter(|(_, place)| says(*place));
        let found = looked.next().map(|(due, _)| *due);
        found.or_else(|| due.next().map(|(due, _)| *due))
    }

    /// Takes one at which it is time to look; it is not looked at again before more of it comes.
    pub(super) fn take_due(&mut self, now: Duration) -> Option<OutputKey> {
        if !self.is_due(now) {
            return None;
        }
        let (_, place) = self.due.pop_first()?;
        let slot = self.shelf.at_mut(place)?;
        slot.due = None;
        Some(slot.key.clone())
    }
}

impl Names<OutputKey> for (&SessionKey, Option<&OutputId>) {
    fn names(&self, key: &OutputKey) -> bool {
        *self == (&key.0, key.1.as_ref())
    }
}

impl Keyed for Slot {
    type Key = OutputKey;

    fn key(&self) -> &OutputKey {
        &self.key
    }
}
