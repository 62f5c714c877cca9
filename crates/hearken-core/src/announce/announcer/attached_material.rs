//! The material attached to a call, a question or a plan, in parts that are read one by one and only on demand.
//!
//! Responsibilities: the words of changes, outputs and plans, and where a part ends. Not here: which part is read next
//! (`app`), how any of it is transmitted (`protocol`).
//!
//! # Mental model
//! Changes are read place by place. What happens to lines is said before them, as a sign would not be heard, together
//! with the number of lines it applies to, so that no line can pass itself off as such an announcement. If only some
//! words of a line change, they are read before the line. Indentation is announced whenever it changes: in some
//! languages it is all that an edit does. A part is short enough to remember and to fit a small screen; a part that
//! continues says so, and whatever is missing is counted where it is missing.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::Announcer;
use super::read_parts::Reads;
use crate::announce::text::wrap::beginning;
use crate::announce::words::phrase::{Arg, Args};
use crate::announce::words::segment::{Segment, naming};
use crate::config::Verbosity;
use crate::protocol::{
    Attachments, CallOutput, ChangedLine, FileChange, Hunk, PlanStage, PlanStep,
};

/// The maximum number of lines in a part.
const MOST_LINES: usize = 6;
/// The maximum number of characters in these lines; a longer line gets parts of its own.
const MOST_SIGNS: usize = 240;
/// The number of plan steps in a part.
const MOST_STEPS: usize = 5;
/// The maximum number of word changes in a line that is announced by them.
const MOST_SPANS: usize = 3;

impl Announcer {
    /// Returns the parts of the attached material; none if it contains nothing of the kind.
    pub fn parts_of(&self, attached: &Attachments, reads: Reads) -> Vec<Vec<Segment>> {
        match reads {
            Reads::Changes => self.parts_of_changes(&attached.changes),
            Reads::Output => attached
                .output
                .iter()
                .flat_map(|output| self.parts_of_output(output))
                .collect(),
            Reads::Plan => self.parts_of_plan(&attached.plan),
        }
    }

    /// Returns a summary of what can be read.
    pub fn summary_of(&self, attached: &Attachments, reads: Reads) -> Vec<Segment> {
        match reads {
            Reads::Changes => attached
                .changes
                .iter()
                .flat_map(|change| {
                    let args = [("path", exact(&change.path)), count("n", change.places)];
                    self.read("reading.file", &args)
                })
                .collect(),
            Reads::Output => attached
                .output
                .iter()
                .flat_map(|output| {
                    let args = [
                        ("of", exact(&output.of)),
                        count("n", output.count),
                        count("left", output.left_out()),
                    ];
                    self.read("reading.output", &args)
                })
                .collect(),
            Reads::Plan => {
                let done = |step: &&PlanStep| step.stage == PlanStage::Done;
                let under_way = |step: &&PlanStep| step.stage == PlanStage::UnderWay;
                let at = attached.plan.iter().find(under_way);
                let args = [
                    ("done", Arg::own(attached.plan.iter().filter(done).count())),
                    ("n", Arg::own(attached.plan.len())),
                    ("now", exact(at.map_or("", |step| &step.words))),
                ];
                self.read("reading.plan", &args)
            }
        }
    }

    fn read(&self, key: &str, args: &Args<'_>) -> Vec<Segment> {
        self.phrases.say(key, Verbosity::Normal, args)
    }

    /// Returns where each part of the changes begins: the place, counted over all files, and the number of its line.
    pub fn places_of_parts(&self, attached: &Attachments) -> Vec<(usize, u64)> {
        let parts = self.placed_parts(&attached.changes);
        parts.into_iter().map(|(at, _)| at).collect()
    }

    fn parts_of_changes(&self, changes: &[FileChange]) -> Vec<Vec<Segment>> {
        let parts = self.placed_parts(changes);
        parts.into_iter().map(|(_, part)| part).collect()
    }

