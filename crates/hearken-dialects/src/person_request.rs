//! What the person wants of an agent, apart from answering it.

use crate::config::{Load, Verbosity};
use crate::protocol::AgentId;

/// What the person wants of an agent, apart from answering it.
#[derive(Debug, Clone, PartialEq)]
pub enum PersonRequest {
    /// Report on other terms.
    Terms(Terms),
    /// Do this, in the person's words.
    Prompt(String),
    /// Stop the work under way.
    Stop,
    /// Go on without the work under way, which was asked to stop and did not: it is over here, whatever its agent does.
    Abandon,
    /// Change a setting: the name that the person used, if they named one.
    Set(Option<String>),
    /// Address a request to one of several agents behind the source.
    ForAgent(AgentId, Box<PersonRequest>),
}

/// How the person wants to hear an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// How long each announcement is.
    pub verbosity: Verbosity,
    /// How much is announced.
    pub load: Load,
    /// The languages, best first.
    pub languages: Vec<String>,
    /// The current speech rate, -100 to 100, if the person has set one.
    pub rate: Option<i32>,
}
