//! Agents that change files without ever asking.
//!
//! Responsibilities: which agents have asked for consent, and which change is the first by one that has not.
//! Not here: calls that need consent according to their agent (`session::consent`).

use std::collections::BTreeSet;

use crate::announce::findings::changes_files;
use crate::protocol::{AgentId, Attachments, ToolStatus};
use crate::session::{Change, ChangeKind, LinkId, QuestionBody, Sessions};

/// How many agents are remembered; nothing is said about further ones.
const MOST_AGENTS: usize = 4096;

/// The agents that have asked for consent, or were already reported as changing files unasked.
#[derive(Debug, Default)]
pub(super) struct AgentsThatAsked {
    all: BTreeSet<(LinkId, AgentId)>,
}

impl AgentsThatAsked {
    /// Adds an agent; returns whether it is new.
    fn add(&mut self, change: &Change) -> bool {
        let agent = (change.key.link, change.key.agent.clone());
        self.all.len() < MOST_AGENTS && self.all.insert(agent)
    }

    /// Returns whether a change is the first change to files by an agent that has never asked.
    pub(super) fn is_first_unasked(&mut self, change: &Change, sessions: &Sessions) -> bool {
        if change.replayed {
            return false;
        }
        if let ChangeKind::QuestionOpened(id) = &change.kind {
            let question = sessions.question(*id);
            let asks = question.is_some_and(|it| matches!(it.body, QuestionBody::Confirmation(_)));
            if asks {
                self.add(change);
            }
            return false;
        }
        let ChangeKind::ToolCompleted { event, .. } = &change.kind else {
            return false;
        };
        event.status == ToolStatus::Success && changes(&change.attached) && self.add(change)
    }
}

/// Returns whether a call changed files, if its translator or its command shows that.
fn changes(attached: &Attachments) -> bool {
    !attached.changes.is_empty() || attached.action_details.as_ref().is_some_and(changes_files)
}
