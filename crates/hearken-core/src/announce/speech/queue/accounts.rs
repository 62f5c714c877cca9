//! Keeping the ledger: how many announcements something is, and what leaves a lane with its fate.

use super::ledger::{Fate, Ledger};
use super::table::Lane;
use super::{Item, SpeechQueue, Waiting};
use crate::announce::announcement::AnnouncementId;

impl Item {
    /// Returns how many announcements it is: one, or none where it stands for others.
    pub(super) fn counts(&self) -> u64 {
        u64::from(self.announcement.id != AnnouncementId(0))
    }
}

impl Waiting {
    /// Returns how many announcements wait in it that have no fate yet: what was folded has one.
    pub(super) fn counts(&self) -> u64 {
        match self {
            Self::Item(item) => item.counts(),
            Self::Fold(_) => 0,
        }
    }
}

impl SpeechQueue {
    /// Counts what became of everything that was taken.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns how many of a lane are being said, or wait.
    pub fn waiting(&self, lane: Lane) -> u64 {
        let playing = self.playing.as_ref().filter(|it| it.lane == lane);
        let waiting = self.lanes[lane as usize].iter().map(Waiting::counts);
        waiting.sum::<u64>() + playing.map_or(0, |playing| playing.item.counts())
    }

    /// Empties a lane, and notes what became of what waited in it.
    pub(super) fn clear(&mut self, lane: Lane, fate: Fate) {
        self.take_out(lane, fate, |_| true);
    }

    /// Takes out of a lane what is so, and notes what became of it.
    pub(super) fn take_out(&mut self, lane: Lane, fate: Fate, leaves: impl Fn(&Waiting) -> bool) {
        let waiting = &mut self.lanes[lane as usize];
        // Hundreds may wait behind a slow voice, and hardly ever does any of them leave.
        if !waiting.iter().any(&leaves) {
            return;
        }
        let mut gone = 0;
        waiting.retain(|waiting| {
            let leaves = leaves(waiting);
            gone += if leaves { waiting.counts() } else { 0 };
            !leaves
        });
        self.ledger.note(lane, fate, gone);
    }
}
