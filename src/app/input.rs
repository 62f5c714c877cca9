//! The facts that the app is told.

use std::time::Duration;

use crossterm::event::KeyEvent;

use crate::session::LinkId;
use crate::transport::LinkEvent;
use crate::voice::VoiceEvent;

use super::asking::Drawn;

/// Tells a fact.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// The program begins.
    Start,
    /// News of a link.
    Link {
        /// Which link.
        link: LinkId,
        /// What happened.
        event: LinkEvent,
    },
    /// A key.
    Key(KeyEvent),
    /// Pasted text: it never answers by itself.
    Paste(String),
    /// A line of the linear or JSON face.
    Line {
        /// The line without its end.
        text: String,
        /// When it was read, on the monotonic clock; of a line in our own editor, when it was begun.
        read: Duration,
    },
    /// A line is being typed: nothing is to be written until it is done or let go.
    LineBegun,
    /// The line that was being typed was let go.
    LineLeft,
    /// News of the voice.
    Voice(VoiceEvent),
    /// A page of the shown question was drawn.
    Drawn(Drawn),
    /// The terminal says whether the person looks at it.
    Focus(bool),
    /// A deadline has come.
    Deadline,
    /// The terminal or its owner wants us to end at once.
    Terminate,
    /// An interrupt from outside the keyboard reader.
    Interrupt,
    /// Something went wrong with the recording.
    RecordingFailed(String),
    /// What became of [`super::Effect::Remember`]: the file's place, or why there is none.
    Remembered(Result<String, String>),
}
