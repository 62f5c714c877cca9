//! go test, and programs in Go that panic.

use super::output_line::untimed;
use super::{FailedNames, Failure, FailureUnit};

/// Finds the tests that failed.
pub(super) fn tests(lines: &[&str]) -> Option<Failure> {
    let mut names = FailedNames::default();
    let (mut failed, mut passed) = (0, 0);
    for line in lines {
        let text = line.trim_start();
        if let Some(name) = text.strip_prefix("--- FAIL: ") {
            let name = untimed(name);
            // A test is reported before its subtests.
            if let Some((whole, _)) = name.rsplit_once('/') {
                names.drop_last(whole);
            }
            names.add(name);
            failed += u64::from(text.len() == line.len());
        } else if line.starts_with("--- PASS: ") {
            passed += 1;
        }
    }
    if names.count == 0 {
        return None;
    }
    // Passed tests are listed only with -v, and without their subtests.
    let whole = failed >= names.count && passed > 0;
    Failure::found(
        FailureUnit::Tests,
        names.count,
        whole.then_some(failed + passed),
        names,
    )
}

/// Finds the message with which a program panicked.
pub(super) fn panic(lines: &[&str]) -> Option<Failure> {
    let goroutine = lines
        .iter()
        .position(|line| line.starts_with("goroutine "))?;
    let before = lines[..goroutine].iter().rev().take(8);
    let is_it = |line: &&&str| line.starts_with("panic: ") || line.starts_with("fatal error: ");
    Failure::from_message(before.rev().find(is_it)?)
}
