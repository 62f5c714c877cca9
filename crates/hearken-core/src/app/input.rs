//! The facts that reach the app from outside.

use std::sync::Arc;
use std::time::Duration;

use crate::announce::VoiceEvent;
use crate::announce::{Announcement, AnnouncementId, Reason};
use crate::keys::Stroke;
use crate::link::{LinkEvent, LinkId};

use super::nearby::NearbyCommands;
use super::questions::shown_question::QuestionVisibility;

/// What a person points at with a mouse, only in order to look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointerTarget {
    /// The conversation with this number.
    Conversation(usize),
    /// This entry of the history.
    Entry(AnnouncementId),
    /// What is older, or further up.
    Older,
    /// What is newer, or further down.
    Newer,
}

/// A fact from the outside world.
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
    /// Something was read from the keyboard.
    Stroke(Stroke),
    /// The person clicked with a mouse.
    Pointed {
        /// At what; `None` where nothing is.
        at: Option<PointerTarget>,
        /// When the click was read, on the monotonic clock.
        read: Duration,
    },
    /// A line of the linear or JSON face.
    Line {
        /// The line without its end.
        text: String,
        /// When it was read, on the monotonic clock; for a line in our own editor, when it was begun.
        read: Duration,
    },
    /// A line is being typed: nothing is to be written until it is done or abandoned.
    LineBegun,
    /// The line that was being typed was abandoned.
    LineLeft,
    /// News of the voice.
    Voice(VoiceEvent),
    /// A frame of the full face was written, or its screen was closed.
    Drawn {
        /// How much of the shown question is in sight.
        showing: QuestionVisibility,
        /// When its write returned, on the monotonic clock.
        at: Duration,
    },
    /// An announcement that [`super::Effect::Show`] asked for was written.
    Written {
        /// The announcement.
        announcement: Arc<Announcement>,
        /// When it was written, on the monotonic clock.
        at: Duration,
    },
    /// A deadline has come.
    Deadline,
    /// The terminal or its owner wants the program to end immediately.
    Terminate,
    /// An interrupt from outside the keyboard reader.
    Interrupt,
    /// Something went wrong with the recording.
    RecordingFailed(Reason),
    /// What else runs on this machine, found by a search because nothing is heard.
    Found(NearbyCommands),
    /// The outcome of [`super::Effect::Remember`]: the path of the file, or why there is none.
    Remembered(Result<String, Reason>),
    /// The outcome of [`super::Effect::Edit`]: the text, or why there is none.
    Edited(Result<String, Reason>),
}
