//! The state of the voice.

use crate::announce::Reason;

/// The state of the voice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VoiceState {
    /// None is wanted.
    Off,
    /// None is wanted, because a screen reader speaks.
    LeftToReader,
    /// One is being looked for.
    Checking,
    /// It is ready.
    Ready {
        /// The engine's name.
        engine: Reason,
    },
    /// It failed and is being retried.
    Lost,
    /// There is none.
    None,
}

impl VoiceState {
    /// Returns whether there is a voice, or one is still being looked for.
    pub(in crate::app) fn is_hoped_for(&self) -> bool {
        match self {
            Self::Checking | Self::Ready { .. } => true,
            Self::Off | Self::LeftToReader | Self::None | Self::Lost => false,
        }
    }

    /// Returns whether a voice is wanted but there is none.
    pub(super) fn is_missed(&self) -> bool {
        match self {
            Self::Lost | Self::None => true,
            Self::Off | Self::LeftToReader | Self::Checking | Self::Ready { .. } => false,
        }
    }
}
