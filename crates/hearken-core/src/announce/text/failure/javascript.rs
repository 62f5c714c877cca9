//! Jest, Vitest, Mocha, Playwright, Bun and node's own reporter; ESLint.

use super::output_line::untimed;
use super::{FailedNames, Failure, FailureUnit, numbers};

/// Finds the tests that failed.
pub(super) fn tests(lines: &[&str]) -> Option<Failure> {
    let found = jest(lines).or_else(|| vitest(lines));
    let found = found.or_else(|| node(lines)).or_else(|| mocha(lines));
    found.or_else(|| bun(lines)).or_else(|| playwright(lines))
}

fn jest(lines: &[&str]) -> Option<Failure> {
    let summary = |name: &str| {
        let mut of_it = lines
            .iter()
            .rev()
            .filter_map(|line| line.trim().strip_prefix(name));
        of_it.find(|rest| numbers::before(rest, &["total"]).is_some())
    };
    let of_tests = summary("Tests:")?;
    let mut failed = numbers::before(of_tests, &["failed"]).unwrap_or_default();
    let mut total = numbers::before(of_tests, &["total"]);
    if failed == 0 {
        // A file that could not be run at all has no tests.
        let of_files = summary("Test Suites:")?;
        failed = numbers::before(of_files, &["failed"])?;
        total = None;
    }
    let mut names = FailedNames::default();
    for line in lines {
        let name = line.trim_start().strip_prefix("● ");
        if let Some(name) = name.filter(|name| !name.starts_with("Console")) {
            names.add(&apart(name, " › "));
        }
    }
    Failure::found(FailureUnit::Tests, failed, total, names)
}

/// Returns a test's name with commas for the signs between its parts: nobody wants to hear "greater than" in a
/// name.
fn apart(name: &str, sign: &str) -> String {
    name.split(sign)
        .map(str::trim)
        .collect::<Vec<_>>()
        .join(", ")
}

fn vitest(lines: &[&str]) -> Option<Failure> {
    let summary = |name: &str| {
        let mut of_it = lines
            .iter()
            .rev()
            .filter_map(|line| line.trim().strip_prefix(name));
        of_it.find(|rest| numbers::before(rest, &["failed"]).is_some() && rest.contains('('))
    };
    let in_brackets = |rest: &str| numbers::leading(rest.rsplit_once('(')?.1);
    let (failed, total) = match (summary("Tests "), summary("Test Files ")) {
        (Some(rest), _) => (numbers::before(rest, &["failed"])?, in_brackets(rest)),
        (None, Some(rest)) => (numbers::before(rest, &["failed"])?, None),
        (None, None) => return None,
    };
    let mut names = FailedNames::default();
    for line in lines {
        if let Some(rest) = line.trim_start().strip_prefix("FAIL ") {
            let rest = rest.split_once(" [").map_or(rest, |(rest, _)| rest);
            let name = rest.split_once(" > ").map_or(rest, |(_, name)| name);
            names.add(&apart(name, " > "));
        }
    }
    Failure::found(FailureUnit::Tests, failed, total, names)
}

/// Reads the reporter of node's own test runner.
fn node(lines: &[&str]) -> Option<Failure> {
    let summary = |name: &str| {
        let mut of_it = lines
            .iter()
            .rev()
            .filter_map(|line| line.strip_prefix("ℹ "));
        of_it.find_map(|rest| numbers::number(rest.strip_prefix(name)?.trim()))
    };
    let failed = summary("fail ")?;
    let mut names = FailedNames::default();
    let list = lines
        .iter()
        .position(|line| line.trim() == "✖ failing tests:");
    for line in lines.iter().skip(list.map_or(0, |at| at + 1)) {
        if let Some(name) = line.trim_start().strip_prefix("✖ ") {
            names.add(untimed(name));
        }
    }
    Failure::found(FailureUnit::Tests, failed, summary("tests "), names)
}

fn mocha(lines: &[&str]) -> Option<Failure> {
    let at = lines.iter().rposition(|line| {
        let rest = numbers::unnumbered(line.trim(), " failing");
        rest.is_some_and(str::is_empty)
    })?;
    let failed = numbers::leading(lines[at].trim())?;
    let passed = |line: &&str| numbers::before(line, &["passing"]);
    let passed = lines[..at].iter().rev().find_map(passed);
    let mut names = FailedNames::default();
    let mut rest = lines.iter().skip(at + 1);
    while let Some(line) = rest.next() {
        let Some(title) = numbers::unnumbered(line.trim(), ") ") else {
            continue;
        };
        // The titles of a test and of the suites around it are on separate lines, up to a colon.
        let mut name = title.to_owned();
        for _ in 0..4 {
            if name.ends_with(':') {
                break;
            }
            let Some(next) = rest.next().filter(|next| !next.is_empty()) else {
                break;
            };
            name = format!("{name} {}", next.trim());
        }
        names.add(name.trim_end_matches(':'));
    }
    Failure::found(
        FailureUnit::Tests,
        failed,
        passed.map(|passed| passed + failed),
        names,
    )
}

fn bun(lines: &[&str]) -> Option<Failure> {
    let mut names = FailedNames::default();
    for line in lines {
        if let Some(name) = line.trim_start().strip_prefix("(fail) ") {
            names.add(&apart(untimed(name), " > "));
        }
    }
    if names.count == 0 {
        return None;
    }
    let alone = |word: &str| {
        let count = |line: &&str| numbers::number(line.trim().strip_suffix(word)?.trim());
        lines.iter().rev().find_map(count)
    };
    let failed = alone(" fail").unwrap_or_default();
    let total = alone(" pass").map(|passed| passed + failed.max(names.count));
    Failure::found(FailureUnit::Tests, failed, total, names)
}

fn playwright(lines: &[&str]) -> Option<Failure> {
    let at = lines.iter().rposition(|line| {
        let rest = numbers::unnumbered(line.trim(), " failed");
        rest.is_some_and(str::is_empty)
    })?;
    let failed = numbers::leading(lines[at].trim())?;
    let mut names = FailedNames::default();
    for line in lines.iter().skip(at + 1) {
        match line.rsplit_once(" › ") {
            Some((_, name)) => names.add(name.trim_end_matches([' ', '─'])),
            None => break,
        }
    }
    let passed = |line: &&str| numbers::before(line, &["passed"]);
    let passed = lines[at..].iter().find_map(passed);
    let total = passed.map(|passed| passed + failed);
    (names.count > 0).then(|| Failure::found(FailureUnit::Tests, failed, total, names))?
}

/// Finds the errors that ESLint reports.
pub(super) fn lint(lines: &[&str]) -> Option<Failure> {
    let is_summary = |line: &&&str| line.starts_with("✖ ") && line.contains(" problem");
    let summary = lines.iter().rev().find(is_summary)?;
    let failed = numbers::before(summary, &["error", "errors"])?;
    let mut names = FailedNames::default();
    for line in lines {
        let mut parts = line
            .split("  ")
            .map(str::trim)
            .filter(|part| !part.is_empty());
        let place = parts.next().unwrap_or_default();
        let is_place = place.split_once(':').is_some_and(|(line, column)| {
            numbers::number(line).is_some() && numbers::number(column).is_some()
        });
        if is_place && parts.next() == Some("error") {
            names.add(parts.next().unwrap_or_default());
        }
    }
    Failure::found(FailureUnit::Errors, failed, None, names)
}
