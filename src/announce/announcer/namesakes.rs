//! How many sessions share what a session is told apart by.
//!
//! Responsibilities: counting who looks the same, beside whom another run went on, and who was asked for the same. Not here:
//! what is put to a name that is shared (`called`), how a name looks (`naming`).
//!
//! Mental model: a session is compared with thousands, and only whether there is another one is wanted. So each is counted
//! in the groups that it belongs to, and what changed is counted anew: a name costs the same however many there are.

use std::sync::Arc;

use foldhash::HashMap;
use smallvec::SmallVec;

use crate::announce::words::naming::Looks;
use crate::protocol::AgentId;
use crate::session::{LinkId, Session, SessionKey, Sessions};

/// Says what the sessions of a group have in common; a name and first words by how they look.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Group {
    Name(Arc<str>),
    NameOnLink(Arc<str>, LinkId),
    NameOfAgent(Arc<str>, LinkId, AgentId),
    Words(Arc<str>, Arc<str>),
    WordsOfAgent(Arc<str>, Arc<str>, LinkId, AgentId),
    /// Another run of the agent went on beside each of them.
    Beside(LinkId, AgentId),
    WordsBeside(Arc<str>, LinkId, AgentId),
}

/// The groups of one session.
type Groups = Box<[Group]>;

/// Counts those from whom a session has to be told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Others {
    /// Sessions of other agents whose names look the same, and runs of its own that went on beside others.
    pub(super) all: usize,
    /// Those of its own source.
    pub(super) on_link: usize,
}

/// Counts the sessions of each group.
#[derive(Debug, Default)]
pub(super) struct Namesakes {
    /// How far the sessions were followed ([`Sessions::naming`]).
    naming: u64,
    /// Which groups what stands at a place was counted in.
    known: Vec<Groups>,
    counts: HashMap<Group, usize>,
}

impl Namesakes {
    /// Counts what changed since it was asked last.
    pub(super) fn follow(&mut self, sessions: &Sessions, looks: &Looks) {
        let naming = sessions.naming();
        if naming == self.naming {
            return;
        }
        match sessions.named_since(self.naming) {
            Some(changed) => {
                // A session begins by several changes: it is counted as it is now.
                let mut counted = None;
                for (place, session) in changed {
                    if counted.replace(place) != Some(place) {
                        self.count(place, session, looks);
                    }
                }
            }
            None => {
                (self.known, self.counts) = Default::default();
                for session in sessions.iter() {
                    self.count(session.place, Some(session), looks);
                }
            }
        }
        self.naming = naming;
    }

    fn count(&mut self, place: usize, session: Option<&Session>, looks: &Looks) {
        if self.known.len() <= place {
            self.known.resize_with(place + 1, Groups::default);
        }
        let Some(known) = self.known.get_mut(place) else {
            return;
        };
        for group in std::mem::take(known) {
            if let Some(count) = self.counts.get_mut(&group) {
                *count -= 1;
                if *count == 0 {
                    self.counts.remove(&group);
                }
            }
        }
        if let Some(session) = session {
            *known = groups(session, looks);
            for group in known.iter() {
                match self.counts.get_mut(group) {
                    Some(count) => *count += 1,
                    None => {
                        self.counts.insert(group.clone(), 1);
                    }
                }
            }
        }
    }

    /// Counts from whom a session has to be told apart whose agent's name looks so. `beside` says that another run of its
    /// agent went on beside it: then it is one of those itself.
    pub(super) fn others(&self, key: &SessionKey, name: &Arc<str>, beside: bool) -> Others {
        let (link, agent) = (key.link, || key.agent.clone());
        let own = self.of(&Group::NameOfAgent(Arc::clone(name), link, agent()));
        let runs = match beside {
            true => self.of(&Group::Beside(link, agent())).saturating_sub(1),
            false => 0,
        };
        let without_own = |group: Group| self.of(&group).saturating_sub(own) + runs;
        Others {
            all: without_own(Group::Name(Arc::clone(name))),
            on_link: without_own(Group::NameOnLink(Arc::clone(name), link)),
        }
    }

