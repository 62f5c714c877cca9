//! How long the start of a source may take before the person is told.

use std::time::Duration;

use crate::protocol::Now;

use super::stream::LinkPhase;

/// The time after which a source that is still connecting is announced: a handshake with a distant server takes
/// a second or two; a person who hears nothing for longer starts looking for a fault.
const SLOW_TO_CONNECT: Duration = Duration::from_secs(4);

/// The time after which a connection that sends nothing is announced: longer than a server takes to show what runs, and
/// longer than the announcements of the start take to be spoken.
const SLOW_TO_SEND: Duration = Duration::from_secs(10);

/// The state of the wait for the start of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StartWait {
    /// No attempt was made yet.
    Unbegun,
    /// It should connect; if it has not by `until`, that is announced.
    ToConnect { until: Duration },
    /// It should connect, and the person knows that it has not yet.
    Known,
    /// It is connected; if nothing has come by `until`, that is announced.
    ToSend { until: Duration },
    /// It has started, or everything was announced.
    Over,
}

impl StartWait {
    /// Handles an attempt; only the first one starts the clock.
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

    /// Handles the connection; a connection in another way restarts the clock.
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

    /// Handles a loss, which is announced with its reason.
    pub(super) fn lost(&mut self) {
        *self = match self {
            Self::Unbegun | Self::ToConnect { .. } | Self::Known => Self::Known,
            Self::ToSend { .. } | Self::Over => Self::Over,
        };
    }

    /// Returns when a slow start is announced, given the phase of the link.
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
