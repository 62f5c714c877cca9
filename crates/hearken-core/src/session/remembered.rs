//! The reply tokens that a link remembers, as digests.
//!
//! Responsibilities: whether a token was another question's, far beyond the questions themselves, within a bound. Not
//! here: which question it is and what that means (`tokens`).

use std::collections::{HashMap, VecDeque};

use ring::digest::{Context as Hasher, SHA256};

use super::key::PromptId;

/// How many tokens a link remembers that a question brought: days of an agent that asks all the time, at
/// less than half a megabyte.
const MOST_ASKED: usize = 4096;
/// How many tokens a link remembers that were answered here. Only a person's answers fill it, so that no
/// server can make it forget.
const MOST_ANSWERED: usize = 8192;

/// Identifies a token, or what a question is about, without keeping its text: 128 bits of SHA-256, which
/// nobody can make meet.
pub(super) type Digest = [u8; 16];

/// Whose a question's token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenUse {
    /// Its own.
    Own,
    /// It was another question's, or was answered here before.
    UsedBefore,
    /// It is another question's, too, which is open and has the first claim to it.
    Shared {
        /// The other question.
        with: PromptId,
    },
}

/// Remembers digests up to a bound; the oldest leaves first.
#[derive(Debug, Clone)]
struct Memory<T> {
    known: HashMap<Digest, T>,
    order: VecDeque<Digest>,
}

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Self {
            known: HashMap::new(),
            order: VecDeque::new(),
        }
    }
}

impl<T> Memory<T> {
    /// Remembers what came first under a digest.
    fn note(&mut self, digest: Digest, value: T, most: usize) {
        if self.known.contains_key(&digest) {
            return;
        }
        self.known.insert(digest, value);
        self.order.push_back(digest);
        if self.order.len() > most
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }
}

/// Remembers the tokens of one link.
#[derive(Debug, Clone, Default)]
pub(super) struct Tokens {
    /// What each was asked for first.
    asked: Memory<Digest>,
    answered: Memory<()>,
}

impl Tokens {
    /// Remembers that a question brought a token; tells whether that was another question's, or was answered here.
    pub(super) fn note_asked(&mut self, token: Digest, about: Digest) -> bool {
        let earlier = self.asked.known.get(&token);
        let elsewhere = earlier.is_some_and(|earlier| *earlier != about);
        let answered = self.answered.known.contains_key(&token);
        self.asked.note(token, about, MOST_ASKED);
        answered || elsewhere
    }

    /// Remembers that an answer goes out under a token.
    pub(super) fn note_answered(&mut self, token: Digest) {
        self.answered.note(token, (), MOST_ANSWERED);
    }
}

/// Returns the digest of a text.
pub(super) fn digest_of_text(text: &str) -> Digest {
    let mut hasher = Hasher::new(&SHA256);
    hasher.update(text.as_bytes());
    shortened(hasher)
}

/// Returns the first 128 bits of a hash.
pub(super) fn shortened(hasher: Hasher) -> Digest {
    let mut digest = Digest::default();
    for (to, from) in digest.iter_mut().zip(hasher.finish().as_ref()) {
        *to = *from;
    }
    digest
}

#[cfg(test)]
impl Tokens {
    pub(super) fn is_within_bounds(&self) -> bool {
        let asked = self.asked.known.len() == self.asked.order.len();
        asked && self.asked.known.len() <= MOST_ASKED && self.answered.known.len() <= MOST_ANSWERED
    }
}
