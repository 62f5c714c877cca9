//! The entries that wait in one lane, in order.
//!
//! Responsibilities: knowing without a search whether any entry belongs to a session and topic: with many agents,
//! hundreds of entries wait behind a slow voice, every arrival looks for related ones, and nearly always there are
//! none. Not here: which entries come and go (`order`).

use std::collections::VecDeque;

use hashbrown::HashTable;

/// Something that belongs to a session and a topic.
pub(super) trait TopicEntry {
    /// Returns the hash of the session and the topic.
    fn mark(&self) -> u64;
}

/// The entries that wait in one lane.
#[derive(Debug, Clone)]
pub(super) struct LaneEntries<T> {
    list: VecDeque<T>,
    /// How many entries each mark has.
    marks: HashTable<(u64, usize)>,
}

impl<T> Default for LaneEntries<T> {
    fn default() -> Self {
        Self {
            list: VecDeque::new(),
            marks: HashTable::new(),
        }
    }
}

impl<T: TopicEntry> LaneEntries<T> {
    /// Returns how many entries have a mark.
    pub(super) fn of_mark(&self, mark: u64) -> usize {
        let found = self.marks.find(mark, |(own, _)| *own == mark);
        found.map_or(0, |(_, count)| *count)
    }

    fn came(&mut self, mark: u64) {
        let entry = (self.marks).entry(mark, |(own, _)| *own == mark, |(own, _)| *own);
        entry.or_insert((mark, 0)).into_mut().1 += 1;
    }

    fn left(&mut self, mark: u64) {
        if let Ok(mut entry) = self.marks.find_entry(mark, |(own, _)| *own == mark) {
            match entry.get().1 {
                0 | 1 => _ = entry.remove(),
                count => entry.get_mut().1 = count - 1,
            }
        }
    }

    pub(super) fn push_back(&mut self, waiting: T) {
        self.came(waiting.mark());
        self.list.push_back(waiting);
    }

    pub(super) fn push_front(&mut self, waiting: T) {
        self.came(waiting.mark());
        self.list.push_front(waiting);
    }

    pub(super) fn insert(&mut self, at: usize, waiting: T) {
        self.came(waiting.mark());
        self.list.insert(at, waiting);
    }

    pub(super) fn remove(&mut self, at: usize) -> Option<T> {
        let waiting = self.list.remove(at)?;
        self.left(waiting.mark());
        Some(waiting)
    }

    pub(super) fn pop_front(&mut self) -> Option<T> {
        self.remove(0)
    }

    /// Keeps only the entries for which `stays` returns true; it must not change their marks.
    pub(super) fn retain(&mut self, mut stays: impl FnMut(&mut T) -> bool) {
        let mut gone = Vec::new();
        self.list.retain_mut(|waiting| {
            let stays = stays(waiting);
            if !stays {
                gone.push(waiting.mark());
            }
            stays
        });
        for mark in gone {
            self.left(mark);
        }
    }

    pub(super) fn front(&self) -> Option<&T> {
        self.list.front()
    }

    pub(super) fn back(&self) -> Option<&T> {
        self.list.back()
    }

    pub(super) fn get(&self, at: usize) -> Option<&T> {
        self.list.get(at)
    }

    /// Returns an entry for changing anything but what its mark is derived from.
    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.list.get_mut(at)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.list.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl TopicEntry for u64 {
        fn mark(&self) -> u64 {
            *self
        }
    }

    proptest::proptest! {
        #[test]
        fn the_marks_are_those_of_what_waits(steps in proptest::collection::vec((0u8..6, 0u64..5), 0..200)) {
            let mut waits = LaneEntries::default();
            for (step, mark) in steps {
                let at = waits.len() / 2;
                match step {
                    0 => waits.push_back(mark),
                    1 => waits.push_front(mark),
                    2 => waits.insert(at, mark),
                    3 => _ = waits.remove(at),
                    4 => _ = waits.pop_front(),
                    _ => waits.retain(|waiting| *waiting != mark),
                }
                for mark in 0..5 {
                    let wanted = waits.iter().filter(|it| **it == mark).count();
                    assert_eq!(waits.of_mark(mark), wanted);
                }
                assert!(waits.marks.len() <= waits.len());
            }
        }
    }
}
