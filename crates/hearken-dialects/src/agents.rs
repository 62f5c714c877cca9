//! The agents that hearken knows: how each is started, and what it asks a person before it acts.
//!
//! Responsibilities: the table in `assets/agents.toml`, and finding an agent's row in it. Not here: starting an agent
//! (`runtime`), what is said about a mode (`kit::oversight`).

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::Oversight;

/// The table, as data.
const TABLE: &str = include_str!("../../../assets/agents.toml");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    agent: Vec<KnownAgent>,
}

/// An agent that is known by name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownAgent {
    /// Its name on the command line.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// The program that speaks the Agent Client Protocol, and its arguments.
    pub command: Vec<String>,
    /// The command that installs it, or the page that says how.
    pub install: String,
    /// The names in its greeting.
    #[serde(default)]
    pub calls_itself: Vec<String>,
    /// What it asks in each of its modes, by the mode's id.
    #[serde(default)]
    pub modes: BTreeMap<String, Oversight>,
    /// What it asks, if it has no modes.
    pub asks: Option<Oversight>,
    /// Whether a continued conversation is still in the mode of its last prompt.
    #[serde(default)]
    pub keeps_mode: bool,
}

impl KnownAgent {
    /// Returns the program to start.
    pub fn program(&self) -> &str {
        self.command.first().map(String::as_str).unwrap_or_default()
    }
}

/// Returns the known agents, in the order of the table.
///
/// # Errors
/// Never in practice: the table is compiled in, and a test reads it.
pub fn known_agents() -> Result<Vec<KnownAgent>, toml::de::Error> {
    toml::from_str::<Table>(TABLE).map(|table| table.agent)
}

/// Returns the agent with this name on the command line.
pub(crate) fn named(name: &str) -> Option<KnownAgent> {
    let all = known_agents().unwrap_or_default();
    all.into_iter().find(|agent| agent.name == name)
}

/// Returns the agent with this name in its greeting.
pub(crate) fn calling_itself(name: &str) -> Option<KnownAgent> {
    let all = known_agents().unwrap_or_default();
    let is_it = |agent: &KnownAgent| agent.calls_itself.iter().any(|own| own == name);
    all.into_iter().find(is_it)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_table_can_be_read_and_no_name_leads_to_two_agents() {
        let all = known_agents().unwrap();
        let mut seen = BTreeSet::new();
        for agent in &all {
            assert!(!agent.program().is_empty() && !agent.install.is_empty());
            assert!(seen.insert(agent.name.clone()), "{}", agent.name);
            let own: BTreeSet<&String> = agent.calls_itself.iter().collect();
            for name in own {
                assert_eq!(calling_itself(name).as_ref(), Some(agent), "{name}");
            }
            assert!(
                agent.asks.is_none() || agent.modes.is_empty(),
                "{}: either its modes say what it asks, or it has none",
                agent.name
            );
        }
        assert_eq!(calling_itself("somebody else"), None);
    }
}
