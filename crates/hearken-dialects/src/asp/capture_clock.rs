//! The time in a capture.
//!
//! Responsibilities: how far the messages of a capture are ahead of the clock here, so that an hour in the recording
//! counts as an hour even if the capture is played at once. Not here: the timeouts (`timeouts`).

use std::time::Duration;

use jiff::Timestamp;

use crate::protocol::Now;

/// The time by the messages of a capture.
#[derive(Debug, Clone, Default)]
pub(super) struct MessageClock {
    /// The first time stamp, and when it was heard.
    first: Option<(Timestamp, Duration)>,
    ahead: Duration,
}

impl MessageClock {
    /// Moves on to the time stamp of a message, if that is later than what has passed here.
    pub(super) fn hears(&mut self, stamp: Timestamp, now: &mut Now) {
        let (first, heard) = *self.first.get_or_insert((stamp, now.monotonic));
        let Ok(since) = Duration::try_from(stamp.duration_since(first)) else {
            return;
        };
        let more = heard.saturating_add(since).saturating_sub(now.monotonic);
        self.ahead = self.ahead.saturating_add(more);
        now.monotonic = now.monotonic.saturating_add(more);
    }

    /// Returns the time in the capture.
    pub(super) fn now(&self, real: Now) -> Now {
        Now {
            monotonic: real.monotonic.saturating_add(self.ahead),
            ..real
        }
    }

    /// Returns the time here that corresponds to this time in the capture.
    pub(super) fn real(&self, due: Duration) -> Duration {
        due.saturating_sub(self.ahead)
    }
}
