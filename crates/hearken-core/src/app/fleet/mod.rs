//! Many agents at once: whom the person follows in full, and how many do what.
//!
//! Responsibilities: when only what matters is received of most agents, and of which everything is. Not here: how a
//! source leaves out the rest (its dialect), what is announced of it (`announce`), going to a conversation (`prompts`).
//!
//! # Mental model
//! A person follows a handful of agents, but is asked by all of them. While many work, sources that can are asked to
//! send everything of the agents that the person went to or prompted, and of all others only questions, dangers, starts
//! and ends. Of these others the history keeps what is not urgent, and `fleet` counts them.
//!
//! The folder: `counting` (how many do what, in words).

mod counting;

use std::collections::VecDeque;

use crate::announce::{Arg, Class, Kind};
use crate::dialect::Wish;
use crate::link::LinkId;
use crate::protocol::AgentId;

use super::{AppCx, AppFact, AppFacts, Conversation, LinkView, Links};

/// Above this number of running sessions, most agents are received in part.
const MANY: usize = 20;
/// At this number of running sessions, all are received in full again: well below, so that it does not change to and
/// fro.
const FEW: usize = 15;
/// How many agents are followed in full while many work: the last ones that the person went to.
const MOST_FOLLOWED: usize = 8;

/// Whom the person follows.
#[derive(Debug, Default)]
pub(super) struct Fleet {
    /// Whether most agents are received in part.
    is_many: bool,
    /// The agents that the person went to or prompted, the last one at the end.
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

    /// Notes what the person wants of an agent: whoever is prompted is followed.
    pub(super) fn wanted(
        &mut self,
        link: LinkId,
        wish: &Wish,
        links: &Links,
        cx: &mut AppCx,
    ) -> AppFacts {
        match wish {
            Wish::Of(agent, wish) if matches!(**wish, Wish::Prompt(_)) => {
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
        cx.say(Class::Outcome, Kind::Hint, key, &args);
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
