//! The outputs whose text is in progress, and which of them a pause makes due.
//!
//! Responsibilities: finding an output, when the first is due, which ones leave when the room runs out. Not
//! here: what becomes of a chunk (`coalesce`), how it is announced (`super`).
//!
//! Mental model: each output is filed under a time at which it is checked. Text that arrives meanwhile
//! postpones its due time but does not refile it: the check notices and files it under the new time. So a chunk
//! moves nothing, and asking what is due looks only at the first filed time, however many outputs exist.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::session::{KeyName, KeyedItem, KeyedSlab, LinkId, Session, SessionKey};

use crate::announce::announcement::Opening;
use crate::announce::text::coalesce::{Boundary, Coalescer};
use crate::announce::text::normalise::{OutputDisplay, ProseReader};
use crate::protocol::{AgentId, OutputId, SessionId, TextDirection, Urgency};

/// How many bytes the outputs in progress may occupy; beyond that, the one that was silent longest is spoken as
/// far as it has arrived. There is room for 10,000 outputs with usual sentences.
const MOST_BYTES: usize = 48 << 20;
/// How many complete outputs are kept, so that late text is recognised as late.
const MOST_COMPLETE: usize = 256;
/// An output's uncounted overhead: its list entries and the readers of its text.
const AROUND: usize = 512;

/// The key of an output across all sessions.
pub(super) type OutputKey = (SessionKey, Option<OutputId>);

#[derive(Debug)]
pub(super) struct OutputState {
    pub(super) coalescer: Coalescer,
    pub(super) reader: ProseReader,
    pub(super) readable: OutputDisplay,
    /// The white space since the last words.
    pub(super) blank: String,
    /// What begins with the next words.
    pub(super) opens: Opening,
    pub(super) agent: Arc<str>,
    pub(super) urgency: Urgency,
    /// Whether anything was spoken since the output became urgent.
    pub(super) said: bool,
    pub(super) direction: Option<TextDirection>,
    pub(super) replayed: bool,
}

/// The sort key of outputs: source, then session, then order of creation.
pub(super) type Rank = (LinkId, u64, u64);

impl OutputState {
    /// Returns what begins with a piece, given its words and where it ends.
    pub(super) fn opening(&mut self, words: &str, ends: Boundary) -> Opening {
        let next = match ends {
            Boundary::Line
            | Boundary::Paragraph
            | Boundary::Block
            | Boundary::Completion
            | Boundary::LeftOut(_) => Opening::Paragraph,
            Boundary::Sentence | Boundary::Clause | Boundary::Language | Boundary::Bound => {
                Opening::Nothing
            }
        };
        if words.is_empty() {
            if self.opens == Opening::Nothing {
                self.opens = next;
            }
            return Opening::Nothing;
        }
        std::mem::replace(&mut self.opens, next)
    }
}

#[derive(Debug)]
struct OutputSlot {
    key: OutputKey,
    state: OutputState,
    /// The number of its session.
    number: u64,
    /// Its number among all outputs that ever existed, as slots are reused.
    birth: u64,
    touched: u64,
    /// When it must be checked.
    due: Option<Duration>,
    /// The time under which it is filed, never later than `due`.
    stands: Option<Duration>,
    complete: bool,
    bytes: usize,
}

/// The outputs whose text is in progress.
#[derive(Debug)]
pub(super) struct Outputs {
    slots: KeyedSlab<OutputSlot>,
    /// The place of each output, by its rank.
    places: BTreeMap<Rank, usize>,
    due: BTreeSet<(Duration, usize)>,
    /// All outputs with their `touched` and `birth`, roughly least recently touched first: an output that was touched
    /// since is put back when its turn comes.
    order: VecDeque<(usize, u64, u64)>,
    complete: VecDeque<(usize, u64)>,
    bytes: usize,
    /// The limit for `bytes`.
    room: usize,
    clock: u64,
}

