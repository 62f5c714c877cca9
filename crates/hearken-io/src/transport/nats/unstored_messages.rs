//! What passes through a broker without being stored.
//!
//! Responsibilities: delivering what comes under some subjects; a connection that waits for a stream which is not there
//! yet. Not here: what is stored (the module above), requests (`service_requests`).

use std::time::Duration;

use async_nats::jetstream;
use futures_util::StreamExt as _;
use futures_util::stream::SelectAll;

use super::consumer_place::{ConsumerPlace, is_durable, is_missing};
use super::service_requests::NatsConnectDecision;
use super::{NatsReader, frame};
use crate::broker::{Connected, connect, words_of};
use crate::link::{Consumer, Fault, LinkEvent, UnstoredSubjects};
use crate::transport::link_sink::{LinkSink, SinkGone};

/// How often a stream that is not there is looked for.
const LOOKS: Duration = Duration::from_secs(5);

impl NatsReader {
    /// Passes messages on over one connection, and returns why it ended and whether it was good.
    pub(super) async fn listen(
        &mut self,
        wanted: UnstoredSubjects,
        sink: &LinkSink,
    ) -> Result<(Fault, bool), SinkGone> {
        let terms = match self.settings.broker_terms(&self.address) {
            Ok(terms) => terms,
            Err(fault) => return Ok((fault, false)),
        };
        let inbox = wanted.person.as_deref().filter(|name| is_durable(name));
        let connected = match connect(&terms, "hearken watch", inbox).await {
            Ok(connected) => connected,
            Err(fault) => return Ok((fault, false)),
        };
        let mut lasts = connected.lasts;
        let mut passing = SelectAll::new();
        for subject in wanted.subjects {
            match connected.client.subscribe(subject).await {
                Ok(messages) => passing.push(messages),
                Err(error) => return Ok((Fault::Other(words_of(&error)), false)),
            }
        }
        self.up.send_replace(Some(connected.client));
        sink.put(LinkEvent::Connected).await?;
        let limit = self.settings.config.max_frame_bytes;
        loop {
            tokio::select! {
                biased;
                () = lasts.over() => return Ok((Fault::Closed, true)),
                next = self.course.recv() => match next {
                    Some(NatsConnectDecision::Refuse(fault)) => return Ok((fault, true)),
                    Some(NatsConnectDecision::Follow(_) | NatsConnectDecision::Listen(_)) => {}
                    // The handle is gone, and the link is about to be dropped.
                    None => std::future::pending().await,
                },
                Some(message) = passing.next() => {
                    sink.put(frame(&message, None, limit)).await?;
                }
            }
        }
    }

    /// Waits over a connection until the wanted stream is there, and returns the place in it, or why the wait is over.
    pub(super) async fn until_stored(
        &mut self,
        connected: &Connected,
        context: &jetstream::Context,
        wanted: &mut Consumer,
        sink: &LinkSink,
    ) -> Result<Result<ConsumerPlace, Fault>, SinkGone> {
        let mut lasts = connected.lasts.clone();
        self.up.send_replace(Some(connected.client.clone()));
        sink.put(LinkEvent::Connected).await?;
        loop {
            tokio::select! {
                biased;
                () = lasts.over() => return Ok(Err(Fault::Closed)),
                next = self.course.recv() => match next {
                    Some(NatsConnectDecision::Refuse(fault)) => return Ok(Err(fault)),
                    Some(NatsConnectDecision::Follow(other)) => {
                        *wanted = other;
                        continue;
                    }
                    Some(NatsConnectDecision::Listen(_)) => continue,
                    None => std::future::pending().await,
                },
                () = tokio::time::sleep(LOOKS) => {}
            }
            let place = ConsumerPlace::find(context, wanted, &self.program, &mut self.resume_at);
            let place = tokio::select! {
                place = place => place,
                () = lasts.over() => Err(Fault::Closed),
            };
            match place {
                Err(fault) if is_missing(&fault) => {}
                place => return Ok(place),
            }
        }
    }
}
