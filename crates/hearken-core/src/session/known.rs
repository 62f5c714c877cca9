//! The sessions that are followed, and what is known of all of them together without walking over them.
//!
//! Responsibilities: finding a session, counting what runs and what it takes, forgetting what there is no room for.
//! Not here: what an event does to a session (`apply`).
//!
//! Mental model: whatever is asked with every event (does any run, did two of an agent run at once, how much do they
//! take) is counted as it changes. Only where there is no more room are all of them looked at, and then so many leave that it is not looked
//! again soon.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use crate::link::LinkId;
use crate::protocol::{AgentId, SessionId};

use super::context::Context;
use super::journal::Journal;
use super::key::SessionKey;
use super::model::{Phase, Session};
use super::shelf::{Keyed, Names, Shelf};

/// How many bytes all sessions may take: 10,000 of a lively producer have room, and a hostile one can't take more.
pub(super) const MOST_BYTES: usize = 64 << 20;
/// How many ended sessions are kept for what still comes of them: whatever runs has a need of its room, they have none.
const MOST_ENDED: usize = 256;

/// Counts what there is of one agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Runs {
    known: usize,
    going: usize,
    /// The one beside which no other one ran yet.
    alone: Option<SessionId>,
}

/// Counts what was forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Forgotten {
    pub(super) ended: u64,
    pub(super) running: u64,
}

/// The sessions that are followed.
#[derive(Debug, Clone)]
pub(super) struct Known {
    /// At which places something changed by which agents and their runs are told apart.
    naming: Journal<usize>,
    shelf: Shelf<Session>,
    /// Where each stands: agent by agent, in the order in which they began.
    places: BTreeMap<(LinkId, AgentId, u64), usize>,
    agents: BTreeMap<(LinkId, AgentId), Runs>,
    going: usize,
    beside: usize,
    /// Which ended, by their numbers, in the order in which they did.
    ended: VecDeque<(SessionKey, u64)>,
    /// Which may have a call that nobody was asked about, by when it is looked for.
    unasked: BTreeSet<(Duration, SessionKey)>,
    bytes: usize,
    /// How many bytes there may be.
    room: usize,
}

impl Default for Known {
    fn default() -> Self {
        Self {
            shelf: Shelf::default(),
            places: BTreeMap::new(),
            agents: BTreeMap::new(),
            going: 0,
            beside: 0,
            ended: VecDeque::new(),
            unasked: BTreeSet::new(),
            bytes: 0,
            room: MOST_BYTES,
            naming: Journal::default(),
        }
    }
}

impl Known {
    /// Takes note that something changed by which the session at a place is told apart from others.
    pub(super) fn named_anew(&mut self, place: usize) {
        self.naming.note(place);
    }

    /// Returns how often that was.
    pub(super) fn naming(&self) -> u64 {
        self.naming.count()
    }

    /// Returns the places at which that was since it had been so often, with what stands there now; `None` where more were than
    /// are remembered.
    pub(super) fn named_since(
        &self,
        naming: u64,
    ) -> Option<impl Iterator<Item = (usize, Option<&Session>)>> {
        let places = self.naming.since(naming)?;
        Some(places.map(|place| (place, self.shelf.at(place))))
    }

    pub(super) fn get(&self, key: &SessionKey) -> Option<&Session> {
        self.shelf.get(key)
    }

    /// Returns a session's key as it stands here, where it is known: whatever is kept of it has the one text of its agent's id.
    pub(super) fn key(&self, link: LinkId, agent: &AgentId, session: &SessionId) -> SessionKey {
        match self.shelf.get(&(link, agent, session)) {
            Some(session) => session.key.clone(),
            None => SessionKey {
                link,
                agent: agent.clone(),
                session: session.clone(),
            },
        }
    }

    /// Returns the session of a link that has an id, whoever's it is: of several agents' the first.
    pub(super) fn of_any_agent(&self, link: LinkId, session: &SessionId) -> Option<&Session> {
        let first = (link, AgentId::from(""));
        let agents = self
            .agents
            .range(first..)
            .map(|((of, agent), _)| (of, agent));
        let mut agents = agents.take_while(|(of, _)| **of == link);
        agents.find_map(|(_, agent)| self.shelf.get(&(link, agent, session)))
    }

    /// Looks at the session of what is named, and gives it where it is known.
    pub(super) fn look_at(
        &self,
        link: LinkId,
        agent: &AgentId,
        session: &SessionId,
    ) -> Option<&Session> {
        let session = self.shelf.get(&(link, agent, session))?;
        session.look_at();
        Some(session)
    }

    pub(super) fn get_mut(&mut self, key: &SessionKey) -> Option<&mut Session> {
        self.shelf.get_mut(key)
    }

    /// Finds where a session stands: it stays there until it is taken out.
    pub(super) fn place(&self, key: &SessionKey) -> Option<usize> {
        self.shelf.place(key)
    }

    /// Returns the session of the event that is applied, which is not looked for again.
    #[inline]
    pub(super) fn of(&self, context: &Context) -> Option<&Session> {
        let session = self.shelf.at(context.place?);
        debug_assert!(session.is_some_and(|session| session.key == *context.key));
        session
    }

