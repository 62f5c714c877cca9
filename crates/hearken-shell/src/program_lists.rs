//! The lists of `assets/programs.toml`: files, variables, settings, pipes, and what shows an act in other languages.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::program_table::{TableError, tables};

const FILE: &str = include_str!("../../../assets/programs.toml");

/// Files and folders, by what other programs do with them (`["@files"]`).
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Files {
    /// Files and folders that other programs run by themselves.
    pub(crate) run: Vec<String>,
    /// Files that builds and tests run.
    pub(crate) build: Vec<String>,
    /// Files that hold secrets.
    pub(crate) secrets: Vec<String>,
    /// Files whose names look like those of secrets or settings, but hold neither.
    pub(crate) not_secrets: Vec<String>,
    /// Devices that store nothing.
    pub(crate) harmless: Vec<String>,
    /// Folders of a system that hold its programs.
    pub(crate) programs: Vec<String>,
    /// Folders of a system, which contain no project.
    pub(crate) system: Vec<String>,
}

/// What shows in code of a language that it does more than compute.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CodeLanguage {
    /// The name of the language.
    pub(crate) name: String,
    /// The words that show each act.
    pub(crate) shows: BTreeMap<String, Vec<String>>,
}

/// All lists of the file.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    pub(crate) files: Files,
    pub(crate) variables: Variables,
    pub(crate) settings: SettingPatterns,
    pub(crate) languages: HashMap<String, CodeLanguage>,
    pub(crate) flows: Flows,
}

/// Programs, by what they do with the data in a pipe.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Flows {
    /// They write their own arguments.
    pub(crate) prints: Vec<String>,
    /// They write what they read.
    pub(crate) passes: Vec<String>,
    /// They read commands of their own from their input.
    pub(crate) commands: Vec<String>,
    /// They decode what they read.
    pub(crate) decodes: Vec<String>,
    /// They pass what they read to another command, as its arguments.
    pub(crate) hands_on: Vec<String>,
    /// They read names of files, and then those files.
    pub(crate) names: Vec<String>,
    /// They send what they read to another machine.
    pub(crate) sends: Vec<String>,
    /// They pass what they find to a command, even without `{}`.
    pub(crate) finds: Vec<String>,
    /// They change something, and are recognised among the words of a program that starts others.
    pub(crate) changes: Vec<String>,
    /// They run text, and are recognised in the same way.
    pub(crate) runs: Vec<String>,
}

/// Variables, by what programs do with them. `*` in an entry stands for any characters.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Variables {
    /// They change nothing that matters.
    pub(crate) harmless: Vec<String>,
    /// Their value is run as a command.
    pub(crate) commands: Vec<String>,
    /// Their value names code that is loaded into programs.
    pub(crate) code: Vec<String>,
}

/// Settings in the form `name=value`, by what programs do with them. `*` in an entry stands for any characters.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettingPatterns {
    /// They change nothing that matters.
    pub(crate) harmless: Vec<String>,
    /// Their value is run as a command.
    pub(crate) commands: Vec<String>,
}

static LISTS: LazyLock<Lists> = LazyLock::new(|| {
    // The tests read this file, so it can be read here.
    read_lists().unwrap_or_default()
});

fn read_lists() -> Result<Lists, TableError> {
    let mut lists = Lists::default();
    let fault = |name: &str, error: toml::de::Error| {
        TableError::Row(name.to_owned(), error.message().to_owned())
    };
    for (name, text) in tables(FILE) {
        // The lines after the table's header.
        let text = text.split_once('\n').map_or("", |(_, rest)| rest);
        match name.split_once(' ') {
            None if name == "@files" => {
                lists.files = toml::from_str(text).map_err(|error| fault(name, error))?;
            }
            None if name == "@variables" => {
                lists.variables = toml::from_str(text).map_err(|error| fault(name, error))?;
            }
            None if name == "@settings" => {
                lists.settings = toml::from_str(text).map_err(|error| fault(name, error))?;
            }
            None if name == "@flows" => {
                lists.flows = toml::from_str(text).map_err(|error| fault(name, error))?;
            }
            Some(("@language", programs)) => {
                for program in programs.split_whitespace() {
                    let read = toml::from_str(text).map_err(|error| fault(name, error))?;
                    lists.languages.insert(program.to_owned(), read);
                }
            }
            _ => return Err(TableError::Name(name.to_owned(), name.to_owned())),
        }
    }
    Ok(lists)
}

/// Returns the lists of the file.
pub(crate) fn lists() -> &'static Lists {
    &LISTS
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::act::Act;

    #[test]
    fn every_list_can_be_read_and_names_acts() {
        let lists = read_lists().unwrap();
        assert!(!lists.variables.harmless.is_empty());
        for language in lists.languages.values() {
            for act in language.shows.keys() {
                assert!(Act::named(act).is_some(), "{act}");
            }
        }
    }
}
