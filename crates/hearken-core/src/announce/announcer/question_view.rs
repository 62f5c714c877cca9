//! A question and its changes as they are seen: what was found, and each line of a place with its number and its sign.
//!
//! Responsibilities: which parts of a line changed, the line numbers in both texts, the findings one by one.
//! Not here: rows and colours (`pane`), how the same is read out (`attached_material`).

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::Announcer;
use super::changed_lines::{indent, mixes_indents, pairs_of, places_left_out, runs_of, words};
use super::read_parts::{ChangeInSight, ChangeItem, LineInSight, QuestionInSight};

use crate::announce::text::normalise::clean;
use crate::announce::text::speakable;
use crate::announce::words::phrase::Arg;
use crate::announce::words::segment::join;
use crate::protocol::{Attachments, ChangedLine, Hunk};
use crate::session::{Question, QuestionBody, Sessions};

/// The longest line in which changed words are looked for, in characters.
const LONGEST_COMPARED: usize = 400;

/// The width of a tab, in columns.
const TAB: usize = 4;

impl Announcer {
    /// Words a question in full for a face that shows it page by page. The usual keys and the remaining time
    /// are left out: such a face has rows for them, and the words stay the same.
    pub fn in_full(&self, question: &Question, sessions: &Sessions) -> QuestionInSight {
        let mut words = self.asked_in_sight(question, sessions);
        // The words before the question itself: its head and the findings.
        let before = match question.body {
            QuestionBody::Confirmation(_) => 1 + self.found(question, false).len(),
            QuestionBody::Clarification(_) => 1,
        };
        let findings = self.found_one_by_one(question);
        let findings = findings
            .into_iter()
            .map(|(found, grave)| (join(&found), grave));
        QuestionInSight {
            findings: findings.collect(),
            words: words.split_off(before.min(words.len())),
        }
    }

    /// Returns the places that change; their items are counted in this order in a [`super::ChangePlace`].
    pub fn changes_in_sight<'a>(&self, attached: &'a Attachments) -> Vec<ChangeInSight<'a>> {
        let left_out = |key: &str, n: u64, path: &str| {
            let args = [
                ("n", Arg::own(n)),
                ("path", Arg::Exact(path.to_owned(), None)),
            ];
            ChangeItem::LeftOut(self.phrases.text(key, &args))
        };
        let mut places = Vec::new();
        for change in &attached.changes {
            // How far the new text's line numbers are ahead; unknown after lines that were left out.
            let mut ahead = Some(0_i64);
            let place = |n, items| ChangeInSight {
                path: &change.path,
                is_new: change.is_new,
                n,
                count: change.places,
                items,
            };
            let before = places.len();
            for (at, hunk) in change.hunks.iter().enumerate() {
                let lines = self.lines_in_sight(hunk, &mut ahead).into_iter();
                let mut items: Vec<ChangeItem> = lines.map(ChangeItem::Line).collect();
                if hunk.left_out > 0 {
                    items.push(left_out("reading.left_out", hunk.left_out, ""));
                }
                places.push(place(at + 1, items));
            }
            let missing = places_left_out(change);
            if missing > 0 {
                let item = left_out("reading.places_left_out", missing, &change.path);
                match places.get_mut(before..).and_then(<[_]>::last_mut) {
                    Some(last) => last.items.push(item),
                    None => places.push(place(1, vec![item])),
                }
            }
        }
        places
    }

    fn lines_in_sight(&self, hunk: &Hunk, ahead: &mut Option<i64>) -> Vec<LineInSight> {
        let marks_tabs = mixes_indents(hunk);
        let mut lines: Vec<LineInSight> = Vec::new();
        let mut at = hunk.line;
        for run in runs_of(hunk) {
            let gone = run
                .iter()
                .filter(|line| matches!(line, ChangedLine::Removed(_)))
                .count();
            let first = lines.len();
            for line in run {
                let (sign, number) = match line {
                    ChangedLine::Kept(_) => (' ', Some(at)),
                    ChangedLine::Added(_) => ('+', Some(at)),
                    ChangedLine::Removed(_) => {
                        ('-', ahead.and_then(|ahead| at.checked_add_signed(-ahead)))
                    }
                };
                lines.push(LineInSight {
                    number,
                    sign,
                    text: self.line_in_sight(line.text(), marks_tabs),
                    changed: Vec::new(),
                });
                match line {
                    ChangedLine::Kept(_) => at += 1,
                    ChangedLine::Added(_) => {
                        at += 1;
                        *ahead = ahead.map(|ahead| ahead + 1);
                    }
                    ChangedLine::Removed(_) => *ahead = ahead.map(|ahead| ahead - 1),
                }
            }
            if 2 * gone == run.len() {
                mark_changed(lines.get_mut(first..).unwrap_or_default(), gone);
            }
            // Lines read in pairs are also seen in pairs.
            if pairs_of(run).is_some() {
                let new = lines.split_off(first + gone);
                let old = lines.split_off(first);
                let pairs = old.into_iter().zip(new);
                lines.extend(pairs.flat_map(|(old, new)| [old, new]));
            }
        }
        if hunk.left_out > 0 {
            *ahead = None;
        }
        lines
    }

    /// Returns a line without hostile characters; hidden ones are named. Tabs are marked if spaces indent other lines.
    pub(super) fn line_in_sight(&self, line: &str, marks_tabs: bool) -> String {
        let before = indent(line);
        let mut text = String::new();
        for c in before.chars() {
            match c {
                '\t' => {
                    text.push(if marks_tabs { '→' } else { ' ' });
                    text.extend(std::iter::repeat_n(' ', TAB - 1));
                }
                _ => text.push(' '),
            }
        }
        let bare = line.get(before.len()..).unwrap_or_default();
        if speakable::hides(bare) {
            text.push_str(&self.phrases.lexicon().inline(bare));
        } else {
            text.push_str(clean(bare).trim_end());
        }
        text
    }
}

