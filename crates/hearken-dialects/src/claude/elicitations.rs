//! What a tool server asks the person through the agent: forms, and addresses to open.
//!
//! Responsibilities: the questions that they become, the answer to the waiting hook, handing them back. Not here: what
//! a form wants and how it is filled in (`kit::form_schema`, `kit::form_progress`), permissions (`decisions`).
//!
//! # Mental model
//! Claude Code runs the hook first, and shows its own dialog only if the hook decides nothing. So a form waits here no
//! longer than any other question that is asked nowhere else, and what can't be asked here is asked there. An address
//! is read out and never opened: that is up to the person.

use serde_json::{Map, json};

use crate::kit::call::first;
use crate::kit::form_progress::{Action, AfterAnswer, FormProgress};
use crate::kit::form_schema;
use crate::kit::standalone_question::{QuestionContent, SideQuestion};
use crate::kit::web_address::Address;
use crate::link::{DeliveryFailure, Phrase, PhraseArg, Receipt};
use crate::protocol::{Answer, Reply, Response, SessionCompleted};
use crate::{Cx, DialectOutput, QuestionEnd, SharedWording};

use super::client::{Claude, WaitingRequest, agent};
use super::decisions::delivered;
use super::messages::{ElicitationRequest, Hook, ServerQuestion};

/// How many may be open at the same time; further ones are asked in the agent's own terminal.
const MOST: usize = 16;

/// A form or an address that waits for the person.
#[derive(Debug)]
pub(super) struct ElicitingHook {
    /// Our number of the request that waits; `None` in a capture.
    pub id: Option<u64>,
    /// The conversation.
    pub conversation: String,
    aside: SideQuestion,
    what: Elicitation,
    /// What the answer under way says.
    sends: Option<Action>,
}

#[derive(Debug)]
enum Elicitation {
    Form(FormProgress),
    Open(Address),
}

impl Elicitation {
    /// Reads what is wanted; `None` if it can't be asked here.
    fn read(asked: &ServerQuestion, words: &SharedWording) -> Option<Self> {
        let args = [
            ("server", asked.server.as_str()),
            ("message", asked.message.as_str()),
        ];
        let message = first(words, "claude.form.message", &args);
        Some(match &asked.request {
            ElicitationRequest::Form(schema) => {
                Self::Form(FormProgress::new(message, form_schema::read(schema)?))
            }
            ElicitationRequest::Open(url) => Self::Open(Address::read(url, &message)?),
        })
    }

    fn asks(&self, words: &SharedWording) -> QuestionContent {
        match self {
            Self::Form(filling) => filling.asks(words),
            Self::Open(address) => address.asks(words),
        }
    }

    /// Returns the phrase for what it is about.
    fn about(&self) -> &'static str {
        match self {
            Self::Form(_) => "acp.form.asks",
            Self::Open(_) => "acp.url.asks",
        }
    }

    fn take(&mut self, response: &Response) -> AfterAnswer {
        match self {
            Self::Form(filling) => filling.take(response),
            Self::Open(_) => match response {
                Response::YesNo(true) => AfterAnswer::Give(Action::Accept),
                Response::YesNo(false) => AfterAnswer::Give(Action::Decline),
                Response::Text(_) | Response::Number(_) => AfterAnswer::None,
            },
        }
    }

    /// Returns the answer to the hook.
    fn answer(&self, action: Action) -> String {
        let mut output = Map::new();
        output.insert("hookEventName".to_owned(), "Elicitation".into());
        let name = match action {
            Action::Accept => "accept",
            Action::Decline => "decline",
            Action::Cancel => "cancel",
        };
        output.insert("action".to_owned(), name.into());
        if let (Self::Form(filling), Action::Accept) = (self, action) {
            output.insert("content".to_owned(), filling.content());
        }
        json!({"hookSpecificOutput": output}).to_string()
    }

    /// Returns the end of its session after an answer.
    fn end(&self, action: Option<Action>, words: &SharedWording) -> SessionCompleted {
        let (summary, result_uri) = match (self, action) {
            (Self::Open(address), Some(Action::Accept)) => {
                let args = [("address", address.text.as_str())];
                let open = words.summary("acp.url.open", &args);
                // It can be copied from this field.
                (open, Some(address.text.clone()))
            }
            (Self::Form(_), Some(Action::Accept)) => (words.summary("acp.form.sent", &[]), None),
            (_, Some(Action::Decline)) => (words.summary("acp.form.declined", &[]), None),
            (_, Some(Action::Cancel) | None) => (words.summary("acp.form.closed", &[]), None),
        };
        SessionCompleted {
            summary,
            result_uri,
            ..SessionCompleted::default()
        }
    }
}

impl Claude {
    /// Handles what a tool server asks the person through the agent.
    pub(super) fn elicits(
        &mut self,
        id: Option<u64>,
        hook: &Hook,
        asked: &ServerQuestion,
        cx: &mut Cx<'_>,
    ) {
        let name = agent(hook.harness);
        let not_here = |key: &'static str, cx: &mut Cx<'_>| {
            cx.out.push(DialectOutput::Announce(
                Phrase::new(key).with("agent", name.clone()),
            ));
        };
        let Some(what) = Elicitation::read(asked, &self.words) else {
            return not_here("claude.form.unread", cx);
        };
        if self.listens && self.elicited.len() >= MOST {
            // A capture does not always show the answers, but the oldest one surely got one.
            self.close_elicited(0, None, cx);
        }
        if self.elicited.len() >= MOST {
            return not_here("claude.form.too_many", cx);
        }
        let hand_back = self.hand_back;
        let Some(conversation) = self.conversations.get_mut(&hook.conversation) else {
            return;
        };
        if id.is_some() && !std::mem::replace(&mut conversation.told_form_here, true) {
            cx.out
                .push(DialectOutput::Announce(super::decisions::only_here(
                    hook.harness,
                    hand_back,
                )));
        }
        let teller = &mut conversation.teller;
        let thread = hook.conversation.as_str();
        let mut aside = SideQuestion::begin("elicitation", thread, what.about(), teller, cx);
        aside.ask(what.asks(&teller.words), teller, cx);
        conversation.forms += 1;
        self.elicited.push(ElicitingHook {
            id,
            conversation: hook.conversation.clone(),
            aside,
            what,
            sends: None,
        });
        if let Some(id) = id {
            self.waiting_requests.insert(
                id,
                WaitingRequest {
                    harness: hook.harness,
                    conversation: hook.conversation.clone(),
                    since: cx.now.monotonic,
                    only_here: true,
                },
            );
        }
    }

