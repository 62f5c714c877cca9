//! The lines that a call changed, each with its number and its sign, for looking at afterwards.
//!
//! Not here: the parts in which a question's change is read (`reading`), rows and colours (`pane`).

use super::Announcer;
use super::kept_lines::{KeptChange, KeptLine};
use crate::protocol::{Attachments, ChangedLine, FileChange};

impl Announcer {
    /// Returns the changes to files.
    pub fn kept_changes(&self, attached: &Attachments) -> Vec<KeptChange> {
        let changes = attached.changes.iter();
        changes.map(|change| self.kept_change(change)).collect()
    }

    fn kept_change(&self, change: &FileChange) -> KeptChange {
        let mut lines = Vec::new();
        // How many lines longer the old text is so far; unknown after lines that were left out.
        let mut behind = Some(0_i64);
        for hunk in &change.hunks {
            let mut at = hunk.line;
            for line in &hunk.lines {
                let old = behind.and_then(|behind| at.checked_add_signed(behind));
                let (sign, number) = match line {
                    ChangedLine::Kept(_) => (' ', Some(at)),
                    ChangedLine::Added(_) => ('+', Some(at)),
                    ChangedLine::Removed(_) => ('-', old),
                };
                lines.push(KeptLine {
                    number,
                    sign,
                    text: self.line_in_sight(line.text(), false),
                });
                let by = match line {
                    ChangedLine::Kept(_) => 0,
                    ChangedLine::Added(_) => -1,
                    ChangedLine::Removed(_) => 1,
                };
                behind = behind.map(|behind| behind + by);
                at = at.saturating_add(u64::from(by <= 0));
            }
            behind = behind.filter(|_| hunk.left_out == 0);
        }
        KeptChange {
            path: self.line_in_sight(&change.path, false),
            lines,
            changed: change.added.saturating_add(change.removed),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::announce::{AnswerMethod, Phrases};
    use crate::config::Config;
    use crate::protocol::Hunk;

    #[test]
    fn lines_have_the_numbers_of_their_own_text_and_no_hostile_signs() {
        let phrases = Arc::new(Phrases::english().unwrap());
        let announcer = Announcer::new(Config::default().announce, phrases, AnswerMethod::Keys);
        let kept = |text: &str| ChangedLine::Kept(text.to_owned());
        let removed = |text: &str| ChangedLine::Removed(text.to_owned());
        let added = |text: &str| ChangedLine::Added(text.to_owned());
        let hunk = |line, lines, left_out| Hunk {
            line,
            lines,
            left_out,
        };
        let change = FileChange {
            path: "a\u{1b}[31m.py".to_owned(),
            added: 9,
            removed: 2,
            hunks: vec![
                hunk(
                    7,
                    vec![kept("a"), removed("b"), removed("c"), added("\td")],
                    0,
                ),
                hunk(20, vec![removed("e\u{1b}[2J"), kept("f")], 3),
                hunk(40, vec![removed("g")], 0),
            ],
            ..FileChange::default()
        };
        let attached = Attachments {
            changes: vec![change],
            ..Attachments::default()
        };
        let found = announcer.kept_changes(&attached);
        let of_file = &found[0];
        let lines = of_file.lines.iter();
        let lines: Vec<_> = lines
            .map(|line| (line.number, line.sign, line.text.as_str()))
            .collect();
        assert_eq!(
            lines[..5],
            [
                (Some(7), ' ', "a"),
                (Some(8), '-', "b"),
                (Some(9), '-', "c"),
                (Some(8), '+', "    d"),
                (Some(21), '-', lines[4].2),
            ]
        );
        assert_eq!(lines[6], (None, '-', "g"));
        assert!(!of_file.path.contains('\u{1b}') && !lines[4].2.contains('\u{1b}'));
        assert_eq!(of_file.changed, 11);
    }
}