    /// Returns the session of the event that is applied, to be changed.
    #[inline]
    pub(super) fn of_mut(&mut self, context: &Context) -> Option<&mut Session> {
        let session = self.shelf.at_mut(context.place?);
        debug_assert!((session.as_ref()).is_some_and(|session| session.key == *context.key));
        session
    }

    /// Returns all of them, agent by agent, in the order in which they began.
    pub(super) fn values(&self) -> impl Iterator<Item = &Session> {
        let places = self.places.values();
        places.filter_map(|place| self.shelf.at(*place))
    }

    /// Returns all of them, in no order.
    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Session> {
        self.shelf.iter_mut()
    }

    /// Returns whether any goes on.
    pub(super) fn any_goes_on(&self) -> bool {
        self.going > 0
    }

    /// Returns whether they are of several agents, or any two of one ran at a time.
    pub(super) fn are_several(&self) -> bool {
        self.agents.len() > 1 || self.beside > 0
    }

    /// Takes in a session that begins, and notes which others of its agent go on beside it; gives its place.
    pub(super) fn begin(&mut self, mut session: Session) -> usize {
        let agent = (session.key.link, session.key.agent.clone());
        let runs = self.agents.entry(agent).or_default();
        runs.known += 1;
        let alone = if runs.going > 0 {
            session.beside = true;
            runs.alone.take()
        } else {
            runs.alone = Some(session.key.session.clone());
            None
        };
        runs.going += 1;
        if let Some(alone) = alone {
            let alone = SessionKey {
                session: alone,
                ..session.key.clone()
            };
            if let Some(alone) = self.get_mut(&alone)
                && !alone.beside
            {
                alone.beside = true;
                let place = alone.place;
                self.beside += 1;
                self.named_anew(place);
            }
        }
        self.going += 1;
        self.beside += usize::from(session.beside);
        session.weight = session.weigh();
        self.bytes += session.weight;
        let order = (session.key.link, session.key.agent.clone(), session.number);
        let place = self.shelf.put(session);
        if let Some(session) = self.shelf.at_mut(place) {
            session.place = place;
        }
        self.places.insert(order, place);
        self.named_anew(place);
        place
    }

    /// Notes that one has ended.
    pub(super) fn end(&mut self, key: &SessionKey) {
        let Some(number) = self.get(key).map(|session| session.number) else {
            return;
        };
        self.ended.push_back((key.clone(), number));
        self.no_longer_goes_on(key);
    }

    fn no_longer_goes_on(&mut self, key: &SessionKey) {
        self.going = self.going.saturating_sub(1);
        let agent = (key.link, key.agent.clone());
        if let Some(runs) = self.agents.get_mut(&agent) {
            runs.going = runs.going.saturating_sub(1);
        }
    }

    /// Takes one out.
    pub(super) fn remove(&mut self, key: &SessionKey) -> Option<Session> {
        let (place, session) = self.shelf.take(key)?;
        let agent = (key.link, key.agent.clone());
        let order = (key.link, key.agent.clone(), session.number);
        self.places.remove(&order);
        self.named_anew(place);
        if let Some(due) = session.looked_for {
            self.unasked.remove(&(due, key.clone()));
        }
        self.bytes = self.bytes.saturating_sub(session.weight);
        self.beside -= usize::from(session.beside);
        if !session.is_ended() {
            self.no_longer_goes_on(key);
        }
        if let Some(runs) = self.agents.get_mut(&agent) {
            runs.known = runs.known.saturating_sub(1);
            if runs.known == 0 {
                self.agents.remove(&agent);
            }
        }
        Some(session)
    }

    /// Looks for a call of a session that nobody was asked about, at the time when the first one is told.
    pub(super) fn look_for_unasked(&mut self, key: &SessionKey) {
        let Some(session) = self.get_mut(key) else {
            return;
        };
        if session.looked_for.is_none()
            && let Some(due) = session.unasked_due()
        {
            session.looked_for = Some(due);
            self.unasked.insert((due, key.clone()));
        }
    }

    /// Takes a session at which it is time to look for such a call.
    pub(super) fn take_unasked(&mut self, now: Duration) -> Option<SessionKey> {
        let (due, _) = self.unasked.first()?;
        if now < *due {
            return None;
        }
        let (_, key) = self.unasked.pop_first()?;
        if let Some(session) = self.get_mut(&key) {
            session.looked_for = None;
        }
        Some(key)
    }

    /// Returns when the first such call is told of all sessions that are wanted.
    pub(super) fn unasked_due(&self, wanted: impl Fn(&SessionKey) -> bool) -> Option<Duration> {
        let mut first: Option<Duration> = None;
        for (due, key) in &self.unasked {
            // Each is looked at no sooner than it must be: it may be later than its place says.
            if first.is_some_and(|first| first <= *due) {
                break;
            }
            let session = self.get(key).filter(|_| wanted(key));
            let own = session.and_then(Session::unasked_due);
            first = first.into_iter().chain(own).min();
        }
        first
    }

