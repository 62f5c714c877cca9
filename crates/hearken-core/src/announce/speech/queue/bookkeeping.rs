//! Keeps the ledger: how many announcements an entry counts as, and the fate of those that leave a lane.

use super::lanes::Lane;
use super::ledger::{Ledger, UtteranceFate};
use super::{LaneEntries, QueueItem, SpeechQueue, WaitingUtterance};
use crate::announce::announcement::AnnouncementId;

impl QueueItem {
    /// Returns how many announcements it counts as: one, or none if it stands for others or is a repetition.
    pub(super) fn counts(&self) -> u64 {
        u64::from(self.counted && self.announcement.id != AnnouncementId(0))
    }
}

impl WaitingUtterance {
    /// Returns the item if this is an announcement.
    pub(super) fn item(&self) -> Option<&QueueItem> {
        match self {
            Self::Item(item) => Some(item),
            Self::Fold(_) => None,
        }
    }

    /// Returns how many announcements without a fate it contains; folded ones already have theirs.
    pub(super) fn counts(&self) -> u64 {
        match self {
            Self::Item(item) => item.counts(),
            Self::Fold(_) => 0,
        }
    }
}

impl SpeechQueue {
    /// Returns the fates of all announcements that were taken.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns how many announcements taken in a lane are being spoken or wait.
    pub fn waiting(&self, lane: Lane) -> u64 {
        let playing = self.playing.as_ref().map(|it| &it.item);
        let waiting = self.lanes.iter().flat_map(LaneEntries::iter);
        let items = waiting.filter_map(WaitingUtterance::item).chain(playing);
        let counts = items.filter(|item| item.home == lane);
        counts.map(QueueItem::counts).sum::<u64>() + self.silenced_of(lane)
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
        // Hundreds may wait behind a slow voice, and hardly any ever match.
        if !waiting.iter().any(&leaves) {
            return;
        }
        let ledger = &mut self.ledger;
        waiting.retain(|waiting| {
            let leaves = leaves(waiting);
            if let Some(item) = waiting.item().filter(|_| leaves) {
                ledger.note(item.home, fate, item.counts());
            }
            !leaves
        });
    }
}
