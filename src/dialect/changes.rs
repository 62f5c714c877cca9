//! What an edit changes: the places in which two texts differ, line by line.
//!
//! Responsibilities: comparing them, within a bound. Not here: how it is read (`announce`), how it travels
//! (`protocol::Attached`).

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use crate::protocol::{ChangedLine, FileChange, Hunk};

/// The most pairs of lines that one edit is worth; a larger middle counts as changed whole.
const MOST_PAIRS: usize = 16_000_000;

/// How many lines around what differs show where it is.
const CONTEXT: usize = 2;

/// Compares a file before (absent: there was none) and after.
pub fn between(path: &str, before: Option<&str>, after: &str) -> FileChange {
    let old: Vec<&str> = before.unwrap_or_default().lines().collect();
    let new: Vec<&str> = after.lines().collect();
    let mut change = FileChange {
        path: path.to_owned(),
        is_new: before.is_none(),
        ..FileChange::default()
    };
    for group in group_diff_ops(operations(&old, &new), CONTEXT) {
        let mut hunk = Hunk {
            line: group.first().map_or(0, |op| op.new_range().start as u64) + 1,
            ..Hunk::default()
        };
        for op in group {
            let (gone, come) = (old.get(op.old_range()), new.get(op.new_range()));
            let (gone, come) = (gone.unwrap_or_default(), come.unwrap_or_default());
            if let DiffOp::Equal { .. } = op {
                let kept = come
                    .iter()
                    .map(|line| ChangedLine::Kept((*line).to_owned()));
                hunk.lines.extend(kept);
                continue;
            }
            change.removed += gone.len() as u64;
            change.added += come.len() as u64;
            let gone = gone
                .iter()
                .map(|line| ChangedLine::Removed((*line).to_owned()));
            let come = come
                .iter()
                .map(|line| ChangedLine::Added((*line).to_owned()));
            hunk.lines.extend(gone.chain(come));
        }
        change.hunks.push(hunk);
    }
    change.places = change.hunks.len() as u64;
    change
}

/// Gives the steps from one to the other.
fn operations(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let head = old.iter().zip(new).take_while(same).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let ends = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = ends.take_while(same).count();
    let (gone, come) = (old_rest.len() - tail, new_rest.len() - tail);
    if gone.saturating_mul(come) <= MOST_PAIRS {
        return capture_diff_slices(Algorithm::Myers, old, new);
    }
    let equal = |old_index, new_index, len| DiffOp::Equal {
        old_index,
        new_index,
        len,
    };
    let middle = DiffOp::Replace {
        old_index: head,
        old_len: gone,
        new_index: head,
        new_len: come,
    };
    let all = [
        equal(0, 0, head),
        middle,
        equal(head + gone, head + come, tail),
    ];
    all.into_iter()
        .filter(|op| !op.old_range().is_empty() || !op.new_range().is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_where_they_differ_and_nowhere_else() {
        for (before, after, added, removed, places) in [
            (None, "a\nb\n", 2, 0, 1),
            (Some("a\nb\n"), "a\nb\n", 0, 0, 0),
            (Some("a\nb\nc\n"), "a\nx\nc\n", 1, 1, 1),
            (Some("a\nb\nc\nd\ne"), "b\nc\nX\nd\ne\nf", 2, 1, 1),
            (Some("a\nb"), "", 0, 2, 1),
            (Some("1\n2\n3\n4\n5\n6\n7"), "0\n2\n3\n4\n5\n6\n8", 2, 2, 2),
        ] {
            let change = between("p", before, after);
            assert_eq!(
                (change.added, change.removed, change.places),
                (added, removed, places),
                "{after:?}"
            );
            assert_eq!(change.is_new, before.is_none());
        }
    }

    #[test]
    fn a_place_has_the_number_of_its_first_line_and_what_stands_around_it() {
        let change = between("p", Some("1\n2\n3\n4\n5\n6"), "1\n2\n3\nfour\n5\n6");
        let line = |text: &str| text.to_owned();
        assert_eq!(
            change.hunks,
            [Hunk {
                line: 2,
                lines: vec![
                    ChangedLine::Kept(line("2")),
                    ChangedLine::Kept(line("3")),
                    ChangedLine::Removed(line("4")),
                    ChangedLine::Added(line("four")),
                    ChangedLine::Kept(line("5")),
                    ChangedLine::Kept(line("6")),
                ],
                left_out: 0,
            }]
        );
    }

    #[test]
    fn an_edit_of_any_size_costs_little() {
        let lines = |word: &str, count: usize| -> String {
            (0..count).map(|n| format!("{word} {n}\n")).collect()
        };
        for count in [2000, 20_000] {
            let old = format!("same\n{}end\n", lines("old", count));
            let new = format!("same\n{}end\n", lines("new", count));
            let change = between("p", Some(&old), &new);
            let count = count as u64;
            assert_eq!((change.added, change.removed), (count, count));
            assert_eq!(change.places, 1);
        }
    }
}
