//! The telling lines of an output of unknown format.

use super::{FailedNames, MOST_NAMES, exit_code};

/// How many lines are looked at, from the end.
const MOST_LINES: usize = 40;
/// The words that mark a line about an error, in lower case.
const SIGNS: [&str; 20] = [
    "error",
    "fail",
    "fatal",
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "denied",
    "not found",
    "no such",
    "unable",
    "panic",
    "exception",
    "undefined",
    "abort",
    "killed",
    "segmentation",
    "timed out",
    "refused",
    "invalid",
];
/// The beginnings of npm's own lines, which repeat that a command failed.
const NPM: [&str; 2] = ["npm ERR!", "npm error"];
/// The beginnings of lines that say nothing about the cause.
const EMPTY: [&str; 14] = [
    "at ",
    "Node.js v",
    "A complete log of this run",
    "Lifecycle script",
    "code ",
    "errno ",
    "path ",
    "command ",
    "workspace ",
    "in workspace",
    "location ",
    "make: ***",
    "make[",
    "note: run with `RUST_BACKTRACE",
];

/// Returns the last line that looks like an error, and the last line; the two may be the same.
pub(super) fn telling(lines: &[&str]) -> Vec<String> {
    let some = |line: &&&str| line.chars().any(char::is_alphanumeric) && !exit_code::is_one(line);
    let mut last: Vec<&str> = Vec::new();
    for line in lines.iter().rev().take(MOST_LINES).filter(some) {
        let text = line.trim();
        let npm = NPM.iter().find_map(|mark| text.strip_prefix(mark));
        let text = npm.unwrap_or(text).trim();
        if !EMPTY.iter().any(|empty| text.starts_with(empty)) && !text.is_empty() {
            last.push(text);
        }
    }
    if last.is_empty() {
        // If nothing tells the cause, the last line that has words is used.
        last.extend(lines.iter().rev().find(some).map(|line| line.trim()));
    }
    let looks_so = |line: &&&str| {
        let small = line.to_ascii_lowercase();
        SIGNS.iter().any(|sign| small.contains(sign))
    };
    let mut names = FailedNames::default();
    if let Some(error) = last.iter().find(looks_so) {
        names.add(error);
    }
    if let Some(end) = last.first() {
        names.add(end);
    }
    names.first.truncate(MOST_NAMES);
    names.first
}
