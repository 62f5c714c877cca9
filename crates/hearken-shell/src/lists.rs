//! The lists of `assets/programs.toml`: files, variables, settings, and the signs of other languages.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::program::{TableError, tables};

const FILE: &str = include_str!("../../../assets/programs.toml");

/// The lists of words beside the programs (`["@files"]` and the like).
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Files {
    /// Folders and files that other programs run by themselves.
    pub(crate) run: Vec<String>,
    /// Files that builds and tests run.
    pub(crate) build: Vec<String>,
    /// Files that hold secrets.
    pub(crate) secrets: Vec<String>,
    /// Files whose names look like secrets and are none.
    pub(crate) not_secrets: Vec<String>,
    /// Devices that neither keep nor lose anything.
    pub(crate) harmless: Vec<String>,
    /// Folders in which a system keeps its programs.
    pub(crate) programs: Vec<String>,
    /// Folders of a system, in which no project stands.
    pub(crate) system: Vec<String>,
}

/// Which code of a language does what.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Language {
    /// What the language is called.
    pub(crate) name: String,
    /// By each act, the words that show it.
    pub(crate) shows: BTreeMap<String, Vec<String>>,
}

/// Everything of the file that is no program.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    pub(crate) files: Files,
    pub(crate) variables: Variables,
    pub(crate) settings: Settings,
    pub(crate) languages: HashMap<String, Language>,
    pub(crate) flows: Flows,
}

/// What programs of a pipe do with the text that goes through it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Flows {
    /// They write their own words.
    pub(crate) prints: Vec<String>,
    /// They write what they read.
    pub(crate) passes: Vec<String>,
    /// They read commands of their own from their input.
    pub(crate) commands: Vec<String>,
    /// They write what was encoded in what they read.
    pub(crate) decodes: Vec<String>,
    /// They give what they read to another command, as its words.
    pub(crate) hands_on: Vec<String>,
    /// They read the names of files, and then those files.
    pub(crate) names: Vec<String>,
    /// They send what they read to another machine.
    pub(crate) sends: Vec<String>,
    /// They give what they find to a command, even where no `{}` says so.
    pub(crate) finds: Vec<String>,
}

/// Variables, by what programs take them for. An entry may end in `*`.
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

/// Settings that are given as `name=value`, by what programs take them for. An entry may hold `*`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// They change nothing that matters.
    pub(crate) harmless: Vec<String>,
    /// Their value is run as a command.
    pub(crate) commands: Vec<String>,
}

static LISTS: LazyLock<Lists> = LazyLock::new(|| {
    // A list that can't be read is empty, so that nothing is cleared by it; the tests read every list.
    read_lists().unwrap_or_default()
});

fn read_lists() -> Result<Lists, TableError> {
    let mut lists = Lists::default();
    let fault = |name: &str, error: toml::de::Error| {
        TableError::Row(name.to_owned(), error.message().to_owned())
    };
    for (name, text) in tables(FILE) {
        // The lines behind the table's head.
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
