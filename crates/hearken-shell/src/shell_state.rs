//! The state of a shell at one step of a command: its folder, its variables and functions, and the data in a pipe.

use std::collections::HashMap;

use crate::command_report::Collector;
use crate::syntax::CommandStep;
use crate::word::{Value, is_pattern};

/// The most values of a variable, or folders, that are tracked.
pub(crate) const MOST_VALUES: usize = 16;

/// The input or output of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PipeData {
    /// Nothing from this command line.
    Nothing,
    /// This text.
    Text(String),
    /// Data that the command line does not show.
    Data,
    /// Downloaded data.
    Downloaded,
    /// Decoded data.
    Decoded,
}

/// The state of a shell at one step of a command.
#[derive(Debug, Clone)]
pub(crate) struct ShellState {
    /// The folders that it may be in; empty if not known.
    pub(crate) folders: Vec<String>,
    /// The possible values of each variable; absent if not known.
    pub(crate) variables: HashMap<String, Vec<Value>>,
    pub(crate) functions: HashMap<String, Vec<CommandStep>>,
    /// The files that were downloaded.
    pub(crate) downloaded: Vec<String>,
    /// The written files, with their text if the command shows it.
    pub(crate) written: HashMap<String, Option<String>>,
}

impl ShellState {
    pub(crate) fn begin(collector: &Collector) -> Self {
        let known = |text: &str| vec![Value::certain(text)];
        Self {
            folders: vec![collector.start().to_owned()],
            variables: HashMap::from([
                ("HOME".to_owned(), known("~")),
                ("PWD".to_owned(), known(".")),
            ]),
            functions: HashMap::new(),
            downloaded: Vec::new(),
            written: HashMap::new(),
        }
    }

    pub(crate) fn join(&mut self, other: &Self) {
        let unknown = self.folders.is_empty() || other.folders.is_empty();
        for folder in &other.folders {
            if !self.folders.contains(folder) {
                self.folders.push(folder.clone());
            }
        }
        if unknown || self.folders.len() > MOST_VALUES {
            self.folders.clear();
        }
        self.variables
            .retain(|name, values| other.variables.get(name) == Some(values));
        for (name, body) in &other.functions {
            self.functions
                .entry(name.clone())
                .or_insert_with(|| body.clone());
        }
        self.downloaded.extend(other.downloaded.iter().cloned());
        for (file, text) in &other.written {
            let same = self.written.get(file).is_none_or(|it| it == text);
            self.written
                .insert(file.clone(), text.clone().filter(|_| same));
        }
    }
}

impl ShellState {
    /// Records text that was written to a file.
    pub(crate) fn note_written(&mut self, file: &str, content: &PipeData, appends: bool) {
        let file = file.strip_prefix("./").unwrap_or(file).to_owned();
        if *content == PipeData::Downloaded {
            self.downloaded.push(file.clone());
        }
        let text = match content {
            PipeData::Text(text) if !appends => Some(text.clone()),
            _ => None,
        };
        self.written.insert(file, text);
    }

    /// Sets the arguments of a function, or of the shell itself.
    pub(crate) fn set_arguments(&mut self, words: &[Value]) {
        for (at, value) in words.iter().enumerate() {
            self.variables
                .insert((at + 1).to_string(), vec![value.clone()]);
        }
        self.variables.insert("@".to_owned(), words.to_vec());
        self.variables.insert("*".to_owned(), words.to_vec());
    }

    /// Records that a variable gets an unknown value, and returns whether the variable is the command's own.
    pub(crate) fn forget(&mut self, name: &str) -> bool {
        self.variables.remove(name);
        is_own(name)
    }

    pub(crate) fn variable(&self, name: &str, quoted: bool) -> Vec<Value> {
        let shown = format!("${name}");
        let unknown = || Value {
            may_split: !quoted || name == "@",
            ..Value::uncertain(&shown)
        };
        let Some(values) = self.variables.get(name) else {
            return vec![unknown()];
        };
        // Any of several values is possible, and an empty one is not a word at all.
        let is_list = name == "@";
        let is_gone = !quoted && values.iter().any(|value| value.text.is_empty());
        if is_gone || name == "*" || (values.len() > 1 && !is_list) {
            return vec![unknown()];
        }
        // An unquoted value is split at blanks, and its patterns match files.
        let splits = |value: &Value| !quoted && value.text.contains(char::is_whitespace);
        let value = |value: &Value| match splits(value) {
            true => unknown(),
            false => Value {
                is_pattern: value.is_pattern || (!quoted && is_pattern(&value.text)),
                ..value.clone()
            },
        };
        values.iter().map(value).collect()
    }
}

/// Returns whether a variable is the command's own: its name is in lower case, and no program reads it.
pub(crate) fn is_own(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    // In zsh, these arrays mirror PATH and similar variables.
    let is_list = matches!(
        name,
        "path" | "fpath" | "cdpath" | "manpath" | "mailpath" | "module_path"
    );
    begins
        && !is_list
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit())
        && !name.ends_with("_proxy")
}
