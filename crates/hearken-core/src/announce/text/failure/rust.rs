//! cargo test, cargo nextest, and programs in Rust that panic.

use super::{FailedNames, Failure, FailureUnit, numbers};

/// Finds the tests that failed.
pub(super) fn tests(lines: &[&str]) -> Option<Failure> {
    let (mut names, mut listed) = (FailedNames::default(), FailedNames::default());
    let (mut failed, mut passed, mut results) = (0, 0, false);
    let mut in_list = false;
    for line in lines {
        let text = line.trim();
        in_list = text == "failures:" || (in_list && line.starts_with("    "));
        if let Some(rest) = text.strip_prefix("test result: ") {
            results = true;
            failed += numbers::before(rest, &["failed"]).unwrap_or_default();
            passed += numbers::before(rest, &["passed"]).unwrap_or_default();
        } else if let Some(rest) = text.strip_prefix("test ")
            && let Some((name, _)) = rest.split_once(" ... FAILED")
        {
            names.add(name);
        } else if let Some(rest) = text.strip_prefix("FAIL [")
            && let Some((_, name)) = rest.split_once(']')
        {
            // nextest writes the crate, then the test.
            names.add(name.split_whitespace().last().unwrap_or_default());
        } else if text.starts_with("Summary [") && text.contains("tests run") {
            results = true;
            failed += numbers::before(text, &["failed"]).unwrap_or_default();
            passed += numbers::before(text, &["passed"]).unwrap_or_default();
        } else if in_list && text != "failures:" {
            listed.add(text);
        }
    }
    if names.count == 0 && results {
        names = listed;
    }
    if failed == 0 && names.count == 0 {
        return None;
    }
    let total = results.then_some(failed + passed);
    Failure::found(FailureUnit::Tests, failed, total, names)
}

/// Finds the message with which a thread panicked.
pub(super) fn panic(lines: &[&str]) -> Option<Failure> {
    let at = lines
        .iter()
        .position(|line| line.starts_with("thread '") && line.contains("' panicked at "))?;
    let (_, place) = lines[at].split_once("' panicked at ")?;
    // Before Rust 1.73, the message was in quotes before the place.
    let message = match place.starts_with('\'') {
        true => place,
        false => lines.get(at + 1).copied().unwrap_or_default(),
    };
    Failure::from_message(message)
}
