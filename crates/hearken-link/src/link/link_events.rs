//! What arrives over a link: whole messages, and news of the link itself.
//!
//! Responsibilities: the facts, in the vocabulary that all modules share. Not here: where they come from (`transport`),
//! what a message means (`dialect`, `protocol`).

use std::time::Duration;

use super::{DeliveryFailure, Fault, HttpAnswer, IncomingRequest, Receipt};

/// One whole message as it arrived, not yet interpreted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frame {
    /// The text of the message (invalid UTF-8 replaced).
    pub text: String,
    /// The stream's name for this kind of message, if it has one: the `event` of a server-sent event, cut after 128
    /// bytes, or the subject of a broker's message.
    pub event: Option<String>,
    /// Its position in the broker's stream that stores it.
    pub position: Option<u64>,
}

impl Frame {
    /// Creates a frame of text without a name.
    pub fn of(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }
}

/// An event of a link. Events are reported in the order in which they happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkEvent {
    /// An attempt begins; attempts count from 1, and start again after a good connection.
    Connecting {
        /// The number of the attempt.
        attempt: u32,
    },
    /// The stream is open: response headers have arrived, or the file could be opened. A server that sends no
    /// headers before its first event can't be distinguished from one that does not answer, so this may come
    /// late; nothing should wait for it.
    Connected,
    /// The server treats the connection just reported as a continuation after the last event that arrived: that
    /// event's id was sent along, and the answer was an event stream.
    Resumed,
    /// A whole message arrived.
    Frame(Frame),
    /// The link broke or could not be made, and will be retried automatically.
    Lost {
        /// Why.
        fault: Fault,
        /// When the next attempt begins.
        retry_in: Duration,
    },
    /// The link is over for good; nothing more will come from it.
    Failed {
        /// Why.
        fault: Fault,
    },
    /// The source reached its regular end (end of a file, 204, a stream that said so).
    Ended,
    /// The outcome of a reply that was sent; there is exactly one for each.
    Replied {
        /// The number that the sender chose.
        request: u64,
        /// Whether it arrived, if that is known.
        outcome: Result<Receipt, DeliveryFailure>,
    },
    /// The outcome of a request made beside the stream; there is exactly one for each.
    Answered {
        /// The number that the sender chose.
        request: u64,
        /// The server's answer, with any status.
        outcome: Result<HttpAnswer, Fault>,
    },
    /// One event of a stream that answers a request made beside the link's stream; the request's
    /// [`LinkEvent::Answered`] follows the last of them.
    Piece {
        /// The number that the sender chose.
        request: u64,
        /// The text of the event (invalid UTF-8 replaced).
        text: String,
    },
    /// A stream is silent, and it is unknown whether the other side is alive. This is only reported.
    Silent {
        /// The length of the silence, in seconds.
        seconds: u64,
    },
    /// A listening source is now ready for requests.
    Listening {
        /// The port, on this machine's loopback.
        port: u16,
    },
    /// A request arrived at a listening source. Its sender waits until it is answered or lapses.
    Request {
        /// Our number for it.
        id: u64,
        /// The request.
        request: IncomingRequest,
    },
    /// The answer to a request is no longer awaited: the other side went away, or its time is up.
    Lapsed {
        /// Our number for the request.
        id: u64,
    },
    /// Connections to a listening source were closed because they sent nothing, or did not know its secret.
    Strangers {
        /// The number so far.
        count: u64,
    },
    /// A stream that was opened by a message ended in good order: its answer is complete. The next
    /// [`LinkEvent::Connecting`] asks what to follow next.
    StreamEnded,
    /// The stream was followed before, and this many messages were missed meanwhile; they come next.
    Missed {
        /// The number of messages.
        count: u64,
    },
    /// The missed messages have arrived.
    CaughtUp,
    /// A line for people that arrived beside the messages: what a started program wrote to its standard error, cleaned
    /// and cut. It is shown on request.
    Remark {
        /// The line.
        line: String,
    },
    /// Something was dropped because of a bound; this is always reported.
    Dropped {
        /// The bound.
        fault: Fault,
        /// The number of frames.
        count: u64,
    },
}
