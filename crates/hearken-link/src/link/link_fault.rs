//! Faults of a link and phrases of a dialect, typed until they are worded.
//!
//! Responsibilities: each kind of failure, whether a retry can help, how long the other side wants to be left alone;
//! the key of a phrase and its arguments, so that modules without words can say something. Not here: detecting failures
//! (`transport`), announcing them (`app`), the words, and how each kind of argument is made safe to announce
//! (`announce`).

use std::fmt;
use std::time::Duration;

use super::{Cause, NoTls, NoWebSocket};

/// Why a link, a frame or a reply failed, without payloads or credentials.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// No program listens at that address.
    #[error("connection refused")]
    Refused,
    /// The host name has no address.
    #[error("the host name is not known")]
    UnknownHost,
    /// No answer came in time.
    #[error("no answer in time")]
    TimedOut,
    /// The connection broke or the server closed it.
    #[error("the connection was closed")]
    Closed,
    /// An HTTP status other than success.
    #[error("the server answered with status {status}")]
    Status {
        /// The HTTP status code.
        status: u16,
        /// The server's Retry-After, in seconds, if it gave one.
        retry_after: Option<u64>,
    },
    /// A success that is not an event stream.
    #[error("the server answered with {content_type}, not with an event stream")]
    NotEventStream {
        /// The content type, cut to 64 characters and cleaned; "no content type" if absent.
        content_type: String,
    },
    /// The server does not offer a WebSocket that speaks the protocol.
    #[error("{0}")]
    NotWebSocket(NoWebSocket),
    /// The TLS handshake failed.
    #[error("no secure connection: {0}")]
    Tls(NoTls),
    /// A line or message exceeds the bound.
    #[error("a message is larger than {limit} bytes")]
    TooLarge {
        /// The bound, in bytes.
        limit: usize,
    },
    /// A message contains more values than the bound: parsed, they would take many times its size.
    #[error("a message has more than {limit} values")]
    TooManyValues {
        /// The bound.
        limit: usize,
    },
    /// The server closed its WebSocket with a code that gives the reason.
    #[error("the server closed the connection with code {code}")]
    ClosedWith {
        /// The close code.
        code: u16,
        /// Its words, cleaned and cut; they are the other side's and are never announced alone.
        reason: Reason,
        /// Whether another connection would also be turned away.
        turned_away: bool,
    },
    /// A started program ended with an exit code other than success.
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
    /// The source can't be understood or opened (a missing file, a bad address).
    #[error("{0}")]
    Unusable(Cause),
    /// The producer refuses the subscription.
    #[error("the subscription was refused: {reason}")]
    Rejected {
        /// Why, with advice.
        reason: Phrase,
        /// After how many seconds it may be asked again.
        retry_after: Option<u64>,
        /// Whether asking again can help.
        again: bool,
    },
    /// The other side received a request and declines it.
    #[error("the request was declined: {0}")]
    Declined(Phrase),
    /// The link accepts no answers (a file, a pipe).
    #[error("this source takes no answers")]
    OneWay,
    /// Anything else.
    #[error("{0}")]
    Other(Cause),
}

/// The other side's own words about an end, hidden in the debug form.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Reason(pub String);

impl fmt::Debug for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl Fault {
    /// Returns whether a retry can't help: the link is then given up immediately.
    pub fn is_final(&self) -> bool {
        match self {
            Fault::Refused | Fault::UnknownHost | Fault::TimedOut | Fault::Closed => false,
            Fault::Status { status, .. } => !(*status == 429 || *status >= 500),
            Fault::NotEventStream { .. }
            | Fault::NotWebSocket(_)
            | Fault::Tls(_)
            | Fault::Unusable(_)
            | Fault::OneWay => true,
            // A program is never restarted automatically: that could repeat what it has done.
            Fault::Exited { .. } | Fault::Killed { .. } | Fault::Declined(_) => true,
            Fault::ClosedWith { turned_away, .. } => *turned_away,
            Fault::Rejected { again, .. } => !again,
            Fault::TooLarge { .. } | Fault::TooManyValues { .. } | Fault::Other(_) => false,
        }
    }

    /// Returns how long the other side wants to be left alone, if it said so.
    pub fn retry_after(&self) -> Option<Duration> {
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
            | Fault::TooManyValues { .. }
            | Fault::ClosedWith { .. }
            | Fault::Exited { .. }
            | Fault::Killed { .. }
            | Fault::Unusable(_)
            | Fault::OneWay
            | Fault::Declined(_)
            | Fault::Other(_) => None,
            Fault::Rejected { retry_after, .. } => retry_after.map(Duration::from_secs),
        }
    }
}

/// The key of a phrase and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    /// The key in the phrase files.
    pub key: &'static str,
    /// The arguments, by the names of the phrase's placeholders.
    pub args: Vec<(&'static str, PhraseArg)>,
}

/// An argument of a phrase, by its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PhraseArg {
    /// A number, or a text of ours.
    Own(String),
    /// A name that a stranger chose.
    Name(String),
    /// Several such names.
    Names(Vec<String>),
    /// The other side's own words.
    Agent(String),
    /// Another phrase.
    Phrase(Phrase),
    /// Several phrases, one after the other.
    Phrases(Vec<Phrase>),
    /// Why something did not work.
    Fault(Fault),
}

impl Phrase {
    /// Creates a phrase without arguments.
    pub fn new(key: &'static str) -> Self {
        Self {
            key,
            args: Vec::new(),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn with(mut self, name: &'static str, word: PhraseArg) -> Self {
        self.args.push((name, word));
        self
    }
}

impl From<&'static str> for Phrase {
    fn from(key: &'static str) -> Self {
        Self::new(key)
    }
}

impl std::fmt::Display for Phrase {
    /// Writes the key, for a log line; the arguments may come from a stranger.
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(self.key)
    }
}
