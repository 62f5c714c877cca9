//! What the app wishes of the world.

use std::sync::Arc;

use crate::announce::{Announcement, Utterance};
use crate::config::Delivery;
use crate::link::{Call, Fault, LastWords, LinkId, Stream, Way};
use crate::session::PromptId;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exit {
    /// As wished: exit code 0.
    Clean,
    /// No source remains that could still speak: exit code 1.
    NoSource,
    /// A session ended in an error, or its source ended before it, and the end of the sessions was waited for:
    /// exit code 1.
    Failed,
    /// Interrupted: exit code 130.
    Interrupted,
    /// Told to end by a signal: exit code 143.
    Terminated,
}

impl Exit {
    /// Every way to end.
    pub const ALL: [Self; 5] = [
        Self::Clean,
        Self::NoSource,
        Self::Failed,
        Self::Interrupted,
        Self::Terminated,
    ];

    /// The code of a call that can't be used, which never begins.
    pub const UNUSABLE: u8 = 2;

    /// Returns the program's exit code: a contract that scripts rely on.
    pub fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::NoSource | Self::Failed => 1,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }
}

/// What a recording keeps of a link, beside its news.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// The text of an event, or of several, as it is heard.
    Event(String),
    /// A frame as it came, where its events are in other words or it holds none.
    Frame(String),
    /// A reply in AAEP's terms, which goes out under this number.
    Reply {
        /// The number of the request.
        request: u64,
        /// The message.
        body: String,
    },
}

/// Wishes something of the world.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Show an announcement (the linear and JSON faces write it; the pane reads the app).
    Show(Arc<Announcement>),
    /// Say this; nothing else is in the engine.
    Speak(Utterance),
    /// Fall silent at once.
    Hush,
    /// Post an answer; its outcome comes back as [`crate::link::LinkEvent::Replied`] with this number.
    Send {
        /// To whom.
        link: LinkId,
        /// The number of the request.
        request: u64,
        /// The message.
        body: String,
    },
    /// Post a decision to whoever carries decisions of this link out; its outcome comes back as
    /// [`crate::link::LinkEvent::Replied`] with this number.
    Hand {
        /// Of which link.
        link: LinkId,
        /// The number of the request.
        request: u64,
        /// The message.
        message: String,
    },
    /// Make one request beside a stream; its answer comes back as [`crate::link::LinkEvent::Answered`] with this
    /// number.
    Call {
        /// Of whom.
        link: LinkId,
        /// The number of the request.
        request: u64,
        /// Which.
        call: Call,
    },
    /// Answer a request that came in; where a number is given, its outcome comes back as
    /// [`crate::link::LinkEvent::Replied`] with it.
    Respond {
        /// Over which link it came.
        link: LinkId,
        /// Its number.
        id: u64,
        /// The number of the person's answer.
        request: Option<u64>,
        /// The message.
        body: String,
    },
    /// Follow this in the attempt to connect that is under way.
    Follow {
        /// Which link.
        link: LinkId,
        /// What.
        stream: Stream,
    },
    /// Give up the attempt to connect that is under way.
    Refuse {
        /// Which link.
        link: LinkId,
        /// Why, and so whether and when another one is made.
        fault: Fault,
    },
    /// Send this when the link is closed, on whatever way out; it takes the place of the one before.
    LastWords {
        /// Which link.
        link: LinkId,
        /// What; `None` for nothing.
        words: Option<LastWords>,
    },
    /// Leave the connection of a link and follow its source by another way.
    ChangeWay {
        /// Which link.
        link: LinkId,
        /// By which way from now on.
        way: Way,
    },
    /// Keep this in the recording, if there is one.
    Keep {
        /// Of which link.
        link: LinkId,
        /// What.
        kept: Kept,
    },
    /// Close a link for good.
    Close(LinkId),
    /// Ring the bell.
    Bell,
    /// Send a notification through the terminal.
    Notify(Notice),
    /// Take a notification back.
    Withdraw(Noticed),
    /// Let this be read after the full face, whose screen vanishes.
    Farewell(String),
    /// Give this to the terminal's clipboard.
    Copy(String),
    /// Set the terminal's title; `None` restores it.
    Title(Option<String>),
    /// Remember how the voice is to sound; its outcome comes back as [`super::Input::Remembered`].
    Remember(Delivery),
    /// Let the person write on in their own editor; what becomes of it comes back as [`super::Input::Edited`].
    Edit {
        /// What is written so far.
        text: String,
        /// How long it may become, in bytes.
        most: usize,
    },
    /// Throw away what was typed ahead.
    FlushInput,
    /// End.
    Quit(Exit),
}

/// What a notification is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Noticed {
    /// A question that waits.
    Question(PromptId),
    /// The end of what the agent of this source was told to do.
    Turn(LinkId),
}

/// Wishes a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// What it is about; a later one about the same takes its place.
    pub about: Noticed,
    /// What it says, in the program's own words.
    pub text: String,
    /// Whether it is more than usually urgent.
    pub urgent: bool,
}
