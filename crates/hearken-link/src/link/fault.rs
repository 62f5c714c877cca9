//! What can go wrong with a link, and sentences of a dialect: typed until they are worded.
//!
//! Responsibilities: each kind of failure, whether trying again can help, how long the other side wants to
//! be left alone; the key of a phrase and what stands in it, so that rooms that know no words can say something. Not
//! here: finding it out (`transport`), telling the person (`app`), the words, and how each kind of argument is made
//! safe to say (`announce`).

use std::fmt;
use std::time::Duration;

use super::{Cause, NoTls, NoWebSocket};

/// Why a link, a frame or a reply failed, without a payload and without a credential.
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
    NotWebSocket(NoWebSocket),
    /// The TLS handshake failed.
    #[error("no secure connection: {0}")]
    Tls(NoTls),
    /// A line or message is larger than the bound.
    #[error("a message is larger than {limit} bytes")]
    TooLarge {
        /// The bound, in bytes.
        limit: usize,
    },
    /// A message has more values in it than the bound: read, they would take many times its size.
    #[error("a message has more than {limit} values")]
    TooManyValues {
        /// The bound.
        limit: usize,
    },
    /// The server closed its WebSocket with a code that tells why.
    #[error("the server closed the connection with code {code}")]
    ClosedWith {
        /// The close code.
        code: u16,
        /// Its words, cleaned and cut; they are the other side's, and told to nobody by themselves.
        reason: Reason,
        /// Whether another connection would be turned away too.
        turned_away: bool,
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
    Unusable(Cause),
    /// The producer takes no subscription.
    #[error("the subscription was refused: {reason}")]
    Rejected {
        /// Why, with what helps.
        reason: Phrase,
        /// After how many seconds it may be asked again.
        retry_after: Option<u64>,
        /// Whether asking again can help.
        again: bool,
    },
    /// The link takes no answers (a file, a pipe).
    #[error("this source takes no answers")]
    OneWay,
    /// Anything else.
    #[error("{0}")]
    Other(Cause),
}

/// The other side's own words about an end; its debug form shows none of them.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Reason(pub String);

impl fmt::Debug for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl Fault {
    /// Returns whether trying again can't help: the link is given up at once.
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
            Fault::ClosedWith { turned_away, .. } => *turned_away,
            Fault::Rejected { again, .. } => !again,
            Fault::TooLarge { .. } | Fault::TooManyValues { .. } | Fault::Other(_) => false,
        }
    }

    /// Returns how long the other side wants to be left alone, when it said so.
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
            | Fault::Other(_) => None,
            Fault::Rejected { retry_after, .. } => retry_after.map(Duration::from_secs),
        }
    }
}

/// The key of a phrase and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    /// The key in the files of phrases.
    pub key: &'static str,
    /// What stands in it, by the names that the phrase has for them.
    pub args: Vec<(&'static str, Word)>,
}

/// What stands in a phrase, by whose word it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// A number, or a text of ours.
    Own(String),
    /// A name that a stranger chose.
    Name(String),
    /// Several such names.
    Names(Vec<String>),
    /// What the other side says in its own words.
    Agent(String),
    /// Another phrase.
    Phrase(Phrase),
    /// Several phrases, one behind the other.
    Phrases(Vec<Phrase>),
    /// Why something did not work.
    Fault(Fault),
}

impl Phrase {
    /// Names a phrase without arguments.
    pub fn new(key: &'static str) -> Self {
        Self {
            key,
            args: Vec::new(),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn with(mut self, name: &'static str, word: Word) -> Self {
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
    /// Writes the key, for a line of a log; what stands in it may be a stranger's.
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(self.key)
    }
}
