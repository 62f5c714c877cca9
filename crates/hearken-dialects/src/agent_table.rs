//! The agents that hearken knows: how each is started, installed and signed in to, with which version it was tried, and
//! what it asks a person before it acts.
//!
//! Responsibilities: the table in `assets/agents.toml`, finding an agent's row in it, reading versions. Not here:
//! starting an agent (`runtime`), what is said about a mode (`kit::oversight`), which agents are installed (`doctor`).

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::Oversight;
use crate::kit::oversight::who_decides;
use crate::link::Phrase;

/// The table, as data.
const TABLE: &str = include_str!("../../../assets/agents.toml");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentTable {
    agent: Vec<KnownAgent>,
}

/// The major version of Node.js with which the agents were tried.
pub const TRIED_NODE: u32 = 24;
/// The most bytes of a version that are kept.
const LONGEST_VERSION: usize = 40;

/// How a person signs in to an agent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    /// The command that signs in, or asks how.
    pub command: String,
    /// The environment variable for an API key.
    pub key: Option<String>,
}

/// A program whose version matters.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentProgram {
    /// Its name.
    pub program: String,
    /// The version with which it was tried.
    pub tried: Option<String>,
}

/// A package that another one has replaced.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FormerPackage {
    /// Its name at npm.
    pub package: String,
    /// The program that it installs.
    pub program: String,
}

/// The mode of a conversation that is continued later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeptMode {
    /// That of its last prompt.
    Prompted,
    /// The one that was set last.
    Set,
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
    /// What it asks, if it has no modes, or asks the same in each.
    pub asks: Option<Oversight>,
    /// Whether the title of a call that runs something is the command, which then appears nowhere else.
    #[serde(default)]
    pub commands_in_titles: bool,
    /// Whether its reports distinguish commands that failed from those that worked.
    #[serde(default = "yes")]
    pub says_failure: bool,
    /// The mode of a continued conversation; `None` if it begins like a new one.
    pub keeps_mode: Option<KeptMode>,
    /// The id of the mode in which a new conversation begins.
    pub begins: Option<String>,
    /// The version with which its program was tried; `None` if it was not.
    pub tried: Option<String>,
    /// Whether its program prints its version when called with `--version`. Any other program would start working.
    #[serde(default = "yes")]
    pub says_version: bool,
    /// How a person signs in.
    pub signs_in: SignIn,
    /// The lowest major version of Node.js that its package accepts.
    pub needs_node: Option<u32>,
    /// The program that people use in a terminal, if `command` is an adapter for it.
    pub terminal_program: Option<AgentProgram>,
    /// The packages that the one in `install` has replaced.
    #[serde(default)]
    pub former: Vec<FormerPackage>,
}

const fn yes() -> bool {
    true
}

impl KnownAgent {
    /// Returns the program to start.
    pub fn program(&self) -> &str {
        self.command.first().map(String::as_str).unwrap_or_default()
    }

    /// Returns the programs that can be asked for their version.
    pub fn programs(&self) -> Vec<AgentProgram> {
        let program = self.says_version.then(|| AgentProgram {
            program: self.program().to_owned(),
            tried: self.tried.clone(),
        });
        self.terminal_program
            .clone()
            .into_iter()
            .chain(program)
            .collect()
    }

    /// Returns what it asks in a mode, if that is known.
    pub fn oversight(&self, mode: &str) -> Option<Oversight> {
        self.modes.get(mode).copied().or(self.asks)
    }

    /// Returns who decides in a new conversation, as a sentence; `None` if that is not known.
    pub fn who_decides(&self) -> Option<Phrase> {
        let begins = self.begins.as_ref().and_then(|mode| self.modes.get(mode));
        let asks = self.asks.or(begins.copied())?;
        Some(who_decides(&self.title, Some(asks)))
    }
}

/// Returns the first word that is a version, in what a program prints when asked for its version.
pub fn version_in(text: &str) -> Option<String> {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '.' | '-' | '+');
    let version = |word: &str| {
        let word = word
            .trim_matches(|sign: char| !is_part(sign))
            .trim_end_matches('.');
        let word = word.strip_prefix('v').unwrap_or(word);
        let numbers = word.split(['-', '+']).next().unwrap_or_default();
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let is_version = numbers.contains('.')
            && numbers.split('.').all(is_number)
            && word.chars().all(is_part)
            && word.len() <= LONGEST_VERSION;
        is_version.then(|| word.to_owned())
    };
    text.split_whitespace().find_map(version)
}

/// Returns the first number of a version.
pub fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}

/// Returns the known agents, in the order of the table.
///
/// # Errors
/// Never in practice: the table is compiled in, and a test reads it.
pub fn known_agents() -> Result<Vec<KnownAgent>, toml::de::Error> {
    toml::from_str::<AgentTable>(TABLE).map(|table| table.agent)
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

    #[test]
    fn each_row_is_whole() {
        for agent in known_agents().unwrap() {
            let name = &agent.name;
            let is_short = |sign: u8| sign.is_ascii_lowercase();
            assert!(name.len() < 10 && name.bytes().all(is_short), "{name}");
            let one_command = !agent.install.contains('\n') && !agent.install.ends_with('.');
            assert!(one_command, "{name}");
            assert!(!agent.signs_in.command.is_empty(), "{name}");
            for program in agent.programs() {
                let tried = program.tried.as_deref();
                assert_eq!(tried.and_then(version_in).as_deref(), tried, "{name}");
            }
            let begins = agent.begins.as_ref();
            assert_eq!(begins.is_none(), agent.modes.is_empty(), "{name}");
            assert!(
                begins.is_none_or(|mode| agent.modes.contains_key(mode)),
                "{name}"
            );
            assert!(
                agent.needs_node.is_none_or(|node| node <= TRIED_NODE),
                "{name}"
            );
            for former in &agent.former {
                assert!(!agent.install.contains(&former.package), "{name}");
            }
        }
    }

    #[test]
    fn a_version_is_found_in_what_real_programs_print() {
        for (text, version) in [
            ("2.1.332 (Claude Code)\n", "2.1.332"),
            ("codex-cli 0.171.0\n", "0.171.0"),
            ("@agentclientprotocol/codex-acp 2.6.0\n", "2.6.0"),
            (
                "GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check.",
                "1.0.102",
            ),
            ("v24.21.0\n", "24.21.0"),
            ("goose 1.50.1-rc.1+x", "1.50.1-rc.1+x"),
            ("a 2, version: (7.8)", "7.8"),
        ] {
            assert_eq!(version_in(text).as_deref(), Some(version), "{text}");
        }
        let long = format!("1.{}", "9".repeat(100));
        for none in [
            "",
            "no version",
            "3",
            "1..2",
            "1.x",
            "http://1.2.3/",
            ".",
            &long,
        ] {
            assert_eq!(version_in(none), None, "{none}");
        }
        assert_eq!((major("24.21.0"), major("x.1")), (Some(24), None));
    }

    #[test]
    fn who_decides_is_known_where_the_first_mode_is() {
        let key = |name| named(name).unwrap().who_decides().map(|it| it.key);
        assert_eq!(key("claude"), Some("oversight.reviews"));
        assert_eq!(key("pi"), Some("oversight.never"));
        assert_eq!(key("cline"), None);
    }
}
