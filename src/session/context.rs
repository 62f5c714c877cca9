//! What one event brings along while it is applied.
//!
//! Responsibilities: collecting the changes of one event, stepping its session's machines. Not here: what the event
//! does (`apply`).

use std::sync::Arc;

use crate::protocol::{Attached, Envelope, Machine, Now, TextDirection, TransitionError, Urgency};

use super::change::{Change, What};
use super::key::SessionKey;
use super::observe::{Observer, Relay, Subject};

/// Carries what one event brings along while it is applied, and collects its changes.
pub(super) struct Context<'o> {
    pub(super) key: SessionKey,
    pub(super) agent: Arc<str>,
    pub(super) now: Now,
    pub(super) urgency: Urgency,
    pub(super) language: Option<Arc<str>>,
    fallbacks: Vec<String>,
    pub(super) direction: Option<TextDirection>,
    pub(super) replayed: bool,
    number: Option<u64>,
    pub(super) attached: Arc<Attached>,
    pub(super) observer: &'o mut dyn Observer,
    changes: Vec<Change>,
}

impl<'o> Context<'o> {
    pub(super) fn new(
        key: SessionKey,
        envelope: &Envelope,
        now: Now,
        replayed: bool,
        observer: &'o mut dyn Observer,
    ) -> Self {
        Self {
            key,
            agent: Arc::clone(envelope.producer.label()),
            now,
            urgency: envelope.urgency,
            language: envelope.localization.primary_language.clone(),
            fallbacks: envelope.localization.fallback_chain.clone(),
            direction: envelope.localization.text_direction,
            replayed,
            number: envelope.sequence_number,
            attached: Arc::clone(&envelope.attached),
            observer,
            // Nearly every event brings one, and a list that grows by itself begins with room for four.
            changes: Vec::with_capacity(1),
        }
    }

    pub(super) fn push(&mut self, what: What) {
        self.changes.push(Change {
            key: self.key.clone(),
            agent: self.agent.clone(),
            at: self.now,
            urgency: self.urgency,
            language: self.language.clone(),
            fallbacks: self.fallbacks.clone(),
            direction: self.direction,
            replayed: self.replayed,
            attached: Arc::clone(&self.attached),
            what,
        });
    }

    /// Adds a change that concerns another session.
    pub(super) fn add(&mut self, change: Change) {
        self.changes.push(change);
    }

    pub(super) fn into_changes(self) -> Vec<Change> {
        self.changes
    }

    /// Steps a machine of this session under the observer's eyes.
    pub(super) fn step<M: Machine>(
        &mut self,
        subject: Subject<'_>,
        from: M,
        event: M::Event,
    ) -> Result<M, TransitionError> {
        let mut relay = Relay {
            key: &self.key,
            at: self.now,
            number: self.number,
            subject,
            observer: self.observer,
        };
        from.observed(event, &mut relay)
    }
}
