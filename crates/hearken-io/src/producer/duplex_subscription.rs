//! A subscription on a bidirectional connection (B.2, B.4, B.6).
//!
//! Responsibilities: the handshake as the first message, events as the terms allow, replies and
//! changes of terms in between, the end of the subscription with its connection. Not here: how
//! messages are framed in bytes (`byte_framing`, `websocket_upgrade`), the terms themselves (`subscription_handshake`).

use std::future::Future;
use std::io;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use serde_json::{Value, json};

use super::agreed_terms::SubscriptionRefusal;
use super::host::PendingAnswer;
use super::hub::Subscriber;
use super::producer_handle::Producer;
use super::queue::NextDelivery;
use super::shaper::Shaper;
use super::state_lock::Subscription;

/// How many requests of one connection may be without an outcome; for more it has to wait.
const MOST_REQUESTS: usize = 64;
/// How long a connection may exist without asking for a subscription.
const HANDSHAKE_TIME: Duration = Duration::from_secs(10);

/// What arrived over a connection.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum DialogueInput {
    /// A message, and the number of the request that carried it.
    Said {
        message: Value,
        request: Option<Value>,
    },
    /// Something that gets this answer, whatever the subscription.
    Wants(Value),
    /// Something that is not a message.
    Noise,
    /// The end.
    Over,
}

/// The role of an outgoing message.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum MessageRole {
    Event,
    /// The answer to a message, with the number of the request that carried it.
    Answer(Option<Value>),
    Close,
    /// A complete text that needs no wrapping.
    Bare,
}

/// Why a connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Farewell {
    /// In good order.
    Cleanly,
    /// The subscription was refused, or none was asked for.
    Refused,
    /// The input was not a message.
    Violation,
}

/// A connection for whole messages in both directions.
pub(super) trait MessageConnection: Send {
    /// Waits for the next input; dropping the wait loses nothing.
    fn hear(&mut self) -> impl Future<Output = DialogueInput> + Send;

    /// Sends a message, down to its last byte.
    fn say(
        &mut self,
        text: &str,
        saying: MessageRole,
    ) -> impl Future<Output = io::Result<()>> + Send;

    /// Says goodbye and ends the connection.
    fn leave(&mut self, farewell: Farewell) -> impl Future<Output = ()> + Send;
}

/// The subscription of a connection; dropping it closes the subscription.
struct OpenSubscription {
    producer: Producer,
    id: String,
    subscription: Subscription,
    shaper: Shaper,
}

impl Drop for OpenSubscription {
    fn drop(&mut self) {
        // A closed or refused subscription no longer exists.
        let _ = self.producer.close(&json!({"subscription_id": self.id}));
    }
}

/// The consequence of a message.
enum Consequence {
    Nothing,
    Answer(Value),
    /// The answer is still to come.
    Pending(PendingAnswer),
    Refuse(SubscriptionRefusal),
    Left,
}

