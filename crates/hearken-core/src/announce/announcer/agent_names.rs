//! The name that distinguishes an agent, and each of its runs, from all others.
//!
//! Responsibilities: when a name is not enough, and what is then added to it. Not here: how a name from the wire is
//! cleaned (`naming`), what is proven about it (`trust`).

use std::borrow::Cow;
use std::cell::Ref;
use std::sync::Arc;

use crate::session::{Session, SessionKey, Sessions};

use super::Announcer;
use super::duplicate_names::Namesakes;
use super::last_announced::Distinction;
use crate::announce::words::naming::{LONGEST_NAME, is_namesake, look, without_number};
use crate::announce::words::phrase::{Arg, Phrases};

/// The labels that begin lines.
const LABELS: [&str; 14] = [
    "label.session",
    "label.state",
    "label.progress",
    "label.tool",
    "label.output",
    "label.question",
    "label.asks",
    "label.handoff",
    "label.unknown",
    "label.connection",
    "label.reply",
    "label.danger",
    "label.anomaly",
    "label.hint",
];

/// Returns the lookalike forms of the line labels.
pub(super) fn labels(phrases: &Phrases) -> Vec<String> {
    let label = |key: &&str| look(&phrases.text(key, &[("agent", Arg::own(""))]));
    LABELS.iter().map(label).collect()
}

impl Announcer {
    /// Returns whether an agent is named in each of its announcements: if there are several, or if its name is an
    /// unproven claim.
    pub(super) fn is_named(&self, key: &SessionKey, agent: &str, sessions: &Sessions) -> bool {
        sessions.several() || self.trust.doubts(key.link, &key.agent, agent)
    }

    /// Returns the name that distinguishes one run of an agent from all others. If several agents share a name,
    /// or several runs of one agent overlapped, the machine is added if that suffices, or else the first words
    /// of the run's request, the number of its source, or the number of the run. Names that look alike count as
    /// equal, and a name that looks like the program's own is marked as an agent's. A name that is reserved by
    /// a key, but not proven by it, is called unproven.
    pub fn agent_name(&self, key: &SessionKey, agent: &Arc<str>, sessions: &Sessions) -> Arc<str> {
        let Some(own) = sessions.get(key) else {
            return self.name_of_agent(key, agent, sessions).into();
        };
        let naming = sessions.naming_version();
        if let Some(known) = self.last.borrow().name(naming, own, agent) {
            return known;
        }
        let apart = self.apart(key, agent, Some(own), sessions);
        let found = |apart: &Distinction| self.named(key, agent, apart, own.number);
        let mut last = self.last.borrow_mut();
        last.name_apart(naming, own, agent, apart, found)
    }

    /// Returns the name that distinguishes an agent from all others, whichever run is meant. If several agents
    /// share a name, the number of the source or the agent's id is added.
    pub fn name_of_agent(&self, key: &SessionKey, agent: &str, sessions: &Sessions) -> String {
        let apart = self.apart(key, agent, None, sessions);
        self.named(key, agent, &apart, 0)
    }

    /// Returns what distinguishes an agent, or one of its runs, from all others.
    fn apart(
        &self,
        key: &SessionKey,
        agent: &str,
        own: Option<&Session>,
        sessions: &Sessions,
    ) -> Distinction {
        let seen = self.looks.of(agent);
        let namesakes = self.namesakes(sessions);
        if !namesakes.are_others(key, &seen, own) {
            return Distinction::Name;
        }
        let host = own.and_then(|own| own.host.as_ref());
        if let Some(host) = host.filter(|host| !namesakes.are_others_on_host(key, &seen, own, host))
        {
            return Distinction::Host(Arc::clone(host));
        }
        let request = own.and_then(|own| own.request.as_deref());
        let words = request.and_then(|request| self.looks.first_words(request));
        let words =
            words.filter(|words| !namesakes.share_words(key, &seen, own, &self.looks.of(words)));
        // Within one source, the source's number would distinguish nothing.
        match (words, own) {
            (Some(words), _) => Distinction::Words(words),
            (None, _) if !namesakes.are_others_on_link(key, &seen, own) => Distinction::Source,
            (None, Some(_)) => Distinction::Run,
            (None, None) => Distinction::Id,
        }
    }

