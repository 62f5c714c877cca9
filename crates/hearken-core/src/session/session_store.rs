//! The sessions that are followed, and totals over all of them without a scan.
//!
//! Responsibilities: finding a session, counting running sessions and their memory, forgetting sessions when memory
//! runs out. Not here: the effect of an event on a session (`event_effects`).
//!
//! Mental model: every event needs a few totals (does any session run, did two of an agent run at once, how
//! much memory do they take), which are updated as they change. Only when memory runs out are all sessions
//! scanned, and then so many are removed that the next scan is far off.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use smallvec::SmallVec;

use crate::link::LinkId;
use crate::protocol::{AgentId, SessionId};

use super::context::Context;
use super::journal::Journal;
use super::key::SessionKey;
use super::keyed_slab::{KeyName, KeyedItem, KeyedSlab};
use super::model::{Phase, Session};

/// The most bytes that all sessions may take: room for 10,000 sessions of a lively producer, and a limit for a
/// hostile one.
pub(super) const MOST_BYTES: usize = 64 << 20;
/// The most ended sessions that are kept for late events: running sessions need the room, ended ones do not.
const MOST_ENDED: usize = 256;

/// How many agents of a session are followed as a team: each of their events may look at all of them.
pub(super) const MOST_TEAM: usize = 64;

/// The counts for one agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct AgentSessionCounts {
    known: usize,
    going: usize,
    /// The session beside which no other one has run yet.
    alone: Option<SessionId>,
}

/// The numbers of forgotten sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ForgottenSessions {
    pub(super) ended: u64,
    pub(super) running: u64,
}

/// The sessions that are followed.
#[derive(Debug, Clone)]
pub(super) struct SessionStore {
    /// The places of sessions whose distinguishing names changed.
    naming: Journal<usize>,
    sessions: KeyedSlab<Session>,
    /// The place of each session: agent by agent, in the order of their beginning.
    places: BTreeMap<(LinkId, AgentId, u64), usize>,
    agents: BTreeMap<(LinkId, AgentId), AgentSessionCounts>,
    /// The places of the sessions of each id, whichever agent they belong to, in the order of their beginning.
    teams: BTreeMap<(LinkId, SessionId), SmallVec<[usize; 1]>>,
    /// How many ids have several agents.
    shared: usize,
    going: usize,
    beside: usize,
    /// The ended sessions with their numbers, in the order of their end.
    ended: VecDeque<(SessionKey, u64)>,
    /// The sessions that may have a call without a question, by the time when to check.
    unasked: BTreeSet<(Duration, SessionKey)>,
    bytes: usize,
    /// The most bytes that sessions may take.
    room: usize,
}

