//! What every other room of hearken shares: the settings, and the words for a link, its frames and its faults.
//!
//! Responsibilities: reading the settings file and the rules for scripts; the vocabulary in which transports, dialects and
//! the app speak about a link. Not here: doing anything with either.

pub mod config;
pub mod link;
