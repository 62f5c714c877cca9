//! The events that wait for one subscriber.
//!
//! Responsibilities: a bounded queue between the agents and a connection that may be slow; critical
//! events are never dropped (chapter 5.5.4), others are dropped oldest first and counted; ending and
//! cutting a stream. Not here: who subscribes (`hub`) and the encoding of a frame (`sse_body`).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::sync::Notify;

/// How many events wait for a subscriber. A slow one loses older events, those beyond about 17
/// seconds of the fastest stream; a thousand events are about half a megabyte.
pub(super) const QUEUE_EVENTS: usize = 1_024;

/// One message for subscribers, ready to be framed by any transport.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    /// The `event_id`; a frame without one can't be resumed from.
    pub(super) event_id: Option<String>,
    pub(super) critical: bool,
    pub(super) text: String,
}

/// Passes frames from the agents to one connection.
#[derive(Debug, Default)]
pub(super) struct Queue {
    inner: Mutex<QueuedEvents>,
    room: Notify,
}

#[derive(Debug, Default)]
struct QueuedEvents {
    waiting: VecDeque<Arc<Frame>>,
    state: QueueState,
    waker: Option<Waker>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum QueueState {
    #[default]
    Open,
    Ended,
    Cut,
}

/// The next delivery to a subscriber.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NextDelivery {
    Frame(Arc<Frame>),
    /// The stream has ended in good order.
    Ended,
    /// The connection must break, without an orderly end.
    Cut,
}

impl Queue {
    /// Adds a frame; returns how many were dropped for it. A queue full of critical events is cut
    /// instead, so that its subscriber notices and resumes.
    pub(super) fn push(&self, frame: Arc<Frame>) -> u64 {
        let mut inner = self.lock();
        if inner.state != QueueState::Open {
            return 0;
        }
        let mut dropped = 0;
        if inner.waiting.len() >= QUEUE_EVENTS {
            match inner.waiting.iter().position(|waiting| !waiting.critical) {
                Some(oldest) => {
                    inner.waiting.remove(oldest);
                    dropped = 1;
                }
                None if frame.critical => {
                    drop(inner);
                    self.close(QueueState::Cut);
                    return 0;
                }
                None => return 1,
            }
        }
        inner.waiting.push_back(frame);
        let waker = inner.waker.take();
        drop(inner);
        if let Some(waker) = waker {
            waker.wake();
        }
        dropped
    }

    /// Delivers the waiting events to the subscriber, then ends its stream.
    pub(super) fn end(&self) {
        self.close(QueueState::Ended);
    }

    /// Breaks the subscriber's connection immediately; it loses the waiting events.
    pub(super) fn cut(&self) {
        self.close(QueueState::Cut);
    }

    fn close(&self, state: QueueState) {
        let mut inner = self.lock();
        inner.state = state;
        let waker = inner.waker.take();
        drop(inner);
        self.room.notify_waiters();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Returns the next delivery, or wakes `context` when there is one. Supports one reader at a
    /// time.
    pub(super) fn poll_next(&self, context: &mut Context<'_>) -> Poll<NextDelivery> {
        let mut inner = self.lock();
        if inner.state == QueueState::Cut {
            return Poll::Ready(NextDelivery::Cut);
        }
        match inner.waiting.pop_front() {
            Some(frame) => {
                drop(inner);
                self.room.notify_waiters();
                Poll::Ready(NextDelivery::Frame(frame))
            }
            None if inner.state == QueueState::Ended => Poll::Ready(NextDelivery::Ended),
            None => {
                inner.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }

    /// Waits for the next delivery.
    #[cfg(test)]
    pub(super) async fn next(&self) -> NextDelivery {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }

    /// Waits until another frame would drop nothing, or the queue is closed.
    pub(super) async fn until_room(&self) {
        loop {
            let mut freed = std::pin::pin!(self.room.notified());
            freed.as_mut().enable();
            {
                let inner = self.lock();
                if inner.state != QueueState::Open || inner.waiting.len() < QUEUE_EVENTS {
                    return;
                }
            }
            freed.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, QueuedEvents> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(number: usize, critical: bool) -> Arc<Frame> {
        Arc::new(Frame {
            event_id: None,
            critical,
            text: number.to_string(),
        })
    }

    async fn taken(queue: &Queue) -> Vec<String> {
        let mut texts = Vec::new();
        queue.end();
        while let NextDelivery::Frame(frame) = queue.next().await {
            texts.push(frame.text.clone());
        }
        texts
    }

    #[tokio::test]
    async fn a_full_queue_drops_the_oldest_and_counts_it_but_no_critical_event() {
        let queue = Queue::default();
        assert_eq!(queue.push(frame(0, true)), 0);
        let dropped: u64 = (1..QUEUE_EVENTS + 10)
            .map(|number| queue.push(frame(number, false)))
            .sum();
        assert_eq!(dropped, 10);
        let texts = taken(&queue).await;
        assert_eq!(texts.len(), QUEUE_EVENTS);
        assert_eq!(texts[0], "0");
        assert_eq!(texts[1], "11");
    }

    #[tokio::test]
    async fn a_queue_full_of_critical_events_is_cut() {
        let queue = Queue::default();
        for number in 0..QUEUE_EVENTS {
            queue.push(frame(number, true));
        }
        assert_eq!(queue.push(frame(1, false)), 1, "the others give way");
        assert_eq!(queue.push(frame(2, true)), 0);
        assert_eq!(queue.next().await, NextDelivery::Cut);
    }

    #[tokio::test]
    async fn room_is_told_to_who_waits_for_it() {
        let queue = Arc::new(Queue::default());
        for number in 0..QUEUE_EVENTS {
            queue.push(frame(number, false));
        }
        let waiting = tokio::spawn({
            let queue = Arc::clone(&queue);
            async move { queue.until_room().await }
        });
        assert!(matches!(queue.next().await, NextDelivery::Frame(_)));
        let woken = tokio::time::timeout(std::time::Duration::from_secs(10), waiting).await;
        assert!(matches!(woken, Ok(Ok(()))));
    }
}
