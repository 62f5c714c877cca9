//! The way for orders to the voice's thread: one slot, no queue, and a stop that overtakes.
//!
//! Responsibilities: passing on the latest utterance, a request to stop and a request to close,
//! without ever waiting. Not here: what an engine does with them.
//!
//! There is space for one utterance, because an engine never has more than one: a newer one
//! replaces it, and the older one is reported as cut. A stop empties the slot and is seen before
//! anything that was passed on after it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::announce::{Utterance, UtteranceId};

/// The most utterances remembered that were replaced before the thread looked; it looks within microseconds.
const REPLACED: usize = 1024;

/// The thread's instructions, in this order: report `cut`, stop, speak `next`, close.
#[derive(Debug, Default)]
pub(super) struct Orders {
    /// Utterances that were replaced or stopped before they reached the engine.
    pub cut: Vec<UtteranceId>,
    /// How many more such utterances could not be remembered.
    pub lost: u64,
    /// Whether to silence the current utterance.
    pub stop: bool,
    /// The utterance to speak.
    pub next: Option<Utterance>,
    /// How long the current utterance may still go on, once the voice is to be closed.
    pub close: Option<Duration>,
}

/// Whether a thread reads the mailbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum MailboxReader {
    #[default]
    There,
    /// It accepts nothing more and still has its last news to report.
    Leaving,
    Gone,
}

#[derive(Debug, Default)]
struct MailboxSlot {
    orders: Orders,
    reader: MailboxReader,
}

/// The orders that the voice's thread has not seen yet.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    slot: Mutex<MailboxSlot>,
    bell: Notify,
    left: Notify,
    left_blocking: Condvar,
}

impl Mailbox {
    fn slot(&self) -> MutexGuard<'_, MailboxSlot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes on an utterance; returns its id as an error if no thread is there to take it.
    pub(super) fn speak(&self, utterance: Utterance) -> Result<(), UtteranceId> {
        {
            let mut slot = self.slot();
            if slot.reader != MailboxReader::There || slot.orders.close.is_some() {
                return Err(utterance.id);
            }
            if let Some(replaced) = slot.orders.next.replace(utterance) {
                slot.orders.replaced(replaced.id);
            }
        }
        self.bell.notify_one();
        Ok(())
    }

    /// Requests silence, discarding any earlier utterance.
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

    /// Asks the thread to end; the shortest time counts.
    pub(super) fn close(&self, linger: Duration) {
        {
            let orders = &mut self.slot().orders;
            orders.close = Some(orders.close.map_or(linger, |before| before.min(linger)));
        }
        self.bell.notify_one();
    }

    /// Removes and returns the orders.
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

    /// Refuses everything from now on, and returns the last orders.
    pub(super) fn leave(&self) -> Orders {
        let mut slot = self.slot();
        slot.reader = MailboxReader::Leaving;
        std::mem::take(&mut slot.orders)
    }

    /// Records that the last news has been reported and the thread no longer reads.
    pub(super) fn gone(&self) {
        self.slot().reader = MailboxReader::Gone;
        self.left.notify_waiters();
        self.left_blocking.notify_all();
    }

    /// Waits until the thread no longer reads.
    pub(super) async fn left(&self) {
        let left = self.left.notified();
        tokio::pin!(left);
        left.as_mut().enable();
        if self.slot().reader != MailboxReader::Gone {
            left.await;
        }
    }

    /// Blocks until the thread no longer reads, or `limit` has passed.
    pub(super) fn left_within(&self, limit: Duration) {
        let slot = self.slot();
        drop(
            self.left_blocking
                .wait_timeout_while(slot, limit, |slot| slot.reader != MailboxReader::Gone),
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
