//! Data that belongs to an event and is read only on demand: file changes, the output of a call, a plan.
//!
//! Responsibilities: that data, in this program's extension (`extensions.hearken`), within bounds; reading and writing
//! it. Not here: comparing texts (`dialect`), the words for it (`announce`).
//!
//! AAEP has no field for any of it. A translator of another protocol attaches it to the event; a producer of
//! AAEP may do the same. Where data was cut, a count says how much is missing.

use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value, json};

use super::action_data::ActionDetails;
use super::call_facts::CallFacts;

/// The most such data that one event carries, in bytes of text: AAEP recommends 64 KiB for a whole event, and
/// JSON syntax also takes room.
const MOST_BYTES: usize = 32 * 1024;
/// The most files, places or steps that one event carries.
const MOST_PARTS: usize = 512;
/// The longest single line, in bytes; AAEP recommends at most 16 KiB for a text.
const LONGEST_LINE: usize = 8 * 1024;

/// The extra data of one event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Attachments {
    /// The changes to files.
    pub changes: Vec<FileChange>,
    /// The output of a call.
    pub output: Option<CallOutput>,
    /// The agent's plan.
    pub plan: Vec<PlanStep>,
    /// What the call does, if the translator knows.
    pub action_details: Option<ActionDetails>,
    /// Facts about the call beyond AAEP's fields.
    pub call: Option<CallFacts>,
    /// The values of the choices of a question that can't be undone.
    pub final_choices: Vec<String>,
    /// Whether questions stay unanswered when a state change leaves their state, because their turn is over.
    pub unanswered: bool,
    /// Whether the session fails if the question stays unanswered; its default response then says so.
    pub fails_unanswered: bool,
    /// Whether the session that begins is a dialog of this program's own with the person, in which no agent works.
    pub aside: bool,
}

/// The changes to one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileChange {
    /// The file's path.
    pub path: String,
    /// Whether the file did not exist before.
    pub is_new: bool,
    /// The number of lines added.
    pub added: u64,
    /// The number of lines removed.
    pub removed: u64,
    /// The number of places that differ.
    pub places: u64,
    /// Identifies all added and removed lines, including those left out; absent if not all of them are known.
    pub digest: Option<[u8; 16]>,
    /// The places, from the first; fewer than [`FileChange::places`] if there were too many.
    pub hunks: Vec<Hunk>,
}

/// One place in a file that differs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hunk {
    /// The number of its first line in the new text, from 1.
    pub line: u64,
    /// Its lines.
    pub lines: Vec<ChangedLine>,
    /// How many lines were left out at its end.
    pub left_out: u64,
}

/// One line of a place that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangedLine {
    /// An unchanged line, which shows where the place is.
    Kept(String),
    /// A removed line.
    Removed(String),
    /// An added line.
    Added(String),
}

/// The output of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallOutput {
    /// What produced it, in the agent's words.
    pub of: String,
    /// The lines that were kept.
    pub lines: Vec<String>,
    /// The number of lines of the whole output.
    pub count: u64,
    /// The number of kept lines before the gap.
    pub gap: u64,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanStep {
    /// What is to be done.
    pub words: String,
    /// How far along it is.
    pub stage: PlanStage,
}

/// How far along a step of a plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanStage {
    /// Not begun.
    Open,
    /// Under way.
    UnderWay,
    /// Done.
    Done,
}

impl PlanStage {
    const NAMES: [(Self, &'static str); 3] = [
        (Self::Open, "open"),
        (Self::UnderWay, "now"),
        (Self::Done, "done"),
    ];
}

impl ChangedLine {
    /// Returns the line's text.
    pub fn text(&self) -> &str {
        match self {
            Self::Kept(text) | Self::Removed(text) | Self::Added(text) => text,
        }
    }

    fn sign(&self) -> char {
        match self {
            Self::Kept(_) => ' ',
            Self::Removed(_) => '-',
            Self::Added(_) => '+',
        }
    }

