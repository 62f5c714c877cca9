//! One session that is followed, and what a lost connection leaves of its question.
//!
//! Responsibilities: showing a question again that still waits when the connection is back. Not here: the session itself
//! (`conversation`), which frames are whose (`translate`).

use crate::Out;
use crate::protocol::Now;

use super::conversation::Conversation;
use super::escalation::Phase;
use super::naming::Names;
use super::states::State;

/// A session, and when something of it was heard last.
#[derive(Debug)]
pub(super) struct Followed {
    pub(super) told: Conversation,
    pub(super) heard: u64,
    /// By which names it is answered.
    pub(super) names: Names,
    /// The token of a question during which the connection was lost, until it is heard that it still waits.
    lost: Option<String>,
}

impl Followed {
    /// Begins to follow a session, heard now.
    pub(super) fn new(told: Conversation, heard: u64) -> Self {
        Self {
            told,
            heard,
            names: Names::default(),
            lost: None,
        }
    }

    /// Remembers what is asked while the connection is lost.
    pub(super) fn lose(&mut self) {
        let question = self.told.question.as_ref();
        self.lost = question
            .filter(|question| question.phase == Phase::Asked)
            .map(|question| question.token.clone());
    }

    /// Shows the question again that was open when the connection was lost, where the session waits for its resolution
    /// over the next one: without that nobody could answer it.
    pub(super) fn still_waits(&mut self, now: Now, out: &mut Vec<Out>) {
        let waits = self.told.negotiation.standing().state() == State::Escalated;
        let question = self.told.question.as_ref();
        let is_it = question.is_some_and(|question| {
            question.phase == Phase::Asked && self.lost.as_ref() == Some(&question.token)
        });
        if self.lost.take().is_some() && waits && is_it {
            self.told.show(now, out);
        }
    }
}
