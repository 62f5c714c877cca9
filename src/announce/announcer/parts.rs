//! All of a question, in parts that are told one by one.

use crate::announce::words::segment::Segment;

/// Holds all of a question, in parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Whole {
    /// The parts, at least one.
    pub parts: Vec<Vec<Segment>>,
    /// How many of them, from the first, must be known before the question is answered.
    pub needed: usize,
}
