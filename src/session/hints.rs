//! Where one of thousands is looked for first.
//!
//! Responsibilities: a place for each key, in few bytes. Not here: what stands there, and whether it is the one that is
//! looked for: another one may have the same number.

use std::hash::{BuildHasher, Hash};

use foldhash::fast::RandomState;
use foldhash::{HashMap, HashMapExt};

/// Says by numbers of their keys where things probably stand. Of thousands that take turns few are near in memory, and this is
/// small enough to be.
#[derive(Debug, Clone)]
pub(crate) struct Hints {
    places: HashMap<u64, u32>,
    numbers: RandomState,
}

impl Default for Hints {
    fn default() -> Self {
        Self {
            places: HashMap::new(),
            numbers: RandomState::default(),
        }
    }
}

impl Hints {
    /// Gives where something probably stands.
    pub(crate) fn get(&self, key: &impl Hash) -> Option<usize> {
        let place = self.places.get(&self.numbers.hash_one(key))?;
        usize::try_from(*place).ok()
    }

    /// Takes note of where something stands.
    pub(crate) fn put(&mut self, key: &impl Hash, place: usize) {
        // One beyond all that fit is found without a hint.
        if let Ok(place) = u32::try_from(place) {
            self.places.insert(self.numbers.hash_one(key), place);
        }
    }

    /// Forgets where it stood.
    pub(crate) fn forget(&mut self, key: &impl Hash) {
        self.places.remove(&self.numbers.hash_one(key));
    }
}
