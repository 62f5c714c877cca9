//! The state of a session's last tool calls, by their ids.
//!
//! Responsibilities: finding a call by its id, and how many are remembered. Not here: which steps are legal
//! (`machines`), what they mean (`tools`).
//!
//! Mental model: most sessions have few calls, and there are thousands of sessions. So each call is stored once, in
//! order, and the index holds only a position, found by the hash of its id.

use std::collections::VecDeque;
use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::machines::ToolRun;
use crate::protocol::ToolCallId;

/// The most calls that are remembered, to notice a second use of an id.
const MOST: usize = 512;

/// The last calls of a session.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls {
    /// Oldest first.
    runs: VecDeque<(ToolCallId, ToolRun)>,
    /// The running number of each call.
    places: HashTable<u32>,
    /// The number of forgotten calls.
    forgotten: u32,
    numbers: RandomState,
}

impl PartialEq for Calls {
    fn eq(&self, other: &Self) -> bool {
        // The index and its hash keys do not matter here.
        self.runs == other.runs
    }
}

impl Calls {
    /// Returns the number of calls.
    pub(super) fn len(&self) -> usize {
        self.runs.len()
    }

    /// Returns the ids of the calls, oldest first.
    pub(super) fn ids(&self) -> impl Iterator<Item = &ToolCallId> {
        self.runs.iter().map(|(id, _)| id)
    }

    /// Returns the state of a call, if it is remembered.
    pub(super) fn run(&self, id: &ToolCallId) -> Option<ToolRun> {
        let at = self.find(id)?;
        self.runs.get(at).map(|(_, run)| *run)
    }

    /// Records the state of a call; returns whether the call is new. The oldest one is forgotten if there are too many.
    pub(super) fn put(&mut self, id: &ToolCallId, run: ToolRun) -> bool {
        if let Some((_, known)) = self.find(id).and_then(|at| self.runs.get_mut(at)) {
            *known = run;
            return false;
        }
        if self.runs.len() >= MOST {
            self.forget_oldest();
        }
        if self.runs.is_empty() {
            // By default a list has room for four, which is a lot in thousands of lists.
            self.runs.reserve_exact(1);
        }
        self.runs.push_back((id.clone(), run));
        let Self {
            runs: known,
            places,
            forgotten,
            numbers,
        } = self;
        let number = |id: &ToolCallId| numbers.hash_one(id);
        let place = forgotten.wrapping_add(u32::try_from(known.len() - 1).unwrap_or(u32::MAX));
        places.insert_unique(number(id), place, |place| {
            known
                .get(index(*place, *forgotten))
                .map_or(0, |(id, _)| number(id))
        });
        true
    }

    fn find(&self, id: &ToolCallId) -> Option<usize> {
        // The end of a call mostly follows its beginning.
        if let Some((last, _)) = self.runs.back()
            && last == id
        {
            return Some(self.runs.len() - 1);
        }
        let is_it = |place: &u32| {
            let known = self.runs.get(index(*place, self.forgotten));
            known.is_some_and(|(known, _)| known == id)
        };
        let place = self.places.find(self.numbers.hash_one(id), is_it)?;
        Some(index(*place, self.forgotten))
    }

    fn forget_oldest(&mut self) {
        let Some((oldest, _)) = self.runs.pop_front() else {
            return;
        };
        let place = self.forgotten;
        let number = self.numbers.hash_one(&oldest);
        if let Ok(found) = self.places.find_entry(number, |other| *other == place) {
            found.remove();
        }
        self.forgotten = self.forgotten.wrapping_add(1);
    }
}

/// Returns the position of a call from its running number.
fn index(place: u32, forgotten: u32) -> usize {
    place.wrapping_sub(forgotten) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: usize) -> ToolCallId {
        format!("call_{n}").into()
    }

    #[test]
    fn the_last_calls_are_found_and_the_oldest_forgotten() {
        let mut calls = Calls {
            // The count of earlier calls is close to overflowing.
            forgotten: u32::MAX - 300,
            ..Calls::default()
        };
        for n in 0..3 * MOST {
            assert_eq!(calls.run(&id(n)), None);
            assert!(calls.put(&id(n), ToolRun::Running));
            assert!(!calls.put(&id(n), ToolRun::Succeeded));
            let first = (n + 1).saturating_sub(MOST);
            assert_eq!(calls.len(), n + 1 - first);
            assert_eq!(calls.run(&id(n)), Some(ToolRun::Succeeded));
            assert_eq!(calls.run(&id(first)), Some(ToolRun::Succeeded));
            if first > 0 {
                assert_eq!(calls.run(&id(first - 1)), None);
            }
        }
        assert!(calls.ids().cloned().eq((2 * MOST..3 * MOST).map(id)));
        assert_eq!(calls.places.len(), MOST);
        assert!(
            calls
                .runs
                .iter()
                .all(|(id, run)| calls.run(id) == Some(*run))
        );
    }
}
