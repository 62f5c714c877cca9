//! What a dialect says about the connection to the other side.

use crate::fleet::Census;
use crate::link::Phrase;
use crate::protocol::AgentId;

/// The state of the connection to the other side.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Connection {
    /// How it connected, as a phrase key; `None` while unknown.
    pub method: Option<&'static str>,
    /// Where the terms differ from the person's wishes, one phrase each.
    pub terms: Vec<Phrase>,
    /// What else is known about it, one phrase each, for a person who asks.
    pub facts: Vec<Phrase>,
    /// Whether a healthy one may stay silent until its first event.
    pub may_answer_late: bool,
    /// Whether it was asked to omit some events, so that a gap is not its fault.
    pub leaves_out: bool,
    /// Whether it accepts prompts and can be stopped.
    pub takes_prompts: bool,
    /// Whether each agent behind it is a separate conversation, so that a request needs an addressee.
    pub converses: bool,
    /// Whether work is under way that can be stopped, or a prompt was sent that no work has answered yet.
    pub in_turn: bool,
    /// Whether work under way was asked to stop, and has not stopped.
    pub is_stopping: bool,
    /// Whether it accepts prompts but can't be stopped, because its protocol has no way to.
    pub never_stops: bool,
    /// Whether stopping its work only leaves it, because its protocol has no way to stop it.
    pub is_only_left: bool,
    /// Whether its agents can be heard and answered, but neither prompted nor stopped, because their protocol has no
    /// way to.
    pub only_heard: bool,
    /// Whether it can report selected agents in full, and of all others only what matters ([`super::Dialect::select`]).
    pub selects: bool,
    /// What happens to its questions when the person leaves it.
    pub when_left: LeaveOutcome,
    /// Whether each piece of its work has a connection of its own, made on demand. Having no connection in between is
    /// normal, and its questions stay open.
    pub rests: bool,
    /// Whether it was started and is not yet ready for prompts.
    pub gets_ready: bool,
    /// Whether the conversation so far can't be taken up again once the agent's program ends.
    pub loses_conversation: bool,
    /// The machine on which its agents run, if it is a bridge that names it.
    pub host: Option<String>,
}

/// A machine of a source that has several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteMachine {
    /// Its name.
    pub name: String,
    /// What its agents do, as it counts them; `None` if it has not said so.
    pub census: Option<Census>,
    /// Whether it was there and is away.
    pub is_away: bool,
}

/// What happens to an open question when the person leaves its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum LeaveOutcome {
    /// Its agent goes on without an answer.
    #[default]
    Default,
    /// It is cancelled, and its agent ends.
    Cancelled,
    /// It stays open: the agent asks it in its own program, too.
    Open,
    /// It stays open where it was asked, and is asked nowhere else.
    Kept,
}

/// An agent that accepts prompts, whether or not it was ever heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptableAgent {
    /// The id under which it is heard.
    pub id: AgentId,
    /// Its name for a person.
    pub name: String,
}

/// A command that an agent accepts instead of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OfferedCommand {
    /// Its name, without the leading slash.
    pub name: String,
    /// What it does, in the agent's words.
    pub description: String,
    /// The agent's description of its argument; empty if it has none.
    pub argument: String,
}
