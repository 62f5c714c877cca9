//! Whose state is whose: sessions and questions by their names.

use crate::link::LinkId;
use crate::protocol::{AgentId, SessionId};

/// Names a session: two agents under one session id have each their own state (A.9, pattern 1), and
/// the same ids from another link are somebody else's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey {
    /// The source it came from.
    pub link: LinkId,
    /// The agent that emits it.
    pub agent: AgentId,
    /// The producer's name for it.
    pub session: SessionId,
}

/// Numbers a question within this run, from 1; never reused, so that "question 2" stays itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PromptId(pub u64);
