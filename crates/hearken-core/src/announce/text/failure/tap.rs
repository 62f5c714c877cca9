//! The Test Anything Protocol, with node's way of nesting it.

use super::output_line::indent;
use super::{FailedNames, Failure, FailureUnit, numbers};

/// Finds the tests that failed.
pub(super) fn tests(lines: &[&str]) -> Option<Failure> {
    let mut names = FailedNames::default();
    let (mut failed, mut passed) = (0, 0);
    let (mut told_failed, mut told_total) = (None, None);
    // The indent of the last failure, which may be a subtest of the next one.
    let mut inner = None;
    for line in lines {
        let text = line.trim_start();
        if let Some(rest) = text.strip_prefix("# ") {
            told_failed = told("fail ", rest).or(told_failed);
            told_total = told("tests ", rest).or(told_total);
            continue;
        }
        let (is_ok, rest) = match (text.strip_prefix("not ok"), text.strip_prefix("ok")) {
            (Some(rest), _) => (false, rest),
            (None, Some(rest)) => (true, rest),
            (None, None) => continue,
        };
        let Some((name, expected)) = name(rest) else {
            continue;
        };
        let depth = indent(line);
        let is_whole = inner.is_some_and(|inner| depth < inner);
        if is_ok || expected {
            passed += u64::from(depth == 0);
            if is_whole {
                inner = None;
            }
            continue;
        }
        failed += u64::from(depth == 0);
        inner = Some(depth);
        if !is_whole {
            names.add(if name.is_empty() { text } else { name });
        }
    }
    if names.count == 0 {
        return None;
    }
    let failed = told_failed.unwrap_or(failed).max(names.count);
    let total = told_total.unwrap_or(failed + passed);
    Failure::found(FailureUnit::Tests, failed, Some(total), names)
}

fn told(name: &str, comment: &str) -> Option<u64> {
    numbers::number(comment.strip_prefix(name)?.trim())
}

/// Returns the name after a test's verdict, and whether a failure was expected; `None` if there is no verdict.
fn name(rest: &str) -> Option<(&str, bool)> {
    if rest.is_empty() {
        return Some(("", false));
    }
    let rest = rest.strip_prefix(' ')?.trim_start();
    let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits.len() < rest.len() && !digits.starts_with(char::is_alphanumeric);
    let named = digits.trim_start().strip_prefix("- ");
    if !numbered && named.is_none() {
        return None;
    }
    let name = named.unwrap_or(digits).trim();
    let (name, note) = name.split_once(" # ").unwrap_or((name, ""));
    let note = note.trim_start().get(..4).unwrap_or_default();
    let expected = note.eq_ignore_ascii_case("todo") || note.eq_ignore_ascii_case("skip");
    Some((name, expected))
}
