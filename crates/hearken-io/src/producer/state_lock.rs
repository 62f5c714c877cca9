//! The state shared by the producer's tasks, and a subscriber's place in it.
//!
//! Responsibilities: the state behind its lock, notifying of its changes. Not here: what is asked of it
//! (`producer_handle`).

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::watch;

use super::endpoints::ListenAddress;
use super::host_events::ProducerEvent;
use super::producer_settings::ProducerSettings;
use super::producer_state::ProducerState;
use super::queue::{NextDelivery, Queue};
use super::subscription_handshake;

/// The state shared by the producer's tasks.
pub(super) struct ProducerShared {
    state: Mutex<ProducerState>,
    /// Counts the changes of the state; waiting tasks watch it.
    changes: watch::Sender<u64>,
    pub(super) settings: ProducerSettings,
    /// The manifest, unsigned.
    pub(super) manifest: Value,
}

impl ProducerShared {
    pub(super) fn new(settings: ProducerSettings, places: &[ListenAddress]) -> Self {
        let host = &settings.host;
        let manifest = subscription_handshake::manifest(host, places);
        let signed = settings
            .signer
            .as_ref()
            .and_then(|signer| signer.sign(&manifest));
        let subscriptions = subscription_handshake::Subscriptions::new(host, signed);
        Self {
            state: Mutex::new(ProducerState::new(settings.seed, subscriptions)),
            manifest,
            changes: watch::Sender::new(0),
            settings,
        }
    }

    /// Reads the state.
    pub(super) fn look<T>(&self, read: impl FnOnce(&ProducerState) -> T) -> T {
        read(&self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the state at the clock's current time, and notifies all waiting tasks.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut ProducerState, Timestamp) -> T) -> T {
        let now = (self.settings.clock)();
        let result = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            change(&mut state, now)
        };
        self.changes.send_modify(|count| *count += 1);
        result
    }

    /// Passes an event to the hearer, if there is one; never while the state is locked.
    pub(super) fn tell(&self, event: ProducerEvent) {
        if let Some(hearer) = &self.settings.hearer {
            hearer(event);
        }
    }

    /// Waits until the state meets a condition.
    pub(super) async fn until(&self, condition: impl Fn(&ProducerState) -> bool) {
        let mut changes = self.changes.subscribe();
        // The sender lives as long as `self`, so this can't fail before the condition is met.
        while !self.look(&condition) && changes.changed().await.is_ok() {}
    }
}

/// One subscriber's place; dropping it leaves.
pub(super) struct Subscription {
    shared: Arc<ProducerShared>,
    number: u64,
    queue: Arc<Queue>,
}

impl Subscription {
    /// Occupies the place with this number, whose deliveries come from this queue.
    pub(super) fn new(shared: Arc<ProducerShared>, number: u64, queue: Arc<Queue>) -> Self {
        Self {
            shared,
            number,
            queue,
        }
    }

    /// Polls for the next delivery; see [`Queue::poll_next`].
    pub(super) fn poll_next(
        &self,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<NextDelivery> {
        self.queue.poll_next(context)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        // Nothing waits for room in a queue without a reader.
        self.queue.cut();
        let number = self.number;
        let there = self.shared.change(|state, _| {
            state.hub_mut().unsubscribe(number);
            state.hub().len()
        });
        self.shared.tell(ProducerEvent::Left {
            number: number + 1,
            there,
        });
    }
}
