//! A stream of server-sent events that answers a request made beside the stream of a link.
//!
//! Responsibilities: its events, each as one item of news, and its end. Not here: the request (`http_server`), cleaning
//! its bytes (`sse_filter`), reading the events (the crate eventsource-client).

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use eventsource_client::{Client, ClientBuilder, Error as StreamError, ReconnectOptions, SSE};
use futures_util::StreamExt as _;
use http::{Request, Response};
use launchdarkly_sdk_transport::{ByteStream, HttpTransport, ResponseFuture, TransportError};

use super::resume::SharedResume;
use super::sse_filter::{DROPPED, Filter};
use super::stream_request::{StreamEnd, filtered, halt};
use crate::link::{Cause, Fault, LinkEvent};
use crate::transport::link_sink::LinkSink;

/// A transport that returns a response that is already there, once.
#[derive(Clone)]
pub(super) struct SingleResponse(Arc<Mutex<Option<Response<ByteStream>>>>);

impl SingleResponse {
    /// Creates a transport for a response.
    pub(super) fn of(answer: Response<ByteStream>) -> Self {
        Self(Arc::new(Mutex::new(Some(answer))))
    }
}

impl HttpTransport for SingleResponse {
    fn request(&self, _: Request<Option<Bytes>>) -> ResponseFuture {
        let answer = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let gone = || TransportError::new(StreamEnd::Fault(Fault::Closed));
        Box::pin(sync_wrapper::SyncFuture::new(std::future::ready(
            answer.ok_or_else(gone),
        )))
    }
}

/// Passes on the events of an answer, under the number of its request, until it ends.
///
/// # Errors
/// The failure that broke it.
pub(in crate::transport) async fn pieces(
    response: reqwest::Response,
    limit: usize,
    request: u64,
    sink: &LinkSink,
) -> Result<(), Fault> {
    let from = response.url().clone();
    // Such a stream is an answer, and never resumes an earlier one.
    let filter = Filter::new(limit, SharedResume::default());
    let answer = filtered(response, filter);
    let builder = ClientBuilder::for_url(from.as_str());
    let mut events = builder
        .map_err(|_| Fault::Unusable(Cause::NoRequest))?
        .reconnect(ReconnectOptions::reconnect(false).build())
        .redirect_limit(0)
        .build_with_transport(SingleResponse::of(answer))
        .stream();
    while let Some(event) = events.next().await {
        // A flood of comments must not starve other tasks.
        tokio::task::consume_budget().await;
        let news = match event {
            Ok(SSE::Event(event)) if !event.data.is_empty() => LinkEvent::Piece {
                request,
                text: event.data,
            },
            Ok(SSE::Comment(words)) if words == DROPPED => LinkEvent::Dropped {
                fault: Fault::TooLarge { limit },
                count: 1,
            },
            Ok(SSE::Event(_) | SSE::Comment(_) | SSE::Connected(_)) => continue,
            Err(StreamError::Eof) => return Ok(()),
            Err(error) => {
                return match halt(error) {
                    StreamEnd::Over | StreamEnd::Whole => Ok(()),
                    StreamEnd::Fault(fault) => Err(fault),
                };
            }
        };
        sink.put(news).await.map_err(|_| Fault::Closed)?;
    }
    Ok(())
}
