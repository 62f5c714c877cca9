//! What comes in over a link: whole messages, and what became of the link itself.
//!
//! Responsibilities: the facts, in the words in which every room speaks of them. Not here: where they come
//! from (`transport`), what a message means (`dialect`, `protocol`).

use std::time::Duration;

use super::{Fault, HttpAnswer, Receipt, Request, Undelivered};

/// Carries one whole message as it came, before anybody has read it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frame {
    /// The text of the message (invalid UTF-8 replaced).
    pub text: String,
    /// What the stream calls this kind of message, where it has a name for it: the `event` of a server-sent
    /// event, cut after 128 bytes.
    pub event: Option<String>,
}

impl Frame {
    /// Takes a message that has no name beside its text.
    pub fn of(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            event: None,
        }
    }
}

/// Reports what happened on a link, in the order in which it happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkEvent {
    /// An attempt begins; attempts count from 1 and start again after a good connection.
    Connecting {
        /// Which attempt this is.
        attempt: u32,
    },
    /// The stream is open: response headers are there, or the file could be opened. A server that
    /// sends no headers before its first event can't be told from one that does not answer, so this
    /// may come late; it is no reason to hold anything back.
    Connected,
    /// The server took the connection that was just told as one that goes on behind the last event that
    /// came: its id was sent along, and the answer was an event stream.
    Resumed,
    /// A whole message arrived.
    Frame(Frame),
    /// The link broke or could not be made, and will be tried again by itself.
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
    /// The source came to its regular end (end of a file, 204, a stream that said so).
    Ended,
    /// The outcome of a reply that was sent, exactly one for each.
    Replied {
        /// The number that the sender gave.
        request: u64,
        /// Whether it is where it belongs, as far as that is known.
        outcome: Result<Receipt, Undelivered>,
    },
    /// The outcome of a request that was made beside the stream, exactly one for each.
    Answered {
        /// The number that the asker gave.
        request: u64,
        /// What the server answered, with whatever status.
        outcome: Result<HttpAnswer, Fault>,
    },
    /// One event of a stream that answers a request which was made beside the stream of the link; the request's
    /// [`LinkEvent::Answered`] comes behind the last of them.
    Piece {
        /// The number that the asker gave.
        request: u64,
        /// The text of the event (invalid UTF-8 replaced).
        text: String,
    },
    /// A stream is silent, and nobody can tell whether the other side is there. It is told; nothing is
    /// done about it.
    Silent {
        /// For how long, in seconds.
        seconds: u64,
    },
    /// A listening source waits for requests now.
    Listening {
        /// The port, on this machine's loopback.
        port: u16,
    },
    /// A request came in at a listening source. Whoever sent it waits until it is answered or lapses.
    Request {
        /// Our number for it.
        id: u64,
        /// What it wants.
        request: Request,
    },
    /// Nobody waits for the answer to a request any more: the other side went away, or its time is up.
    Lapsed {
        /// Our number of the request.
        id: u64,
    },
    /// Connections to a listening source were closed because they sent nothing, or did not know its secret.
    Strangers {
        /// How many there were until now.
        count: u64,
    },
    /// A stream that was opened by a message came to its end in good order: its answer is whole. What is
    /// followed next is asked for by the next [`LinkEvent::Connecting`].
    StreamEnded,
    /// A line for people that came beside the messages: what a started program wrote to its standard
    /// error, cleaned and cut. It is shown when the person asks for it.
    Remark {
        /// The line.
        line: String,
    },
    /// Something was left out because of a bound; it is told, never silent.
    Dropped {
        /// Which bound.
        fault: Fault,
        /// How many frames.
        count: u64,
    },
}
