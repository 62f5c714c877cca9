//! The agent's requests other than permissions: forms, and addresses to open.
//!
//! Responsibilities: the questions that they become, what is answered, and when. Not here: what a form wants
//! (`form_schema`), what is odd about an address (`web_address`).
//!
//! # Mental model
//! A form is asked part by part (`form_progress`). An address is read with its host first, and never opened here: that
//! is up to the person. Only what the person said goes back: no part is filled in for them, and the agent's default is
//! one of the choices. A request that the agent withdraws, or that the person stops, is answered as such.

use serde_json::{Map, Value, json};

use crate::event_writer;
use crate::link::{Phrase, PhraseArg, Receipt};
use crate::protocol::{Answer, Response, SessionCompleted};
use crate::rpc::{self, Id};
use crate::{Cx, DialectOutput, QuestionEnd, SharedWording};

use super::client::Acp;
use crate::kit::form_progress::{Action, AfterAnswer, FormProgress};
use crate::kit::form_schema;
use crate::kit::members::text;
use crate::kit::standalone_question::{QuestionContent, SideQuestion};
use crate::kit::web_address::Address;

/// How many may wait at a time; further ones are answered with an error.
const MOST: usize = 16;
/// How many opened addresses are remembered, so that their completion can be announced.
const MOST_OPENED: usize = 16;
/// The longest message, in characters.
const LONGEST: usize = 2000;

/// A request that waits for the person.
#[derive(Debug)]
pub(super) struct WaitingForm {
    id: Id,
    /// Whether it belongs to the agent's turn, and is cancelled with it.
    of_turn: bool,
    aside: SideQuestion,
    what: ElicitationSubject,
    /// What the answer under way says.
    sends: Option<Action>,
}

#[derive(Debug)]
enum ElicitationSubject {
    Form(FormProgress),
    Open { address: Address, id: String },
}

impl Action {
    fn answer(self, id: &Id, content: Option<Value>) -> String {
        let answer = match (self, content) {
            (Self::Accept, Some(content)) => json!({"action": "accept", "content": content}),
            (Self::Accept, None) => json!({"action": "accept"}),
            (Self::Decline, _) => json!({"action": "decline"}),
            (Self::Cancel, _) => json!({"action": "cancel"}),
        };
        rpc::result(id, &answer.to_string())
    }
}

impl Acp {
    /// Handles a request for a form, or for opening an address.
    pub(super) fn elicited(&mut self, id: &Id, params: &Map<String, Value>, cx: &mut Cx<'_>) {
        let refuse = |acp: &mut Self, code, why: &str, key, out: &mut Vec<DialectOutput>| {
            acp.send(rpc::error(id, code, why), out);
            out.push(DialectOutput::Announce(Phrase::new(key)));
        };
        if self.listens && self.elicited.len() >= MOST {
            // A capture does not show the answers, but the oldest request surely got one.
            self.elicited.remove(0).aside.end(&mut self.teller, cx);
        }
        if self.elicited.len() >= MOST {
            let why = "too many requests wait";
            return refuse(self, rpc::INTERNAL, why, "acp.form.too_many", cx.out);
        }
        let of_turn = params.contains_key("sessionId");
        if of_turn && self.turn.as_ref().is_some_and(|turn| turn.stopping) {
            self.send(Action::Cancel.answer(id, None), cx.out);
            return cx
                .out
                .push(DialectOutput::Detail(Phrase::new("acp.cancelled_too")));
        }
        let message = text(params, "message").unwrap_or_default();
        let message: Vec<&str> = message.split_whitespace().collect();
        let message = event_writer::cut(&message.join(" "), LONGEST);
        let schema = params.get("requestedSchema").and_then(Value::as_object);
        let (what, about) = match text(params, "mode") {
            Some("form") => {
                let Some(parts) = schema.and_then(form_schema::read) else {
                    let why = "this form can't be asked here";
                    return refuse(self, rpc::INVALID, why, "acp.form.unread", cx.out);
                };
                (
                    ElicitationSubject::Form(FormProgress::new(message, parts)),
                    "acp.form.asks",
                )
            }
            Some("url") => {
                let address = text(params, "url").and_then(|it| Address::read(it, &message));
                let opens = text(params, "elicitationId").zip(address);
                let Some((id, address)) = opens else {
                    let why = "this address can't be shown here";
                    return refuse(self, rpc::INVALID, why, "acp.url.unread", cx.out);
                };
                let id = event_writer::cut(id, LONGEST);
                (ElicitationSubject::Open { address, id }, "acp.url.asks")
            }
            Some(_) | None => {
                let why = "this mode was not offered";
                return refuse(self, rpc::INVALID, why, "acp.form.unread", cx.out);
            }
        };
        let conversation = text(params, "sessionId").unwrap_or_default().to_owned();
        let teller = &mut self.teller;
        let mut aside = SideQuestion::begin("elicitation", &conversation, about, teller, cx);
        let asks = what.asks(&teller.words);
        aside.ask(asks, teller, cx);
        self.elicited.push(WaitingForm {
            id: id.clone(),
            of_turn,
            aside,
            what,
            sends: None,
        });
    }