    fn placed_parts(&self, changes: &[FileChange]) -> Vec<((usize, u64), Vec<Segment>)> {
        let mut parts = Vec::new();
        let mut place = 0;
        for change in changes {
            let path = match changes.len() {
                1 => Arg::own(""),
                _ => exact(&change.path),
            };
            for (at, hunk) in change.hunks.iter().enumerate() {
                let mut lines = lines_of(hunk).into_iter().peekable();
                let mut first = true;
                while let Some(line) = lines.peek() {
                    let begins = (place, line.number);
                    let key = match first {
                        true => "reading.place",
                        false => "reading.place.on",
                    };
                    let args = [
                        ("n", Arg::own(at + 1)),
                        ("count", Arg::own(change.places)),
                        ("path", path.clone()),
                        ("line", Arg::own(line.number)),
                    ];
                    let mut part = self.read(key, &args);
                    let mut said = Vec::new();
                    let mut signs = 0;
                    while let Some(line) = lines.next_if(|line| {
                        let fits = said.len() < MOST_LINES && signs + line.size() <= MOST_SIGNS;
                        said.is_empty() || fits
                    }) {
                        signs += line.size();
                        said.push(line);
                    }
                    part.extend(self.lines(&said));
                    if lines.peek().is_none() && hunk.left_out > 0 {
                        part.extend(self.read("reading.left_out", &[count_of(hunk.left_out)]));
                    }
                    parts.push((begins, part));
                    first = false;
                }
                place += 1;
            }
            let missing = change.places.saturating_sub(change.hunks.len() as u64);
            if missing > 0 {
                let args = [count_of(missing), ("path", exact(&change.path))];
                let words = self.read("reading.places_left_out", &args);
                parts.push(((place, 0), words));
            }
        }
        parts
    }

    /// Reads consecutive lines; what happens to them is said once for each run of lines that share it.
    fn lines(&self, lines: &[ReadingLine<'_>]) -> Vec<Segment> {
        let mut words = Vec::new();
        let mut heard = "";
        let runs = lines.chunk_by(|one, next| {
            let label = one.what.label();
            label.is_some() && label == next.what.label()
        });
        for run in runs {
            if let Some(label) = run.first().and_then(|line| line.what.label()) {
                let n = if run.len() > 1 { run.len() } else { 0 };
                words.extend(self.read(label, &[count_of(n as u64)]));
            }
            for line in run {
                words.extend(self.line(&line.what, &mut heard));
            }
        }
        words
    }

    /// Reads one line, and its indentation if that differs from what was heard last.
    fn line<'a>(&self, line: &ReadingSubject<'a>, heard: &mut &'a str) -> Vec<Segment> {
        let mut words = Vec::new();
        if let ReadingSubject::Changed { spans, .. } = line {
            for (before, after) in spans {
                let key = match (before.trim().is_empty(), after.trim().is_empty()) {
                    (true, _) => "reading.words.added",
                    (false, true) => "reading.words.removed",
                    (false, false) => "reading.words.changed",
                };
                let args = [("before", exact(before)), ("after", exact(after))];
                words.extend(self.read(key, &args));
            }
            words.extend(self.read("reading.now", &[]));
        }
        let text = line.text();
        let bare = text.trim_start_matches([' ', '\t']);
        let before = text.get(..text.len() - bare.len()).unwrap_or_default();
        if let ReadingSubject::GoesOn(_) = line {
            words.extend(self.read("reading.goes_on", &[]));
        } else if !bare.trim().is_empty() && before != *heard {
            *heard = before;
            words.extend(self.indent(before));
        }
        let text = match text.trim().is_empty() {
            true => Arg::Own(self.phrases.text("reading.empty", &[])),
            false => exact(text),
        };
        words.extend(self.read("reading.line", &[("text", text)]));
        words
    }

    fn parts_of_output(&self, output: &CallOutput) -> Vec<Vec<Segment>> {
        let mut parts = Vec::new();
        let missing = output.left_out();
        let mut kept = output.lines.iter().enumerate().peekable();
        while let Some((from, _)) = kept.peek().copied() {
            let gap = usize::try_from(output.gap).unwrap_or(usize::MAX);
            let after_gap = missing > 0 && from >= gap;
            let number = from as u64 + 1 + if after_gap { missing } else { 0 };
            let mut words = Vec::new();
            if missing > 0 && from == gap {
                words.extend(self.read("reading.left_out", &[count_of(missing)]));
            }
            words.extend(self.read("reading.from_line", &[("line", Arg::own(number))]));
            let (mut count, mut signs) = (0, 0);
            while let Some((_, line)) = kept.next_if(|(at, line)| {
                let fits = count < MOST_LINES && signs + line.chars().count() <= MOST_SIGNS;
                count == 0 || (fits && (missing == 0 || *at != gap))
            }) {
                count += 1;
                signs += line.chars().count();
                for (at, piece) in pieces(line.trim()).into_iter().enumerate() {
                    if at > 0 {
                        parts.push(std::mem::take(&mut words));
                    }
                    words.extend(self.read("reading.line", &[("text", exact(piece))]));
                }
            }
            parts.push(words);
        }
        parts
    }

