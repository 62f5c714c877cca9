//! The model and version behind an agent, in words.
//!
//! Responsibilities: that data, which many sessions share. Not here: the words (`event_facts`), how long they are kept
//! (`interned`).

use crate::announce::words::segment::Segment;

/// The words for an agent's model and version.
#[derive(Debug)]
pub(super) struct AgentVersion {
    pub(super) model: Option<String>,
    pub(super) version: Option<String>,
    pub(super) words: Vec<Segment>,
}
