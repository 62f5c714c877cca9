//! Bytes to frames: one task a link, which reconnects by itself and never reads a frame.
//!
//! Responsibilities: opening sources, keeping them open, handing whole frames and news of the link
//! to a sink, posting replies, recording what came. Not here: what a frame means (`dialect`,
//! `protocol`), what the person is told about a link (`app`, `announce`), reading settings or tokens
//! (`cli`, `runtime`).
//!
//! [`open`] turns a [`Source`] into a `Link`: a reader that speaks to the [`LinkSink`] until it is
//! over, and a poster that takes replies. Each kind of source is one such pair; the driver, which
//! runs the two side by side and answers for every [`LinkHandle::send`], is the same for all.

use std::time::Duration;

mod backoff;
pub mod capture;
mod clean;
mod duplex;
mod exchange;
pub mod file;
mod follow;
mod framing;
mod http;
mod link;
mod outcome;
mod program;
mod recorded;
mod secret;
mod sink;
mod source;
mod sse;
#[cfg(test)]
mod tests;
mod tls;
mod unix;
mod way;
mod websocket;

pub use backoff::Backoff;
pub use capture::{RecordError, Recorder};
pub use exchange::{Ask, Course, HttpAnswer};
pub use link::{LinkHandle, LinkSettings, open};
pub use outcome::{Receipt, Undelivered};
pub use program::end_all_now;
pub use recorded::{Recorded, RecordedAnswer};
pub use secret::Secret;
pub use sink::{LinkNews, LinkSink, WAITING_BYTES};
pub use source::{Endpoints, Source, SourceError, WebSocketAddress};
pub use tls::{Tls, TlsError};
pub use unix::{Socket, folders as socket_folders};
pub use way::Way;

/// Carries one whole message as it came, before anybody has read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The text of the message (invalid UTF-8 replaced).
    pub text: String,
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
    /// The outcome of a [`LinkHandle::send`], exactly one for each.
    Replied {
        /// The number that the sender gave.
        request: u64,
        /// Whether it is where it belongs, as far as that is known.
        outcome: Result<Receipt, Undelivered>,
    },
    /// The outcome of a [`LinkHandle::ask`], exactly one for each.
    Answered {
        /// The number that the asker gave.
        request: u64,
        /// What the server answered, with whatever status.
        outcome: Result<HttpAnswer, Fault>,
    },
    /// The other side does not know what a subscription is: it has no handshake, and refuses nothing.
    NoSubscriptions,
    /// A stream is silent, and nobody can tell whether the other side is there. It is told; nothing is
    /// done about it.
    Silent {
        /// For how long, in seconds.
        seconds: u64,
    },
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

/// Says why a link, a frame or a reply failed, without a payload and without a credential.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Nobody listens at that address.
    #[error("connection refused")]
    Refused,
    /// The host name has no address.
    #[error("the host name is not known")]
    UnknownHost,
    /// No answer in time.
    #[error("no answer in time")]
    TimedOut,
    /// The connection broke or the server closed it.
    #[error("the connection was closed")]
    Closed,
    /// A status that is no success.
    #[error("the server answered with status {status}")]
    Status {
        /// The HTTP status code.
        status: u16,
        /// The server's Retry-After, in seconds, when it gave one.
        retry_after: Option<u64>,
    },
    /// A success that is not an event stream.
    #[error("the server answered with {content_type}, not with an event stream")]
    NotEventStream {
        /// The content type, cut to 64 characters and cleaned; "no content type" when absent.
        content_type: String,
    },
    /// What answers is no WebSocket that speaks the protocol.
    #[error("{0}")]
    NotWebSocket(&'static str),
    /// The TLS handshake failed.
    #[error("no secure connection: {0}")]
    Tls(String),
    /// A line or message is larger than the bound.
    #[error("a message is larger than {limit} bytes")]
    TooLarge {
        /// The bound, in bytes.
        limit: usize,
    },
    /// The server closed its WebSocket with a code that tells why.
    #[error("the server closed the connection with code {code}")]
    ClosedWith {
        /// The close code: 4000 to 4005 are AAEP's (B.2.6).
        code: u16,
    },
    /// A started program ended with an exit code that is no success.
    #[error("the program ended with exit code {code}")]
    Exited {
        /// The code.
        code: i32,
    },
    /// A started program was ended by a signal.
    #[error("the program was ended by signal {signal}")]
    Killed {
        /// The signal's number.
        signal: i32,
    },
    /// The source can't be understood or opened (a file that is not there, a bad address).
    #[error("{0}")]
    Unusable(String),
    /// The producer takes no subscription.
    #[error("the subscription was refused: {reason}")]
    Rejected {
        /// Why, in words.
        reason: String,
        /// After how many seconds it may be asked again.
        retry_after: Option<u64>,
        /// Whether asking again can help.
        again: bool,
    },
    /// The link takes no answers (a file, a pipe).
    #[error("this source takes no answers")]
    OneWay,
    /// Anything else, in words.
    #[error("{0}")]
    Other(String),
}

impl Fault {
    /// Tells whether trying again can't help: the link is given up at once.
    pub fn is_final(&self) -> bool {
        match self {
            Fault::Refused | Fault::UnknownHost | Fault::TimedOut | Fault::Closed => false,
            Fault::Status { status, .. } => !(*status == 429 || *status >= 500),
            Fault::NotEventStream { .. }
            | Fault::NotWebSocket(_)
            | Fault::Tls(_)
            | Fault::Unusable(_)
            | Fault::OneWay => true,
            // A program is never started anew by itself: that could do again what it has done.
            Fault::Exited { .. } | Fault::Killed { .. } => true,
            // Rejected, not known, not allowed, thrown out: asking again changes nothing of that.
            Fault::ClosedWith { code } => matches!(code, 4001..=4004),
            Fault::Rejected { again, .. } => !again,
            Fault::TooLarge { .. } | Fault::Other(_) => false,
        }
    }

    /// Gives how long the other side wants to be left alone, when it said so.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            Fault::Status { retry_after, .. } => retry_after.map(Duration::from_secs),
            Fault::Refused
            | Fault::UnknownHost
            | Fault::TimedOut
            | Fault::Closed
            | Fault::NotEventStream { .. }
            | Fault::NotWebSocket(_)
            | Fault::Tls(_)
            | Fault::TooLarge { .. }
            | Fault::ClosedWith { .. }
            | Fault::Exited { .. }
            | Fault::Killed { .. }
            | Fault::Unusable(_)
            | Fault::OneWay
            | Fault::Other(_) => None,
            Fault::Rejected { retry_after, .. } => retry_after.map(Duration::from_secs),
        }
    }
}
