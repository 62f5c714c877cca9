//! What a speech engine did, as facts for the app. Not here: engines (`voice`).

use crate::config::{Delivery, Knob};

use super::{Reason, UtteranceId};

/// Reports what an engine did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VoiceEvent {
    /// A voice is there and takes utterances.
    Ready {
        /// The engine's name as a person knows it: "speech-dispatcher", "command espeak-ng".
        engine: Reason,
    },
    /// What of the voice can be changed while it is in use, and how it is without that.
    Adjustable {
        /// What can be changed.
        knobs: Vec<Knob>,
        /// The engine's own settings, as far as they can be known.
        usual: Delivery,
    },
    /// Whether the short sounds are heard, once the first was tried and whenever that changes.
    Cues {
        /// They are; else words take their place.
        heard: bool,
    },
    /// The first sound of an utterance.
    Begun(UtteranceId),
    /// An utterance was said to its end, or had nothing in it that could be said.
    Ended(UtteranceId),
    /// An utterance was cut short or never said.
    Cut(UtteranceId),
    /// Something about the voice that the person should know, told once; speech goes on.
    Notice {
        /// What.
        text: Reason,
    },
    /// The voice failed while in use; it is tried again with backoff, and told once.
    ///
    /// Utterances may still be handed over: they are cut at once, or used to try the engine again.
    Lost {
        /// Why.
        reason: Reason,
    },
    /// The voice is back after [`VoiceEvent::Lost`].
    Recovered {
        /// The engine's name.
        engine: Reason,
    },
    /// There is no voice, and none is tried again.
    None {
        /// Why.
        reason: Reason,
    },
}
