//! A client of the server's, which speaks to bridges in the tests' own words.

use std::time::Duration;

use async_nats::{Client, HeaderMap, Message, Subscriber};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::PATIENCE;

/// A connection, with a subscription to everything that is published.
pub(super) struct NatsClient {
    pub(super) name: &'static str,
    pub(super) client: Client,
    events: Subscriber,
    /// What came before an awaited message, and has not been awaited yet.
    unread: Vec<(String, Value)>,
}

impl NatsClient {
    pub(super) fn connect(runtime: &Runtime, url: &str, name: &'static str) -> Self {
        Self::with(runtime, async_nats::ConnectOptions::new(), url, name)
    }

    pub(super) fn with(
        runtime: &Runtime,
        options: async_nats::ConnectOptions,
        url: &str,
        name: &'static str,
    ) -> Self {
        runtime.block_on(async {
            let client = options.connect(url).await.unwrap();
            let events = client.subscribe("aaep.v1.>").await.unwrap();
            // A server handles what comes over a connection in its order: with the answer it has subscribed both.
            let inbox = client.new_inbox();
            let mut answers = client.subscribe(inbox.clone()).await.unwrap();
            client.publish(inbox, "".into()).await.unwrap();
            answers.next().await.unwrap();
            Self {
                name,
                client,
                events,
                unread: Vec::new(),
            }
        })
    }

    /// Waits for the next event of a type, which may have come before another; returns its subject as well.
    pub(super) async fn until(&mut self, kind: &str) -> (String, Value) {
        let is_kind = |(_, event): &(String, Value)| event["type"] == kind;
        if let Some(at) = self.unread.iter().position(is_kind) {
            return self.unread.remove(at);
        }
        loop {
            let message = tokio::time::timeout(PATIENCE, self.events.next()).await;
            let message = message
                .unwrap_or_else(|_| panic!("no {kind} came to {}: {:?}", self.name, self.unread))
                .unwrap();
            let event: Value = serde_json::from_slice(&message.payload).unwrap();
            let event = (message.subject.to_string(), event);
            if is_kind(&event) {
                return event;
            }
            self.unread.push(event);
        }
    }

    /// Answers a question, and returns the result.
    pub(super) async fn answer(&self, subject: &str, question: &Value, decision: &str) -> Value {
        let digest = hearken::dialect::fleet::digest(question.as_object().unwrap());
        let mut headers = HeaderMap::new();
        headers.insert("Hearken-By", self.name);
        headers.insert("Hearken-Digest", digest.as_str());
        let body = json!({
            "type": "confirmation.reply", "reply_token": question["reply_token"],
            "decision": decision, "subscription_id": "own",
            "timestamp": "2026-01-01T00:00:00Z",
        });
        self.request(reply_subject(subject), headers, body.to_string())
            .await
    }

    /// Makes a request, and returns its result.
    pub(super) async fn request(&self, subject: String, headers: HeaderMap, body: String) -> Value {
        let answer = self.try_request(subject, headers, body).await.unwrap();
        serde_json::from_slice(&answer.payload).unwrap()
    }

    pub(super) async fn try_request(
        &self,
        subject: String,
        headers: HeaderMap,
        body: String,
    ) -> Result<Message, async_nats::client::RequestError> {
        let request = async_nats::client::Request::new()
            .headers(headers)
            .payload(body.into())
            .timeout(Some(Duration::from_secs(10)));
        self.client.send_request(subject, request).await
    }
}

/// Returns the subject where the question of an event is answered.
pub(super) fn reply_subject(event: &str) -> String {
    let session = event.rsplit_once('.').unwrap().0;
    session.replacen("aaep.v1.", "aaep-reply.v1.", 1)
}
