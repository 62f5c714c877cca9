//! A dangerous act of an agent, as a bridge reports it: watchers may not receive the call that shows it.

use serde_json::{Map, Value};

use super::{LONGEST_NAME, LONGEST_SENTENCE, name};
use crate::protocol::{AgentId, EventId};

/// What an agent did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedDanger {
    /// The agent.
    pub agent: AgentId,
    /// The kind of danger.
    pub kind: DangerKind,
    /// The tool that it used.
    pub tool: String,
    /// What it ran, if that is another action than the accepted one.
    pub ran: Option<String>,
    /// The event that asked about the action, if there was a question.
    pub question: Option<EventId>,
}

/// The kinds of dangers that calls show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DangerKind {
    /// An irreversible call without a question.
    Unasked,
    /// The same, perhaps: not everything from the agent was received.
    PerhapsUnasked,
    /// A call that was rejected.
    Rejected,
    /// A call that perhaps does what was rejected.
    PerhapsRejected,
    /// A call that nobody accepted in time.
    Lapsed,
    /// A call that does something other than what was accepted.
    RanOtherwise,
    /// A call in a session that had ended.
    AfterEnd,
}

impl DangerKind {
    const ALL: [Self; 7] = [
        Self::Unasked,
        Self::PerhapsUnasked,
        Self::Rejected,
        Self::PerhapsRejected,
        Self::Lapsed,
        Self::RanOtherwise,
        Self::AfterEnd,
    ];

    /// Returns its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unasked => "unasked",
            Self::PerhapsUnasked => "perhaps_unasked",
            Self::Rejected => "rejected",
            Self::PerhapsRejected => "perhaps_rejected",
            Self::Lapsed => "lapsed",
            Self::RanOtherwise => "ran_otherwise",
            Self::AfterEnd => "after_end",
        }
    }

    /// Returns the key of the sentence about it.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Unasked => "fleet.danger.unasked",
            Self::PerhapsUnasked => "fleet.danger.perhaps_unasked",
            Self::Rejected => "fleet.danger.rejected",
            Self::PerhapsRejected => "fleet.danger.perhaps_rejected",
            Self::Lapsed => "fleet.danger.lapsed",
            Self::RanOtherwise => "fleet.danger.ran_otherwise",
            Self::AfterEnd => "fleet.danger.after_end",
        }
    }
}

impl ReportedDanger {
    pub(super) fn write(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("agent".to_owned(), self.agent.as_str().into());
        fields.insert("danger".to_owned(), self.kind.name().into());
        fields.insert("tool".to_owned(), self.tool.as_str().into());
        if let Some(ran) = &self.ran {
            fields.insert("ran".to_owned(), ran.as_str().into());
        }
        if let Some(question) = &self.question {
            fields.insert("question".to_owned(), question.as_str().into());
        }
        Value::Object(fields)
    }

    pub(super) fn read(own: &Value) -> Option<Self> {
        let text = |field: &str| own.get(field).and_then(Value::as_str);
        let kind = text("danger")?;
        Some(Self {
            agent: AgentId::from(text("agent")?),
            kind: DangerKind::ALL.into_iter().find(|one| one.name() == kind)?,
            tool: name(text("tool")?, LONGEST_NAME)?,
            ran: text("ran").and_then(|ran| name(ran, LONGEST_SENTENCE)),
            question: text("question").map(EventId::from),
        })
    }
}
