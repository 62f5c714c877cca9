//! The person's place among the choices of a question.

use std::collections::BTreeSet;

use crate::session::QuestionId;

/// The person's place among the choices of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::app) struct Choices {
    question: QuestionId,
    /// The number of a choice as typed so far; 0 for none.
    typed: usize,
    focus: Option<usize>,
    picked: BTreeSet<usize>,
}

/// The choices that the person has taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::app) enum Taken {
    /// Nothing was typed, picked or moved to.
    Nothing,
    /// The one with this number, from 1.
    One(usize),
    /// All of these, from 0.
    Picked(BTreeSet<usize>),
}

impl Choices {
    /// Opens the choices of a question.
    pub(in crate::app) fn new(question: QuestionId) -> Self {
        Self {
            question,
            typed: 0,
            focus: None,
            picked: BTreeSet::new(),
        }
    }

    /// Returns the question.
    pub(in crate::app) fn question(&self) -> QuestionId {
        self.question
    }

    /// Returns the number of a choice as typed so far; 0 for none.
    pub(in crate::app) fn typed(&self) -> usize {
        self.typed
    }

    /// Returns the choice in focus, from 0.
    pub(in crate::app) fn focus(&self) -> Option<usize> {
        self.focus
    }

    /// Returns whether a choice is picked.
    pub(in crate::app) fn is_picked(&self, at: usize) -> bool {
        self.picked.contains(&at)
    }

    /// Adds a digit, and returns the number of the choice if that completes it: with `count` choices, no longer number
    /// is possible.
    pub(in crate::app) fn digit(&mut self, digit: usize, count: usize) -> Option<usize> {
        let number = self.typed * 10 + digit;
        if number * 10 > count {
            return Some(number);
        }
        self.typed = number;
        None
    }

    /// Moves the focus to a choice and drops a half-typed number, which does not refer to the new focus.
    pub(in crate::app) fn go_to(&mut self, at: usize) {
        self.typed = 0;
        self.focus = Some(at);
    }

    /// Picks a choice, or removes the pick.
    pub(in crate::app) fn pick(&mut self, at: usize) {
        if !self.picked.remove(&at) {
            self.picked.insert(at);
        }
    }

    /// Returns the typed number, or else the picked choices, or else the one in focus. All of it stays until
    /// the person leaves the choices: if the answer is refused now, the next key may send it, and must send the
    /// same.
    pub(in crate::app) fn taken(&self) -> Taken {
        match (self.typed, self.focus) {
            (0, _) if !self.picked.is_empty() => Taken::Picked(self.picked.clone()),
            (0, Some(at)) => Taken::One(at + 1),
            (0, None) => Taken::Nothing,
            (typed, _) => Taken::One(typed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_complete_when_no_longer_one_could_be_meant() {
        let mut choices = Choices::new(QuestionId(1));
        assert_eq!(choices.digit(4, 9), Some(4));
        assert_eq!(choices.digit(1, 12), None);
        assert_eq!(choices.typed(), 1);
        assert_eq!(choices.digit(2, 12), Some(12));
    }

    #[test]
    fn what_is_typed_goes_before_what_is_picked_and_that_before_the_focus() {
        let mut choices = Choices::new(QuestionId(1));
        assert_eq!(choices.taken(), Taken::Nothing);
        choices.go_to(2);
        assert_eq!(choices.taken(), Taken::One(3));
        choices.pick(0);
        choices.pick(1);
        choices.pick(0);
        assert_eq!(choices.taken(), Taken::Picked(BTreeSet::from([1])));
        assert_eq!(choices.taken(), Taken::Picked(BTreeSet::from([1])));
        assert_eq!(choices.digit(1, 12), None);
        assert_eq!(choices.taken(), Taken::One(1));
        choices.pick(1);
        choices.go_to(4);
        assert_eq!(choices.taken(), Taken::One(5), "the number was let go");
    }
}
