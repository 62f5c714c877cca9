//! The changes of an edit: the places where two texts differ, line by line.
//!
//! Responsibilities: comparing texts and reading patches, within bounds. Not here: reading changes aloud (`announce`),
//! their form in events (`protocol::Attached`).

use ring::digest::{Context, SHA256};
use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use crate::protocol::{ChangedLine, FileChange, Hunk};

/// The most pairs of lines to compare for one edit; a larger middle counts as changed in full.
const MOST_PAIRS: usize = 16_000_000;

/// How many files of one patch are read: as many as are named before they are changed.
pub const MOST_FILES: usize = 512;

/// The path that a patch has in place of a missing file.
const NO_FILE: &str = "/dev/null";

/// How many unchanged lines around a difference show where it is.
const CONTEXT: usize = 2;

/// How many lines of one file's changes are kept; the rest are only counted. Nobody would read more.
const MOST_LINES: usize = 2048;
/// How many bytes of these lines are kept.
const MOST_BYTES: usize = 256 * 1024;

/// Adds lines to the hunks of a file, within the bounds, and digests all that change.
struct HunkCollector {
    digest: Context,
    lines: usize,
    bytes: usize,
}

impl HunkCollector {
    fn new() -> Self {
        Self {
            digest: Context::new(&SHA256),
            lines: 0,
            bytes: 0,
        }
    }

    fn push(&mut self, hunk: &mut Hunk, line: &str, of: fn(String) -> ChangedLine) {
        let sign = match of(String::new()) {
            ChangedLine::Kept(_) => "",
            ChangedLine::Removed(_) => "-",
            ChangedLine::Added(_) => "+",
        };
        if !sign.is_empty() {
            for part in [sign, line, "\n"] {
                self.digest.update(part.as_bytes());
            }
        }
        self.lines += 1;
        self.bytes += line.len();
        // Once a line is left out, so are all that follow.
        if hunk.left_out > 0 || self.lines > MOST_LINES || self.bytes > MOST_BYTES {
            hunk.left_out += 1;
        } else {
            hunk.lines.push(of(line.to_owned()));
        }
    }

    fn finish(self, change: &mut FileChange) {
        let digest = self.digest.finish();
        let mut short = [0; 16];
        for (to, from) in short.iter_mut().zip(digest.as_ref()) {
            *to = *from;
        }
        change.digest = Some(short);
    }
}

/// Compares a file before and after an edit; `before` is `None` for a new file.
pub fn between(path: &str, before: Option<&str>, after: &str) -> FileChange {
    let old: Vec<&str> = before.unwrap_or_default().lines().collect();
    let new: Vec<&str> = after.lines().collect();
    let mut change = FileChange {
        path: path.to_owned(),
        is_new: before.is_none(),
        ..FileChange::default()
    };
    let mut gathering = HunkCollector::new();
    for group in group_diff_ops(operations(&old, &new), CONTEXT) {
        let mut hunk = Hunk {
            line: group.first().map_or(0, |op| op.new_range().start as u64) + 1,
            ..Hunk::default()
        };
        for op in group {
            let (gone, come) = (old.get(op.old_range()), new.get(op.new_range()));
            let (gone, come) = (gone.unwrap_or_default(), come.unwrap_or_default());
            if let DiffOp::Equal { .. } = op {
                for line in come {
                    gathering.push(&mut hunk, line, ChangedLine::Kept);
                }
                continue;
            }
            change.removed += gone.len() as u64;
            change.added += come.len() as u64;
            for line in gone {
                gathering.push(&mut hunk, line, ChangedLine::Removed);
            }
            for line in come {
                gathering.push(&mut hunk, line, ChangedLine::Added);
            }
        }
        change.hunks.push(hunk);
    }
    change.places = change.hunks.len() as u64;
    gathering.finish(&mut change);
    change
}

/// Returns what identifies a change: the file, and each line removed or added.
pub fn identity(change: &FileChange) -> String {
    let digest = change.digest.unwrap_or_default();
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}\n{digest}", change.path)
}

/// Returns whether the changes made are those asked for: the same files, and the same lines in each. A tool may have
/// been asked to change part of a line, so each added line has to contain one that was asked for.
pub fn carry_out(asked: &[FileChange], done: &[FileChange]) -> bool {
    let added = |change: &FileChange| -> Vec<String> {
        let lines = change.hunks.iter().flat_map(|hunk| &hunk.lines);
        let lines = lines.filter_map(|line| match line {
            ChangedLine::Added(text) => Some(text.clone()),
            ChangedLine::Kept(_) | ChangedLine::Removed(_) => None,
        });
        lines.collect()
    };
    let whole = |change: &FileChange| change.hunks.iter().all(|hunk| hunk.left_out == 0);
    done.iter().all(|done| {
        let Some(asked) = asked.iter().find(|asked| asked.path == done.path) else {
            return false;
        };
        if asked.digest.is_some() && asked.digest == done.digest {
            return true;
        }
        if !whole(asked) || !whole(done) {
            return false;
        }
        let (wanted, came) = (added(asked), added(done));
        came.len() <= wanted.len()
            && came
                .iter()
                .all(|line| wanted.iter().any(|it| line.contains(it.trim())))
    })
}

