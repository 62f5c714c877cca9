//! Requests in both directions and their answers.
//!
//! Responsibilities: what is asked for, and what came back before anybody has read it. Not here: which host,
//! tokens, redirects and limits (`transport`), which request comes next (`dialect`).

/// What a request carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// What kind of text it is, as the header says it.
    pub content_type: &'static str,
    /// The text.
    pub text: String,
}

impl Body {
    /// Takes a text in JSON.
    pub fn json(text: impl Into<String>) -> Self {
        Self {
            content_type: "application/json",
            text: text.into(),
        }
    }
}

/// One request to the server of a source.
///
/// Which host and port it goes to, its token, its redirects (to the same origin only) and its time limit are
/// none of a dialect's business: so no dialect can lead a token away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// What is done there.
    pub method: Method,
    /// A path of that server from its root, with a query if need be: `/session/1/abort?now=1`. One that
    /// would lead to another server is refused.
    pub path: String,
    /// What kinds of answer are understood, as the header says it.
    pub accept: &'static str,
    /// A header that names the version of a protocol, and its value; its name ends in `-version`.
    pub version: Option<(&'static str, &'static str)>,
    /// What it carries; its size has the bound of a frame.
    pub body: Option<Body>,
    /// The largest answer that is taken in, in bytes; never more than a frame may have.
    pub most: usize,
    /// Whether its answer may be a stream of events: each of them comes as a [`super::LinkEvent::Piece`], for as long as
    /// it takes, and its end as the answer, without a body. An answer that is none comes as any other.
    pub streams: bool,
}

impl Call {
    /// The largest answer where nothing else is said, in bytes: room for a list, and a bound for whoever
    /// sends without end.
    pub const MOST: usize = 256 * 1024;

    /// Makes a request that reads JSON.
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

    /// Makes a request that sends something and reads JSON.
    pub fn post(path: impl Into<String>, body: Body) -> Self {
        Self {
            method: Method::Post,
            body: Some(body),
            ..Self::get(path)
        }
    }
}

/// What is said when a link is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LastWords {
    /// A message, sent the way that replies go.
    Message(String),
    /// A request beside the stream.
    Call(Call),
}

/// The answer to a [`Call`], before anybody has read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpAnswer {
    /// The status, whatever it is.
    pub status: u16,
    /// The Location header, made whole where it was relative.
    pub location: Option<String>,
    /// Retry-After, in seconds.
    pub retry_after: Option<u64>,
    /// The body, invalid UTF-8 replaced.
    pub body: String,
}

/// A request that came in at a listening source.
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

    /// Returns the name that it has on the wire.
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
