//! A bridge's side of a broker: what it publishes, and the requests it gets.
//!
//! Responsibilities: one connection after another, the stream, signs of life, reporting what goes wrong. Not here: the
//! events that wait (`outbox`), sending them (`publisher`), requests (`bridge_service`).

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::context::{CreateStreamErrorKind, GetStreamErrorKind};
use async_nats::jetstream::stream::{Config, DiscardPolicy, StorageType};
use async_nats::jetstream::{self, ErrorCode};
use async_nats::service::Service;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use super::BrokerAddress;
use super::bridge_service::{self, BrokerRequest};
use super::broker_connection::{Connected, connect, words_of};
use super::outbox::{Outbox, Publication};
use super::publisher::Publishing;
use crate::link::{Cause, Fault};
use crate::transport::{Backoff, LinkSettings};

/// How long the stream keeps events.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How many bytes the stream keeps.
const KEPT_BYTES: i64 = 1024 * 1024 * 1024;
/// How long the stream recognises an event that it has stored before.
const DUPLICATES: Duration = Duration::from_secs(120);
/// How often a bridge gives a sign of life.
const ALIVE: Duration = Duration::from_secs(10);
/// The field of a sign of life with the number of events that wait, if the broker stores none.
const UNSTORED: &str = "unstored";
/// How long a sign of life waits for its text.
const SIGN_TIME: Duration = Duration::from_secs(1);
/// How often a bridge looks whether the stream is still there: without one, nobody can follow its agents.
const STREAM_CHECKED: Duration = Duration::from_secs(30);
/// The largest message of a broker, until one is known.
const USUAL_LIMIT: usize = 1024 * 1024;
/// How long to search for another bridge of the same name.
const SEARCH: Duration = Duration::from_millis(700);
/// How long a bridge that ends waits for its last events to be stored.
const LAST_EVENTS: Duration = Duration::from_secs(5);
/// By how much two clocks may differ before it is reported.
const WRONG_CLOCK: Duration = Duration::from_secs(60);
/// The most events of the broker that wait for the bridge.
const WAITING: usize = 1024;

/// What a bridge offers, and under which subjects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokerOffer {
    /// The token of the space.
    pub space: String,
    /// The token of the machine.
    pub host: String,
    /// What distinguishes this bridge from another of the same name.
    pub id: String,
    /// The program's version.
    pub version: String,
    /// The stream.
    pub stream: String,
    /// The subjects of the stream.
    pub events: String,
    /// The subject of signs of life.
    pub alive: String,
    /// The subject of requests for what is going on.
    pub now: String,
    /// The subjects of replies.
    pub replies: String,
    /// The subjects of prompts and stops.
    pub request_subjects: String,
    /// How long to search for another bridge of the same name.
    pub search: Duration,
}

impl BrokerOffer {
    /// The usual time to search for another bridge of the same name.
    pub const SEARCH: Duration = SEARCH;
}

/// What a bridge learns about its broker.
#[derive(Debug)]
pub enum BrokerEvent {
    /// It can be reached.
    Up,
    /// It can't be reached, or takes nothing; it is tried again.
    Down(Fault),
    /// It can't be used, and is not tried again.
    Failed(Fault),
    /// Events were left out because too many waited.
    LeftOut(u64),
    /// It can be reached, and stores nothing; events wait.
    StoresNothing(Fault),
    /// It stores events again.
    Stores,
    /// An event was left out because it is larger than the broker accepts.
    TooLarge {
        /// Its size, in bytes.
        size: usize,
        /// The largest that is accepted, in bytes.
        limit: usize,
        /// The agent that asks, if the event is a question.
        asks: Option<String>,
    },
    /// Its clock differs from this machine's by this many seconds.
    Clock(i64),
    /// A sign of life is due; this takes its text.
    SignDue(oneshot::Sender<String>),
    /// A watcher requests something.
    Request(BrokerRequest),
}

/// The events on their way to a broker, shared by the bridge and the task that sends them.
#[derive(Debug)]
pub(super) struct OfferState {
    outbox: Mutex<Outbox>,
    more: Notify,
    ending: Notify,
    /// The sequence in the stream of the last event that was stored.
    sequence: AtomicU64,
    /// The largest message that the broker accepts, in bytes.
    limit: AtomicUsize,
    /// Whether the broker stores nothing, and wakes the signs of life when that changes.
    refused: watch::Sender<bool>,
}

