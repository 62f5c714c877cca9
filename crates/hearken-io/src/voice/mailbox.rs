//! The way of orders to the voice's thread: one place, no queue, and a stop that overtakes.
//!
//! Responsibilities: handing over the latest utterance, the wish to stop and the wish to close,
//! without ever waiting. Not here: what an engine does with them.
//!
//! There is room for one utterance, because an engine never holds more than one: a newer one takes
//! its place, and the older one is reported as cut. A stop empties the place and is seen before
//! anything that was handed over after it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::announce::{Utterance, UtteranceId};

/// Bounds the utterances that were replaced before the thread looked; it looks within microseconds.
const REPLACED: usize = 1024;

/// What the thread is to do, in this order: report `cut`, stop, speak `next`, close.
#[derive(Debug, Default)]
pub(super) struct Orders {
    /// Utterances that were replaced or stopped before they reached the engine.
    pub cut: Vec<UtteranceId>,
    /// How many more such utterances could not be kept.
    pub lost: u64,
    /// Whether what is being said is to be silenced.
    pub stop: bool,
    /// What is to be said.
    pub next: Option<Utterance>,
    /// How long what is being said may still go on, once the voice is to be closed.
    pub close: Option<Duration>,
}

/// Whether a thread is there to read the mailbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Reader {
    #[default]
    There,
    /// It takes nothing more and has its last news to tell.
    Leaving,
    Gone,
}

#[derive(Debug, Default)]
struct Slot {
    orders: Orders,
    reader: Reader,
}

/// The orders that the voice's thread has not seen yet.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    slot: Mutex<Slot>,
    bell: Notify,
    left: Notify,
    left_blocking: Condvar,
}

impl Mailbox {
    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands an utterance over; gives it back if nobody is there to take it.
    pub(super) fn speak(&self, utterance: Utterance) -> Result<(), UtteranceId> {
        {
            let mut slot = self.slot();
            if slot.reader != Reader::There || slot.orders.close.is_some() {
                return Err(utterance.id);
            }
            if let Some(replaced) = slot.orders.next.replace(utterance) {
                slot.orders.replaced(replaced.id);
            }
        }
        self.bell.notify_one();
        Ok(())
    }

    /// Asks for silence, whatever was handed over before.
    pub(super) fn stop(&self) {
        {
            let mut slot = self.slot();
            slot.orders.stop = true;
            if let Some(stopped) = slot.orders.next.take() {
                slot.orders.replaced(stopped.id);
            }
        }
        self.bell.notify_one();
    }

    /// Asks the thread to end; the shortest wish counts.
    pub(super) fn close(&self, linger: Duration) {
        {
            let orders = &mut self.slot().orders;
            orders.close = Some(orders.close.map_or(linger, |before| before.min(linger)));
        }
        self.bell.notify_one();
    }

    /// Takes the orders out.
    pub(super) fn take(&self) -> Orders {
        let mut slot = self.slot();
        let close = slot.orders.close;
        let orders = std::mem::take(&mut slot.orders);
        slot.orders.close = close;
        orders
    }

    /// Waits until there may be new orders; may be dropped at any time.
    pub(super) async fn rung(&self) {
        self.bell.notified().await;
    }

    /// Refuses whatever comes from now on, and takes the last orders out.
    pub(super) fn leave(&self) -> Orders {
        let mut slot = self.slot();
        slot.reader = Reader::Leaving;
        std::mem::take(&mut slot.orders)
    }

    /// Says that the last news were told and nobody reads any more.
    pub(super) fn gone(&self) {
        self.slot().reader = Reader::Gone;
        self.left.notify_waiters();
        self.left_blocking.notify_all();
    }

    /// Waits until nobody reads any more.
    pub(super) async fn left(&self) {
        let left = self.left.notified();
        tokio::pin!(left);
        left.as_mut().enable();
        if self.slot().reader != Reader::Gone {
            left.await;
        }
    }

    /// Blocks until nobody reads any more, or `limit` has passed.
    pub(super) fn left_within(&self, limit: Duration) {
        let slot = self.slot();
        drop(
            self.left_blocking
                .wait_timeout_while(slot, limit, |slot| slot.reader != Reader::Gone),
        );
    }
}

impl Orders {
    fn replaced(&mut self, id: UtteranceId) {
        if self.cut.len() < REPLACED {
            self.cut.push(id);
        } else {
            self.lost += 1;
        }
    }
}
