//! What failed, found in the output of a failed call.
//!
//! Responsibilities: the usual formats of test runners and compilers, one file per family, and the last lines
//! of any other output. Not here: the words for a failure (`announcer`), reading out the whole output
//! (`reading`).
//!
//! # Mental model
//! A run reports hundreds of lines, and its listener needs one sentence: how many failed, and which. The parser
//! of each family looks for the lines that report it; the first to find something is believed. An output of
//! unknown format is represented by its last line that looks like an error, and by its last line.
//!
//! All input is hostile: each line is shortened before it is examined, and is scanned a fixed number of times.

mod colon_counts;
mod compilers;
mod exit_code;
mod go;
mod javascript;
mod last_line;
mod numbered_failures;
mod numbers;
mod output_line;
mod python;
mod rust;
mod tap;
mod telling_lines;

pub use exit_code::is_one as is_exit_code;
pub use last_line::last_line;

#[cfg(test)]
mod tests;

/// The most names of failures that are kept.
const MOST_NAMES: usize = 8;
/// The longest name, in characters.
const LONGEST_NAME: usize = 240;
/// How many lines are looked at from the beginning of an output, and how many from its end.
const MOST_FIRST: usize = 2000;
const MOST_LAST: usize = 6000;

/// What failed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Failure {
    /// What its numbers count.
    pub counted: FailureUnit,
    /// How many failed, if the output reports or lists it.
    pub failed: Option<u64>,
    /// How many there are, if the output reports it.
    pub total: Option<u64>,
    /// The first failures, each on one line; for an output of unknown format, its last telling lines.
    pub names: Vec<String>,
    /// The code with which the program ended, if the output reports it.
    pub exit_code: Option<i64>,
    /// Whether the output has a known format.
    pub has_known_format: bool,
}

/// What the counts of a failure refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FailureUnit {
    /// Tests.
    #[default]
    Tests,
    /// Errors, as of a compiler.
    Errors,
}

impl Failure {
    /// Finds out what failed from the lines of an output.
    pub fn of<'a>(lines: impl ExactSizeIterator<Item = &'a str>) -> Self {
        let left_out = lines.len().saturating_sub(MOST_FIRST + MOST_LAST);
        let looked_at = |at: &usize| *at < MOST_FIRST || *at >= MOST_FIRST + left_out;
        let clean: Vec<String> = lines
            .enumerate()
            .filter(|(at, _)| looked_at(at))
            .map(|(_, line)| output_line::clean(line))
            .collect();
        let lines: Vec<&str> = clean.iter().map(String::as_str).collect();
        let exit_code = exit_code::of(&lines);
        let families = [
            rust::tests,
            python::tests,
            javascript::tests,
            tap::tests,
            go::tests,
            numbered_failures::tests,
            colon_counts::tests,
            compilers::errors,
            javascript::lint,
            python::traceback,
            rust::panic,
            go::panic,
        ];
        let found = families.iter().find_map(|family| family(&lines));
        let found = found.unwrap_or_else(|| Self {
            names: telling_lines::telling(&lines),
            ..Self::default()
        });
        Self { exit_code, ..found }
    }

    /// Returns a failure of a known format; `None` if nothing failed.
    fn found(
        counted: FailureUnit,
        failed: u64,
        total: Option<u64>,
        names: FailedNames,
    ) -> Option<Self> {
        let failed = failed.max(names.count);
        if failed == 0 {
            return None;
        }
        Some(Self {
            counted,
            failed: Some(failed),
            total: total.filter(|total| *total >= failed),
            names: names.first,
            exit_code: None,
            has_known_format: true,
        })
    }

    /// Returns a failure with only a message; `None` if that is empty.
    fn from_message(message: &str) -> Option<Self> {
        let mut names = FailedNames::default();
        names.add(message);
        (names.count > 0).then(|| Self {
            names: names.first,
            has_known_format: true,
            ..Self::default()
        })
    }
}

/// The names of what failed: the first few, and how many there were.
#[derive(Debug, Default)]
struct FailedNames {
    first: Vec<String>,
    count: u64,
}

impl FailedNames {
    /// Adds a name, unless it is empty or among the kept ones.
    fn add(&mut self, name: &str) {
        let name = name.trim();
        if name.is_empty() || self.first.iter().any(|known| known == name) {
            return;
        }
        self.count += 1;
        if self.first.len() < MOST_NAMES {
            self.first.push(name.chars().take(LONGEST_NAME).collect());
        }
    }

    /// Removes the last name if it is this one.
    fn drop_last(&mut self, name: &str) {
        if self.first.last().is_some_and(|last| last == name) {
            self.first.pop();
            self.count -= 1;
        }
    }
}
