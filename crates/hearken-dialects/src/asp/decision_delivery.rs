//! The person's decisions on their way.
//!
//! Responsibilities: sending a decision, holding it until the server has let us in, and learning its outcome. Not here:
//! what is sent (`handler`), which decision an answer means (`translator`).

use std::time::Duration;

use serde_json::{Value, json};

use crate::link::{Cause, DeliveryFailure, Fault, Receipt};
use crate::protocol::Reply;
use crate::{Cx, DialectOutput};

use super::authentication::Admission;
use super::handler::{self, Decision};
use super::message::AspMessage;
use super::translator::Asp;

/// How long to wait for the server's acknowledgement before a message counts as written.
const ACK_WAIT: Duration = Duration::from_secs(10);

/// One of our messages on its way.
#[derive(Debug, Clone)]
pub(super) struct SentDecision {
    /// The number of the person's answer.
    pub(super) request: u64,
    /// The session.
    pub(super) session: String,
    /// The message's own id.
    pub(super) id: String,
    /// The decision and its token, kept so that the identical message can be sent again.
    token: String,
    decision: Decision,
    /// As it appears in the session; `None` if a handler sends it.
    message: Option<AspMessage>,
    pub(super) text: String,
    pub(super) stage: AnswerStage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerStage {
    /// It waits until the server has let us in.
    Held,
    /// Nothing is known of it yet.
    Leaving,
    /// The server's acknowledgement is awaited until then.
    Written(Duration),
    /// It did not arrive, and may be sent again.
    Kept,
}

impl Asp {
    /// Settles messages of ours, and applies those that arrived to their sessions.
    pub(super) fn settle(
        &mut self,
        which: impl Fn(&SentDecision) -> bool,
        outcome: Result<Receipt, DeliveryFailure>,
        cx: &mut Cx<'_>,
    ) {
        let mut settled = Vec::new();
        for sending in &mut self.sending {
            if sending.stage != AnswerStage::Kept && which(sending) {
                sending.stage = AnswerStage::Kept;
                settled.push(sending.clone());
            }
        }
        for sending in settled {
            cx.out.push(DialectOutput::Settled {
                request: sending.request,
                outcome: outcome.clone(),
            });
            if outcome.is_ok() {
                self.sending.retain(|it| it.id != sending.id);
                if let (Some(message), Some(followed)) =
                    (&sending.message, self.sessions.get_mut(&sending.session))
                {
                    followed.conversation.message(message, cx);
                }
            }
        }
    }

    pub(super) fn replied(
        &mut self,
        request: u64,
        outcome: &Result<Receipt, DeliveryFailure>,
        cx: &mut Cx<'_>,
    ) {
        let waits = self.is_framed() && *outcome == Ok(Receipt::Written);
        if waits {
            for sending in &mut self.sending {
                if sending.request == request && sending.stage == AnswerStage::Leaving {
                    sending.stage = AnswerStage::Written(cx.now.monotonic + ACK_WAIT);
                }
            }
            return;
        }
        self.settle(|sending| sending.request == request, outcome.clone(), cx);
    }

    /// Returns the output that sends a text to where decisions go.
    pub(super) fn out(&self, request: u64, text: String) -> DialectOutput {
        if self.start.handler {
            DialectOutput::Hand {
                request,
                message: text,
            }
        } else {
            DialectOutput::Send {
                request,
                frame: text,
            }
        }
    }

    /// Sends a decision in the name of the identity, or to the handler.
    pub(super) fn send(
        &mut self,
        request: u64,
        (session, token): (&str, &str),
        decision: Decision,
        reply: &Reply,
        cx: &mut Cx<'_>,
    ) {
        let same = |sending: &&mut SentDecision| {
            sending.token == token
                && sending.decision == decision
                && sending.stage == AnswerStage::Kept
        };
        // Nothing is sent before the server has let us in.
        let stage = match (self.entry, self.start.handler) {
            (Admission::Asked, false) => AnswerStage::Held,
            (Admission::Asked, true) | (Admission::Unasked | Admission::Inside, _) => {
                AnswerStage::Leaving
            }
        };
        // The identical message is sent again, so that it cannot count as a second decision.
        if let Some(sending) = self.sending.iter_mut().find(same) {
            sending.request = request;
            sending.stage = stage;
            let text = sending.text.clone();
            if stage == AnswerStage::Leaving {
                cx.out.push(self.out(request, text));
            }
            return;
        }
        let refuse_for = |fault: Fault, out: &mut Vec<DialectOutput>| {
            let outcome = Err(DeliveryFailure::Kept(fault));
            out.push(DialectOutput::Settled { request, outcome });
        };
        let refuse = |out: &mut Vec<DialectOutput>| refuse_for(Fault::OneWay, out);
        let Some(followed) = self.sessions.get_mut(session) else {
            return refuse(cx.out);
        };
        let by = followed
            .conversation
            .question
            .as_ref()
            .map(|question| question.by.clone())
            .unwrap_or_default();
        let names = &followed.names;
        let (Some(named), Some(by)) = (names.session.name(session), names.by.name(&by)) else {
            return refuse_for(Fault::Other(Cause::NameTooLong), cx.out);
        };
        let id = followed.conversation.message_id(cx.now);
        let place = handler::Header {
            version: &self.version,
            id: id.clone(),
            session: &named,
            stamp: reply.timestamp,
            recipient: &by,
            previous: followed.conversation.negotiation.last_hash(),
        };
        let (text, message) = match (&self.start.identity, self.start.handler) {
            (_, true) => (
                Value::Object(handler::draft(&place, &decision)).to_string(),
                None,
            ),
            (Some(identity), false) => {
                // Messages on their way already have a number.
                let sent = self.sending.iter().filter(|it| it.session == session);
                let sent = sent.filter_map(|it| it.message.as_ref()?.sequence).max();
                let number = followed
                    .conversation
                    .negotiation
                    .next_number(identity.agent());
                let number = number.max(sent.map_or(0, |sent| sent.saturating_add(1)));
                let value = handler::message(identity, number, &place, &decision);
                let Some(message) = value.as_object().and_then(AspMessage::read) else {
                    return refuse(cx.out);
                };
                let value = if self.is_framed() {
                    json!({"type": "send", "envelope": value})
                } else {
                    value
                };
                (value.to_string(), Some(message))
            }
            (None, false) => return refuse(cx.out),
        };
        self.sending.push(SentDecision {
            request,
            session: session.to_owned(),
            id,
            token: token.to_owned(),
            decision,
            message,
            text: text.clone(),
            stage,
        });
        if stage == AnswerStage::Leaving {
            cx.out.push(self.out(request, text));
        }
    }
}
