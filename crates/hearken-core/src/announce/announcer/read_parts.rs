//! What is read out or seen in parts: a whole question, the material attached to it, everything an agent wrote.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::announce::announcement::{Announcement, AnnouncementId};
use crate::announce::words::segment::Segment;

/// A whole question, in parts.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionParts {
    /// The parts, at least one.
    pub parts: Vec<Vec<Segment>>,
    /// How many of them, counted from the first, must be heard before the question is answered.
    pub needed: usize,
}

/// What is read from the attached material.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttachedMaterial {
    /// The changes to files.
    Changes,
    /// The output of a call.
    Output,
    /// The agent's plan.
    Plan,
}

/// Everything that an agent wrote in a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnText {
    /// The display name of the agent.
    pub agent: Arc<str>,
    /// The words about it, followed by all of it.
    pub words: Vec<Segment>,
    /// Its parts, in order.
    pub parts: Vec<TurnPart>,
    /// What is copied if no part is selected: everything, then its code blocks.
    pub copied: Arc<[ClipboardText]>,
    /// The newest history entry that belongs to it.
    pub last: AnnouncementId,
}

/// A part of what an agent wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnPart {
    /// The spoken words about it.
    pub words: Vec<Segment>,
    /// Whether it is a heading, the beginning of a code block, or what follows one.
    pub is_landmark: bool,
    /// How far a line of code is indented, and the words for that; `None` for everything else, and for an empty
    /// line.
    pub indent: Option<(String, Vec<Segment>)>,
    /// The line of a code block that it belongs to, from 1; 0 for the words that introduce a block, `None` for
    /// prose.
    pub code_line: Option<usize>,
    /// What is copied if this part is selected: the paragraph, then each inline code in it; or the code block.
    pub copied: Arc<[ClipboardText]>,
}

/// Something that can be copied to the clipboard.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipboardText {
    /// The text, with invisible characters cleaned out.
    pub text: Arc<str>,
    /// The sentence that announces the copying.
    pub words: Vec<Segment>,
}

/// A question in full, for a face with its own head and keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionInSight {
    /// What was found about its action, a sentence each, and whether it is grave: it destroys something, changes the
    /// system or reaches other machines.
    pub findings: Vec<(String, bool)>,
    /// Everything else.
    pub words: Vec<Segment>,
}

/// A changed place, as seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeInSight<'a> {
    /// The path of its file.
    pub path: &'a str,
    /// Whether the file is new.
    pub is_new: bool,
    /// Its number within its file, from 1.
    pub n: usize,
    /// How many places of the file change.
    pub count: u64,
    /// Its lines, and what is missing after them.
    pub items: Vec<ChangeItem>,
}

/// A line of a place that changes, or what is missing there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeItem {
    /// A line.
    Line(LineInSight),
    /// A sentence on what is missing.
    LeftOut(String),
}

/// A line of a place that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineInSight {
    /// Its number: in the new text, or that of a removed line in the old one; `None` if it is not known.
    pub number: Option<u64>,
    /// `+`, `-` or a space.
    pub sign: char,
    /// The line, cleaned, with its indentation.
    pub text: String,
    /// The parts of it that changed, if most of the line did not.
    pub changed: Vec<Range<usize>>,
}

/// A place in a question's changes, as seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct ChangePlace {
    /// The item, counted over all places.
    pub item: usize,
    /// The byte of its text.
    pub byte: usize,
}

impl ChangePlace {
    /// The place after everything.
    pub const END: Self = Self {
        item: usize::MAX,
        byte: 0,
    };
}

/// Returns a piece of an agent's text as it was written.
pub(super) fn written(told: &Announcement) -> Cow<'_, str> {
    match &told.facts().written {
        Some(written) => Cow::Borrowed(written),
        None => Cow::Owned(told.text() + " "),
    }
}

/// Returns the text of consecutive pieces of an output as it was written.
pub fn source_of<'a>(pieces: impl IntoIterator<Item = &'a Announcement>) -> String {
    pieces.into_iter().map(written).collect()
}
