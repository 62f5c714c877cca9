//! Prompts, stops and settings: what watchers ask of an agent, apart from answers.
//!
//! Responsibilities: which source an agent belongs to, and whether it can do what is asked. Not here: two-step
//! confirmation, which is up to the watcher.

use crate::dialect::fleet::{Request, RequestContent, RequestFault, RequestOutcome};
use crate::dialect::{Connection, Cx, PersonRequest};
use crate::link::{LinkId, Receipt};
use crate::protocol::{AgentId, Now};

use super::Bridge;

impl Bridge {
    /// Handles a watcher's request.
    pub(super) fn request(&mut self, number: u64, request: Request, now: Now) {
        let (agent, wish) = match request.content {
            RequestContent::Reply { reply, digest } => {
                return self.reply(number, &reply, digest, now);
            }
            RequestContent::Prompt { agent, text } => (agent, PersonRequest::Prompt(text)),
            RequestContent::Stop { agent } => (agent, PersonRequest::Stop),
            RequestContent::Set {
                agent,
                setting: what,
            } => (agent, PersonRequest::Set(what)),
        };
        let outcome = match self.addressee(agent.as_ref(), &wish) {
            Ok(link) => {
                self.want(link, agent, wish, now);
                // The agent's events show what it makes of this.
                RequestOutcome::Taken(Receipt::Written)
            }
            Err(reason) => RequestOutcome::NotTaken(reason),
        };
        self.outcome(Some(number), outcome);
    }

    /// Returns the source to which a request goes: the one that the agent was last heard on, or else the only one that
    /// can do it.
    fn addressee(
        &self,
        agent: Option<&AgentId>,
        wish: &PersonRequest,
    ) -> Result<LinkId, RequestFault> {
        let heard = self.sessions.iter().filter(|session| {
            agent.is_some_and(|agent| session.key.agent == *agent)
                && self.connection(session.key.link).is_some()
        });
        let heard = heard.max_by_key(|session| session.last_event);
        match (agent, heard.map(|session| session.key.link)) {
            (_, Some(link)) => {
                match self
                    .connection(link)
                    .map(|connection| fits(&connection, wish))
                {
                    Some(Ok(())) => Ok(link),
                    Some(Err(reason)) => Err(reason),
                    None => Err(RequestFault::Lost),
                }
            }
            (Some(_), None) => Err(RequestFault::WhichAgent),
            (None, None) => {
                let able = |link: &LinkId| {
                    let connection = self.connection(*link);
                    connection.is_some_and(|connection| fits(&connection, wish).is_ok())
                };
                let able: Vec<LinkId> = (0..self.links.len()).map(LinkId).filter(able).collect();
                match (able.as_slice(), wish) {
                    ([link], _) => Ok(*link),
                    ([], PersonRequest::Stop) => Err(RequestFault::NothingUnderWay),
                    ([], _) => Err(RequestFault::NoPrompts),
                    _ => Err(RequestFault::WhichAgent),
                }
            }
        }
    }

    fn connection(&self, link: LinkId) -> Option<Connection> {
        let link = self.links.get(link.0).filter(|link| !link.is_over())?;
        Some(link.connection())
    }

    fn want(&mut self, id: LinkId, agent: Option<AgentId>, wish: PersonRequest, now: Now) {
        let Some(link) = self.links.get_mut(id.0) else {
            return;
        };
        let wish = match agent.filter(|_| link.connection().converses) {
            Some(agent) => PersonRequest::ForAgent(agent, Box::new(wish)),
            None => wish,
        };
        let mut out = Vec::new();
        link.machine
            .on_person_request(&wish, &mut Cx::new(now, &mut out));
        self.carry_out(id, out, now);
    }
}

/// Returns whether a source can do what is asked of it.
fn fits(connection: &Connection, wish: &PersonRequest) -> Result<(), RequestFault> {
    match wish {
        PersonRequest::Stop if connection.only_heard || connection.never_stops => {
            Err(RequestFault::NeverStops)
        }
        PersonRequest::Stop if !connection.in_turn => Err(RequestFault::NothingUnderWay),
        PersonRequest::Stop => Ok(()),
        _ if connection.takes_prompts => Ok(()),
        _ => Err(RequestFault::NoPrompts),
    }
}
