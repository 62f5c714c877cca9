//! What watchers request of a bridge over a broker.
//!
//! Responsibilities: the service by which a bridge is found, its three endpoints, passing each request on and its
//! answer back. Not here: what a request wants and what becomes of it (whoever receives it).

use std::collections::HashMap;

use async_nats::service::endpoint::Endpoint;
use async_nats::service::{Request, Service, ServiceExt as _};
use async_nats::{Client, StatusCode, Subscriber};
use futures_util::StreamExt as _;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::broker_connection::words_of;
use super::broker_offer::{BrokerEvent, BrokerOffer};
use crate::link::Fault;

/// The name of the service.
pub(super) const SERVICE: &str = "aaep-bridge";
/// The header with the name of the person who answers, as the request gives it.
const BY: &str = "Hearken-By";
/// The header with the digest of the question that they were shown.
const DIGEST: &str = "Hearken-Digest";
/// The message that asks which bridges have a name.
const WHO: &[u8] = b"who";
/// The largest header that is read, in bytes.
const LARGEST_HEADER: usize = 256;

/// What is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequestKind {
    /// What is going on now.
    Now,
    /// An answer to a question.
    Reply,
    /// A prompt or a stop.
    AgentRequest,
}

/// A watcher's request.
#[derive(Debug)]
pub struct BrokerRequest {
    /// What is requested.
    pub kind: RequestKind,
    /// Its subject.
    pub subject: String,
    /// Its text, invalid UTF-8 replaced.
    pub body: String,
    /// The person who made it, as they call themselves.
    pub person: Option<String>,
    /// The digest of what they were shown.
    pub digest: Option<String>,
    /// Where its answer goes: the texts of one or more messages.
    pub answer: oneshot::Sender<Vec<String>>,
}

/// Starts the service of a bridge, which lasts as long as the returned value.
pub(super) async fn serve(
    client: &Client,
    offer: &BrokerOffer,
    events: &mpsc::Sender<BrokerEvent>,
) -> Result<Service, Fault> {
    let metadata = [
        ("space", &offer.space),
        ("host", &offer.host),
        ("bridge", &offer.id),
        ("version", &offer.version),
    ];
    let metadata: HashMap<String, String> = metadata
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect();
    let failed = |error: async_nats::Error| Fault::Other(words_of(&*error));
    let service = client
        .service_builder()
        .description("AI agents, offered by hearken")
        .metadata(metadata)
        .start(SERVICE, &offer.version)
        .await
        .map_err(failed)?;
    for (kind, name, subject) in [
        (RequestKind::Now, "now", &offer.now),
        (RequestKind::Reply, "reply", &offer.replies),
        (RequestKind::AgentRequest, "do", &offer.request_subjects),
    ] {
        let endpoint = service
            .endpoint_builder()
            .name(name)
            .add(subject)
            .await
            .map_err(failed)?;
        tokio::spawn(requests(endpoint, kind, events.clone()));
    }
    // Unlike a request, this is answered by every bridge of a name.
    let names = client
        .subscribe(offer.now.clone())
        .await
        .map_err(|error| Fault::Other(words_of(&error)))?;
    tokio::spawn(name_itself(client.clone(), names, offer.id.clone()));
    Ok(service)
}

/// Answers requests for the bridge's id, until the connection is over.
async fn name_itself(client: Client, mut names: Subscriber, id: String) {
    while let Some(message) = names.next().await {
        if &message.payload[..] == WHO
            && let Some(reply) = message.reply
        {
            let own = serde_json::json!({ "bridge": id }).to_string();
            // This fails only if the connection is lost.
            let _ = client.publish(reply, own.into()).await;
        }
    }
}

/// Passes on the requests to an endpoint, until the service ends.
async fn requests(mut endpoint: Endpoint, kind: RequestKind, events: mpsc::Sender<BrokerEvent>) {
    while let Some(request) = endpoint.next().await {
        if &request.message.payload[..] == WHO {
            continue;
        }
        let (answer, outcome) = oneshot::channel();
        let event = BrokerEvent::Request(read(kind, &request, answer));
        if events.send(event).await.is_err() {
            return;
        }
        tokio::spawn(async move {
            // Without an outcome, the sender learns that no answer came in time and that the request perhaps arrived.
            if let Ok(messages) = outcome.await {
                for message in messages {
                    let _ = request.respond(Ok(message.into())).await;
                }
            }
        });
    }
}

fn read(
    kind: RequestKind,
    request: &Request,
    answer: oneshot::Sender<Vec<String>>,
) -> BrokerRequest {
    let message = &request.message;
    let header = |name: &str| {
        let headers = message.headers.as_ref()?;
        let value = headers.get(name)?.as_str();
        (value.len() <= LARGEST_HEADER).then(|| value.to_owned())
    };
    BrokerRequest {
        kind,
        subject: message.subject.to_string(),
        body: String::from_utf8_lossy(&message.payload).into_owned(),
        person: header(BY),
        digest: header(DIGEST),
        answer,
    }
}

/// Returns the id of another bridge of the same name; `None` if there is none.
pub(super) async fn twin(client: &Client, offer: &BrokerOffer) -> Option<String> {
    let inbox = client.new_inbox();
    let mut answers = client.subscribe(inbox.clone()).await.ok()?;
    let asked = client.publish_with_reply(offer.now.clone(), inbox, WHO.into());
    asked.await.ok()?;
    let search = async {
        while let Some(answer) = answers.next().await {
            if answer.status == Some(StatusCode::NO_RESPONDERS) {
                return None;
            }
            let answer: Value = serde_json::from_slice(&answer.payload).unwrap_or_default();
            let id = answer.get("bridge").and_then(Value::as_str);
            if let Some(id) = id.filter(|id| *id != offer.id) {
                return Some(id.to_owned());
            }
        }
        None
    };
    tokio::time::timeout(offer.search, search)
        .await
        .unwrap_or_default()
}

/// Waits until this bridge has to give way to another of its name, which began at the same time: of two, one stays.
pub(super) async fn twin_beside(client: &Client, offer: &BrokerOffer) {
    if let Some(other) = twin(client, offer).await {
        let gives_way = other < offer.id;
        if !gives_way {
            tokio::time::sleep(3 * offer.search).await;
        }
        // One that does not give way was there before.
        if gives_way || twin(client, offer).await.is_some() {
            return;
        }
    }
    std::future::pending().await
}
