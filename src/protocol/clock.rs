//! The time as the pure core knows it: an argument.

use std::time::Duration;

/// Holds one moment on both clocks.
///
/// `monotonic` counts from the start of the run and never goes back: every wait is measured with it.
/// `wall` is the calendar time, for what is shown, recorded and sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Time since the start of the run.
    pub monotonic: Duration,
    /// Calendar time.
    pub wall: jiff::Timestamp,
}

impl Now {
    /// Gives the moment `later` after this one on both clocks.
    pub fn after(self, later: Duration) -> Self {
        let signed = jiff::SignedDuration::try_from(later).unwrap_or(jiff::SignedDuration::MAX);
        Self {
            monotonic: self.monotonic.saturating_add(later),
            wall: self
                .wall
                .checked_add(signed)
                .unwrap_or(jiff::Timestamp::MAX),
        }
    }
}
