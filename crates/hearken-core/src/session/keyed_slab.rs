//! Items that are found by their key, or by its parts.
//!
//! Responsibilities: giving each item a place that it keeps until it is removed, and finding it. Not here: the
//! order and number of the items.

use std::hash::{BuildHasher, Hash};

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use slab::Slab;

/// An item that is found by its key.
pub(crate) trait KeyedItem {
    /// The type of the keys.
    type Key: Hash + Eq;

    /// Returns the key, which never changes.
    fn key(&self) -> &Self::Key;
}

/// A name for a key, by the key itself or by its parts, so that a lookup need not build a key.
pub(crate) trait KeyName<K>: Hash {
    /// Returns whether it names this key; both then have the same hash.
    fn names(&self, key: &K) -> bool;
}

impl<K: Hash + Eq> KeyName<K> for K {
    fn names(&self, key: &K) -> bool {
        self == key
    }
}

/// Items that are found by key, each at a place that may be reused once it is removed.
#[derive(Debug, Clone)]
pub(crate) struct KeyedSlab<T> {
    items: Slab<T>,
    places: HashTable<usize>,
    hasher: RandomState,
}

impl<T> Default for KeyedSlab<T> {
    fn default() -> Self {
        Self {
            items: Slab::new(),
            places: HashTable::new(),
            hasher: RandomState::default(),
        }
    }
}

impl<T: KeyedItem> KeyedSlab<T> {
    /// Returns the place of the named item.
    pub(crate) fn place(&self, name: &impl KeyName<T::Key>) -> Option<usize> {
        let is_it = |place: &usize| self.at(*place).is_some_and(|item| name.names(item.key()));
        self.places.find(self.hasher.hash_one(name), is_it).copied()
    }

    /// Returns the item at a place.
    pub(crate) fn at(&self, place: usize) -> Option<&T> {
        self.items.get(place)
    }

    /// Returns the item at a place, to be changed.
    pub(crate) fn at_mut(&mut self, place: usize) -> Option<&mut T> {
        self.items.get_mut(place)
    }

    /// Returns the named item.
    pub(crate) fn get(&self, name: &impl KeyName<T::Key>) -> Option<&T> {
        self.at(self.place(name)?)
    }

    /// Returns the item with a key, to be changed.
    pub(crate) fn get_mut(&mut self, key: &T::Key) -> Option<&mut T> {
        self.at_mut(self.place(key)?)
    }

    /// Adds an item with a new key; returns its place.
    pub(crate) fn insert(&mut self, item: T) -> usize {
        let hash = self.hasher.hash_one(item.key());
        let place = self.items.insert(item);
        let (items, hasher) = (&self.items, &self.hasher);
        let rehash = |place: &usize| {
            let item = items.get(*place);
            item.map_or(0, |item| hasher.hash_one(item.key()))
        };
        self.places.insert_unique(hash, place, rehash);
        place
    }

    /// Removes an item; returns it with its former place.
    pub(crate) fn remove(&mut self, key: &T::Key) -> Option<(usize, T)> {
        let place = self.place(key)?;
        let hash = self.hasher.hash_one(key);
        if let Ok(found) = self.places.find_entry(hash, |other| *other == place) {
            found.remove();
        }
        Some((place, self.items.try_remove(place)?))
    }

    /// Returns all items, in no particular order, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.items.iter_mut().map(|(_, item)| item)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Debug, PartialEq, Clone)]
    struct Thing(u16, usize);

    impl KeyedItem for Thing {
        type Key = u16;

        fn key(&self) -> &u16 {
            &self.0
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_found_is_what_was_put(steps in proptest::collection::vec((0u16..300, proptest::bool::ANY), 0..1000)) {
            let mut slab = KeyedSlab::default();
            let mut known = BTreeMap::new();
            for (step, (key, comes)) in steps.into_iter().enumerate() {
                assert_eq!(slab.get(&key).map(|thing: &Thing| thing.1), known.get(&key).copied());
                if comes && known.insert(key, step).is_none() {
                    let place = slab.insert(Thing(key, step));
                    assert_eq!(slab.at(place), Some(&Thing(key, step)));
                } else if comes {
                    if let Some(thing) = slab.get_mut(&key) {
                        thing.1 = step;
                    }
                } else {
                    let taken = slab.remove(&key).map(|(_, thing)| thing.1);
                    assert_eq!(taken, known.remove(&key));
                }
            }
            let mut left: Vec<(u16, usize)> = slab.iter_mut().map(|thing| (thing.0, thing.1)).collect();
            left.sort_unstable();
            assert_eq!(left, Vec::from_iter(known));
        }
    }
}
