//! Every announcement, spoken or not, within a bound.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::announce::announcement::{Announcement, AnnouncementId};

/// How many announcements are kept: a long working day of a talkative agent.
const MOST_ENTRIES: usize = 20_000;
/// How many bytes of memory they may take.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Keeps announcements for looking back; the oldest are removed and counted.
#[derive(Debug, Clone, Default)]
pub struct History {
    entries: VecDeque<Arc<Announcement>>,
    /// The size of each entry; measuring an entry again on removal, hours later, would cost more than
    /// everything else done with it.
    sizes: VecDeque<usize>,
    bytes: usize,
    left: u64,
}

impl History {
    /// Adds an announcement.
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

    /// Returns all announcements, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<Announcement>> + ExactSizeIterator {
        self.entries.iter()
    }

    /// Returns an announcement by its number.
    pub fn get(&self, id: AnnouncementId) -> Option<&Arc<Announcement>> {
        let at = self
            .entries
            .binary_search_by_key(&id, |announcement| announcement.id)
            .ok()?;
        self.entries.get(at)
    }

    /// Returns the newest announcement.
    pub fn last(&self) -> Option<&Arc<Announcement>> {
        self.entries.back()
    }

    /// Returns how many announcements are kept.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns how many announcements were removed because of the bound.
    pub fn left(&self) -> u64 {
        self.left
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::Timestamp;

    use crate::announce::words::segment::Segment;
    use crate::announce::{AnnouncementKind, Announcer, AnswerMethod, Class, Phrases};
    use crate::config::Config;
    use crate::protocol::Now;

    use super::*;

    #[test]
    fn the_oldest_leave_and_no_more_than_those_that_must() {
        let phrases = Arc::new(Phrases::english().unwrap());
        let mut announcer =
            Announcer::new(Config::default().announce, phrases, AnswerMethod::Lines);
        let now = Now {
            monotonic: Duration::ZERO,
            wall: Timestamp::UNIX_EPOCH,
        };
        for (bytes, comes) in [(1, 20_500), (4096, 5000), (MOST_BYTES / 3, 9)] {
            let mut history = History::default();
            let mut last = None;
            for pushed in 1..=comes {
                let words = vec![Segment::own("x".repeat(bytes))];
                let told = announcer.aside(Class::Response, AnnouncementKind::Reply, words, now);
                history.push(Arc::clone(&told));
                assert_eq!(history.left() + history.len() as u64, pushed);
                assert!(history.len() <= MOST_ENTRIES && history.bytes <= MOST_BYTES);
                last = Some(told);
            }
            let last = last.unwrap();
            let room = MOST_ENTRIES.min(MOST_BYTES / last.size());
            assert_eq!(history.len(), room, "{bytes}");
            assert_eq!(history.last(), Some(&last));
            let sizes: usize = history.iter().map(|told| told.size()).sum();
            assert_eq!(history.bytes, sizes);
            let ids: Vec<u64> = history.iter().map(|told| told.id.0).collect();
            let first = last.id.0 + 1 - history.len() as u64;
            assert_eq!(ids, Vec::from_iter(first..=last.id.0));
        }
    }
}
