//! The material attached to a call, a question or a plan, in parts that are read one by one and only on demand.
//!
//! Responsibilities: the words of changes, outputs and plans, and where a part ends. Not here: which part is read next
//! (`app`), how any of it is transmitted (`protocol`).
//!
//! # Mental model
//! Changes are read place by place. Because a sign would not be heard, words before the lines say what happens
//! to them, and how many they are, so that no line can pass itself off as such an announcement. If only some
//! words of a line change, they are read before the line. Indentation is announced whenever it changes: in some
//! languages it is all that an edit does. A part is short enough to remember and to fit a small screen; a part
//! that continues says so, and whatever is missing is counted where it is missing.

use std::borrow::Cow;

use super::Announcer;
use super::changed_lines::{
    MOST_SIGNS, ReadingLine, ReadingSubject, lines_of, mixes_indents, pieces, places_left_out,
};
use super::read_parts::{AttachedMaterial, ChangePlace};
use crate::announce::words::phrase::{Arg, Args};
use crate::announce::words::segment::{Segment, naming};
use crate::config::Verbosity;
use crate::protocol::{Attachments, CallOutput, FileChange, PlanStage, PlanStep};

/// The maximum number of lines in a part.
const MOST_LINES: usize = 6;
/// The number of plan steps in a part.
const MOST_STEPS: usize = 5;

impl Announcer {
    /// Returns the parts of the attached material; none if it contains nothing of the kind.
    pub fn parts_of(&self, attached: &Attachments, reads: AttachedMaterial) -> Vec<Vec<Segment>> {
        match reads {
            AttachedMaterial::Changes => self.parts_of_changes(&attached.changes),
            AttachedMaterial::Output => attached
                .output
                .iter()
                .flat_map(|output| self.parts_of_output(output))
                .collect(),
            AttachedMaterial::Plan => self.parts_of_plan(&attached.plan),
        }
    }

