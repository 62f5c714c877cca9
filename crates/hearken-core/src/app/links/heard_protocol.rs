//! The protocol that a source was heard to speak.

/// What a source was heard to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum HeardProtocol {
    /// Nothing yet.
    #[default]
    Unheard,
    /// This many messages, none of them AAEP; announced.
    Foreign(u32),
    /// AAEP.
    Aaep,
    /// AAEP and something else; announced.
    Mixed,
}

impl HeardProtocol {
    /// Notes an AAEP message.
    pub(super) fn aaep(&mut self) {
        *self = match self {
            Self::Unheard | Self::Aaep => Self::Aaep,
            Self::Foreign(_) | Self::Mixed => Self::Mixed,
        };
    }

    /// Returns whether messages came, but none of them was AAEP.
    pub(super) fn is_foreign(self) -> bool {
        match self {
            Self::Foreign(_) => true,
            Self::Unheard | Self::Aaep | Self::Mixed => false,
        }
    }
}
