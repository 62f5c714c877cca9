//! Requests in both directions and their answers.
//!
//! Responsibilities: the requests and their answers, not yet interpreted. Not here: the host, tokens, redirects
//! and limits (`transport`), which request comes next (`dialect`).

use std::time::Duration;

/// The body of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// The content type, as in the header.
    pub content_type: &'static str,
    /// The text.
    pub text: String,
}

impl Body {
    /// Creates a body of JSON text.
    pub fn json(text: impl Into<String>) -> Self {
        Self {
            content_type: "application/json",
            text: text.into(),
        }
    }
}

/// One request to the server of a source.
///
/// Its host and port, token, redirects (to the same origin only) and time limit are out of a dialect's control,
/// so that no dialect can leak a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpCall {
    /// The method.
    pub method: Method,
    /// An absolute path on that server, with a query if needed: `/session/1/abort?now=1`. A path that would lead to
    /// another server is refused.
    pub path: String,
    /// The kinds of answer that are understood, as in the header.
    pub accept: &'static str,
    /// A header with a protocol version: its name, which ends in `-version`, and its value.
    pub version: Option<(&'static str, &'static str)>,
    /// The body; its size is bounded like that of a frame.
    pub body: Option<Body>,
    /// The largest answer that is accepted, in bytes; never more than a frame may have.
    pub most: usize,
    /// Whether its answer may be a stream of events: each event then arrives as a [`super::LinkEvent::Piece`], however
    /// long it takes, and the end of the stream as the answer, without a body. Any other answer arrives as usual.
    pub streams: bool,
}

impl HttpCall {
    /// The default bound of an answer, in bytes: room for a list, and a limit for a server that sends
    /// endlessly.
    pub const MOST: usize = 256 * 1024;

    /// Creates a request that reads JSON.
    pub fn get(path: impl Into<String>) -> Self {
        Self {
            method: Method::Get,
            path: path.into(),
            accept: "application/json",
            version: None,
            body: None,
            most: Self::MOST,
            streams: false,
        }
    }

    /// Creates a request that sends a body and reads JSON.
    pub fn post(path: impl Into<String>, body: Body) -> Self {
        Self {
            method: Method::Post,
            body: Some(body),
            ..Self::get(path)
        }
    }
}

/// One request to a service behind a broker.
///
/// The broker, the credentials and the time limit are out of a dialect's control.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceCall {
    /// The subject.
    pub subject: String,
    /// Headers, by their names.
    pub headers: Vec<(&'static str, String)>,
    /// The text.
    pub body: String,
    /// The expected answers.
    pub answers: ServiceAnswers,
}

/// The answers to a request to a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceAnswers {
    /// The first answer is the only one.
    One,
    /// Each answer within this time arrives as a [`super::LinkEvent::Piece`]; an empty one ends them.
    Gathered(Duration),
    /// Each answer arrives as a [`super::LinkEvent::Piece`], however long it takes. An empty one ends them; one
    /// that names an error in its headers is the final answer, with the error's code and words.
    Streamed,
    /// No answer comes: the message is published, and its outcome is whether anybody received it.
    Unanswered,
}

impl ServiceCall {
    /// Creates a request with one answer.
    pub fn new(subject: impl Into<String>, body: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            headers: Vec::new(),
            body: body.into(),
            answers: ServiceAnswers::One,
        }
    }
}

/// The last message before a link is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LastWords {
    /// A message, sent the way replies are.
    Message(String),
    /// The same, but the other side needs a moment to carry it out.
    Request(String),
    /// A request beside the stream.
    Call(HttpCall),
}

/// The answer to a [`HttpCall`], not yet interpreted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpAnswer {
    /// The status, whatever it is.
    pub status: u16,
    /// The Location header, made absolute if it was relative.
    pub location: Option<String>,
    /// Retry-After, in seconds.
    pub retry_after: Option<u64>,
    /// The body, invalid UTF-8 replaced.
    pub body: String,
}

/// A request that came in at a listening source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncomingRequest {
    /// Its method.
    pub method: Method,
    /// Its path after the secret, with its query: `/hook?session=1`.
    pub path: String,
    /// Its body, invalid UTF-8 replaced.
    pub body: String,
}

/// The method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Reads something.
    Get,
    /// Sends something to be processed.
    Post,
    /// Replaces what is there.
    Put,
    /// Changes part of what is there.
    Patch,
    /// Removes what is there.
    Delete,
}

impl Method {
    /// Every method.
    pub const ALL: [Self; 5] = [Self::Get, Self::Post, Self::Put, Self::Patch, Self::Delete];

    /// Returns its name on the wire.
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
