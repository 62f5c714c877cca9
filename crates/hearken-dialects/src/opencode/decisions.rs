//! Asking the person, handling the answers, and races with other clients.
//!
//! Responsibilities: asking each request once, answers on their way, requests that other clients decide. Not here: what
//! a request becomes (`questions`).

use crate::kit::permission::SentAnswer;
use crate::kit::post_outcome::delivered;
use crate::link::{DeliveryFailure, Fault, HttpAnswer, HttpCall, Phrase, PhraseArg, Receipt};
use crate::protocol::{Answer, Reply, Response};
use crate::{Cx, DialectOutput};

use super::client::{Opencode, RequestPurpose};
use super::question_messages::{PermissionQuery, WordsRequest};
use super::questions::{self, AnswerEffect, QuestionForm};

/// The status for a request that is no longer open.
const GONE: u16 = 404;

/// What to do with an answer of the person.
enum AnswerAction {
    /// Send it.
    Goes(String, HttpCall),
    /// Keep it, and ask the next question.
    Stays(String),
    /// Reject it.
    Unfit(Fault),
}

impl Opencode {
    /// Handles a request for a permission.
    pub(super) fn wants(&mut self, mut wants: PermissionQuery, cx: &mut Cx<'_>) {
        let words = self.words.clone();
        let Some(conversation) = self.conversation(&wants.conversation.clone(), cx.out) else {
            return;
        };
        if !conversation.is_new(&wants.id) {
            return;
        }
        wants.call.id = conversation.call_name(&wants.conversation, &wants.call.id);
        let given = conversation.inputs.get(&wants.call.id);
        let (permission, news, left_out) = questions::permission(wants, given, &words);
        if left_out > 0 {
            let n = PhraseArg::Own(left_out.to_string());
            cx.out.push(DialectOutput::Announce(
                Phrase::new("opencode.left_out").with("n", n),
            ));
        }
        let (turn, teller) = conversation.turn(cx);
        if !turn.request(permission, news, teller, cx) {
            cx.out
                .push(DialectOutput::Announce(Phrase::new("opencode.too_many")));
        }
    }

    /// Handles a request for answers in words.
    pub(super) fn wonders(&mut self, wonders: WordsRequest, cx: &mut Cx<'_>) {
        let words = self.words.clone();
        let Some(conversation) = self.conversation(&wonders.conversation.clone(), cx.out) else {
            return;
        };
        if !conversation.is_new(&wonders.id) {
            return;
        }
        let (request, left_out) = (wonders.id.clone(), wonders.left_out);
        let form = QuestionForm::new(wonders);
        let Some(first) = form.next(&request, &words) else {
            return;
        };
        let (turn, teller) = conversation.turn(cx);
        if left_out > 0 || !turn.clarify(first, false, teller, cx) {
            // A request that is not asked in full cannot be answered.
            cx.out
                .push(DialectOutput::Announce(Phrase::new("opencode.too_many")));
            return;
        }
        conversation.forms.insert(request, form);
    }

    /// Handles the report that a request was decided.
    pub(super) fn decided(
        &mut self,
        id: &str,
        request: &str,
        allowed: Option<bool>,
        cx: &mut Cx<'_>,
    ) {
        let root = self.root(id);
        let Some(conversation) = self.conversations.get_mut(&root) else {
            return;
        };
        let Some(turn) = &mut conversation.turn else {
            return conversation.is_done(request);
        };
        let asked = turn.is_asked(request);
        let was_open = turn.decided_elsewhere(request, allowed, &mut conversation.teller, cx);
        if was_open && !asked {
            // The person never heard of the request.
            cx.out.push(DialectOutput::Detail(Phrase::new(
                "opencode.decided_unasked",
            )));
        }
        if was_open || !turn.is_asked(request) {
            conversation.is_done(request);
        }
    }

