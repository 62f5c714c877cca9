//! A stream of server-sent events, kept open.
//!
//! Responsibilities: one connection after another (attempts, waits, giving up), what is resumed after a break, the
//! order of news. Not here: the request itself and redirects (`stream_request`), cleaning the bytes (`sse_filter`),
//! reading the events (the crate eventsource-client), how long to wait (`Backoff`).
//!
//! A connection is good if it delivered a message or stayed up for [`GOOD_AFTER`]; only then do the waits and the count
//! of attempts start over, so that a server which accepts and drops connections gets no rapid retries. There is no time
//! limit on headers or on silence: some servers send no headers before their first event and others are silent for
//! minutes, so only connecting has a limit. TCP's own probes notice a vanished machine; a request beside a stream that
//! is silent for `links.silent_after_seconds` notices that the server no longer listens. If neither is conclusive, the
//! silence is only reported.

pub(super) mod answer_stream;
mod polled_document;
mod resume;
mod sse_filter;
pub(super) mod stream_request;

use std::collections::VecDeque;
use std::time::Duration;

use eventsource_client::{Client, ClientBuilder, Error as StreamError, ReconnectOptions, SSE};
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::backoff::Backoff;
use super::halves::SourceReader;
use super::http_server::{HttpConnectDecision, HttpServer};
use super::link_sink::{LinkSink, SinkGone};
use super::transport_settings::LinkSettings;
use crate::link::{Cause, Fault, LinkEvent, Stream};
use resume::SharedResume;
pub use sse_filter::EventStream;
use sse_filter::{DROPPED, frame};
use stream_request::{StreamEnd, StreamRequest, halt};

/// How long a silent connection must last to count as good: longer than a server takes that accepts
/// a connection only to drop it.
const GOOD_AFTER: Duration = Duration::from_secs(5);

/// The most events that are passed on together, and the bytes from which on no more are added: enough that a flood
/// costs its events and not its wake-ups, and few enough that arrived events reach the receiver immediately.
const TOGETHER: usize = 128;
const TOGETHER_BYTES: usize = 64 * 1024;

/// The reader that follows an event stream and reconnects by itself.
#[derive(Debug)]
pub(super) struct SseReader {
    request: StreamRequest,
    server: HttpServer,
    /// The courses that determine what each attempt follows, if attempts differ.
    courses: mpsc::UnboundedReceiver<HttpConnectDecision>,
    /// The silence after which to check whether the server still responds; `None` for never.
    silent_after: Option<Duration>,
    resume: SharedResume,
    settings: LinkSettings,
}

/// The outcome of one connection.
struct StreamOutcome {
    end: StreamEnd,
    good: bool,
}

impl SseReader {
    pub(super) fn new(
        server: HttpServer,
        courses: mpsc::UnboundedReceiver<HttpConnectDecision>,
        settings: LinkSettings,
    ) -> Self {
        let resume = SharedResume::default();
        Self {
            request: StreamRequest::new(server.given(), &settings, resume.clone()),
            server,
            courses,
            silent_after: match settings.config.silent_after_seconds {
                0 => None,
                seconds => Some(Duration::from_secs(seconds)),
            },
            resume,
            settings,
        }
    }

    /// Waits for the course of this attempt.
    async fn course(&mut self) -> HttpConnectDecision {
        match self.courses.recv().await {
            Some(course) => course,
            // The other end lives as long as the link, which is then about to be dropped.
            None => std::future::pending().await,
        }
    }

    async fn follow(mut self, sink: &LinkSink) -> Result<(), SinkGone> {
        let config = self.settings.config.clone();
        let mut backoff = Backoff::new(
            Duration::from_millis(config.backoff_first_ms),
            Duration::from_millis(config.backoff_cap_ms),
            // Links that share a seed must not reconnect in step.
            self.settings.seed.wrapping_add(sink.index() as u64),
        );
        let mut attempt: u32 = 1;
        let mut tried_again: u32 = 0;
        loop {
            sink.put(LinkEvent::Connecting { attempt }).await?;
            let (outcome, may_be_forgotten) = match self.course().await {
                HttpConnectDecision::Follow(Stream {
                    at,
                    every: Some(every),
                    ..
                }) => (self.document(&at, every, sink).await?, false),
                HttpConnectDecision::Follow(stream) => {
                    let outcome = match self.request.of(self.server.address(&stream.at), &stream) {
                        Ok(request) => self.connection(&request, &stream, sink).await?,
                        Err(fault) => StreamOutcome::bad(fault),
                    };
                    (outcome, stream.may_be_forgotten)
                }
                HttpConnectDecision::Refused(fault) => (StreamOutcome::bad(fault), false),
            };
            if outcome.good {
                backoff.reset();
                attempt = 0;
                tried_again = 0;
            }
            let fault = match outcome.end {
                StreamEnd::Over => return sink.put(LinkEvent::Ended).await,
                StreamEnd::Whole if outcome.good => {
                    sink.put(LinkEvent::StreamEnded).await?;
                    attempt = 1;
                    continue;
                }
                // An empty answer counts as a failure, so that its server gets no rapid retries.
                StreamEnd::Whole => Fault::Closed,
                StreamEnd::Fault(fault) => fault,
            };
            // A server that forgot a stream reports that by a status; a new stream can still be opened.
            let over =
                fault.is_final() && !(may_be_forgotten && matches!(fault, Fault::Status { .. }));
            if over || config.retries.is_some_and(|most| tried_again >= most) {
                return sink.put(LinkEvent::Failed { fault }).await;
            }
            if let Some(first) = self.resume.with(|resume| resume.retry) {
                backoff.ask(first);
            }
            let retry_in = backoff.next(fault.retry_after());
            sink.put(LinkEvent::Lost { fault, retry_in }).await?;
            tokio::time::sleep(retry_in).await;
            attempt = attempt.saturating_add(1);
            tried_again = tried_again.saturating_add(1);
        }
    }