    /// Tells whether one of them was asked for something that begins with words which look so, as the session itself was.
    pub(super) fn share_words(
        &self,
        key: &SessionKey,
        name: &Arc<str>,
        beside: bool,
        words: &Arc<str>,
    ) -> bool {
        let (name, words) = (|| Arc::clone(name), || Arc::clone(words));
        let (link, agent) = (key.link, || key.agent.clone());
        let runs = || self.of(&Group::WordsBeside(words(), link, agent()));
        self.of(&Group::Words(name(), words()))
            > self.of(&Group::WordsOfAgent(name(), words(), link, agent()))
            || (beside && runs() > 1)
    }

    fn of(&self, group: &Group) -> usize {
        self.counts.get(group).copied().unwrap_or_default()
    }
}

fn groups(session: &Session, looks: &Looks) -> Groups {
    let (link, agent) = (session.key.link, || session.key.agent.clone());
    let look = looks.of(&session.agent);
    let name = || Arc::clone(&look);
    let mut groups = SmallVec::<[Group; 7]>::new();
    groups.push(Group::Name(name()));
    groups.push(Group::NameOnLink(name(), link));
    groups.push(Group::NameOfAgent(name(), link, agent()));
    if session.beside {
        groups.push(Group::Beside(link, agent()));
    }
    let request = session.request.as_deref();
    if let Some(words) = request.and_then(|request| looks.first_words(request)) {
        let words = looks.of(&words);
        groups.push(Group::Words(name(), Arc::clone(&words)));
        groups.push(Group::WordsOfAgent(
            name(),
            Arc::clone(&words),
            link,
            agent(),
        ));
        if session.beside {
            groups.push(Group::WordsBeside(words, link, agent()));
        }
    }
    groups.into_boxed_slice()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::protocol::{Now, decode};

    /// Walks over all sessions for what is counted.
    fn walked(
        session: &Session,
        name: &Arc<str>,
        beside: bool,
        sessions: &Sessions,
        looks: &Looks,
    ) -> (Others, bool) {
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
        let counted = Others {
            all: others().count(),
            on_link: others().filter(|other| other.key.link == key.link).count(),
        };
        let own = words(session);
        let shared = own.is_some() && others().any(|other| words(other) == own);
        (counted, shared)
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
        let looks = Looks::default();
        let mut sessions = Sessions::default();
        let (mut often, mut seldom) = (Namesakes::default(), Namesakes::default());
        let (mut shared, mut alone) = (0, 0);
        for step in 0..6000 {
            let link = LinkId(usize::try_from(roll(2)).unwrap());
            let kind = ["session.started", "session.completed", "state.changed"]
                [usize::try_from(roll(3)).unwrap()];
            let mut pick =
                |from: &[&str]| from[usize::try_from(roll(from.len() as u64)).unwrap()].to_owned();
            let event = json!({
                "type": format!("aaep:agent.{kind}"),
                "session_id": format!("sess_{}", pick(&["1", "2", "3", "4", "5", "6", "7", "8"])),
                "producer": {"agent_id": pick(&["a", "b", "c"]), "agent_name": pick(&names)},
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
            // Now and then more changed than is remembered.
            let counted = match step < 3000 {
                true => &often,
                false if step % 1500 == 0 => {
                    seldom.follow(&sessions, &looks);
                    &seldom
                }
                false => continue,
            };
            for session in sessions.iter() {
                for (name, beside) in [(&*session.agent, session.beside), ("Mailer", false)] {
                    let name = looks.of(name);
                    let (wanted, shares) = walked(session, &name, beside, &sessions, &looks);
                    assert_eq!(counted.others(&session.key, &name, beside), wanted);
                    let request = session.request.as_deref();
                    if let Some(words) = request.and_then(|request| looks.first_words(request)) {
                        let words = looks.of(&words);
                        let found = counted.share_words(&session.key, &name, beside, &words);
                        assert_eq!(found, shares);
                        *(if shares { &mut shared } else { &mut alone }) += 1;
                    }
                }
            }
        }
        assert!(shared > 100 && alone > 100, "{shared} {alone}");
        // What is over is counted no more.
        for link in [LinkId(0), LinkId(1)] {
            sessions.link_left(link, now);
        }
        let rest = sessions.iter().count();
        often.follow(&sessions, &looks);
        let names = often
            .counts
            .iter()
            .filter(|(group, _)| matches!(group, Group::Name(_)));
        assert_eq!(names.map(|(_, count)| count).sum::<usize>(), rest);
    }
}
