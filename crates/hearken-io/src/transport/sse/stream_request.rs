//! The request that opens an event stream, as the event source's transport.
//!
//! Responsibilities: headers, redirects, judging the answer, feeding its body to the filter. Not here: trying again
//! (`sse`).
//!
//! Redirects are followed here, at most [`REDIRECTS`] of them. The token goes only to the address that the person gave:
//! from the first step to another origin on it is left out, even if a later step leads back.

use bytes::Bytes;
use eventsource_client::Error as StreamError;
use futures_util::StreamExt;
use http::{HeaderMap, HeaderValue, Request, Response};
use launchdarkly_sdk_transport::{ByteStream, HttpTransport, ResponseFuture, TransportError};
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, LOCATION};
use sync_wrapper::{SyncFuture, SyncStream};

use super::resume::SharedResume;
use super::sse_filter::{Filter, written};
use crate::link::{Body, Cause, Fault, Stream};
use crate::transport::http_client::{SharedClient, bearer, fault_of, status_fault, version_header};
use crate::transport::network_address::{SourceError, check};
use crate::transport::outside_text::clean;
use crate::transport::transport_settings::LinkSettings;

/// The most redirects that are followed: more than any honest set-up needs, few enough to end a loop soon.
const REDIRECTS: u32 = 5;

/// The longest content type in a fault, in characters.
const CONTENT_TYPE_CHARACTERS: usize = 64;

/// Why a connection ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum StreamEnd {
    /// The server has nothing more to send and does not want to be asked again.
    #[error("the stream is over")]
    Over,
    /// The stream was the answer to a message, and is complete.
    #[error("the response is complete")]
    Whole,
    /// The connection failed.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// The request that opens the stream, shared by all connections of a link.
#[derive(Debug, Clone)]
pub(super) struct StreamRequest {
    client: SharedClient,
    url: Url,
    token: Result<Option<HeaderValue>, Fault>,
    allow_plain: bool,
    limit: usize,
    resume: SharedResume,
    /// The message that opens the stream; without one, the stream is just read.
    body: Option<Body>,
    version: Option<(HeaderName, HeaderValue)>,
}

impl StreamRequest {
    /// Builds the request for the address that the person gave.
    pub(super) fn new(given: &Url, settings: &LinkSettings, resume: SharedResume) -> Self {
        Self {
            client: settings.client.clone(),
            url: given.clone(),
            token: bearer(settings.token.as_ref()),
            allow_plain: settings.config.allow_plain_http,
            limit: settings.config.max_frame_bytes,
            resume,
            body: None,
            version: None,
        }
    }

    /// Returns the request for a stream of the same server at another address; its token goes only to the origin that
    /// the person named.
    ///
    /// # Errors
    /// If the stream is not at an address that may be followed, or its message is too large.
    pub(super) fn of(&self, at: Result<Url, Fault>, stream: &Stream) -> Result<Self, Fault> {
        let url = at?;
        let limit = self.limit;
        if (stream.opened_by.as_ref()).is_some_and(|body| body.text.len() > limit) {
            return Err(Fault::TooLarge { limit });
        }
        let mut request = self.clone();
        if url.origin() != self.url.origin() {
            request.token = Ok(None);
            if stream.opened_by.is_some() {
                return Err(leaves());
            }
        }
        request.url = url;
        request.body.clone_from(&stream.opened_by);
        request.version = stream.version.map(version_header).transpose()?;
        Ok(request)
    }

    /// Returns the address that the first request goes to.
    pub(super) fn address(&self) -> &str {
        self.url.as_str()
    }

    /// Sends the request, follows redirects and judges the answer.
    async fn ask(self, mut headers: HeaderMap) -> Result<Response<ByteStream>, StreamEnd> {
        match &self.body {
            // A stream opened by a message is an answer, and resumes nothing.
            Some(body) => {
                let kind = HeaderValue::from_static(body.content_type);
                headers.insert(CONTENT_TYPE, kind);
            }
            None => {
                if let Some(id) = self.resume.with(|resume| resume.last_event_id.clone()) {
                    headers.insert("last-event-id", id);
                }
            }
        }
        if let Some((name, value)) = self.version.clone() {
            headers.insert(name, value);
        }
        if let Some(token) = self.token.clone()? {
            headers.insert(AUTHORIZATION, token);
        }
        let mut url = self.url.clone();
        for _ in 0..=REDIRECTS {
            let client = self.client.get(&url)?;
            let request = match &self.body {
                Some(body) => client.post(url.clone()).body(body.text.clone()),
                None => client.get(url.clone()),
            };
            let response = request
                .headers(headers.clone())
                .send()
                .await
                .map_err(|error| fault_of(&error))?;
            match response.status().as_u16() {
                // A redirect that changes the method would lose the message.
                301..=303 if self.body.is_some() => {
                    return Err(unusable(Cause::RedirectLoses));
                }
                301 | 302 | 303 | 307 | 308 => {
                    let next = next_hop(&url, response.headers(), self.allow_plain)?;
                    if next.origin() != url.origin() {
                        if self.body.is_some() {
                            return Err(leaves().into());
                        }
                        headers.remove(AUTHORIZATION);
                    }
                    url = next;
                }
                204 => return Err(StreamEnd::Over),
                200..=299 => {
                    check_type(response.headers())?;
                    return Ok(self.stream(response));
                }
                status => return Err(status_fault(status, response.headers()).into()),
            }
        }
        Err(unusable(Cause::RedirectAgain))
    }

