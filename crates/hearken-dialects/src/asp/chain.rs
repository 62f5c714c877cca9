//! The chain of a session's messages: their order, and whether each names its predecessor.
//!
//! Responsibilities: repeated messages, each sender's numbers, and the linkage of the hashes. Not here: the hashes
//! themselves. No hash is computed and no signature is verified: an intact chain shows only that each message names the
//! one before it.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::message::AspMessage;

/// How many messages are remembered to detect repeats: a server resends only recent ones after a lost connection.
const MOST_REMEMBERED: usize = 512;
/// How many senders of a session are tracked: a session has two, plus watchers.
const MOST_SENDERS: usize = 16;

/// A fault in a message's position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChainFault {
    /// It does not name the hash of the previous message.
    Link,
    /// Numbers of its sender are missing.
    Gap,
    /// Its number is not higher than its sender's previous one.
    Back,
    /// Another message has used its id.
    Reused,
}

/// Whether a message is new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageNovelty {
    /// It is a repeat, identical in everything that is read of it.
    Again,
    /// It is new, with these faults in its position.
    New(Vec<ChainFault>),
}

/// A message remembered by digests: a stranger's names can be long, and there are many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RememberedMessage {
    id: u64,
    /// The digest of everything read: a true repeat is identical; anything else is new.
    digest: u64,
}

/// The chain of one session.
#[derive(Debug, Clone, Default)]
pub struct Chain {
    seen: VecDeque<RememberedMessage>,
    last: Option<String>,
    numbers: BTreeMap<String, u64>,
}

impl Chain {
    /// Checks the position of the next message.
    pub fn place(&mut self, message: &AspMessage) -> MessageNovelty {
        let mut breaks = Vec::new();
        if let Some(id) = &message.id {
            let this = RememberedMessage {
                id: digest(id),
                // The time stamp is left out: a sender may stamp a repeat anew.
                digest: digest(&AspMessage {
                    stamp: None,
                    ..message.clone()
                }),
            };
            if self.seen.contains(&this) {
                return MessageNovelty::Again;
            }
            if self.seen.iter().any(|seen| seen.id == this.id) {
                breaks.push(ChainFault::Reused);
            }
            if self.seen.len() >= MOST_REMEMBERED {
                self.seen.pop_front();
            }
            self.seen.push_back(this);
        }
        if let Some(number) = message.sequence {
            let before = self.numbers.get(&message.sender).copied();
            match before {
                Some(before) if number <= before => breaks.push(ChainFault::Back),
                Some(before) if number > before + 1 => breaks.push(ChainFault::Gap),
                Some(_) | None => {}
            }
            let has_room = before.is_some() || self.numbers.len() < MOST_SENDERS;
            if has_room && before.is_none_or(|before| number > before) {
                self.numbers.insert(message.sender.clone(), number);
            }
        }
        // A link is judged only if both ends are known: we may have joined in the middle.
        if let (Some(last), Some(previous)) = (&self.last, &message.integrity.previous)
            && last != previous
        {
            breaks.push(ChainFault::Link);
        }
        self.last.clone_from(&message.integrity.hash);
        MessageNovelty::New(breaks)
    }

    /// Returns the number for a sender's next message.
    pub fn next_number(&self, sender: &str) -> u64 {
        self.numbers
            .get(sender)
            .map_or(0, |last| last.saturating_add(1))
    }

    /// Returns the hash of the last message.
    pub fn last(&self) -> Option<&str> {
        self.last.as_deref()
    }
}

fn digest(what: &impl Hash) -> u64 {
    let mut digest = DefaultHasher::new();
    what.hash(&mut digest);
    digest.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(id: &str, sender: &str, number: u64, previous: &str) -> AspMessage {
        let value = json!({
            "performative": "INFORM", "sender": sender, "messageId": id, "sequenceNumber": number,
            "integrity": {"hash": format!("h-{id}"), "previousHash": previous},
        });
        AspMessage::read(value.as_object().unwrap()).unwrap()
    }

    #[test]
    fn each_message_names_the_one_before_it() {
        let mut chain = Chain::default();
        assert_eq!(
            chain.place(&message("1", "a", 0, "unknown")),
            MessageNovelty::New(vec![])
        );
        assert_eq!(
            chain.place(&message("2", "b", 0, "h-1")),
            MessageNovelty::New(vec![])
        );
        assert_eq!(
            chain.place(&message("3", "a", 1, "h-1")),
            MessageNovelty::New(vec![ChainFault::Link])
        );
        assert_eq!(
            chain.place(&message("4", "a", 2, "h-3")),
            MessageNovelty::New(vec![])
        );
        assert_eq!(chain.last(), Some("h-4"));
    }

    #[test]
    fn numbers_count_for_each_sender() {
        let mut chain = Chain::default();
        chain.place(&message("1", "a", 4, ""));
        assert_eq!(
            chain.place(&message("2", "b", 9, "h-1")),
            MessageNovelty::New(vec![])
        );
        assert_eq!(
            chain.place(&message("3", "a", 7, "h-2")),
            MessageNovelty::New(vec![ChainFault::Gap])
        );
        assert_eq!(
            chain.place(&message("4", "a", 7, "h-3")),
            MessageNovelty::New(vec![ChainFault::Back])
        );
    }

    #[test]
    fn what_comes_again_is_known_and_an_id_of_another_message_is_told() {
        let mut chain = Chain::default();
        chain.place(&message("1", "a", 0, ""));
        assert_eq!(
            chain.place(&message("1", "a", 0, "")),
            MessageNovelty::Again
        );
        assert_eq!(
            chain.place(&message("1", "b", 0, "h-1")),
            MessageNovelty::New(vec![ChainFault::Reused])
        );
        // Without a hash, a message is identified by its content.
        let says = |reason: &str| {
            let value = json!({"performative": "ESCALATE", "sender": "a", "messageId": "9", "content": {"reason": reason}});
            AspMessage::read(value.as_object().unwrap()).unwrap()
        };
        chain.place(&says("buy 1"));
        assert_eq!(chain.place(&says("buy 1")), MessageNovelty::Again);
        let stamped = AspMessage {
            stamp: Some(jiff::Timestamp::UNIX_EPOCH),
            ..says("buy 1")
        };
        assert_eq!(chain.place(&stamped), MessageNovelty::Again);
        assert_eq!(
            chain.place(&says("buy 1000")),
            MessageNovelty::New(vec![ChainFault::Reused])
        );
        for at in 0..MOST_REMEMBERED {
            chain.place(&message(&format!("m{at}"), "c", at as u64, ""));
        }
        assert_eq!(chain.seen.len(), MOST_REMEMBERED);
        for at in 0..40 {
            chain.place(&message(&format!("s{at}"), &format!("s{at}"), 0, ""));
        }
        assert_eq!(chain.numbers.len(), MOST_SENDERS);
    }
}
