//! The last line of an output.

use super::{exit_code, output_line};

/// How many lines are looked at, from the end.
const MOST_LINES: usize = 40;

/// Returns the last line of an output that has words, skipping what agents add for a screen or a model: a
/// fence, a tag, the exit code, a note that there is no output.
pub fn last_line<'a>(lines: impl DoubleEndedIterator<Item = &'a str>) -> Option<String> {
    let mut lines = lines.rev().take(MOST_LINES).map(output_line::clean);
    let found = lines.find(|line| {
        let line = line.trim();
        let is_tag = line.starts_with('<') && line.ends_with('>') && !line.contains(' ');
        let is_around = is_tag || line.starts_with("```") || line == "(no output)";
        line.chars().any(char::is_alphanumeric) && !is_around && !exit_code::is_one(line)
    });
    found.map(|line| line.trim().to_owned())
}
