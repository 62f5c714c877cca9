//! Prompts, and leaving their answers.
//!
//! Responsibilities: which agent is meant, what may be sent to it and when, what the person hears of a silent one. Not
//! here: what comes in answer (`prompt_answers`).
//!
//! # Mental model
//! An agent serves one prompt after the other, so the next one waits here, where it can be seen to wait, until the last
//! is answered. The protocol has no way to stop an agent. Whoever stops it leaves the inbox: nothing more is heard of
//! that prompt, and the agent may go on with it.

use serde_json::json;

use crate::kit::turn_end;
use crate::link::{Fault, Phrase, PhraseArg, ServiceAnswers, ServiceCall};
use crate::protocol::AgentId;
use crate::{Cx, DialectOutput, PersonRequest, QuestionEnd};

use super::agent::{PromptAnswerer, SynadiaAgent};
use super::agent_discovery::agent_id;
use super::client::{RequestPurpose, Synadia};

/// How many prompts may wait; a person writing ahead writes a few.
const MOST_HELD: usize = 16;
/// How many prompts are answered at a time: one fewer than the requests of a link that may gather answers, because the
/// search for agents is one.
const MOST_ANSWERED: usize = 7;

impl Synadia {
    /// Carries out a request, for one of the agents if one is named.
    pub(super) fn want(&mut self, whom: Option<&AgentId>, wish: &PersonRequest, cx: &mut Cx<'_>) {
        match wish {
            PersonRequest::Prompt(prompt) => self.prompt(whom, prompt, cx),
            PersonRequest::Stop | PersonRequest::Abandon => self.leave(whom, cx),
            PersonRequest::ForAgent(whom, wish) => self.want(Some(whom), wish, cx),
            PersonRequest::Set(_) => cx
                .out
                .push(DialectOutput::Announce(Phrase::new("settings.none"))),
            // The protocol has no words for how a person wants to be addressed.
            PersonRequest::Terms(_) => {}
        }
    }

    /// Returns the subject of the agent that is meant: the one that is named, or the only one that fits.
    ///
    /// # Errors
    /// Whether several fit.
    fn meant(
        &self,
        agent: Option<&AgentId>,
        fits: impl Fn(&SynadiaAgent) -> bool,
    ) -> Result<String, bool> {
        let all = self.agents.values();
        let mut all = all.filter(|known| match agent {
            Some(agent) => agent_id(&known.subject) == agent.as_str(),
            None => fits(known),
        });
        match (all.next(), all.next()) {
            (Some(only), None) => Ok(only.subject.clone()),
            (first, _) => Err(first.is_some()),
        }
    }

    fn prompt(&mut self, whom: Option<&AgentId>, prompt: &str, cx: &mut Cx<'_>) {
        let meant = self.meant(whom, |agent| !agent.is_away);
        // One that gives no sign of life may take it all the same; if not, the person hears why.
        let meant = match meant {
            Err(false) => self.meant(whom, |_| true),
            meant => meant,
        };
        let key = match meant {
            _ if self.listens => "prompt.nobody",
            Ok(subject) => return self.prompt_agent(&subject, prompt, cx),
            Err(true) => "codex.which",
            Err(false) => "prompt.nobody",
        };
        cx.out.push(DialectOutput::Announce(Phrase::new(key)));
    }

    fn prompt_agent(&mut self, subject: &str, prompt: &str, cx: &mut Cx<'_>) {
        if !self.is_up {
            return not_taken(Fault::Closed, cx);
        }
        let is_full = self.answered() >= MOST_ANSWERED;
        let Some(agent) = self.agents.get_mut(subject) else {
            return;
        };
        if agent.held_prompts.len() >= MOST_HELD {
            return cx
                .out
                .push(DialectOutput::Announce(Phrase::new("prompt.too_many")));
        }
        if agent.is_at_work() || is_full {
            cx.out
                .push(DialectOutput::Announce(Phrase::new("prompt.held")));
        }
        agent.held_prompts.push_back(prompt.to_owned());
        self.send_held(subject, cx);
    }

