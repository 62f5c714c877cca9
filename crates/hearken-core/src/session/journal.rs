//! A count of changes, and the subjects of the last ones.
//!
//! Responsibilities: reporting the changes since an earlier count, or that there were more than are remembered.
//! Not here: the changes themselves.

use std::collections::VecDeque;

/// The number of last changes that are remembered.
const MOST: usize = 1024;

/// A record of changes, each by its subject.
#[derive(Debug, Clone)]
pub(super) struct Journal<T> {
    count: u64,
    last: VecDeque<T>,
}

impl<T> Default for Journal<T> {
    fn default() -> Self {
        Self {
            count: 0,
            last: VecDeque::new(),
        }
    }
}

impl<T: Copy> Journal<T> {
    /// Records a change.
    pub(super) fn note(&mut self, about: T) {
        self.count += 1;
        if self.last.len() == MOST {
            self.last.pop_front();
        }
        self.last.push_back(about);
    }

    /// Returns the number of changes so far.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the subjects of the changes since an earlier count; `None` if there were more than are
    /// remembered.
    pub(super) fn since(&self, count: u64) -> Option<impl Iterator<Item = T>> {
        let new = usize::try_from(self.count.checked_sub(count)?).ok()?;
        let first = self.last.len().checked_sub(new)?;
        Some(self.last.range(first..).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_since_is_given_as_far_as_it_is_remembered() {
        let mut journal = Journal::default();
        let since =
            |journal: &Journal<usize>, count| journal.since(count).map(|it| it.collect::<Vec<_>>());
        assert_eq!(since(&journal, 0), Some(Vec::new()));
        assert_eq!(since(&journal, 1), None, "that is another one's count");
        (0..3).for_each(|at| journal.note(at));
        assert_eq!(since(&journal, 1), Some(vec![1, 2]));
        (3..=MOST).for_each(|at| journal.note(at));
        assert_eq!(since(&journal, 0), None);
        assert_eq!(since(&journal, 1), Some((1..=MOST).collect()));
        assert_eq!(journal.count(), MOST as u64 + 1);
    }
}
