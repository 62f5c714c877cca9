//! What the start of a source is waited for, and for how long.

use std::time::Duration;

use crate::protocol::Now;

use super::stream::LinkPhase;

/// After how long it is said that a source still connects: a handshake with a far server takes a second
/// or two, and who hears nothing for longer begins to look for a fault.
const SLOW_TO_CONNECT: Duration = Duration::from_secs(4);

/// After how long it is said that nothing came over a connection that is there: longer than a server
/// takes to show what runs, and than the words of the start take to be heard.
const SLOW_TO_SEND: Duration = Duration::from_secs(10);

/// What the start of a source is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    /// No attempt was made yet.
    Unbegun,
    /// It is to connect, and is told of when it has not until then.
    ToConnect { until: Duration },
    /// It is to connect, and the person knows that it has not.
    Known,
    /// It is connected, and is told of when nothing came until then.
    ToSend { until: Duration },
    /// It began, or everything was told.
    Over,
}

impl Waiting {
    /// Takes an attempt; only the first one begins the time.
    pub(super) fn connecting(&mut self, now: Now) {
        match self {
            Self::Unbegun => {
                *self = Self::ToConnect {
                    until: now.monotonic + SLOW_TO_CONNECT,
                };
            }
            Self::ToConnect { .. } | Self::Known | Self::ToSend { .. } | Self::Over => {}
        }
    }

    /// Takes the connection; one by another way begins the time anew.
    pub(super) fn connected(&mut self, now: Now) {
        match self {
            Self::Unbegun | Self::ToConnect { .. } | Self::Known | Self::ToSend { .. } => {
                *self = Self::ToSend {
                    until: now.monotonic + SLOW_TO_SEND,
                };
            }
            Self::Over => {}
        }
    }

    /// Takes a loss, which is told with its reason.
    pub(super) fn lost(&mut self) {
        *self = match self {
            Self::Unbegun | Self::ToConnect { .. } | Self::Known => Self::Known,
            Self::ToSend { .. } | Self::Over => Self::Over,
        };
    }

    /// Returns when the start has lasted so long that it is told, of a link in such a phase.
    pub(super) fn due(self, phase: LinkPhase) -> Option<Duration> {
        match (self, phase) {
            (Self::ToConnect { until }, LinkPhase::Disconnected | LinkPhase::Connecting { .. })
            | (Self::ToSend { until }, LinkPhase::Connected) => Some(until),
            (
                Self::ToConnect { .. },
                LinkPhase::Connected
                | LinkPhase::Streaming
                | LinkPhase::Completed
                | LinkPhase::Failed,
            )
            | (
                Self::ToSend { .. },
                LinkPhase::Disconnected
                | LinkPhase::Connecting { .. }
                | LinkPhase::Streaming
                | LinkPhase::Completed
                | LinkPhase::Failed,
            )
            | (Self::Unbegun | Self::Known | Self::Over, _) => None,
        }
    }
}
