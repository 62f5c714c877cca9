//! Everything that was told, said or not, within a bound.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::announce::announcement::{Announcement, AnnouncementId};

/// How many announcements are kept: a long working day of a talkative agent.
const MOST_ENTRIES: usize = 20_000;
/// How many bytes of words are kept.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Keeps announcements for looking back; the oldest leave, counted.
#[derive(Debug, Clone, Default)]
pub struct History {
    entries: VecDeque<Arc<Announcement>>,
    /// How much memory each takes; looking at one that leaves, hours old, costs more than all else that is done with it.
    sizes: VecDeque<usize>,
    bytes: usize,
    left: u64,
}

impl History {
    /// Keeps one more.
    pub fn push(&mut self, announcement: Arc<Announcement>) {
        let size = announcement.size();
        self.bytes += size;
        self.sizes.push_back(size);
        self.entries.push_back(announcement);
        while self.entries.len() > MOST_ENTRIES || self.bytes > MOST_BYTES {
            let (Some(_), Some(size)) = (self.entries.pop_front(), self.sizes.pop_front()) else {
                return;
            };
            self.bytes = self.bytes.saturating_sub(size);
            self.left += 1;
        }
    }

    /// Gives all, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<Announcement>> + ExactSizeIterator {
        self.entries.iter()
    }

    /// Finds one by its number.
    pub fn get(&self, id: AnnouncementId) -> Option<&Arc<Announcement>> {
        let at = self
            .entries
            .binary_search_by_key(&id, |announcement| announcement.id)
            .ok()?;
        self.entries.get(at)
    }

    /// Gives the last one.
    pub fn last(&self) -> Option<&Arc<Announcement>> {
        self.entries.back()
    }

    /// Gives the nearest one before a number.
    pub fn before(&self, id: AnnouncementId) -> Option<&Arc<Announcement>> {
        let at = self
            .entries
            .partition_point(|announcement| announcement.id < id);
        at.checked_sub(1).and_then(|at| self.entries.get(at))
    }

    /// Gives the nearest one after a number.
    pub fn after(&self, id: AnnouncementId) -> Option<&Arc<Announcement>> {
        let at = self
            .entries
            .partition_point(|announcement| announcement.id <= id);
        self.entries.get(at)
    }

    /// Gives how many are kept.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Tells whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Counts those that left because of the bound.
    pub fn left(&self) -> u64 {
        self.left
    }
}
