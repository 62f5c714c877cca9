//! How long an engine may take before it counts as stuck.
//!
//! Responsibilities: every time limit of the voices, with its reason, and the longest time that
//! speaking a text can take. Not here: the effects of the limits.

use std::time::Duration;

/// The limit for one command of SSIP: a healthy daemon answers within a millisecond, a loaded
/// machine within tens; after this it counts as hung.
const CALL: Duration = Duration::from_secs(2);

/// The limit for the list of voices, which took 0.4 s for 13,000 voices here and 1.35 s on a slower day.
const LIST: Duration = Duration::from_secs(8);

/// The limit from "queued" to the first sound: some 10 ms if the daemon is free, longer while another program speaks.
const BEGIN: Duration = Duration::from_secs(5);

/// The limit for the silent sound test at the start, which takes some 25 ms.
const PROBE: Duration = Duration::from_secs(3);

/// The limit for the start of the daemon by `--spawn`; it loads its modules before it answers.
const SPAWN: Duration = Duration::from_secs(8);

/// The first wait before a lost engine is tried again.
const BACKOFF_FIRST: Duration = Duration::from_millis(250);

/// The longest wait between two tries.
const BACKOFF_CAP: Duration = Duration::from_secs(30);

/// The time between SIGTERM and SIGKILL for a program; including signal delivery it stays under 50 ms.
const TERM: Duration = Duration::from_millis(40);

/// The limit for the polite end of an engine after its last word: cancel, its answer, quit.
const CLOSE: Duration = Duration::from_millis(500);

/// The limit for a program that stays to load what it needs, such as a neural voice on a slow machine.
const LOAD: Duration = Duration::from_secs(30);

/// The limit for such a program to fall silent, after which it is ended: hardly longer than speech-dispatcher takes.
const HUSH: Duration = Duration::from_millis(150);

/// The time limits; tests make them small, all other code uses [`Limits::default`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// For the reply to a command.
    pub call: Duration,
    /// For the list of voices.
    pub list: Duration,
    /// From "queued" to the first sound.
    pub begin: Duration,
    /// For the silent sound test.
    pub probe: Duration,
    /// For the start of the daemon.
    pub spawn: Duration,
    /// The first wait before trying again.
    pub backoff_first: Duration,
    /// The longest wait before trying again.
    pub backoff_cap: Duration,
    /// Between SIGTERM and SIGKILL.
    pub term: Duration,
    /// For the polite end of an engine.
    pub close: Duration,
    /// For loading what a program that stays needs.
    pub load: Duration,
    /// For such a program to fall silent.
    pub hush: Duration,
    /// Added to the longest time that speaking a text may take.
    pub end: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            call: CALL,
            list: LIST,
            begin: BEGIN,
            probe: PROBE,
            spawn: SPAWN,
            backoff_first: BACKOFF_FIRST,
            backoff_cap: BACKOFF_CAP,
            term: TERM,
            close: CLOSE,
            load: LOAD,
            hush: HUSH,
            end: Duration::from_secs(8),
        }
    }
}

impl Limits {
    /// Returns the limits for when a screen reader speaks through the same daemon.
    ///
    /// A message waits until the reader's own has ended, which for a paragraph takes a while; treating that as a
    /// failure would cut a question that was about to be spoken.
    pub(super) fn beside_a_reader(self) -> Self {
        Self {
            begin: self.begin.saturating_mul(3),
            ..self
        }
    }

    /// Returns the wait before try number `attempt`, counted from 0: doubled each time, capped.
    pub(super) fn backoff(&self, attempt: u32) -> Duration {
        self.backoff_first
            .saturating_mul(2_u32.saturating_pow(attempt.min(16)))
            .min(self.backoff_cap)
    }

    /// Returns the longest time that speaking a text may take before the engine counts as stuck.
    ///
    /// Letters at the slowest setting of espeak-ng (80 words a minute) take 0.15 s each; a digit or
    /// any other character may become a whole word or two.
    pub(super) fn end_of(&self, text: &str) -> Duration {
        let millis: u64 = text
            .chars()
            .map(|sign| {
                if sign.is_ascii_alphabetic() || sign == ' ' {
                    150
                } else if sign.is_alphabetic() {
                    500
                } else {
                    1500
                }
            })
            .sum();
        self.end.saturating_add(Duration::from_millis(millis))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_up_to_its_cap() {
        let limits = Limits::default();
        let waits: Vec<_> = [0, 1, 2, 6, 7, 8, u32::MAX]
            .into_iter()
            .map(|attempt| limits.backoff(attempt).as_millis())
            .collect();
        assert_eq!(waits, [250, 500, 1000, 16_000, 30_000, 30_000, 30_000]);
    }

    #[test]
    fn a_sentence_may_take_longer_than_a_slow_voice_needs_and_not_for_ever() {
        let limits = Limits::default();
        let sentence = "The agent wants to send an email to Bob, subject lunch at 12:30.";
        let longest = limits.end_of(sentence).as_secs();
        assert!((15..40).contains(&longest), "{longest} s");
    }
}
