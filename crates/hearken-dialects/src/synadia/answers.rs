//! The person's answers to questions.
//!
//! Responsibilities: sending each to the place that its question names, and what is known of its fate. Not here: the
//! questions (`prompt_answers`).
//!
//! # Mental model
//! An answer is a message to the inbox that the question names. Nobody confirms it: it was sent, and whether the agent
//! made use of it shows in what follows. But an agent that no longer waits has closed its inbox, and that is known at
//! once.

use serde_json::json;

use crate::kit::permission::SentAnswer;
use crate::kit::post_outcome::delivered;
use crate::link::{
    DeliveryFailure, Fault, HttpAnswer, Phrase, Receipt, ServiceAnswers, ServiceCall,
};
use crate::protocol::{Answer, Reply, Response};
use crate::{Cx, DialectOutput};

use super::agent::SynadiaAgent;
use super::client::{RequestPurpose, Synadia};
use super::subject;

impl Synadia {
    /// Sends an answer of the person.
    pub(super) fn answer(&mut self, number: u64, reply: &Reply, cx: &mut Cx<'_>) {
        let settled = |fault: Fault| DialectOutput::Settled {
            request: number,
            outcome: Err(DeliveryFailure::Kept(fault)),
        };
        let words = match &reply.answer {
            Answer::Response(Response::Text(text)) if !text.trim().is_empty() => text,
            Answer::Response(_) | Answer::Decision { .. } => {
                return cx.out.push(settled(Fault::Rejected {
                    reason: Phrase::new("a2a.no_answer"),
                    retry_after: None,
                    again: false,
                }));
            }
        };
        if !self.is_up {
            return cx.out.push(settled(Fault::Closed));
        }
        let token = reply.token.reveal();
        let mut agents = self.agents.values_mut();
        let found = agents.find_map(|agent| agent.take_answer(token, number));
        let Some((agent, name, reply_subject)) = found else {
            return cx.out.push(settled(Fault::OneWay));
        };
        // A text that begins like JSON would be read as such.
        let body = match words.trim_start().starts_with('{') {
            true => json!({"prompt": words}).to_string(),
            false => words.clone(),
        };
        let call = ServiceCall {
            answers: ServiceAnswers::Unanswered,
            ..ServiceCall::new(reply_subject, body)
        };
        let purpose = RequestPurpose::Answer {
            agent,
            number,
            name,
        };
        self.request(purpose, call, cx.out);
    }

    /// Handles what became of an answer to a question.
    pub(super) fn answer_went(
        &mut self,
        (agent, name): (&str, &str),
        number: u64,
        outcome: &Result<HttpAnswer, Fault>,
        cx: &mut Cx<'_>,
    ) {
        let is_over = matches!(outcome, Err(Fault::Refused));
        let outcome = match (is_over, delivered(outcome)) {
            (true, _) => {
                let nobody = Phrase::new("synadia.why.nobody_waits");
                Err(DeliveryFailure::Refused(Fault::Declined(nobody)))
            }
            (false, Ok(_)) => Ok(Receipt::Written),
            (false, Err(undelivered)) => Err(undelivered),
        };
        let is_sent = outcome.is_ok();
        cx.out.push(DialectOutput::Settled {
            request: number,
            outcome,
        });
        let Some(agent) = self.agents.get_mut(agent) else {
            return;
        };
        let Some(turn) = &mut agent.turn else {
            return;
        };
        if is_sent {
            turn.answered(number, &mut agent.teller, cx);
        } else {
            turn.unanswered(number, &mut agent.teller, cx);
            if is_over {
                turn.withdrawn(&name.into(), &mut agent.teller, cx);
            }
        }
        if is_sent || is_over {
            agent.questions.remove(name);
            // From now on it is the agent's turn.
            if let Some(answering) = &mut agent.answering {
                answering.heard = cx.now.monotonic;
            }
        }
    }
}

impl SynadiaAgent {
    /// Notes that an answer to the question under a token is being sent; returns the agent's subject, the name of the
    /// question, and where the answer goes. `None` if it can't be sent.
    fn take_answer(&mut self, token: &str, number: u64) -> Option<(String, String, String)> {
        let question = self.turn.as_mut()?.asked_under(token)?;
        let name = question.id.name()?;
        let to = self.questions.get(&name)?.reply_subject.clone();
        if !subject::takes_answers(&to) || question.sending.is_some() {
            return None;
        }
        question.sending = Some(SentAnswer {
            request: number,
            allows: false,
            reason: None,
        });
        Some((self.subject.clone(), name, to))
    }
}