    fn stream(&self, response: reqwest::Response) -> Response<ByteStream> {
        let filter = Filter::new(self.limit, self.resume.clone());
        filtered(response, filter)
    }
}

/// Passes on the body of an event stream through a filter.
pub(super) fn filtered(response: reqwest::Response, mut filter: Filter) -> Response<ByteStream> {
    let chunks = response.bytes_stream().then(|chunk| async {
        // A flood that yields nothing to pass on could otherwise keep the link's task from seeing that it was closed.
        tokio::task::consume_budget().await;
        chunk
    });
    let bytes = chunks.filter_map(move |chunk| {
        let ready = match chunk {
            Ok(chunk) => {
                let arrived = filter.feed(&chunk);
                (!arrived.is_empty()).then(|| Ok(written(&arrived)))
            }
            Err(error) => Some(Err(TransportError::new(StreamEnd::Fault(fault_of_body(
                &error,
            ))))),
        };
        std::future::ready(ready)
    });
    Response::new(Box::pin(SyncStream::new(bytes)))
}

impl HttpTransport for StreamRequest {
    fn request(&self, request: Request<Option<Bytes>>) -> ResponseFuture {
        let this = self.clone();
        let headers = request.into_parts().0.headers;
        Box::pin(SyncFuture::new(async move {
            this.ask(headers).await.map_err(TransportError::new)
        }))
    }
}

/// Returns the fault for a message that would go to a server other than the one that the person named.
fn leaves() -> Fault {
    Fault::Unusable(Cause::RedirectMessage)
}

fn unusable(why: Cause) -> StreamEnd {
    StreamEnd::Fault(Fault::Unusable(why))
}

/// Classifies the error that broke a body. A stream that was good until now is worth another
/// attempt, so no result is final.
fn fault_of_body(error: &reqwest::Error) -> Fault {
    let fault = fault_of(error);
    if fault.is_final() {
        Fault::Closed
    } else {
        fault
    }
}

/// Returns the address that a redirect leads to, if it may be followed.
fn next_hop(from: &Url, headers: &HeaderMap, allow_plain: bool) -> Result<Url, StreamEnd> {
    let next = headers
        .get(LOCATION)
        .and_then(|location| std::str::from_utf8(location.as_bytes()).ok())
        .and_then(|location| from.join(location).ok())
        .ok_or_else(|| unusable(Cause::RedirectNowhere))?;
    match (from.scheme(), next.scheme()) {
        ("https", "https") | ("http", "http" | "https") => {}
        ("https", "http") => {
            return Err(unusable(Cause::RedirectToPlain));
        }
        _ => {
            return Err(unusable(Cause::RedirectNoHttp));
        }
    }
    check(&next, allow_plain).map_err(|error| {
        Fault::Unusable(match error {
            SourceError::PlainHttp { host } => Cause::RedirectOpen { host },
            SourceError::Credential => Cause::RedirectCredential,
            SourceError::BadAddress
            | SourceError::UnknownScheme { .. }
            | SourceError::BadSocket
            | SourceError::BadBroker
            | SourceError::PlainBroker { .. }
            | SourceError::NoSockets
            | SourceError::NoProgramSockets { .. }
            | SourceError::NoProgramFolder { .. }
            | SourceError::NoPipes
            | SourceError::BadPipe
            | SourceError::Query
            | SourceError::NoKind { .. }
            | SourceError::IsSocket { .. }
            | SourceError::NoSecret { .. }
            | SourceError::NoSuchFile { .. } => Cause::RedirectNowhere,
        })
    })?;
    Ok(next)
}

/// Checks that an answer is an event stream, and not compressed: compression is never requested here.
pub(in crate::transport) fn check_type(headers: &HeaderMap) -> Result<(), Fault> {
    let not = |content_type: &str| {
        Err(Fault::NotEventStream {
            content_type: clean(content_type, CONTENT_TYPE_CHARACTERS),
        })
    };
    let Some(value) = headers.get(CONTENT_TYPE) else {
        return not("no content type");
    };
    let value = String::from_utf8_lossy(value.as_bytes());
    let essence = value.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("text/event-stream") {
        return not(if essence.is_empty() {
            "no content type"
        } else {
            essence
        });
    }
    match headers.get(CONTENT_ENCODING) {
        Some(encoding) if !encoding.as_bytes().eq_ignore_ascii_case(b"identity") => {
            not("a compressed stream")
        }
        Some(_) | None => Ok(()),
    }
}

