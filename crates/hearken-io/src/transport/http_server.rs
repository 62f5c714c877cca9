//! A server that speaks HTTP: its addresses, the requests beside its stream, and the replies that are posted to it.
//!
//! Responsibilities: keeping every request at the origin that the person named, redirects to the same origin only, one
//! request and its bounded answer, where the stream and the replies are. Not here: the content of a request or an
//! answer, and which request comes next (a dialect), the stream itself (`sse`).
//!
//! A dialect's request is a path, never an address: whatever the path contains, the request goes to the host and port
//! that the person named, or nowhere. Its answer may be a stream of events, if the dialect supports one. Only the
//! address of a stream that the server itself sends may lead elsewhere, and then the token is not sent along
//! (`sse::request`).

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, LOCATION};
use reqwest::{Method as HttpMethod, Url};
use tokio::sync::mpsc;

use super::halves::Poster;
use super::http_client::{
    SharedClient, bearer, fault_of, retry_after_of, status_fault, version_header,
};
use super::link_sink::LinkSink;
use super::network_address::{NetworkAddress, check};
use super::sse::answer_stream::pieces;
use super::sse::stream_request::{check_json, check_type};
use super::transport_settings::LinkSettings;
use crate::link::{
    Address, Body, Cause, DeliveryFailure, Fault, HttpAnswer, HttpCall, LastWords, Method, Receipt,
    Stream,
};

/// The most redirects that are followed, all to the same origin.
const REDIRECTS: u32 = 5;

/// The longest Location that is passed on, in bytes; no serious server writes one this long.
const LOCATION_BYTES: usize = 4096;

/// The longest path of a request, in bytes: what servers usually accept.
const PATH_BYTES: usize = 8192;

/// How much longer than connecting a reply with the same time limit may take, so that a connection
/// that is never made is reported as such: then nothing of the reply has been sent.
const AFTER_CONNECTING: Duration = Duration::from_millis(250);

/// How long saying goodbye to a server may take: not noticeable at the end of a program.
const FAREWELL_TIME: Duration = Duration::from_millis(1500);

/// The instruction for an attempt to connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HttpConnectDecision {
    /// Follow this stream.
    Follow(Stream),
    /// The attempt has failed.
    Refused(Fault),
}

/// A server that speaks HTTP.
#[derive(Debug, Clone)]
pub(super) struct HttpServer {
    client: SharedClient,
    token: Result<Option<HeaderValue>, Fault>,
    allow_plain: bool,
    /// The time limits for a request and for a reply.
    request_limit: Duration,
    reply_limit: Duration,
    /// The largest body, in bytes, in either direction.
    most: usize,
    given: Url,
    shared: Arc<SharedServer>,
}

#[derive(Debug)]
struct SharedServer {
    /// The path that replies currently go to; `None` while no followed stream accepts any.
    replies: Mutex<Option<String>>,
    last_words: Mutex<Option<LastWords>>,
    courses: mpsc::UnboundedSender<HttpConnectDecision>,
}

/// Replaces the value in a lock; a poisoned lock still contains a plain, complete value.
fn exchange<T>(held: &Mutex<T>, new: T) -> T {
    std::mem::replace(
        &mut held.lock().unwrap_or_else(PoisonError::into_inner),
        new,
    )
}

/// The receiver of the person's decisions instead of a source, at an address that the person gave for that purpose; no
/// source's token is sent there.
#[derive(Debug, Clone)]
pub(super) struct Handler(Option<HttpServer>);

impl Handler {
    /// Builds the handler from the settings; without one in the settings, it accepts nothing.
    pub(super) fn new(settings: &LinkSettings) -> Self {
        let address = settings.config.handler.as_deref().and_then(|address| {
            // The address was checked when the settings were read.
            NetworkAddress::parse(address, settings.config.allow_plain_http).ok()
        });
        Self(address.map(|address| {
            let url = address.url();
            let query = url.query().map(|query| format!("?{query}"));
            let at = format!("{}{}", url.path(), query.unwrap_or_default());
            let own = LinkSettings {
                token: None,
                ..settings.clone()
            };
            let (server, _) = HttpServer::new(&address, &own);
            exchange(&server.shared.replies, Some(at));
            server
        }))
    }
}