    /// Takes out those of a link that go on.
    pub(super) fn leave(&mut self, link: LinkId) {
        let of_it = |session: &&Session| session.key.link == link && !session.is_ended();
        let left: Vec<SessionKey> = (self.values().filter(of_it))
            .map(|session| session.key.clone())
            .collect();
        for key in left {
            self.remove(&key);
        }
    }

    /// Weighs one anew, behind what changed it.
    pub(super) fn weigh(&mut self, key: &SessionKey) {
        let Some(session) = self.get_mut(key) else {
            return;
        };
        let before = session.weight;
        session.weight = session.weigh();
        let after = session.weight;
        self.bytes = (self.bytes + after).saturating_sub(before);
    }

    /// Makes room: ended ones leave first, the one that ended first before all others; then what was silent longest,
    /// and what waits for an answer last.
    pub(super) fn forget(&mut self) -> Forgotten {
        let mut forgotten = Forgotten::default();
        while self.ended.len() > MOST_ENDED || self.bytes > self.room {
            let Some((key, number)) = self.ended.pop_front() else {
                break;
            };
            // It may have begun anew.
            let is_it = |session: &Session| session.number == number && session.is_ended();
            if self.get(&key).is_some_and(is_it) {
                self.remove(&key);
                forgotten.ended += 1;
            }
        }
        if self.bytes <= self.room {
            return forgotten;
        }
        let mut going: Vec<_> = (self.values())
            .map(|session| {
                let waits = matches!(session.phase, Phase::Waiting(_));
                ((waits, session.last_event, session.number), &session.key)
            })
            .collect();
        going.sort_unstable_by_key(|(rank, _)| *rank);
        let going: Vec<SessionKey> = going.into_iter().map(|(_, key)| key.clone()).collect();
        // A sixteenth more than must: looking at all of them is dear.
        let most = self.room - self.room / 16;
        for key in going {
            if self.bytes <= most {
                break;
            }
            self.remove(&key);
            forgotten.running += 1;
        }
        forgotten
    }

    /// Gives less room, which a test can fill.
    #[cfg(test)]
    pub(super) fn narrow(&mut self, room: usize) {
        self.room = room;
    }

    /// Returns how many bytes they take, as they are counted.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Names<SessionKey> for (LinkId, &AgentId, &SessionId) {
    fn names(&self, key: &SessionKey) -> bool {
        *self == (key.link, &key.agent, &key.session)
    }
}

impl Keyed for Session {
    type Key = SessionKey;

    fn key(&self) -> &SessionKey {
        &self.key
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn they_are_several_with_two_agents_or_two_runs_at_once_as_long_as_these_are_known() {
        let mut known = Known::default();
        let key = |agent: &str, session: &str| SessionKey {
            link: LinkId(0),
            agent: agent.into(),
            session: session.into(),
        };
        let mut number = 0;
        let mut begin = |known: &mut Known, key: &SessionKey| {
            number += 1;
            let mut session = Session::new(key.clone(), "A".into(), Duration::ZERO, false);
            session.number = number;
            known.begin(session);
        };
        let end = |known: &mut Known, key: &SessionKey| {
            if let Some(session) = known.get_mut(key) {
                session.phase = Phase::Ended(crate::session::Ending::Completed);
            }
            known.end(key);
        };
        let (one, two, other) = (key("a", "1"), key("a", "2"), key("b", "1"));
        begin(&mut known, &one);
        end(&mut known, &one);
        begin(&mut known, &two);
        assert!(!known.are_several(), "one run of one agent after another");
        begin(&mut known, &other);
        end(&mut known, &other);
        assert!(
            known.are_several(),
            "an agent that ended is still spoken of"
        );
        known.remove(&other);
        assert!(!known.are_several());
        let three = key("a", "3");
        begin(&mut known, &three);
        assert!(known.are_several(), "two runs at once");
        known.remove(&three);
        assert!(known.are_several(), "the one that it ran beside is known");
        known.remove(&two);
        assert!(!known.are_several());
    }

    #[test]
    fn a_session_is_found_however_many_come_and_go() {
        let mut known = Known::default();
        let key = |number: usize| SessionKey {
            link: LinkId(0),
            agent: "a".into(),
            session: format!("sess_{number}").as_str().into(),
        };
        for number in 0..500 {
            let mut session = Session::new(key(number), "A".into(), Duration::ZERO, false);
            session.number = number as u64 + 1;
            known.begin(session);
            if number % 3 == 2 {
                assert!(known.remove(&key(number / 2)).is_some());
            }
        }
        let gone: Vec<usize> = (0..500).filter(|n| n % 3 == 2).map(|n| n / 2).collect();
        for number in 0..500 {
            let found = known.get(&key(number)).map(|session| &session.key);
            let wanted = (!gone.contains(&number)).then(|| key(number));
            assert_eq!(found, wanted.as_ref());
        }
        let places: std::collections::BTreeSet<usize> =
            known.values().map(|session| session.place).collect();
        assert_eq!(
            places.len(),
            500 - gone.len(),
            "each has a place of its own"
        );
        let numbers = known.values().map(|session| session.number);
        assert!(
            numbers.is_sorted(),
            "they come in the order in which they began"
        );
    }
}
