//! The time of a stream, from its own timestamps.

use std::time::Duration;

use jiff::Timestamp;

use crate::protocol::Now;

/// A clock that counts from the first timestamp and never goes back, so that a file gives the same report
/// whenever it is read. An event without a timestamp happens at the same time as the previous one.
#[derive(Debug, Clone, Default)]
pub(super) struct StreamClock {
    first: Option<Timestamp>,
    elapsed: Duration,
}

impl StreamClock {
    /// Advances the clock to an event's timestamp and returns the time.
    pub(super) fn at(&mut self, stamp: Option<Timestamp>) -> Now {
        if let Some(stamp) = stamp {
            let first = *self.first.get_or_insert(stamp);
            let elapsed = Duration::try_from(stamp.duration_since(first)).unwrap_or_default();
            self.elapsed = self.elapsed.max(elapsed);
        }
        self.now()
    }

    /// Returns the time of the last event.
    pub(super) fn now(&self) -> Now {
        Now {
            monotonic: Duration::ZERO,
            wall: self.first.unwrap_or(Timestamp::UNIX_EPOCH),
        }
        .after(self.elapsed)
    }

    /// Returns the moment that is `elapsed` after the first timestamp.
    pub(super) fn moment(&self, elapsed: Duration) -> Now {
        Self {
            first: self.first,
            elapsed,
        }
        .now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_never_goes_back() {
        let mut clock = StreamClock::default();
        assert_eq!(clock.at(None).monotonic, Duration::ZERO);
        let stamp = |text: &str| Some(text.parse().unwrap());
        clock.at(stamp("2026-01-01T00:00:05Z"));
        assert_eq!(
            clock.at(stamp("2026-01-01T00:00:07Z")).monotonic.as_secs(),
            2
        );
        assert_eq!(
            clock.at(stamp("2026-01-01T00:00:06Z")).monotonic.as_secs(),
            2
        );
        assert_eq!(clock.at(None).wall, "2026-01-01T00:00:07Z".parse().unwrap());
        let far = clock.at(stamp("9999-12-30T00:00:00Z"));
        assert!(far.monotonic.as_secs() > 1_000_000);
    }
}
