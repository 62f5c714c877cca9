//! Whose state is whose: sessions and questions by their names.

use std::sync::Arc;

use crate::link::LinkId;
use crate::protocol::{AgentId, SessionId};

/// Names a session: two agents under one session id have each their own state (A.9, pattern 1), and
/// the same ids from another link are somebody else's.
#[allow(
    clippy::derived_hash_with_manual_eq,
    reason = "what is equal here is equal there"
)]
#[derive(Debug, Clone, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey {
    /// The source it came from.
    pub link: LinkId,
    /// The agent that emits it.
    pub agent: AgentId,
    /// The producer's name for it.
    pub session: SessionId,
}

impl PartialEq for SessionKey {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        // Nearly always both are shared with the session that is meant, which is seen at a glance.
        let is_one = Arc::ptr_eq(&self.session.0, &other.session.0)
            && Arc::ptr_eq(&self.agent.0, &other.agent.0);
        self.link == other.link && (is_one || self.says_the_same(other))
    }
}

impl SessionKey {
    #[inline(never)]
    fn says_the_same(&self, other: &Self) -> bool {
        self.session == other.session && self.agent == other.agent
    }
}

/// Numbers a question within this run, from 1; never reused, so that "question 2" stays itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PromptId(pub u64);
