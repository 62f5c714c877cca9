//! Following selected agents in full, and all others only in what matters.
//!
//! Responsibilities: the subjects that are delivered, and what changes when the person selects other agents. Not here:
//! when to select (the app), what an agent wrote before it was selected (`recalled_events`).
//!
//! # Mental model
//! The lanes `ask` and `life` are delivered for all agents. `act` and `text`, which are nearly everything, are
//! delivered either for all agents as well, or only for the selected ones: the broker leaves out the rest, so that it
//! costs nothing.

use super::Nats;
use crate::fleet::{EventSubject, Space, SubjectLane};
use crate::link::{Address, Consumer, Stream as LinkStream};
use crate::protocol::AgentId;
use crate::{Cx, DialectOutput};

/// Whose text and calls are delivered.
#[derive(Debug, Default)]
pub(super) enum Selection {
    /// Everybody's.
    #[default]
    Everybody,
    /// Those of these agents.
    Only(Vec<SelectedAgent>),
}

/// A selected agent.
#[derive(Debug)]
pub(super) struct SelectedAgent {
    /// The app's name for it.
    agent: AgentId,
    subject: EventSubject,
}

impl Selection {
    /// Returns whether everything of an agent is delivered.
    pub(super) fn includes(&self, subject: &EventSubject) -> bool {
        match self {
            Self::Everybody => true,
            Self::Only(agents) => agents.iter().any(|one| one.subject.is_of_agent(subject)),
        }
    }

    fn subjects(&self, space: &Space) -> Vec<String> {
        let Self::Only(agents) = self else {
            return vec![space.events()];
        };
        let of_all = [SubjectLane::Ask, SubjectLane::Life].map(|lane| space.lane(lane));
        let of_selected = agents.iter().flat_map(|one| {
            let subject = &one.subject;
            [SubjectLane::Act, SubjectLane::Text].map(|lane| subject.all_of_agent(lane))
        });
        of_all.into_iter().chain(of_selected).collect()
    }
}

impl Nats {
    /// Asks for the events of the space, and for its machines' signs of life.
    pub(super) fn follow(&self, out: &mut Vec<DialectOutput>) {
        let consumer = Consumer {
            stream: self.space.stream(),
            durable: self.durable.clone(),
            subjects: self.selection.subjects(&self.space),
            passing: vec![self.space.alive()],
            may_be_missing: self.may_be_missing,
        };
        out.push(DialectOutput::Follow(LinkStream::at(Address::Stored(
            consumer,
        ))));
    }

    /// Selects the agents that are followed in full; `None` for all.
    pub(super) fn select_agents(&mut self, agents: Option<&[AgentId]>, cx: &mut Cx<'_>) {
        let selection = match agents {
            None => Selection::Everybody,
            Some(agents) => {
                let selected = agents.iter().filter_map(|agent| {
                    let subject = self.agents.subject(agent)?.clone();
                    Some(SelectedAgent {
                        agent: agent.clone(),
                        subject,
                    })
                });
                Selection::Only(selected.collect())
            }
        };
        let before = std::mem::replace(&mut self.selection, selection);
        if let Selection::Only(selected) = &self.selection {
            let new = selected.iter().filter(|one| !before.includes(&one.subject));
            let new: Vec<(AgentId, EventSubject)> = new
                .map(|one| (one.agent.clone(), one.subject.clone()))
                .collect();
            for (agent, subject) in new {
                self.recall(agent, subject, cx);
            }
        }
        if self.selection.subjects(&self.space) != before.subjects(&self.space) {
            self.follow(cx.out);
        }
    }
}
