//! Prompting a conversation, and stopping it.
//!
//! Responsibilities: choosing the conversation, holding prompts, and the outcome of what was sent. Not here: turns
//! (`conversation`).

use serde_json::json;

use crate::kit::turn_end;
use crate::link::{Body, DeliveryFailure, Fault, HttpAnswer, HttpCall, Phrase, PhraseArg};
use crate::protocol::{AgentId, object};
use crate::{Cx, DialectOutput, PersonRequest};

use super::client::{Opencode, RequestPurpose, agent};
use super::conversation::{MOST_HELD, OpencodeConversation};
use super::messages;
use super::questions::segment;
use crate::kit::post_outcome::delivered;

impl Opencode {
    /// Sends a prompt to the conversation that was heard of last, or to a new one.
    pub(super) fn prompt(&mut self, prompt: &str, out: &mut Vec<DialectOutput>) {
        if self.listens || self.is_over {
            return out.push(DialectOutput::Announce(Phrase::new("prompt.nobody")));
        }
        let last = self.conversations.latest(|_| true);
        match last.map(|it| it.id.clone()) {
            Some(id) => self.prompt_in(&id, prompt, out),
            None => self.prompt_new(prompt, out),
        }
    }

    /// Carries out a request for one of the conversations.
    pub(super) fn wish_of(&mut self, whom: &AgentId, wish: &PersonRequest, cx: &mut Cx<'_>) {
        let mut all = self.conversations.keys();
        let id = all.find(|id| agent(id) == whom.as_str()).cloned();
        let id = id.unwrap_or_default();
        match wish {
            PersonRequest::Prompt(prompt) => self.prompt_in(&id, prompt, cx.out),
            PersonRequest::Stop => self.stop_in(&id, cx.out),
            PersonRequest::Abandon => self.abandon_in(&id, cx),
            PersonRequest::ForAgent(whom, wish) => self.wish_of(whom, wish, cx),
            PersonRequest::Set(_) => cx
                .out
                .push(DialectOutput::Announce(Phrase::new("settings.none"))),
            PersonRequest::Terms(_) => {}
        }
    }

    /// Starts a conversation with a prompt.
    fn prompt_new(&mut self, prompt: &str, out: &mut Vec<DialectOutput>) {
        let call = HttpCall::post("/session", Body::json("{}"));
        self.call(RequestPurpose::Opening(prompt.to_owned()), call, out);
    }

    fn prompt_in(&mut self, id: &str, prompt: &str, out: &mut Vec<DialectOutput>) {
        let Some(conversation) = self.conversations.get_mut(id) else {
            return out.push(DialectOutput::Announce(Phrase::new("prompt.nobody")));
        };
        if conversation.held_prompts.len() >= MOST_HELD {
            return out.push(DialectOutput::Announce(Phrase::new("prompt.too_many")));
        }
        conversation.held_prompts.push_back(prompt.to_owned());
        let key = match &conversation.turn {
            Some(turn) if turn.stopping => Some("prompt.after_stop"),
            Some(_) => Some("prompt.held"),
            None if conversation.ours.is_empty() => None,
            None => Some("prompt.held"),
        };
        out.extend(key.map(|key| DialectOutput::Announce(Phrase::new(key))));
        self.send_held(id, out);
    }

    /// Sends the next prompt that waited for a conversation to be done.
    pub(super) fn send_held(&mut self, id: &str, out: &mut Vec<DialectOutput>) {
        let Some(conversation) = self.conversations.get_mut(id) else {
            return;
        };
        if conversation.turn.is_some() || !conversation.ours.is_empty() {
            return;
        }
        let Some(prompt) = conversation.held_prompts.pop_front() else {
            return;
        };
        conversation.sends(&prompt);
        let body = json!({"parts": [{"type": "text", "text": prompt}]}).to_string();
        let path = format!("/session/{}/prompt_async", segment(id));
        let asked = RequestPurpose::Prompt(id.to_owned(), prompt);
        self.call(asked, HttpCall::post(path, Body::json(body)), out);
    }

    /// Handles the outcome of starting a conversation.
    pub(super) fn opened(
        &mut self,
        prompt: String,
        outcome: &Result<HttpAnswer, Fault>,
        out: &mut Vec<DialectOutput>,
    ) {
        let about = match delivered(outcome) {
            Ok(_) => outcome
                .as_ref()
                .ok()
                .and_then(|it| messages::about(&object(&it.body)?)),
            Err(undelivered) => return prompt_failed(&undelivered, out),
        };
        let Some(about) = about else {
            let fault = Fault::Rejected {
                reason: Phrase::new("acp.no_session"),
                retry_after: None,
                again: false,
            };
            return prompt_failed(&DeliveryFailure::Refused(fault), out);
        };
        let id = about.id.clone();
        self.about(about);
        self.prompt_in(&id, &prompt, out);
    }

