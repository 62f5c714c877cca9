//! The agents that the person does not want to hear, and those of which only what matters is announced.
//!
//! Responsibilities: which agents were muted by hand, and the selection while many work. Not here: the settings that mute
//! agents and sources (`source_settings`), when many work (`app`).

use std::collections::BTreeMap;

use super::{Announcer, Draft};
use crate::announce::announcement::{Aloud, Class, Kind};
use crate::announce::words::phrase::Arg;
use crate::protocol::{AgentId, Now};
use crate::session::{LinkId, Session, SessionKey, Sessions};

/// Whom the person hears less of.
#[derive(Debug, Default)]
pub(super) struct Muting {
    /// The agents that the person muted (`true`), or unmuted although the settings mute them (`false`).
    by_hand: BTreeMap<(LinkId, AgentId), bool>,
    /// The sources on which only selected agents are announced in full.
    selections: BTreeMap<LinkId, Vec<AgentId>>,
}

impl Muting {
    /// Returns whether an agent is not selected on a source with many.
    pub(super) fn is_in_background(&self, key: &SessionKey) -> bool {
        // Nearly always there is no such source.
        let selected = match self.selections.is_empty() {
            true => None,
            false => self.selections.get(&key.link),
        };
        selected.is_some_and(|selected| !selected.contains(&key.agent))
    }
}

impl Announcer {
    /// Returns whether an agent is muted, so that only urgent announcements of it are spoken.
    pub fn is_muted(&self, key: &SessionKey, agent: &str) -> bool {
        // Nearly always no agent was muted by hand.
        let chosen = match self.muting.by_hand.is_empty() {
            true => None,
            false => self
                .muting
                .by_hand
                .get(&(key.link, key.agent.clone()))
                .copied(),
        };
        let named = |name: &String| *name == *agent || name == key.agent.as_str();
        chosen.unwrap_or_else(|| {
            let quiet = self.source(key.link).is_some_and(|own| own.quiet);
            quiet || self.settings.muted.iter().any(named)
        })
    }

    /// Mutes an agent, or lets it be heard again.
    pub fn set_muted(&mut self, key: &SessionKey, muted: bool) {
        let agent = (key.link, key.agent.clone());
        self.muting.by_hand.insert(agent, muted);
    }

    /// Keeps in the history what an agent wrote before the person followed it.
    pub fn keep_earlier(&mut self, session: &Session, text: String, sessions: &Sessions, now: Now) {
        let args = [("text", Arg::Agent(text, None))];
        let words = self
            .phrases
            .say("fleet.earlier", self.settings.verbosity, &args);
        let draft = Draft::new(Class::Stream, Kind::Output, words).aloud(Aloud::Kept);
        let mut earlier = self.number(draft, now);
        earlier.key = Some(session.key.clone());
        earlier.agent = Some(self.agent_name(&session.key, &session.agent, sessions));
        self.keep(earlier);
    }

    /// Announces only these agents of a source in full; of all others, what is not urgent only enters the history.
    /// `None`: announces all in full.
    pub fn select(&mut self, link: LinkId, agents: Option<Vec<AgentId>>) {
        match agents {
            Some(agents) => self.muting.selections.insert(link, agents),
            None => self.muting.selections.remove(&link),
        };
    }
}
