//! Which bridges are in a space.

use async_nats::{Client, Subscriber};
use futures_util::StreamExt as _;
use serde_json::Value;

use super::bridge_service::SERVICE;

/// The answers of the bridges of a space, as they arrive.
pub(super) struct Discovery<'a> {
    answers: Subscriber,
    space: &'a str,
}

impl<'a> Discovery<'a> {
    /// Asks every bridge; returns `None` if the connection is lost.
    pub(super) async fn begin(client: &Client, space: &'a str) -> Option<Self> {
        let inbox = client.new_inbox();
        let answers = client.subscribe(inbox.clone()).await.ok()?;
        let subject = format!("$SRV.PING.{SERVICE}");
        let asked = client.publish_with_reply(subject, inbox, "".into()).await;
        asked.ok().map(|()| Self { answers, space })
    }

    /// Waits for the next bridge of the space, and returns the token of its machine. Without a time limit it waits for
    /// as long as the connection lasts.
    pub(super) async fn next(&mut self) -> Option<String> {
        loop {
            let answer = self.answers.next().await?;
            let answer: Value = serde_json::from_slice(&answer.payload).unwrap_or_default();
            let of = |name: &str| answer.get("metadata")?.get(name)?.as_str();
            if of("space") == Some(self.space)
                && let Some(host) = of("host")
            {
                return Some(host.to_owned());
            }
        }
    }
}
