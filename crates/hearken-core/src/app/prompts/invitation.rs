//! Whether the person was told how to write the first prompt.

use std::time::Duration;

/// Whether the person was invited to write to an agent.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Invitation {
    /// No agent is ready for a prompt, or one works.
    #[default]
    Early,
    /// An agent has been idle since then.
    Idle(Duration),
    /// The invitation was given, or is no longer needed.
    Over,
}
