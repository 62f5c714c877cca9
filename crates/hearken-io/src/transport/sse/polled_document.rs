//! A document instead of a stream: it is read again and again, and the connection exists as long as it can be read.
//!
//! Responsibilities: reading it, whether it contains news, when the connection is over. Not here: the request
//! (`http_server`), trying again (`super`).

use std::time::Duration;

use tokio::time::Instant;

use super::stream_request::StreamEnd;
use super::{SseReader, StreamOutcome, is_good};
use crate::link::{Address, Fault, Frame, LinkEvent};
use crate::transport::http_server::HttpConnectDecision;
use crate::transport::link_sink::{LinkSink, SinkGone};

impl SseReader {
    /// Reads a document at intervals, until it can't be read or the dialect refuses it.
    pub(super) async fn document(
        &mut self,
        at: &Address,
        every: Duration,
        sink: &LinkSink,
    ) -> Result<StreamOutcome, SinkGone> {
        let mut since: Option<Instant> = None;
        let mut last = None;
        let mut frames: u64 = 0;
        let fault = loop {
            let body = match self.server.document(at).await {
                Ok(body) => body,
                Err(fault) => break fault,
            };
            if since.is_none() {
                since = Some(Instant::now());
                sink.put(LinkEvent::Connected).await?;
            }
            if last.as_ref() != Some(&body) {
                frames = frames.saturating_add(1);
                sink.put(LinkEvent::Frame(Frame::of(body.clone()))).await?;
                last = Some(body);
            }
            tokio::select! {
                () = tokio::time::sleep(every) => {}
                refused = self.refused() => break refused,
            }
        };
        // Further courses for this connection come too late.
        while self.courses.try_recv().is_ok() {}
        let good = is_good(frames, since.map(|since| since.elapsed()));
        Ok(StreamOutcome {
            end: StreamEnd::Fault(fault),
            good,
        })
    }

    /// Waits until the connection is refused.
    async fn refused(&mut self) -> Fault {
        loop {
            if let HttpConnectDecision::Refused(fault) = self.course().await {
                return fault;
            }
        }
    }
}
