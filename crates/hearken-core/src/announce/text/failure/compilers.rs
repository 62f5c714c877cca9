//! Compilers and type checkers: rustc, gcc, clang, javac, tsc, dotnet, mypy, go, Elixir; and linkers.

use super::{FailedNames, Failure, FailureUnit, numbers};

/// How many lines after an error are searched for its place.
const NEAR: usize = 8;

/// Finds the errors.
pub(super) fn errors(lines: &[&str]) -> Option<Failure> {
    let mut names = FailedNames::default();
    let (mut listed, mut told) = (0, None);
    for (at, line) in lines.iter().enumerate() {
        let near = lines.get(at + 1..(at + 1 + NEAR).min(lines.len()));
        if let Some(name) = one(line, near.unwrap_or_default()) {
            listed += 1;
            names.add(&name);
        } else if line.contains(" due to ") && line.contains(" previous error") {
            told = Some(numbers::before(line, &["previous"]).unwrap_or(1));
        } else if is_count(line) {
            told = numbers::before(line, &["error", "errors"]).or(told);
        }
    }
    if names.count == 0 {
        return None;
    }
    let failed = told.unwrap_or(0).max(listed.min(names.count));
    Failure::found(FailureUnit::Errors, failed, None, names)
}

/// Returns the message of an error with its place, if a line reports one.
fn one(line: &str, near: &[&str]) -> Option<String> {
    let text = line.trim();
    if let Some(rest) = text.strip_prefix("error") {
        return pointed(rest, near);
    }
    if text.contains("undefined reference to ") || text.contains("undefined symbol: ") {
        let at = text.find("undefined ")?;
        return Some(text[at..].to_owned());
    }
    parenthesised(text).or_else(|| with_colons(text))
}

/// Reads an error with its place on a line below it, as rustc and Elixir write it.
fn pointed(rest: &str, near: &[&str]) -> Option<String> {
    let message = match rest.strip_prefix('[') {
        Some(code) => code.split_once("]: ")?.1,
        None => rest.strip_prefix(": ")?,
    };
    let mut below = near.iter().take_while(|line| !line.starts_with("error"));
    let place = below.find_map(|line| {
        let line = line.trim_start_matches([' ', '│']);
        line.strip_prefix("--> ")
            .or_else(|| line.strip_prefix("└─ "))
    })?;
    Some(placed(message, place.split_whitespace().next()?))
}

/// Reads "src/a.ts(3,5): error TS2322: message".
fn parenthesised(text: &str) -> Option<String> {
    let (place, message) = text.split_once("): error ")?;
    let (path, at) = place.split_once('(')?;
    let row = numbers::leading(at)?;
    let (_, message) = message.split_once(": ")?;
    // dotnet names the project after the message.
    let message = message.split_once(" [/").map_or(message, |(it, _)| it);
    Some(placed(message, &format!("{path}:{row}")))
}

/// Reads "main.c:3:5: error: message", "src/a.ts:3:5 - error TS2322: message" and Go's "./a.go:3:5: message".
fn with_colons(text: &str) -> Option<String> {
    let marks = [": error: ", ": fatal error: ", ": error[", " - error "];
    let (place, message) = marks
        .iter()
        .find_map(|mark| text.split_once(mark))
        .or_else(|| {
            let (file, rest) = text.split_once(".go:")?;
            let (at, message) = rest.split_once(": ")?;
            let place = text.get(..file.len() + ".go:".len() + at.len())?;
            Some((place, message))
        })?;
    let is_placed = place.contains(':') && !place.contains(' ');
    let message = match text.contains(" - error TS") {
        true => message.split_once(": ")?.1,
        false => message,
    };
    let is_row = |part: &str| numbers::number(part).is_some();
    (is_placed && place.rsplit(':').next().is_some_and(is_row)).then(|| placed(message, place))
}

/// Returns a message with its file and row.
fn placed(message: &str, place: &str) -> String {
    let message = message.trim_end_matches('.');
    let place = place.trim_end_matches(':');
    let mut parts = place.splitn(4, ':');
    let path = parts.next().unwrap_or_default();
    match parts.next().and_then(numbers::number) {
        Some(row) => format!("{message}, {path}:{row}"),
        None => format!("{message}, {place}"),
    }
}

/// Returns whether a line counts errors: "Found 3 errors in 2 files.", "2 errors generated.", "1 error", "due to 3
/// previous errors".
fn is_count(line: &str) -> bool {
    let text = line.trim();
    let begins = text.starts_with("Found ") || text.starts_with(|c: char| c.is_ascii_digit());
    let ends = [
        "error",
        "errors",
        "generated.",
        "generated",
        "file",
        "files",
    ];
    let last = text.trim_end_matches('.').rsplit(' ').next();
    begins
        && (text.ends_with("generated.") || last.is_some_and(|last| ends.contains(&last)))
        && text.split_whitespace().count() < 12
}