impl Default for OfferState {
    fn default() -> Self {
        Self {
            outbox: Mutex::default(),
            more: Notify::new(),
            ending: Notify::new(),
            sequence: AtomicU64::new(0),
            limit: AtomicUsize::new(USUAL_LIMIT),
            refused: watch::Sender::new(false),
        }
    }
}

impl OfferState {
    pub(super) fn with<T>(&self, act: impl FnOnce(&mut Outbox) -> T) -> T {
        act(&mut self.outbox.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for more events.
    pub(super) async fn more(&self) {
        self.more.notified().await;
    }

    pub(super) fn stored(&self, sequence: u64) {
        self.sequence.fetch_max(sequence, Ordering::Relaxed);
    }

    /// Returns whether the broker stores nothing.
    pub(super) fn is_refused(&self) -> bool {
        *self.refused.borrow()
    }

    /// Notes whether the broker stores nothing; returns whether that is news.
    pub(super) fn set_refused(&self, refused: bool) -> bool {
        self.refused.send_if_modified(|known| {
            let is_news = *known != refused;
            *known = refused;
            is_news
        })
    }
}

/// The control of a bridge's connection to a broker.
#[derive(Debug)]
pub struct Broker {
    shared: Arc<OfferState>,
    events: mpsc::Receiver<BrokerEvent>,
    task: JoinHandle<()>,
}

impl Broker {
    /// Publishes an event as soon as the broker takes it.
    pub fn publish(&self, publication: Publication) {
        self.shared.with(|outbox| outbox.push(publication));
        self.shared.more.notify_one();
    }

    /// Waits for the next event of the broker; `None` once it can't be used any more.
    pub async fn next(&mut self) -> Option<BrokerEvent> {
        self.events.recv().await
    }

    /// Returns the sequence in the stream of the last event that was stored.
    pub fn sequence(&self) -> u64 {
        self.shared.sequence.load(Ordering::Relaxed)
    }

    /// Returns the largest message that the broker accepts, in bytes.
    pub fn limit(&self) -> usize {
        self.shared.limit.load(Ordering::Relaxed)
    }

    /// Ends the connection, once what waits is stored or took too long.
    pub async fn close(mut self) {
        self.events.close();
        self.shared.ending.notify_one();
        if tokio::time::timeout(LAST_EVENTS, &mut self.task)
            .await
            .is_err()
        {
            self.task.abort();
        }
    }
}

/// Connects a bridge to a broker, and keeps it connected; must be called inside a tokio runtime.
pub fn offer(address: BrokerAddress, settings: LinkSettings, offer: BrokerOffer) -> Broker {
    let (sender, events) = mpsc::channel(WAITING);
    let shared = Arc::new(OfferState::default());
    let run = BrokerTask {
        backoff: settings.backoff(),
        address,
        settings,
        offer,
        shared: Arc::clone(&shared),
        events: sender,
    };
    let task = tokio::spawn(run.run());
    Broker {
        shared,
        events,
        task,
    }
}

struct BrokerTask {
    address: BrokerAddress,
    settings: LinkSettings,
    backoff: Backoff,
    offer: BrokerOffer,
    shared: Arc<OfferState>,
    events: mpsc::Sender<BrokerEvent>,
}

/// How a connection ended.
enum ConnectionEnd {
    /// The bridge ends.
    Ending,
    /// It is tried again.
    Lost(Fault),
    /// It is not tried again.
    Failed(Fault),
}

impl BrokerTask {
    async fn run(mut self) {
        // Another bridge of the same name is a mistake only at the beginning: later it may be this machine's own
        // successor.
        let mut is_first = true;
        let inbox = format!("bridge-{}", self.offer.host);
        loop {
            let connected = match self.settings.broker_terms(&self.address) {
                Ok(terms) => connect(&terms, "hearken bridge", Some(&inbox)).await,
                Err(fault) => Err(fault),
            };
            let end = match connected {
                Ok(connected) => self.connected(connected, is_first).await,
                Err(fault) if fault.is_final() && is_first => ConnectionEnd::Failed(fault),
                Err(fault) => ConnectionEnd::Lost(fault),
            };
            match end {
                ConnectionEnd::Ending => return,
                ConnectionEnd::Failed(fault) => {
                    self.tell(BrokerEvent::Failed(fault)).await;
                    return;
                }
                ConnectionEnd::Lost(fault) => self.tell(BrokerEvent::Down(fault)).await,
            }
            is_first = false;
            let wait = self.backoff.next(None);
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.shared.ending.notified() => return,
            }
        }
    }

    async fn tell(&self, event: BrokerEvent) {
        // A bridge that ends no longer listens.
        let _ = self.events.send(event).await;
    }

    /// Publishes and serves over one connection, until it is lost.
    async fn connected(&mut self, connected: Connected, is_first: bool) -> ConnectionEnd {
        let Connected { client, mut lasts } = connected;
        // A server that is gone answers nothing: whatever waits for it is given up at once.
        let prepared = tokio::select! {
            prepared = self.prepare(&client, is_first) => prepared,
            () = lasts.over() => Err(ConnectionEnd::Lost(Fault::Closed)),
        };
        let BrokerSession {
            context,
            service,
            limit,
        } = match prepared {
            Ok(prepared) => prepared,
            Err(end) => return end,
        };
        self.tell(BrokerEvent::Up).await;
        self.backoff.reset();
        self.shared.limit.store(limit, Ordering::Relaxed);
        let shared = Arc::clone(&self.shared);
        let mut publishing = Publishing::new(shared, context.clone(), limit);
        let end = tokio::select! {
            () = lasts.over() => ConnectionEnd::Lost(Fault::Closed),
            fault = publishing.run(&self.events) => ConnectionEnd::Lost(lasts.refused().map_or(fault, refused)),
            () = self.give_signs(&client) => ConnectionEnd::Lost(Fault::Closed),
            fault = self.stream_gone(&context) => ConnectionEnd::Lost(fault),
            () = bridge_service::twin_beside(&client, &self.offer) => self.twin(is_first),
            () = self.shared.ending.notified() => ConnectionEnd::Ending,
        };
        if let ConnectionEnd::Ending = end {
            publishing.finish().await;
        }
        publishing.put_back();
        self.shared.set_refused(false);
        // This fails only if the connection is gone, and the service with it.
        let _ = service.stop().await;
        let _ = client.flush().await;
        end
    }

    /// Publishes a sign of life every ten seconds, and when the broker begins or ceases to store events, until
    /// publishing fails. A bridge that is busy gives one without its counts.
    async fn give_signs(&self, client: &Client) {
        let mut refused = self.shared.refused.subscribe();
        loop {
            let (sender, text) = oneshot::channel();
            self.tell(BrokerEvent::SignDue(sender)).await;
            let text = tokio::time::timeout(SIGN_TIME, text).await;
            let mut text = text.ok().and_then(Result::ok).unwrap_or_default();
            if *refused.borrow_and_update() {
                let waiting = self.shared.with(|outbox| outbox.len()).max(1);
                let mut sign: Value = serde_json::from_str(&text).unwrap_or_else(|_| json!({}));
                if let Some(sign) = sign.as_object_mut() {
                    sign.insert(UNSTORED.to_owned(), waiting.into());
                }
                text = sign.to_string();
            }
            let subject = self.offer.alive.clone();
            if client.publish(subject, text.into()).await.is_err() {
                return;
            }
            // Its sender lives as long as this.
            let _ = tokio::time::timeout(ALIVE, refused.changed()).await;
        }
    }

    /// Makes sure that the name is free and that there is a stream, and starts the service.
    async fn prepare(
        &self,
        client: &Client,
        is_first: bool,
    ) -> Result<BrokerSession, ConnectionEnd> {
        if bridge_service::twin(client, &self.offer).await.is_some() {
            return Err(self.twin(is_first));
        }
        let mut context = jetstream::new(client.clone());
        context.set_timeout(self.settings.config.connect_timeout());
        let largest = self.stream(&context).await.map_err(ConnectionEnd::Lost)?;
        if let Some(seconds) = clock_difference(&context, &self.offer.stream).await {
            self.tell(BrokerEvent::Clock(seconds)).await;
        }
        let service = bridge_service::serve(client, &self.offer, &self.events)
            .await
            .map_err(ConnectionEnd::Lost)?;
        Ok(BrokerSession {
            context,
            service,
            limit: largest.map_or(client.max_payload(), |largest| {
                largest.min(client.max_payload())
            }),
        })
    }

    /// Returns how a connection ends beside another bridge of the same name.
    fn twin(&self, is_first: bool) -> ConnectionEnd {
        let fault = Fault::Unusable(Cause::BrokerTwin {
            host: self.offer.host.clone(),
        });
        match is_first {
            true => ConnectionEnd::Failed(fault),
            false => ConnectionEnd::Lost(fault),
        }
    }

    /// Creates the stream unless it exists, and returns the largest message that it takes, if it has a limit of its
    /// own.
    async fn stream(&self, context: &jetstream::Context) -> Result<Option<usize>, Fault> {
        let config = Config {
            name: self.offer.stream.clone(),
            subjects: vec![self.offer.events.clone()],
            max_age: KEPT,
            max_bytes: KEPT_BYTES,
            discard: DiscardPolicy::Old,
            storage: StorageType::File,
            duplicate_window: DUPLICATES,
            ..Config::default()
        };
        match context.get_or_create_stream(config).await {
            Ok(stream) => {
                let known = stream.cached_info();
                self.shared.stored(known.state.last_sequence);
                let largest = usize::try_from(known.config.max_message_size).ok();
                Ok(largest.filter(|largest| *largest > 0))
            }
            Err(error) => match error.kind() {
                CreateStreamErrorKind::JetStreamUnavailable => {
                    Err(Fault::Other(Cause::BrokerNoStreams))
                }
                CreateStreamErrorKind::JetStream(said)
                    if said.error_code() == ErrorCode::STORAGE_RESOURCES_EXCEEDED =>
                {
                    Err(Fault::Other(Cause::BrokerSmall))
                }
                CreateStreamErrorKind::JetStream(_) => Err(Fault::Other(words_of(&error))),
                // A machine that may only publish is not answered: whether there is a stream shows when it publishes.
                CreateStreamErrorKind::EmptyStreamName
                | CreateStreamErrorKind::InvalidStreamName
                | CreateStreamErrorKind::DomainAndExternalSet
                | CreateStreamErrorKind::TimedOut
                | CreateStreamErrorKind::Response
                | CreateStreamErrorKind::NotFound
                | CreateStreamErrorKind::ResponseParse => Ok(None),
            },
        }
    }
}

/// What a connection needs before it is of use.
struct BrokerSession {
    context: jetstream::Context,
    service: Service,
    /// The largest message that is accepted, in bytes.
    limit: usize,
}

impl BrokerTask {
    /// Waits until the stream is gone: without it, nothing can be followed.
    async fn stream_gone(&self, context: &jetstream::Context) -> Fault {
        loop {
            tokio::time::sleep(STREAM_CHECKED).await;
            if let Err(error) = context.get_stream(&self.offer.stream).await
                && let GetStreamErrorKind::JetStream(said) = error.kind()
                && said.error_code() == ErrorCode::STREAM_NOT_FOUND
            {
                return Fault::Other(Cause::BrokerStreamGone);
            }
        }
    }
}

/// Returns by how many seconds this machine's clock is ahead of the broker's, if that is worth reporting.
async fn clock_difference(context: &jetstream::Context, stream: &str) -> Option<i64> {
    let told: serde_json::Value = context
        .request(format!("STREAM.INFO.{stream}"), &())
        .await
        .ok()?;
    let there: jiff::Timestamp = told.get("ts")?.as_str()?.parse().ok()?;
    let here = jiff::Timestamp::now();
    let seconds = here.duration_since(there).as_secs();
    (seconds.abs() >= WRONG_CLOCK.as_secs() as i64).then_some(seconds)
}

fn refused(words: String) -> Fault {
    Fault::Other(Cause::BrokerSaid {
        words: crate::link::RemoteText(words),
    })
}
