//! What the person's rules would accept, in words.
//!
//! Responsibilities: a sentence for each rule that accepts. Not here: which questions a rule applies to (`app`),
//! reading rules (`config`).

use std::path::Path;

use super::finding_lines::{DoctorFinding, DoctorTopic, own};
use crate::config::{AnswerRule, Config, PolicyDecision, PolicyRisk, PolicyRule, RuleEffect};
use crate::link::{Phrase, PhraseArg};
use crate::runtime::settings_file;

/// Returns the findings about rules that accept something.
pub fn findings(config: &Config, answers: Option<&Path>) -> Vec<DoctorFinding> {
    let (answers, fault) = match answers.map(settings_file::answers) {
        Some(Ok(answers)) => (answers, None),
        Some(Err(error)) => {
            let why = Phrase::new("doctor.words").with("why", own(format!("{error:#}")));
            (
                Vec::new(),
                Some(DoctorFinding::broken(
                    DoctorTopic::Settings,
                    why,
                    "doctor.file.remedy",
                )),
            )
        }
        None => (config.answers.clone(), None),
    };
    let by_settings = config
        .policy
        .iter()
        .filter(|rule| rule.decision == PolicyDecision::Accept);
    let by_settings = by_settings.map(of_settings);
    let by_answers = answers
        .iter()
        .filter(|rule| rule.effect() == RuleEffect::Accept);
    let by_answers = by_answers.map(of_answers);
    let words = by_settings.chain(by_answers);
    words
        .map(|phrase| DoctorFinding::fine(DoctorTopic::Settings, phrase))
        .chain(fault)
        .collect()
}

fn of_settings(rule: &PolicyRule) -> Phrase {
    let phrase = named(&rule.name, &rule.agents, &rule.tools);
    with_silence(phrase, rule.silence)
}

fn of_answers(rule: &AnswerRule) -> Phrase {
    let text = rule.text.as_deref().unwrap_or_default();
    let (part, whole) = if rule.takes_risk() {
        ("", text)
    } else {
        (text, "")
    };
    let phrase = named(&rule.name, &rule.agents, &rule.tools)
        .with("part", own(part))
        .with("whole", own(whole))
        .with("risks", own(risks(&rule.risks)));
    let phrase = match rule.irreversible {
        true => phrase.with("final", PhraseArg::Phrase(Phrase::new("doctor.rule.final"))),
        false => phrase,
    };
    with_silence(phrase, rule.silence)
}

fn named(name: &str, agents: &[String], tools: &[String]) -> Phrase {
    Phrase::new("doctor.rule")
        .with("rule", own(name))
        .with("agents", own(agents.join(", ")))
        .with("tools", own(tools.join(", ")))
}

fn with_silence(phrase: Phrase, silence: bool) -> Phrase {
    match silence {
        true => phrase.with(
            "silence",
            PhraseArg::Phrase(Phrase::new("doctor.rule.silence")),
        ),
        false => phrase,
    }
}

fn risks(risks: &[PolicyRisk]) -> String {
    let name = |risk: &PolicyRisk| match risk {
        PolicyRisk::Low => "low",
        PolicyRisk::Medium => "medium",
        PolicyRisk::High => "high",
        PolicyRisk::Unknown => "unknown",
    };
    risks.iter().map(name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announce::Phrases;
    use crate::config::answers;

    #[test]
    fn each_rule_that_accepts_is_told_in_words() {
        let policy = "[[policy]]\nname = \"notes\"\ndecision = \"accept\"\nagents = [\"Planner\"]\nsilence = true\n\
                      [[policy]]\nname = \"no\"\ndecision = \"reject\"\n";
        let mut config = Config::from_toml(policy).unwrap();
        config.answers = answers(
            "[[answer]]\nname = \"tidy\"\nkind = \"confirmation\"\ntext = \"move\"\nanswer = \"accept\"\n\
             [[answer]]\nname = \"backup\"\nkind = \"confirmation\"\ntools = [\"backup\"]\nanswer = \"accept\"\n\
             risks = [\"medium\"]\nirreversible = true\n",
        )
        .unwrap();
        let english = Phrases::english().unwrap();
        let lines: Vec<String> = findings(&config, None)
            .iter()
            .map(|finding| finding.line(&english))
            .collect();
        for (line, words) in lines.iter().zip([
            "rule notes accepts actions of low risk that can be undone, of Planner, also where silence accepts",
            "rule tidy accepts actions of low risk that can be undone, with the words “move”",
            "rule backup accepts actions of low risk or medium that can be undone, or can't, by backup",
        ]) {
            assert!(line.to_lowercase().contains(&words.to_lowercase()), "{line}");
        }
        assert_eq!(lines.len(), 3);
    }
}
