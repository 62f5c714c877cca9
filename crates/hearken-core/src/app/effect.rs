//! The effects that the app asks the shell to carry out.

use std::sync::Arc;

use crate::announce::{Announcement, Utterance};
use crate::config::Delivery;
use crate::link::{Fault, HttpCall, LastWords, LinkId, ServerRoute, ServiceCall, Stream};
use crate::session::QuestionId;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exit {
    /// The person quit: exit code 0.
    Clean,
    /// No source is left that could still speak: exit code 1.
    NoSource,
    /// The program ran until the sessions ended, and a session ended in an error or its source ended before it: exit
    /// code 1.
    Failed,
    /// Interrupted: exit code 130.
    Interrupted,
    /// Ended by a signal: exit code 143.
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

    /// The exit code of an unusable call, which never starts.
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

/// What a recording keeps about a link, besides its news.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordedFact {
    /// The text of one event, or of several, as the app reads it.
    Event(String),
    /// A frame as received, if its events are worded differently or it contains none.
    Frame(String),
    /// A reply in AAEP's terms, sent under this number.
    Reply {
        /// The number of the request.
        request: u64,
        /// The message.
        body: String,
    },
}

/// One thing to do on a link.
#[derive(Debug, Clone, PartialEq)]
pub enum LinkOrder {
    /// Post an answer; its outcome comes back as [`crate::link::LinkEvent::Replied`] with this number.
    Send {
        /// The number of the request.
        request: u64,
        /// The message.
        body: String,
    },
    /// Post a decision to the handler that carries out the decisions of this link; its outcome comes back as
    /// [`crate::link::LinkEvent::Replied`] with this number.
    Hand {
        /// The number of the request.
        request: u64,
        /// The message.
        message: String,
    },
    /// Make one request beside a stream; its answer comes back as [`crate::link::LinkEvent::Answered`] with this
    /// number.
    Call {
        /// The number of the request.
        request: u64,
        /// The request.
        call: HttpCall,
    },
    /// Make one request to a service behind a broker; its answer comes back as [`crate::link::LinkEvent::Answered`]
    /// with this number.
    CallService {
        /// The number of the request.
        request: u64,
        /// The request.
        call: ServiceCall,
    },
    /// Wait no longer for the answers to the request to a service with this number.
    LeaveCall(u64),
    /// Answer an incoming request; if a number is given, the outcome comes back as
    /// [`crate::link::LinkEvent::Replied`] with it.
    Respond {
        /// The number of the request.
        id: u64,
        /// The number of the person's answer.
        request: Option<u64>,
        /// The message.
        body: String,
    },
    /// Follow this stream in the attempt to connect that is under way.
    Follow(Stream),
    /// Give up the attempt to connect that is under way; the reason decides whether and when the next one is made.
    Refuse(Fault),
    /// Send this when the link closes, for whatever reason; it replaces the previous words.
    LastWords(Option<LastWords>),
    /// Leave the connection and follow the source in another way.
    ChangeWay(ServerRoute),
    /// Close the link for good.
    Close,
}

/// One thing that the app asks of the outside world.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Show an announcement (the linear and JSON faces write it; the pane reads the app).
    Show(Arc<Announcement>),
    /// Say this; nothing else is being spoken.
    Speak(Utterance),
    /// Fall silent immediately.
    Hush,
    /// Carry this out on a link.
    Link {
        /// The link.
        link: LinkId,
        /// What to do.
        order: LinkOrder,
    },
    /// Keep this in the recording, if there is one.
    Keep {
        /// The link.
        link: LinkId,
        /// The thing to keep.
        kept: RecordedFact,
    },
    /// Ring the bell.
    Bell,
    /// Send a notification through the terminal.
    Notify(Notice),
    /// Take a notification back.
    Withdraw(Noticed),
    /// Leave this to be read after the full face has closed.
    Farewell(String),
    /// Copy this to the terminal's clipboard.
    Copy(String),
    /// Set the terminal's title; `None` restores it.
    Title(Option<String>),
    /// Save the settings of the voice; the outcome comes back as [`super::Input::Remembered`].
    Remember(Delivery),
    /// Let the person continue the text in their own editor; the outcome comes back as
    /// [`super::Input::Edited`].
    Edit {
        /// The text so far.
        text: String,
        /// The longest text allowed, in bytes.
        most: usize,
    },
    /// Discard what was typed ahead.
    FlushInput,
    /// End the program.
    Quit(Exit),
}

/// The subject of a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Noticed {
    /// A question that waits for an answer.
    Question(QuestionId),
    /// The end of the work that this source's agent was asked to do.
    Turn(LinkId),
}

/// A notification to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The subject; a later notification about the same one replaces this one.
    pub about: Noticed,
    /// The text, in the program's own words.
    pub text: String,
    /// Whether it is unusually urgent.
    pub urgent: bool,
}
