//! What is told in parts, one by one: all of a question, what belongs to it, all that an agent wrote.

use std::sync::Arc;

use crate::announce::announcement::AnnouncementId;
use crate::announce::words::segment::Segment;

/// All of a question, in parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Whole {
    /// The parts, at least one.
    pub parts: Vec<Vec<Segment>>,
    /// How many of them, from the first, must be known before the question is answered.
    pub needed: usize,
}

/// What is read of that which belongs to something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// What changes in files.
    Changes,
    /// What a call brought.
    Output,
    /// What the agent plans.
    Plan,
}

/// All that an agent wrote in a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// What is said of it, and then all of it.
    pub words: Vec<Segment>,
    /// Its parts, in their order.
    pub parts: Vec<TurnPart>,
    /// What is copied where no part is meant: all of it, then its blocks of code.
    pub copied: Arc<[Copied]>,
    /// The newest entry of the history that belongs to it.
    pub last: AnnouncementId,
}

/// A part of what an agent wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnPart {
    /// What is said of it.
    pub words: Vec<Segment>,
    /// Whether it is a heading, the beginning of a block of code, or what follows one.
    pub is_landmark: bool,
    /// How far a line of code is moved to the right, and how that is said; absent for everything else, and for an empty
    /// line.
    pub indent: Option<(String, Vec<Segment>)>,
    /// What is copied where this part is meant: the paragraph, then each inline code in it; or the block of code.
    pub copied: Arc<[Copied]>,
}

/// What can be given to the clipboard.
#[derive(Debug, Clone, PartialEq)]
pub struct Copied {
    /// The text, cleaned of what could not be seen.
    pub text: Arc<str>,
    /// The sentence that says that it is given to the clipboard.
    pub words: Vec<Segment>,
}
