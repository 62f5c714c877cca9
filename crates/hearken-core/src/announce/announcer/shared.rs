//! What many announcements have alike, kept once.
//!
//! Responsibilities: finding it among what was met last. Not here: what is shared (`publish`).

use std::collections::VecDeque;
use std::sync::Arc;

/// How many are compared with: an agent works with few tools at a time.
const MOST: usize = 8;

/// Keeps what was met last, so that what is the same as one of it is that one.
#[derive(Debug)]
pub(super) struct Shared<T>(VecDeque<Arc<T>>);

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> Shared<T> {
    /// Returns the same, or else makes it and keeps it in the place of the oldest.
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
        let mut shared = Shared::default();
        let mut find = |n: usize| shared.find_or(|known| *known == n, || n);
        let first = find(0);
        assert!(Arc::ptr_eq(&first, &find(0)));
        for n in 1..MOST {
            assert_eq!(*find(n), n);
        }
        assert!(Arc::ptr_eq(&first, &find(0)));
        assert_eq!(*find(MOST), MOST);
        // The oldest has left.
        let again = find(0);
        assert_eq!(*again, 0);
        assert!(!Arc::ptr_eq(&first, &again));
    }
}
