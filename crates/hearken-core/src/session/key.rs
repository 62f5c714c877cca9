//! The identity of sessions and questions.

use crate::link::LinkId;
use crate::protocol::{AgentId, SessionId};

/// The identity of a session: two agents under one session id each have their own state (A.9,
/// pattern 1), and the same ids from another link belong to another session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey {
    /// The source that it came from.
    pub link: LinkId,
    /// The agent that emits it.
    pub agent: AgentId,
    /// The producer's id for it.
    pub session: SessionId,
}

/// The number of a question within this run, from 1; never reused, so that "question 2" always
/// means the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionId(pub u64);