/// Returns whether a change replaces the one text by the other.
pub fn is_of(change: &FileChange, old: &str, new: &str) -> bool {
    let wanted = between(&change.path, Some(old), new);
    if change.digest.is_some() && change.digest == wanted.digest {
        return true;
    }
    if change.hunks.iter().any(|hunk| hunk.left_out > 0) {
        return false;
    }
    let [hunk] = change.hunks.as_slice() else {
        return false;
    };
    let text = |with: fn(&ChangedLine) -> bool| {
        let lines = hunk.lines.iter().filter(|line| with(line));
        lines.map(ChangedLine::text).collect::<Vec<_>>().join("\n")
    };
    let before = text(|line| !matches!(line, ChangedLine::Added(_)));
    let after = text(|line| !matches!(line, ChangedLine::Removed(_)));
    // The end of the last line is not part of a change.
    let (old, new) = match (old.strip_suffix('\n'), new.strip_suffix('\n')) {
        (Some(old), Some(new)) => (old, new),
        _ => (old, new),
    };
    !old.is_empty() && before.replacen(old, new, 1) == after
}

/// Parses a unified diff: one change for each file in it.
pub fn of_patch(patch: &str) -> Vec<FileChange> {
    let mut changes: Vec<FileChange> = Vec::new();
    // The lines still to come in the current hunk, before and after the change.
    let mut rest = (0_u64, 0_u64);
    let mut before = "";
    let mut gathering = HunkCollector::new();
    for line in patch.lines() {
        if rest == (0, 0) {
            if let Some(path) = line.strip_prefix("--- ") {
                before = path;
            } else if let Some(path) = line.strip_prefix("+++ ") {
                if changes.len() == MOST_FILES {
                    return changes;
                }
                let name = |path: &str| path.split('\t').next().unwrap_or_default().to_owned();
                let (before, after) = (name(before), name(path));
                let (is_new, is_gone) = (before == NO_FILE, after == NO_FILE);
                let gathered = std::mem::replace(&mut gathering, HunkCollector::new());
                if let Some(change) = changes.last_mut() {
                    gathered.finish(change);
                }
                changes.push(FileChange {
                    path: if is_gone { before } else { after },
                    is_new,
                    ..FileChange::default()
                });
            } else if let (Some(place), Some(change)) = (place(line), changes.last_mut()) {
                rest = (place.0.1, place.1.1);
                change.is_new |= place.0 == (0, 0) && change.hunks.is_empty();
                change.places += 1;
                change.hunks.push(Hunk {
                    line: place.1.0,
                    ..Hunk::default()
                });
            }
            continue;
        }
        let Some(change) = changes.last_mut() else {
            continue;
        };
        let Some(hunk) = change.hunks.last_mut() else {
            continue;
        };
        let (sign, words) = match line.chars().next() {
            Some(sign) => (sign, line.get(1..).unwrap_or_default()),
            None => (' ', ""),
        };
        match sign {
            '-' => {
                change.removed += 1;
                rest.0 = rest.0.saturating_sub(1);
                gathering.push(hunk, words, ChangedLine::Removed);
            }
            '+' => {
                change.added += 1;
                rest.1 = rest.1.saturating_sub(1);
                gathering.push(hunk, words, ChangedLine::Added);
            }
            ' ' => {
                rest = (rest.0.saturating_sub(1), rest.1.saturating_sub(1));
                gathering.push(hunk, words, ChangedLine::Kept);
            }
            // The note that the last line has no line ending is not a line.
            '\\' => {}
            _ => rest = (0, 0),
        }
    }
    if let Some(change) = changes.last_mut() {
        gathering.finish(change);
    }
    changes
}

/// Parses a hunk header: the first line and the line count, before and after.
fn place(line: &str) -> Option<((u64, u64), (u64, u64))> {
    let range = |text: &str, sign: char| {
        let text = text.strip_prefix(sign)?;
        let (first, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((first.parse().ok()?, count.parse().ok()?))
    };
    let mut words = line.strip_prefix("@@ ")?.split(' ');
    Some((range(words.next()?, '-')?, range(words.next()?, '+')?))
}

/// Returns the edit steps from the old lines to the new.
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
    fn a_patch_says_what_changes_in_each_of_its_files() {
        let patch = "Index: /w/b.txt\n===\n--- /w/b.txt\n+++ /w/b.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n\
            --- a/c.txt\t2026\n+++ b/c.txt\t2026\n@@ -3,3 +3,2 @@ fn f()\n x\n--- gone\n-y\n+z\n\\ No newline at end of file\n\
            @@ -9 +8 @@\n-p\n+q\n--- d\n+++ /dev/null\n@@ -1 +0,0 @@\n-d\n";
        let read = of_patch(patch);
        let counts: Vec<(&str, bool, u64, u64, u64)> = read
            .iter()
            .map(|it| (it.path.as_str(), it.is_new, it.added, it.removed, it.places))
            .collect();
        let wanted = [
            ("/w/b.txt", true, 2, 0, 1),
            ("b/c.txt", false, 2, 3, 2),
            ("d", false, 0, 1, 1),
        ];
        assert_eq!(counts, wanted);
        assert_eq!(read[1].hunks[0].line, 3);
        let gone = ChangedLine::Removed("-- gone".to_owned());
        assert_eq!(read[1].hunks[0].lines[1], gone);
        for odd in [
            "",
            "@@ -1 +1 @@\n+x",
            "--- a\n+++ b\n@@ -x +1 @@\n+q",
            "--- a\n+++ b\n@@ -1,9 +1,9 @@\nodd",
        ] {
            assert!(of_patch(odd).iter().all(|it| it.added == 0), "{odd}");
        }
    }

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
