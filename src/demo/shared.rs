//! The state shared by the producer's tasks, and a subscriber's place in it.
//!
//! Responsibilities: the stage behind its lock, notifying of its changes. Not here: what a test wants to see or
//! do (`producer`), what happens when (`perform`).

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::watch;

use super::agreed;
use super::doors::Entrance;
use super::gate::Gate;
use super::news::DemoEvent;
use super::queue::{Delivery, Queue};
use super::settings::ProducerSettings;
use super::stage::ProducerState;

/// The state shared by the producer's tasks.
pub(super) struct ProducerShared {
    stage: Mutex<ProducerState>,
    /// Counts the changes of the stage; waiting tasks watch it.
    changes: watch::Sender<u64>,
    pub(super) gate: Gate,
    pub(super) settings: ProducerSettings,
    /// The manifest, unsigned.
    pub(super) manifest: Value,
}

impl ProducerShared {
    pub(super) fn new(settings: ProducerSettings, places: &[Entrance]) -> Self {
        let host = settings.host.as_ref();
        let manifest = agreed::manifest(host, places);
        let signed = settings
            .signer
            .as_ref()
            .and_then(|signer| signer.sign(&manifest));
        let subscriptions = agreed::Subscriptions::new(host, signed);
        Self {
            stage: Mutex::new(ProducerState::new(settings.seed, subscriptions)),
            manifest,
            changes: watch::Sender::new(0),
            gate: Gate::new(),
            settings,
        }
    }

    /// Reads the stage.
    pub(super) fn look<T>(&self, read: impl FnOnce(&ProducerState) -> T) -> T {
        read(&self.stage.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the stage at the clock's current time, and notifies all waiting tasks.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut ProducerState, Timestamp) -> T) -> T {
        let now = (self.settings.clock)();
        let result = {
            let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
            change(&mut stage, now)
        };
        self.changes.send_modify(|count| *count += 1);
        result
    }

    /// Passes an event to the hearer, if there is one; never while the stage is locked.
    pub(super) fn tell(&self, news: DemoEvent) {
        if let Some(hearer) = &self.settings.hearer {
            hearer(news);
        }
    }

    /// Waits until the stage meets a condition.
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
    ) -> std::task::Poll<Delivery> {
        self.queue.poll_next(context)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        // Nothing waits for room in a queue without a reader.
        self.queue.cut();
        let number = self.number;
        let there = self.shared.change(|stage, _| {
            stage.hub_mut().unsubscribe(number);
            stage.hub().len()
        });
        self.shared.tell(DemoEvent::Left {
            number: number + 1,
            there,
        });
    }
}
