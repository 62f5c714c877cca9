//! What is kept of a thread's reviews, within bounds.
//!
//! Responsibilities: which calls are judged now, which were refused, warnings that may repeat a refusal, and the
//! refusals that the person is asked about. Not here: what reviews say (`review`), what follows from them
//! (`review_outcomes`).

use std::collections::VecDeque;

use serde_json::Value;

use crate::kit::standalone_question::SideQuestion;

/// How many reviews are followed at once, and how many refused calls are remembered.
const MOST_REVIEWS: usize = 64;
/// How many warnings wait for the end of a review.
const MOST_WARNINGS: usize = 8;
/// How many refusals the person is asked about at once.
const MOST_OVERRULINGS: usize = 8;

/// A question about trying a refused action all the same.
#[derive(Debug)]
pub struct Overruling {
    /// The server's id of the review.
    pub review: String,
    pub question: SideQuestion,
    /// The action, if the same words mean the same action.
    pub action: Option<String>,
    /// What Codex is told if the person allows it.
    pub refusal: Value,
}

/// The reviews of one thread.
#[derive(Debug, Default)]
pub struct Reviews {
    /// The reviews under way, by the server's ids.
    open: VecDeque<String>,
    /// The items that the reviewer refused.
    refused: VecDeque<String>,
    /// The reviewer's warnings during a review.
    warnings: Vec<String>,
    /// The questions to the person.
    pub overrulings: Vec<Overruling>,
    /// The thread's goal, and its progress.
    pub goal: Option<(String, String)>,
}

impl Reviews {
    /// Notes that a review is under way.
    pub fn begin(&mut self, review: &str) {
        if !self.open.iter().any(|open| open == review) {
            self.open.push_back(review.to_owned());
        }
        if self.open.len() > MOST_REVIEWS {
            self.open.pop_front();
        }
    }

    /// Notes that a review is over, and returns the warnings that say more than its reason.
    pub fn end(&mut self, review: &str, reason: &str) -> Vec<String> {
        self.open.retain(|open| open != review);
        let mut warnings = std::mem::take(&mut self.warnings);
        warnings.retain(|warning| reason.is_empty() || !warning.contains(reason));
        warnings
    }

    /// Notes that nothing more comes of the reviews, and returns the warnings that still wait.
    pub fn end_all(&mut self) -> Vec<String> {
        self.open.clear();
        std::mem::take(&mut self.warnings)
    }

    /// Keeps a warning for the end of the review under way; returns it if there is none, or no room.
    pub fn keep(&mut self, warning: String) -> Option<String> {
        if self.open.is_empty() || self.warnings.len() >= MOST_WARNINGS {
            return Some(warning);
        }
        self.warnings.push(warning);
        None
    }

    /// Notes that an item was refused.
    pub fn refuse(&mut self, item: &str) {
        self.refused.push_back(item.to_owned());
        if self.refused.len() > MOST_REVIEWS {
            self.refused.pop_front();
        }
    }

    /// Returns whether an item was refused, which was announced then.
    pub fn has_refused(&self, item: &str) -> bool {
        self.refused.iter().any(|refused| refused == item)
    }

    /// Returns the question under this token, if it can be answered.
    pub fn asked_under(&mut self, token: &str) -> Option<&mut Overruling> {
        let mut all = self.overrulings.iter_mut();
        all.find(|one| one.question.is_open(token))
    }

    /// Removes the question about a review.
    pub fn take(&mut self, review: &str) -> Option<Overruling> {
        let at = self.overrulings.iter().position(|one| one.review == review);
        at.map(|at| self.overrulings.remove(at))
    }

    /// Removes and returns the question about the same action, if no answer to it is under way.
    pub fn take_same(&mut self, action: &str) -> Option<Overruling> {
        let is_same =
            |one: &Overruling| one.action.as_deref() == Some(action) && !one.question.is_sending();
        let at = self.overrulings.iter().position(is_same);
        at.map(|at| self.overrulings.remove(at))
    }

    /// Removes and returns the oldest question without an answer under way, if there is no room for another.
    pub fn make_room(&mut self) -> Option<Overruling> {
        if self.overrulings.len() < MOST_OVERRULINGS {
            return None;
        }
        let mut all = self.overrulings.iter();
        let at = all.position(|one| !one.question.is_sending());
        at.map(|at| self.overrulings.remove(at))
    }
}
