//! Utterances, their order, and how each sounds.
//!
//! Responsibilities: the speech queue, the settings of each utterance, the beat of a silent agent. Not
//! here: what is worth announcing (`announcer`), engines (`voice`).

pub(super) mod delivery;
pub(super) mod heartbeat;
pub(super) mod queue;
pub(super) mod utterance;