    /// Handles the outcome of a prompt.
    pub(super) fn prompt_went(
        &mut self,
        id: &str,
        prompt: &str,
        outcome: &Result<HttpAnswer, Fault>,
        cx: &mut Cx<'_>,
    ) {
        let conversation = self.conversations.get_mut(id);
        let Err(undelivered) = delivered(outcome) else {
            if let Some(conversation) = conversation {
                conversation.accepts(cx.now);
            }
            return;
        };
        if let Some(conversation) = conversation {
            conversation.declines(prompt);
        }
        prompt_failed(&undelivered, cx.out);
        self.send_held(id, cx.out);
    }

    /// Stops the active conversation; if several are active, the one that was heard of last.
    pub(super) fn stop(&mut self, out: &mut Vec<DialectOutput>) {
        let last = self.conversations.latest(OpencodeConversation::is_at_work);
        match last.map(|it| it.id.clone()) {
            Some(id) => self.stop_in(&id, out),
            None => out.push(DialectOutput::Announce(Phrase::new("stop_turn.none"))),
        }
    }

    fn stop_in(&mut self, id: &str, out: &mut Vec<DialectOutput>) {
        let mut conversation = self.conversations.get_mut(id);
        if let Some(waits) = conversation
            .as_mut()
            .filter(|it| it.turn.is_none() && it.is_at_work())
        {
            waits.gives_up();
            turn_end::gave_up_prompt(out);
            turn_end::sends_what_waits(waits.held_prompts.is_empty(), out);
            // Its turn may yet begin.
            self.abort(id, out);
            return self.send_held(id, out);
        }
        let found =
            conversation.and_then(|it| Some((it.turn.as_mut()?, it.held_prompts.is_empty())));
        let Some((turn, nothing_waits)) = found else {
            return out.push(DialectOutput::Announce(Phrase::new("stop_turn.none")));
        };
        if std::mem::replace(&mut turn.stopping, true) {
            return out.push(DialectOutput::Announce(Phrase::new("stop_turn.stopping")));
        }
        out.push(DialectOutput::Announce(turn_end::asked_to_stop(
            nothing_waits,
        )));
        self.abort(id, out);
    }

    fn abort(&mut self, id: &str, out: &mut Vec<DialectOutput>) {
        let path = format!("/session/{}/abort", segment(id));
        self.call(
            RequestPurpose::Stop(id.to_owned()),
            HttpCall::post(path, Body::json("{}")),
            out,
        );
    }

    /// Goes on without a turn that does not stop; if there are several, without the one that was heard of last.
    pub(super) fn abandon(&mut self, cx: &mut Cx<'_>) {
        let last = self.conversations.latest(OpencodeConversation::is_stopping);
        let id = last.map(|it| it.id.clone()).unwrap_or_default();
        self.abandon_in(&id, cx);
    }

    fn abandon_in(&mut self, id: &str, cx: &mut Cx<'_>) {
        let conversation = self.conversations.get_mut(id);
        let Some(conversation) = conversation.filter(|it| it.is_stopping()) else {
            return cx
                .out
                .push(DialectOutput::Announce(Phrase::new("stop_turn.none")));
        };
        conversation.ours.clear();
        conversation.end(turn_end::ABANDONED, cx);
        turn_end::sends_what_waits(conversation.held_prompts.is_empty(), cx.out);
        self.send_held(id, cx.out);
    }

    /// Handles the outcome of a stop; the conversation itself reports when it has stopped.
    pub(super) fn stop_went(
        &mut self,
        id: &str,
        outcome: &Result<HttpAnswer, Fault>,
        cx: &mut Cx<'_>,
    ) {
        let Some(conversation) = self.conversations.get_mut(id) else {
            return;
        };
        let Some(turn) = conversation.turn.as_mut().filter(|turn| turn.stopping) else {
            return;
        };
        match delivered(outcome) {
            Ok(_) => {
                let open = turn.stop(&mut conversation.teller, cx);
                let names: Vec<String> = open.iter().filter_map(|it| it.id.name()).collect();
                for name in names {
                    conversation.is_done(&name);
                }
            }
            Err(undelivered) => {
                turn.stopping = false;
                let fault = PhraseArg::Fault(undelivered.fault().clone());
                cx.out.push(DialectOutput::Announce(
                    Phrase::new("opencode.stop_failed").with("reason", fault),
                ));
                // Questions that came during the stop were not asked here.
                self.begin_to_catch_up(cx.out);
            }
        }
    }
}

fn prompt_failed(undelivered: &DeliveryFailure, out: &mut Vec<DialectOutput>) {
    let key = match undelivered {
        DeliveryFailure::Kept(_) | DeliveryFailure::Refused(_) => "prompt.not_taken",
        DeliveryFailure::Unknown(_) => "prompt.perhaps_taken",
    };
    let fault = PhraseArg::Fault(undelivered.fault().clone());
    out.push(DialectOutput::Announce(
        Phrase::new(key).with("reason", fault),
    ));
}
