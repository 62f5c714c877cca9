//! The rows and cells of a table.
//!
//! Responsibilities: rows, cells, the row that separates headers from the others. Not here: how they are spoken
//! (`normalise`).

use std::borrow::Cow;

/// How many columns of a table are remembered; in a wider one, the later columns are heard without headers.
pub(in crate::announce::text) const COLUMNS: usize = 32;

/// How many characters of a column's header are repeated in each row, so that a long header with
/// many short rows does not grow out of proportion.
pub(in crate::announce::text) const HEADER: usize = 40;

/// An open table.
#[derive(Debug, Clone)]
pub(in crate::announce::text) struct Table {
    pub(in crate::announce::text) headers: Vec<String>,
    shape: Bars,
}

/// Where the rows of a table have their bars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bars {
    /// Also before the first cell.
    Outer,
    /// Only between the cells.
    Inner,
}

impl Table {
    /// Creates a table from its first row.
    pub(in crate::announce::text) fn headed(line: &str, headers: Vec<String>) -> Self {
        let shape = if line.starts_with('|') {
            Bars::Outer
        } else {
            Bars::Inner
        };
        Self { headers, shape }
    }

    /// Returns whether a line is a row of the table, not a line after it that merely contains a bar.
    pub(in crate::announce::text) fn goes_on(&self, line: &str) -> bool {
        match self.shape {
            Bars::Outer => line.starts_with('|'),
            Bars::Inner => line.contains('|'),
        }
    }

    /// Returns whether a table begins with a line, judging by the line below.
    pub(in crate::announce::text) fn begins(line: &str, next: &str) -> bool {
        line.starts_with('|') || line.contains('|') && is_delimiter(next)
    }
}

/// Returns the cells of a table row; a bar after a backslash is part of its cell.
pub(in crate::announce::text) fn cells(line: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = match line.strip_suffix('|') {
        Some(inner) if !inner.ends_with('\\') => inner,
        Some(_) | None => line,
    };
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest?;
        let mut escaped = false;
        let end = line.bytes().position(|b| {
            let parts = b == b'|' && !escaped;
            escaped = b == b'\\' && !escaped;
            parts
        });
        let cell = end.map_or(line, |end| &line[..end]);
        rest = end.map(|end| &line[end + 1..]);
        Some(if cell.contains("\\|") {
            Cow::Owned(cell.trim().replace("\\|", "|"))
        } else {
            Cow::Borrowed(cell.trim())
        })
    })
}

/// Returns whether a line separates a table's headers from its rows.
pub(in crate::announce::text) fn is_delimiter(line: &str) -> bool {
    line.bytes().all(|b| b"|-: ".contains(&b)) && line.contains("--") && line.contains('|')
}