impl Default for Outputs {
    fn default() -> Self {
        Self {
            slots: KeyedSlab::default(),
            places: BTreeMap::new(),
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
    /// Limits the room to what a test can fill.
    #[cfg(test)]
    pub(super) fn narrow(&mut self, room: usize) {
        self.room = room;
    }

    /// Returns the place of an output.
    pub(super) fn place(&self, name: &impl KeyName<OutputKey>) -> Option<usize> {
        self.slots.place(name)
    }

    /// Returns the key of the output at a place.
    pub(super) fn key_at(&self, place: usize) -> Option<&OutputKey> {
        Some(&self.slots.at(place)?.key)
    }

    /// Returns the output at a place.
    pub(super) fn at_mut(&mut self, place: usize) -> Option<&mut OutputState> {
        Some(&mut self.slots.at_mut(place)?.state)
    }

    /// Adds an output that has no place yet, of the session with this number; returns its place.
    pub(super) fn put(&mut self, key: OutputKey, number: u64, state: OutputState) -> usize {
        self.clock += 1;
        let slot = OutputSlot {
            key,
            state,
            number,
            birth: self.clock,
            touched: self.clock,
            due: None,
            stands: None,
            complete: false,
            bytes: 0,
        };
        let rank = slot.rank();
        let place = self.slots.insert(slot);
        self.order.push_back((place, self.clock, self.clock));
        self.places.insert(rank, place);
        place
    }

    /// Records the session that owns an output: a restarted session continues its predecessor's output.
    pub(super) fn belongs_to(&mut self, place: usize, number: u64) {
        if let Some(slot) = self.slots.at_mut(place)
            && slot.number != number
        {
            self.places.remove(&slot.rank());
            slot.number = number;
            self.places.insert(slot.rank(), place);
        }
    }

    /// Removes an output.
    pub(super) fn remove(&mut self, place: usize) {
        let Some(key) = self.key_at(place).cloned() else {
            return;
        };
        let Some((_, slot)) = self.slots.remove(&key) else {
            return;
        };
        self.places.remove(&slot.rank());
        self.bytes = self.bytes.saturating_sub(slot.bytes);
        if let Some(stands) = slot.stands {
            self.due.remove(&(stands, place));
        }
    }

    /// Records that text of an output arrived or that its waiting text changed: updates its due time and its size.
    pub(super) fn note(&mut self, place: usize) {
        let Some(slot) = self.slots.at_mut(place) else {
            return;
        };
        self.clock += 1;
        slot.touched = self.clock;
        let coalescer = &slot.state.coalescer;
        slot.due = coalescer.looked_at();
        if let Some(due) = slot.due
            && slot.stands.is_none_or(|stands| due < stands)
        {
            if let Some(before) = slot.stands.replace(due) {
                self.due.remove(&(before, place));
            }
            self.due.insert((due, place));
        }
        let (agent, session) = (&slot.key.0.agent, &slot.key.0.session);
        let output = slot.key.1.as_ref().map_or(0, |id| id.as_str().len());
        let names = agent.as_str().len() + session.as_str().len() + output;
        let bytes = size_of::<OutputSlot>()
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
            if self.is_of(place, birth) {
                self.remove(place);
            }
        }
        // Outputs that were removed in another way stay in the order until their turn comes.
        if self.order.len() > 2 * self.places.len() + MOST_COMPLETE {
            let slots = &self.slots;
            self.order.retain(|(place, _, birth)| {
                let slot = slots.at(*place);
                slot.is_some_and(|slot| slot.birth == *birth)
            });
        }
    }

    fn is_of(&self, place: usize, birth: u64) -> bool {
        self.slots.at(place).is_some_and(|slot| slot.birth == birth)
    }

    /// Returns the output that was silent longest, if the room is exceeded.
    pub(super) fn crowded_out(&mut self) -> Option<usize> {
        while self.bytes > self.room {
            let (place, touched, birth) = self.order.pop_front()?;
            let Some(slot) = self.slots.at(place).filter(|slot| slot.birth == birth) else {
                continue;
            };
            if slot.touched == touched {
                return Some(place);
            }
            let touched = slot.touched;
            self.order.push_back((place, touched, birth));
        }
        None
    }

    /// Returns the source and the place of each output, in the order of their ranks.
    pub(super) fn all(&self) -> impl Iterator<Item = (LinkId, usize)> {
        let places = self.places.iter();
        places.map(|((link, ..), place)| (*link, *place))
    }

    /// Returns the places of a session's outputs.
    pub(super) fn of_session(&self, key: &SessionKey, known: Option<&Session>) -> Vec<usize> {
        let of_it = |(_, place): &(&Rank, &usize)| {
            let slot = self.slots.at(**place);
            slot.is_some_and(|slot| slot.key.0 == *key)
        };
        match known {
            Some(session) => {
                let first = (key.link, session.number, 0);
                let those = self
                    .places
                    .range(first..=(key.link, session.number, u64::MAX));
                those.map(|(_, place)| *place).collect()
            }
            // The session was already forgotten.
            None => (self.places.iter().filter(of_it))
                .map(|(_, place)| *place)
                .collect(),
        }
    }

    /// Returns the rank of an output.
    pub(super) fn rank(&self, place: usize) -> Option<Rank> {
        self.slots.at(place).map(OutputSlot::rank)
    }

    /// Returns whether any output must be checked.
    pub(super) fn is_due(&self, now: Duration) -> bool {
        self.deadline().is_some_and(|due| due <= now)
    }

    /// Returns when the next output must be checked.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.due.first().map(|(due, _)| *due)
    }

