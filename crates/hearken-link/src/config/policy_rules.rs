//! Rules that decide confirmations without asking: none, unless the person wrote them.
//!
//! Responsibilities: the shape of `[[policy]]` in the settings and the faults of such rules. Not here: which
//! question a rule matches and what happens then (`app::questions`).

use serde::{Deserialize, Serialize};

use super::PolicyFault;

/// The most rules: all of them are announced at the start.
const MOST_RULES: usize = 32;
/// The longest name of a rule: it is sent in `decided_by` and announced with every decision.
const LONGEST_NAME: usize = 40;

/// What a rule does with a confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicyDecision {
    /// It is rejected.
    Reject,
    /// It stays unanswered and rings no bell; the person can still answer it.
    Leave,
    /// It is accepted if the event itself states that the risk is low and the action can be undone;
    /// otherwise the rule does not apply.
    Accept,
}

/// A risk as a rule names it (`risk_level` of 4.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicyRisk {
    /// `low`
    Low,
    /// `medium`
    Medium,
    /// `high`
    High,
    /// The event does not state it, or uses an unknown word.
    Unknown,
}

/// One rule; the first one that matches a question decides it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyRule {
    /// Its name: letters, digits, `_` and `-`. Replies carry it as `decided_by: auto:NAME` (6.3.2).
    pub name: String,
    /// What it does.
    pub decision: PolicyDecision,
    /// The agents that it matches, by id or name; empty means every agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// The tools that it matches; empty means every question, even one without a known tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The risks that it matches; empty means every risk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub risks: Vec<PolicyRisk>,
    /// Whether it may also accept a question that silence would accept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub silence: bool,
}

/// Returns the fault in a list of rules, if any.
pub(super) fn fault(rules: &[PolicyRule]) -> Option<PolicyFault> {
    if rules.len() > MOST_RULES {
        return Some(PolicyFault::TooMany(MOST_RULES));
    }
    for (at, rule) in rules.iter().enumerate() {
        if let Some(fault) = name_fault(at, &rule.name) {
            return Some(fault);
        }
        if rules[..at].iter().any(|other| other.name == rule.name) {
            return Some(PolicyFault::Twice(rule.name.clone()));
        }
        let low_only = rule.risks.iter().all(|risk| *risk == PolicyRisk::Low);
        if rule.decision == PolicyDecision::Accept && !low_only {
            return Some(PolicyFault::Accepts(rule.name.clone()));
        }
        let blank = |texts: &[String]| texts.iter().any(|text| text.trim().is_empty());
        if blank(&rule.agents) || blank(&rule.tools) {
            return Some(PolicyFault::Empty(rule.name.clone()));
        }
    }
    None
}

/// Returns the fault in the name of the rule at an index, from 0, if any.
pub(super) fn name_fault(at: usize, name: &str) -> Option<PolicyFault> {
    let proper = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let fits = !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(proper);
    (!fits).then_some(PolicyFault::Name {
        number: at + 1,
        most: LONGEST_NAME,
    })
}

#[cfg(test)]
mod tests {
    use crate::config::Config;

    use super::*;

    #[test]
    fn a_rule_is_read_with_what_it_leaves_out() {
        let config = Config::from_toml(
            "[[policy]]\nname = \"no_mail\"\ndecision = \"reject\"\ntools = [\"send_email\"]\nrisks = [\"high\", \"unknown\"]\n",
        )
        .unwrap();
        let rule = &config.policy[0];
        assert_eq!(rule.decision, PolicyDecision::Reject);
        assert!(rule.agents.is_empty());
        assert_eq!(rule.risks, [PolicyRisk::High, PolicyRisk::Unknown]);
    }
}
