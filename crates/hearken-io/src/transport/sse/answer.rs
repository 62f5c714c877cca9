//! A stream of server-sent events that answers a request made beside the stream of a link.
//!
//! Responsibilities: its events, each as one item of news, and its end. Not here: the request (`server`), the bytes and
//! the events in them (`filter`).

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use eventsource_client::{Client, ClientBuilder, Error as StreamError, ReconnectOptions, SSE};
use futures_util::StreamExt as _;
use http::{Request, Response};
use launchdarkly_sdk_transport::{ByteStream, HttpTransport, ResponseFuture, TransportError};

use super::arrivals::{Arrivals, Arrived};
use super::filter::Filter;
use super::request::{Halt, filtered, halt};
use super::resume::SharedResume;
use crate::link::{Cause, Fault, LinkEvent};
use crate::transport::sink::LinkSink;

/// A transport that returns a response that is already there, once.
#[derive(Clone)]
struct Once(Arc<Mutex<Option<Response<ByteStream>>>>);

impl HttpTransport for Once {
    fn request(&self, _: Request<Option<Bytes>>) -> ResponseFuture {
        let answer = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let gone = || TransportError::new(Halt::Fault(Fault::Closed));
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
    let arrivals = Arrivals::default();
    let filter = Filter::new(limit, SharedResume::default());
    let answer = filtered(response, filter, arrivals.clone());
    let builder = ClientBuilder::for_url(from.as_str());
    let mut events = builder
        .map_err(|_| Fault::Unusable(Cause::NoRequest))?
        .reconnect(ReconnectOptions::reconnect(false).build())
        .redirect_limit(0)
        .build_with_transport(Once(Arc::new(Mutex::new(Some(answer)))))
        .stream();
    while let Some(event) = events.next().await {
        // A flood of comments must not starve other tasks.
        tokio::task::consume_budget().await;
        match event {
            Ok(SSE::Event(_) | SSE::Comment(_) | SSE::Connected(_)) => {}
            Err(StreamError::Eof) => return Ok(()),
            Err(error) => {
                return match halt(error) {
                    Halt::Over | Halt::Whole => Ok(()),
                    Halt::Fault(fault) => Err(fault),
                };
            }
        }
        while let Some(arrived) = arrivals.take() {
            let news = match arrived {
                Arrived::Event(frame) if !frame.text.is_empty() => LinkEvent::Piece {
                    request,
                    text: frame.text,
                },
                Arrived::Dropped => LinkEvent::Dropped {
                    fault: Fault::TooLarge { limit },
                    count: 1,
                },
                Arrived::Event(_) | Arrived::Comment => continue,
            };
            sink.put(news).await.map_err(|_| Fault::Closed)?;
        }
    }
    Ok(())
}
