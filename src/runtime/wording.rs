//! The person's words for what is no announcement: reports, and errors before anything is announced.
//!
//! Responsibilities: finding the person's language before the settings are known to be good; wording what
//! `inspect` found. Not here: the words (`announce`), the reports (`inspect`).

use std::path::Path;

use crate::announce::{Arg, Phrases, danger_args, danger_key};
use crate::config::Config;
use crate::inspect::Wording;
use crate::protocol::Problem;
use crate::session::{AnomalyKind, Danger};

/// Gives the phrases that the person's settings ask for, and without settings that can be used the ones of the
/// person's environment: whoever has to mend the settings must be able to read what is wrong with them.
///
/// # Errors
/// Never for the files that are built in; a test holds that.
pub fn phrases(named: Option<&Path>, languages: &[String]) -> anyhow::Result<Phrases> {
    let wanted = if languages.is_empty() {
        let config = super::settings::load(named).unwrap_or_else(|_| Config::default());
        config.announce.languages
    } else {
        languages.to_vec()
    };
    Ok(Phrases::for_languages(&wanted)?)
}

impl Wording for Phrases {
    fn text(&self, key: &str, args: &[(&str, String)]) -> String {
        let args: Vec<(&str, Arg)> = args
            .iter()
            .map(|(place, text)| (*place, Arg::Own(text.clone())))
            .collect();
        Phrases::text(self, key, &args)
    }

    fn problem(&self, field: &str, problem: &Problem) -> String {
        Phrases::problem(self, field, problem)
    }

    fn departure(&self, kind: AnomalyKind, detail: &str) -> String {
        Phrases::departure(self, kind, detail.to_owned())
    }

    fn danger(&self, danger: &Danger, tool: &str) -> String {
        let args = danger_args(danger, Arg::Own(tool.to_owned()), String::new());
        Phrases::text(self, danger_key(danger), &args)
    }
}
