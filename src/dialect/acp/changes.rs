//! What an edit changes: lines added and removed, and which.
//!
//! Responsibilities: comparing two texts line by line, within a bound. Not here: words for it (the phrase files).

/// The most comparisons of two lines that one edit is worth; a larger middle counts as changed whole.
const MOST_COMPARISONS: usize = 1_000_000;

/// How many characters of the changed lines are kept to be read.
const MOST_SHOWN: usize = 4000;

/// Holds what an edit does to a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// How many lines are new.
    pub added: usize,
    /// How many are gone.
    pub removed: usize,
    /// The lines in order, each behind a plus or a minus; cut where there are too many.
    pub shown: String,
}

/// Compares a file before (absent: there was none) and after.
pub fn between(before: Option<&str>, after: &str) -> Changes {
    let old: Vec<&str> = before.unwrap_or_default().lines().collect();
    let new: Vec<&str> = after.lines().collect();
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let head = old.iter().zip(&new).take_while(same).count();
    let (old, new) = (
        old.get(head..).unwrap_or_default(),
        new.get(head..).unwrap_or_default(),
    );
    let tail = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(same)
        .count();
    let (old, new) = (
        old.get(..old.len() - tail).unwrap_or_default(),
        new.get(..new.len() - tail).unwrap_or_default(),
    );
    let mut changes = Changes::default();
    if old.len().saturating_mul(new.len()) > MOST_COMPARISONS {
        old.iter().for_each(|line| changes.remove(line));
        new.iter().for_each(|line| changes.add(line));
    } else {
        walk(old, new, &mut changes);
    }
    changes
}

/// Goes through both along a longest common part of them.
fn walk(old: &[&str], new: &[&str], changes: &mut Changes) {
    let width = new.len() + 1;
    let at = |row: usize, column: usize| row * width + column;
    let mut longest = vec![0_u32; (old.len() + 1) * width];
    for (row, before) in old.iter().enumerate().rev() {
        for (column, after) in new.iter().enumerate().rev() {
            longest[at(row, column)] = if before == after {
                longest[at(row + 1, column + 1)] + 1
            } else {
                longest[at(row + 1, column)].max(longest[at(row, column + 1)])
            };
        }
    }
    let (mut row, mut column) = (0, 0);
    loop {
        match (old.get(row), new.get(column)) {
            (Some(before), Some(after)) if before == after => {
                row += 1;
                column += 1;
            }
            (Some(before), Some(_))
                if longest[at(row + 1, column)] >= longest[at(row, column + 1)] =>
            {
                changes.remove(before);
                row += 1;
            }
            (_, Some(after)) => {
                changes.add(after);
                column += 1;
            }
            (Some(before), None) => {
                changes.remove(before);
                row += 1;
            }
            (None, None) => return,
        }
    }
}

impl Changes {
    fn add(&mut self, line: &str) {
        self.added += 1;
        self.show('+', line);
    }

    fn remove(&mut self, line: &str) {
        self.removed += 1;
        self.show('-', line);
    }

    fn show(&mut self, sign: char, line: &str) {
        if self.shown.len() + line.len() < MOST_SHOWN {
            self.shown.push(sign);
            self.shown.push_str(line);
            self.shown.push('\n');
        } else if !self.shown.ends_with('…') {
            self.shown.push('…');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_where_they_differ_and_nowhere_else() {
        for (before, after, added, removed) in [
            (None, "a\nb\n", 2, 0),
            (Some("a\nb\n"), "a\nb\n", 0, 0),
            (Some("a\nb\nc\n"), "a\nx\nc\n", 1, 1),
            (Some("a\nb\nc\nd\ne"), "b\nc\nX\nd\ne\nf", 2, 1),
            (Some("a\nb"), "", 0, 2),
        ] {
            let changes = between(before, after);
            assert_eq!(
                (changes.added, changes.removed),
                (added, removed),
                "{after:?}"
            );
        }
        assert_eq!(between(Some("a\nb"), "a\nc").shown, "-b\n+c\n");
    }

    #[test]
    fn an_edit_of_any_size_costs_little_and_is_shown_as_cut() {
        let old: String = (0..3000).map(|n| format!("old {n}\n")).collect();
        let new: String = (0..3000).map(|n| format!("new {n}\n")).collect();
        let changes = between(Some(&old), &new);
        assert_eq!((changes.added, changes.removed), (3000, 3000));
        assert!(changes.shown.len() <= MOST_SHOWN + 4 && changes.shown.ends_with('…'));
    }
}
