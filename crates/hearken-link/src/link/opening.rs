//! What a connection is opened with: the address and the manner of a stream, the terms of a WebSocket, another way to
//! the same server.
//!
//! Responsibilities: what a dialect has to say about it before the first frame. Not here: which host it is, and
//! opening it (`transport`).

use std::time::Duration;

use super::Body;

/// Where on its server a stream is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// Where the person said, query included.
    Given,
    /// At another path than the person said, with the query that the person gave.
    GivenAt(String),
    /// At a path of the server from its root, with a query of its own if need be.
    Path(String),
    /// Where the server itself says, by a whole address or a path. That may be on another server, where
    /// that is safe; the token stays behind then.
    Named(String),
}

/// What an attempt to connect follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    /// Where it is.
    pub at: Address,
    /// The message that opens it, which is posted; without one it is read with GET. A stream that was opened by
    /// a message is its answer: when it ends, [`super::LinkEvent::StreamEnded`] says so.
    pub opened_by: Option<Body>,
    /// A header that names the version of a protocol, as in [`super::Call`].
    pub version: Option<(&'static str, &'static str)>,
    /// The path to which replies are posted, as JSON; without one the link takes none while it is followed.
    pub replies: Option<String>,
    /// The path that is asked whether anybody is there while the stream is silent. Any answer will do.
    pub probe: Option<String>,
    /// Where the server has no stream of its own: after how long the document that is there instead is read anew. It
    /// comes as a frame when it is read first and when it has changed, and the connection is there for as long as it can be
    /// read, or until the dialect refuses it.
    pub every: Option<Duration>,
    /// Whether a status that would end the link only says that the server does not know this stream any more,
    /// and another attempt may follow another one.
    pub may_be_forgotten: bool,
}

impl Stream {
    /// Reads a stream; nothing is posted, and its silence is not looked into.
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

/// Names another way to the same server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Way {
    /// A stream of server-sent events, with requests beside it, at this path.
    EventStream(String),
    /// A WebSocket, which carries both ways, at this path.
    WebSocket(String),
    /// The very address that the person gave, and nothing that a protocol would add to it.
    AsGiven,
}

/// Which subprotocol a WebSocket is to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Subprotocol {
    /// None is offered.
    #[default]
    None,
    /// These are offered, best first; a server that chooses none will do as well.
    Offered(&'static [&'static str]),
    /// These are offered, best first; a server that chooses none is not followed.
    Required(&'static [&'static str]),
}

/// What a dialect wants of a WebSocket, and what its close codes mean there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebSocketTerms {
    /// The path where it is when the person named none.
    pub path: &'static str,
    /// What it is to speak.
    pub subprotocol: Subprotocol,
    /// The close codes that end the source in good order, beside 1000.
    pub over: &'static [u16],
    /// The close codes after which another connection would be turned away too.
    pub turned_away: &'static [u16],
    /// The close code with which this side leaves.
    pub leaving: u16,
}

impl WebSocketTerms {
    /// A WebSocket without a word about it: no subprotocol, and of the close codes only what every WebSocket has.
    pub const PLAIN: Self = Self {
        path: "/",
        subprotocol: Subprotocol::None,
        over: &[],
        turned_away: &[],
        leaving: 1000,
    };
}
