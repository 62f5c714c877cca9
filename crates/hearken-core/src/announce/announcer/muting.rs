//! The agents that the person does not want to hear, and those announced only when it matters.
//!
//! Responsibilities: which agents were muted by hand, and the selection while many work. Not here: the settings that
//! mute agents and sources (`source_settings`), when many work (`app`).

use std::collections::BTreeMap;

use crate::protocol::AgentId;
use crate::session::{LinkId, SessionKey};

/// The agents that the person hears less of.
#[derive(Debug, Default)]
pub(super) struct Muting {
    /// The agents that the person muted (`true`), or unmuted although the settings mute them (`false`).
    by_hand: BTreeMap<(LinkId, AgentId), bool>,
    /// The sources on which only selected agents are announced in full.
    selections: BTreeMap<LinkId, Vec<AgentId>>,
}

impl Muting {
    /// Returns whether the person muted an agent, or unmuted it; `None` if they did neither.
    pub(super) fn by_hand(&self, key: &SessionKey) -> Option<bool> {
        // Nearly always no agent was muted by hand.
        if self.by_hand.is_empty() {
            return None;
        }
        self.by_hand.get(&(key.link, key.agent.clone())).copied()
    }

    /// Mutes or unmutes an agent for the rest of this run.
    pub(super) fn set(&mut self, key: &SessionKey, is_muted: bool) {
        let agent = (key.link, key.agent.clone());
        self.by_hand.insert(agent, is_muted);
    }

    /// Selects agents of a source, or all (`None`).
    pub(super) fn select(&mut self, link: LinkId, agents: Option<Vec<AgentId>>) {
        match agents {
            Some(agents) => self.selections.insert(link, agents),
            None => self.selections.remove(&link),
        };
    }

    /// Returns whether an agent is not selected on a source with many.
    pub(super) fn is_in_background(&self, key: &SessionKey) -> bool {
        let selected = self.selections.get(&key.link);
        selected.is_some_and(|selected| !selected.contains(&key.agent))
    }
}
