//! What a message is, once it was read.

use super::envelope::Envelope;
use super::event::Event;
use super::finding::Finding;

/// One message, decoded as far as it can be understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// Who, when, where, how urgent.
    pub envelope: Envelope,
    /// What.
    pub event: Event,
    /// What is wrong with it, in the order of the steps of 3.9.
    pub findings: Vec<Finding>,
}
