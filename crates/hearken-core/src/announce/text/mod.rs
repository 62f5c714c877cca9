//! An agent's text, from chunks to what is shown and spoken.
//!
//! Responsibilities: one reading of Markdown, sentences out of chunks, spoken words out of written ones, lines
//! of a width. Not here: which text is told (`announcer`), the program's own words (`words`).

pub mod coalesce;
pub mod direction;
pub(super) mod markdown;
pub mod normalise;
pub mod sentence;
pub(in crate::announce) mod skeleton;
pub mod speakable;
pub(super) mod wrap;
