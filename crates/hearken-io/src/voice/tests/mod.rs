//! Tests of the voices as their callers see them, and helpers that other tests may borrow.
//!
//! Responsibilities: a scripted speech-dispatcher ([`fake_ssip`]), short ways to build utterances and to listen.
//! Nothing here sleeps: every wait is for a condition and has a limit.

use std::time::Duration;

use tokio::sync::mpsc;

use super::limits::Limits;
use super::*;
use crate::announce::{Class, Mark, Sound};

mod chaos;
#[cfg(target_os = "linux")]
mod command_voice;
mod daemon_conversation;
#[cfg(unix)]
pub mod fake_ssip;
mod folder;
#[cfg(target_os = "linux")]
mod resident_program;
#[cfg(unix)]
mod speech_dispatcher;
mod ssip;
#[cfg(target_os = "linux")]
mod useless_daemon;
mod voice_handle;

pub use folder::Folder;

/// How long any wait may take before the test fails; far more than a loaded machine needs.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Returns an agent's utterance of class Outcome.
pub fn utterance(id: u64, text: &str) -> Utterance {
    Utterance {
        id: UtteranceId(id),
        class: Class::Outcome,
        text: text.to_owned(),
        language: None,
        mark: Mark::Agent,
        sound: Sound::default(),
    }
}

/// A listener to a voice's news.
pub struct Ear(pub mpsc::Receiver<VoiceEvent>);

impl Ear {
    /// Creates a sink and its ear.
    pub fn new() -> (VoiceSink, Self) {
        let (sink, events) = VoiceSink::channel();
        (sink, Self(events))
    }

    /// Waits for the next news.
    pub async fn next(&mut self) -> VoiceEvent {
        loop {
            let event = tokio::time::timeout(PATIENCE, self.0.recv())
                .await
                .expect("news within the patience")
                .expect("the voice still tells");
            // Only the tests that are about an engine's adjustments ask for them.
            if !matches!(event, VoiceEvent::Adjustable { .. }) {
                return event;
            }
        }
    }

    /// Waits for the next news and checks that it is the given event.
    pub async fn expect(&mut self, event: VoiceEvent) {
        assert_eq!(self.next().await, event);
    }

    /// Waits until the voice is ready.
    pub async fn ready(&mut self) -> String {
        loop {
            match self.next().await {
                VoiceEvent::Ready { engine } => return in_words(&engine),
                // Every program of a test's own causes this notice, and another test covers it.
                VoiceEvent::Notice { text } if in_words(&text).contains("HEARKEN_MARK") => {}
                other => panic!("not ready: {other:?}"),
            }
        }
    }

    /// Waits for the news that there is no voice, and returns the reason.
    pub async fn none(&mut self) -> String {
        match self.next().await {
            VoiceEvent::None { reason, .. } => in_words(&reason),
            other => panic!("not none: {other:?}"),
        }
    }

    /// Waits for the news that the voice is lost, and returns the reason.
    pub async fn lost(&mut self) -> String {
        match self.next().await {
            VoiceEvent::Lost { reason } => in_words(&reason),
            other => panic!("not lost: {other:?}"),
        }
    }

    /// Returns all further news until the voice closes.
    pub async fn rest(mut self) -> Vec<VoiceEvent> {
        let mut rest = Vec::new();
        while let Some(event) = tokio::time::timeout(PATIENCE, self.0.recv())
            .await
            .expect("the voice closes within the patience")
        {
            rest.push(event);
        }
        rest
    }
}

/// Returns time limits short enough for a test to wait for, but long enough for a healthy answer on a loaded machine.
#[cfg(unix)]
pub(super) fn quick() -> Limits {
    Limits {
        call: Duration::from_secs(1),
        begin: Duration::from_secs(1),
        probe: Duration::from_secs(1),
        spawn: Duration::from_secs(1),
        backoff_first: Duration::from_millis(10),
        backoff_cap: Duration::from_millis(40),
        ..Limits::default()
    }
}

/// Returns a reason in the words that a person hears.
pub fn in_words(reason: &crate::announce::Reason) -> String {
    crate::announce::Phrases::english().unwrap().because(reason)
}
