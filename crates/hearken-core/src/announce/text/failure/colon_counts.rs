//! Runners that write counts after a name and a colon, or in their own form: Maven, Gradle, PHPUnit, dotnet,
//! CTest.

use super::output_line::untimed;
use super::{FailedNames, Failure, FailureUnit, numbers};

/// Finds the tests that failed.
pub(super) fn tests(lines: &[&str]) -> Option<Failure> {
    let (total, failed) = lines.iter().rev().find_map(|line| summary(line))?;
    let mut names = FailedNames::default();
    let mut in_list = false;
    for line in lines {
        let text = line.trim();
        in_list = text == "The following tests FAILED:" || (in_list && !text.is_empty());
        if let Some(rest) = text.strip_prefix("[ERROR] ")
            && let Some((name, _)) = rest
                .split_once(" Time elapsed")
                .filter(|_| rest.contains("<<<"))
        {
            // The line of a whole class contains counts.
            if numbers::after(name, "Tests run").is_none() {
                names.add(name.trim_end_matches(['-', ' ']));
            }
        } else if let Some((_, name)) = text
            .strip_suffix(" FAILED")
            .and_then(|it| it.split_once(" > "))
        {
            names.add(name);
        } else if let Some(name) = text
            .strip_prefix("Failed ")
            .filter(|name| name.ends_with("s]"))
        {
            names.add(untimed(name));
        } else if let Some(name) = numbers::unnumbered(text, ") ").filter(|it| it.contains("::")) {
            names.add(name);
        } else if in_list && let Some(rest) = numbers::unnumbered(text, " - ") {
            names.add(rest.split_once(" (").map_or(rest, |(name, _)| name));
        }
    }
    Failure::found(FailureUnit::Tests, failed, Some(total), names)
}

/// Returns how many tests a summary counts, and how many of them failed.
fn summary(line: &str) -> Option<(u64, u64)> {
    let of = |name| numbers::after(line, name);
    let failures = || of("Failures").unwrap_or_default() + of("Errors").unwrap_or_default();
    let found = if let Some(total) = of("Tests run") {
        (total, failures())
    } else if let (Some(total), Some(_)) = (of("Tests"), of("Assertions")) {
        (total, failures())
    } else if let (Some(total), Some(failed), Some(_)) = (of("Total"), of("Failed"), of("Passed")) {
        (total, failed)
    } else if let Some((_, total)) = line.split_once(" failed out of ") {
        (
            numbers::leading(total)?,
            numbers::before(line, &["tests", "test"])?,
        )
    } else if line.contains(" completed, ") {
        (
            numbers::before(line, &["tests", "test"])?,
            numbers::before(line, &["failed"])?,
        )
    } else {
        return None;
    };
    (found.1 > 0).then_some(found)
}
