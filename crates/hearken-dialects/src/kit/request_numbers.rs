//! The numbers of a dialect's own requests.
//!
//! Responsibilities: numbers that no answer from the person can have. Not here: the ids inside frames (each dialect).

/// The first of a dialect's own numbers. The app counts the person's answers from 1, and nobody gives this many.
const FIRST: u64 = 1 << 32;

/// A source of numbers for a dialect's own requests, each used once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestNumbers {
    next: u64,
}

impl Default for RequestNumbers {
    fn default() -> Self {
        Self { next: FIRST }
    }
}

impl RequestNumbers {
    /// Returns the numbers for a machine that replaces another one, whose own requests may still be reported on.
    pub fn of_another() -> Self {
        Self { next: FIRST << 1 }
    }

    /// Returns the next number.
    pub fn fresh(&mut self) -> u64 {
        let number = self.next;
        self.next = self.next.wrapping_add(1).max(FIRST);
        number
    }

    /// Returns whether a number is a dialect's own; otherwise it belongs to an answer from the person.
    pub fn is_own(number: u64) -> bool {
        number >= FIRST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_is_given_twice_and_none_is_an_answers() {
        let mut numbers = RequestNumbers::default();
        let first = numbers.fresh();
        assert_ne!(first, numbers.fresh());
        assert!(RequestNumbers::is_own(first));
        assert!(!RequestNumbers::is_own(1) && !RequestNumbers::is_own(u64::from(u32::MAX)));
        let mut last = RequestNumbers { next: u64::MAX };
        last.fresh();
        assert!(RequestNumbers::is_own(last.fresh()));
    }
}
