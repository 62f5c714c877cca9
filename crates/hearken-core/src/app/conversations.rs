//! Whom the person can talk with, each under a number that stays, and whom they are with.
//!
//! Responsibilities: the numbers and the choice. Not here: what is said of a conversation, and what goes to it
//! (`conversing`).
//!
//! Mental model: an agent that is told what to do from here is one conversation, whatever it does in it; of a source that
//! is only listened to, or behind which several can be told what to do, each agent is one. A number is given when it is first asked for, and never to another one.

use crate::link::LinkId;
use crate::protocol::AgentId;

/// How many are numbered: as many as there are sessions that are followed at once.
const MOST: usize = 256;

/// One conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Conversation {
    /// On which source.
    pub(super) link: LinkId,
    /// With which of its agents; none where the source is one agent that is told what to do.
    pub(super) agent: Option<AgentId>,
}

/// The conversations.
#[derive(Debug, Clone, Default)]
pub(super) struct Conversations {
    known: Vec<Conversation>,
    /// The place of the one that the person is with.
    chosen: Option<usize>,
}

impl Conversations {
    /// Returns the number of a conversation, from 1; none where there are too many.
    pub(super) fn number(&mut self, conversation: &Conversation) -> Option<usize> {
        let known = self.known.iter().position(|known| known == conversation);
        if let Some(at) = known {
            return Some(at + 1);
        }
        if self.known.len() == MOST {
            return None;
        }
        self.known.push(conversation.clone());
        Some(self.known.len())
    }

    /// Returns the conversation with a number.
    pub(super) fn get(&self, number: usize) -> Option<&Conversation> {
        self.known.get(number.checked_sub(1)?)
    }

    /// Returns the one that the person is with.
    pub(super) fn chosen(&self) -> Option<&Conversation> {
        self.known.get(self.chosen?)
    }

    /// Goes to the one with a number, or to none.
    pub(super) fn go_to(&mut self, number: Option<usize>) {
        self.chosen = number.and_then(|number| number.checked_sub(1));
    }

    /// Returns the number that comes next among some.
    pub(super) fn next(&self, among: &[usize]) -> Option<usize> {
        let now = self.chosen.map_or(0, |at| at + 1);
        let next = among.iter().find(|number| **number > now);
        next.or(among.first()).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_and_the_next_one_is_found_among_those_that_are_there() {
        let mut all = Conversations::default();
        let of = |link: usize| Conversation {
            link: LinkId(link),
            agent: None,
        };
        assert_eq!(all.number(&of(5)), Some(1));
        assert_eq!(all.number(&of(3)), Some(2));
        assert_eq!(all.number(&of(5)), Some(1));
        assert_eq!(all.chosen(), None);
        assert_eq!(all.next(&[1, 2]), Some(1));
        all.go_to(Some(1));
        assert_eq!(all.chosen(), Some(&of(5)));
        assert_eq!(all.next(&[1, 2]), Some(2));
        assert_eq!(all.next(&[1]), Some(1));
        assert_eq!(all.next(&[]), None);
        all.go_to(Some(9));
        assert_eq!(all.chosen(), None);
        assert_eq!((all.get(0), all.get(3)), (None, None));
        for link in 0..2 * MOST {
            let _ = all.number(&of(link));
        }
        assert_eq!(all.known.len(), MOST);
    }
}
