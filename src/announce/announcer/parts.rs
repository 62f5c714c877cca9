//! What is told in parts, one by one: all of a question, and what belongs to it.

use crate::announce::words::segment::Segment;

/// Holds all of a question, in parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Whole {
    /// The parts, at least one.
    pub parts: Vec<Vec<Segment>>,
    /// How many of them, from the first, must be known before the question is answered.
    pub needed: usize,
}

/// Says what is read of that which belongs to something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// What changes in files.
    Changes,
    /// What a call brought.
    Output,
    /// What the agent plans.
    Plan,
}