impl Poster for Handler {
    fn post(
        &self,
        body: String,
    ) -> impl Future<Output = Result<Receipt, DeliveryFailure>> + Send + 'static {
        let server = self.0.clone();
        async move {
            match server {
                Some(server) => server.post(body).await,
                None => Err(DeliveryFailure::Kept(Fault::OneWay)),
            }
        }
    }
}

impl HttpServer {
    /// Builds a server and the end from which the reader receives its courses.
    pub(super) fn new(
        address: &NetworkAddress,
        settings: &LinkSettings,
    ) -> (Self, mpsc::UnboundedReceiver<HttpConnectDecision>) {
        // Each attempt gets one course, so the queue never grows.
        let (courses, taken) = mpsc::unbounded_channel();
        let server = Self {
            client: settings.client.clone(),
            token: bearer(settings.token.as_ref()),
            allow_plain: settings.config.allow_plain_http,
            request_limit: settings.config.reply_timeout(),
            reply_limit: limit_of(settings),
            most: settings.config.max_frame_bytes,
            given: address.url().clone(),
            shared: Arc::new(SharedServer {
                replies: Mutex::new(None),
                last_words: Mutex::new(None),
                courses,
            }),
        };
        (server, taken)
    }

    /// Returns the address that the person gave.
    pub(super) fn given(&self) -> &Url {
        &self.given
    }

    /// Returns the address of a path, which must stay at this server.
    ///
    /// # Errors
    /// [`Fault::Unusable`] for anything that is not a path of this server.
    fn path(&self, path: &str) -> Result<Url, Fault> {
        let nowhere = || Fault::Unusable(Cause::LeavesServer);
        if !path.starts_with('/') || path.len() > PATH_BYTES {
            return Err(nowhere());
        }
        // By the rules for addresses, even a path that begins with a slash can name another host.
        let url = self.given.join(path).map_err(|_| nowhere())?;
        if url.origin() != self.given.origin() {
            return Err(nowhere());
        }
        check(&url, self.allow_plain).map_err(|_| nowhere())?;
        Ok(url)
    }

    /// Returns the address of a stream.
    ///
    /// # Errors
    /// If the server names an unsafe address, or a path would leave the server.
    pub(super) fn address(&self, at: &Address) -> Result<Url, Fault> {
        match at {
            Address::Given => Ok(self.given.clone()),
            Address::GivenAt(path) => {
                let mut url = self.path(path)?;
                url.set_query(self.given.query());
                Ok(url)
            }
            Address::Path(path) => self.path(path),
            Address::Named(location) => self.named(location),
            // A web server stores nothing.
            Address::Stored(_) | Address::Passing(_) => Err(Fault::Unusable(Cause::NoStream)),
        }
    }

    /// Returns the address of a stream that the server itself named.
    fn named(&self, location: &str) -> Result<Url, Fault> {
        let url = self
            .given
            .join(location)
            .map_err(|_| Fault::Unusable(Cause::NoStream))?;
        let safe = match (self.given.scheme(), url.scheme()) {
            ("https", "https") | ("http", "http" | "https") => {
                check(&url, self.allow_plain).is_ok()
            }
            _ => false,
        };
        if safe {
            Ok(url)
        } else {
            Err(Fault::Unusable(Cause::UnsafeStream))
        }
    }

    /// Passes a course on to the reader.
    fn order(&self, course: HttpConnectDecision) {
        // This fails only if the reader is over, and then nothing is followed any more.
        let _ = self.shared.courses.send(course);
    }

    /// Reads a whole document from this server.
    pub(super) async fn document(&self, at: &Address) -> Result<String, Fault> {
        let url = self.address(at)?;
        if url.origin() != self.given.origin() {
            return Err(Fault::Unusable(Cause::LeavesServer));
        }
        let query = url.query().map(|query| format!("?{query}"));
        let path = format!("{}{}", url.path(), query.unwrap_or_default());
        let call = HttpCall::get(path);
        let read = async {
            let (response, _) = self.response(&call).await?;
            let status = response.status();
            if !status.is_success() {
                return Err(status_fault(status.as_u16(), response.headers()));
            }
            check_json(response.headers())?;
            body_of(response, call.most.min(self.most)).await
        };
        tokio::time::timeout(self.request_limit, read)
            .await
            .unwrap_or(Err(Fault::TimedOut))
    }

    /// Checks whether the server still responds while a stream is silent.
    pub(super) async fn probe(self, path: &str) -> Result<(), Fault> {
        self.within(HttpCall::get(path)).await.map(|_| ())
    }

