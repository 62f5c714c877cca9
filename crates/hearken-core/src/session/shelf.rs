//! A store for thousands of things that are found by key.
//!
//! Responsibilities: giving each thing a place, and finding it. Not here: their order, and how many there may be.
//!
//! Mental model: an event looks up its session about a dozen times, so the shelf remembers the thing found last, and
//! for each thing the one found after it. With thousands that take turns, few are in the cache, so the index holds only
//! places and hashes of keys, and a key is compared in place, only if its hash matches. Things stay where they are put,
//! in blocks: growing neither copies nor reads them.

use std::cell::Cell;
use std::hash::{BuildHasher, Hash};

use foldhash::fast::RandomState;
use hashbrown::HashTable;

/// The number of things per block.
const BLOCK: usize = 32;

/// A thing that is found by its key.
pub(crate) trait Keyed {
    /// The type of the keys.
    type Key: Hash + Eq;

    /// Returns the key, which never changes.
    fn key(&self) -> &Self::Key;
}

/// A name for a key, by the key itself or by its parts: a lookup then needs no key of its own.
pub(crate) trait Names<K>: Hash {
    /// Returns whether it names this key; both then have the same hash.
    fn names(&self, key: &K) -> bool;
}

impl<K: Hash + Eq> Names<K> for K {
    #[inline]
    fn names(&self, key: &K) -> bool {
        self == key
    }
}

/// Things that are found by key, each at a place that may be reused later.
#[derive(Debug, Clone)]
pub(crate) struct Shelf<T> {
    blocks: Vec<Box<[Option<T>]>>,
    free: Vec<usize>,
    places: HashTable<Place>,
    numbers: RandomState,
    /// The place found last.
    last: Cell<usize>,
    /// For each place, the place that was found after it.
    behind: Vec<Cell<u32>>,
}

/// The place of a thing, in a compact form, so that those of thousands stay in the cache.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// The hash of its key.
    number: u32,
    at: u32,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self {
            blocks: Vec::new(),
            free: Vec::new(),
            places: HashTable::new(),
            numbers: RandomState::default(),
            last: Cell::new(0),
            behind: Vec::new(),
        }
    }
}

impl<T: Keyed> Shelf<T> {
    /// Returns the place of the named thing.
    #[inline]
    pub(crate) fn place(&self, name: &impl Names<T::Key>) -> Option<usize> {
        let last = self.last.get();
        if self.stands_at(last, name) {
            return Some(last);
        }
        self.find(name)
    }

    fn find(&self, name: &impl Names<T::Key>) -> Option<usize> {
        let behind = self.behind.get(self.last.get())?;
        let guess = long(behind.get());
        if self.stands_at(guess, name) {
            self.last.set(guess);
            return Some(guess);
        }
        let number = self.number(name);
        let is_it = |place: &Place| place.number == number && self.stands_at(long(place.at), name);
        let at = self.places.find(spread(number), is_it)?.at;
        behind.set(at);
        self.last.set(long(at));
        Some(long(at))
    }

    fn number(&self, name: &impl Hash) -> u32 {
        let number = self.numbers.hash_one(name);
        (number ^ (number >> 32)) as u32
    }

    #[inline]
    fn stands_at(&self, place: usize, name: &impl Names<T::Key>) -> bool {
        self.at(place).is_some_and(|thing| name.names(thing.key()))
    }

    /// Returns the thing at a place.
    #[inline]
    pub(crate) fn at(&self, place: usize) -> Option<&T> {
        at(&self.blocks, place)
    }

    /// Returns the thing at a place, to be changed.
    #[inline]
    pub(crate) fn at_mut(&mut self, place: usize) -> Option<&mut T> {
        slot(&mut self.blocks, place)?.as_mut()
    }

    /// Returns the named thing.
    #[inline]
    pub(crate) fn get(&self, name: &impl Names<T::Key>) -> Option<&T> {
        match self.at(self.last.get()) {
            Some(thing) if name.names(thing.key()) => Some(thing),
            Some(_) | None => self.at(self.find(name)?),
        }
    }

    /// Returns the thing with a key, to be changed.
    pub(crate) fn get_mut(&mut self, key: &T::Key) -> Option<&mut T> {
        self.at_mut(self.place(key)?)
    }

    /// Adds a thing with a new key; returns its place.
    pub(crate) fn put(&mut self, thing: T) -> usize {
        let number = self.number(thing.key());
        let place = self.free_place();
        if let Some(slot) = slot(&mut self.blocks, place) {
            *slot = Some(thing);
        }
        let at = short(place);
        let new = Place { number, at };
        self.places
            .insert_unique(spread(number), new, |place| spread(place.number));
        self.last.set(place);
        place
    }

    fn free_place(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            let first = self.blocks.len() * BLOCK;
            let block = std::iter::repeat_with(|| None).take(BLOCK);
            self.blocks.push(block.collect());
            self.behind.resize(first + BLOCK, Cell::new(0));
            self.free.extend((first + 1..first + BLOCK).rev());
            first
        })
    }

    /// Removes a thing; returns it with its former place.
    pub(crate) fn take(&mut self, key: &T::Key) -> Option<(usize, T)> {
        let place = self.place(key)?;
        let number = spread(self.number(key));
        if let Ok(found) = self
            .places
            .find_entry(number, |other| long(other.at) == place)
        {
            found.remove();
        }
        let thing = slot(&mut self.blocks, place)?.take()?;
        self.free.push(place);
        Some((place, thing))
    }

    /// Returns all things, in no particular order, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.blocks
            .iter_mut()
            .flat_map(|block| block.iter_mut())
            .flatten()
    }
}

/// Spreads a hash over all the bits that a table uses.
#[inline]
fn spread(number: u32) -> u64 {
    u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Returns a place in its compact form: memory ends long before there are that many.
fn short(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

#[inline]
fn long(place: u32) -> usize {
    place as usize
}

#[inline]
fn at<T>(blocks: &[Box<[Option<T>]>], place: usize) -> Option<&T> {
    blocks.get(place / BLOCK)?.get(place % BLOCK)?.as_ref()
}

#[inline]
fn slot<T>(blocks: &mut [Box<[Option<T>]>], place: usize) -> Option<&mut Option<T>> {
    blocks.get_mut(place / BLOCK)?.get_mut(place % BLOCK)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Debug, PartialEq, Clone)]
    struct Thing(u16, usize);

    impl Keyed for Thing {
        type Key = u16;

        fn key(&self) -> &u16 {
            &self.0
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_found_is_what_was_put(steps in proptest::collection::vec((0u16..300, proptest::bool::ANY), 0..1000)) {
            let mut shelf = Shelf::default();
            let mut known = BTreeMap::new();
            for (step, (key, comes)) in steps.into_iter().enumerate() {
                assert_eq!(shelf.get(&key).map(|thing: &Thing| thing.1), known.get(&key).copied());
                if comes && known.insert(key, step).is_none() {
                    let place = shelf.put(Thing(key, step));
                    assert_eq!(shelf.at(place), Some(&Thing(key, step)));
                } else if comes {
                    if let Some(thing) = shelf.get_mut(&key) {
                        thing.1 = step;
                    }
                } else {
                    let taken = shelf.take(&key).map(|(_, thing)| thing.1);
                    assert_eq!(taken, known.remove(&key));
                }
            }
            let mut left: Vec<(u16, usize)> = shelf.iter_mut().map(|thing| (thing.0, thing.1)).collect();
            left.sort_unstable();
            assert_eq!(left, Vec::from_iter(known));
        }
    }
}
