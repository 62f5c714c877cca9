//! Time, which the pure core receives as an argument.

use std::time::Duration;

/// One moment on both clocks.
///
/// `monotonic` counts from the start of the run and never goes back; every wait is measured with
/// it. `wall` is the calendar time, for what is shown, recorded and sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Time since the start of the run.
    pub monotonic: Duration,
    /// Calendar time.
    pub wall: jiff::Timestamp,
}

impl Now {
    /// Returns the moment `later` after this one on both clocks.
    pub fn after(self, later: Duration) -> Self {
        let signed = jiff::SignedDuration::try_from(later).unwrap_or(jiff::SignedDuration::MAX);
        Self {
            monotonic: self.monotonic.saturating_add(later),
            wall: jiff::Timestamp::from_duration(self.wall.as_duration().saturating_add(signed))
                .unwrap_or(jiff::Timestamp::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_go_on_and_end_at_the_end_of_time() {
        for (wall, later, wanted) in [
            (
                "2026-12-31T23:59:59.5Z",
                Duration::from_millis(750),
                "2027-01-01T00:00:00.25Z",
            ),
            (
                "1969-12-31T23:59:59.5Z",
                Duration::from_nanos(1),
                "1969-12-31T23:59:59.500000001Z",
            ),
        ] {
            let now = Now {
                monotonic: Duration::from_secs(1),
                wall: wall.parse().unwrap(),
            };
            let then = now.after(later);
            assert_eq!(then.monotonic, now.monotonic + later);
            assert_eq!(then.wall, wanted.parse().unwrap());
            assert_eq!(now.after(Duration::MAX).wall, jiff::Timestamp::MAX);
        }
    }
}
