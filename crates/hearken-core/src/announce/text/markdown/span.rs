//! Where inline code begins and ends on a line.
//!
//! Responsibilities: pairs of backticks, the same for speech, display and the cutting of sentences. Not here:
//! how the code is spoken (`normalise`), code blocks (`fence`).

use std::ops::Range;

/// The place of inline code on its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::announce::text) struct Span {
    /// Where its opening backticks begin.
    pub(in crate::announce::text) start: usize,
    /// The code between the backticks.
    pub(in crate::announce::text) inner: Range<usize>,
    /// Where its closing backticks end.
    pub(in crate::announce::text) end: usize,
}

/// Returns the inline code of a line: as many backticks close it as open it (CommonMark 6.1). Backticks without
/// a partner are ignored. Takes nearly linear time, whatever the line contains.
pub(in crate::announce::text) fn spans(line: &str) -> Vec<Span> {
    pairs(&runs(line))
}

/// Pairs the runs of backticks of a line.
fn pairs(runs: &[Range<usize>]) -> Vec<Span> {
    if runs.is_empty() {
        // Most lines have no pair.
        return Vec::new();
    }
    let mut by_length: Vec<usize> = (0..runs.len()).collect();
    by_length.sort_by_key(|at| runs[*at].len());
    let mut partners = vec![None; runs.len()];
    for pair in by_length.windows(2) {
        if runs[pair[0]].len() == runs[pair[1]].len() {
            partners[pair[0]] = Some(pair[1]);
        }
    }
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(run) = runs.get(at) {
        at += 1;
        if let Some(partner) = partners[at - 1] {
            found.push(Span {
                start: run.start,
                inner: run.end..runs[partner].start,
                end: runs[partner].end,
            });
            at = partner + 1;
        }
    }
    found
}

/// Returns the start of inline code that is still open on an arriving line.
pub(in crate::announce::text) fn unclosed(line: &str) -> Option<usize> {
    let runs = runs(line);
    let spans = pairs(&runs);
    let stray = |run: &&Range<usize>| {
        !spans
            .iter()
            .any(|span| span.start <= run.start && run.end <= span.end)
    };
    runs.iter().find(stray).map(|run| run.start)
}

/// How many consecutive backticks are counted in arriving text; a person would not read code between more.
pub(in crate::announce::text) const TICKS: usize = 64;

/// Returns the number of backticks at the start of arriving text, up to [`TICKS`].
pub(in crate::announce::text) fn ticks(bytes: &[u8]) -> usize {
    bytes.iter().take(TICKS).take_while(|&&b| b == b'`').count()
}

/// Returns whether a backtick after this character opens inline code; Armenian has it as a mark after a word.
pub(in crate::announce::text) fn may_open(before: Option<char>) -> bool {
    !before.is_some_and(|c| matches!(c, '\u{530}'..='\u{58F}') && c.is_alphabetic())
}

/// Returns the runs of backticks.
fn runs(line: &str) -> Vec<Range<usize>> {
    let bytes = line.as_bytes();
    let mut runs = Vec::new();
    let mut at = 0;
    while let Some(ahead) = line[at..].find('`') {
        let start = at + ahead;
        let length = bytes[start..].iter().take_while(|&&b| b == b'`').count();
        at = start + length;
        if may_open(line[..start].chars().next_back()) {
            runs.push(start..at);
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_backticks_close_as_opened() {
        for (line, wanted) in [
            ("run `x` and `y z`", &["x", "y z"] as &[&str]),
            ("``a `b` c``", &["a `b` c"]),
            ("```x``` is inline", &["x"]),
            ("`` a `b` c", &["b"]),
            ("`a", &[]),
            ("բան` մի` x", &[]),
            ("", &[]),
        ] {
            let found: Vec<&str> = spans(line)
                .into_iter()
                .map(|span| &line[span.inner])
                .collect();
            assert_eq!(found, wanted, "{line}");
        }
    }

    #[test]
    fn code_without_an_end_begins_at_its_first_backtick() {
        for (line, wanted) in [
            ("run `x` and `y z", Some(12)),
            ("``a `b` c", Some(0)),
            ("run `x`", None),
            ("", None),
        ] {
            assert_eq!(unclosed(line), wanted, "{line}");
        }
    }
}