    fn read(text: &str) -> Option<Self> {
        let line = |rest: &str| rest.to_owned();
        match text.split_at_checked(1)? {
            (" ", rest) => Some(Self::Kept(line(rest))),
            ("-", rest) => Some(Self::Removed(line(rest))),
            ("+", rest) => Some(Self::Added(line(rest))),
            _ => None,
        }
    }
}

impl CallOutput {
    /// Reads a command's output. If it is too long, its beginning and its end are kept, because a command reports its
    /// result last.
    pub fn of(text: &str) -> Option<Self> {
        let text = text.trim_end();
        if text.trim().is_empty() {
            return None;
        }
        let lines: Vec<&str> = text.lines().collect();
        let count = lines.len() as u64;
        let fits = |lines: &mut dyn Iterator<Item = &str>, room: usize| {
            let mut room = room;
            let mut taken = 0;
            for line in lines {
                let Some(left) = room.checked_sub(line.len().min(LONGEST_LINE) + 1) else {
                    break;
                };
                room = left;
                taken += 1;
            }
            taken
        };
        let head = fits(&mut lines.iter().copied(), MOST_BYTES / 4);
        let rest = lines.get(head..).unwrap_or_default();
        let tail = fits(&mut rest.iter().rev().copied(), MOST_BYTES * 3 / 4);
        let kept = lines
            .iter()
            .take(head)
            .chain(rest.iter().skip(rest.len() - tail));
        Some(Self {
            of: String::new(),
            lines: kept.map(|line| bounded(line)).collect(),
            count,
            gap: head as u64,
        })
    }

    /// Returns how many lines were left out.
    pub fn left_out(&self) -> u64 {
        self.count.saturating_sub(self.lines.len() as u64)
    }
}

static NONE: LazyLock<Arc<Attachments>> = LazyLock::new(Arc::default);

impl Attachments {
    /// Returns the shared empty value, which nearly every event has.
    pub fn none() -> Arc<Self> {
        Arc::clone(&NONE)
    }

    /// Returns the same empty value by reference.
    pub fn nothing() -> &'static Self {
        &NONE
    }

    /// Returns another handle to the data, unless it is the shared empty value.
    pub fn any(self: &Arc<Self>) -> Option<Arc<Self>> {
        (!Arc::ptr_eq(self, &NONE)).then(|| Arc::clone(self))
    }

    /// Returns whether there is no data.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns an estimate of the memory that it takes, in bytes.
    pub fn weight(&self) -> usize {
        const BESIDES: usize = 24;
        let line = |text: &str| text.len() + BESIDES;
        let changes = self.changes.iter().map(|change| {
            let lines = change.hunks.iter().flat_map(|hunk| &hunk.lines);
            change.path.len() + lines.map(|it| line(it.text())).sum::<usize>()
        });
        let output = self.output.iter().flat_map(|output| &output.lines);
        let plan = self.plan.iter().map(|step| line(&step.words));
        let deed = self.action_details.iter().map(ActionDetails::weight);
        let choices = self.final_choices.iter().map(|value| line(value));
        let call = self.call.iter().map(|call| line(&call.title));
        choices.sum::<usize>()
            + deed.sum::<usize>()
            + call.sum::<usize>()
            + changes.sum::<usize>()
            + output.map(|it| line(it)).sum::<usize>()
            + plan.sum::<usize>()
    }

    /// Returns the data as members of the extension; what exceeds the bounds is left out and counted.
    pub fn write(&self) -> Map<String, Value> {
        let mut map = Map::new();
        let mut room = ByteBudget::default();
        if !self.changes.is_empty() {
            let changes = self.changes.iter().take(MOST_PARTS);
            let changes: Vec<Value> = changes.map(|change| room.change(change)).collect();
            map.insert("changes".to_owned(), changes.into());
        }
        if let Some(output) = &self.output {
            let output = json!({"of": bounded(&output.of), "lines": output.lines, "count": output.count, "gap": output.gap});
            map.insert("output".to_owned(), output);
        }
        if !self.plan.is_empty() {
            let mut steps = Vec::new();
            for step in self.plan.iter().take(MOST_PARTS) {
                let words = bounded(&step.words);
                if !room.takes(&words) {
                    break;
                }
                let name = PlanStage::NAMES.iter().find(|(it, _)| *it == step.stage);
                steps.push(json!({"step": words, "stage": name.map(|(_, name)| *name)}));
            }
            map.insert("plan".to_owned(), steps.into());
        }
        if let Some(deed) = &self.action_details {
            map.insert("deed".to_owned(), deed.write());
        }
        if let Some(call) = &self.call {
            map.insert("call".to_owned(), call.write());
        }
        if !self.final_choices.is_empty() {
            let values: Vec<String> = self.final_choices.iter().map(|it| bounded(it)).collect();
            map.insert("final_choices".to_owned(), values.into());
        }
        if self.unanswered {
            map.insert("unanswered".to_owned(), true.into());
        }
        if self.fails_unanswered {
            map.insert("fails_unanswered".to_owned(), true.into());
        }
        if self.aside {
            map.insert("aside".to_owned(), true.into());
        }
        map
    }

