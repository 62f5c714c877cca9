//! When a silent agent that works is heard to be working.
//!
//! Responsibilities: the times of the beat. Not here: whether an agent works (`app`), how a beat
//! sounds (`voice`).
//!
//! # Mental model
//! Silence is ambiguous: nothing to tell, or nothing there any more? While an agent works and nothing
//! is said, a beat comes after [`FIRST`], then every [`NEXT`]. That is for the soft tick. Where none can be
//! played, or its cue is off, a beat is a word, and a word every five seconds wears a person out: each further
//! one comes after twice as long, up to eight times as long. Whatever is said starts the count again.
//!
//! # Tuning by symptom
//! Beats between the sentences of one answer: raise [`FIRST`]. Beats that wear a person out: raise
//! [`NEXT`], or switch them off (`announce.heartbeat`).

use std::time::Duration;

/// The first beat comes after so much silence: longer than the pauses between sentences of a stream.
pub const FIRST: Duration = Duration::from_secs(3);

/// The second beat comes after so much more, and each further one, where it is a sound.
pub const NEXT: Duration = Duration::from_secs(5);

/// How often the wait between beats is doubled where they are words: up to 40 seconds.
pub const DOUBLINGS: u32 = 3;

/// An agent of which nothing came for this long is not known to work any more, whatever it said last.
pub const STALE: Duration = Duration::from_secs(600);

/// What a beat is heard as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beat {
    /// A soft tick.
    Sound,
    /// A word.
    Word,
}

/// Counts the silence of working agents.
#[derive(Debug, Clone, Default)]
pub struct Heartbeat {
    due: Option<Duration>,
    beats: u32,
}

impl Heartbeat {
    /// Takes whether some agent works while nothing is said, and what a beat is heard as; tells whether
    /// one is due at `now`.
    pub fn step(&mut self, silent_work: bool, beat: Beat, now: Duration) -> bool {
        if !silent_work {
            self.rest();
            return false;
        }
        let due = *self.due.get_or_insert(now + FIRST);
        if now < due {
            return false;
        }
        let times = match beat {
            Beat::Sound => 1,
            Beat::Word => 2_u32.pow(self.beats.min(DOUBLINGS)),
        };
        self.due = Some(now + NEXT * times);
        self.beats = self.beats.saturating_add(1);
        true
    }

    /// Takes the news that something other than a beat was said or shown: the silence begins anew.
    pub fn rest(&mut self) {
        self.due = None;
        self.beats = 0;
    }

    /// Returns the time of the next beat.
    pub fn deadline(&self) -> Option<Duration> {
        self.due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beats(from: u64, to: u64, heartbeat: &mut Heartbeat, works: bool) -> Vec<u64> {
        (from..=to)
            .filter(|at| heartbeat.step(works, Beat::Word, Duration::from_millis(*at)))
            .collect()
    }

    #[test]
    fn a_tick_comes_after_three_seconds_and_then_every_five() {
        let mut heartbeat = Heartbeat::default();
        let ticks: Vec<u64> = (0..=60_000)
            .filter(|at| heartbeat.step(true, Beat::Sound, Duration::from_millis(*at)))
            .collect();
        assert!(ticks[0] == 3_000 && ticks.windows(2).all(|two| two[1] - two[0] == 5_000));
        assert_eq!(ticks.len(), 12);
    }

    #[test]
    fn a_word_comes_after_three_seconds_and_then_more_and_more_rarely() {
        let mut heartbeat = Heartbeat::default();
        assert_eq!(
            beats(0, 120_000, &mut heartbeat, true),
            [3_000, 8_000, 18_000, 38_000, 78_000, 118_000]
        );
        assert_eq!(heartbeat.deadline(), Some(Duration::from_secs(158)));
    }

    #[test]
    fn whatever_is_said_starts_the_count_again() {
        let mut heartbeat = Heartbeat::default();
        assert_eq!(beats(0, 2_999, &mut heartbeat, true), [0_u64; 0]);
        assert_eq!(beats(3_000, 3_500, &mut heartbeat, false), [0_u64; 0]);
        assert_eq!(heartbeat.deadline(), None);
        assert_eq!(beats(3_501, 7_000, &mut heartbeat, true), [6_501]);
        heartbeat.rest();
        assert_eq!(beats(7_001, 10_500, &mut heartbeat, true), [10_001]);
    }
}
