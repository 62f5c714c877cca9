//! Values that many announcements share, stored once.
//!
//! Responsibilities: finding a value among recent ones. Not here: which values are shared (`publish`).

use std::collections::VecDeque;
use std::sync::Arc;

/// How many values are compared: an agent works with few tools at a time.
const MOST: usize = 8;

/// Stores recent values, so that equal ones share one allocation.
#[derive(Debug)]
pub(super) struct SharedValues<T>(VecDeque<Arc<T>>);

impl<T> Default for SharedValues<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> SharedValues<T> {
    /// Returns the stored value that matches, or else creates one, which replaces the oldest.
    pub(super) fn find_or(&mut self, same: impl Fn(&T) -> bool, new: impl FnOnce() -> T) -> Arc<T> {
        if let Some(known) = self.0.iter().rev().find(|known| same(known)) {
            return Arc::clone(known);
        }
        let new = Arc::new(new());
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back(Arc::clone(&new));
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_met_last_is_kept_once() {
        let mut shared = SharedValues::default();
        let mut find = |n: usize| shared.find_or(|known| *known == n, || n);
        let first = find(0);
        assert!(Arc::ptr_eq(&first, &find(0)));
        for n in 1..MOST {
            assert_eq!(*find(n), n);
        }
        assert!(Arc::ptr_eq(&first, &find(0)));
        assert_eq!(*find(MOST), MOST);
        // The oldest value was dropped.
        let again = find(0);
        assert_eq!(*again, 0);
        assert!(!Arc::ptr_eq(&first, &again));
    }
}
