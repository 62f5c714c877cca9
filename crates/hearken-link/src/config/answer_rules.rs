//! Answers that a script gives by rule, in a file named on the command line (`--answers`).
//!
//! Responsibilities: the shape of `[[answer]]` and the faults of such a file. Not here: which question a rule
//! matches and what it may answer (`app::questions`).

use serde::Deserialize;

use super::policy_rules::{self, PolicyRisk};
use super::{AnswerFault, AnswersFault, ConfigError, PolicyFault, read};

/// The most rules in a file: all of them are announced at the start.
const MOST_RULES: usize = 64;

/// The kind of question that a rule matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerKind {
    /// A request to allow an action.
    Confirmation,
    /// A request for information.
    Clarification,
}

/// One rule; the first rule of a file that matches a question decides it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerRule {
    /// Its name: letters, digits, `_` and `-`. Replies carry it as `decided_by: auto:NAME` (6.3.2).
    pub name: String,
    /// The kind of question that it matches.
    pub kind: AnswerKind,
    /// The agents that it matches, by id or name; empty means every agent.
    #[serde(default)]
    pub agents: Vec<String>,
    /// The tools that it matches, by the producer's names; empty means every question.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Whole words of the action or the question, ignoring case; for a rule that accepts a risk, the complete text.
    #[serde(default)]
    pub text: Option<String>,
    /// The answer: `accept`, `reject` or `leave`; for a clarification, the words.
    pub answer: String,
    /// The risks beyond low that it may accept.
    #[serde(default)]
    pub risks: Vec<PolicyRisk>,
    /// Whether it may accept an action that can't be undone, or is not stated to be reversible.
    #[serde(default)]
    pub irreversible: bool,
    /// Whether it may also accept a question that silence would accept.
    #[serde(default)]
    pub silence: bool,
}

/// The effect of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleEffect<'a> {
    /// The action is accepted.
    Accept,
    /// The action is rejected.
    Reject,
    /// The question stays open, and the person is not asked.
    Leave,
    /// These words are the answer.
    Words(&'a str),
}

impl AnswerRule {
    /// Returns the rule's effect.
    pub fn effect(&self) -> RuleEffect<'_> {
        match (self.kind, self.answer.as_str()) {
            (AnswerKind::Confirmation, "accept") => RuleEffect::Accept,
            (AnswerKind::Confirmation, "reject") => RuleEffect::Reject,
            // A file with any other word was refused.
            (AnswerKind::Confirmation, _) => RuleEffect::Leave,
            (AnswerKind::Clarification, words) => RuleEffect::Words(words),
        }
    }

    /// Returns whether it accepts more than a rule in the settings may.
    pub fn takes_risk(&self) -> bool {
        self.irreversible || !self.risks.is_empty()
    }

    /// Returns whether the rule matches a text.
    pub fn names(&self, text: &str) -> bool {
        let Some(wanted) = &self.text else {
            return true;
        };
        let (text, wanted) = (text.trim().to_lowercase(), wanted.trim().to_lowercase());
        if self.takes_risk() {
            // With a partial match, anything around it would also be accepted.
            text == wanted
        } else {
            has_words(&text, &wanted)
        }
    }
}

/// Returns whether a text contains these words as whole words: "move" is not part of "remove" or "re-move".
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
/// If it can't be read, or a rule in it is not valid.
pub fn answers(text: &str) -> Result<Vec<AnswerRule>, ConfigError> {
    let File { answer: rules } = read(text)?;
    match fault(&rules) {
        Some(fault) => Err(ConfigError::Answers(fault)),
        None => Ok(rules),
    }
}

/// Returns the fault in a list of rules, if any.
fn fault(rules: &[AnswerRule]) -> Option<AnswersFault> {
    if rules.is_empty() {
        return Some(AnswersFault::Nothing);
    }
    if rules.len() > MOST_RULES {
        return Some(AnswersFault::Rules(PolicyFault::TooMany(MOST_RULES)));
    }
    for (at, rule) in rules.iter().enumerate() {
        if let Some(fault) = policy_rules::name_fault(at, &rule.name) {
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
        assert_eq!(rules[0].effect(), RuleEffect::Accept);
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
        assert_eq!(rules[0].effect(), RuleEffect::Words("accept"));
    }
}