    /// Reads the data from the extensions of an event, leniently: a value of the wrong kind counts as absent.
    pub fn read(extensions: &Map<String, Value>) -> Self {
        let Some(own) = extensions.get("hearken").and_then(Value::as_object) else {
            return Self::default();
        };
        let mut room = ByteBudget::default();
        let list = |name: &str| {
            let list = own.get(name).and_then(Value::as_array);
            list.into_iter()
                .flatten()
                .take(MOST_PARTS)
                .filter_map(Value::as_object)
        };
        let changes = list("changes")
            .filter_map(|change| read_change(change, &mut room))
            .collect();
        let plan = list("plan").filter_map(|step| {
            let words = bounded(text(step, "step")?);
            let stage = text(step, "stage")?;
            let stage = PlanStage::NAMES.iter().find(|(_, name)| *name == stage)?.0;
            room.takes(&words).then_some(PlanStep { words, stage })
        });
        Self {
            changes,
            plan: plan.collect(),
            action_details: own
                .get("deed")
                .and_then(Value::as_object)
                .map(ActionDetails::read),
            call: own
                .get("call")
                .and_then(Value::as_object)
                .map(CallFacts::read),
            output: own
                .get("output")
                .and_then(Value::as_object)
                .map(read_output),
            final_choices: own
                .get("final_choices")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .take(MOST_PARTS)
                .filter_map(Value::as_str)
                .map(bounded)
                .collect(),
            unanswered: own.get("unanswered").and_then(Value::as_bool) == Some(true),
            fails_unanswered: own.get("fails_unanswered").and_then(Value::as_bool) == Some(true),
            aside: own.get("aside").and_then(Value::as_bool) == Some(true),
        }
    }
}

/// The bytes that still fit.
struct ByteBudget(usize);

impl Default for ByteBudget {
    fn default() -> Self {
        Self(MOST_BYTES)
    }
}

impl ByteBudget {
    /// Reserves room for a text; returns false if there is not enough left.
    fn takes(&mut self, text: &str) -> bool {
        let left = self.0.checked_sub(text.len() + 1);
        // After an omission, everything else is also left out, because a gap could not be expressed.
        self.0 = left.unwrap_or(0);
        left.is_some()
    }

    fn change(&mut self, change: &FileChange) -> Value {
        let mut hunks = Vec::new();
        for hunk in change.hunks.iter().take(MOST_PARTS) {
            let mut lines = Vec::new();
            for line in &hunk.lines {
                let text = format!("{}{}", line.sign(), bounded(line.text()));
                if !self.takes(&text) {
                    break;
                }
                lines.push(text);
            }
            if lines.is_empty() {
                break;
            }
            let left_out = hunk.left_out + (hunk.lines.len() - lines.len()) as u64;
            hunks.push(json!({"line": hunk.line, "lines": lines, "left_out": left_out}));
        }
        json!({"path": bounded(&change.path), "new": change.is_new, "added": change.added,
            "removed": change.removed, "places": change.places, "hunks": hunks})
    }
}

fn text<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    map.get(name).and_then(Value::as_str)
}

fn number(map: &Map<String, Value>, name: &str) -> u64 {
    map.get(name).and_then(Value::as_u64).unwrap_or_default()
}

fn read_change(map: &Map<String, Value>, room: &mut ByteBudget) -> Option<FileChange> {
    let hunks = map.get("hunks").and_then(Value::as_array);
    let hunks = hunks.into_iter().flatten().take(MOST_PARTS);
    let hunks: Vec<Hunk> = hunks
        .filter_map(Value::as_object)
        .map(|hunk| {
            let all = hunk.get("lines").and_then(Value::as_array);
            let all: Vec<&str> = all
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let kept = all.iter().take_while(|line| room.takes(line));
            let lines: Vec<ChangedLine> = kept
                .filter_map(|line| ChangedLine::read(&bounded(line)))
                .collect();
            Hunk {
                line: number(hunk, "line"),
                left_out: number(hunk, "left_out").saturating_add((all.len() - lines.len()) as u64),
                lines,
            }
        })
        .collect();
    let hunks: Vec<Hunk> = hunks
        .into_iter()
        .filter(|hunk| !hunk.lines.is_empty())
        .collect();
    Some(FileChange {
        path: bounded(text(map, "path")?),
        is_new: map.get("new").and_then(Value::as_bool) == Some(true),
        added: number(map, "added"),
        removed: number(map, "removed"),
        places: number(map, "places").max(hunks.len() as u64),
        digest: None,
        hunks,
    })
}