    /// Makes one request within its time limit.
    async fn within(&self, call: HttpCall) -> Result<HttpAnswer, Fault> {
        tokio::time::timeout(self.request_limit, self.request(call))
            .await
            .unwrap_or(Err(Fault::TimedOut))
    }

    async fn request(&self, call: HttpCall) -> Result<HttpAnswer, Fault> {
        let most = call.most.min(self.most);
        let (response, url) = self.response(&call).await?;
        answer_of(response, &url, most).await
    }

    /// Makes one request whose answer may be a stream of events; passes each event on as it arrives.
    async fn streamed(
        &self,
        call: HttpCall,
        request: u64,
        sink: LinkSink,
    ) -> Result<HttpAnswer, Fault> {
        let most = call.most.min(self.most);
        let (response, url) = self.response(&call).await?;
        if check_type(response.headers()).is_err() {
            let whole = answer_of(response, &url, most);
            return tokio::time::timeout(self.request_limit, whole)
                .await
                .unwrap_or(Err(Fault::TimedOut));
        }
        let status = response.status().as_u16();
        pieces(response, self.most, request, &sink).await?;
        Ok(HttpAnswer {
            status,
            location: None,
            retry_after: None,
            body: String::new(),
        })
    }

    /// Makes one request, and returns its answer and the address that it came from as soon as it begins.
    async fn response(&self, call: &HttpCall) -> Result<(reqwest::Response, Url), Fault> {
        let mut url = self.path(&call.path)?;
        let version = call.version.map(version_header).transpose()?;
        let limit = self.most;
        if call
            .body
            .as_ref()
            .is_some_and(|body| body.text.len() > limit)
        {
            return Err(Fault::TooLarge { limit });
        }
        for _ in 0..=REDIRECTS {
            let mut request = self
                .client
                .get(&url)?
                .request(http_method(call.method), url.clone())
                .header(ACCEPT, call.accept);
            if let Some((name, value)) = version.clone() {
                request = request.header(name, value);
            }
            if let Some(Body { content_type, text }) = &call.body {
                request = request
                    .header(CONTENT_TYPE, *content_type)
                    .body(text.clone());
            }
            if let Some(token) = self.token.clone()? {
                request = request.header(AUTHORIZATION, token);
            }
            let response = request.send().await.map_err(|error| fault_of(&error))?;
            let location = location_of(&response);
            // 307 and 308 preserve the method and body; other redirects are not an answer to a message.
            if let (307 | 308, Some(next)) = (response.status().as_u16(), &location) {
                let next = url
                    .join(next)
                    .map_err(|_| Fault::Unusable(Cause::RedirectNowhere))?;
                // Whether to go on there is not the transport's decision.
                if is_its_websocket(&next, &url) {
                    return Ok((response, url));
                }
                if next.origin() != url.origin() {
                    return Err(Fault::Unusable(Cause::RedirectHandshake));
                }
                url = next;
                continue;
            }
            return Ok((response, url));
        }
        Err(Fault::Unusable(Cause::RedirectAgain))
    }

    /// Posts a reply to the current reply path, on a connection of its own.
    async fn attempt(self, body: String) -> Result<Receipt, DeliveryFailure> {
        let replies = self.shared.replies.lock();
        let replies = replies.unwrap_or_else(PoisonError::into_inner).clone();
        let replies = replies.ok_or(DeliveryFailure::Kept(Fault::OneWay))?;
        let url = self.path(&replies).map_err(DeliveryFailure::Kept)?;
        let mut request = self
            .client
            .get(&url)
            .map_err(DeliveryFailure::Kept)?
            .post(url)
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        if let Some(token) = self.token.map_err(DeliveryFailure::Kept)? {
            request = request.header(AUTHORIZATION, token);
        }
        let response = request.send().await.map_err(|error| unsent(&error))?;
        let status = response.status();
        if status.is_success() {
            Ok(Receipt::Taken)
        } else {
            let fault = status_fault(status.as_u16(), response.headers());
            Err(DeliveryFailure::by_status(status.as_u16(), fault))
        }
    }
}

/// Returns whether an address is that of a WebSocket of the same server, and no less safe (8.4).
fn is_its_websocket(next: &Url, url: &Url) -> bool {
    let same =
        next.host() == url.host() && next.port_or_known_default() == url.port_or_known_default();
    let bare = next.username().is_empty() && next.password().is_none();
    same && bare
        && matches!(
            (next.scheme(), url.scheme()),
            ("ws", "http") | ("wss", "https")
        )
}

