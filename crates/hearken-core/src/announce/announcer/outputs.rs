//! The outputs whose text is under way, and which of them a pause makes due.
//!
//! Responsibilities: finding one, when the first is due, which leave where there is no more room. Not here: what is
//! made of a chunk (`coalesce`), and what is told of it (`super`).
//!
//! Mental model: each output stands under a time at which it is looked at. Text that comes meanwhile makes that later:
//! it is then found when it is looked at, and put under its new time, so that a chunk moves nothing. Who asks what
//! is due looks at the first of these times and at nothing else, however many outputs there are.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::session::{Keyed, LinkId, Names, Session, SessionKey, Shelf};

use crate::announce::text::coalesce::Coalescer;
use crate::announce::text::normalise::{Readable, Reader};
use crate::protocol::{AgentId, OutputId, SessionId, TextDirection, Urgency};

/// How many bytes the outputs may take whose text is under way; then the one that was silent longest is said as far
/// as it came. 10,000 of usual sentences have room.
const MOST_BYTES: usize = 48 << 20;
/// How many complete outputs are kept, so that what comes late is known to be late.
const MOST_COMPLETE: usize = 256;
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

/// Where an output stands among all: source by source, session by session, in the order in which they began.
pub(super) type Rank = (LinkId, u64, u64);

#[derive(Debug)]
struct Slot {
    key: OutputKey,
    state: OutputState,
    /// The number of its session.
    number: u64,
    /// Which one it is of all that there were: a slot is used again.
    birth: u64,
    touched: u64,
    /// When it is time to look at it.
    due: Option<Duration>,
    /// Under which time it stands among all: not later than that.
    stands: Option<Duration>,
    complete: bool,
    bytes: usize,
}

/// The outputs whose text is under way.
#[derive(Debug)]
pub(super) struct Outputs {
    shelf: Shelf<Slot>,
    /// Where each stands, by its rank.
    places: BTreeMap<Rank, usize>,
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
    /// Gives less room, which a test can fill.
    #[cfg(test)]
    pub(super) fn narrow(&mut self, room: usize) {
        self.room = room;
    }

    /// Finds the place of an output.
    pub(super) fn place(&self, name: &impl Names<OutputKey>) -> Option<usize> {
        self.shelf.place(name)
    }

    /// Looks at an output, where it is known, as most chunks will.
    pub(super) fn look_at(
        &self,
        (link, agent, session): (LinkId, &AgentId, &SessionId),
        output: Option<&OutputId>,
    ) {
        let name = &(link, agent, session, output);
        if let Some(slot) = self.shelf.get(name) {
            std::hint::black_box((
                slot.touched,
                slot.complete,
                slot.state.said,
                slot.state.blank.len(),
            ));
            slot.state.coalescer.look_at();
        }
    }

    /// Returns the key of what stands at a place.
    pub(super) fn key_at(&self, place: usize) -> Option<&OutputKey> {
        Some(&self.shelf.at(place)?.key)
    }

    /// Returns what stands at a place.
    pub(super) fn at_mut(&mut self, place: usize) -> Option<&mut OutputState> {
        Some(&mut self.shelf.at_mut(place)?.state)
    }

