//! The conversations that the person can have, each with a permanent number, and the chosen one.
//!
//! Responsibilities: the numbers and the choice. Not here: describing a conversation, and what is sent to it
//! (`prompts`).
//!
//! Mental model: a source with one agent that takes prompts is one conversation, whatever the agent does in it.
//! On a source that is only listened to, or that has several such agents, each agent is one. A number is
//! assigned when an agent is first heard or the number is first needed, and is never reused for another
//! conversation.

use std::collections::BTreeMap;

use crate::link::LinkId;
use crate::protocol::AgentId;
use crate::session::SessionKey;

/// The maximum number of numbered conversations, more than there is room for sessions. Beyond it, the oldest
/// loses its number, so that each new one gets one even on a day of many short-lived agents.
const MOST: usize = 16_384;

/// One conversation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Conversation {
    /// The source.
    pub(super) link: LinkId,
    /// The agent on that source; `None` if the source is a single agent that takes prompts.
    pub(super) agent: Option<AgentId>,
}

impl Conversation {
    /// Returns whether a session belongs to it.
    pub(super) fn includes(&self, key: &SessionKey) -> bool {
        let agent = self.agent.as_ref();
        self.link == key.link && agent.is_none_or(|agent| *agent == key.agent)
    }
}

/// All numbered conversations, and the chosen one.
#[derive(Debug, Clone, Default)]
pub(super) struct Conversations {
    /// The conversations by their numbers.
    by_number: BTreeMap<usize, Conversation>,
    /// The numbers by their conversations.
    numbers: BTreeMap<Conversation, usize>,
    /// The highest number so far.
    last: usize,
    /// The number of the chosen conversation.
    chosen: Option<usize>,
}

impl Conversations {
    /// Returns the number of a conversation, from 1.
    pub(super) fn number(&mut self, conversation: &Conversation) -> usize {
        if let Some(number) = self.numbers.get(conversation) {
            return *number;
        }
        if self.by_number.len() >= MOST {
            let mut others = self.by_number.keys().copied();
            let oldest = others.find(|number| Some(*number) != self.chosen);
            if let Some(left_out) = oldest.and_then(|number| self.by_number.remove(&number)) {
                self.numbers.remove(&left_out);
            }
        }
        self.last += 1;
        self.numbers.insert(conversation.clone(), self.last);
        self.by_number.insert(self.last, conversation.clone());
        self.last
    }

    /// Returns the number of a conversation that has one.
    pub(super) fn known_number(&self, conversation: &Conversation) -> Option<usize> {
        self.numbers.get(conversation).copied()
    }

    /// Returns the conversation with a number.
    pub(super) fn get(&self, number: usize) -> Option<&Conversation> {
        self.by_number.get(&number)
    }

    /// Returns the conversation that the person is in.
    pub(super) fn chosen(&self) -> Option<&Conversation> {
        self.by_number.get(&self.chosen?)
    }

    /// Switches to the conversation with a number, or to none.
    pub(super) fn go_to(&mut self, number: Option<usize>) {
        self.chosen = number;
    }

    /// Returns the next of these numbers after the current one, or the first.
    pub(super) fn next(&self, among: &[usize]) -> Option<usize> {
        let now = self.chosen.unwrap_or(0);
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
        assert_eq!(all.number(&of(5)), 1);
        assert_eq!(all.number(&of(3)), 2);
        assert_eq!(all.number(&of(5)), 1);
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
    }

    #[test]
    fn beyond_the_most_the_oldest_number_goes_and_the_chosen_one_stays() {
        let mut all = Conversations::default();
        let of = |link: usize| Conversation {
            link: LinkId(link),
            agent: None,
        };
        assert_eq!(all.number(&of(0)), 1);
        all.go_to(Some(1));
        for link in 1..2 * MOST {
            assert_eq!(all.number(&of(link)), link + 1);
        }
        assert_eq!((all.by_number.len(), all.numbers.len()), (MOST, MOST));
        assert_eq!(
            (all.chosen(), all.known_number(&of(1))),
            (Some(&of(0)), None)
        );
        assert_eq!(all.get(2), None);
        assert_eq!(all.number(&of(1)), 2 * MOST + 1, "a number of its own");
    }
}
