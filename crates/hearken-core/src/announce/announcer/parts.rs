//! What is read out part by part: a whole question, the material attached to it, everything an agent wrote.

use std::sync::Arc;

use crate::announce::announcement::AnnouncementId;
use crate::announce::words::segment::Segment;

/// A whole question, in parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Whole {
    /// The parts, at least one.
    pub parts: Vec<Vec<Segment>>,
    /// How many of them, from the first, must be heard before the question is answered.
    pub needed: usize,
}

/// What is read from the attached material.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
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
    pub copied: Arc<[Copied]>,
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
    /// What is copied if this part is selected: the paragraph, then each inline code in it; or the code block.
    pub copied: Arc<[Copied]>,
}

/// Something that can be copied to the clipboard.
#[derive(Debug, Clone, PartialEq)]
pub struct Copied {
    /// The text, with invisible characters cleaned out.
    pub text: Arc<str>,
    /// The sentence that announces the copying.
    pub words: Vec<Segment>,
}
