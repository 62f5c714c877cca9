//! The lists of `assets/programs.toml`: files, variables, settings, pipes, and words that show an act in other
//! languages.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::program_table::{TableError, tables};

const FILE: &str = include_str!("../../../assets/programs.toml");

/// Files and folders by their use (`["@files"]`).
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Files {
    /// Files and folders that other programs run automatically.
    pub(crate) run: Vec<String>,
    /// Files that builds and tests run.
    pub(crate) build: Vec<String>,
    /// Files that hold secrets.
    pub(crate) secrets: Vec<String>,
    /// Files whose names look like those of secrets or settings, but hold neither.
    pub(crate) not_secrets: Vec<String>,
    /// Devices that store nothing.
    pub(crate) harmless: Vec<String>,
    /// Folders with the system's programs.
    pub(crate) programs: Vec<String>,
    /// Folders of the system, which contain no project.
    pub(crate) system: Vec<String>,
}

/// Words in code of a language that show that it does more than compute.
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

/// Programs by their use of the data in a pipe.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Flows {
    /// They write their own arguments.
    pub(crate) prints: Vec<String>,
    /// They write their input unchanged.
    pub(crate) passes: Vec<String>,
    /// They read their own commands from their input.
    pub(crate) commands: Vec<String>,
    /// They decode their input.
    pub(crate) decodes: Vec<String>,
    /// They pass their input to another command, as its arguments.
    pub(crate) hands_on: Vec<String>,
    /// They read names of files from their input, and then those files.
    pub(crate) names: Vec<String>,
    /// They send their input to another machine.
    pub(crate) sends: Vec<String>,
    /// They pass the paths that they find to a command, even without `{}`.
    pub(crate) finds: Vec<String>,
    /// They change something, and are recognised among the words of a program that starts others.
    pub(crate) changes: Vec<String>,
    /// They run text, and are recognised in the same way.
    pub(crate) runs: Vec<String>,
}

/// Variables by their effect on programs. `*` in an entry stands for any characters.
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

/// Settings in the form `name=value`, by their effect on programs. `*` in an entry stands for any characters.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettingPatterns {
    /// They change nothing that matters.
    pub(crate) harmless: Vec<String>,
    /// Their value is run as a command.
    pub(crate) commands: Vec<String>,
}

static LISTS: LazyLock<Lists> = LazyLock::new(|| {
    // The tests read this file, so it is readable.
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