    /// Ends one of them without an answer from here.
    fn close_elicited(&mut self, at: usize, over: Option<QuestionEnd>, cx: &mut Cx<'_>) {
        if at >= self.elicited.len() {
            return;
        }
        let closed = self.elicited.remove(at);
        if let Some(over) = over {
            closed.aside.is_over(over, cx.out);
        }
        if let Some(conversation) = self.conversations.get_mut(&closed.conversation) {
            conversation.forms = conversation.forms.saturating_sub(1);
            conversation.stirs(cx.now);
            closed.aside.end(&mut conversation.teller, cx);
        }
    }

    /// Ends the one whose request this is, without an answer from here; returns whether there is one.
    pub(super) fn take_back_elicited(&mut self, id: u64, cx: &mut Cx<'_>) -> bool {
        let is_it = |it: &ElicitingHook| it.id == Some(id) && !it.aside.is_sending();
        let at = self.elicited.iter().position(is_it);
        if let Some(at) = at {
            self.close_elicited(at, Some(QuestionEnd::TakenBack), cx);
        }
        at.is_some()
    }

    /// Lets go of everything that a conversation asks, because it is over; `None` means every conversation.
    pub(super) fn leave_elicited(&mut self, conversation: Option<&str>, cx: &mut Cx<'_>) {
        let is_of = |it: &ElicitingHook| {
            conversation.is_none_or(|of| it.conversation == of) && !it.aside.is_sending()
        };
        while let Some(at) = self.elicited.iter().position(is_of) {
            if let Some(id) = self.elicited.get(at).and_then(|it| it.id) {
                self.let_go(id, cx.out);
            }
            self.close_elicited(at, Some(QuestionEnd::TakenBack), cx);
        }
    }

    /// Handles an answer to a conversation's question, as a capture shows it.
    pub(super) fn was_elicited(&mut self, conversation: &str, cx: &mut Cx<'_>) {
        let is_of = |it: &ElicitingHook| it.id.is_none() && it.conversation == conversation;
        if let Some(at) = self.elicited.iter().position(is_of) {
            self.close_elicited(at, None, cx);
        }
    }

    /// Handles an answer of the person; returns false if it answers none of these.
    pub(super) fn fills_in(&mut self, request: u64, reply: &Reply, cx: &mut Cx<'_>) -> bool {
        let token = reply.token.reveal();
        let mut all = self.elicited.iter_mut();
        let (Some(elicited), false) = (all.find(|it| it.aside.is_open(token)), self.listens) else {
            return false;
        };
        let (Answer::Response(response), Some(id)) = (&reply.answer, elicited.id) else {
            return false;
        };
        let settled = |outcome| DialectOutput::Settled { request, outcome };
        match elicited.what.take(response) {
            AfterAnswer::None => return false,
            AfterAnswer::Give(action) => {
                elicited.aside.sends(request);
                elicited.sends = Some(action);
                self.sending.insert(request, id);
                cx.out.push(DialectOutput::Respond {
                    id,
                    request: Some(request),
                    body: elicited.what.answer(action),
                });
                return true;
            }
            AfterAnswer::Ask => cx.out.push(settled(Ok(Receipt::Here))),
            AfterAnswer::Again(why) => {
                cx.out.push(settled(Ok(Receipt::Here)));
                let why = PhraseArg::Phrase(why);
                cx.out.push(DialectOutput::Announce(
                    Phrase::new("acp.form.wrong").with("why", why),
                ));
            }
        }
        if let Some(conversation) = self.conversations.get_mut(&elicited.conversation) {
            let teller = &mut conversation.teller;
            let asks = elicited.what.asks(&teller.words);
            elicited.aside.ask(asks, teller, cx);
        }
        true
    }

    /// Handles the outcome of sending an answer; returns false if it answers none of these.
    pub(super) fn filled_in_went(
        &mut self,
        request: u64,
        outcome: &Result<Receipt, DeliveryFailure>,
        cx: &mut Cx<'_>,
    ) -> bool {
        let sent = |it: &mut ElicitingHook| it.aside.went(request);
        let Some(at) = self.elicited.iter_mut().position(sent) else {
            return false;
        };
        let elicited = self.elicited.remove(at);
        if let Some(id) = self.sending.remove(&request) {
            self.waiting_requests.remove(&id);
        }
        let went = outcome.is_ok();
        cx.out.push(delivered(request, went));
        if let Some(conversation) = self.conversations.get_mut(&elicited.conversation) {
            conversation.forms = conversation.forms.saturating_sub(1);
            conversation.stirs(cx.now);
            let teller = &mut conversation.teller;
            let action = elicited.sends.filter(|_| went);
            let end = elicited.what.end(action, &teller.words);
            elicited.aside.end_with(end, teller, cx);
        }
        true
    }
}