    /// Handles an answer of the person.
    pub(super) fn answer(&mut self, request: u64, reply: &Reply, cx: &mut Cx<'_>) {
        let token = reply.token.reveal();
        let mut found = None;
        for (id, conversation) in self.conversations.iter_mut() {
            let turn = conversation.turn.as_mut();
            if turn.is_some_and(|turn| turn.asked_under(token).is_some()) {
                found = Some(id.clone());
            }
        }
        let step = match found.as_ref().and_then(|id| self.conversations.get_mut(id)) {
            Some(conversation) if !self.listens => conversation.answer(request, reply),
            Some(_) | None => AnswerAction::Unfit(Fault::OneWay),
        };
        let id = found.unwrap_or_default();
        match step {
            AnswerAction::Goes(name, call) => {
                self.request(request, RequestPurpose::Answer(id, name), call, cx.out)
            }
            AnswerAction::Stays(name) => {
                cx.out.push(DialectOutput::Settled {
                    request,
                    outcome: Ok(Receipt::Here),
                });
                self.is_kept(&id, request, &name, cx);
            }
            AnswerAction::Unfit(fault) => cx.out.push(DialectOutput::Settled {
                request,
                outcome: Err(DeliveryFailure::Kept(fault)),
            }),
        }
    }

    /// Keeps an answer, and asks the next question of the same request.
    fn is_kept(&mut self, id: &str, request: u64, name: &str, cx: &mut Cx<'_>) {
        let words = self.words.clone();
        let Some(conversation) = self.conversations.get_mut(id) else {
            return;
        };
        let next = conversation
            .forms
            .get(name)
            .and_then(|form| form.next(name, &words));
        if let (Some(turn), Some(next)) = (&mut conversation.turn, next) {
            turn.clarify(next, true, &mut conversation.teller, cx);
            cx.out
                .push(DialectOutput::Announce(Phrase::new("opencode.kept")));
            turn.answered(request, &mut conversation.teller, cx);
        }
    }

    /// Handles the outcome of sending an answer.
    pub(super) fn answer_went(
        &mut self,
        request: u64,
        (id, name): (&str, &str),
        outcome: &Result<HttpAnswer, Fault>,
        cx: &mut Cx<'_>,
    ) {
        let status = outcome.as_ref().map(|answer| answer.status);
        let outcome = delivered(outcome);
        let taken = outcome.is_ok();
        cx.out.push(DialectOutput::Settled { request, outcome });
        let Some(conversation) = self.conversations.get_mut(id) else {
            return;
        };
        if taken || status == Ok(GONE) {
            conversation.is_done(name);
        }
        let Some(turn) = &mut conversation.turn else {
            return;
        };
        let teller = &mut conversation.teller;
        if taken {
            turn.answered(request, teller, cx);
        } else if status == Ok(GONE) {
            turn.too_late(request, teller, cx);
        } else {
            turn.unanswered(request, teller, cx);
        }
    }
}

impl super::conversation::OpencodeConversation {
    /// Returns whether a request was never asked, and its turn is not being stopped.
    fn is_new(&self, request: &str) -> bool {
        let open = self
            .turn
            .as_ref()
            .is_some_and(|turn| turn.stopping || turn.requests().any(|id| id.is_name(request)));
        !open && !self.done.iter().any(|done| done == request)
    }

    /// Determines what to do with an answer.
    fn answer(&mut self, request: u64, reply: &Reply) -> AnswerAction {
        let unfit = || {
            AnswerAction::Unfit(Fault::Rejected {
                reason: Phrase::new("opencode.no_answer"),
                retry_after: None,
                again: false,
            })
        };
        let turn = self.turn.as_mut();
        let Some(asked) = turn.and_then(|turn| turn.asked_under(reply.token.reveal())) else {
            return AnswerAction::Unfit(Fault::OneWay);
        };
        let Some(name) = asked.id.name() else {
            return unfit();
        };
        let mut allows = false;
        let step = match (&reply.answer, self.forms.get_mut(&name)) {
            (
                Answer::Decision {
                    decision,
                    rationale,
                },
                None,
            ) => {
                let choice = asked
                    .offered
                    .iter()
                    .find(|it| it.decision == decision.as_str());
                let Some(choice) = choice else {
                    return unfit();
                };
                allows = choice.allows;
                let call = questions::decided(&name, choice, rationale.as_deref());
                AnswerAction::Goes(name, call)
            }
            (Answer::Response(Response::Text(text)), Some(form)) => {
                match form.answer(&name, text) {
                    AnswerEffect::Sent(call) => AnswerAction::Goes(name, call),
                    AnswerEffect::Kept => AnswerAction::Stays(name),
                    AnswerEffect::Unfit => return unfit(),
                }
            }
            (Answer::Response(_), _) | (Answer::Decision { .. }, Some(_)) => return unfit(),
        };
        asked.sending = Some(SentAnswer {
            request,
            allows,
            reason: None,
        });
        step
    }
}
