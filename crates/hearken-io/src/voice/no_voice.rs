//! No voice at all: every utterance is cut immediately.
//!
//! Responsibilities: keeping the promise of one Ended or Cut for each utterance if nothing can
//! speak. Not here: why there is no voice (`engine_choice`).

use std::collections::VecDeque;

use super::{Voice, VoiceEvent};
use crate::announce::Utterance;

/// A voice that answers every utterance with Cut.
#[derive(Debug, Default)]
pub(super) struct Silence {
    unsaid: VecDeque<VoiceEvent>,
}

impl Voice for Silence {
    fn speak(&mut self, utterance: Utterance) {
        self.unsaid.clear();
        self.unsaid.push_back(VoiceEvent::Cut(utterance.id));
    }

    fn stop(&mut self) {
        self.unsaid.clear();
    }

    async fn news(&mut self) -> VoiceEvent {
        match self.unsaid.pop_front() {
            Some(event) => event,
            None => std::future::pending().await,
        }
    }

    async fn close(&mut self) {}
}
