//! Requests in both directions, their answers, and what an attempt to connect follows.
//!
//! Responsibilities: what is asked for, and what came back before anybody has read it. Not here: which host,
//! tokens, redirects and limits (`transport`), which request comes next (`dialect`).

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

/// Holds a request that came in at a listening source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Its method.
    pub method: Method,
    /// Its path behind the secret, with its query: `/hook?session=1`.
    pub path: String,
    /// Its body, invalid UTF-8 replaced.
    pub body: String,
}

/// Names the method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Reads.
    Get,
    /// Sends something that is taken in.
    Post,
    /// Puts something in the place of what is there.
    Put,
    /// Changes a part of what is there.
    Patch,
    /// Takes away what is there.
    Delete,
}

impl Method {
    /// Every method.
    pub const ALL: [Self; 5] = [Self::Get, Self::Post, Self::Put, Self::Patch, Self::Delete];

    /// Gives the name that it has on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}
