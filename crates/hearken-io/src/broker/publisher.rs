//! Sending events to the broker and waiting until it has stored them.
//!
//! Responsibilities: several events under way at the same time, in order; what a refusal of the broker means. Not here:
//! which events wait (`outbox`), the connection (`broker_offer`).
//!
//! An event counts as stored once the broker confirms it. Whatever is not confirmed is sent again, under its id, by
//! which the broker recognises what it has stored before. A broker that stores nothing (its disk is full) is not given
//! up: over the same connection it still carries requests.

use std::collections::VecDeque;
use std::error::Error as _;
use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::context::{PublishAckFuture, PublishError, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::{self, Context, ErrorCode};
use tokio::sync::mpsc;

use super::broker_connection::words_of;
use super::broker_offer::{BrokerEvent, OfferState};
use super::outbox::Publication;
use crate::link::{Cause, Fault};

/// How many events may be on their way at the same time; while the broker stores nothing, only one
/// at a time.
const UNDER_WAY: usize = 256;
/// Room for the headers of an event, in bytes.
const HEADERS: usize = 512;
/// How long to wait before an event that was refused is sent again.
const REFUSED: Duration = Duration::from_secs(1);
/// The errors by which a broker says that it has no room, its own or what it was told to use.
const NO_ROOM: [ErrorCode; 4] = [
    ErrorCode::INSUFFICIENT_RESOURCES,
    ErrorCode::STORAGE_RESOURCES_EXCEEDED,
    ErrorCode::ACCOUNT_RESOURCES_EXCEEDED,
    ErrorCode::STREAM_STORE_FAILED,
];

type Confirmation = <PublishAckFuture as IntoFuture>::IntoFuture;

/// The events under way over one connection.
pub(super) struct Publishing {
    shared: Arc<OfferState>,
    context: Context,
    /// The largest message that the broker accepts, in bytes.
    limit: usize,
    under_way: VecDeque<(Publication, Confirmation)>,
    /// The event that is being sent: it must outlast a connection that is lost meanwhile.
    sending: Option<Publication>,
}

impl Publishing {
    pub(super) fn new(shared: Arc<OfferState>, context: Context, limit: usize) -> Self {
        Self {
            shared,
            context,
            limit,
            under_way: VecDeque::new(),
            sending: None,
        }
    }

    /// Sends events until the connection can't be used for that any more, and returns why.
    pub(super) async fn run(&mut self, events: &mpsc::Sender<BrokerEvent>) -> Fault {
        loop {
            let left_out = self.shared.with(|outbox| outbox.take_left_out());
            if left_out > 0 {
                // A bridge that ends no longer listens.
                let _ = events.send(BrokerEvent::LeftOut(left_out)).await;
            }
            if let Err(fault) = self.send(events).await {
                return fault;
            }
            let has_room = self.under_way.len() < self.most_under_way();
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
                    self.shared.stored(stored.sequence);
                    self.under_way.pop_front();
                    if self.shared.set_refused(false) {
                        let _ = events.send(BrokerEvent::Stores).await;
                    }
                }
                Err(error) => {
                    self.put_back();
                    let fault = match refusal(&error) {
                        PublishRefusal::Connection(fault) => return fault,
                        PublishRefusal::Storage(fault) => fault,
                    };
                    if self.shared.set_refused(true) {
                        let _ = events.send(BrokerEvent::StoresNothing(fault)).await;
                    }
                    tokio::time::sleep(REFUSED).await;
                }
            }
        }
    }

    /// Sends what waits, as far as there is room for it.
    async fn send(&mut self, events: &mpsc::Sender<BrokerEvent>) -> Result<(), Fault> {
        while self.under_way.len() < self.most_under_way() {
            self.sending = self.shared.with(|outbox| outbox.pop());
            let Some(publication) = &self.sending else {
                return Ok(());
            };
            let size = publication.text.len() + HEADERS;
            if size > self.limit {
                let asks = publication.asks.clone();
                let limit = self.limit;
                self.sending = None;
                let _ = events
                    .send(BrokerEvent::TooLarge { size, limit, asks })
                    .await;
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

    fn most_under_way(&self) -> usize {
        match self.shared.is_refused() {
            true => 1,
            false => UNDER_WAY,
        }
    }

    /// Puts back what was not confirmed.
    pub(super) fn put_back(&mut self) {
        let unconfirmed = std::mem::take(&mut self.under_way).into_iter();
        let unconfirmed = unconfirmed.map(|(publication, _)| publication);
        let unconfirmed = unconfirmed.chain(self.sending.take());
        self.shared.with(|outbox| outbox.put_back(unconfirmed));
    }

    /// Waits until everything is stored, because the bridge ends; the caller sets a limit.
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

/// What a broker's refusal of an event means.
enum PublishRefusal {
    /// The connection has to be prepared anew.
    Connection(Fault),
    /// Nothing is stored for now.
    Storage(Fault),
}

fn refusal(error: &PublishError) -> PublishRefusal {
    let said = error.source();
    let said = said.and_then(|inner| inner.downcast_ref::<jetstream::Error>());
    let said = said.map(jetstream::Error::error_code);
    match error.kind() {
        PublishErrorKind::StreamNotFound => {
            PublishRefusal::Connection(Fault::Other(Cause::BrokerStreamGone))
        }
        PublishErrorKind::BrokenPipe => PublishRefusal::Connection(Fault::Closed),
        // The stream's own limit has changed, which is read at its beginning.
        _ if said == Some(ErrorCode::STREAM_MESSAGE_EXCEEDS_MAXIMUM) => {
            PublishRefusal::Connection(Fault::Other(words_of(error)))
        }
        // While the connection lives, the server is there: a server that can't write doesn't
        // answer.
        PublishErrorKind::TimedOut => PublishRefusal::Storage(Fault::Other(Cause::BrokerSilent)),
        _ if said.is_some_and(|code| NO_ROOM.contains(&code)) => {
            PublishRefusal::Storage(Fault::Other(Cause::BrokerFull))
        }
        PublishErrorKind::WrongLastMessageId
        | PublishErrorKind::WrongLastSequence
        | PublishErrorKind::MaxAckPending
        | PublishErrorKind::MaxPayloadExceeded
        | PublishErrorKind::Other => PublishRefusal::Storage(Fault::Other(words_of(error))),
    }
}
