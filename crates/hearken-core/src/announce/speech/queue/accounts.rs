//! Keeping the ledger: for how many announcements an entry counts, and the fate of those that leave a lane.

use super::ledger::{Ledger, UtteranceFate};
use super::table::Lane;
use super::{QueueItem, SpeechQueue, WaitingUtterance};
use crate::announce::announcement::AnnouncementId;

impl QueueItem {
    /// Returns for how many announcements it counts: one, or none if it stands for others.
    pub(super) fn counts(&self) -> u64 {
        u64::from(self.announcement.id != AnnouncementId(0))
    }
}

impl WaitingUtterance {
    /// Returns how many announcements without a fate it contains; folded ones already have theirs.
    pub(super) fn counts(&self) -> u64 {
        match self {
            Self::Item(item) => item.counts(),
            Self::Fold(_) => 0,
        }
    }
}

impl SpeechQueue {
    /// Returns the counts of what became of every announcement that was taken.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns how many announcements of a lane are being spoken or wait.
    pub fn waiting(&self, lane: Lane) -> u64 {
        let playing = self.playing.as_ref().filter(|it| it.lane == lane);
        let waiting = self.lanes[lane as usize]
            .iter()
            .map(WaitingUtterance::counts);
        waiting.sum::<u64>() + playing.map_or(0, |playing| playing.item.counts())
    }

    /// Empties a lane and records the fate of what waited there.
    pub(super) fn clear(&mut self, lane: Lane, fate: UtteranceFate) {
        self.take_out(lane, fate, |_| true);
    }

    /// Removes the matching entries from a lane and records their fate.
    pub(super) fn take_out(
        &mut self,
        lane: Lane,
        fate: UtteranceFate,
        leaves: impl Fn(&WaitingUtterance) -> bool,
    ) {
        let waiting = &mut self.lanes[lane as usize];
        // Hundreds may wait behind a slow voice, and hardly ever does any of them match.
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
