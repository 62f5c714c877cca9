//! The facts that the app is told.

use std::sync::Arc;
use std::time::Duration;

use crate::announce::VoiceEvent;
use crate::announce::{Announcement, Reason};
use crate::keys::Stroke;
use crate::link::{Frame, LinkEvent, LinkId};
use crate::protocol::Decoded;

use super::questions::shown::Showing;

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
    /// A frame of a link, and the event that it is: [`App::read_ahead`](super::App::read_ahead) makes it.
    Event {
        /// Which link.
        link: LinkId,
        /// What came.
        frame: Frame,
        /// What was read in it.
        read: Box<Decoded>,
    },
    /// Something was read from the keyboard.
    Stroke(Stroke),
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
    /// A frame of the full face was written, or there is none any more.
    Drawn {
        /// What it has in sight of the shown question.
        showing: Showing,
        /// When its write returned, on the monotonic clock.
        at: Duration,
    },
    /// What [`super::Effect::Show`] wished for was written.
    Written {
        /// What.
        told: Arc<Announcement>,
        /// When, on the monotonic clock.
        at: Duration,
    },
    /// A deadline has come.
    Deadline,
    /// The terminal or its owner wants us to end at once.
    Terminate,
    /// An interrupt from outside the keyboard reader.
    Interrupt,
    /// Something went wrong with the recording.
    RecordingFailed(Reason),
    /// What became of [`super::Effect::Remember`]: the file's place, or why there is none.
    Remembered(Result<String, Reason>),
    /// What became of [`super::Effect::Edit`]: what was written, or why nothing came of it.
    Edited(Result<String, Reason>),
}
