//! The requests beside an event stream: the manifest, the subscription, and what is told to it.
//!
//! Responsibilities: the addresses under `/aaep/v1`, one request and its bounded answer, redirects to
//! the same origin only, where the stream and the replies are after that. Not here: what stands in a
//! request or an answer, and which one comes next (the handshake is a machine in `app`).

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, LOCATION};
use reqwest::{Method, Url};
use tokio::sync::mpsc;

use super::http::{SharedClient, bearer, fault_of, retry_after_of};
use super::link::LinkSettings;
use super::source::{Endpoints, check};
use crate::link::{Ask, Course, Fault, HttpAnswer};

/// The largest answer that is taken in: a signed manifest is a few kilobytes, a message of the
/// protocol at most 64 KiB (3.7).
const ANSWER_BYTES: usize = 256 * 1024;

/// How many redirects are followed, all to the same origin.
const REDIRECTS: u32 = 5;

/// The longest Location that is passed on, in bytes; no server writes one of this length in earnest.
const LOCATION_BYTES: usize = 4096;

/// Where producers put the handshake (B.1.1).
pub(super) const PREFIX: &str = "/aaep/v1";

/// Where producers put their manifest (5.10.2).
const MANIFEST: &str = "/.well-known/aaep-manifest.json";

/// Knows every address of a server that speaks HTTP.
#[derive(Debug, Clone)]
pub(super) struct Ways {
    client: SharedClient,
    token: Result<Option<HeaderValue>, Fault>,
    allow_plain: bool,
    limit: std::time::Duration,
    plain_messages: Url,
    base: Url,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    replies: Mutex<Url>,
    last_words: Mutex<Option<String>>,
    courses: mpsc::UnboundedSender<Course>,
}

impl Ways {
    /// Makes the ways of a server, and the end at which the reader takes its courses.
    pub(super) fn new(
        endpoints: &Endpoints,
        settings: &LinkSettings,
    ) -> (Self, mpsc::UnboundedReceiver<Course>) {
        // One course follows one attempt, so the queue never grows.
        let (courses, taken) = mpsc::unbounded_channel();
        let messages = endpoints.messages().clone();
        let ways = Self {
            client: settings.client.clone(),
            token: bearer(settings.token.as_ref()),
            allow_plain: settings.config.allow_plain_http,
            limit: settings.config.reply_timeout(),
            plain_messages: messages.clone(),
            base: endpoints.base(),
            shared: Arc::new(Shared {
                replies: Mutex::new(messages),
                last_words: Mutex::new(None),
                courses,
            }),
        };
        (ways, taken)
    }

    /// Gives where replies go now.
    pub(super) fn replies(&self) -> Url {
        self.shared
            .replies
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Takes what is posted when the link is closed, and forgets it once it was given.
    pub(super) fn take_last_words(&self) -> Option<String> {
        self.last_words(None)
    }

    /// Exchanges what is posted when the link is closed.
    pub(super) fn last_words(&self, words: Option<String>) -> Option<String> {
        let mut held = self
            .shared
            .last_words
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut held, words)
    }

    /// Passes a course on to the reader and sends replies where it says.
    pub(super) fn follow(&self, course: Course) {
        let replies = match &course {
            Course::Plain => Some(self.plain_messages.clone()),
            Course::Subscription { .. } => Some(self.below(&format!("{PREFIX}/replies"))),
            Course::Refused(_) => None,
        };
        if let Some(replies) = replies {
            *self
                .shared
                .replies
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = replies;
        }
        // This fails only when the reader is over, and then nothing is followed any more.
        let _ = self.shared.courses.send(course);
    }

