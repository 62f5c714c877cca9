//! Words to sound: one thread (or task) that owns an engine and never blocks anybody else.
//!
//! Responsibilities: finding an engine, speaking one utterance at a time, stopping at once, telling
//! what was begun, ended or cut, and saying in words when there is no voice. Not here: what is said
//! and in which order (`announce`).

use crate::announce::utterance::UtteranceId;

/// Reports what an engine did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VoiceEvent {
    /// A voice is there and takes utterances.
    Ready {
        /// The engine's name as a person knows it: "speech-dispatcher", "command espeak-ng".
        engine: String,
    },
    /// The first sound of an utterance.
    Begun(UtteranceId),
    /// An utterance was said to its end.
    Ended(UtteranceId),
    /// An utterance was cut short or never said.
    Cut(UtteranceId),
    /// The voice failed while in use; it is tried again with backoff.
    Lost {
        /// Why, as a plain sentence without a full stop.
        reason: String,
    },
    /// The voice is back after [`VoiceEvent::Lost`].
    Recovered {
        /// The engine's name.
        engine: String,
    },
    /// There is no voice, and none is tried again.
    None {
        /// Why, as a plain sentence without a full stop.
        reason: String,
    },
}
