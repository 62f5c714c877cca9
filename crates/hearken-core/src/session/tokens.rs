//! The reply tokens that a link has seen, what they were for, and which were answered here (6.2).
//!
//! Responsibilities: remembering tokens as digests far beyond the questions themselves, distinguishing a repeated
//! question from one that carries another question's token, making a question wait for the other one with the same
//! token. Not here: how a question is opened (`question_events`), what is announced about it (`announce`).
//!
//! # Mental model
//! A token belongs to one question and accepts one answer. It is scoped to the whole link, because the receiver
//! of an answer goes by the token alone. A token is reused when another agent, session or action carries it, or
//! when it was already answered here. While the earlier question is open, the later one can't be answered;
//! after that it can, and every answer to it takes two steps.
//!
//! # Worked example
//! Agent A asks to save a file under `t`. Agent B asks to wipe a disk under `t`: the question is asked, but can't be
//! answered. A's question is rejected and closes: B's can be answered now, in two steps. A server that repeats the very
//! same unanswered question reuses nothing.

use std::fmt::Write;

use ring::digest::{Context as Hasher, SHA256};

use crate::protocol::{Now, ReplyToken, Urgency};

use super::change::{Change, ChangeKind};
use super::key::{QuestionId, SessionKey};
use super::question::Question;
use super::question_body::QuestionBody;
use super::sessions::Sessions;
use super::token_memory::{Digest, TokenUse, shortened};

/// What a question's token shows about the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenClaim {
    /// It is a new question, or an unanswered one that is repeated.
    Use(TokenUse),
    /// It is this open question, repeated.
    Repeats(QuestionId),
    /// It is this open question, but it has changed.
    Changes(QuestionId),
}

impl Sessions {
    /// Looks up what a question's token was used for on its link, and remembers this use.
    pub(super) fn claim_token(&mut self, key: &SessionKey, body: &QuestionBody) -> TokenClaim {
        let Some(token) = body.token() else {
            return TokenClaim::Use(TokenUse::Own);
        };
        let holders = || {
            let of_token = self.questions.of_token(key.link, token);
            of_token.filter(|question| question.is_open())
        };
        let same = |question: &&Question| question.key == *key && question.body.is_same(body);
        if let Some(repeated) = holders().find(same) {
            return TokenClaim::Repeats(repeated.id);
        }
        // A session that asks again under its own token has changed its question.
        let own = |question: &&Question| {
            question.key == *key
                && question.token_use == TokenUse::Own
                && question.answer().is_none()
                && question.body.is_changed(body)
        };
        let changed = holders().find(own).map(|question| question.id);
        let first = holders().map(|question| question.id).next();
        let (token, about) = (digest_of(token), digest_about(key, body));
        let tokens = self.tokens.entry(key.link).or_default();
        let used = tokens.note_asked(token, about);
        if let Some(changed) = changed {
            return TokenClaim::Changes(changed);
        }
        TokenClaim::Use(match first {
            Some(with) => TokenUse::Shared { with },
            None if used => TokenUse::UsedBefore,
            None => TokenUse::Own,
        })
    }

    /// Remembers that an answer was sent under a question's token.
    pub(super) fn use_token(&mut self, id: QuestionId) {
        if let Some(question) = self.questions.get(id)
            && let Some(token) = question.body.token()
        {
            let tokens = self.tokens.entry(question.key.link).or_default();
            tokens.note_answered(digest_of(token));
        }
    }

    /// Passes the token of a question that is over to the next one that waits for it.
    pub(super) fn pass_token_on(&mut self, from: QuestionId) {
        let shared = TokenUse::Shared { with: from };
        let Some(question) = self.questions.get(from) else {
            return;
        };
        let Some(token) = question.body.token() else {
            return;
        };
        let wait = self.questions.of_token(question.key.link, token);
        let wait = wait.filter(|question| question.token_use == shared);
        let wait: Vec<QuestionId> = wait.map(|question| question.id).collect();
        let next = wait.first().copied();
        for id in wait {
            let use_of_it = match next.filter(|next| *next != id) {
                None => TokenUse::UsedBefore,
                Some(with) => TokenUse::Shared { with },
            };
            self.questions
                .change(id, |question| question.token_use = use_of_it);
        }
        self.freed.extend(next);
    }

    /// Reports the questions whose token is now free for them.
    pub(super) fn tell_freed(&mut self, now: Now, changes: &mut Vec<Change>) {
        if self.freed.is_empty() {
            return;
        }
        let freed = std::mem::take(&mut self.freed).into_iter();
        let freed = freed
            .filter_map(|id| self.raised(id))
            .filter(|question| question.is_answerable())
            .map(|question| Change {
                urgency: Urgency::Critical,
                ..self.bare_change(question, now, ChangeKind::QuestionFreed(question.id))
            });
        changes.extend(freed);
    }
}

fn digest_of(token: &ReplyToken) -> Digest {
    let mut hasher = Hasher::new(&SHA256);
    hasher.update(token.reveal().as_bytes());
    shortened(hasher)
}

/// Returns a digest of the asker and the question: it stays the same for a repeated question.
fn digest_about(key: &SessionKey, body: &QuestionBody) -> Digest {
    struct DigestWriter(Hasher);
    impl Write for DigestWriter {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0.update(text.as_bytes());
            Ok(())
        }
    }
    let mut feed = DigestWriter(Hasher::new(&SHA256));
    // Writing into a hash can't fail; the `Debug` form separates the parts.
    let _ = write!(feed, "{:?} {:?} {:?}", key.agent, key.session, body.about());
    shortened(feed.0)
}
