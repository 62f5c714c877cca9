//! Events of a speech engine, as facts for the app. Not here: engines (`voice`).

use crate::config::{Delivery, Knob};

use super::{Reason, UtteranceId};

/// An event of a speech engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VoiceEvent {
    /// A voice is available and accepts utterances.
    Ready {
        /// The engine's name as a person knows it: "speech-dispatcher", "espeak-ng".
        engine: Reason,
    },
    /// What can be changed about the voice while it is in use, and its own settings.
    Adjustable {
        /// What can be changed.
        knobs: Vec<Knob>,
        /// The engine's own settings, if known.
        usual: Delivery,
    },
    /// Whether the short sounds can be heard; sent after the first attempt and at every change.
    Cues {
        /// Whether they can be heard; if not, words replace them.
        heard: bool,
    },
    /// The first sound of an utterance.
    Begun(UtteranceId),
    /// An utterance was spoken to its end, or contained nothing to speak.
    Ended(UtteranceId),
    /// An utterance was cut short or never spoken.
    Cut(UtteranceId),
    /// Something about the voice that the person should know, announced once; speech continues.
    Notice {
        /// The message.
        text: Reason,
    },
    /// The voice failed while in use; it is tried again with backoff, and the failure is announced once.
    ///
    /// Utterances may still be handed over: they are cut immediately, or used to try the engine again.
    Lost {
        /// The reason for the failure.
        reason: Reason,
    },
    /// The voice is back after [`VoiceEvent::Lost`].
    Recovered {
        /// The engine's name.
        engine: Reason,
    },
    /// There is no voice, and none will be tried again.
    None {
        /// The reason for that.
        reason: Reason,
        /// How much to tell the person.
        telling: MissingVoice,
    },
}

impl VoiceEvent {
    /// Returns whether it is about an utterance, and not about the voice.
    pub fn is_of_utterance(&self) -> bool {
        match self {
            Self::Begun(_) | Self::Ended(_) | Self::Cut(_) => true,
            Self::Ready { .. }
            | Self::Adjustable { .. }
            | Self::Cues { .. }
            | Self::Notice { .. }
            | Self::Lost { .. }
            | Self::Recovered { .. }
            | Self::None { .. } => false,
        }
    }
}

/// How much to tell the person about a missing voice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MissingVoice {
    /// The reason, because a certain voice was asked for.
    #[default]
    Why,
    /// Only that there is none, because any voice would have done.
    That,
    /// Nothing, because an earlier run on this machine said so.
    Known,
}
