//! Recordings that begin with an object over many lines: a conversation saved by an agent, or something else.
//!
//! Responsibilities: the first lines, until they show what it is. Not here: recognising it (`dialect`), holding
//! and announcing it (`foreign_sources`).

use crate::dialect::{ForeignFormat, NoEvent};

/// What the first lines of a recording are.
#[derive(Debug, Default)]
pub(super) enum RecordingStart {
    /// Nothing has come yet.
    #[default]
    Awaited,
    /// They may be an object over many lines.
    Held {
        /// The lines.
        text: String,
        /// The finding about each separate line.
        alone: Vec<NoEvent>,
    },
    /// They were saved by an agent, and so was the rest.
    Known(ForeignFormat),
    /// Each line is judged separately.
    Over,
}
