//! What is worth saying, when, and in which words. Pure: time comes in as an argument.

pub mod coalesce;
pub mod normalise;
pub mod sentence;
pub mod utterance;

pub use utterance::{Class, Mark, Utterance, UtteranceId};
