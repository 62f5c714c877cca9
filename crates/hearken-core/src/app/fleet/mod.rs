//! Many agents at once: which ones the person follows in full, and counts by state.
//!
//! Responsibilities: when most agents are received only in part, and which ones in full. Not here: how a source
//! leaves out the rest (its dialect), what is announced (`announce`), going to a conversation (`prompts`).
//!
//! # Mental model
//! A person follows a handful of agents, but is asked by all of them. While many work, sources that can do so
//! are asked to send everything from the agents that the person went to or prompted, and only questions,
//! dangers, starts and ends from all others. Other news from these goes only to the history, and the line
//! `fleet` counts them.
//!
//! The folder: `agent_counts` (counts by state, in words).

mod agent_counts;

use std::collections::VecDeque;

use crate::announce::{AnnouncementKind, Arg, Class};
use crate::dialect::PersonRequest;
use crate::link::LinkId;
use crate::protocol::AgentId;

use super::{AppCx, AppFact, AppFacts, Conversation, LinkView, Links};

/// Above this number of running sessions, most agents are received in part.
const MANY: usize = 20;
/// At this number of running sessions, all are received in full again: well below [`MANY`], so that it does not
/// switch back and forth.
const FEW: usize = 15;
/// How many agents are followed in full while many work: the ones that the person went to last.
const MOST_FOLLOWED: usize = 8;

/// The agents that the person follows.
#[derive(Debug, Default)]
pub(super) struct Fleet {
    /// Whether most agents are received in part.
    is_many: bool,
    /// The agents that the person went to or prompted, the latest at the end.
    followed: VecDeque<(LinkId, AgentId)>,
}

impl Fleet {
    /// Notes that the person went to a conversation.
    pub(super) fn go_to(
        &mut self,
        conversation: &Conversation,
        links: &Links,
        cx: &mut AppCx,
    ) -> AppFacts {
        match &conversation.agent {
            Some(agent) => self.follow(conversation.link, agent, links, cx),
            None => Vec::new(),
        }
    }

    /// Notes a request to an agent: a prompted agent is followed.
    pub(super) fn wanted(
        &mut self,
        link: LinkId,
        wish: &PersonRequest,
        links: &Links,
        cx: &mut AppCx,
    ) -> AppFacts {
        match wish {
            PersonRequest::ForAgent(agent, wish) if matches!(**wish, PersonRequest::Prompt(_)) => {
                self.follow(link, agent, links, cx)
            }
            _ => Vec::new(),
        }
    }

    fn follow(&mut self, link: LinkId, agent: &AgentId, links: &Links, cx: &mut AppCx) -> AppFacts {
        let one = (link, agent.clone());
        let was_followed = self.followed.contains(&one);
        self.followed.retain(|followed| *followed != one);
        self.followed.push_back(one);
        let left = match self.followed.len() > MOST_FOLLOWED {
            true => self.followed.pop_front().map(|(link, _)| link),
            false => None,
        };
        if !self.is_many || was_followed {
            return Vec::new();
        }
        let changed = links.iter().filter(|view| selects(view));
        let changed = changed.filter(|view| view.id == link || Some(view.id) == left);
        changed.map(|view| self.select(view.id, cx)).collect()
    }

    /// Notes how many sessions run.
    pub(super) fn count(&mut self, links: &Links, cx: &mut AppCx) -> AppFacts {
        let running = cx.sessions.running();
        let is_many = match self.is_many {
            true => running > FEW,
            false => running > MANY,
        };
        if is_many == self.is_many || !links.iter().any(selects) {
            return Vec::new();
        }
        self.is_many = is_many;
        let args = [("n", Arg::own(running))];
        let key = match is_many {
            true => cx.face.pick("fleet.many.keys", "fleet.many.lines"),
            false => "fleet.few",
        };
        cx.say(Class::Outcome, AnnouncementKind::Hint, key, &args);
        let selecting = links.iter().filter(|view| selects(view));
        selecting.map(|view| self.select(view.id, cx)).collect()
    }

    /// Selects the followed agents of a source, or all.
    fn select(&self, link: LinkId, cx: &mut AppCx) -> AppFact {
        let of_link = self.followed.iter().filter(|(one, _)| *one == link);
        let agents: Vec<AgentId> = of_link.map(|(_, agent)| agent.clone()).collect();
        let agents = self.is_many.then_some(agents);
        cx.announcer.select(link, agents.clone());
        AppFact::Selected(link, agents)
    }
}

fn selects(view: &LinkView) -> bool {
    !view.is_over() && view.connection().selects
}
