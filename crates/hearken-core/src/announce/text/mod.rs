//! An agent's text, from chunks to what is shown and spoken.
//!
//! Responsibilities: one reading of Markdown, sentences from chunks, spoken words from written ones, lines
//! of a given width. Not here: which text is announced (`announcer`), the program's own words (`words`).

pub mod coalesce;
pub(in crate::announce) mod content_type;
pub mod direction;
pub(in crate::announce) mod failure;
pub(super) mod markdown;
pub mod normalise;
pub mod sentence;
pub(in crate::announce) mod skeleton;
pub mod speakable;
pub(super) mod wrap;
