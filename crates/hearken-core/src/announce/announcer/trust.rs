//! Whom the person's keys have convinced, and whose names are mere claims (10.4).
//!
//! Responsibilities: telling whether what comes over a connection in an agent's name is proven. Not here: what
//! proves it (`protocol`), when a connection has proven it (`app`), how a claim is called (`publish`).
//!
//! # Mental model
//! A key is the person's word that an agent's name is worth a proof. From then on the name belongs to the
//! connection whose manifest proved it; over every other one it is a claim, whatever else is true of the
//! connection. Where the person wants proof of everybody, every name but the proven one is a claim.

use std::collections::{BTreeMap, BTreeSet};

use crate::protocol::AgentId;
use crate::session::LinkId;

use crate::announce::words::naming::look;

/// What is proven and of whom proof is wanted. It grows with the person's keys and sources only.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    /// The agents that the person has a key of.
    known: BTreeSet<String>,
    /// What a reader sees of their names.
    looks: BTreeSet<String>,
    /// The sources of which proof is wanted, whoever speaks.
    strict: BTreeSet<LinkId>,
    /// Who proved their name over a source.
    proven: BTreeMap<LinkId, String>,
}

impl Trust {
    /// Takes the agents that the person has a key of.
    pub fn know<'a>(&mut self, agents: impl Iterator<Item = &'a str>) {
        self.known = agents.map(str::to_owned).collect();
        self.looks = self.known.iter().map(|name| look(name)).collect();
    }

    /// Wants proof of everybody who speaks over a source.
    pub fn want(&mut self, link: LinkId) {
        self.strict.insert(link);
    }

    /// Takes note of who has proven their name over a source; nobody takes it back.
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

    /// Returns whether an agent, as it is called and by its id, is one only by its own word although the person
    /// can ask for more: its id or its name is one that a key stands for, and nothing proved it here.
    pub fn doubts(&self, link: LinkId, id: &AgentId, name: &str) -> bool {
        if self.proven.get(&link).is_some_and(|it| it == id.as_str()) {
            return false;
        }
        self.strict.contains(&link)
            || self.known.contains(id.as_str())
            || (!self.looks.is_empty() && self.looks.contains(&look(name)))
    }

    /// Returns whether any name can be in doubt.
    pub fn is_asked_for(&self) -> bool {
        !self.known.is_empty() || !self.strict.is_empty()
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