/// Marks the changed parts of lines that replace an equal number of others.
fn mark_changed(lines: &mut [LineInSight], gone: usize) {
    let (old, new) = lines.split_at_mut(gone.min(lines.len()));
    for (old, new) in old.iter_mut().zip(new) {
        if let Some((before, after)) = changed(&old.text, &new.text) {
            old.changed = before;
            new.changed = after;
        }
    }
}

/// The parts of a text.
type TextRanges = Vec<Range<usize>>;

/// Returns the parts in which two lines differ; `None` if they have too little in common, or are too long.
fn changed(old: &str, new: &str) -> Option<(TextRanges, TextRanges)> {
    if old.chars().count().max(new.chars().count()) > LONGEST_COMPARED {
        return None;
    }
    let (before, after) = (words(old), words(new));
    let (mut gone, mut come) = (TextRanges::new(), TextRanges::new());
    let mut same = 0;
    for step in capture_diff_slices(Algorithm::Myers, &before, &after) {
        if let DiffOp::Equal { .. } = step {
            let kept = after.get(step.new_range()).unwrap_or_default();
            same += kept.iter().map(|word| word.trim().len()).sum::<usize>();
            continue;
        }
        gone.extend(part(&before, step.old_range()));
        come.extend(part(&after, step.new_range()));
    }
    let longest = old.trim().len().max(new.trim().len());
    (same * 2 >= longest).then_some((gone, come))
}

/// Returns the byte range of words within their line; `None` if there are none.
fn part(words: &[&str], range: Range<usize>) -> Option<Range<usize>> {
    let size = |words: &[&str]| words.iter().map(|word| word.len()).sum::<usize>();
    let from = size(words.get(..range.start)?);
    let to = from + size(words.get(range)?);
    (from < to).then_some(from..to)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::read_parts::ChangePlace;
    use super::*;
    use crate::announce::{AnswerMethod, Phrases};
    use crate::config::AnnounceConfig;
    use crate::protocol::FileChange;

    fn line(text: &str) -> ChangedLine {
        let rest = text[1..].to_owned();
        match &text[..1] {
            "+" => ChangedLine::Added(rest),
            "-" => ChangedLine::Removed(rest),
            _ => ChangedLine::Kept(rest),
        }
    }

    fn hunk(line_number: u64, lines: &[&str]) -> Hunk {
        Hunk {
            line: line_number,
            lines: lines.iter().map(|text| line(text)).collect(),
            left_out: 0,
        }
    }

    fn seen(hunks: Vec<Hunk>) -> Vec<String> {
        let phrases = Arc::new(Phrases::english().unwrap_or_else(|_| panic!("English")));
        let announcer = Announcer::new(AnnounceConfig::default(), phrases, AnswerMethod::Keys);
        let change = FileChange {
            path: "src/add.py".to_owned(),
            places: hunks.len() as u64,
            hunks,
            ..FileChange::default()
        };
        let attached = Attachments {
            changes: vec![change],
            ..Attachments::default()
        };
        let places = announcer.changes_in_sight(&attached);
        assert_eq!(
            announcer.places_of_parts(&attached)[0],
            ChangePlace::default()
        );
        let items = places.iter().flat_map(|place| &place.items);
        let lines = items.filter_map(|item| match item {
            ChangeItem::Line(line) => Some(line),
            ChangeItem::LeftOut(_) => None,
        });
        lines
            .map(|line| {
                let changed = line
                    .changed
                    .iter()
                    .filter_map(|part| line.text.get(part.clone()));
                let changed: Vec<&str> = changed.collect();
                let number = line
                    .number
                    .map_or(String::new(), |number| number.to_string());
                format!("{number}{}{}|{}", line.sign, line.text, changed.join("|"))
            })
            .collect()
    }

    #[test]
    fn each_line_has_its_own_number_and_only_what_changed_in_it_is_marked() {
        let first = hunk(
            3,
            &[
                " def add(a, b):",
                "-    return a - b",
                "+    return a + b",
                "+",
                " end",
            ],
        );
        let second = hunk(11, &["-x = old", "+completely different words"]);
        assert_eq!(
            seen(vec![first, second]),
            [
                "3 def add(a, b):|",
                "4-    return a - b|",
                "4+    return a + b|",
                "5+|",
                "6 end|",
                "10-x = old|",
                "11+completely different words|",
            ]
        );
        assert_eq!(
            seen(vec![hunk(1, &["-let port = 80;", "+let port = 8080;"])]),
            ["1-let port = 80;|80", "1+let port = 8080;|8080"]
        );
    }

    #[test]
    fn numbers_that_are_not_known_are_left_out() {
        let mut first = hunk(1, &["+a"]);
        first.left_out = 4;
        let lines = seen(vec![first, hunk(20, &["-b", "+c"])]);
        assert_eq!(lines, ["1+a|", "-b|", "20+c|"]);
    }

    #[test]
    fn tabs_are_told_from_spaces_and_hidden_characters_are_named() {
        assert_eq!(seen(vec![hunk(1, &["+\tx"])]), ["1+    x|"]);
        let mixed = seen(vec![hunk(1, &["-    x", "+\tx"])]);
        assert_eq!(mixed[1].split('|').next(), Some("1+→   x"));
        let hidden = seen(vec![hunk(1, &["+if admin\u{200b}:"])]);
        assert!(hidden[0].contains('['), "{hidden:?}");
    }
}
