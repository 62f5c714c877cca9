//! The channel from a voice to the listener of its news.
//!
//! Responsibilities: a bounded channel that the voice never waits for. Not here: what the news means.

use std::collections::VecDeque;

use tokio::sync::mpsc;

use super::VoiceEvent;
use crate::announce::{Reason, UtteranceId};

/// The capacity of the channel. An utterance causes at most two events, Begun and one of Ended and
/// Cut, and utterances are passed on one at a time, so an active listener never sees it full.
const CHANNEL: usize = 256;

/// The most news that waits while the channel is full; beyond it news is dropped, counted and reported.
const WAITING: usize = 1024;

/// The sender of a voice's news to its listener over a bounded channel.
#[derive(Debug, Clone)]
pub struct VoiceSink {
    events: mpsc::Sender<VoiceEvent>,
}

impl VoiceSink {
    /// Creates a sink and the receiver of its events, in the order in which they happened.
    pub fn channel() -> (Self, mpsc::Receiver<VoiceEvent>) {
        let (events, receiver) = mpsc::channel(CHANNEL);
        (Self { events }, receiver)
    }

    /// Wraps a sender whose receiver the caller already has.
    pub fn new(events: mpsc::Sender<VoiceEvent>) -> Self {
        Self { events }
    }

    /// Reports immediately that an utterance was not spoken, when no thread could report it.
    pub(super) fn cut(&self, id: UtteranceId) {
        // There is space, as nothing else is being spoken; otherwise the listener is gone.
        let _ = self.events.try_send(VoiceEvent::Cut(id));
    }
}

/// The voice's end of a sink: pushing never waits, and order is preserved.
#[derive(Debug)]
pub(super) struct SinkQueue {
    sink: VoiceSink,
    waiting: VecDeque<VoiceEvent>,
    dropped: u64,
}

impl SinkQueue {
    pub(super) fn new(sink: VoiceSink) -> Self {
        Self {
            sink,
            waiting: VecDeque::new(),
            dropped: 0,
        }
    }

    /// Sends an event, or keeps it until there is space.
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

    /// Counts news that was lost before it got here.
    pub(super) fn lost(&mut self, count: u64) {
        self.dropped += count;
    }

    /// Waits until another event has been sent, or the listener is gone; may be dropped at any time.
    pub(super) async fn tend(&mut self) -> NewsListener {
        if self.waiting.is_empty() && self.dropped == 0 {
            self.sink.events.closed().await;
            return NewsListener::Gone;
        }
        let Ok(room) = self.sink.events.reserve().await else {
            return NewsListener::Gone;
        };
        if let Some(event) = self.waiting.pop_front() {
            room.send(event);
        } else {
            let count = std::mem::take(&mut self.dropped);
            room.send(VoiceEvent::Notice {
                text: Reason::new("voice.cause.news_lost").with("count", count),
            });
        }
        NewsListener::There
    }
}

/// Whether a voice's news still has a listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NewsListener {
    There,
    Gone,
}
