//! pytest, unittest, and programs in Python that end with an exception.

use super::{FailedNames, Failure, FailureUnit, numbers};

/// Finds the tests that failed.
pub(super) fn tests(lines: &[&str]) -> Option<Failure> {
    pytest(lines).or_else(|| unittest(lines))
}

fn pytest(lines: &[&str]) -> Option<Failure> {
    let summary = lines.iter().rev().find(|line| is_summary(line))?;
    let count = |words: &[&str]| numbers::before(summary, words).unwrap_or_default();
    let failed = count(&["failed"]) + count(&["error", "errors"]);
    let rest = count(&["passed"]) + count(&["skipped"]) + count(&["xfailed"]) + count(&["xpassed"]);
    let mut names = FailedNames::default();
    for line in lines {
        let rest = ["FAILED ", "ERROR "]
            .iter()
            .find_map(|it| line.strip_prefix(it));
        let name = rest.map(|rest| rest.split_once(" - ").map_or(rest, |(name, _)| name));
        if let Some(name) = name.filter(|name| name.contains(".py")) {
            names.add(name.split_once("::").map_or(name, |(_, test)| test));
        }
    }
    Failure::found(FailureUnit::Tests, failed, Some(failed + rest), names)
}

/// Returns whether a line ends a run: "=== 2 failed, 78 passed in 0.12s ===".
fn is_summary(line: &str) -> bool {
    let text = line.trim_matches(['=', ' ']);
    let took = text.rsplit_once(" in ").map_or("", |(_, took)| took);
    let seconds = took.split(' ').next().and_then(|it| it.strip_suffix('s'));
    let ends = seconds.is_some_and(|it| it.bytes().all(|b| b.is_ascii_digit() || b == b'.'));
    ends && numbers::before(text, &["failed", "error", "errors"]).is_some()
}

fn unittest(lines: &[&str]) -> Option<Failure> {
    let ran = |line: &&str| line.starts_with("Ran ") && line.contains(" test");
    let ran = lines.iter().rev().find(|line| ran(line))?;
    let total = numbers::before(ran, &["test", "tests"])?;
    let verdict = lines
        .iter()
        .rev()
        .find(|line| line.starts_with("FAILED ("))?;
    let count = |name| numbers::after(verdict, name).unwrap_or_default();
    let failed = count("failures") + count("errors");
    let mut names = FailedNames::default();
    let mut after_rule = false;
    for line in lines {
        let rest = ["FAIL: ", "ERROR: "]
            .iter()
            .find_map(|it| line.strip_prefix(it));
        if let Some(rest) = rest.filter(|_| after_rule) {
            names.add(rest.split_once(" (").map_or(rest, |(name, _)| name));
        }
        after_rule = line.len() > 8 && line.bytes().all(|b| b == b'=');
    }
    Failure::found(FailureUnit::Tests, failed, Some(total), names)
}

/// Finds the exception with which a program ended: the first line after its traceback that is not indented.
pub(super) fn traceback(lines: &[&str]) -> Option<Failure> {
    let at = lines
        .iter()
        .rposition(|line| line.trim() == "Traceback (most recent call last):")?;
    let mut after = lines.iter().skip(at + 1);
    let last = after.find(|line| !line.is_empty() && !line.starts_with([' ', '\t']))?;
    Failure::from_message(last)
}
