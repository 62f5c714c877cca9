//! A server that speaks HTTP: its addresses, the requests beside its stream, and the replies that are posted to it.
//!
//! Responsibilities: keeping every request at the origin that the person named, redirects to the same origin
//! only, one request and its bounded answer, where the stream and the replies are. Not here: what stands in a
//! request or an answer, and which one comes next (a dialect), the stream itself (`sse`).
//!
//! A request that a dialect makes is a path, never an address: whatever stands in it, it goes to the host and the
//! port that the person named, or nowhere. Its answer may be a stream of events, where the dialect can take one. Only where a server itself says where its stream is may that be
//! elsewhere, and then the token stays behind (`sse::request`).

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, LOCATION};
use reqwest::{Method as HttpMethod, Url};
use tokio::sync::mpsc;

use super::address::{HttpAddress, check};
use super::client::{SharedClient, bearer, fault_of, retry_after_of, status_fault, version_header};
use super::halves::Poster;
use super::settings::LinkSettings;
use super::sink::LinkSink;
use super::sse::answer::pieces;
use super::sse::request::{check_json, check_type};
use crate::link::{
    Address, Body, Call, Cause, Fault, HttpAnswer, LastWords, Method, Receipt, Stream, Undelivered,
};

/// How many redirects are followed, all to the same origin.
const REDIRECTS: u32 = 5;

/// The longest Location that is passed on, in bytes; no server writes one of this length in earnest.
const LOCATION_BYTES: usize = 4096;

/// The longest path of a request, in bytes: what servers take as a rule.
const PATH_BYTES: usize = 8192;

/// How much longer than a connection a reply may take that has the same limit, so that a connection
/// which is never made is told as such: then nothing of the reply has left.
const AFTER_CONNECTING: Duration = Duration::from_millis(250);

/// How long leaving a server may take: a moment that nobody minds at the end of a program.
const FAREWELL_TIME: Duration = Duration::from_millis(1500);

/// Orders what an attempt to connect does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Course {
    /// It follows this.
    Follow(Stream),
    /// It has failed.
    Refused(Fault),
}

/// Knows a server that speaks HTTP.
#[derive(Debug, Clone)]
pub(super) struct Server {
    client: SharedClient,
    token: Result<Option<HeaderValue>, Fault>,
    allow_plain: bool,
    /// How long a request may take, and a reply.
    request_limit: Duration,
    reply_limit: Duration,
    /// The largest body, in bytes, either way.
    most: usize,
    given: Url,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Where replies go now; absent while nothing is followed that takes any.
    replies: Mutex<Option<String>>,
    last_words: Mutex<Option<LastWords>>,
    courses: mpsc::UnboundedSender<Course>,
}

/// Exchanges what is held; a lock that was poisoned still holds a plain, whole value.
fn exchange<T>(held: &Mutex<T>, new: T) -> T {
    std::mem::replace(
        &mut held.lock().unwrap_or_else(PoisonError::into_inner),
        new,
    )
}

/// Takes the person's decisions in the place of a source, at an address that the person gave for that; no token of a
/// source goes there.
#[derive(Debug, Clone)]
pub(super) struct Handler(Option<Server>);

impl Handler {
    /// Makes the handler of the settings, which takes nothing where none is set.
    pub(super) fn new(settings: &LinkSettings) -> Self {
        let address = settings.config.handler.as_deref().and_then(|address| {
            // The address was judged when the settings were read.
            HttpAddress::parse(address, settings.config.allow_plain_http).ok()
        });
        Self(address.map(|address| {
            let url = address.url();
            let query = url.query().map(|query| format!("?{query}"));
            let at = format!("{}{}", url.path(), query.unwrap_or_default());
            let own = LinkSettings {
                token: None,
                ..settings.clone()
            };
            let (server, _) = Server::new(&address, &own);
            exchange(&server.shared.replies, Some(at));
            server
        }))
    }
}

impl Poster for Handler {
    fn post(
        &self,
        body: String,
    ) -> impl Future<Output = Result<Receipt, Undelivered>> + Send + 'static {
        let server = self.0.clone();
        async move {
            match server {
                Some(server) => server.post(body).await,
                None => Err(Undelivered::Kept(Fault::OneWay)),
            }
        }
    }
}