    /// Gives where the stream of a subscription is.
    ///
    /// # Errors
    /// When the server sends it somewhere that is not safe.
    pub(super) fn stream(&self, id: &str, location: Option<&str>) -> Result<Url, Fault> {
        let asked = self.below(&format!("{PREFIX}/subscriptions"));
        let Some(location) = location else {
            let mut url = self.below(&format!("{PREFIX}/events"));
            url.query_pairs_mut().append_pair("subscription_id", id);
            return Ok(url);
        };
        let url = asked
            .join(location)
            .map_err(|_| unusable("the server named no usable address for its stream"))?;
        let safe = match (asked.scheme(), url.scheme()) {
            ("https", "https") | ("http", "http" | "https") => {
                check(&url, self.allow_plain).is_ok()
            }
            _ => false,
        };
        if safe {
            Ok(url)
        } else {
            Err(unusable(
                "the server sends the stream to an address that is not safe",
            ))
        }
    }

    fn below(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        let base = self.base.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{base}{path}"));
        url
    }

    fn manifest(&self) -> Url {
        let mut url = self.base.clone();
        url.set_path(MANIFEST);
        url
    }

    /// Makes one request, within the time that a reply has.
    pub(super) async fn ask(self, ask: Ask) -> Result<HttpAnswer, Fault> {
        let limit = self.limit;
        let asking = async move {
            let (method, url, body) = match ask {
                Ask::Manifest => (Method::GET, self.manifest(), None),
                Ask::Subscribe(body) => {
                    let url = self.below(&format!("{PREFIX}/subscriptions"));
                    (Method::POST, url, Some(body))
                }
                Ask::Tell(body) => (Method::POST, self.replies(), Some(body)),
            };
            self.exchange(method, url, body).await
        };
        tokio::time::timeout(limit, asking)
            .await
            .unwrap_or(Err(Fault::TimedOut))
    }

    /// Asks whether anybody is there at all, while a stream is silent.
    pub(super) async fn probe(self) -> Result<(), Fault> {
        self.ask(Ask::Manifest).await.map(|_| ())
    }

    async fn exchange(
        &self,
        method: Method,
        mut url: Url,
        body: Option<String>,
    ) -> Result<HttpAnswer, Fault> {
        for _ in 0..=REDIRECTS {
            let mut request = self
                .client
                .get(&url)?
                .request(method.clone(), url.clone())
                .header("accept", "application/json, application/jose");
            if let Some(body) = &body {
                request = request
                    .header(CONTENT_TYPE, "application/json")
                    .body(body.clone());
            }
            if let Some(token) = self.token.clone()? {
                request = request.header(AUTHORIZATION, token);
            }
            let response = request.send().await.map_err(|error| fault_of(&error))?;
            let status = response.status().as_u16();
            let location = response
                .headers()
                .get(LOCATION)
                .filter(|location| location.len() <= LOCATION_BYTES)
                .and_then(|location| location.to_str().ok())
                .map(str::to_owned);
            // 307 and 308 keep the method and the body; what changes them is no answer to a message.
            if let (307 | 308, Some(next)) = (status, &location) {
                let next = url
                    .join(next)
                    .map_err(|_| unusable("the server redirects to nowhere"))?;
                if next.origin() != url.origin() {
                    return Err(unusable(
                        "the server redirects the handshake to another server, which is refused",
                    ));
                }
                url = next;
                continue;
            }
            let retry_after = retry_after_of(response.headers());
            // A server that streams at every path answers no question; its body has no end.
            let streams = response
                .headers()
                .get(CONTENT_TYPE)
                .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
            let mut bytes = Vec::new();
            let mut chunks = response.bytes_stream();
            while !streams && let Some(chunk) = chunks.next().await {
                let chunk = chunk.map_err(|error| fault_of(&error))?;
                if bytes.len() + chunk.len() > ANSWER_BYTES {
                    return Err(Fault::TooLarge {
                        limit: ANSWER_BYTES,
                    });
                }
                bytes.extend_from_slice(&chunk);
            }
            return Ok(HttpAnswer {
                status,
                location,
                retry_after,
                body: String::from_utf8_lossy(&bytes).into_owned(),
            });
        }
        Err(unusable("the server redirects again and again"))
    }
}

fn unusable(words: &str) -> Fault {
    Fault::Unusable(words.to_owned())
}

#[cfg(test)]
#[path = "tests/exchange.rs"]
mod tests;
