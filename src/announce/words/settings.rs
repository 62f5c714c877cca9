//! What is wrong with the settings, in words.
//!
//! Responsibilities: one sentence a fault, which names the setting and what it takes. Not here: finding the
//! fault (`config`), the file that it is in (`runtime`).

use crate::config::{ConfigError, Misfit};

use super::phrase::{Arg, Phrases};

impl Phrases {
    /// Words why settings can't be used.
    pub fn settings_fault(&self, error: &ConfigError) -> String {
        match error {
            ConfigError::Toml { line, misfit } => self.misfit(*line, misfit),
            ConfigError::Range { name, reason } => {
                let args = [
                    ("name", Arg::own(name)),
                    ("reason", Arg::Own(self.reason(reason))),
                ];
                self.text("settings.range", &args)
            }
            ConfigError::Source { problem } => {
                let problem = Arg::Own(self.reason(problem));
                self.text("settings.source", &[("problem", problem)])
            }
            ConfigError::Policy { problem } => {
                let problem = Arg::Own(self.reason(problem));
                self.text("settings.policy", &[("problem", problem)])
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
            Misfit::Missing { name } => self.text("settings.missing", &[line, ("name", own(name))]),
            Misfit::Syntax => self.text("settings.syntax", &[line]),
        }
    }
}