    /// Handles an answer to one of these questions; returns false if it answers none.
    pub(super) fn fills_in(
        &mut self,
        request: u64,
        token: &str,
        answer: &Answer,
        cx: &mut Cx<'_>,
    ) -> bool {
        let Some(at) = self.elicited.iter().position(|it| it.aside.is_open(token)) else {
            return false;
        };
        let (Some(elicited), Answer::Response(response)) = (self.elicited.get_mut(at), answer)
        else {
            return false;
        };
        let settled = DialectOutput::Settled {
            request,
            outcome: Ok(Receipt::Here),
        };
        let next = match &mut elicited.what {
            ElicitationSubject::Form(filling) => filling.take(response),
            ElicitationSubject::Open { .. } => match response {
                Response::YesNo(true) => AfterAnswer::Give(Action::Accept),
                Response::YesNo(false) => AfterAnswer::Give(Action::Decline),
                Response::Text(_) | Response::Number(_) => AfterAnswer::None,
            },
        };
        match next {
            AfterAnswer::None => return false,
            AfterAnswer::Give(action) => {
                let content = match &elicited.what {
                    ElicitationSubject::Form(filling) => Some(filling.content()),
                    ElicitationSubject::Open { .. } => None,
                };
                elicited.aside.sends(request);
                elicited.sends = Some(action);
                let frame = action.answer(&elicited.id, content);
                cx.out.push(DialectOutput::Send { request, frame });
                return true;
            }
            AfterAnswer::Ask => cx.out.push(settled),
            AfterAnswer::Again(why) => {
                cx.out.push(settled);
                let why = PhraseArg::Phrase(why);
                cx.out.push(DialectOutput::Announce(
                    Phrase::new("acp.form.wrong").with("why", why),
                ));
            }
        }
        let asks = elicited.what.asks(&self.teller.words);
        elicited.aside.ask(asks, &mut self.teller, cx);
        true
    }

    /// Handles the delivery of an answer to the agent.
    pub(super) fn filled_in_went(&mut self, request: u64, went: bool, cx: &mut Cx<'_>) {
        let sent = |it: &mut WaitingForm| it.aside.went(request);
        let Some(at) = self.elicited.iter_mut().position(sent) else {
            return;
        };
        let action = self.elicited.get_mut(at).and_then(|it| it.sends.take());
        if !went {
            return;
        }
        let elicited = self.elicited.remove(at);
        let completed = match (elicited.what, action) {
            (ElicitationSubject::Open { address, id }, Some(Action::Accept)) => {
                let whole = address.text.clone();
                let args = [("address", whole.as_str())];
                let completed = SessionCompleted {
                    summary: self.teller.words.summary("acp.url.open", &args),
                    // It can be copied from this field.
                    result_uri: Some(whole.clone()),
                    ..SessionCompleted::default()
                };
                if self.opened.len() >= MOST_OPENED {
                    self.opened.pop_front();
                }
                self.opened.push_back((id, address.host));
                completed
            }
            (ElicitationSubject::Open { .. } | ElicitationSubject::Form(_), action) => {
                let key = match action {
                    Some(Action::Accept) => "acp.form.sent",
                    Some(Action::Decline) => "acp.form.declined",
                    Some(Action::Cancel) | None => "acp.form.closed",
                };
                SessionCompleted {
                    summary: self.teller.words.summary(key, &[]),
                    ..SessionCompleted::default()
                }
            }
        };
        elicited.aside.end_with(completed, &mut self.teller, cx);
    }

    /// Announces that the task at an address is done.
    pub(super) fn opened_and_done(
        &mut self,
        params: &Map<String, Value>,
        out: &mut Vec<DialectOutput>,
    ) {
        let id = text(params, "elicitationId").unwrap_or_default();
        // An unknown or completed id is to be ignored.
        if let Some(at) = self.opened.iter().position(|(known, _)| known == id)
            && let Some((_, host)) = self.opened.remove(at)
        {
            out.push(DialectOutput::Announce(
                Phrase::new("acp.url.done").with("host", PhraseArg::Name(host)),
            ));
        }
    }

    /// Removes a request that the agent withdraws; returns false if there is none.
    pub(super) fn took_back_elicited(&mut self, id: &Value, cx: &mut Cx<'_>) -> bool {
        let open = |it: &WaitingForm| it.id.is(id) && !it.aside.is_sending();
        let Some(at) = self.elicited.iter().position(open) else {
            return false;
        };
        let elicited = self.elicited.remove(at);
        elicited.aside.is_over(QuestionEnd::TakenBack, cx.out);
        elicited.aside.end(&mut self.teller, cx);
        let refused = rpc::error(&elicited.id, rpc::CANCELLED, "Request cancelled");
        self.send(refused, cx.out);
        true
    }

    /// Closes the requests of a turn that is being stopped.
    pub(super) fn cancel_elicited(&mut self, cx: &mut Cx<'_>) {
        // An answer under way is the person's, and remains valid.
        let ends = |it: &mut WaitingForm| it.of_turn && !it.aside.is_sending();
        let over: Vec<WaitingForm> = self.elicited.extract_if(.., ends).collect();
        for elicited in over {
            elicited.aside.is_over(QuestionEnd::Stopped, cx.out);
            elicited.aside.end(&mut self.teller, cx);
            self.send(Action::Cancel.answer(&elicited.id, None), cx.out);
        }
    }

    /// Handles the end of the agent.
    pub(super) fn lose_elicited(&mut self, cx: &mut Cx<'_>) {
        for elicited in std::mem::take(&mut self.elicited) {
            elicited.aside.lose(&mut self.teller, cx);
        }
    }

    /// Returns the ids of the waiting requests.
    #[cfg(test)]
    pub(super) fn waiting_elicited(&self) -> Vec<Id> {
        self.elicited.iter().map(|it| it.id.clone()).collect()
    }
}

impl ElicitationSubject {
    fn asks(&self, words: &SharedWording) -> QuestionContent {
        match self {
            Self::Form(filling) => filling.asks(words),
            Self::Open { address, .. } => address.asks(words),
        }
    }
}