    /// Returns an output that must be checked now; it is not returned again before more of its text arrives.
    pub(super) fn take_due(&mut self, now: Duration) -> Option<usize> {
        while self.is_due(now) {
            let (_, place) = self.due.pop_first()?;
            let Some(slot) = self.slots.at_mut(place) else {
                continue;
            };
            slot.stands = slot.due.filter(|due| now < *due);
            match slot.stands {
                Some(due) => {
                    self.due.insert((due, place));
                }
                None if slot.due.take().is_some() => return Some(place),
                None => {}
            }
        }
        None
    }
}

impl OutputSlot {
    fn rank(&self) -> Rank {
        (self.key.0.link, self.number, self.birth)
    }
}

impl KeyName<OutputKey> for (&SessionKey, Option<&OutputId>) {
    fn names(&self, key: &OutputKey) -> bool {
        *self == (&key.0, key.1.as_ref())
    }
}

impl KeyName<OutputKey> for (LinkId, &AgentId, &SessionId, Option<&OutputId>) {
    fn names(&self, key: &OutputKey) -> bool {
        *self == (key.0.link, &key.0.agent, &key.0.session, key.1.as_ref())
    }
}

impl KeyedItem for OutputSlot {
    type Key = OutputKey;

    fn key(&self) -> &OutputKey {
        &self.key
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announce::text::coalesce::{Chunk, CoalesceSettings};

    fn state() -> OutputState {
        OutputState {
            coalescer: Coalescer::new(CoalesceSettings::default()),
            reader: ProseReader::default(),
            readable: OutputDisplay::default(),
            blank: String::new(),
            opens: Opening::Output,
            agent: Arc::from("A"),
            urgency: Urgency::Normal,
            said: true,
            direction: None,
            replayed: false,
        }
    }

    proptest::proptest! {
        /// However the chunks arrive, each output is due when its own last chunk demands it, and at no other
        /// time.
        #[test]
        fn each_is_due_when_its_own_text_pauses(
            steps in proptest::collection::vec((0usize..12, 0u64..700, 0usize..4), 0..120),
        ) {
            let mut outputs = Outputs::default();
            let places: Vec<usize> = (0..12)
                .map(|number: u64| {
                    let key = SessionKey {
                        link: LinkId(0),
                        agent: "a".into(),
                        session: format!("sess_{number}").as_str().into(),
                    };
                    outputs.put((key, None), number + 1, state())
                })
                .collect();
            let mut wanted = vec![None; places.len()];
            let mut now = Duration::ZERO;
            for (which, ms, what) in steps {
                now += Duration::from_millis(ms);
                let mut due: Vec<usize> = std::iter::from_fn(|| outputs.take_due(now)).collect();
                due.sort_unstable();
                let is_due = |at: &Option<Duration>| at.is_some_and(|at| at <= now);
                let mut expected: Vec<usize> = (places.iter().zip(&wanted))
                    .filter(|(_, at)| is_due(at))
                    .map(|(place, _)| *place)
                    .collect();
                expected.sort_unstable();
                assert_eq!(due, expected);
                wanted.iter_mut().filter(|at| is_due(at)).for_each(|at| *at = None);
                for place in due {
                    let flushed = outputs.at_mut(place).map(|state| state.coalescer.flush_due(now));
                    assert!(flushed.is_some());
                }
                let text = ["word, and ", "An end. ", "", "\n"][what];
                if let Some(state) = outputs.at_mut(places[which]) {
                    let chunk = Chunk { text, ..Chunk::default() };
                    state.coalescer.push(chunk, now);
                    wanted[which] = state.coalescer.looked_at();
                }
                outputs.note(places[which]);
                // A caller that waits for the deadline misses none.
                let first = wanted.iter().flatten().min();
                assert!(first.is_none_or(|first| outputs.deadline().is_some_and(|at| at <= *first)));
            }
        }
    }
}