    /// Returns a summary of what can be read.
    pub fn summary_of(&self, attached: &Attachments, reads: AttachedMaterial) -> Vec<Segment> {
        match reads {
            AttachedMaterial::Changes => attached
                .changes
                .iter()
                .flat_map(|change| {
                    let args = [("path", exact(&change.path)), count("n", change.places)];
                    self.read("reading.file", &args)
                })
                .collect(),
            AttachedMaterial::Output => attached
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
            AttachedMaterial::Plan => {
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

    /// Returns where each part of the changes begins, as they are seen.
    pub fn places_of_parts(&self, attached: &Attachments) -> Vec<ChangePlace> {
        let parts = self.change_parts(&attached.changes);
        parts.into_iter().map(|part| part.begins).collect()
    }

    /// Reads the rest of a part of the changes after a place in it.
    pub fn rest_of_part(
        &self,
        attached: &Attachments,
        part: usize,
        from: ChangePlace,
    ) -> Vec<Segment> {
        let parts = self.change_parts(&attached.changes);
        let part = parts.get(part);
        part.map_or_else(Vec::new, |part| self.read_from(part, from))
    }

    fn parts_of_changes(&self, changes: &[FileChange]) -> Vec<Vec<Segment>> {
        let parts = self.change_parts(changes).into_iter();
        parts
            .map(|part| self.read_from(&part, part.begins))
            .collect()
    }

    fn change_parts<'a>(&self, changes: &'a [FileChange]) -> Vec<ChangePart<'a>> {
        let mut parts: Vec<ChangePart<'a>> = Vec::new();
        let mut items = 0;
        for change in changes {
            let path = match changes.len() {
                1 => "",
                _ => change.path.as_str(),
            };
            let part = |begins, n, is_first| ChangePart {
                path,
                begins,
                n,
                count: change.places,
                is_first,
                marks_tabs: false,
                lines: Vec::new(),
                left_out: 0,
                places_left_out: 0,
            };
            for (at, hunk) in change.hunks.iter().enumerate() {
                let mut lines = lines_of(hunk).into_iter().peekable();
                let mut is_first = true;
                let marks_tabs = mixes_indents(hunk);
                while let Some(line) = lines.peek() {
                    let begins = self.place_of(line, marks_tabs, items);
                    let mut part = part(begins, at + 1, is_first);
                    part.marks_tabs = marks_tabs;
                    let mut signs = 0;
                    while let Some(line) = lines.next_if(|line| {
                        let fits =
                            part.lines.len() < MOST_LINES && signs + line.size() <= MOST_SIGNS;
                        part.lines.is_empty() || fits
                    }) {
                        signs += line.size();
                        let begins = self.place_of(&line, marks_tabs, items);
                        part.lines.push((begins, line));
                    }
                    if lines.peek().is_none() {
                        part.left_out = hunk.left_out;
                    }
                    parts.push(part);
                    is_first = false;
                }
                items += hunk.lines.len() + usize::from(hunk.left_out > 0);
            }
            let missing = places_left_out(change);
            if missing > 0 {
                let begins = ChangePlace {
                    item: items,
                    byte: 0,
                };
                let mut part = part(begins, 0, true);
                part.path = &change.path;
                part.places_left_out = missing;
                parts.push(part);
                items += 1;
            }
        }
        if let Some(first) = parts.first_mut() {
            // A place without lines may precede the first part.
            first.begins = ChangePlace::default();
        }
        parts
    }

    /// Returns where a line begins as seen, if its place begins with this item.
    fn place_of(&self, line: &ReadingLine<'_>, marks_tabs: bool, items: usize) -> ChangePlace {
        let read = line.whole.get(..line.from).unwrap_or_default();
        let byte = match line.from {
            0 => 0,
            _ => self.line_in_sight(read, marks_tabs).len(),
        };
        ChangePlace {
            item: items + line.item,
            byte,
        }
    }

    /// Reads a part of the changes from a place in it.
    fn read_from(&self, part: &ChangePart<'_>, from: ChangePlace) -> Vec<Segment> {
        if part.places_left_out > 0 {
            let args = [count_of(part.places_left_out), ("path", exact(part.path))];
            return self.read("reading.places_left_out", &args);
        }
        // The line that contains the place, and all lines after it.
        let behind = |(begins, _): &&(ChangePlace, ReadingLine<'_>)| *begins <= from;
        let skipped = part.lines.iter().take_while(behind).count();
        let lines = part.lines.get(skipped.saturating_sub(1)..);
        let lines = lines.unwrap_or_default();
        let is_whole = from <= part.begins;
        let key = match part.is_first && is_whole {
            true => "reading.place",
            false => "reading.place.on",
        };
        let number = lines.first().map_or(0, |(_, line)| line.number);
        let path = match part.path {
            "" => Arg::own(""),
            path => exact(path),
        };
        let args = [
            ("n", Arg::own(part.n)),
            ("count", Arg::own(part.count)),
            ("path", path),
            ("line", Arg::own(number)),
        ];
        let mut words = self.read(key, &args);
        let mut lines: Vec<Cow<'_, ReadingLine<'_>>> =
            lines.iter().map(|(_, line)| Cow::Borrowed(line)).collect();
        let tail = self.tail_of(part, skipped, from);
        if let (Some(first), Some(tail)) = (lines.first_mut(), &tail) {
            first.to_mut().what = ReadingSubject::GoesOn(tail);
        }
        words.extend(self.lines(&lines));
        if part.left_out > 0 {
            words.extend(self.read("reading.left_out", &[count_of(part.left_out)]));
        }
        words
    }

    /// Returns the rest of a single line after a place in it.
    fn tail_of(&self, part: &ChangePart<'_>, count: usize, from: ChangePlace) -> Option<String> {
        let (begins, line) = part.lines.get(count.checked_sub(1)?)?;
        let is_single = match line.what {
            ReadingSubject::Changed { .. } | ReadingSubject::Moved(_) => false,
            ReadingSubject::Kept(_)
            | ReadingSubject::Removed(_)
            | ReadingSubject::Added(_)
            | ReadingSubject::GoesOn(_) => true,
        };
        if !is_single || begins.item != from.item || begins.byte >= from.byte {
            return None;
        }
        let text = self.line_in_sight(line.what.text(), part.marks_tabs);
        let behind = text.floor_char_boundary(from.byte - begins.byte);
        Some(text.get(behind..).unwrap_or_default().to_owned())
    }

    /// Reads consecutive lines; what happens to them is said once for each run of lines that share it.
    fn lines(&self, lines: &[Cow<'_, ReadingLine<'_>>]) -> Vec<Segment> {
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

/// A part of the changes.
struct ChangePart<'a> {
    /// The path of the file; empty if it is the only one.
    path: &'a str,
    begins: ChangePlace,
    /// The number of its place within its file.
    n: usize,
    count: u64,
    /// Whether it is the first part of its place.
    is_first: bool,
    /// Whether tabs are marked in it.
    marks_tabs: bool,
    /// Its lines, and where each begins.
    lines: Vec<(ChangePlace, ReadingLine<'a>)>,
    /// How many lines are missing after it.
    left_out: u64,
    /// How many places of the file are missing, which is then all that it says.
    places_left_out: u64,
}
