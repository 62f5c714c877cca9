//! The reply tokens that a link remembers, as digests.
//!
//! Responsibilities: remembering whether a token belonged to another question, far beyond the life of the
//! questions themselves, within a bound. Not here: which question it was, and the consequences (`tokens`).

use std::collections::{HashMap, VecDeque};

use ring::digest::{Context as Hasher, SHA256};

use super::key::QuestionId;

/// The most tokens of questions that a link remembers: days of constant asking, in less than half a megabyte.
const MOST_ASKED: usize = 4096;
/// The most answered tokens that a link remembers. Only a person's answers fill this memory, so that no server can make
/// it forget.
const MOST_ANSWERED: usize = 8192;

/// The digest of a token, or of a question's identity, without the text: 128 bits of SHA-256, for which nobody
/// can construct a collision.
pub(super) type Digest = [u8; 16];

/// How a question's token was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenUse {
    /// It is the question's own.
    Own,
    /// It belonged to another question, or was answered here before.
    UsedBefore,
    /// It also belongs to another question, which is open and has the first claim to it.
    Shared {
        /// The other question.
        with: QuestionId,
    },
}

/// A bounded memory of digests; the oldest goes first.
#[derive(Debug, Clone)]
struct DigestMemory<T> {
    values: HashMap<Digest, T>,
    order: VecDeque<Digest>,
}

impl<T> Default for DigestMemory<T> {
    fn default() -> Self {
        Self {
            values: HashMap::new(),
            order: VecDeque::new(),
        }
    }
}

impl<T> DigestMemory<T> {
    /// Remembers the first value under a digest.
    fn note(&mut self, digest: Digest, value: T, most: usize) {
        if self.values.contains_key(&digest) {
            return;
        }
        self.values.insert(digest, value);
        self.order.push_back(digest);
        if self.order.len() > most
            && let Some(oldest) = self.order.pop_front()
        {
            self.values.remove(&oldest);
        }
    }
}

/// The remembered tokens of one link.
#[derive(Debug, Clone, Default)]
pub(super) struct Tokens {
    /// What each token was first used for.
    first_uses: DigestMemory<Digest>,
    answered: DigestMemory<()>,
}

impl Tokens {
    /// Remembers a question's token; returns whether it belonged to another question or was answered here.
    pub(super) fn note_asked(&mut self, token: Digest, about: Digest) -> bool {
        let earlier = self.first_uses.values.get(&token);
        let elsewhere = earlier.is_some_and(|earlier| *earlier != about);
        let answered = self.answered.values.contains_key(&token);
        self.first_uses.note(token, about, MOST_ASKED);
        answered || elsewhere
    }

    /// Remembers that an answer was sent under a token.
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
        let asked = self.first_uses.values.len() == self.first_uses.order.len();
        asked
            && self.first_uses.values.len() <= MOST_ASKED
            && self.answered.values.len() <= MOST_ANSWERED
    }
}
