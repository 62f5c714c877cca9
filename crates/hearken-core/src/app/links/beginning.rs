//! Recordings that begin with an object over many lines: what an agent saved of a conversation, or something else.
//!
//! Responsibilities: the first lines, until they show what it is. Not here: what it looks like (`dialect`), holding and
//! announcing it (`foreign_sources`).

use crate::dialect::{ForeignFormat, NoEvent};

/// What the first lines of a recording are.
#[derive(Debug, Default)]
pub(super) enum Beginning {
    /// Nothing has come yet.
    #[default]
    Awaited,
    /// They may be an object over many lines.
    Held {
        /// The lines.
        text: String,
        /// What each of them is by itself.
        alone: Vec<NoEvent>,
    },
    /// They are what an agent saved, and so is the rest.
    Known(ForeignFormat),
    /// Each line is judged by itself.
    Over,
}
