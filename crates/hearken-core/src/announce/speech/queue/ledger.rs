//! What became of everything that was taken to be said: pure counts, lane by lane, that add up.
//!
//! What was taken was said, or waits, or has exactly one of the other fates. What stands for others ("7 more sentences")
//! was never taken, and is not counted itself.

use super::table::{LANES, Lane};

/// What became of an announcement that was taken to be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It was said to its end.
    Said,
    /// It was folded into a count, which was said in its place.
    Folded,
    /// It grew too old while it waited, or too many waited.
    Expired,
    /// A later one took its place before it was said.
    Replaced,
    /// It was being said, and something more urgent ended it for good.
    Cut,
    /// The person skipped it, or did not want to hear such any more.
    Skipped,
    /// The question that it was about was answered or closed.
    Withdrawn,
    /// There was no voice, or the engine lost it.
    Voiceless,
    /// It had no words to be said.
    Wordless,
}

impl Fate {
    /// Every fate.
    pub const ALL: [Self; 9] = [
        Self::Said,
        Self::Folded,
        Self::Expired,
        Self::Replaced,
        Self::Cut,
        Self::Skipped,
        Self::Withdrawn,
        Self::Voiceless,
        Self::Wordless,
    ];
}

/// Counts announcements by lane and fate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ledger {
    taken: [u64; LANES],
    fates: [[u64; Fate::ALL.len()]; LANES],
}

impl Ledger {
    /// Returns how many of a lane were taken to be said.
    pub fn taken(&self, lane: Lane) -> u64 {
        self.taken[lane as usize]
    }

    /// Returns how many of a lane had this fate.
    pub fn of(&self, lane: Lane, fate: Fate) -> u64 {
        self.fates[lane as usize][fate as usize]
    }

    pub(super) fn take(&mut self, lane: Lane) {
        self.taken[lane as usize] += 1;
    }

    pub(super) fn note(&mut self, lane: Lane, fate: Fate, count: u64) {
        self.fates[lane as usize][fate as usize] += count;
    }
}
