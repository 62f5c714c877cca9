//! When a beat tells the listener that a silent agent is working.
//!
//! Responsibilities: the times of the beat. Not here: whether an agent works (`app`), how a beat
//! sounds (`voice`).
//!
//! # Mental model
//! Silence is ambiguous: nothing to report, or no longer there? While an agent works and nothing is spoken, a
//! beat comes after [`FIRST`], then every [`NEXT`]. That is for the soft tick. If none can be played, or its
//! cue is off, a beat is a word, and a word every five seconds wears a person out: each further word waits
//! twice as long, up to eight times [`NEXT`]. Anything spoken restarts the count.
//!
//! # Tuning by symptom
//! Beats between the sentences of one answer: raise [`FIRST`]. Beats that wear a person out: raise
//! [`NEXT`], or switch them off (`announce.heartbeat`).

use std::time::Duration;

/// The silence before the first beat: longer than the pauses between sentences of a stream.
pub const FIRST: Duration = Duration::from_secs(3);

/// The wait for the second beat, and for each further one that is a sound.
pub const NEXT: Duration = Duration::from_secs(5);

/// How often the wait between spoken beats is doubled: up to 40 seconds.
pub const DOUBLINGS: u32 = 3;

/// After this long without news, an agent no longer counts as working, whatever it last said.
pub const STALE: Duration = Duration::from_secs(600);

/// The form in which a beat is heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beat {
    /// A soft tick.
    Sound,
    /// A word.
    Word,
}

/// Times the beats in the silence of working agents.
#[derive(Debug, Clone, Default)]
pub struct Heartbeat {
    due: Option<Duration>,
    beats: u32,
}

impl Heartbeat {
    /// Advances the beat, given whether some agent works while nothing is spoken and the form of the beat;
    /// returns whether a beat is due at `now`.
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

    /// Restarts the wait, because something other than a beat was spoken or shown.
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
