//! Whether a session can be confused with others.
//!
//! Responsibilities: counting the sessions that look the same, whose runs overlapped, or that received the same
//! request. Not here: what is added to a shared name (`agent_names`), how a name looks (`naming`).
//!
//! Mental model: a session is compared with thousands of others, but only whether a match exists matters.
//! Sessions that can't be told apart form a class, and thousands of sessions form few classes. So each session
//! is counted in its class, and each class in its groups: naming a session costs the same however many there
//! are.

use std::sync::Arc;

use foldhash::HashMap;
use smallvec::SmallVec;

use crate::announce::words::naming::NameCache;
use crate::protocol::AgentId;
use crate::session::{KeyedItem, KeyedSlab, LinkId, Session, SessionKey, Sessions};

/// Everything but its number that could distinguish a session; the name and the first words in their visual
/// form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct LookalikeClass {
    name: Arc<str>,
    link: LinkId,
    agent: AgentId,
    words: Option<Arc<str>>,
    host: Option<Arc<str>>,
    /// Whether it overlapped another run of its agent.
    beside: bool,
}

/// A class and the number of its sessions.
#[derive(Debug)]
struct ClassCount {
    sort: LookalikeClass,
    sessions: usize,
}

impl KeyedItem for ClassCount {
    type Key = LookalikeClass;

    fn key(&self) -> &LookalikeClass {
        &self.sort
    }
}

/// What the classes of a group have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Group {
    Name(Arc<str>),
    NameOnLink(Arc<str>, LinkId),
    NameOnHost(Arc<str>, Arc<str>),
    NameOfAgent(Arc<str>, LinkId, AgentId),
    Words(Arc<str>, Arc<str>),
    WordsOfAgent(Arc<str>, Arc<str>, LinkId, AgentId),
    /// Each of them overlapped another run of the agent.
    Beside(LinkId, AgentId),
    WordsBeside(Arc<str>, LinkId, AgentId),
}

/// The number of sessions in each class, and of classes in each group.
#[derive(Debug, Default)]
pub(super) struct Namesakes {
    /// The state of naming up to which the sessions were counted ([`Sessions::naming`]).
    naming: u64,
    /// For each session place, the place of the class in which its session was counted.
    known: Vec<Option<usize>>,
    sorts: KeyedSlab<ClassCount>,
    groups: HashMap<Group, usize>,
}

impl Namesakes {
    /// Counts what changed since the last call.
    pub(super) fn follow(&mut self, sessions: &Sessions, looks: &NameCache) {
        let naming = sessions.naming_version();
        if naming == self.naming {
            return;
        }
        match sessions.named_since(self.naming) {
            Some(changed) => {
                // A session starts with several changes; it is counted once, as it is now.
                let mut counted = None;
                for (place, session) in changed {
                    if counted.replace(place) != Some(place) {
                        self.count(place, session, looks);
                    }
                }
            }
            None => {
                *self = Self::default();
                for session in sessions.iter() {
                    self.count(session.place, Some(session), looks);
                }
            }
        }
        self.naming = naming;
    }

    fn count(&mut self, place: usize, session: Option<&Session>, looks: &NameCache) {
        if self.known.len() <= place {
            self.known.resize(place + 1, None);
        }
        if let Some(sort) = self.known.get_mut(place).and_then(Option::take) {
            self.count_out(sort);
        }
        if let Some(session) = session {
            let sort = self.count_in(sort_of(session, looks));
            if let Some(known) = self.known.get_mut(place) {
                *known = Some(sort);
            }
        }
    }

    /// Counts a session in its class; returns the place of the class.
    fn count_in(&mut self, sort: LookalikeClass) -> usize {
        let place = self.sorts.place(&sort);
        if let Some(counted) = place.and_then(|place| self.sorts.at_mut(place)) {
            counted.sessions += 1;
        }
        place.unwrap_or_else(|| {
            for group in groups(&sort) {
                *self.groups.entry(group).or_default() += 1;
            }
            self.sorts.insert(ClassCount { sort, sessions: 1 })
        })
    }

    fn count_out(&mut self, place: usize) {
        let Some(counted) = self.sorts.at_mut(place) else {
            return;
        };
        counted.sessions -= 1;
        if counted.sessions > 0 {
            return;
        }
        let sort = counted.sort.clone();
        self.sorts.remove(&sort);
        for group in groups(&sort) {
            if let Some(count) = self.groups.get_mut(&group) {
                *count -= 1;
                if *count == 0 {
                    self.groups.remove(&group);
                }
            }
        }
    }

