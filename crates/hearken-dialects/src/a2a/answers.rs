//! Sending the person's answers, and handling the outcome.
//!
//! Responsibilities: the message that carries an answer, and whether the agent accepted it. Not here: the question
//! (`questions`).
//!
//! Mental model: an answer is a message that names its task and its context. It opens no stream of its own: the task
//! already has one or is polled, so nothing that follows is announced twice. If another client has answered meanwhile,
//! the task has left its state and refuses the message.

use crate::kit::permission::SentAnswer;
use crate::kit::post_outcome::delivered;
use crate::link::{DeliveryFailure, Fault, HttpAnswer, Phrase, Receipt};
use crate::protocol::{Answer as Given, Reply, Response};
use crate::{Cx, DialectOutput};

use super::client::{A2a, TaskRequest, refusal};
use super::messages::{self, RequestAnswer};
use super::outgoing_requests::OutgoingMessage;
use super::task_watch::NO_TASK;

impl A2a {
    /// Sends an answer of the person.
    pub(super) fn answer(&mut self, request: u64, reply: &Reply, out: &mut Vec<DialectOutput>) {
        let token = reply.token.reveal();
        let mut found = None;
        for task in self.tasks.values_mut() {
            let turn = task.turn.as_mut();
            if turn.is_some_and(|turn| turn.asked_under(token).is_some()) {
                found = Some((task.id.clone(), task.context.clone()));
            }
        }
        let unfit = |fault: Fault| DialectOutput::Settled {
            request,
            outcome: Err(DeliveryFailure::Kept(fault)),
        };
        let (Some((id, context)), Some(card), false) = (found, self.card.clone(), self.listens)
        else {
            return out.push(unfit(Fault::OneWay));
        };
        let words = match &reply.answer {
            Given::Response(Response::Text(text)) if !text.trim().is_empty() => text.clone(),
            Given::Response(_) | Given::Decision { .. } => {
                return out.push(unfit(Fault::Rejected {
                    reason: Phrase::new("a2a.no_answer"),
                    retry_after: None,
                    again: false,
                }));
            }
        };
        let turn = self.tasks.get_mut(&id).and_then(|task| task.turn.as_mut());
        let Some(asked) = turn.and_then(|turn| turn.asked_under(token)) else {
            return out.push(unfit(Fault::OneWay));
        };
        asked.sending = Some(SentAnswer {
            request,
            allows: false,
            reason: None,
        });
        let name = self.message_id();
        let message = OutgoingMessage {
            id: &name,
            task: &id,
            // A context that the server did not name is ours.
            context: if context == id { "" } else { &context },
            words: &words,
        };
        let call = card.send(request, &message, false);
        self.request(request, TaskRequest::Answer(id), call, out);
    }

    /// Handles the outcome of sending an answer.
    pub(super) fn answer_went(
        &mut self,
        request: u64,
        id: &str,
        outcome: &Result<HttpAnswer, Fault>,
        cx: &mut Cx<'_>,
    ) {
        let mut whole = None;
        let mut is_gone = false;
        let outcome = match delivered(outcome) {
            Ok(taken) => match outcome
                .as_ref()
                .map(|answer| messages::answer(&answer.body))
            {
                Ok(RequestAnswer::Result(result)) => {
                    whole = messages::news(&result);
                    Ok(taken)
                }
                Ok(RequestAnswer::Refused(code, words)) => {
                    is_gone = code == NO_TASK;
                    Err(DeliveryFailure::Refused(refusal(&words)))
                }
                Ok(RequestAnswer::Unread) | Err(_) => Err(DeliveryFailure::Unknown(Fault::Closed)),
            },
            Err(undelivered) => Err(undelivered),
        };
        let taken: Option<Receipt> = outcome.as_ref().ok().copied();
        cx.out.push(DialectOutput::Settled { request, outcome });
        let Some(task) = self.tasks.get_mut(id) else {
            return;
        };
        if task.look.stream.is_none() {
            task.look.next = Some(cx.now.monotonic);
        }
        match taken {
            Some(_) => task.answered(request, cx),
            None => task.unanswered(request, cx),
        }
        // Without a stream, this result is what reports the task's new state.
        if let Some(news) = whole.filter(|_| task.look.stream.is_none()) {
            self.tells(news, cx);
        }
        if is_gone {
            self.is_not_there(id, cx);
        }
        self.look_at_what_is_due(cx);
    }
}
