//! A bridge's side of a broker: what it publishes, and what is requested of it.
//!
//! Responsibilities: one connection after another, the stream, signs of life, reporting what goes wrong. Not here: the
//! events that wait (`outbox`), sending them (`publishing`), requests (`serving`).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream;
use async_nats::jetstream::context::CreateStreamErrorKind;
use async_nats::jetstream::stream::{Config, DiscardPolicy, StorageType};
use async_nats::service::Service;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;

use super::BrokerAddress;
use super::connect::{Connected, connect, words_of};
use super::outbox::{Outbox, Publication};
use super::publishing::Publishing;
use super::serving::{self, BrokerRequest};
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
/// How long a sign of life waits for its text.
const SIGN_TIME: Duration = Duration::from_secs(1);
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
    /// What tells this bridge from another of the same name.
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
    pub wishes: String,
    /// How long to search for another bridge of the same name.
    pub search: Duration,
}

impl BrokerOffer {
    /// The usual time to search for another bridge of the same name.
    pub const SEARCH: Duration = SEARCH;
}

/// What a bridge hears of its broker.
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
    /// An event was left out because it is larger than the broker accepts.
    TooLarge {
        /// Its size, in bytes.
        size: usize,
        /// The largest that is accepted, in bytes.
        limit: usize,
    },
    /// Its clock differs from this machine's by this many seconds.
    Clock(i64),
    /// A sign of life is due; this takes its text.
    SignDue(oneshot::Sender<String>),
    /// A watcher requests something.
    Request(BrokerRequest),
}

/// The events on their way to a broker, shared by the bridge and the task that sends them.
#[derive(Debug, Default)]
pub(super) struct Shared {
    outbox: Mutex<Outbox>,
    more: Notify,
    ending: Notify,
    /// The sequence in the stream of the last event that was stored.
    sequence: std::sync::atomic::AtomicU64,
}

impl Shared {
    pub(super) fn with<T>(&self, act: impl FnOnce(&mut Outbox) -> T) -> T {
        act(&mut self.outbox.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for more events.
    pub(super) async fn more(&self) {
        self.more.notified().await;
    }

    pub(super) fn stored(&self, sequence: u64) {
        self.sequence
            .fetch_max(sequence, std::sync::atomic::Ordering::Relaxed);
    }
}

/// The control of a bridge's connection to a broker.
#[derive(Debug)]
pub struct Broker {
    shared: Arc<Shared>,
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
        self.shared
            .sequence
            .load(std::sync::atomic::Ordering::Relaxed)
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
    let shared = Arc::new(Shared::default());
    let run = Run {
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

struct Run {
    address: BrokerAddress,
    settings: LinkSettings,
    backoff: Backoff,
    offer: BrokerOffer,
    shared: Arc<Shared>,
    events: mpsc::Sender<BrokerEvent>,
}

/// How a connection ended.
enum End {
    /// The bridge ends.
    Ending,
    /// It is tried again.
    Lost(Fault),
    /// It is not tried again.
    Failed(Fault),
}

impl Run {
    async fn run(mut self) {
        // Another bridge of the same name is a mistake only at the beginning: later it may be this machine's own successor.
        let mut is_first = true;
        let inbox = format!("bridge-{}", self.offer.host);
        loop {
            let connected = match self.settings.broker_terms(&self.address) {
                Ok(terms) => connect(&terms, "hearken bridge", Some(&inbox)).await,
                Err(fault) => Err(fault),
            };
            let end = match connected {
                Ok(connected) => self.connected(connected, is_first).await,
                Err(fault) if fault.is_final() && is_first => End::Failed(fault),
                Err(fault) => End::Lost(fault),
            };
            match end {
                End::Ending => return,
                End::Failed(fault) => {
                    self.tell(BrokerEvent::Failed(fault)).await;
                    return;
                }
                End::Lost(fault) => self.tell(BrokerEvent::Down(fault)).await,
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
    async fn connected(&mut self, connected: Connected, is_first: bool) -> End {
        let Connected { client, mut lasts } = connected;
        // A server that is gone answers nothing: whatever waits for it is given up at once.
        let prepared = tokio::select! {
            prepared = self.prepare(&client, is_first) => prepared,
            () = lasts.over() => Err(End::Lost(Fault::Closed)),
        };
        let (context, service) = match prepared {
            Ok(prepared) => prepared,
            Err(end) => return end,
        };
        self.tell(BrokerEvent::Up).await;
        self.backoff.reset();
        let mut publishing =
            Publishing::new(Arc::clone(&self.shared), context, client.max_payload());
        let end = tokio::select! {
            () = lasts.over() => End::Lost(Fault::Closed),
            fault = publishing.run(&self.events) => End::Lost(lasts.refused().map_or(fault, refused)),
            () = self.give_signs(&client) => End::Lost(Fault::Closed),
            () = self.shared.ending.notified() => End::Ending,
        };
        if let End::Ending = end {
            publishing.finish().await;
        }
        publishing.put_back();
        // This fails only if the connection is gone, and the service with it.
        let _ = service.stop().await;
        let _ = client.flush().await;
        end
    }

    /// Publishes a sign of life every ten seconds, until publishing fails. A bridge that is busy gives one without a text.
    async fn give_signs(&self, client: &Client) {
        loop {
            let (sender, text) = oneshot::channel();
            self.tell(BrokerEvent::SignDue(sender)).await;
            let text = tokio::time::timeout(SIGN_TIME, text).await;
            let text = text.ok().and_then(Result::ok).unwrap_or_default();
            let subject = self.offer.alive.clone();
            if client.publish(subject, text.into()).await.is_err() {
                return;
            }
            tokio::time::sleep(ALIVE).await;
        }
    }

    /// Makes sure that the name is free and that there is a stream, and starts the service.
    async fn prepare(
        &self,
        client: &Client,
        is_first: bool,
    ) -> Result<(jetstream::Context, Service), End> {
        if serving::has_twin(client, &self.offer).await {
            let fault = Fault::Unusable(Cause::BrokerTwin {
                host: self.offer.host.clone(),
            });
            return Err(match is_first {
                true => End::Failed(fault),
                false => End::Lost(fault),
            });
        }
        let mut context = jetstream::new(client.clone());
        context.set_timeout(self.settings.config.connect_timeout());
        self.stream(&context).await.map_err(End::Lost)?;
        if let Some(seconds) = clock_difference(&context, &self.offer.stream).await {
            self.tell(BrokerEvent::Clock(seconds)).await;
        }
        let service = serving::serve(client, &self.offer, &self.events)
            .await
            .map_err(End::Lost)?;
        Ok((context, service))
    }

    /// Creates the stream unless it exists.
    async fn stream(&self, context: &jetstream::Context) -> Result<(), Fault> {
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
                self.shared.stored(stream.cached_info().state.last_sequence);
                Ok(())
            }
            Err(error) => match error.kind() {
                CreateStreamErrorKind::JetStreamUnavailable => {
                    Err(Fault::Other(Cause::BrokerNoStreams))
                }
                CreateStreamErrorKind::JetStream(_) => Err(Fault::Other(words_of(&error))),
                // A machine that may only publish is not answered: whether there is a stream shows when it publishes.
                CreateStreamErrorKind::EmptyStreamName
                | CreateStreamErrorKind::InvalidStreamName
                | CreateStreamErrorKind::DomainAndExternalSet
                | CreateStreamErrorKind::TimedOut
                | CreateStreamErrorKind::Response
                | CreateStreamErrorKind::NotFound
                | CreateStreamErrorKind::ResponseParse => Ok(()),
            },
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
        words: crate::link::TheirWords(words),
    })
}
