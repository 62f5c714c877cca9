//! The person's words for what is not an announcement: reports, and errors before the first announcement.
//!
//! Responsibilities: finding the person's language before the settings are known to be valid. Not here: the words
//! (`announce`), the reports (`inspect`).

use std::path::Path;

use crate::announce::{Arg, Phrases};
use crate::config::{Config, ConfigError};

use super::agent_commands::AgentFault;
use super::request_failure::reason_of;

/// Returns the phrases in the languages of the person's settings. A person who has to fix the settings must be
/// able to read what is wrong with them: from an invalid file, the languages are still used if they can be read.
///
/// # Errors
/// Never for the built-in files; a test verifies that.
pub fn phrases(named: Option<&Path>) -> anyhow::Result<Phrases> {
    phrases_for(named, &[])
}

/// Returns the phrases in the languages that a call names, else in those of the settings.
///
/// # Errors
/// Never for the built-in files; a test verifies that.
pub fn phrases_for(named: Option<&Path>, languages: &[String]) -> anyhow::Result<Phrases> {
    if !languages.is_empty() {
        return Ok(Phrases::for_languages(languages)?);
    }
    let wanted = match super::settings_file::load(named) {
        Ok(config) => config.announce.languages,
        Err(_) => match super::settings_file::text(named) {
            Ok(Some((_, text))) => languages_in(&text),
            Ok(None) | Err(_) => Config::default().announce.languages,
        },
    };
    Ok(Phrases::for_languages(&wanted)?)
}

/// Returns the languages named in settings that can't be used.
fn languages_in(text: &str) -> Vec<String> {
    let line = text
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("languages"))
        .unwrap_or_default();
    let wanted: Vec<String> = line
        .split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect();
    if wanted.is_empty() {
        Config::default().announce.languages
    } else {
        wanted
    }
}

/// Returns an error as one line, with its causes, in the person's language.
pub fn fault(error: &anyhow::Error, words: &Phrases) -> String {
    if let Some(settings) = error.downcast_ref::<ConfigError>() {
        // The surrounding text is the file name.
        return format!("{error}: {}", words.settings_fault(settings));
    }
    if let Some(agent) = error.downcast_ref::<AgentFault>() {
        return agent_fault(agent, words);
    }
    words.because(&reason_of(error))
}

/// Words why no agent can be started.
fn agent_fault(fault: &AgentFault, words: &Phrases) -> String {
    let own = |text: &String| Arg::Own(text.clone());
    match fault {
        AgentFault::Nothing => words.text("run.nothing", &[]),
        AgentFault::OverHttp(name) => words.text("run.over_http", &[("name", own(name))]),
        AgentFault::Unknown {
            name,
            close: Some(close),
        } => words.text(
            "run.unknown.close",
            &[("name", own(name)), ("close", own(close))],
        ),
        AgentFault::Unknown { name, close: None } => {
            words.text("run.unknown", &[("name", own(name))])
        }
        AgentFault::NotInstalled {
            title,
            program,
            install,
        } => {
            let args = [
                ("title", own(title)),
                ("program", own(program)),
                ("install", own(install)),
            ];
            words.text("run.not_installed", &args)
        }
        AgentFault::NoProgram(name) => words.text("run.no_program", &[("name", own(name))]),
        AgentFault::NoFolder(name) => words.text("run.no_folder", &[("name", own(name))]),
        AgentFault::NotAFolder(name) => words.text("run.not_a_folder", &[("name", own(name))]),
        AgentFault::LongPrompt { file, most } => {
            let args = [("file", own(file)), ("most", Arg::own(most))];
            words.text("run.prompt.long", &args)
        }
        AgentFault::NoRemoteFolder => words.text("run.no_remote_folder", &[]),
        AgentFault::OnlyPrograms => words.text("run.only_programs", &[]),
        AgentFault::EmptyPrompt => words.text("run.prompt.empty", &[]),
    }
}
