//! What becomes of Sage's questions: its acknowledgements, and its refusals.
//!
//! Responsibilities: closing questions, reporting the outcome of the person's answers, errors that Sage reports. Not
//! here: asking (`questions`).

use crate::Cx;
use crate::link::{Cause, DeliveryFailure, Fault, Phrase, PhraseArg, Receipt, RemoteText};
use crate::protocol::{Answer, Decision, RecordedReply, ReplyToken, Response};

use super::super::DialectOutput;
use super::super::event_writer::{self, short};
use super::Sage;
use super::message::{ClientAnswer, ErrorReport, MessageOrigin};
use super::questions::QuestionSubject;
use super::route::key;
use super::state_tables::{SessionEvent, Tool};
use super::turn_calls::{SageCall, denied};

impl Sage {
    pub(super) fn resolved(
        &mut self,
        place: &MessageOrigin,
        allowed: bool,
        changed: bool,
        cx: &mut Cx<'_>,
    ) {
        let request = place.request.as_deref().unwrap_or_default();
        let found = self.questions.find(&place.thread, request);
        let token = found.map(|(token, _)| token.clone());
        let question = token.as_ref().and_then(|token| self.questions.close(token));
        let by_us = question.as_ref().and_then(|question| question.allowed);
        if let Some(token) = &token {
            // If the decision is the person's, the answer arrived; otherwise that is unknown.
            let receipt = if by_us == Some(allowed) {
                Receipt::Taken
            } else {
                Receipt::Written
            };
            self.settle(token, Ok(receipt), cx.out);
        }
        let (turn, call) = match question.map(|question| (question.turn, question.asks)) {
            Some((turn, QuestionSubject::Permission { call })) => (turn, Some(call)),
            Some((turn, QuestionSubject::Input)) => (turn, None),
            None => (place.turn.clone(), None),
        };
        let place = MessageOrigin {
            turn,
            ..place.clone()
        };
        self.within(&place, cx, |turn, desk, _| {
            let token = token.as_deref();
            turn.resolve(desk, token, call.as_deref(), (allowed, changed), by_us);
        });
    }

    /// Handles the acceptance or refusal of a request, with the reason.
    pub(super) fn response(
        &mut self,
        place: &MessageOrigin,
        accepted: bool,
        why: &str,
        cx: &mut Cx<'_>,
    ) {
        let id = place.request.as_deref().unwrap_or_default();
        let Some((token, question)) = self.questions.answered_by(id) else {
            return;
        };
        let (token, question) = (token.clone(), question.clone());
        let outcome = if accepted {
            Ok(Receipt::Taken)
        } else {
            Err(DeliveryFailure::Refused(Fault::Other(refusal(why))))
        };
        self.settle(&token, outcome, cx.out);
        // A permission is resolved by a message of its own; a request for input is not.
        if accepted && question.asks == QuestionSubject::Input {
            let place = MessageOrigin {
                thread: question.thread,
                ..place.clone()
            };
            self.go_on(&token, &place, question.turn, cx);
        }
    }

    /// Settles the answers to a question that are under way.
    pub(super) fn settle(
        &mut self,
        token: &str,
        outcome: Result<Receipt, DeliveryFailure>,
        out: &mut Vec<DialectOutput>,
    ) {
        let sent = &mut self.questions.sent;
        let numbers: Vec<u64> = sent
            .iter()
            .filter(|(_, (of, _))| of == token)
            .map(|(number, _)| *number)
            .collect();
        for request in numbers {
            sent.remove(&request);
            let outcome = outcome.clone();
            out.push(DialectOutput::Settled { request, outcome });
        }
    }

    /// Handles the answer of another client, as a capture shows it: a message to Sage, not from it.
    pub(super) fn answered_elsewhere(
        &mut self,
        place: &MessageOrigin,
        answered: &ClientAnswer,
        cx: &mut Cx<'_>,
    ) {
        let request = place.request.as_deref().unwrap_or_default();
        let Some((token, question)) = self.questions.find(&place.thread, request) else {
            return;
        };
        let (token, turn) = (token.clone(), question.turn.clone());
        let answer = match (&question.asks, answered) {
            (QuestionSubject::Input, ClientAnswer::Input(text)) => {
                Answer::Response(Response::Text(text.clone()))
            }
            (QuestionSubject::Permission { .. }, ClientAnswer::Permission(allowed)) => {
                Answer::Decision {
                    decision: if *allowed {
                        Decision::Accept
                    } else {
                        Decision::Reject
                    },
                    rationale: None,
                }
            }
            (QuestionSubject::Input, ClientAnswer::Permission(_))
            | (QuestionSubject::Permission { .. }, ClientAnswer::Input(_)) => return,
        };
        cx.out.push(DialectOutput::Answered(RecordedReply {
            token: ReplyToken::new(&token),
            answer,
            timestamp: place.at,
        }));
        // A permission is resolved by a message of its own; a request for input need not be.
        if let ClientAnswer::Input(_) = answered {
            self.go_on(&token, place, turn, cx);
        }
    }

    /// Closes a request for input that was answered; its turn goes on.
    fn go_on(&mut self, token: &str, place: &MessageOrigin, turn: String, cx: &mut Cx<'_>) {
        self.questions.close(token);
        let place = MessageOrigin {
            turn,
            ..place.clone()
        };
        self.step_thread(&place, SessionEvent::Resume, cx);
        self.within(&place, cx, |turn, desk, _| {
            turn.one_less(desk, Some(token), "thinking");
            if turn.open == 0 {
                turn.enter(desk, "thinking");
            }
            turn.settle_state(desk);
        });
    }

    /// Handles an error; one that names no turn is the conversation's own.
    pub(super) fn report(
        &mut self,
        place: &MessageOrigin,
        report: ErrorReport,
        names_turn: bool,
        cx: &mut Cx<'_>,
    ) {
        let request = place.request.as_deref().unwrap_or_default();
        if self.questions.answered_by(request).is_some() {
            let why = if report.message.is_empty() {
                &report.code
            } else {
                &report.message
            };
            self.response(place, false, why, cx);
            return;
        }
        let runs = self.turns.get(&key(place)).is_some_and(|turn| !turn.ended);
        if !names_turn && !runs {
            let is_final = report.retryable == Some(false);
            if is_final && self.threads.contains_key(&place.thread) {
                self.step_thread(place, SessionEvent::Error, cx);
            }
            let words = PhraseArg::Agent(short(&report.message));
            cx.out.push(DialectOutput::Announce(
                Phrase::new("translated.error").with("message", words),
            ));
            return;
        }
        self.within(place, cx, |turn, desk, _| {
            if report.code != "permission_denied" {
                turn.went_wrong(desk, report);
                return;
            }
            let tool = report.tool.as_deref().map(event_writer::tool);
            let of = |machine: fn(Tool) -> bool| {
                let fits = |call: &&SageCall| {
                    machine(call.machine) && tool.as_ref().is_none_or(|tool| *tool == call.tool)
                };
                turn.calls.values().any(|call| fits(&call))
            };
            // Its resolution or its call has announced it already.
            if !of(|machine| machine == Tool::Denied) {
                desk.announce(denied(tool.as_deref(), &report.message));
            }
        });
    }
}

/// Returns why an answer was refused: in Sage's own words, if there are any.
fn refusal(why: &str) -> Cause {
    match why.is_empty() {
        true => Cause::AnswerRefused,
        false => Cause::Said {
            words: RemoteText(short(why)),
        },
    }
}
