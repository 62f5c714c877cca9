//! Who decides: what an agent asks a person before it acts.
//!
//! Responsibilities: the grades of asking, their order, and the sentences about them. Not here: which agent asks what
//! in which mode (`agent_table`, from `assets/agents.toml`), reading and changing modes (each dialect).
//!
//! # Mental model
//! Agents call their modes what they like, and "Auto" may mean that a person is asked nothing. So the name alone never
//! reassures: hearken says what a mode asks if the table knows it, and otherwise that it is not known. A change gets a
//! warning only if fewer things are asked afterwards.

use serde::Deserialize;

use crate::link::{Phrase, PhraseArg};

/// What an agent asks a person before it acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Oversight {
    /// It asks before it changes anything, as far as its own settings don't allow it.
    Asks,
    /// It changes nothing.
    Plans,
    /// It never asks, and does only what its settings allow.
    Denies,
    /// It edits files by itself, and asks before commands.
    Edits,
    /// It works in its folder by itself, and asks before it leaves it or uses the network.
    Folder,
    /// It asks only where its settings say so.
    Settings,
    /// It judges by itself what is safe, and asks little.
    Reviews,
    /// It asks nothing.
    Never,
}

/// How a change of mode changes what is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskingChange {
    /// Fewer things are asked.
    Loosened,
    /// More things are asked.
    Tightened,
    /// As many are asked.
    Same,
    /// What one of the modes asks is not known.
    Unknown,
}

impl Oversight {
    /// Returns how much an agent may do unasked: the more, the higher.
    fn freedom(self) -> u8 {
        match self {
            Self::Asks | Self::Plans | Self::Denies => 0,
            Self::Edits => 1,
            Self::Folder => 2,
            Self::Settings => 3,
            Self::Reviews => 4,
            Self::Never => 5,
        }
    }

    /// Returns whether a person who wants to be asked has nothing to gain from another mode.
    pub fn asks_most(self) -> bool {
        self.freedom() == 0
    }

    fn key(self) -> &'static str {
        match self {
            Self::Asks => "oversight.asks",
            Self::Plans => "oversight.plans",
            Self::Denies => "oversight.denies",
            Self::Edits => "oversight.edits",
            Self::Folder => "oversight.folder",
            Self::Settings => "oversight.settings",
            Self::Reviews => "oversight.reviews",
            Self::Never => "oversight.never",
        }
    }
}

/// Returns what a change from one mode to another means for the person; `None` stands for a mode that is not known.
pub fn asking_change(before: Option<Oversight>, after: Option<Oversight>) -> AskingChange {
    let (Some(before), Some(after)) = (before, after) else {
        return AskingChange::Unknown;
    };
    match before.freedom().cmp(&after.freedom()) {
        std::cmp::Ordering::Less => AskingChange::Loosened,
        std::cmp::Ordering::Greater => AskingChange::Tightened,
        std::cmp::Ordering::Equal => AskingChange::Same,
    }
}

/// Returns the sentence that says who decides in a mode: "Claude decides most things itself."
pub fn who_decides(agent: &str, oversight: Option<Oversight>) -> Phrase {
    let key = oversight.map_or("oversight.unknown", Oversight::key);
    Phrase::new(key).with("agent", PhraseArg::Name(agent.to_owned()))
}

/// Returns the sentence that it is not known whether an agent asks.
pub fn not_known(agent: &str) -> Phrase {
    Phrase::new("oversight.no_modes").with("agent", PhraseArg::Name(agent.to_owned()))
}

/// Returns the sentence about the mode in which an agent begins; `can_change` says whether the person can choose one
/// that asks more. `mode` is empty if the agent has no name for it.
pub fn starts_in(
    agent: &str,
    mode: &str,
    oversight: Option<Oversight>,
    can_change: bool,
) -> Phrase {
    let key = match can_change {
        true => "oversight.starts.change",
        false => "oversight.starts",
    };
    about(key, agent, mode, oversight)
}

/// Returns the announcement that an agent works in another mode now.
pub fn changed_to(
    agent: &str,
    mode: &str,
    before: Option<Oversight>,
    after: Option<Oversight>,
) -> Phrase {
    let key = match asking_change(before, after) {
        AskingChange::Loosened => "oversight.loosened",
        AskingChange::Tightened => "oversight.tightened",
        AskingChange::Same | AskingChange::Unknown => "oversight.starts",
    };
    about(key, agent, mode, after)
}

/// Returns the announcement that an agent's own reviewer refused an action, with its reason if it gave one.
pub fn reviewer_refused(agent: &str, action: &str, reason: &str) -> Phrase {
    Phrase::new("oversight.reviewer.refused")
        .with("agent", PhraseArg::Name(agent.to_owned()))
        .with("title", PhraseArg::Agent(action.to_owned()))
        .with("reason", PhraseArg::Agent(reason.to_owned()))
}

/// Returns a sentence about a mode, with who decides in it as `who`.
pub fn about(key: &'static str, agent: &str, mode: &str, oversight: Option<Oversight>) -> Phrase {
    Phrase::new(key)
        .with("mode", PhraseArg::Name(mode.to_owned()))
        .with("who", PhraseArg::Phrase(who_decides(agent, oversight)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Oversight; 8] = [
        Oversight::Asks,
        Oversight::Plans,
        Oversight::Denies,
        Oversight::Edits,
        Oversight::Folder,
        Oversight::Settings,
        Oversight::Reviews,
        Oversight::Never,
    ];

    #[test]
    fn only_a_change_after_which_less_is_asked_is_a_warning() {
        use Oversight::{Asks, Denies, Edits, Never, Plans, Reviews, Settings};
        for (before, after, change) in [
            (Reviews, Asks, AskingChange::Tightened),
            (Asks, Reviews, AskingChange::Loosened),
            (Plans, Asks, AskingChange::Same),
            (Asks, Denies, AskingChange::Same),
            (Plans, Settings, AskingChange::Loosened),
            (Edits, Never, AskingChange::Loosened),
        ] {
            assert_eq!(asking_change(Some(before), Some(after)), change);
        }
        assert_eq!(asking_change(None, Some(Asks)), AskingChange::Unknown);
        assert_eq!(asking_change(Some(Asks), None), AskingChange::Unknown);
    }

    #[test]
    fn the_way_back_is_never_a_warning_too() {
        for one in ALL {
            for other in ALL {
                let there = asking_change(Some(one), Some(other));
                let back = asking_change(Some(other), Some(one));
                assert_eq!(
                    there == AskingChange::Loosened,
                    back == AskingChange::Tightened
                );
            }
        }
    }
}
