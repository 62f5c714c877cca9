//! What a source was heard to speak.

/// What a source was heard to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Speaks {
    /// Nothing yet.
    #[default]
    Unheard,
    /// So many messages, none of which is AAEP; told.
    Foreign(u32),
    /// AAEP.
    Aaep,
    /// AAEP, and something else beside it; told.
    Mixed,
}

impl Speaks {
    /// Takes note of a message of AAEP.
    pub(super) fn aaep(&mut self) {
        *self = match self {
            Self::Unheard | Self::Aaep => Self::Aaep,
            Self::Foreign(_) | Self::Mixed => Self::Mixed,
        };
    }

    /// Returns whether something came, and none of it was AAEP.
    pub(super) fn is_foreign(self) -> bool {
        match self {
            Self::Foreign(_) => true,
            Self::Unheard | Self::Aaep | Self::Mixed => false,
        }
    }
}
