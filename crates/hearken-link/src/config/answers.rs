//! Answers that a script gives by rule: a file of its own, named with each call (`--answers`).
//!
//! Responsibilities: the shape of `[[answer]]` and what is wrong with a file of them. Not here: which question a
//! rule is about and what may be answered by it (`app::policy`).

use serde::Deserialize;

use super::policy::{self, PolicyRisk};
use super::{AnswerFault, AnswersFault, ConfigError, PolicyFault, read};

/// How many rules a file may have: they are all told at the start.
const MOST_RULES: usize = 64;

/// Which kind of question a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerKind {
    /// An action is to be allowed.
    Confirmation,
    /// Something is to be known.
    Clarification,
}

/// One rule; of a file, the first one that is about a question decides it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerRule {
    /// Its name: letters, digits, `_` and `-`. Replies carry it as `decided_by: auto:NAME` (6.3.2).
    pub name: String,
    /// Which kind of question it is about.
    pub kind: AnswerKind,
    /// The agents it is about, by id or name; empty means every agent.
    #[serde(default)]
    pub agents: Vec<String>,
    /// The tools it is about, as the producer names them; empty means every question.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Whole words of the action or the question, whatever their capitals; of a rule that takes a risk, all of it.
    #[serde(default)]
    pub text: Option<String>,
    /// What is answered: `accept`, `reject` or `leave`; to a clarification, the words.
    pub answer: String,
    /// The risks beyond low that an acceptance takes.
    #[serde(default)]
    pub risks: Vec<PolicyRisk>,
    /// Whether an acceptance takes what can't be undone, or is not said to be undoable.
    #[serde(default)]
    pub irreversible: bool,
    /// Whether an acceptance takes what silence would accept, too.
    #[serde(default)]
    pub silence: bool,
}

/// Names what a rule does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerWish<'a> {
    /// The action is accepted.
    Accept,
    /// The action is rejected.
    Reject,
    /// The question stays open, and nobody is asked.
    Leave,
    /// These words are the answer.
    Words(&'a str),
}

impl AnswerRule {
    /// Returns what it does.
    pub fn wish(&self) -> AnswerWish<'_> {
        match (self.kind, self.answer.as_str()) {
            (AnswerKind::Confirmation, "accept") => AnswerWish::Accept,
            (AnswerKind::Confirmation, "reject") => AnswerWish::Reject,
            // A file with anything else was refused.
            (AnswerKind::Confirmation, _) => AnswerWish::Leave,
            (AnswerKind::Clarification, words) => AnswerWish::Words(words),
        }
    }

    /// Returns whether it accepts more than a rule of the settings may.
    pub fn takes_risk(&self) -> bool {
        self.irreversible || !self.risks.is_empty()
    }

    /// Returns whether a text is what it is about.
    pub fn names(&self, text: &str) -> bool {
        let Some(wanted) = &self.text else {
            return true;
        };
        let (text, wanted) = (text.trim().to_lowercase(), wanted.trim().to_lowercase());
        if self.takes_risk() {
            // Whatever stands beside a part of it would be accepted too.
            text == wanted
        } else {
            has_words(&text, &wanted)
        }
    }
}

/// Returns whether a text holds these words whole: "move" is no part of "remove" or "re-move".
fn has_words(text: &str, words: &str) -> bool {
    let belongs =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '\'' | '\u{300}'..='\u{36f}');
    let begins = words.starts_with(belongs);
    let ends = words.ends_with(belongs);
    text.match_indices(words).any(|(at, found)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let behind = text
            .get(at + found.len()..)
            .and_then(|behind| behind.chars().next());
        !(begins && before.is_some_and(belongs) || ends && behind.is_some_and(belongs))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    answer: Vec<AnswerRule>,
}

/// Reads a file of answers.
///
/// # Errors
/// When it can't be read, or a rule in it is not sound.
pub fn answers(text: &str) -> Result<Vec<AnswerRule>, ConfigError> {
    let File { answer: rules } = read(text)?;
    match fault(&rules) {
        Some(fault) => Err(ConfigError::Answers(fault)),
        None => Ok(rules),
    }
}

/// Finds what is wrong with rules.
fn fault(rules: &[AnswerRule]) -> Option<AnswersFault> {
    if rules.is_empty() {
        return Some(AnswersFault::Nothing);
    }
    if rules.len() > MOST_RULES {
        return Some(AnswersFault::Rules(PolicyFault::TooMany(MOST_RULES)));
    }
    for (at, rule) in rules.iter().enumerate() {
        if let Some(fault) = policy::name_fault(at, &rule.name) {
            return Some(AnswersFault::Rules(fault));
        }
        let name = rule.name.clone();
        if rules[..at].iter().any(|other| other.name == name) {
            return Some(AnswersFault::Rules(PolicyFault::Twice(name)));
        }
        if let Some(fault) = fault_of(rule) {
            return Some(AnswersFault::Rule { name, fault });
        }
    }
    None
}

fn fault_of(rule: &AnswerRule) -> Option<AnswerFault> {
    let blank = |text: &String| text.trim().is_empty();
    if rule.agents.iter().chain(&rule.tools).any(blank) || rule.text.as_ref().is_some_and(blank) {
        return Some(AnswerFault::Empty);
    }
    match rule.kind {
        AnswerKind::Clarification if blank(&rule.answer) => Some(AnswerFault::NoWords),
        AnswerKind::Clarification if rule.takes_risk() || !rule.tools.is_empty() => {
            Some(AnswerFault::Clarification)
        }
        AnswerKind::Clarification => None,
        AnswerKind::Confirmation if !["accept", "reject", "leave"].contains(&&*rule.answer) => {
            Some(AnswerFault::Decision)
        }
        AnswerKind::Confirmation if rule.takes_risk() && rule.answer != "accept" => {
            Some(AnswerFault::RiskRejected)
        }
        AnswerKind::Confirmation
            if rule.takes_risk() && rule.tools.is_empty() && rule.text.is_none() =>
        {
            Some(AnswerFault::RiskAtLarge)
        }
        AnswerKind::Confirmation => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn rule(more: &str) -> String {
        format!("[[answer]]\nname = \"a\"\n{more}\n")
    }

    #[test]
    fn a_rule_is_read_with_what_it_leaves_out() {
        let rules = answers(&rule(
            "kind = \"confirmation\"\ntext = \"Move\"\nanswer = \"accept\"",
        ))
        .unwrap();
        assert_eq!(rules[0].wish(), AnswerWish::Accept);
        assert!(!rules[0].takes_risk() && rules[0].names("Please move 3 notes"));
        assert!(!rules[0].names("Send them"));
        for other in [
            "Remove all photos",
            "Re-move it",
            "moved",
            "move_all",
            "unmove",
        ] {
            assert!(!rules[0].names(other), "{other}");
        }
        assert!(rules[0].names("(move)") && rules[0].names("move"));
        let rules = answers(&rule(
            "kind = \"confirmation\"\ntext = \"Move\"\nanswer = \"accept\"\nrisks = [\"high\"]",
        ))
        .unwrap();
        assert!(rules[0].names(" MOVE ") && !rules[0].names("Move and delete"));
        let rules = answers(&rule("kind = \"clarification\"\nanswer = \"accept\"")).unwrap();
        assert_eq!(rules[0].wish(), AnswerWish::Words("accept"));
    }
}