    /// Returns whether an agent with such a name, or its run `own`, could be confused with others: with
    /// sessions of other agents whose names look the same or, if `own` overlapped other runs, with those runs
    /// of the same agent that overlapped others.
    pub(super) fn are_others(
        &self,
        key: &SessionKey,
        name: &Arc<str>,
        own: Option<&Session>,
    ) -> bool {
        self.is_among_runs(own) || self.are_strangers(key, name, Group::Name(Arc::clone(name)))
    }

    /// Returns whether any of these others are on the agent's own source.
    pub(super) fn are_others_on_link(
        &self,
        key: &SessionKey,
        name: &Arc<str>,
        own: Option<&Session>,
    ) -> bool {
        let group = Group::NameOnLink(Arc::clone(name), key.link);
        self.is_among_runs(own) || self.are_strangers(key, name, group)
    }

    /// Returns whether any of these others are on the same machine.
    pub(super) fn are_others_on_host(
        &self,
        key: &SessionKey,
        name: &Arc<str>,
        own: Option<&Session>,
        host: &Arc<str>,
    ) -> bool {
        let group = Group::NameOnHost(Arc::clone(name), Arc::clone(host));
        self.is_among_runs(own) || self.are_strangers(key, name, group)
    }

    /// Returns whether the request of any of these others begins with words that look like those of the session's own.
    pub(super) fn share_words(
        &self,
        key: &SessionKey,
        name: &Arc<str>,
        own: Option<&Session>,
        words: &Arc<str>,
    ) -> bool {
        let (link, agent) = (key.link, || key.agent.clone());
        let (name, words) = (|| Arc::clone(name), || Arc::clone(words));
        self.is_among(own, |own| {
            Group::WordsBeside(words(), own.key.link, own.key.agent.clone())
        }) || self.of(&Group::Words(name(), words()))
            > self.of(&Group::WordsOfAgent(name(), words(), link, agent()))
    }

    /// Returns whether a session overlapped other runs of its agent that still exist.
    fn is_among_runs(&self, own: Option<&Session>) -> bool {
        self.is_among(own, |own| {
            Group::Beside(own.key.link, own.key.agent.clone())
        })
    }

    /// Returns whether a session overlapped other runs of its agent and the given group of such sessions has
    /// others.
    fn is_among(&self, own: Option<&Session>, group: impl Fn(&Session) -> Group) -> bool {
        own.is_some_and(|own| own.beside && (self.has_twin(own) || self.of(&group(own)) > 1))
    }

    /// Returns whether a group contains sessions of other agents whose names look like the given one.
    fn are_strangers(&self, key: &SessionKey, name: &Arc<str>, group: Group) -> bool {
        let own = Group::NameOfAgent(Arc::clone(name), key.link, key.agent.clone());
        self.of(&group) > self.of(&own)
    }

    /// Returns whether another session of the same class exists.
    fn has_twin(&self, own: &Session) -> bool {
        let sort = self.known.get(own.place).copied().flatten();
        let counted = sort.and_then(|sort| self.sorts.at(sort));
        counted.is_some_and(|counted| counted.sessions > 1)
    }

    fn of(&self, group: &Group) -> usize {
        self.groups.get(group).copied().unwrap_or_default()
    }
}

fn sort_of(session: &Session, looks: &NameCache) -> LookalikeClass {
    let request = session.request.as_deref();
    let words = request.and_then(|request| looks.first_words(request));
    LookalikeClass {
        name: looks.of(&session.agent),
        link: session.key.link,
        agent: session.key.agent.clone(),
        words: words.map(|words| looks.of(&words)),
        host: session.host.clone(),
        beside: session.beside,
    }
}

