//! A broker as a place: what a bridge publishes there, the requests that it gets there, and the name under which a
//! person follows a space.
//!
//! Responsibilities: passing events and requests between the bridge and the broker's connection. Not here: subjects and
//! messages (`dialect::fleet`), the connection (`broker`), what a request may do (`bridge` in the core).

use crate::broker::{
    self, Broker, BrokerAddress, BrokerEvent, BrokerOffer, BrokerRequest, Precedence, Publication,
    RequestKind,
};
use crate::dialect::BrokerPlace;
use crate::dialect::fleet::{
    DEFAULT_SPACE, Machine, Publishing, Request, Space, SubjectLane, person_request, snapshot,
    token,
};
use crate::producer::{OpenSessions, Retention};
use crate::transport::{LinkSettings, Source};

/// The id of every request that comes over a broker: its answer goes back by the broker's own means.
const REQUEST: &str = "broker";

/// Returns what to follow at a source that is a broker, with nothing remembered.
pub(super) fn place(source: &Source) -> Option<BrokerPlace> {
    let Source::Nats(address) = source else {
        return None;
    };
    Some(BrokerPlace {
        space: address.space().unwrap_or_default().to_owned(),
        durable: None,
        beside: false,
    })
}

/// Returns the name under which a broker remembers what a person has received: by their name in the settings, or else
/// by that of the system's user.
pub(crate) fn durable(user: &str) -> Option<String> {
    let own = || {
        let names = ["USER", "LOGNAME", "USERNAME"];
        let mut named = names.iter().filter_map(|name| std::env::var(name).ok());
        named.find(|name| !name.is_empty())
    };
    let user = Some(user.to_owned()).filter(|user| !user.is_empty());
    let user = user.or_else(own)?;
    Some(format!("hearken-{}", token(&user)))
}

/// A bridge's side of a broker.
pub(super) struct BrokerSide {
    broker: Broker,
    publishing: Publishing,
    open: OpenSessions,
}

/// What a watcher wants of the bridge.
pub(super) enum WatcherRequest {
    /// What is going on: the texts of the answer.
    Now(Vec<String>),
    /// Something for the pure bridge.
    Request(Request),
    /// A message that means nothing.
    Malformed,
}

impl BrokerSide {
    /// Begins to publish as a machine.
    pub(super) fn begin(
        address: BrokerAddress,
        settings: LinkSettings,
        host: &str,
        seed: u64,
    ) -> Self {
        let space = Space::named(address.space().unwrap_or(DEFAULT_SPACE));
        let machine = Machine::named(&space, host);
        let offer = BrokerOffer {
            space: space.token().to_owned(),
            host: machine.token().to_owned(),
            id: format!("{seed:016x}"),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            stream: space.stream(),
            events: space.events(),
            alive: machine.alive(),
            now: machine.now(),
            replies: machine.replies(),
            request_subjects: machine.request_subjects(),
            search: BrokerOffer::SEARCH,
        };
        Self {
            broker: broker::offer(address, settings, offer),
            publishing: Publishing::new(machine),
            open: OpenSessions::default(),
        }
    }

    /// Publishes an event.
    pub(super) fn publish(&mut self, text: &str, lasting: &Retention) {
        self.open.note(text, lasting);
        // The bridge wrote it, so it is an object.
        let Some(published) = self.publishing.event(text) else {
            return;
        };
        self.broker.publish(Publication {
            subject: published.subject,
            id: published.id,
            text: text.to_owned(),
            precedence: match published.lane {
                SubjectLane::Ask | SubjectLane::Life => Precedence::Essential,
                SubjectLane::Act => Precedence::Activity,
                SubjectLane::Text => Precedence::Text,
            },
            asks: published.asks,
        });
    }

    /// Returns how many open questions later watchers are not told of.
    pub(super) fn questions_left_out(&self) -> u64 {
        self.open.questions_left_out()
    }

    /// Waits for the next event of the broker; `None` once it can't be used any more.
    pub(super) async fn next(&mut self) -> Option<BrokerEvent> {
        self.broker.next().await
    }

    /// Returns what a request over the broker wants.
    pub(super) fn read(&self, request: &BrokerRequest) -> WatcherRequest {
        let BrokerRequest {
            subject,
            body,
            person: by,
            digest,
            ..
        } = request;
        let content = match request.kind {
            RequestKind::Now => {
                let (sequence, limit) = (self.broker.sequence(), self.broker.limit());
                return WatcherRequest::Now(snapshot(sequence, limit, self.open.texts()));
            }
            RequestKind::Reply => {
                self.publishing
                    .reply(subject, body, by.as_deref(), digest.clone())
            }
            RequestKind::AgentRequest => person_request(subject, body),
        };
        content.map_or(WatcherRequest::Malformed, |content| {
            WatcherRequest::Request(Request {
                id: REQUEST.to_owned(),
                content,
            })
        })
    }

    /// Ends the connection, once what was published is stored or took too long.
    pub(super) async fn close(self) {
        self.broker.close().await;
    }
}
