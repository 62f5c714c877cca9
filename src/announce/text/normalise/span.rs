//! Where inline code begins and ends on a line.
//!
//! Responsibilities: pairs of backticks, told alike to the ear and to the eye. Not here: what is said of
//! the code (`inline`), blocks of code (`fence`).

use std::collections::HashMap;
use std::ops::Range;

/// Holds the place of inline code on its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    /// Where its opening backticks begin.
    pub(super) start: usize,
    /// What stands between the backticks.
    pub(super) inner: Range<usize>,
    /// Where its closing backticks end.
    pub(super) end: usize,
}

/// Finds the inline code of a line: as many backticks close as opened (CommonMark 6.1). Backticks
/// without a partner are none. The time is linear whatever stands there.
pub(super) fn spans(line: &str) -> Vec<Span> {
    let runs = runs(line);
    let mut partners = vec![None; runs.len()];
    let mut later: HashMap<usize, usize> = HashMap::new();
    for (at, run) in runs.iter().enumerate().rev() {
        partners[at] = later.insert(run.len(), at);
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

/// Finds the runs of backticks.
fn runs(line: &str) -> Vec<Range<usize>> {
    let bytes = line.as_bytes();
    let mut runs = Vec::new();
    let mut at = 0;
    while let Some(ahead) = bytes[at..].iter().position(|&b| b == b'`') {
        let start = at + ahead;
        let length = bytes[start..].iter().take_while(|&&b| b == b'`').count();
        at = start + length;
        runs.push(start..at);
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
            ("", &[]),
        ] {
            let found: Vec<&str> = spans(line)
                .into_iter()
                .map(|span| &line[span.inner])
                .collect();
            assert_eq!(found, wanted, "{line}");
        }
    }
}