fn groups(sort: &LookalikeClass) -> SmallVec<[Group; 8]> {
    let (link, agent) = (sort.link, || sort.agent.clone());
    let name = || Arc::clone(&sort.name);
    let mut groups = SmallVec::new();
    groups.push(Group::Name(name()));
    groups.push(Group::NameOnLink(name(), link));
    groups.push(Group::NameOfAgent(name(), link, agent()));
    if let Some(host) = &sort.host {
        groups.push(Group::NameOnHost(name(), Arc::clone(host)));
    }
    if sort.beside {
        groups.push(Group::Beside(link, agent()));
    }
    if let Some(words) = &sort.words {
        let words = || Arc::clone(words);
        groups.push(Group::Words(name(), words()));
        groups.push(Group::WordsOfAgent(name(), words(), link, agent()));
        if sort.beside {
            groups.push(Group::WordsBeside(words(), link, agent()));
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::protocol::{Now, decode};

    /// Computes from all sessions what the counts should yield.
    fn walked(
        session: &Session,
        name: &Arc<str>,
        beside: bool,
        sessions: &Sessions,
        looks: &NameCache,
    ) -> [bool; 3] {
        let key = &session.key;
        let words = |session: &Session| {
            let request = session.request.as_deref();
            let words = request.and_then(|request| looks.first_words(request));
            words.map(|words| looks.of(&words))
        };
        let others = || {
            sessions.iter().filter(|other| {
                match (other.key.link, &other.key.agent) == (key.link, &key.agent) {
                    true => beside && other.beside && other.key != *key,
                    false => looks.of(&other.agent) == *name,
                }
            })
        };
        let own = words(session);
        let shared = own.is_some() && others().any(|other| words(other) == own);
        let on_link = others().any(|other| other.key.link == key.link);
        [others().next().is_some(), on_link, shared]
    }

    #[test]
    fn what_is_counted_is_what_a_walk_over_all_sessions_finds() {
        let names = ["Mailer", "M\u{430}iler", "mailer!", "Banker", "Hearken", ""];
        let requests = ["Book a room", "book a room now", "Sort it", "", "…"];
        let now = Now {
            monotonic: std::time::Duration::ZERO,
            wall: "2026-01-01T00:00:00Z".parse().unwrap(),
        };
        let mut dice = 1_u64;
        let mut roll = |sides: u64| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (dice >> 33) % sides
        };
        let looks = NameCache::default();
        let mut sessions = Sessions::default();
        let (mut often, mut seldom) = (Namesakes::default(), Namesakes::default());
        let mut answers = [[0; 2]; 3];
        for step in 0..6000 {
            let link = LinkId(usize::try_from(roll(2)).unwrap());
            let seldom_named = roll(40) == 0;
            let kind = ["session.started", "session.completed", "state.changed"]
                [usize::try_from(roll(3)).unwrap()];
            let mut pick =
                |from: &[&str]| from[usize::try_from(roll(from.len() as u64)).unwrap()].to_owned();
            let event = json!({
                "type": format!("aaep:agent.{kind}"),
                "session_id": format!("sess_{}", pick(&["1", "2", "3", "4", "5", "6", "7", "8"])),
                "producer": {"agent_id": pick(&["a", "b", "c"]), "agent_name": pick(if seldom_named { &["Clerk"] } else { &names })},
                "request_text": pick(&requests),
                "summary_normal": "n",
                "from_state": "idle",
                "to_state": "thinking",
            });
            sessions.apply(link, decode(&event.to_string()).unwrap(), now);
            if roll(100) == 0 {
                sessions.link_left(link, now);
            }
            often.follow(&sessions, &looks);
            if step % 10 != 0 {
                continue;
            }
            // Sometimes there are more changes than are remembered.
            let counted = match step < 3000 {
                true => &often,
                false if step % 1500 == 0 => {
                    seldom.follow(&sessions, &looks);
                    &seldom
                }
                false => continue,
            };
            for session in sessions.iter() {
                let (own, clerk) = (&*session.agent, "Clerk");
                for (name, own) in [(own, Some(session)), ("Mailer", None), (clerk, None)] {
                    let (key, name) = (&session.key, looks.of(name));
                    let request = session.request.as_deref();
                    let words = request.and_then(|request| looks.first_words(request));
                    let words = words.map(|words| looks.of(&words));
                    let found = [
                        counted.are_others(key, &name, own),
                        counted.are_others_on_link(key, &name, own),
                        words.is_some_and(|words| counted.share_words(key, &name, own, &words)),
                    ];
                    let beside = own.is_some_and(|own| own.beside);
                    assert_eq!(found, walked(session, &name, beside, &sessions, &looks));
                    for (answers, found) in answers.iter_mut().zip(found) {
                        answers[usize::from(found)] += 1;
                    }
                }
            }
        }
        assert!(
            answers.as_flattened().iter().all(|n| *n > 100),
            "{answers:?}"
        );
        // Ended sessions are no longer counted.
        for link in [LinkId(0), LinkId(1)] {
            sessions.link_left(link, now);
        }
        let rest = sessions.iter().count();
        often.follow(&sessions, &looks);
        let counted: Vec<&ClassCount> = often.sorts.iter_mut().map(|counted| &*counted).collect();
        assert_eq!(
            counted
                .iter()
                .map(|counted| counted.sessions)
                .sum::<usize>(),
            rest
        );
        let of_a_sort = counted.iter().flat_map(|counted| groups(&counted.sort));
        let groups: std::collections::BTreeSet<String> =
            of_a_sort.map(|group| format!("{group:?}")).collect();
        assert_eq!(often.groups.len(), groups.len());
    }
}
