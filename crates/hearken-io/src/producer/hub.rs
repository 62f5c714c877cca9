//! One event to all subscribers.
//!
//! Responsibilities: the list of subscribers, the events kept for resuming (chapter 8.7), counts of
//! dropped events. Not here: a single subscriber's waiting events (`queue`) and transports.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::queue::{Frame, Queue};

/// How many events are kept for subscribers that return: as many as fit into their queue.
const KEPT_EVENTS: usize = super::queue::QUEUE_EVENTS;
/// The maximum number of subscribers; a person has one or two, a test a few.
pub(super) const MAX_SUBSCRIBERS: usize = 32;

/// Sends frames to all subscribers and keeps the latest.
#[derive(Debug, Default)]
pub(super) struct Hub {
    subscribers: BTreeMap<u64, (Subscriber, Arc<Queue>)>,
    /// The number of subscriptions since the start; also the next one's number.
    subscribed: u64,
    kept: VecDeque<Arc<Frame>>,
    dropped: u64,
    /// Whether the streams have ended for good; no more subscribers are accepted.
    ended: bool,
}

/// How a subscriber connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Subscriber {
    /// The plain stream: it gets everything, and it can answer.
    Plain,
    /// The subscription of this name, whose terms say what it gets and what it can answer.
    Agreed(String),
}

/// How much of the missed events a new subscriber was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResumeOutcome {
    /// It requested nothing.
    Fresh,
    /// Everything after the event it named.
    Whole,
    /// Nothing: the event it named is unknown or no longer kept.
    AgedOut,
}

/// The error that no more subscribers are accepted: there are too many, or the end has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HubFull;

impl Hub {
    /// Sends a frame to all subscribers; keeps it if it can be resumed from.
    pub(super) fn publish(&mut self, frame: &Arc<Frame>) {
        for (_, queue) in self.subscribers.values() {
            self.dropped += queue.push(Arc::clone(frame));
        }
        if frame.event_id.is_some() {
            if self.kept.len() >= KEPT_EVENTS {
                self.kept.pop_front();
            }
            self.kept.push_back(Arc::clone(frame));
        }
    }

    /// Adds a new subscriber, which may name the last event it got.
    pub(super) fn subscribe(
        &mut self,
        last: Option<&str>,
        listener: Subscriber,
    ) -> Result<(u64, Arc<Queue>, ResumeOutcome), HubFull> {
        if self.ended || self.subscribers.len() >= MAX_SUBSCRIBERS {
            return Err(HubFull);
        }
        let queue = Arc::new(Queue::default());
        let resumed = match last {
            None => ResumeOutcome::Fresh,
            Some(last) => {
                let known = self
                    .kept
                    .iter()
                    .position(|frame| frame.event_id.as_deref() == Some(last));
                match known {
                    None => ResumeOutcome::AgedOut,
                    Some(index) => {
                        for frame in self.kept.iter().skip(index + 1) {
                            self.dropped += queue.push(Arc::clone(frame));
                        }
                        ResumeOutcome::Whole
                    }
                }
            }
        };
        let number = self.subscribed;
        self.subscribed += 1;
        let entry = (listener, Arc::clone(&queue));
        self.subscribers.insert(number, entry);
        Ok((number, queue, resumed))
    }

    pub(super) fn unsubscribe(&mut self, number: u64) {
        self.subscribers.remove(&number);
    }

    /// Ends every stream in good order, and accepts no more subscribers.
    pub(super) fn end(&mut self) {
        self.ended = true;
        for (_, queue) in self.subscribers.values() {
            queue.end();
        }
    }

    pub(super) fn queues(&self) -> impl Iterator<Item = &Arc<Queue>> {
        self.subscribers.values().map(|(_, queue)| queue)
    }

    /// Ends the streams of a subscription.
    pub(super) fn end_of(&self, subscription: &str) {
        for (listener, queue) in self.subscribers.values() {
            match listener {
                Subscriber::Agreed(id) if id == subscription => queue.end(),
                Subscriber::Agreed(_) | Subscriber::Plain => {}
            }
        }
    }

    /// Returns the number of subscribers on the plain stream.
    pub(super) fn plain(&self) -> usize {
        let plain = |(listener, _): &&(Subscriber, _)| *listener == Subscriber::Plain;
        self.subscribers.values().filter(plain).count()
    }

    /// Returns whether the streams have ended for good.
    pub(super) fn is_over(&self) -> bool {
        self.ended
    }

    /// Returns the number of current subscribers.
    pub(super) fn len(&self) -> usize {
        self.subscribers.len()
    }

    /// Returns the number of events dropped for slow subscribers.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns the number of subscriptions since the start.
    pub(super) fn subscribed(&self) -> u64 {
        self.subscribed
    }
}

#[cfg(test)]
mod tests {
    use super::super::queue::NextDelivery;
    use super::*;

    fn frame(number: usize) -> Arc<Frame> {
        Arc::new(Frame {
            event_id: Some(format!("evt_{number}")),
            critical: false,
            text: number.to_string(),
        })
    }

    async fn first(queue: &Queue) -> Option<String> {
        queue.end();
        match queue.next().await {
            NextDelivery::Frame(frame) => frame.event_id.clone(),
            NextDelivery::Ended | NextDelivery::Cut => None,
        }
    }

    #[tokio::test]
    async fn who_comes_back_gets_what_it_missed_and_nobody_else_does() {
        let mut hub = Hub::default();
        for number in 0..5 {
            hub.publish(&frame(number));
        }
        let (_, queue, resumed) = hub.subscribe(Some("evt_2"), Subscriber::Plain).unwrap();
        assert_eq!(resumed, ResumeOutcome::Whole);
        assert_eq!(first(&queue).await.as_deref(), Some("evt_3"));
        let (_, queue, resumed) = hub.subscribe(None, Subscriber::Plain).unwrap();
        assert_eq!(resumed, ResumeOutcome::Fresh);
        assert_eq!(first(&queue).await, None);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut hub = Hub::default();
        for number in 0..KEPT_EVENTS + 3 {
            hub.publish(&frame(number));
        }
        assert_eq!(hub.kept.len(), KEPT_EVENTS);
        assert_eq!(
            hub.subscribe(Some("evt_2"), Subscriber::Plain).unwrap().2,
            ResumeOutcome::AgedOut
        );
        assert_eq!(
            hub.subscribe(Some("evt_3"), Subscriber::Plain).unwrap().2,
            ResumeOutcome::Whole
        );
    }

    #[test]
    fn one_subscriber_too_many_is_refused_until_another_leaves() {
        let mut hub = Hub::default();
        for _ in 0..MAX_SUBSCRIBERS {
            assert!(hub.subscribe(None, Subscriber::Plain).is_ok());
        }
        assert_eq!(hub.subscribe(None, Subscriber::Plain).unwrap_err(), HubFull);
        hub.unsubscribe(0);
        assert!(hub.subscribe(None, Subscriber::Plain).is_ok());
        hub.unsubscribe(1);
        hub.end();
        assert_eq!(hub.subscribe(None, Subscriber::Plain).unwrap_err(), HubFull);
    }
}
