//! Which names the person's keys have proven, and which are mere claims (10.4).
//!
//! Responsibilities: deciding whether what arrives over a connection in an agent's name is proven. Not here: what
//! proves it (`protocol`), when a connection has proven it (`app`), how a claim is named (`agent_names`).
//!
//! # Mental model
//! By adding a key, the person declares that an agent's name needs proof. From then on the name belongs to the
//! connection whose manifest proved it; over every other connection it is a claim, whatever else is true of
//! that connection. If the person wants proof from everyone, every name except the proven one is a claim.

use std::collections::{BTreeMap, BTreeSet};

use crate::protocol::AgentId;
use crate::session::LinkId;

use crate::announce::words::naming::look;

/// What is proven, and where proof is required. It grows only with the person's keys and sources.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    /// The agents for which the person has a key.
    keyed_agents: BTreeSet<String>,
    /// The visual forms of their names.
    looks: BTreeSet<String>,
    /// The sources on which proof is required of every agent.
    strict: BTreeSet<LinkId>,
    /// The agent that proved its name, by source.
    proven: BTreeMap<LinkId, String>,
}

impl Trust {
    /// Sets the agents for which the person has a key.
    pub fn know<'a>(&mut self, agents: impl Iterator<Item = &'a str>) {
        self.keyed_agents = agents.map(str::to_owned).collect();
        self.looks = self.keyed_agents.iter().map(|name| look(name)).collect();
    }

    /// Requires proof of every agent on a source.
    pub fn want(&mut self, link: LinkId) {
        self.strict.insert(link);
    }

    /// Records which agent has proven its name over a source; `None` withdraws the proof.
    pub fn prove(&mut self, link: LinkId, agent: Option<String>) {
        match agent {
            Some(agent) => {
                self.proven.insert(link, agent);
            }
            None => {
                self.proven.remove(&link);
            }
        }
    }

    /// Returns whether an agent's identity rests on its word alone although the person can expect proof: a key
    /// exists for its id or name, or its source requires proof, and nothing proved it here.
    pub fn doubts(&self, link: LinkId, id: &AgentId, name: &str) -> bool {
        if self.proven.get(&link).is_some_and(|it| it == id.as_str()) {
            return false;
        }
        self.strict.contains(&link)
            || self.keyed_agents.contains(id.as_str())
            || (!self.looks.is_empty() && self.looks.contains(&look(name)))
    }

    /// Returns whether any name can be in doubt.
    pub fn is_asked_for(&self) -> bool {
        !self.keyed_agents.is_empty() || !self.strict.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: LinkId = LinkId(0);
    const TWO: LinkId = LinkId(1);

    #[test]
    fn a_name_belongs_to_the_connection_that_proved_it() {
        let planner = AgentId::from("planner");
        let mailer = AgentId::from("mailer");
        let mut trust = Trust::default();
        assert!(!trust.doubts(ONE, &planner, "Planner") && !trust.is_asked_for());
        trust.know(["planner"].into_iter());
        assert!(trust.doubts(ONE, &planner, "Planner"));
        assert!(!trust.doubts(ONE, &mailer, "Mailer"));
        assert!(
            trust.doubts(ONE, &mailer, "pl\u{430}nner"),
            "a name that looks like it"
        );
        trust.prove(ONE, Some("planner".into()));
        assert!(!trust.doubts(ONE, &planner, "Planner"));
        assert!(trust.doubts(TWO, &planner, "Planner"));
        trust.prove(ONE, None);
        assert!(trust.doubts(ONE, &planner, "Planner"));
        trust.want(TWO);
        trust.prove(TWO, Some("mailer".into()));
        assert!(!trust.doubts(TWO, &mailer, "Mailer"));
        assert!(trust.doubts(TWO, &AgentId::from("other"), "Other"));
    }
}