/// Checks that an answer is a JSON document: some servers answer every path with a page for people.
pub(in crate::transport) fn check_json(headers: &HeaderMap) -> Result<(), Fault> {
    let value = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    let value = String::from_utf8_lossy(value.unwrap_or_default());
    let essence = value.split(';').next().unwrap_or_default().trim();
    let essence = essence.to_ascii_lowercase();
    match essence == "application/json" || essence.ends_with("+json") {
        true => Ok(()),
        false => Err(Fault::Unusable(Cause::NoDocument)),
    }
}

/// Turns the event source's error into ours; errors of our own request pass through unchanged.
pub(super) fn halt(error: StreamError) -> StreamEnd {
    match error {
        StreamError::Transport(inner) => match inner.inner().downcast_ref::<StreamEnd>() {
            Some(halt) => halt.clone(),
            None => StreamEnd::Fault(Fault::Closed),
        },
        StreamError::Eof | StreamError::UnexpectedEof | StreamError::HttpStream(_) => {
            StreamEnd::Fault(Fault::Closed)
        }
        StreamError::TimedOut => StreamEnd::Fault(Fault::TimedOut),
        // The request handles all of these cases itself, and the filter lets no such line through.
        StreamError::InvalidParameter(_)
        | StreamError::UnexpectedResponse(..)
        | StreamError::InvalidLine(_)
        | StreamError::InvalidEvent
        | StreamError::MalformedLocationHeader(_)
        | StreamError::MaxRedirectLimitReached(_) => {
            StreamEnd::Fault(Fault::Other(Cause::BrokenStream))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(from: &str, to: &str, allow_plain: bool) -> Result<String, StreamEnd> {
        let mut headers = HeaderMap::new();
        headers.insert(LOCATION, HeaderValue::from_bytes(to.as_bytes()).unwrap());
        next_hop(&Url::parse(from).unwrap(), &headers, allow_plain).map(String::from)
    }

    #[test]
    fn redirects_are_resolved_against_where_they_stand() {
        let here = "https://a.example/x/events";
        for (to, goal) in [
            ("/y", "https://a.example/y"),
            ("z?q=1", "https://a.example/x/z?q=1"),
            ("//b.example/y", "https://b.example/y"),
            ("https://c.example", "https://c.example/"),
        ] {
            assert_eq!(hop(here, to, false).unwrap(), goal);
        }
        assert_eq!(
            hop("http://localhost/events", "https://a.example/", false).unwrap(),
            "https://a.example/"
        );
    }

    #[test]
    fn unsafe_redirects_are_refused_for_good() {
        for (from, to, allow_plain) in [
            ("https://a.example/", "http://a.example/", true),
            ("https://a.example/", "http://localhost/", true),
            ("http://localhost/", "http://a.example/", false),
            ("http://localhost/", "ftp://localhost/", true),
            ("http://localhost/", "file:///etc/passwd", true),
            ("http://localhost/", "http://user:pw@localhost/", true),
            ("http://localhost/", "http://", true),
        ] {
            match hop(from, to, allow_plain).unwrap_err() {
                StreamEnd::Fault(fault) => {
                    assert!(fault.is_final(), "{from} -> {to}");
                    assert!(!format!("{fault:?}").contains("pw"));
                }
                StreamEnd::Over | StreamEnd::Whole => panic!("{from} -> {to}"),
            }
        }
        let nowhere = next_hop(
            &Url::parse("http://localhost/").unwrap(),
            &HeaderMap::new(),
            false,
        );
        assert!(nowhere.is_err());
    }

    #[test]
    fn only_an_event_stream_is_an_event_stream() {
        let judge = |content_type: Option<&str>, encoding: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            if let Some(text) = content_type {
                headers.insert(CONTENT_TYPE, HeaderValue::from_str(text).unwrap());
            }
            if let Some(text) = encoding {
                headers.insert(CONTENT_ENCODING, HeaderValue::from_static(text));
            }
            check_type(&headers)
        };
        for good in ["text/event-stream", "Text/Event-Stream; charset=utf-8"] {
            assert_eq!(judge(Some(good), None), Ok(()));
        }
        assert_eq!(judge(Some("text/event-stream"), Some("identity")), Ok(()));
        assert!(judge(Some("text/event-stream"), Some("gzip")).is_err());
        assert!(judge(Some("text/event-streams"), None).is_err());
        assert_eq!(
            judge(Some("text/html; charset=utf-8"), None),
            Err(Fault::NotEventStream {
                content_type: "text/html".to_owned()
            })
        );
        let long = "x".repeat(500);
        match judge(Some(&long), None) {
            Err(Fault::NotEventStream { content_type }) => assert_eq!(content_type.len(), 64),
            other => panic!("{other:?}"),
        }
        for none in [None, Some(""), Some(" ;")] {
            assert_eq!(
                judge(none, None),
                Err(Fault::NotEventStream {
                    content_type: "no content type".to_owned()
                })
            );
        }
    }
}