    fn parts_of_plan(&self, plan: &[PlanStep]) -> Vec<Vec<Segment>> {
        let mut parts = Vec::new();
        for (part, steps) in plan.chunks(MOST_STEPS).enumerate() {
            let mut words = Vec::new();
            for (at, step) in steps.iter().enumerate() {
                let key = match step.stage {
                    PlanStage::Open => "reading.step.open",
                    PlanStage::UnderWay => "reading.step.under_way",
                    PlanStage::Done => "reading.step.done",
                };
                let n = Arg::own(part * MOST_STEPS + at + 1);
                let step = self.read(key, &[("n", n), ("text", exact(&step.words))]);
                words.extend(naming(step));
            }
            parts.push(words);
        }
        parts
    }
}

fn exact(text: &str) -> Arg {
    Arg::Exact(text.to_owned(), None)
}

/// Returns a count as an argument, empty for zero.
fn count(name: &'static str, n: u64) -> (&'static str, Arg) {
    match n {
        0 => (name, Arg::own("")),
        n => (name, Arg::own(n)),
    }
}

fn count_of(n: u64) -> (&'static str, Arg) {
    count("n", n)
}

/// One line of a place, or a piece of a long one.
struct ReadingLine<'a> {
    number: u64,
    what: ReadingSubject<'a>,
}

enum ReadingSubject<'a> {
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
    fn label(&self) -> Option<&'static str> {
        match self {
            Self::Kept(_) => Some("reading.kept"),
            Self::Removed(_) => Some("reading.removed"),
            Self::Added(_) => Some("reading.added"),
            Self::Moved(_) => Some("reading.moved"),
            Self::GoesOn(_) | Self::Changed { .. } => None,
        }
    }

    /// Returns the text as it is, or as it will be.
    fn text(&self) -> &'a str {
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
    /// Estimates how many characters are read of it.
    fn size(&self) -> usize {
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
fn pieces(line: &str) -> Vec<&str> {
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

/// Returns the lines of a place as they are read: a line of which only some words changed becomes a single line.
fn lines_of(hunk: &Hunk) -> Vec<ReadingLine<'_>> {
    let mut lines = Vec::new();
    let mut number = hunk.line;
    let mut rest = hunk.lines.as_slice();
    while let Some(first) = rest.first() {
        let gone = rest
            .iter()
            .take_while(|line| matches!(line, ChangedLine::Removed(_)))
            .count();
        let come = rest.iter().skip(gone);
        let come = come
            .take_while(|line| matches!(line, ChangedLine::Added(_)))
            .count();
        let (run, behind) = rest.split_at((gone + come).max(1));
        rest = behind;
        let pairs: Option<Vec<ReadingLine<'_>>> = (gone > 0 && gone == come)
            .then(|| {
                let (old, new) = run.split_at(gone);
                let pairs = old.iter().zip(new).enumerate();
                pairs
                    .map(|(at, (old, new))| {
                        let what = what_changed(old.text(), new.text())?;
                        let number = number + at as u64;
                        Some(ReadingLine { number, what })
                    })
                    .collect()
            })
            .flatten();
        if let Some(pairs) = pairs {
            number += pairs.len() as u64;
            lines.extend(pairs);
            continue;
        }
        let run = if gone + come == 0 {
            std::slice::from_ref(first)
        } else {
            run
        };
        for line in run {
            for (at, piece) in pieces(line.text()).into_iter().enumerate() {
                let what = match line {
                    _ if at > 0 => ReadingSubject::GoesOn(piece),
                    ChangedLine::Kept(_) => ReadingSubject::Kept(piece),
                    ChangedLine::Removed(_) => ReadingSubject::Removed(piece),
                    ChangedLine::Added(_) => ReadingSubject::Added(piece),
                };
                lines.push(ReadingLine { number, what });
            }
            if !matches!(line, ChangedLine::Removed(_)) {
                number += 1;
            }
        }
    }
    lines
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
