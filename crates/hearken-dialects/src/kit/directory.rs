//! The conversations of a source by their ids, up to a limit.
//!
//! Responsibilities: opening a conversation, making room for it, a seed for each. Not here: what a conversation is.
//!
//! # Mental model
//! Opening a conversation means that it was heard from. When the directory is full, the conversation that has been
//! silent for longest makes room, if it may go: a conversation at work, or with an open question, may not.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use crate::DialectOutput;
use crate::link::Phrase;

/// Conversations by their ids.
#[derive(Debug)]
pub struct Directory<T> {
    all: BTreeMap<String, T>,
    /// The ids, the one heard from last at the end.
    heard: Vec<String>,
    most: usize,
    seed: u64,
    opened: u64,
    has_been_full: bool,
}

/// Every conversation is at work, and there is no room for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectoryFull {
    /// Whether this has not happened before.
    pub is_first: bool,
}

impl DirectoryFull {
    /// Announces it, once.
    pub fn announce_once(self, phrase: Phrase, out: &mut Vec<DialectOutput>) {
        if self.is_first {
            out.push(DialectOutput::Announce(phrase));
        }
    }
}

impl<T> Directory<T> {
    /// Creates an empty directory.
    pub fn new(most: usize, seed: u64) -> Self {
        Self {
            all: BTreeMap::new(),
            heard: Vec::new(),
            most,
            seed,
            opened: 0,
            has_been_full: false,
        }
    }

    /// Returns a conversation; one that is new is created with a seed of its own.
    ///
    /// # Errors
    /// If it is new, and no other may go.
    pub fn open(
        &mut self,
        id: &str,
        may_go: impl Fn(&T) -> bool,
        create: impl FnOnce(u64) -> T,
    ) -> Result<&mut T, DirectoryFull> {
        let full = DirectoryFull {
            is_first: !self.has_been_full,
        };
        if !self.all.contains_key(id) {
            if self.all.len() >= self.most && !self.make_room(may_go) {
                self.has_been_full = true;
                return Err(full);
            }
            self.opened += 1;
            let item = create(mixed(self.seed, self.opened));
            self.all.insert(id.to_owned(), item);
        }
        self.heard
            .retain(|heard| heard != id && self.all.contains_key(heard));
        self.heard.push(id.to_owned());
        self.all.get_mut(id).ok_or(full)
    }

    /// Removes the conversation that has been silent for longest; returns whether one was removed.
    fn make_room(&mut self, may_go: impl Fn(&T) -> bool) -> bool {
        let mut silent = self.heard.iter();
        let oldest = silent.find(|id| self.all.get(*id).is_some_and(&may_go));
        oldest
            .cloned()
            .is_some_and(|id| self.all.remove(&id).is_some())
    }

    /// Returns the conversation heard from last among those that fit.
    pub fn latest(&self, fits: impl Fn(&T) -> bool) -> Option<&T> {
        let mut all = self.heard.iter().rev().filter_map(|id| self.all.get(id));
        all.find(|item| fits(item))
    }
}

impl<T> Deref for Directory<T> {
    type Target = BTreeMap<String, T>;

    fn deref(&self) -> &Self::Target {
        &self.all
    }
}

impl<T> DerefMut for Directory<T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.all
    }
}

/// Returns the seed with this number, far enough from the others that no two draw the same ids.
pub fn mixed(seed: u64, number: u64) -> u64 {
    let mut mixed = seed ^ number.rotate_left(32);
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53_u64] {
        mixed = (mixed ^ (mixed >> 33)).wrapping_mul(factor);
    }
    mixed ^ (mixed >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_that_is_silent_for_longest_makes_room_if_it_may_go() {
        let mut directory = Directory::new(2, 7);
        let idle = |works: &bool| !works;
        assert!(directory.open("a", idle, |_| true).is_ok());
        assert!(directory.open("b", idle, |_| false).is_ok());
        assert!(directory.open("c", idle, |_| false).is_ok());
        assert!(directory.keys().eq(["a", "c"]), "a is running");
        assert_eq!(directory.latest(|_| true), Some(&false));
        *directory.open("c", idle, |_| false).unwrap() = true;
        let full = |is_first| Err(DirectoryFull { is_first });
        assert_eq!(directory.open("d", idle, |_| false), full(true));
        assert_eq!(directory.open("d", idle, |_| false), full(false));
        directory.remove("c");
        assert!(directory.open("d", idle, |_| false).is_ok());
        assert_eq!(directory.heard, ["a", "d"], "nothing is kept of c");
    }

    #[test]
    fn each_has_a_seed_of_its_own() {
        let mut directory = Directory::new(100, 7);
        let mut seeds = std::collections::BTreeSet::new();
        for id in 0..300 {
            let opened = directory.open(&id.to_string(), |_| true, |seed| seed);
            seeds.insert(*opened.unwrap());
        }
        assert_eq!((seeds.len(), directory.len()), (300, 100));
    }
}
