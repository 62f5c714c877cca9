//! The context of one event while it is applied.
//!
//! Responsibilities: collecting the changes of one event, stepping its session's machines. Not here: the effects of the
//! event (`event_effects`).

use std::sync::Arc;

use crate::protocol::{Envelope, Machine, Now, TransitionError};

use super::change::{Change, ChangeKind};
use super::key::SessionKey;
use super::machine_observer::{Observer, Relay, Subject};

/// The context of one event while it is applied, in which the changes are collected.
pub(super) struct Context<'o> {
    pub(super) key: &'o SessionKey,
    /// The place of its session, as soon as it is known.
    pub(super) place: Option<usize>,
    pub(super) envelope: &'o Envelope,
    /// The display name of its session's agent.
    agent: &'o Arc<str>,
    pub(super) now: Now,
    pub(super) replayed: bool,
    pub(super) observer: &'o mut dyn Observer,
    changes: &'o mut Vec<Change>,
}

impl<'o> Context<'o> {
    pub(super) fn new(
        key: &'o SessionKey,
        envelope: &'o Envelope,
        now: Now,
        replayed: bool,
        observer: &'o mut dyn Observer,
        changes: &'o mut Vec<Change>,
    ) -> Self {
        Self {
            key,
            place: None,
            envelope,
            agent: envelope.producer.label(),
            now,
            replayed,
            observer,
            changes,
        }
    }

    /// Returns the context for the effects of the same event on another session.
    pub(super) fn of_other<'c>(
        &'c mut self,
        key: &'c SessionKey,
        agent: &'c Arc<str>,
        place: Option<usize>,
    ) -> Context<'c> {
        Context {
            key,
            place,
            envelope: self.envelope,
            agent,
            now: self.now,
            replayed: self.replayed,
            observer: &mut *self.observer,
            changes: &mut *self.changes,
        }
    }

    pub(super) fn push(&mut self, what: ChangeKind) {
        let (envelope, localization) = (self.envelope, &self.envelope.localization);
        self.changes.push(Change {
            key: self.key.clone(),
            agent: Arc::clone(self.agent),
            at: self.now,
            urgency: envelope.urgency,
            language: localization.primary_language.clone(),
            fallbacks: localization.fallback_chain.clone(),
            direction: localization.text_direction,
            replayed: self.replayed,
            attached: Arc::clone(&envelope.attached),
            correlation: envelope.correlation_id.clone(),
            kind: what,
        });
    }

    /// Adds a change that concerns another session.
    pub(super) fn add(&mut self, change: Change) {
        self.changes.push(change);
    }

    /// Steps a machine of this session and notifies the observer.
    pub(super) fn step<M: Machine>(
        &mut self,
        subject: Subject<'_>,
        from: M,
        event: M::Event,
    ) -> Result<M, TransitionError> {
        if !self.observer.watches() {
            return from.transition(event);
        }
        let mut relay = Relay {
            key: self.key,
            at: self.now,
            number: self.envelope.sequence_number,
            subject,
            observer: self.observer,
        };
        from.observed(event, &mut relay)
    }
}