/// Serves one connection to its end.
pub(super) async fn converse(producer: Producer, mut wire: impl MessageConnection) {
    let mut held: Option<OpenSubscription> = None;
    let mut patience = std::pin::pin!(tokio::time::sleep(HANDSHAKE_TIME));
    let mut requests = FuturesUnordered::new();
    let farewell = loop {
        tokio::select! {
            heard = wire.hear(), if requests.len() < MOST_REQUESTS => match heard {
                DialogueInput::Over => break None,
                DialogueInput::Noise => break Some(Farewell::Violation),
                DialogueInput::Wants(answer) => {
                    if wire.say(&answer.to_string(), MessageRole::Bare).await.is_err() {
                        break None;
                    }
                }
                DialogueInput::Said { message, request } => match take(&producer, &mut held, message) {
                    Consequence::Nothing => {}
                    Consequence::Pending(outcome) => requests.push(outcome.message()),
                    Consequence::Answer(answer) => {
                        let text = answer.to_string();
                        if wire.say(&text, MessageRole::Answer(request)).await.is_err() {
                            break None;
                        }
                    }
                    Consequence::Refuse(refusal) => {
                        let text = refusal.message().to_string();
                        let said = wire.say(&text, MessageRole::Answer(request)).await;
                        break said.is_ok().then_some(Farewell::Refused);
                    }
                    Consequence::Left => break Some(Farewell::Cleanly),
                },
            },
            Some(outcome) = requests.next(), if !requests.is_empty() => {
                if wire.say(&outcome, MessageRole::Answer(None)).await.is_err() {
                    break None;
                }
            }
            delivery = delivered(&mut held) => match delivery {
                NextDelivery::Frame(frame) => {
                    if wire.say(&frame.text, MessageRole::Event).await.is_err() {
                        break None;
                    }
                }
                NextDelivery::Ended => {
                    let id = held.as_ref().map(|held| held.id.clone());
                    let close = json!({
                        "type": "subscription.close",
                        "subscription_id": id,
                        "reason_code": "producer_shutdown",
                        "reason_message": producer.farewell(),
                    });
                    let said = wire.say(&close.to_string(), MessageRole::Close).await;
                    break said.is_ok().then_some(Farewell::Cleanly);
                }
                NextDelivery::Cut => break None,
            },
            () = patience.as_mut(), if held.is_none() => break Some(Farewell::Refused),
        }
    };
    drop(held);
    if let Some(farewell) = farewell {
        wire.leave(farewell).await;
    }
}

/// Waits for the next event that the terms allow; forever without a subscription.
async fn delivered(held: &mut Option<OpenSubscription>) -> NextDelivery {
    match held {
        Some(held) => {
            std::future::poll_fn(|context| held.shaper.poll_next(&held.subscription, context)).await
        }
        None => std::future::pending().await,
    }
}

/// Handles one message.
fn take(producer: &Producer, held: &mut Option<OpenSubscription>, message: Value) -> Consequence {
    let kind = message
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let own = |held: &OpenSubscription| {
        message.get("subscription_id") == Some(&Value::from(held.id.as_str()))
    };
    match (kind, held.as_ref()) {
        ("subscription.request", None) => match subscribe(producer, &message) {
            Ok((consent, subscribed)) => {
                *held = Some(subscribed);
                Consequence::Answer(consent)
            }
            Err(refusal) => Consequence::Refuse(refusal),
        },
        ("subscription.renegotiate", Some(mine)) if own(mine) => {
            match producer.renegotiate(&message) {
                Ok(consent) => Consequence::Answer(consent),
                Err(refusal) => Consequence::Refuse(refusal),
            }
        }
        ("subscription.close", Some(mine)) if own(mine) => Consequence::Left,
        ("subscription.request" | "subscription.renegotiate" | "subscription.close", _) => {
            Consequence::Refuse(SubscriptionRefusal::strange())
        }
        (_, Some(mine))
            if own(mine)
                && let Some(outcome) = producer.request(&message) =>
        {
            Consequence::Pending(outcome)
        }
        _ => {
            // The next event is the answer (B.2.4); whether a token is right is not disclosed
            // (6.3.4).
            producer.receive(Ok(message));
            Consequence::Nothing
        }
    }
}

fn subscribe(
    producer: &Producer,
    message: &Value,
) -> Result<(Value, OpenSubscription), SubscriptionRefusal> {
    let (id, consent) = producer.agree(message)?;
    let listener = Subscriber::Agreed(id.clone());
    let place = producer.subscribe(None, listener).ok();
    let place = place.zip(producer.terms(&id));
    match place {
        Some((subscription, terms)) => {
            let held = OpenSubscription {
                producer: producer.clone(),
                id,
                subscription,
                shaper: Shaper::new(terms, None),
            };
            Ok((consent, held))
        }
        None => {
            let _ = producer.close(&json!({"subscription_id": id}));
            Err(SubscriptionRefusal::busy())
        }
    }
}
