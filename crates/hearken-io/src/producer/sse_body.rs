//! Frames as a stream of server-sent events.
//!
//! Responsibilities: the text of an SSE stream (appendix B.1.3), its greeting and its heartbeat, as a
//! body that hyper polls. Not here: which frames are sent (`queue`) and the headers (`routes`).

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame as Piece};
use tokio::time::{Instant, Sleep, sleep};

use super::queue::{Frame, NextDelivery};
use super::shaper::Shaper;
use super::state_lock::Subscription;

/// How long a stream may be silent before a comment shows that it is alive.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(15);
/// Sent first, so that a client sees the open stream before the first event.
const GREETING: &[u8] = b": connected\n\n";
const HEARTBEAT_COMMENT: &[u8] = b": heartbeat\n\n";

/// A body that writes a subscriber's events as server-sent events.
pub(super) struct EventBody {
    subscription: Subscription,
    /// The shaper that keeps the stream to its terms; `None` for a plain stream.
    shaper: Option<Shaper>,
    greeted: bool,
    heartbeat: Pin<Box<Sleep>>,
    silence: Duration,
}

impl EventBody {
    /// Creates the body for a subscriber, with a comment after each such silence.
    pub(super) fn new(
        subscription: Subscription,
        shaper: Option<Shaper>,
        silence: Duration,
    ) -> Self {
        Self {
            subscription,
            shaper,
            greeted: false,
            heartbeat: Box::pin(sleep(silence)),
            silence,
        }
    }

    fn rest(&mut self) {
        let next = Instant::now() + self.silence;
        self.heartbeat.as_mut().reset(next);
    }
}

impl Body for EventBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Piece<Bytes>, io::Error>>> {
        let piece = |bytes| Poll::Ready(Some(Ok(Piece::data(bytes))));
        if !self.greeted {
            self.greeted = true;
            return piece(Bytes::from_static(GREETING));
        }
        let this = &mut *self;
        let delivery = match &mut this.shaper {
            Some(shaper) => shaper.poll_next(&this.subscription, context),
            None => this.subscription.poll_next(context),
        };
        match delivery {
            Poll::Ready(NextDelivery::Frame(frame)) => {
                self.rest();
                piece(Bytes::from(written(&frame)))
            }
            Poll::Ready(NextDelivery::Ended) => Poll::Ready(None),
            // An error breaks the connection instead of ending the body.
            Poll::Ready(NextDelivery::Cut) => {
                Poll::Ready(Some(Err(io::Error::from(io::ErrorKind::ConnectionAborted))))
            }
            Poll::Pending => match self.heartbeat.as_mut().poll(context) {
                Poll::Ready(()) => {
                    self.rest();
                    piece(Bytes::from_static(HEARTBEAT_COMMENT))
                }
                Poll::Pending => Poll::Pending,
            },
        }
    }
}

/// Returns a frame as one server-sent event; a text of several lines becomes several `data:` lines.
fn written(frame: &Frame) -> String {
    let mut text = String::with_capacity(frame.text.len() + 96);
    text.push_str("event: aaep.event\n");
    if let Some(event_id) = &frame.event_id {
        text.push_str("id: ");
        text.push_str(event_id);
        text.push('\n');
    }
    for line in frame.text.split(['\n', '\r']) {
        text.push_str("data: ");
        text.push_str(line);
        text.push('\n');
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http_body_util::BodyExt;

    use super::super::hub::Subscriber;
    use super::super::producer_handle::Producer;
    use super::super::state_lock::ProducerShared;
    use super::super::{Host, ProducerSettings};
    use super::*;

    #[tokio::test]
    async fn a_silent_stream_beats() {
        let host = Host {
            id: "agent".to_owned(),
            name: "Agent".to_owned(),
            about: String::new(),
            farewell: String::new(),
            answers: None,
            requests: None,
            prompts: None,
            admission: None,
        };
        let shared = ProducerShared::new(ProducerSettings::new(host, 11), &[]);
        let producer = Producer::new(Arc::new(shared));
        let subscription = producer.subscribe(None, Subscriber::Plain).unwrap();
        let mut body = EventBody::new(subscription, None, Duration::from_millis(1));
        for text in [": connected\n\n", ": heartbeat\n\n", ": heartbeat\n\n"] {
            let piece = body.frame().await.unwrap().unwrap();
            assert_eq!(piece.into_data().unwrap(), text);
        }
    }

    #[test]
    fn a_frame_is_one_server_sent_event() {
        let mut frame = Frame {
            event_id: Some("evt_1".to_owned()),
            critical: false,
            text: "{\"a\":1}".to_owned(),
        };
        assert_eq!(
            written(&frame),
            "event: aaep.event\nid: evt_1\ndata: {\"a\":1}\n\n"
        );
        frame.event_id = None;
        frame.text = "no\njson".to_owned();
        assert_eq!(
            written(&frame),
            "event: aaep.event\ndata: no\ndata: json\n\n"
        );
    }
}
