//! A message after reading.

use super::envelope::Envelope;
use super::event::Event;
use super::finding::Finding;

/// One message, decoded leniently.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// Who sent it, when, where it belongs, and how urgent it is.
    pub envelope: Envelope,
    /// What it reports.
    pub event: Event,
    /// What is wrong with it, in the order of the steps of 3.9.
    pub findings: Vec<Finding>,
}