    fn answered(&self) -> usize {
        let all = self.agents.values();
        all.filter(|agent| agent.answering.is_some()).count()
    }

    /// Sends what waits, to every agent that can take it.
    pub(super) fn send_all_held(&mut self, cx: &mut Cx<'_>) {
        let waiting = self
            .agents
            .values()
            .filter(|it| !it.held_prompts.is_empty());
        let waiting: Vec<String> = waiting.map(|agent| agent.subject.clone()).collect();
        for subject in waiting {
            self.send_held(&subject, cx);
        }
    }

    /// Sends the next prompt that waits for an agent to be done.
    fn send_held(&mut self, subject: &str, cx: &mut Cx<'_>) {
        loop {
            let is_full = self.answered() >= MOST_ANSWERED;
            let Some(agent) = self.agents.get_mut(subject) else {
                return;
            };
            if !self.is_up || is_full || agent.is_at_work() {
                return;
            }
            let Some(prompt) = agent.held_prompts.pop_front() else {
                return;
            };
            let body = json!({"prompt": prompt}).to_string();
            if let Some(limit) = agent.most.filter(|most| body.len() > *most) {
                not_taken(Fault::TooLarge { limit }, cx);
                continue;
            }
            agent.prompt = prompt;
            let call = ServiceCall {
                answers: ServiceAnswers::Streamed,
                ..ServiceCall::new(subject, body)
            };
            let purpose = RequestPurpose::Prompt(subject.to_owned());
            let request = self.request(purpose, call, cx.out);
            if let Some(agent) = self.agents.get_mut(subject) {
                agent.answering = Some(PromptAnswerer {
                    request,
                    heard: cx.now.monotonic,
                    is_silence_told: false,
                });
            }
        }
    }

    /// Leaves what answers a prompt.
    fn leave(&mut self, whom: Option<&AgentId>, cx: &mut Cx<'_>) {
        let meant = self.meant(whom, SynadiaAgent::is_at_work);
        let none = |key| DialectOutput::Announce(Phrase::new(key));
        let subject = match meant {
            Ok(subject) => subject,
            Err(true) => return cx.out.push(none("codex.which_stop")),
            Err(false) => return cx.out.push(none("stop_turn.none")),
        };
        let Some(agent) = self.agents.get_mut(&subject) else {
            return;
        };
        if !agent.is_at_work() {
            return cx.out.push(none("stop_turn.none"));
        }
        if let Some(answering) = agent.answering.take() {
            self.requests.remove(&answering.request);
            cx.out.push(DialectOutput::LeaveCall(answering.request));
        }
        match &mut agent.turn {
            Some(turn) => {
                turn.close(QuestionEnd::Stopped, &mut agent.teller, cx);
                agent.end(turn_end::ABANDONED, cx);
            }
            None => turn_end::gave_up_prompt(cx.out),
        }
        turn_end::sends_what_waits(agent.held_prompts.is_empty(), cx.out);
        self.send_all_held(cx);
    }

    /// Reports the prompts that nothing has answered for too long.
    pub(super) fn tell_silent(&mut self, cx: &mut Cx<'_>) {
        for agent in self.agents.values_mut() {
            let is_due = agent.silent_at().is_some_and(|at| cx.now.monotonic >= at);
            let Some(answering) = agent.answering.as_mut().filter(|_| is_due) else {
                continue;
            };
            answering.is_silence_told = true;
            let name = PhraseArg::Name(agent.name.clone());
            let phrase = Phrase::new("synadia.silent").with("agent", name);
            cx.out.push(DialectOutput::Announce(phrase));
        }
    }
}

/// Announces that a prompt was not taken.
pub(super) fn not_taken(fault: Fault, cx: &mut Cx<'_>) {
    let reason = PhraseArg::Fault(fault);
    let phrase = Phrase::new("prompt.not_taken").with("reason", reason);
    cx.out.push(DialectOutput::Announce(phrase));
}