/// Returns the address that an answer redirects to.
fn location_of(response: &reqwest::Response) -> Option<String> {
    let location = response.headers().get(LOCATION);
    let location = location.filter(|location| location.len() <= LOCATION_BYTES)?;
    location.to_str().ok().map(str::to_owned)
}

/// Reads a whole answer, which came from this address.
async fn answer_of(
    response: reqwest::Response,
    url: &Url,
    most: usize,
) -> Result<HttpAnswer, Fault> {
    let whole = |location: String| url.join(&location).map_or(location, String::from);
    Ok(HttpAnswer {
        status: response.status().as_u16(),
        location: location_of(&response).map(whole),
        retry_after: retry_after_of(response.headers()),
        body: body_of(response, most).await?,
    })
}

/// Reads the body of an answer, up to a bound.
async fn body_of(response: reqwest::Response, most: usize) -> Result<String, Fault> {
    // A server that streams at every path answers no request; its body is endless.
    let streams = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    let mut bytes = Vec::new();
    let mut chunks = response.bytes_stream();
    while !streams && let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| fault_of(&error))?;
        if bytes.len() + chunk.len() > most {
            return Err(Fault::TooLarge { limit: most });
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn http_method(method: Method) -> HttpMethod {
    match method {
        Method::Get => HttpMethod::GET,
        Method::Post => HttpMethod::POST,
        Method::Put => HttpMethod::PUT,
        Method::Patch => HttpMethod::PATCH,
        Method::Delete => HttpMethod::DELETE,
    }
}

/// Returns the time limit for a reply.
fn limit_of(settings: &LinkSettings) -> Duration {
    let (reply, connect) = (
        settings.config.reply_timeout(),
        settings.config.connect_timeout(),
    );
    if reply < connect {
        reply
    } else {
        reply.max(connect + AFTER_CONNECTING)
    }
}

/// Returns what an unanswered request means for its content: before there is a connection nothing has been sent, and
/// after that it is unknown.
fn unsent(error: &reqwest::Error) -> DeliveryFailure {
    let fault = fault_of(error);
    if error.is_connect() || error.is_builder() {
        DeliveryFailure::Kept(fault)
    } else {
        DeliveryFailure::Unknown(fault)
    }
}

impl Poster for HttpServer {
    fn post(
        &self,
        body: String,
    ) -> impl Future<Output = Result<Receipt, DeliveryFailure>> + Send + 'static {
        let this = self.clone();
        async move {
            let limit = this.reply_limit;
            tokio::time::timeout(limit, this.attempt(body))
                .await
                .unwrap_or(Err(DeliveryFailure::Unknown(Fault::TimedOut)))
        }
    }

    fn call(
        &self,
        call: HttpCall,
    ) -> impl Future<Output = Result<HttpAnswer, Fault>> + Send + 'static {
        let this = self.clone();
        async move { this.within(call).await }
    }

    fn stream(
        &self,
        request: u64,
        call: HttpCall,
        sink: LinkSink,
    ) -> impl Future<Output = Result<HttpAnswer, Fault>> + Send + 'static {
        let this = self.clone();
        async move { this.streamed(call, request, sink).await }
    }

    fn follow(&self, stream: Stream) {
        exchange(&self.shared.replies, stream.replies.clone());
        self.order(HttpConnectDecision::Follow(stream));
    }

    fn refuse(&self, fault: Fault) {
        self.order(HttpConnectDecision::Refused(fault));
    }

    fn last_words(&self, words: Option<LastWords>) {
        exchange(&self.shared.last_words, words);
    }

    fn farewell(&self) -> impl Future<Output = ()> + Send + 'static {
        let this = self.clone();
        async move {
            // A closing side can only try to say so; the server notices the end by itself.
            match exchange(&this.shared.last_words, None) {
                Some(LastWords::Message(words) | LastWords::Request(words)) => {
                    let _ = tokio::time::timeout(FAREWELL_TIME, this.attempt(words)).await;
                }
                Some(LastWords::Call(call)) => {
                    let _ = tokio::time::timeout(FAREWELL_TIME, this.request(call)).await;
                }
                None => {}
            }
        }
    }
}

#[cfg(test)]
#[path = "tests/http_server.rs"]
mod tests;
