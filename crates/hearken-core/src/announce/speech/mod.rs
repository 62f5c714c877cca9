//! What is said aloud: utterances, their order, how each sounds.
//!
//! Responsibilities: the queue of speech, the settings of each piece of it, the beat of a silent agent. Not
//! here: what is worth telling (`announcer`), engines (`voice`).

pub(super) mod delivery;
pub(super) mod heartbeat;
pub(super) mod queue;
pub(super) mod utterance;