    /// Opens one connection and follows it until it ends.
    async fn connection(
        &self,
        request: &StreamRequest,
        stream: &Stream,
        sink: &LinkSink,
    ) -> Result<StreamOutcome, SinkGone> {
        let Ok(builder) = ClientBuilder::for_url(request.address()) else {
            return Ok(StreamOutcome::bad(Fault::Unusable(Cause::NoRequest)));
        };
        let mut events = builder
            .reconnect(ReconnectOptions::reconnect(false).build())
            .redirect_limit(0)
            .build_with_transport(request.clone())
            .stream();
        // Nothing changes it before this stream is open: only a stream's own events do.
        let resumed = stream.opened_by.is_none()
            && (self.resume).with(|resume| resume.last_event_id.is_some() && !resume.passed);
        let limit = self.settings.config.max_frame_bytes;
        let mut news = VecDeque::new();
        let mut frames: u64 = 0;
        let mut since: Option<Instant> = None;
        let mut heard = Instant::now();
        // One timer for every silence: what arrives does not reset it, the time since then is checked when it expires.
        let silence = self.silent_after.unwrap_or(Duration::ZERO);
        let mut quiet = std::pin::pin!(tokio::time::sleep(silence));
        let end = loop {
            // A flood of comments must not starve other tasks.
            tokio::task::consume_budget().await;
            let arrival = {
                let mut arriving = std::pin::pin!(events.next());
                let mut since = Instant::now();
                loop {
                    let beside = async {
                        let Some(silence) = self.silent_after else {
                            return std::future::pending().await;
                        };
                        quiet.as_mut().await;
                        while since.elapsed() < silence {
                            quiet.as_mut().reset(since + silence);
                            quiet.as_mut().await;
                        }
                        match &stream.probe {
                            Some(path) => self.server.clone().probe(path).await,
                            // No other path can be asked, so only the silence can be reported.
                            None => Err(Fault::TimedOut),
                        }
                    };
                    tokio::select! {
                        biased;
                        arrival = arriving.as_mut() => break Ok(arrival),
                        answer = beside => match answer {
                            // A server that answers beside the stream is alive and just has nothing to send.
                            Ok(()) => {}
                            Err(fault @ (Fault::Refused | Fault::UnknownHost)) => break Err(fault),
                            Err(_undecided) => {
                                let seconds = heard.elapsed().as_secs();
                                sink.put(LinkEvent::Silent { seconds }).await?;
                            }
                        },
                    }
                    since = Instant::now();
                }
            };
            heard = Instant::now();
            let mut next = match arrival {
                Ok(arrival) => arrival,
                Err(fault) => break StreamEnd::Fault(fault),
            };
            // Everything that arrived with it is passed on with it.
            let (mut taken, mut bytes) = (0, 0);
            let end = loop {
                match next {
                    Some(Ok(SSE::Connected(_))) => {
                        since = Some(Instant::now());
                        news.push_back(LinkEvent::Connected);
                        if resumed {
                            news.push_back(LinkEvent::Resumed);
                        }
                    }
                    Some(Ok(SSE::Event(event))) => {
                        frames = frames.saturating_add(1);
                        // Some servers keep a connection alive with an empty event.
                        if !event.data.is_empty() {
                            bytes += event.data.len();
                            news.push_back(LinkEvent::Frame(frame(event)));
                        }
                    }
                    Some(Ok(SSE::Comment(words))) if words == DROPPED => {
                        let fault = Fault::TooLarge { limit };
                        news.push_back(LinkEvent::Dropped { fault, count: 1 });
                    }
                    // A sign of life.
                    Some(Ok(SSE::Comment(_))) => {}
                    Some(Err(StreamError::Eof)) if stream.opened_by.is_some() => {
                        break Some(StreamEnd::Whole);
                    }
                    Some(Err(error)) => break Some(halt(error)),
                    None => break Some(StreamEnd::Fault(Fault::Closed)),
                }
                taken += 1;
                if taken >= TOGETHER || bytes >= TOGETHER_BYTES {
                    break None;
                }
                match events.next().now_or_never() {
                    Some(following) => next = following,
                    None => break None,
                }
            };
            sink.put_all(&mut news).await?;
            if let Some(end) = end {
                break end;
            }
        };
        let good = is_good(frames, since.map(|since| since.elapsed()));
        Ok(StreamOutcome { end, good })
    }
}

impl StreamOutcome {
    /// Returns the outcome of an attempt that failed.
    fn bad(fault: Fault) -> Self {
        Self {
            end: StreamEnd::Fault(fault),
            good: false,
        }
    }
}

/// Returns whether a connection was good, judging by its messages and how long it was up, if ever.
fn is_good(frames: u64, up: Option<Duration>) -> bool {
    frames > 0 || up.is_some_and(|up| up >= GOOD_AFTER)
}

impl SourceReader for SseReader {
    async fn read(self, sink: LinkSink) {
        // An error only means that the receiver is gone.
        let _ = self.follow(&sink).await;
    }
}

#[cfg(test)]
#[path = "../tests/sse.rs"]
mod tests;
