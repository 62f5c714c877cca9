//! Requests beside a stream, their answers, and what an attempt to connect follows.
//!
//! Responsibilities: what is asked for, and what came back before anybody has read it. Not here: addresses,
//! tokens, redirects and limits (`transport`), which request comes next (`app`).

use super::Fault;

/// Names one request beside the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// The manifest is wanted.
    Manifest,
    /// A subscription is asked for with this message.
    Subscribe(String),
    /// Something is told to the subscription, and its answer wanted.
    Tell(String),
}

/// Holds the answer to an [`Ask`], before anybody has read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpAnswer {
    /// The status, whatever it is.
    pub status: u16,
    /// The Location header, as it came.
    pub location: Option<String>,
    /// Retry-After, in seconds.
    pub retry_after: Option<u64>,
    /// The body, invalid UTF-8 replaced.
    pub body: String,
}

/// Orders what an attempt to connect does once it is known how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Course {
    /// The plain pair is followed: `/events`, with replies to `/messages`.
    Plain,
    /// A subscription is followed, with replies to `/aaep/v1/replies`.
    Subscription {
        /// The server's name for it.
        id: String,
        /// Where its stream is, as the server said; the usual place when it did not.
        location: Option<String>,
        /// Whether it was made on an earlier connection: when the server does not know it any more,
        /// another attempt makes a new one.
        resumed: bool,
    },
    /// This attempt has failed.
    Refused(Fault),
}
