//! The way of a voice's news to whoever listens.
//!
//! Responsibilities: a bounded channel that the voice never waits on. Not here: what the news mean.

use std::collections::VecDeque;

use tokio::sync::mpsc;

use super::VoiceEvent;
use crate::announce::{Reason, UtteranceId};

/// Bounds the channel. An utterance makes two events at most, Begun and one of Ended and Cut, and
/// one is handed over at a time, so a listener that reads at all never sees it full.
const CHANNEL: usize = 256;

/// Bounds what waits while the channel is full; past it news are dropped, counted and told.
const WAITING: usize = 1024;

/// Takes a voice's news to its listener over a bounded channel.
#[derive(Debug, Clone)]
pub struct VoiceSink {
    events: mpsc::Sender<VoiceEvent>,
}

impl VoiceSink {
    /// Makes a sink and the receiver of its events, in the order in which they happened.
    pub fn channel() -> (Self, mpsc::Receiver<VoiceEvent>) {
        let (events, receiver) = mpsc::channel(CHANNEL);
        (Self { events }, receiver)
    }

    /// Wraps a sender whose receiver the caller has already.
    pub fn new(events: mpsc::Sender<VoiceEvent>) -> Self {
        Self { events }
    }

    /// Tells at once that an utterance is not said, when no thread is there that could tell it.
    pub(super) fn cut(&self, id: UtteranceId) {
        // There is room: nothing else is said meanwhile. Or nobody listens any more.
        let _ = self.events.try_send(VoiceEvent::Cut(id));
    }
}

/// The voice's end of a sink: pushing never waits, and nothing overtakes.
#[derive(Debug)]
pub(super) struct Outbox {
    sink: VoiceSink,
    waiting: VecDeque<VoiceEvent>,
    dropped: u64,
}

impl Outbox {
    pub(super) fn new(sink: VoiceSink) -> Self {
        Self {
            sink,
            waiting: VecDeque::new(),
            dropped: 0,
        }
    }

    /// Sends an event, or keeps it until there is room.
    pub(super) fn push(&mut self, event: VoiceEvent) {
        let kept = if self.waiting.is_empty() {
            match self.sink.events.try_send(event) {
                Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => return,
                Err(mpsc::error::TrySendError::Full(event)) => event,
            }
        } else {
            event
        };
        if self.waiting.len() < WAITING {
            self.waiting.push_back(kept);
        } else {
            self.dropped += 1;
        }
    }

    /// Counts news that were lost before they came here.
    pub(super) fn lost(&mut self, count: u64) {
        self.dropped += count;
    }

    /// Waits until one more event has left, or nobody listens any more; may be dropped at any time.
    pub(super) async fn tend(&mut self) -> Listener {
        if self.waiting.is_empty() && self.dropped == 0 {
            self.sink.events.closed().await;
            return Listener::Gone;
        }
        let Ok(room) = self.sink.events.reserve().await else {
            return Listener::Gone;
        };
        if let Some(event) = self.waiting.pop_front() {
            room.send(event);
        } else {
            let count = std::mem::take(&mut self.dropped);
            room.send(VoiceEvent::Notice {
                text: Reason::new("voice.cause.news_lost").with("count", count),
            });
        }
        Listener::There
    }
}

/// Whether anybody reads a voice's news.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listener {
    There,
    Gone,
}
