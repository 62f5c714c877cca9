//! Faults in the settings, in words.
//!
//! Responsibilities: one sentence per fault, which names the setting and its accepted values. Not here: finding
//! the fault (`config`), the file that contains it (`runtime`).

use crate::config::{
    AcceptedValues, AnswerFault, AnswersFault, ConfigError, Misfit, PolicyFault, SourceFault,
};

use super::phrase::{Arg, Phrases};

impl Phrases {
    /// Words why settings can't be used.
    pub fn settings_fault(&self, error: &ConfigError) -> String {
        match error {
            ConfigError::Toml { line, misfit } => self.misfit(*line, misfit),
            ConfigError::Range { name, takes } => {
                let args = [
                    ("name", Arg::own(name)),
                    ("reason", Arg::Own(self.takes(takes))),
                ];
                self.text("settings.range", &args)
            }
            ConfigError::Source(fault) => {
                let problem = Arg::Own(self.source_fault(fault));
                self.text("settings.source", &[("problem", problem)])
            }
            ConfigError::Answers(fault) => {
                let problem = Arg::Own(self.answers_fault(fault));
                self.text("settings.answers", &[("problem", problem)])
            }
            ConfigError::Policy(fault) => {
                let problem = Arg::Own(self.policy_fault(fault));
                self.text("settings.policy", &[("problem", problem)])
            }
        }
    }

    /// Words the values that a setting accepts.
    fn takes(&self, takes: &AcceptedValues) -> String {
        match takes {
            AcceptedValues::Between { least, most } => {
                let args = [("least", Arg::own(least)), ("most", Arg::own(most))];
                self.text("settings.takes.between", &args)
            }
            AcceptedValues::ZeroOrBetween { least, most } => {
                let args = [("least", Arg::own(least)), ("most", Arg::own(most))];
                self.text("settings.takes.zero", &args)
            }
            AcceptedValues::AtLeast(least) => {
                self.text("settings.takes.least", &[("least", Arg::own(least))])
            }
            AcceptedValues::AtLeastThatOf(setting) => {
                self.text("settings.takes.least", &[("least", Arg::own(setting))])
            }
            AcceptedValues::SomeOf(names) => {
                let names = Arg::Own(names.join(", "));
                self.text("settings.takes.some", &[("names", names)])
            }
            AcceptedValues::Languages => self.text("settings.takes.languages", &[]),
            AcceptedValues::Prompts => self.text("settings.takes.prompts", &[]),
            AcceptedValues::Pronunciations => self.text("settings.takes.pronunciations", &[]),
            AcceptedValues::Deliveries => self.text("settings.takes.deliveries", &[]),
        }
    }

    fn policy_fault(&self, fault: &PolicyFault) -> String {
        let named = |name: &String| [("name", Arg::Own(name.clone()))];
        match fault {
            PolicyFault::TooMany(most) => {
                self.text("settings.policy.many", &[("n", Arg::own(most))])
            }
            PolicyFault::Name { number, most } => {
                let args = [("n", Arg::own(number)), ("most", Arg::own(most))];
                self.text("settings.policy.name", &args)
            }
            PolicyFault::Twice(name) => self.text("settings.policy.twice", &named(name)),
            PolicyFault::Accepts(name) => self.text("settings.policy.accepts", &named(name)),
            PolicyFault::Empty(name) => self.text("settings.policy.empty", &named(name)),
        }
    }

    fn answers_fault(&self, fault: &AnswersFault) -> String {
        match fault {
            AnswersFault::Nothing => {
                // Written as in the file; in a phrase, brackets would mean something else.
                self.text(
                    "settings.answers.none",
                    &[("table", Arg::own("[[answer]]"))],
                )
            }
            AnswersFault::Rules(fault) => self.policy_fault(fault),
            AnswersFault::Rule { name, fault } => {
                let name = [("name", Arg::own(name))];
                let key = match fault {
                    AnswerFault::Empty => "settings.answers.empty",
                    AnswerFault::NoWords => "settings.answers.words",
                    AnswerFault::Clarification => "settings.answers.clarification",
                    AnswerFault::Decision => "settings.answers.decision",
                    AnswerFault::RiskRejected => "settings.answers.rejected",
                    AnswerFault::RiskAtLarge => "settings.answers.at_large",
                };
                self.text(key, &name)
            }
        }
    }

    fn source_fault(&self, fault: &SourceFault) -> String {
        // Written as in the file.
        let named = |name: &String| ("name", Arg::Own(format!("{name:?}")));
        let two = |name: &String, [one, other]: &[&'static str; 2]| {
            [
                named(name),
                ("one", Arg::own(one)),
                ("other", Arg::own(other)),
            ]
        };
        match fault {
            SourceFault::TooMany(most) => {
                self.text("settings.source.many", &[("n", Arg::own(most))])
            }
            SourceFault::Name => self.text("settings.source.name", &[]),
            SourceFault::Twice(name) => self.text("settings.source.twice", &[named(name)]),
            SourceFault::Address(name) => self.text("settings.source.address", &[named(name)]),
            SourceFault::OneOf { name, settings } => {
                self.text("settings.source.one_of", &two(name, settings))
            }
            SourceFault::Both { name, settings } => {
                self.text("settings.source.both", &two(name, settings))
            }
            SourceFault::Prompt(name) => self.text("settings.source.prompt", &[named(name)]),
            SourceFault::Languages(name) => self.text("settings.source.languages", &[named(name)]),
            SourceFault::Range {
                name,
                setting,
                takes,
            } => {
                let args = [
                    named(name),
                    ("setting", Arg::own(setting)),
                    ("reason", Arg::Own(self.takes(takes))),
                ];
                self.text("settings.source.range", &args)
            }
        }
    }

    fn misfit(&self, line: usize, misfit: &Misfit) -> String {
        let line = ("line", Arg::own(line));
        let own = |text: &String| Arg::Own(text.clone());
        match misfit {
            Misfit::Value {
                name,
                given,
                allowed,
            } => {
                let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
                let args = [
                    line,
                    ("name", own(name)),
                    ("given", own(given)),
                    ("allowed", Arg::Own(self.either(&allowed))),
                ];
                self.text("settings.value", &args)
            }
            Misfit::Name { given, close } => {
                let close = close.clone().unwrap_or_default();
                let args = [line, ("given", own(given)), ("close", Arg::Own(close))];
                self.text("settings.name", &args)
            }
            Misfit::Kind { name, given } => {
                let args = [line, ("name", own(name)), ("given", own(given))];
                self.text("settings.kind", &args)
            }
            Misfit::List { name, given } => {
                let args = [line, ("name", own(name)), ("given", own(given))];
                self.text("settings.list", &args)
            }
            Misfit::Missing { name } => self.text("settings.missing", &[line, ("name", own(name))]),
            Misfit::Syntax => self.text("settings.syntax", &[line]),
        }
    }
}

#[cfg(test)]
mod tests;
