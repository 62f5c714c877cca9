//! Runners that number their failures and count in one sentence: ExUnit, RSpec, Minitest.

use super::{FailedNames, Failure, FailureUnit, numbers};

/// The words for what such a summary counts.
const RUN: [&str; 8] = [
    "test", "tests", "example", "examples", "run", "runs", "spec", "specs",
];

/// Finds the tests that failed.
pub(super) fn tests(lines: &[&str]) -> Option<Failure> {
    let (total, failed) = lines.iter().rev().find_map(|line| summary(line))?;
    let mut names = FailedNames::default();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = numbers::unnumbered(line.trim(), ") ") else {
            continue;
        };
        // Minitest names the test on the next line, with its place.
        let is_kind = matches!(name.trim(), "Failure:" | "Error:");
        let name = match lines.get(at + 1).filter(|_| is_kind) {
            Some(next) => next.split_once(" [").map_or(*next, |(name, _)| name),
            None => name.rsplit_once(" (").map_or(name, |(name, _)| name),
        };
        names.add(name.trim_end_matches(':'));
    }
    Failure::found(FailureUnit::Tests, failed, Some(total), names)
}

/// Reads "80 tests, 2 failures" and the like.
fn summary(line: &str) -> Option<(u64, u64)> {
    let line = line.trim();
    if !line.starts_with(|c: char| c.is_ascii_digit()) || !line.contains(", ") {
        return None;
    }
    let failures = numbers::before(line, &["failure", "failures"])?;
    let errors = numbers::before(line, &["errors", "error"]).unwrap_or_default();
    let doctests = numbers::before(line, &["doctest", "doctests"]).unwrap_or_default();
    Some((numbers::before(line, &RUN)? + doctests, failures + errors))
}