impl Server {
    /// Makes what is known of a server, and the end at which the reader takes its courses.
    pub(super) fn new(
        address: &HttpAddress,
        settings: &LinkSettings,
    ) -> (Self, mpsc::UnboundedReceiver<Course>) {
        // One course follows one attempt, so the queue never grows.
        let (courses, taken) = mpsc::unbounded_channel();
        let server = Self {
            client: settings.client.clone(),
            token: bearer(settings.token.as_ref()),
            allow_plain: settings.config.allow_plain_http,
            request_limit: settings.config.reply_timeout(),
            reply_limit: limit_of(settings),
            most: settings.config.max_frame_bytes,
            given: address.url().clone(),
            shared: Arc::new(Shared {
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

    /// Returns the address of a path, which stays at this server.
    ///
    /// # Errors
    /// [`Fault::Unusable`] for everything that is no path of this server.
    fn path(&self, path: &str) -> Result<Url, Fault> {
        let nowhere = || Fault::Unusable(Cause::LeavesServer);
        if !path.starts_with('/') || path.len() > PATH_BYTES {
            return Err(nowhere());
        }
        // By the rules of addresses even what begins with a slash can name another host.
        let url = self.given.join(path).map_err(|_| nowhere())?;
        if url.origin() != self.given.origin() {
            return Err(nowhere());
        }
        check(&url, self.allow_plain).map_err(|_| nowhere())?;
        Ok(url)
    }

    /// Returns where a stream is.
    ///
    /// # Errors
    /// When the server sends it somewhere that is not safe, or it would leave the server by itself.
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
        }
    }

    /// Returns where the server itself says that a stream is.
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
    fn order(&self, course: Course) {
        // This fails only when the reader is over, and then nothing is followed any more.
        let _ = self.shared.courses.send(course);
    }

    /// Reads a document of this server, whole.
    pub(super) async fn document(&self, at: &Address) -> Result<String, Fault> {
        let url = self.address(at)?;
        if url.origin() != self.given.origin() {
            return Err(Fault::Unusable(Cause::LeavesServer));
        }
        let query = url.query().map(|query| format!("?{query}"));
        let path = format!("{}{}", url.path(), query.unwrap_or_default());
        let call = Call::get(path);
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

    /// Asks whether anybody is there at all, while a stream is silent.
    pub(super) async fn probe(self, path: &str) -> Result<(), Fault> {
        self.within(Call::get(path)).await.map(|_| ())
    }

    /// Makes one request, within the time that it has.
    async fn within(&self, call: Call) -> Result<HttpAnswer, Fault> {
        tokio::time::timeout(self.request_limit, self.request(call))
            .await
            .unwrap_or(Err(Fault::TimedOut))
    }

    async fn request(&self, call: Call) -> Result<HttpAnswer, Fault> {
        let most = call.most.min(self.most);
        let (response, url) = self.response(&call).await?;
        answer_of(response, &url, most).await
    }

    /// Makes one request whose answer may be a stream of events, each of which is handed over as it comes.
    async fn streamed(
        &self,
        call: Call,
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

    /// Makes one request, and gives its answer with where it came from as soon as it begins.
    async fn response(&self, call: &Call) -> Result<(reqwest::Response, Url), Fault> {
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
            // 307 and 308 keep the method and the body; what changes them is no answer to a message.
            if let (307 | 308, Some(next)) = (response.status().as_u16(), &location) {
                let next = url
                    .join(next)
                    .map_err(|_| Fault::Unusable(Cause::RedirectNowhere))?;
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

    /// Posts a reply to where replies go now, on a connection of its own.
    async fn attempt(self, body: String) -> Result<Receipt, Undelivered> {
        let replies = self.shared.replies.lock();
        let replies = replies.unwrap_or_else(PoisonError::into_inner).clone();
        let replies = replies.ok_or(Undelivered::Kept(Fault::OneWay))?;
        let url = self.path(&replies).map_err(Undelivered::Kept)?;
        let mut request = self
            .client
            .get(&url)
            .map_err(Undelivered::Kept)?
            .post(url)
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        if let Some(token) = self.token.map_err(Undelivered::Kept)? {
            request = request.header(AUTHORIZATION, token);
        }
        let response = request.send().await.map_err(|error| unsent(&error))?;
        let status = response.status();
        if status.is_success() {
            Ok(Receipt::Taken)
        } else {
            let fault = status_fault(status.as_u16(), response.headers());
            Err(Undelivered::by_status(status.as_u16(), fault))
        }
    }
}

/// Returns where an answer sends whoever asked.
fn location_of(response: &reqwest::Response) -> Option<String> {
    let location = response.headers().get(LOCATION);
    let location = location.filter(|location| location.len() <= LOCATION_BYTES)?;
    location.to_str().ok().map(str::to_owned)
}

/// Takes a whole answer in, which came from this address.
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

/// Takes the body of an answer in, up to a bound.
async fn body_of(response: reqwest::Response, most: usize) -> Result<String, Fault> {
    // A server that streams at every path answers no question; its body has no end.
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

/// Returns how long a reply may take.
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

/// Returns what a request that got no answer means for what it carried: before there is a connection
/// nothing of it has left, and after that nobody knows.
fn unsent(error: &reqwest::Error) -> Undelivered {
    let fault = fault_of(error);
    if error.is_connect() || error.is_builder() {
        Undelivered::Kept(fault)
    } else {
        Undelivered::Unknown(fault)
    }
}

impl Poster for Server {
    fn post(
        &self,
        body: String,
    ) -> impl Future<Output = Result<Receipt, Undelivered>> + Send + 'static {
        let this = self.clone();
        async move {
            let limit = this.reply_limit;
            tokio::time::timeout(limit, this.attempt(body))
                .await
                .unwrap_or(Err(Undelivered::Unknown(Fault::TimedOut)))
        }
    }

    fn call(&self, call: Call) -> impl Future<Output = Result<HttpAnswer, Fault>> + Send + 'static {
        let this = self.clone();
        async move { this.within(call).await }
    }

    fn stream(
        &self,
        request: u64,
        call: Call,
        sink: LinkSink,
    ) -> impl Future<Output = Result<HttpAnswer, Fault>> + Send + 'static {
        let this = self.clone();
        async move { this.streamed(call, request, sink).await }
    }

    fn follow(&self, stream: Stream) {
        exchange(&self.shared.replies, stream.replies.clone());
        self.order(Course::Follow(stream));
    }

    fn refuse(&self, fault: Fault) {
        self.order(Course::Refused(fault));
    }

    fn last_words(&self, words: Option<LastWords>) {
        exchange(&self.shared.last_words, words);
    }

    fn farewell(&self) -> impl Future<Output = ()> + Send + 'static {
        let this = self.clone();
        async move {
            // Whoever leaves can't do more than say so; the server notices the end by itself.
            match exchange(&this.shared.last_words, None) {
                Some(LastWords::Message(words)) => {
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
#[path = "tests/server.rs"]
mod tests;