    fn named(&self, key: &SessionKey, agent: &str, apart: &Distinction, run: u64) -> String {
        let name = self.called(key, agent);
        let (phrase, mark) = match apart {
            Distinction::Name => return name,
            Distinction::Words(words) => ("agent.twin.request", Arg::Name(words.to_string())),
            Distinction::Host(host) => ("agent.twin.host", Arg::Name(host.to_string())),
            Distinction::Run => ("agent.twin.run", Arg::own(run)),
            Distinction::Source => ("agent.twin.source", Arg::own(key.link.0 + 1)),
            Distinction::Id => ("agent.twin.id", Arg::Name(key.agent.as_str().to_owned())),
        };
        self.marked(phrase, name, mark)
    }

    /// Returns the current counts of agents that share a name.
    fn namesakes(&self, sessions: &Sessions) -> Ref<'_, Namesakes> {
        let mut namesakes = self.namesakes.borrow_mut();
        namesakes.follow(sessions, &self.looks);
        drop(namesakes);
        self.namesakes.borrow()
    }

    /// Returns what an agent is called if no other agent shares its name.
    fn called(&self, key: &SessionKey, agent: &str) -> String {
        let phrase = if self.trust.doubts(key.link, &key.agent, agent) {
            "agent.unproven"
        } else if self.could_be_ours(agent) {
            "agent.namesake"
        } else {
            return agent.to_owned();
        };
        let args = [("agent", Arg::Name(agent.to_owned()))];
        self.phrases.text(phrase, &args)
    }

    /// Returns whether a name could be mistaken for hearken's own, or for the label of a line.
    fn could_be_ours(&self, agent: &str) -> bool {
        is_namesake(&self.looks.of(agent)) || {
            let name = self.looks.of(without_number(agent));
            self.labels.iter().any(|label| *name == **label)
        }
    }

    /// Adds a mark to a name, shortening the name as far as needed to keep the mark in sight.
    fn marked(&self, phrase: &str, name: String, mark: Arg) -> String {
        let name = match self.phrases.name_of(&name) {
            Cow::Borrowed(_) => name,
            Cow::Owned(plain) => plain,
        };
        let args = [("agent", Arg::Name(name)), ("mark", mark)];
        let marked = self.phrases.text(phrase, &args);
        let whole = marked.chars().count();
        if whole <= LONGEST_NAME {
            return marked;
        }
        let [(_, Arg::Name(name)), mark] = args else {
            return marked;
        };
        // Measured as it appears in the result: a name that is already shortened gets no second ellipsis.
        let long = self.phrases.name_of(&name).chars().count();
        let most = LONGEST_NAME.saturating_sub(whole.saturating_sub(long));
        let shorter = Arg::Name(name.chars().take(most).collect());
        self.phrases.text(phrase, &[("agent", shorter), mark])
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::announce::announcer::AnswerMethod;
    use crate::announce::words::phrase::Phrases;
    use crate::config::AnnounceConfig;
    use crate::protocol::{Now, decode};
    use crate::session::LinkId;

    #[test]
    fn the_machine_is_said_where_it_tells_two_apart() {
        let english = Arc::new(Phrases::english().unwrap());
        let announcer = Announcer::new(AnnounceConfig::default(), english, AnswerMethod::Lines);
        let now = Now {
            monotonic: std::time::Duration::ZERO,
            wall: "2026-01-01T00:00:00Z".parse().unwrap(),
        };
        let mut sessions = Sessions::default();
        let mut names_after = |link: usize, agent: &str, host: Option<&str>| {
            let event = json!({
                "type": "aaep:agent.session.started", "session_id": format!("sess_{link}{agent}"),
                "producer": {"agent_id": agent, "agent_name": "opencode"},
                "request_text": "Fix the tests", "summary_normal": "n",
                "extensions": {"hearken": {"host": host}},
            });
            sessions.apply(LinkId(link), decode(&event.to_string()).unwrap(), now);
            let name =
                |session: &Session| announcer.agent_name(&session.key, &session.agent, &sessions);
            sessions
                .iter()
                .map(|session| name(session).to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(names_after(0, "a", Some("build-3")), ["opencode"]);
        assert_eq!(
            names_after(1, "a", Some("build-4")),
            ["opencode on build-3", "opencode on build-4"]
        );
        // The machine no longer tells the first two apart.
        let names = names_after(0, "b", Some("build-3"));
        assert_eq!(
            names
                .iter()
                .filter(|name| *name == "opencode on build-4")
                .count(),
            1
        );
        assert_eq!(
            names
                .iter()
                .filter(|name| *name == "opencode on build-3")
                .count(),
            0
        );
    }

    #[test]
    fn a_name_that_is_known_is_the_one_that_would_be_found_now() {
        let new = |phrases| Announcer::new(AnnounceConfig::default(), phrases, AnswerMethod::Lines);
        let english = Arc::new(Phrases::english().unwrap());
        let german = Arc::new(Phrases::for_languages(&["de".to_owned()]).unwrap());
        let now = Now {
            monotonic: std::time::Duration::ZERO,
            wall: "2026-01-01T00:00:00Z".parse().unwrap(),
        };
        let (one, other) = (LinkId(0), LinkId(1));
        let mut sessions = Sessions::default();
        let mut announcer = new(Arc::clone(&english));
        let mut seen = std::collections::BTreeSet::new();
        // Asks twice, so that the second answer comes from the cache.
        let mut check = |announcer: &Announcer, sessions: &Sessions, fresh: &Announcer| {
            for session in sessions.iter() {
                let name = |of: &Announcer| of.agent_name(&session.key, &session.agent, sessions);
                let wanted = name(fresh);
                assert_eq!((name(announcer), name(announcer)), (wanted.clone(), wanted));
                seen.insert(name(announcer));
            }
        };
        let asked = |request: &str| json!({"request_text": request, "summary_normal": "n"});
        let state = json!({"from_state": "idle", "to_state": "thinking"});
        for (link, session, (id, name), kind, payload) in [
            (one, 1, ("a", "Mailer"), "session.started", asked("")),
            (one, 2, ("a", "Mailer"), "session.started", asked("")),
            (
                one,
                1,
                ("a", "Mailer"),
                "session.started",
                asked("Book a room"),
            ),
            (
                one,
                2,
                ("a", "Mailer"),
                "session.started",
                asked("Book a room"),
            ),
            (one, 2, ("a", "Mailer"), "session.started", asked("Sort it")),
            (one, 3, ("b", "Banker"), "session.started", asked("")),
            (one, 3, ("b", "Mailer"), "state.changed", state.clone()),
            (one, 3, ("b", "Hearken"), "state.changed", state.clone()),
            (other, 4, ("a", "Mailer"), "session.started", asked("")),
            (one, 1, ("a", "Clerk"), "state.changed", state.clone()),
        ] {
            let mut event = json!({
                "type": format!("aaep:agent.{kind}"),
                "session_id": format!("sess_{session}"),
                "producer": {"agent_id": id, "agent_name": name},
            });
            let whole = event.as_object_mut().unwrap();
            whole.extend(payload.as_object().unwrap().clone());
            sessions.apply(link, decode(&event.to_string()).unwrap(), now);
            check(&announcer, &sessions, &new(Arc::clone(&english)));
        }
        // What no session records: which agents the person has a key for, and the person's language.
        announcer.trust_mut().know(["b"].into_iter());
        let mut fresh = new(Arc::clone(&english));
        fresh.trust_mut().know(["b"].into_iter());
        check(&announcer, &sessions, &fresh);
        announcer.set_languages(vec!["de".to_owned()], Arc::clone(&german));
        let mut fresh = new(german);
        fresh.trust_mut().know(["b"].into_iter());
        check(&announcer, &sessions, &fresh);
        // An agent that left no longer counts as a namesake.
        sessions.link_left(other, now);
        check(&announcer, &sessions, &fresh);
        assert!(seen.len() > 8, "{seen:?}");
    }
}
