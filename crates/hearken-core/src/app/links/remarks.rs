//! The last lines that a program wrote to its standard error.

use std::collections::VecDeque;

/// How many lines of a program's standard error are kept: enough to look at after a failure. Older lines are only
/// counted.
const KEPT: usize = 40;

/// The last lines that a program wrote for people, and the count of all.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::app) struct Remarks {
    lines: VecDeque<String>,
    count: u64,
}

impl Remarks {
    #[cfg(test)]
    pub(in crate::app) fn held(&self) -> usize {
        self.lines.len()
    }

    /// Adds a line.
    pub(in crate::app) fn note(&mut self, line: String) {
        self.count = self.count.saturating_add(1);
        self.lines.push_back(line);
        if self.lines.len() > KEPT {
            self.lines.pop_front();
        }
    }

    /// Returns whether nothing was written.
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the number of lines that were written, kept or not.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the last lines, at most this many.
    pub(super) fn last(&self, most: usize) -> impl Iterator<Item = &str> {
        let older = self.lines.len().saturating_sub(most);
        self.lines.iter().skip(older).map(String::as_str)
    }
}
