//! How a connection is opened: the address and kind of a stream, the terms of a WebSocket, another way to the same
//! server.
//!
//! Responsibilities: what a dialect specifies before the first frame. Not here: the host, and opening the
//! connection (`transport`).

use std::time::Duration;

use super::Body;

/// The address of a stream on its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// The address that the person gave, query included.
    Given,
    /// A different path from the person's, with the person's query.
    GivenAt(String),
    /// An absolute path on the server, with its own query if needed.
    Path(String),
    /// The address that the server itself names, absolute or as a path. It may be on another server, if that is safe;
    /// the token is then left out.
    Named(String),
    /// Messages that a broker stores and is to deliver.
    Stored(Consumer),
    /// Messages that a broker passes on under these subjects, delivered as they come.
    Passing(UnstoredSubjects),
}

/// Messages that a broker is to pass on without storing them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnstoredSubjects {
    /// The subjects.
    pub subjects: Vec<String>,
    /// The name under which answers to the person arrive, if they have one.
    pub person: Option<String>,
}

/// Stored messages that a broker is to deliver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consumer {
    /// The stream in which it is stored.
    pub stream: String,
    /// The name under which the broker remembers what was delivered; `None` if nothing is to be remembered.
    pub durable: Option<String>,
    /// The subjects that are delivered.
    pub subjects: Vec<String>,
    /// The subjects of messages that are not stored and are delivered as they come.
    pub passing: Vec<String>,
    /// Whether the stream may be missing; it is then followed as soon as it exists.
    pub may_be_missing: bool,
}

/// The stream that a connection attempt follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    /// Its address.
    pub at: Address,
    /// The message that opens it, which is posted; without one it is read with GET. A stream that was opened by a
    /// message is its answer: its end is reported by [`super::LinkEvent::StreamEnded`].
    pub opened_by: Option<Body>,
    /// A header with a protocol version, as in [`super::HttpCall`].
    pub version: Option<(&'static str, &'static str)>,
    /// The path to which replies are posted, as JSON; without one, the link accepts none while this stream is followed.
    pub replies: Option<String>,
    /// The path that is queried to check for life while the stream is silent. Any answer will do.
    pub probe: Option<String>,
    /// For a server without a stream: the interval at which the document at this address is read instead. It
    /// arrives as a frame when it is first read and whenever it has changed; the connection lasts as long as it
    /// can be read, or until the dialect refuses it.
    pub every: Option<Duration>,
    /// Whether a status that would otherwise end the link only means that the server no longer knows this
    /// stream, so that another attempt may follow a different one.
    pub may_be_forgotten: bool,
}

impl Stream {
    /// Creates a stream that is only read; nothing is posted, and its silence is not probed.
    pub fn at(at: Address) -> Self {
        Self {
            at,
            opened_by: None,
            version: None,
            replies: None,
            probe: None,
            every: None,
            may_be_forgotten: false,
        }
    }
}

/// Another way to the same server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ServerRoute {
    /// A stream of server-sent events, with requests beside it, at this path.
    EventStream(String),
    /// A WebSocket, which carries both directions, at this path.
    WebSocket(String),
    /// The exact address that the person gave, with nothing added by a protocol.
    AsGiven,
}

/// The subprotocol that a WebSocket is to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Subprotocol {
    /// None is offered.
    #[default]
    None,
    /// These are offered, best first; a server that chooses none is not followed.
    Required(&'static [&'static str]),
}

/// What a dialect requires of a WebSocket, and what its close codes mean there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebSocketTerms {
    /// The path, if the person gave none.
    pub path: &'static str,
    /// The subprotocol that it is to speak.
    pub subprotocol: Subprotocol,
    /// The close codes that end the source in good order, in addition to 1000.
    pub over: &'static [u16],
    /// The close codes after which another connection would also be turned away.
    pub turned_away: &'static [u16],
    /// The close code that this side sends on leaving.
    pub leaving: u16,
    /// Whether a Unix socket also carries a WebSocket.
    pub on_sockets: bool,
}

impl WebSocketTerms {
    /// A WebSocket without special terms: no subprotocol, and only the close codes common to every WebSocket.
    pub const PLAIN: Self = Self {
        path: "/",
        subprotocol: Subprotocol::None,
        over: &[],
        turned_away: &[],
        leaving: 1000,
        on_sockets: false,
    };
}
