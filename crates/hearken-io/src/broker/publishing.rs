//! Sending events to the broker and waiting until it has stored them.
//!
//! Responsibilities: several events under way at the same time, in order; what a refusal of the broker means. Not here:
//! which events wait (`outbox`), the connection (`offer`).
//!
//! An event counts as stored once the broker confirms it. Whatever is not confirmed is sent again, under its id, by which
//! the broker recognises what it has stored before.

use std::collections::VecDeque;
use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::context::{PublishAckFuture, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use tokio::sync::mpsc;

use super::connect::words_of;
use super::offer::{BrokerEvent, Shared};
use super::outbox::Publication;
use crate::link::{Cause, Fault};

/// How many events may be on their way at the same time.
const UNDER_WAY: usize = 256;
/// Room for the headers of an event, in bytes.
const HEADERS: usize = 512;
/// How long to wait before an event that was refused is sent again.
const REFUSED: Duration = Duration::from_secs(1);
/// How often an event is sent again over one connection before the connection is given up.
const TRIES: u32 = 5;

type Confirmation = <PublishAckFuture as IntoFuture>::IntoFuture;

/// The events under way over one connection.
pub(super) struct Publishing {
    shared: Arc<Shared>,
    context: Context,
    /// The largest message that the broker accepts, in bytes.
    limit: usize,
    under_way: VecDeque<(Publication, Confirmation)>,
    /// The event that is being sent: it must outlast a connection that is lost meanwhile.
    sending: Option<Publication>,
}

impl Publishing {
    pub(super) fn new(shared: Arc<Shared>, context: Context, limit: usize) -> Self {
        Self {
            shared,
            context,
            limit,
            under_way: VecDeque::new(),
            sending: None,
        }
    }

    /// Sends events until that fails, and returns why.
    pub(super) async fn run(&mut self, events: &mpsc::Sender<BrokerEvent>) -> Fault {
        let mut refusals = 0;
        loop {
            let left_out = self.shared.with(|outbox| outbox.take_left_out());
            if left_out > 0 {
                // A bridge that ends no longer listens.
                let _ = events.send(BrokerEvent::LeftOut(left_out)).await;
            }
            if let Err(fault) = self.send(events).await {
                return fault;
            }
            let has_room = self.under_way.len() < UNDER_WAY;
            let Some((_, confirmation)) = self.under_way.front_mut() else {
                self.shared.more().await;
                continue;
            };
            let confirmed = tokio::select! {
                confirmed = confirmation => confirmed,
                () = self.shared.more(), if has_room => continue,
            };
            match confirmed {
                Ok(stored) => {
                    refusals = 0;
                    self.shared.stored(stored.sequence);
                    self.under_way.pop_front();
                }
                Err(error) => {
                    refusals += 1;
                    self.put_back();
                    match error.kind() {
                        PublishErrorKind::StreamNotFound => {
                            return Fault::Other(Cause::BrokerNoStream);
                        }
                        PublishErrorKind::TimedOut | PublishErrorKind::BrokenPipe => {
                            return Fault::TimedOut;
                        }
                        _ if refusals >= TRIES => return Fault::Other(words_of(&error)),
                        _ => tokio::time::sleep(REFUSED).await,
                    }
                }
            }
        }
    }

    /// Sends what waits, as far as there is room for it.
    async fn send(&mut self, events: &mpsc::Sender<BrokerEvent>) -> Result<(), Fault> {
        while self.under_way.len() < UNDER_WAY {
            self.sending = self.shared.with(|outbox| outbox.pop());
            let Some(publication) = &self.sending else {
                return Ok(());
            };
            let size = publication.text.len() + HEADERS;
            if size > self.limit {
                let limit = self.limit;
                self.sending = None;
                let _ = events.send(BrokerEvent::TooLarge { size, limit }).await;
                continue;
            }
            let message = PublishMessage::build()
                .payload(publication.text.clone().into())
                .message_id(&publication.id);
            let subject = publication.subject.clone();
            match self.context.send_publish(subject, message).await {
                Ok(confirmation) => {
                    let under_way = self.sending.take().zip(Some(confirmation.into_future()));
                    self.under_way.extend(under_way);
                }
                Err(error) => return Err(Fault::Other(words_of(&error))),
            }
        }
        Ok(())
    }

    /// Puts back what was not confirmed.
    pub(super) fn put_back(&mut self) {
        let unconfirmed = std::mem::take(&mut self.under_way).into_iter();
        let unconfirmed = unconfirmed.map(|(publication, _)| publication);
        let unconfirmed = unconfirmed.chain(self.sending.take());
        self.shared.with(|outbox| outbox.put_back(unconfirmed));
    }

    /// Waits until everything is stored, because the bridge ends; whoever waits for that has a limit.
    pub(super) async fn finish(&mut self) {
        let (events, _) = mpsc::channel(1);
        loop {
            if self.send(&events).await.is_err() {
                return;
            }
            let Some((_, confirmation)) = self.under_way.front_mut() else {
                return;
            };
            if confirmation.await.is_err() {
                return;
            }
            self.under_way.pop_front();
        }
    }
}
