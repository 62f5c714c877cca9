//! What all other parts of hearken share: the settings, and the vocabulary for a link, its frames and its faults.
//!
//! Responsibilities: reading the settings file and the rules for scripts; the vocabulary in which transports, dialects
//! and the app speak about a link. Not here: doing anything with either.

pub mod config;
pub mod link;