impl Default for SessionStore {
    fn default() -> Self {
        Self {
            sessions: KeyedSlab::default(),
            places: BTreeMap::new(),
            agents: BTreeMap::new(),
            teams: BTreeMap::new(),
            shared: 0,
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

impl SessionStore {
    /// Records a change in what distinguishes the session at a place from others.
    pub(super) fn named_anew(&mut self, place: usize) {
        self.naming.note(place);
    }

    /// Returns how many such changes there were.
    pub(super) fn naming(&self) -> u64 {
        self.naming.count()
    }

    /// Returns the places of such changes since an earlier count, with the sessions there now; `None` if there
    /// were more than are remembered.
    pub(super) fn named_since(
        &self,
        naming: u64,
    ) -> Option<impl Iterator<Item = (usize, Option<&Session>)>> {
        let places = self.naming.since(naming)?;
        Some(places.map(|place| (place, self.sessions.at(place))))
    }

    pub(super) fn get(&self, key: &SessionKey) -> Option<&Session> {
        self.sessions.get(key)
    }

    /// Returns a session's key, as stored here if the session is known, so that all records share the text of
    /// its agent's id.
    pub(super) fn key(&self, link: LinkId, agent: &AgentId, session: &SessionId) -> SessionKey {
        match self.sessions.get(&(link, agent, session)) {
            Some(session) => session.key.clone(),
            None => SessionKey {
                link,
                agent: agent.clone(),
                session: session.clone(),
            },
        }
    }

    /// Returns the sessions of a link with an id, whichever agents they belong to, in the order of their beginning.
    pub(super) fn of_any_agent(
        &self,
        link: LinkId,
        session: &SessionId,
    ) -> impl Iterator<Item = &Session> {
        let places = self.teams.get(&(link, session.clone()));
        let places = places.map(SmallVec::as_slice).unwrap_or_default();
        places.iter().filter_map(|place| self.sessions.at(*place))
    }

    /// Returns the sessions with the id of a session, in the order of their beginning; at most [`MOST_TEAM`]. A session
    /// beyond that is alone.
    pub(super) fn team(&self, key: &SessionKey) -> impl Iterator<Item = &Session> {
        let alone = self.get(key).filter(|session| !session.in_team);
        let team = match alone {
            Some(_) => None,
            None => Some(self.of_any_agent(key.link, &key.session)),
        };
        alone.into_iter().chain(team.into_iter().flatten())
    }

    /// Returns whether several agents have a session with this id.
    pub(super) fn has_team(&self, key: &SessionKey) -> bool {
        self.shared > 0 && self.team(key).nth(1).is_some()
    }

    /// Returns the session at a place, to be changed.
    pub(super) fn at_mut(&mut self, place: usize) -> Option<&mut Session> {
        self.sessions.at_mut(place)
    }

    pub(super) fn get_mut(&mut self, key: &SessionKey) -> Option<&mut Session> {
        self.sessions.get_mut(key)
    }

    /// Returns the place of a session: it stays the same until the session is removed.
    pub(super) fn place(&self, key: &SessionKey) -> Option<usize> {
        self.sessions.place(key)
    }

    /// Returns the session of the event that is being applied, without a lookup.
    #[inline]
    pub(super) fn of(&self, context: &Context) -> Option<&Session> {
        let session = self.sessions.at(context.place?);
        debug_assert!(session.is_some_and(|session| session.key == *context.key));
        session
    }

    /// Returns the session of the event that is being applied, to be changed.
    #[inline]
    pub(super) fn of_mut(&mut self, context: &Context) -> Option<&mut Session> {
        let session = self.sessions.at_mut(context.place?);
        debug_assert!((session.as_ref()).is_some_and(|session| session.key == *context.key));
        session
    }

    /// Returns all sessions, agent by agent, in the order of their beginning.
    pub(super) fn values(&self) -> impl Iterator<Item = &Session> {
        let places = self.places.values();
        places.filter_map(|place| self.sessions.at(*place))
    }

    /// Returns all sessions, in no particular order.
    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Session> {
        self.sessions.iter_mut()
    }

    /// Returns how many sessions are running.
    pub(super) fn running_count(&self) -> usize {
        self.going
    }

    /// Returns whether any session is running.
    pub(super) fn any_goes_on(&self) -> bool {
        self.running_count() > 0
    }

    /// Returns whether there are several agents, or any two sessions of one agent ran at the same time.
    pub(super) fn are_several(&self) -> bool {
        self.agents.len() > 1 || self.beside > 0
    }

    /// Adds a session that begins, and notes which sessions of its agent run beside it; returns its place.
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
        let id = (session.key.link, session.key.session.clone());
        let team = self.teams.entry(id).or_default();
        session.in_team = team.len() < MOST_TEAM;
        let in_team = session.in_team;
        let place = self.sessions.insert(session);
        if in_team {
            team.push(place);
            self.shared += usize::from(team.len() == 2);
        }
        if let Some(session) = self.sessions.at_mut(place) {
            session.place = place;
        }
        self.places.insert(order, place);
        self.named_anew(place);
        place
    }

    /// Notes that a session has ended.
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

    /// Removes a session.
    pub(super) fn remove(&mut self, key: &SessionKey) -> Option<Session> {
        let (place, session) = self.sessions.remove(key)?;
        let agent = (key.link, key.agent.clone());
        let order = (key.link, key.agent.clone(), session.number);
        self.places.remove(&order);
        let id = (key.link, key.session.clone());
        if let Some(team) = self.teams.get_mut(&id).filter(|_| session.in_team) {
            team.retain(|other| *other != place);
            self.shared -= usize::from(team.len() == 1);
            if team.is_empty() {
                self.teams.remove(&id);
            }
        }
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

    /// Schedules a check for calls of a session without a question, at the time when the first one would be reported.
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

    /// Returns a session whose check is due, and removes it from the schedule.
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

    /// Returns when the first call without a question is reported, over all wanted sessions.
    pub(super) fn unasked_due(&self, wanted: impl Fn(&SessionKey) -> bool) -> Option<Duration> {
        let mut first: Option<Duration> = None;
        for (due, key) in &self.unasked {
            // Entries are sorted by when to check them; the call itself may be due later.
            if first.is_some_and(|first| first <= *due) {
                break;
            }
            let session = self.get(key).filter(|_| wanted(key));
            let own = session.and_then(Session::unasked_due);
            first = first.into_iter().chain(own).min();
        }
        first
    }

    /// Removes the sessions of a link that are still running.
    pub(super) fn leave(&mut self, link: LinkId) {
        let of_it = |session: &&Session| session.key.link == link && !session.is_ended();
        let left: Vec<SessionKey> = (self.values().filter(of_it))
            .map(|session| session.key.clone())
            .collect();
        for key in left {
            self.remove(&key);
        }
    }

    /// Measures the memory of a session again, after a change.
    pub(super) fn weigh(&mut self, key: &SessionKey) {
        let Some(session) = self.get_mut(key) else {
            return;
        };
        let before = session.weight;
        session.weight = session.weigh();
        let after = session.weight;
        self.bytes = (self.bytes + after).saturating_sub(before);
    }

    /// Makes room: ended sessions go first, in the order of their end; then those that were silent longest;
    /// those that wait for an answer go last.
    pub(super) fn forget(&mut self) -> ForgottenSessions {
        let mut forgotten = ForgottenSessions::default();
        while self.ended.len() > MOST_ENDED || self.bytes > self.room {
            let Some((key, number)) = self.ended.pop_front() else {
                break;
            };
            // A new session may have the same key.
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
        // A sixteenth more than necessary: a scan of all sessions is expensive.
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

    /// Sets a smaller bound, which a test can reach.
    #[cfg(test)]
    pub(super) fn narrow(&mut self, room: usize) {
        self.room = room;
    }

    /// Returns the bytes that all sessions take, as counted.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl KeyName<SessionKey> for (LinkId, &AgentId, &SessionId) {
    fn names(&self, key: &SessionKey) -> bool {
        *self == (key.link, &key.agent, &key.session)
    }
}

impl KeyedItem for Session {
    type Key = SessionKey;

    fn key(&self) -> &SessionKey {
        &self.key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_several_with_two_agents_or_two_runs_at_once_as_long_as_these_are_known() {
        let mut known = SessionStore::default();
        let key = |agent: &str, session: &str| SessionKey {
            link: LinkId(0),
            agent: agent.into(),
            session: session.into(),
        };
        let mut number = 0;
        let mut begin = |known: &mut SessionStore, key: &SessionKey| {
            number += 1;
            let mut session = Session::new(key.clone(), "A".into(), Duration::ZERO, false);
            session.number = number;
            known.begin(session);
        };
        let end = |known: &mut SessionStore, key: &SessionKey| {
            if let Some(session) = known.get_mut(key) {
                session.phase = Phase::Ended(crate::session::SessionEndKind::Completed);
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
        let mut known = SessionStore::default();
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
