//! How long to wait before trying a broken link again.
//!
//! Responsibilities: the wait before each attempt, from the settings, the server's wishes and a seed. Not here: waiting
//! and counting attempts (`sse`, `duplex`).
//!
//! The wait has a ceiling that doubles with each failure from `first` up to `cap`; the actual wait is a random point
//! between zero and that ceiling ("full jitter"), so that a hundred programs that lost the same server don't all return
//! at the same instant. Example with first = 500 ms and cap = 30 s: the ceilings are 0.5, 1, 2, 4, 8, 16, 30, 30 s. A
//! server may ask for more patience (`Retry-After`, once) or set the first wait (`retry:`, for the rest of the link);
//! neither can exceed `cap`.

use std::time::Duration;

/// The shortest wait. Full jitter may draw almost zero, and a server may ask for `retry: 0`; a
/// server that accepts and drops connections must still not cause a busy loop.
const SHORTEST: Duration = Duration::from_millis(20);

/// The waits between attempts; the same seed gives the same waits.
#[derive(Debug, Clone)]
pub struct Backoff {
    first: Duration,
    cap: Duration,
    asked: Option<Duration>,
    failures: u32,
    random: u64,
}

impl Backoff {
    /// Starts with no failures; `first` is the first ceiling and `cap` the longest wait.
    pub fn new(first: Duration, cap: Duration, seed: u64) -> Self {
        Self {
            first: first.min(cap),
            cap,
            asked: None,
            failures: 0,
            random: seed,
        }
    }

    /// Applies the stream's `retry:` as the new first wait, which is then also the shortest.
    pub fn ask(&mut self, first: Duration) {
        self.asked = Some(first);
    }

    /// Returns the wait after another failure, at least `at_least` (a `Retry-After`), at most the cap.
    pub fn next(&mut self, at_least: Option<Duration>) -> Duration {
        let first = self.asked.unwrap_or(self.first).max(SHORTEST).min(self.cap);
        let ceiling = first
            .saturating_mul(1_u32.checked_shl(self.failures).unwrap_or(u32::MAX))
            .min(self.cap);
        self.failures = self.failures.saturating_add(1);
        let drawn = ceiling.mul_f64(self.draw());
        drawn
            .max(self.asked.unwrap_or_default())
            .max(at_least.unwrap_or_default())
            .max(SHORTEST)
            .min(self.cap)
    }

    /// Starts over from the first wait, after a good connection.
    pub fn reset(&mut self) {
        self.failures = 0;
    }

    /// Draws a number from 0 up to 1 (SplitMix64: tiny, and good enough to spread waits).
    fn draw(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        // A double holds the upper 53 bits exactly.
        (z >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::{Backoff, SHORTEST};
    use std::time::Duration;

    const FIRST: Duration = Duration::from_millis(500);
    const CAP: Duration = Duration::from_secs(30);

    #[test]
    fn every_wait_lies_under_its_doubling_ceiling() {
        for seed in 0..200 {
            let mut backoff = Backoff::new(FIRST, CAP, seed);
            for ceiling_ms in [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000] {
                let wait = backoff.next(None);
                assert!(wait >= SHORTEST && wait <= Duration::from_millis(ceiling_ms));
            }
        }
    }

    #[test]
    fn waits_are_spread_over_the_whole_ceiling() {
        let first_waits: Vec<u128> = (0..1000)
            .map(|seed| Backoff::new(FIRST, CAP, seed).next(None).as_millis())
            .collect();
        assert!(first_waits.iter().filter(|ms| **ms < 100).count() > 100);
        assert!(first_waits.iter().filter(|ms| **ms > 400).count() > 100);
    }

    #[test]
    fn the_same_seed_gives_the_same_waits() {
        let waits = |seed| {
            let mut backoff = Backoff::new(FIRST, CAP, seed);
            (0..20).map(|_| backoff.next(None)).collect::<Vec<_>>()
        };
        assert_eq!(waits(7), waits(7));
        assert_ne!(waits(7), waits(8));
    }

    #[test]
    fn a_good_connection_starts_again_from_the_first_wait() {
        let mut backoff = Backoff::new(FIRST, CAP, 3);
        for _ in 0..10 {
            backoff.next(None);
        }
        backoff.reset();
        assert!(backoff.next(None) <= FIRST);
    }

    #[test]
    fn retry_after_is_a_lower_bound_within_the_cap() {
        let mut backoff = Backoff::new(FIRST, CAP, 1);
        assert_eq!(
            backoff.next(Some(Duration::from_secs(7))),
            Duration::from_secs(7)
        );
        assert_eq!(backoff.next(Some(Duration::from_secs(9000))), CAP);
    }

    #[test]
    fn the_streams_retry_is_the_first_wait_and_stays_after_a_reset() {
        let mut backoff = Backoff::new(FIRST, CAP, 1);
        backoff.ask(Duration::from_secs(3));
        assert_eq!(backoff.next(None), Duration::from_secs(3));
        let second = backoff.next(None);
        assert!(second >= Duration::from_secs(3) && second <= Duration::from_secs(6));
        backoff.reset();
        assert_eq!(backoff.next(None), Duration::from_secs(3));
        backoff.ask(Duration::from_secs(90_000));
        assert_eq!(backoff.next(None), CAP);
    }

    #[test]
    fn a_retry_of_zero_never_makes_a_busy_loop() {
        let mut backoff = Backoff::new(FIRST, CAP, 1);
        backoff.ask(Duration::ZERO);
        assert_eq!(backoff.next(None), SHORTEST);
    }

    #[test]
    fn a_tiny_cap_wins_over_everything() {
        let cap = Duration::from_millis(1);
        let mut backoff = Backoff::new(FIRST, cap, 1);
        for _ in 0..100 {
            assert!(backoff.next(Some(Duration::MAX)) <= cap);
        }
    }
}
