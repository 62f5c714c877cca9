//! The lines of a changed place: the order in which they are read and seen, and which are read in pairs.
//!
//! Responsibilities: what happens to each line, and where a long one is cut. Not here: the words (`attached_material`),
//! the look (`question_view`).

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::announce::text::wrap::beginning;
use crate::protocol::{ChangedLine, FileChange, Hunk};

/// The maximum number of characters in the lines of a part; a longer line gets separate parts.
pub(super) const MOST_SIGNS: usize = 240;
/// The maximum number of word changes in a line that is announced by them.
const MOST_SPANS: usize = 3;

/// One line of a place, or a piece of a long one.
#[derive(Clone)]
pub(super) struct ReadingLine<'a> {
    pub(super) number: u64,
    /// The first line of the place that it reads, in the order seen.
    pub(super) item: usize,
    /// That line, and the byte of it with which the piece begins.
    pub(super) whole: &'a str,
    pub(super) from: usize,
    pub(super) what: ReadingSubject<'a>,
}

#[derive(Clone)]
pub(super) enum ReadingSubject<'a> {
    Kept(&'a str),
    Removed(&'a str),
    Added(&'a str),
    /// Only its indentation changed.
    Moved(&'a str),
    /// The next piece of the previous line.
    GoesOn(&'a str),
    /// Only some of its words changed: each old text with its new one.
    Changed {
        spans: Vec<(String, String)>,
        text: &'a str,
    },
}

impl<'a> ReadingSubject<'a> {
    /// Returns the phrase for what happens to it, if that is said once for several lines.
    pub(super) fn label(&self) -> Option<&'static str> {
        match self {
            Self::Kept(_) => Some("reading.kept"),
            Self::Removed(_) => Some("reading.removed"),
            Self::Added(_) => Some("reading.added"),
            Self::Moved(_) => Some("reading.moved"),
            Self::GoesOn(_) | Self::Changed { .. } => None,
        }
    }

    /// Returns the current text, or the text after the change.
    pub(super) fn text(&self) -> &'a str {
        match self {
            Self::Kept(text)
            | Self::Removed(text)
            | Self::Added(text)
            | Self::Moved(text)
            | Self::GoesOn(text)
            | Self::Changed { text, .. } => text,
        }
    }
}

impl ReadingLine<'_> {
    /// Estimates how many of its characters are read.
    pub(super) fn size(&self) -> usize {
        let spans = match &self.what {
            ReadingSubject::Changed { spans, .. } => spans.as_slice(),
            ReadingSubject::Kept(_)
            | ReadingSubject::Removed(_)
            | ReadingSubject::Added(_)
            | ReadingSubject::Moved(_)
            | ReadingSubject::GoesOn(_) => &[],
        };
        let spans = spans.iter().map(|(one, other)| one.len() + other.len());
        self.what.text().chars().count() + spans.sum::<usize>()
    }
}

/// Cuts a line that is too long for one part.
pub(super) fn pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = line;
    loop {
        let piece = beginning(rest, MOST_SIGNS);
        pieces.push(piece);
        rest = rest.get(piece.len()..).unwrap_or_default();
        if rest.is_empty() || piece.is_empty() {
            return pieces;
        }
    }
}

/// Returns the lines of a place as they are read: a line in which only some words changed is read once.
pub(super) fn lines_of(hunk: &Hunk) -> Vec<ReadingLine<'_>> {
    let mut lines = Vec::new();
    let mut number = hunk.line;
    let mut item = 0;
    for run in runs_of(hunk) {
        let pairs = pairs_of(run);
        for (at, (whole, what)) in pairs.iter().flatten().enumerate() {
            lines.push(ReadingLine {
                number: number + at as u64,
                // The old line is above the new one.
                item: item + 2 * at,
                whole,
                from: 0,
                what: what.clone(),
            });
        }
        if let Some(pairs) = pairs {
            number += pairs.len() as u64;
            item += run.len();
            continue;
        }
        for line in run {
            let mut from = 0;
            for (at, piece) in pieces(line.text()).into_iter().enumerate() {
                let what = match line {
                    _ if at > 0 => ReadingSubject::GoesOn(piece),
                    ChangedLine::Kept(_) => ReadingSubject::Kept(piece),
                    ChangedLine::Removed(_) => ReadingSubject::Removed(piece),
                    ChangedLine::Added(_) => ReadingSubject::Added(piece),
                };
                lines.push(ReadingLine {
                    number,
                    item,
                    whole: line.text(),
                    from,
                    what,
                });
                from += piece.len();
            }
            item += 1;
            if !matches!(line, ChangedLine::Removed(_)) {
                number += 1;
            }
        }
    }
    lines
}

