//! The code with which a program ended, as the line about it reports it.

use super::numbers;

/// The words before the code, in lower case.
const BEFORE: [&str; 6] = [
    "exit code",
    "exit status",
    "exited with code",
    "exited with status",
    "exited with exit code",
    "exitcode",
];
/// How many lines are looked at from each end: agents write the code first, programs last.
const MOST_LINES: usize = 6;

/// Returns the code that an output reports at its beginning or its end.
pub(super) fn of(lines: &[&str]) -> Option<i64> {
    let first = lines.iter().take(MOST_LINES);
    let last = lines.iter().skip(MOST_LINES).rev().take(MOST_LINES);
    first.chain(last).find_map(|line| read(line))
}

/// Returns whether a line reports a code, and nothing else.
pub fn is_one(line: &str) -> bool {
    let line = line.trim().trim_matches(['[', ']', '(', ')', '.']);
    let words = line.split_whitespace().count();
    words <= 6 && read(line).is_some()
}

fn read(line: &str) -> Option<i64> {
    let small = line.to_ascii_lowercase();
    let found = BEFORE.iter().find_map(|before| {
        let at = small.find(before)?;
        small.get(at + before.len()..)
    })?;
    let rest = found.trim_start_matches([':', ' ', '=', '(']);
    let (sign, rest) = match rest.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, rest),
    };
    let code = i64::try_from(numbers::leading(rest)?).ok()?;
    (code != 0).then_some(sign * code)
}