fn read_output(map: &Map<String, Value>) -> CallOutput {
    let all = map.get("lines").and_then(Value::as_array);
    let all = all.into_iter().flatten().filter_map(Value::as_str);
    let mut room = ByteBudget::default();
    let lines: Vec<String> = all
        .take_while(|line| room.takes(line))
        .map(bounded)
        .collect();
    CallOutput {
        of: bounded(text(map, "of").unwrap_or_default()),
        count: number(map, "count").max(lines.len() as u64),
        gap: number(map, "gap").min(lines.len() as u64),
        lines,
    }
}

/// Cuts a line that is too long and marks the cut.
fn bounded(line: &str) -> String {
    if line.len() <= LONGEST_LINE {
        return line.to_owned();
    }
    let end = line.floor_char_boundary(LONGEST_LINE - '…'.len_utf8());
    format!("{}…", &line[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call_facts::CallExit;

    fn again(attached: &Attachments) -> Attachments {
        let own = Value::Object(attached.write());
        assert!(own.to_string().len() < 64 * 1024, "an event of any size");
        Attachments::read(json!({"hearken": own}).as_object().unwrap())
    }

    fn change(count: usize) -> FileChange {
        let line = |n: usize| ChangedLine::Added(format!("let number_{n} = {n};"));
        FileChange {
            path: "src/main.rs".to_owned(),
            added: count as u64,
            places: 2,
            hunks: vec![
                Hunk {
                    line: 3,
                    lines: vec![
                        ChangedLine::Kept("{".to_owned()),
                        ChangedLine::Removed(String::new()),
                    ],
                    left_out: 0,
                },
                Hunk {
                    line: 9,
                    lines: (0..count).map(line).collect(),
                    left_out: 0,
                },
            ],
            ..FileChange::default()
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let attached = Attachments {
            changes: vec![change(20)],
            output: CallOutput::of("one\n\ntwo\n"),
            plan: vec![PlanStep {
                words: "look".to_owned(),
                stage: PlanStage::UnderWay,
            }],
            action_details: Some(ActionDetails {
                commands: vec!["ls".to_owned()],
                paths: vec!["src".to_owned()],
                ..ActionDetails::default()
            }),
            call: Some(CallFacts {
                title: "npm test".to_owned(),
                exit: Some(CallExit::Code(3)),
            }),
            final_choices: vec!["close".to_owned()],
            unanswered: true,
            fails_unanswered: true,
            aside: true,
        };
        assert_eq!(again(&attached), attached);
        assert!(Attachments::read(&Map::new()).is_empty());
        let odd = json!({"hearken": {"changes": [7, {"path": 1}], "plan": "x", "output": [], "final_choices": 1}});
        assert!(Attachments::read(odd.as_object().unwrap()).is_empty());
    }

    #[test]
    fn a_change_of_two_thousand_lines_stays_within_the_bounds_and_says_what_is_missing() {
        let attached = Attachments {
            changes: vec![change(2000), change(5)],
            ..Attachments::default()
        };
        let again = again(&attached);
        assert!(again.weight() < 3 * MOST_BYTES);
        let (first, second) = (&again.changes[0], &again.changes[1]);
        assert_eq!((first.added, first.places), (2000, 2));
        let hunk = &first.hunks[1];
        assert!(hunk.lines.len() > 500);
        assert_eq!(hunk.lines.len() as u64 + hunk.left_out, 2000);
        assert_eq!((second.places, second.hunks.len()), (2, 0));
    }

    #[test]
    fn five_megabytes_of_output_keep_their_beginning_and_their_end() {
        let text: String = (0..100_000)
            .map(|n| format!("{n:06} {}\n", "x".repeat(45)))
            .collect();
        assert!(text.len() > 5_000_000);
        let output = CallOutput::of(&text).unwrap();
        assert_eq!(output.count, 100_000);
        assert!(output.lines[0].starts_with("000000"));
        assert!(output.lines.last().unwrap().starts_with("099999"));
        assert_eq!(output.left_out() + output.lines.len() as u64, 100_000);
        let attached = Attachments {
            output: Some(output),
            ..Attachments::default()
        };
        assert_eq!(again(&attached), attached);
        // A single line of that size, and a text of white space.
        let line = CallOutput::of(&"y".repeat(5_000_000)).unwrap();
        assert!(line.lines[0].len() <= LONGEST_LINE && line.lines[0].ends_with('…'));
        assert_eq!(CallOutput::of(" \n \n"), None);
    }
}