/// Returns the lines of a place in runs: lines that were removed together with those that take their place, or one that
/// stays.
pub(super) fn runs_of(hunk: &Hunk) -> impl Iterator<Item = &[ChangedLine]> {
    let mut rest = hunk.lines.as_slice();
    std::iter::from_fn(move || {
        let (gone, come) = gone_and_come(rest);
        let (run, behind) = rest.split_at_checked((gone + come).max(1))?;
        rest = behind;
        Some(run)
    })
}

/// Returns how many lines are removed at the beginning of a run, and how many are then added.
fn gone_and_come(lines: &[ChangedLine]) -> (usize, usize) {
    let gone = lines
        .iter()
        .take_while(|line| matches!(line, ChangedLine::Removed(_)));
    let gone = gone.count();
    let come = lines.iter().skip(gone);
    let come = come.take_while(|line| matches!(line, ChangedLine::Added(_)));
    (gone, come.count())
}

/// Returns the new lines of a run and how each differs from its old one, if they are read in pairs: as many
/// lines as were removed take their place, and each has enough in common with its old one.
pub(super) fn pairs_of(run: &[ChangedLine]) -> Option<Vec<(&str, ReadingSubject<'_>)>> {
    let (gone, come) = gone_and_come(run);
    if gone == 0 || gone != come {
        return None;
    }
    let (old, new) = run.split_at(gone);
    let pairs = old.iter().zip(new);
    pairs
        .map(|(old, new)| Some((new.text(), what_changed(old.text(), new.text())?)))
        .collect()
}

/// Returns how one line becomes another, if they have enough in common.
fn what_changed<'a>(old: &str, new: &'a str) -> Option<ReadingSubject<'a>> {
    let bare = new.trim_start();
    if old.trim_start() == bare && !bare.is_empty() && new.chars().count() <= MOST_SIGNS {
        return Some(ReadingSubject::Moved(new));
    }
    let spans = spans(old, new)?;
    Some(ReadingSubject::Changed { spans, text: new })
}

/// Returns the words in which two lines differ; `None` if they have too little in common, or are too long.
fn spans(old: &str, new: &str) -> Option<Vec<(String, String)>> {
    if old.chars().count() > MOST_SIGNS || new.chars().count() > MOST_SIGNS {
        return None;
    }
    let (before, after) = (words(old), words(new));
    let steps = capture_diff_slices(Algorithm::Myers, &before, &after);
    let joined = |words: &[&str]| words.concat();
    let mut spans: Vec<(String, String)> = Vec::new();
    let (mut same, mut between) = (0, None::<String>);
    for step in &steps {
        let (gone, come) = (
            joined(before.get(step.old_range()).unwrap_or_default()),
            joined(after.get(step.new_range()).unwrap_or_default()),
        );
        if let DiffOp::Equal { .. } = step {
            same += come.trim().chars().count();
            between = Some(come);
            continue;
        }
        match (spans.last_mut(), between.take()) {
            // Two changes with only a space between them count as one.
            (Some((before, after)), Some(space)) if space.trim().is_empty() => {
                before.push_str(&space);
                before.push_str(&gone);
                after.push_str(&space);
                after.push_str(&come);
            }
            _ => spans.push((gone, come)),
        }
    }
    let longest = old.trim().chars().count().max(new.trim().chars().count());
    let said = spans
        .iter()
        .all(|(before, after)| !before.trim().is_empty() || !after.trim().is_empty());
    let alike = same * 2 >= longest && said && !spans.is_empty() && spans.len() <= MOST_SPANS;
    alike.then_some(spans)
}

/// Splits a line into words, spaces and single signs.
pub(super) fn words(line: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut words = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, c) in line.char_indices() {
        let now = kind(c);
        if last.is_some_and(|last| last != now || now == 2) {
            words.extend(line.get(start..at));
            start = at;
        }
        last = Some(now);
    }
    words.extend(line.get(start..).filter(|rest| !rest.is_empty()));
    words
}

/// Returns how many places of a file are missing.
pub(super) fn places_left_out(change: &FileChange) -> u64 {
    change.places.saturating_sub(change.hunks.len() as u64)
}

/// Returns whether some lines of a place are indented by tabs and some by spaces.
pub(super) fn mixes_indents(hunk: &Hunk) -> bool {
    let indents_by = |sign: char| {
        let lines = &mut hunk.lines.iter();
        lines.any(|line| indent(line.text()).contains(sign))
    };
    indents_by('\t') && indents_by(' ')
}

/// Returns what indents a line.
pub(super) fn indent(line: &str) -> &str {
    let bare = line.trim_start_matches([' ', '\t']);
    line.get(..line.len() - bare.len()).unwrap_or_default()
}
