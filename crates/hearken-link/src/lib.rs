//! Shared by all other parts of hearken: the settings, and the vocabulary for a link, its frames and its
//! faults.
//!
//! Responsibilities: reading the settings file and the rules for scripts; the vocabulary of transports,
//! dialects and the app for a link. Not here: using either.

pub mod config;
pub mod link;
