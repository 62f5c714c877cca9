//! By which name a person tells an agent, and a run of it, from all others.
//!
//! Responsibilities: when a name is not enough, and what is put to it then. Not here: what a name from the wire is
//! made fit by (`naming`), what is proven of it (`trust`).

use crate::session::{Session, SessionKey, Sessions};

use super::Announcer;
use crate::announce::words::naming::{LONGEST_NAME, is_namesake};
use crate::announce::words::phrase::Arg;

impl Announcer {
    /// Tells whether an agent is named with each of its announcements: where there are several, or where its
    /// name is a mere claim.
    pub(super) fn is_named(&self, key: &SessionKey, agent: &str, sessions: &Sessions) -> bool {
        sessions.several() || self.trust.doubts(key.link, &key.agent, agent)
    }

    /// Gives the name by which a person tells a run of an agent from all others: where several share a name, or
    /// several runs of one agent went on at a time, the first words of its request are added, else the number of
    /// its source or its own. Names that look alike count as the same, and one that looks like the program's own
    /// is called an agent's. A name that a key stands for and that nothing proved is called unproven.
    pub fn agent_name(&self, key: &SessionKey, agent: &str, sessions: &Sessions) -> String {
        let own = sessions.get(key);
        let seen = self.looks.of(agent);
        let beside = own.is_some_and(|own| own.beside);
        // Looked for as far as it takes: of hundreds of runs the first ones mostly tell.
        let namesakes = || {
            sessions
                .iter()
                .filter(|other| match is_of_agent(other, key) {
                    true => beside && other.beside && other.key != *key,
                    false => other.agent == agent || self.looks.of(&other.agent) == seen,
                })
        };
        if namesakes().next().is_none() {
            return self.called(key, agent);
        }
        let request = |session: &Session| {
            let request = session.request.as_deref();
            request.and_then(|request| self.looks.first_words(request))
        };
        let words = own.and_then(request).filter(|words| {
            let seen = self.looks.of(words);
            let mut others = namesakes().filter_map(request);
            !others.any(|other| self.looks.of(&other) == seen)
        });
        let elsewhere = namesakes().all(|other| other.key.link != key.link);
        let (phrase, mark) = match (words, own) {
            (Some(words), _) => ("agent.twin.request", Arg::Name(words.to_string())),
            (None, Some(own)) if !elsewhere => ("agent.twin.run", Arg::own(own.number)),
            (None, Some(_) | None) => self.mark(key, elsewhere),
        };
        self.marked(phrase, self.called(key, agent), mark)
    }

    /// Gives the name by which a person tells an agent from all others, whichever of its runs is meant: where
    /// several share a name, the number of its source, or its id, is added.
    pub fn name_of_agent(&self, key: &SessionKey, agent: &str, sessions: &Sessions) -> String {
        let seen = self.looks.of(agent);
        let mut namesakes = sessions
            .iter()
            .filter(|other| !is_of_agent(other, key))
            .filter(|other| other.agent == agent || self.looks.of(&other.agent) == seen)
            .map(|other| other.key.link)
            .peekable();
        if namesakes.peek().is_none() {
            return self.called(key, agent);
        }
        let (phrase, mark) = self.mark(key, namesakes.all(|link| link != key.link));
        self.marked(phrase, self.called(key, agent), mark)
    }

    fn mark(&self, key: &SessionKey, elsewhere: bool) -> (&'static str, Arg) {
        // On one source its number would tell nothing.
        match elsewhere {
            true => ("agent.twin.source", Arg::own(key.link.0 + 1)),
            false => ("agent.twin.id", Arg::Name(key.agent.as_str().to_owned())),
        }
    }

    /// Gives what an agent is called where nobody shares its name.
    fn called(&self, key: &SessionKey, agent: &str) -> String {
        let args = [("agent", Arg::Name(agent.to_owned()))];
        if self.trust.doubts(key.link, &key.agent, agent) {
            self.phrases.text("agent.unproven", &args)
        } else if is_namesake(&self.looks.of(agent)) {
            self.phrases.text("agent.namesake", &args)
        } else {
            agent.to_owned()
        }
    }

    /// Puts a mark to a name that is no longer than leaves the mark in sight.
    fn marked(&self, phrase: &str, name: String, mark: Arg) -> String {
        let with = |name: String, mark: Arg| {
            let args = [("agent", Arg::Name(name)), ("mark", mark)];
            self.phrases.text(phrase, &args)
        };
        let name = self.phrases.name_of(&name);
        let marked = with(name.clone(), mark.clone());
        let whole = marked.chars().count();
        if whole <= LONGEST_NAME {
            return marked;
        }
        // As long as it stands in there: what shows that it was shortened before is not put in again.
        let long = self.phrases.name_of(&name).chars().count();
        let most = LONGEST_NAME.saturating_sub(whole.saturating_sub(long));
        with(name.chars().take(most).collect(), mark)
    }
}

/// Tells whether a session is one of the agent that another one is of.
fn is_of_agent(session: &Session, key: &SessionKey) -> bool {
    session.key.link == key.link && session.key.agent == key.agent
}