    /// Takes in one that stands nowhere, of the session with this number; gives its place.
    pub(super) fn put(&mut self, key: OutputKey, number: u64, state: OutputState) -> usize {
        self.clock += 1;
        let slot = Slot {
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
        let place = self.shelf.put(slot);
        self.order.push_back((place, self.clock, self.clock));
        self.places.insert(rank, place);
        place
    }

    /// Takes note of whose it is: a session that began anew writes on in what the one before left.
    pub(super) fn belongs_to(&mut self, place: usize, number: u64) {
        if let Some(slot) = self.shelf.at_mut(place)
            && slot.number != number
        {
            self.places.remove(&slot.rank());
            slot.number = number;
            self.places.insert(slot.rank(), place);
        }
    }

    /// Takes one out.
    pub(super) fn remove(&mut self, place: usize) {
        let Some(key) = self.key_at(place).cloned() else {
            return;
        };
        let Some((_, slot)) = self.shelf.take(&key) else {
            return;
        };
        self.places.remove(&slot.rank());
        self.bytes = self.bytes.saturating_sub(slot.bytes);
        if let Some(stands) = slot.stands {
            self.due.remove(&(stands, place));
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
            if self.is_of(place, birth) {
                self.remove(place);
            }
        }
        // What left by another way stands in the order until it is looked at.
        if self.order.len() > 2 * self.places.len() + MOST_COMPLETE {
            let shelf = &self.shelf;
            self.order.retain(|(place, _, birth)| {
                let slot = shelf.at(*place);
                slot.is_some_and(|slot| slot.birth == *birth)
            });
        }
    }

    fn is_of(&self, place: usize, birth: u64) -> bool {
        self.shelf.at(place).is_some_and(|slot| slot.birth == birth)
    }

    /// Returns the one that was silent longest, where there is no more room.
    pub(super) fn crowded_out(&mut self) -> Option<usize> {
        while self.bytes > self.room {
            let (place, touched, birth) = self.order.pop_front()?;
            let Some(slot) = self.shelf.at(place).filter(|slot| slot.birth == birth) else {
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

    /// Returns all of them, each with the place where it stands, in the order of their ranks.
    pub(super) fn all(&self) -> impl Iterator<Item = (LinkId, usize)> {
        let places = self.places.iter();
        places.map(|((link, ..), place)| (*link, *place))
    }

    /// Returns those of a session.
    pub(super) fn of_session(&self, key: &SessionKey, known: Option<&Session>) -> Vec<usize> {
        let of_it = |(_, place): &(&Rank, &usize)| {
            let slot = self.shelf.at(**place);
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
            // It was forgotten already.
            None => (self.places.iter().filter(of_it))
                .map(|(_, place)| *place)
                .collect(),
        }
    }

    /// Returns where one stands among all.
    pub(super) fn rank(&self, place: usize) -> Option<Rank> {
        self.shelf.at(place).map(Slot::rank)
    }

    /// Returns whether it is time to look at any.
    pub(super) fn is_due(&self, now: Duration) -> bool {
        self.deadline().is_some_and(|due| due <= now)
    }

    /// Returns when it is time to look at one.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.due.first().map(|(due, _)| *due)
    }

    /// Takes one at which it is time to look; it is not looked at again before more of it comes.
    pub(super) fn take_due(&mut self, now: Duration) -> Option<usize> {
        while self.is_due(now) {
            let (_, place) = self.due.pop_first()?;
            let Some(slot) = self.shelf.at_mut(place) else {
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

impl Slot {
    fn rank(&self) -> Rank {
        (self.key.0.link, self.number, self.birth)
    }
}

impl Names<OutputKey> for (&SessionKey, Option<&OutputId>) {
    fn names(&self, key: &OutputKey) -> bool {
        *self == (&key.0, key.1.as_ref())
    }
}

impl Names<OutputKey> for (LinkId, &AgentId, &SessionId, Option<&OutputId>) {
    fn names(&self, key: &OutputKey) -> bool {
        *self == (key.0.link, &key.0.agent, &key.0.session, key.1.as_ref())
    }
}

impl Keyed for Slot {
    type Key = OutputKey;

    fn key(&self) -> &OutputKey {
        &self.key
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announce::text::coalesce::{Chunk, Settings};

    fn state() -> OutputState {
        OutputState {
            coalescer: Coalescer::new(Settings::default()),
            reader: Reader::default(),
            readable: Readable::default(),
            blank: String::new(),
            agent: Arc::from("A"),
            urgency: Urgency::Normal,
            said: true,
            direction: None,
            replayed: false,
        }
    }

    proptest::proptest! {
        /// However chunks come, each output is looked at when it is due by its own last chunk, and at no other time.
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
                // Whoever waits for the deadline misses none.
                let first = wanted.iter().flatten().min();
                assert!(first.is_none_or(|first| outputs.deadline().is_some_and(|at| at <= *first)));
            }
        }
    }
}
