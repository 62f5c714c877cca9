//! The fates of all announcements that were taken for speaking: pure counts, lane by lane, that add up.
//!
//! Each one waits or has exactly one fate. An entry that stands for others ("7 more sentences") was never
//! taken, and is not itself counted.

use super::lanes::{LANES, Lane};

/// The fate of an announcement that was taken for speaking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UtteranceFate {
    /// It was spoken to its end.
    Said,
    /// It became part of a count, which was spoken instead.
    Folded,
    /// It grew too old while waiting, or too many were waiting.
    Expired,
    /// A later one replaced it before it was spoken.
    Replaced,
    /// It was being spoken, and something more urgent ended it for good.
    Cut,
    /// The person skipped it, or no longer wanted to hear its kind.
    Skipped,
    /// The question that it was about was answered or closed.
    Withdrawn,
    /// There was no voice, or the engine lost it.
    Voiceless,
    /// It had no words to speak.
    Wordless,
}

impl UtteranceFate {
    /// All fates.
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

/// The number of announcements by lane and fate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ledger {
    taken: [u64; LANES],
    fates: [[u64; UtteranceFate::ALL.len()]; LANES],
}

impl Ledger {
    /// Returns how many announcements of a lane were taken for speaking.
    pub fn taken(&self, lane: Lane) -> u64 {
        self.taken[lane as usize]
    }

    /// Returns how many announcements of a lane had this fate.
    pub fn of(&self, lane: Lane, fate: UtteranceFate) -> u64 {
        self.fates[lane as usize][fate as usize]
    }

    pub(super) fn take(&mut self, lane: Lane) {
        self.taken[lane as usize] += 1;
    }

    pub(super) fn note(&mut self, lane: Lane, fate: UtteranceFate, count: u64) {
        self.fates[lane as usize][fate as usize] += count;
    }
}
