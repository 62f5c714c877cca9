//! The person's decisions: from the command to the answer that is sent.

use crate::announce::{Arg, Class, takes_two_steps};
use crate::protocol::{Answer, Decision, LONGEST_RATIONALE, Response};
use crate::session::{Question, QuestionBody, QuestionId, TokenUse};

use super::Questions;
use super::gate::Meant;
use crate::app::{Activity, AnswerOrigin, AppCx, AppFact, AppFacts};

impl Questions {
    /// Accepts, or says yes.
    pub(in crate::app) fn accept(
        &mut self,
        number: Option<u64>,
        by: AnswerOrigin,
        cx: &mut AppCx,
    ) -> AppFacts {
        if self.take_back(number, false, cx) {
            return Vec::new();
        }
        let Some(question) = self.ready(number, Meant::Accept, by, cx) else {
            return Vec::new();
        };
        if !self.is_told_whole(&question, cx) {
            return Vec::new();
        }
        match &question.body {
            QuestionBody::Confirmation(asked) if !asked.accepts(&Decision::Accept) => {
                self.wants(&question, cx);
                Vec::new()
            }
            QuestionBody::Confirmation(_) => self.decide(&question, Decision::Accept, None, cx),
            QuestionBody::Clarification(asked) => self.yes_or_no(&question, asked, true, cx),
        }
    }

    /// Rejects, or says no.
    pub(in crate::app) fn reject(
        &mut self,
        number: Option<u64>,
        rationale: Option<String>,
        by: AnswerOrigin,
        cx: &mut AppCx,
    ) -> AppFacts {
        cx.doing = Activity::Watching;
        let because = Meant::RejectBecause;
        let addressed = self.addressed(number, rationale, because, by, cx);
        let Some((number, rationale)) = addressed else {
            return Vec::new();
        };
        if self.take_back(number, true, cx) {
            return Vec::new();
        }
        let meant = if rationale.is_some() {
            Meant::RejectBecause
        } else {
            Meant::Reject
        };
        let Some(question) = self.ready(number, meant, by, cx) else {
            return Vec::new();
        };
        match &question.body {
            QuestionBody::Confirmation(_) => {
                self.decide(&question, Decision::Reject, rationale, cx)
            }
            QuestionBody::Clarification(asked) => {
                if !self.is_told_whole(&question, cx) {
                    return Vec::new();
                }
                self.yes_or_no(&question, asked, false, cx)
            }
        }
    }

    /// Opens the editor for the reason of a rejection; only a rejection can be sent from it.
    pub(in crate::app) fn explain_rejection(
        &mut self,
        number: Option<u64>,
        by: AnswerOrigin,
        cx: &mut AppCx,
    ) {
        let Some(question) = self.ready(number, Meant::RejectBecause, by, cx) else {
            return;
        };
        match &question.body {
            QuestionBody::Confirmation(asked) if asked.accepts(&Decision::Reject) => {
                cx.doing = Activity::answering(question.id);
                cx.tell_about(Class::Response, &question, "reply.reason", &[]);
            }
            QuestionBody::Confirmation(_) | QuestionBody::Clarification(_) => {
                self.wants(&question, cx)
            }
        }
    }

    /// Answers a clarification in words or with a number; without a text, opens the editor.
    pub(in crate::app) fn answer(
        &mut self,
        number: Option<u64>,
        text: Option<String>,
        by: AnswerOrigin,
        cx: &mut AppCx,
    ) -> AppFacts {
        let Some((number, text)) = self.addressed(number, text, Meant::Text, by, cx) else {
            return Vec::new();
        };
        let Some(question) = self.ready(number, Meant::Text, by, cx) else {
            return Vec::new();
        };
        let QuestionBody::Clarification(asked) = &question.body else {
            self.wants(&question, cx);
            return Vec::new();
        };
        if !self.is_told_whole(&question, cx) {
            return Vec::new();
        }
        match text {
            Some(text) => match behind_number(&text, &question).filter(|_| number.is_none()) {
                Some(rest) if matches!(by, AnswerOrigin::Line { .. }) => {
                    self.answer_perhaps_numbered(&question, asked, &text, rest, cx)
                }
                Some(_) | None => self.answer_with(&question, asked, &text, cx),
            },
            None => {
                cx.doing = Activity::answering(question.id);
                cx.tell_about(Class::Response, &question, "reply.editing", &[]);
                Vec::new()
            }
        }
    }

    /// Answers with a choice by its number; without one, waits for digits.
    pub(in crate::app) fn choose(
        &mut self,
        number: Option<u64>,
        choice: Option<usize>,
        by: AnswerOrigin,
        cx: &mut AppCx,
    ) -> AppFacts {
        let Some(question) = self.ready(number, Meant::Choice(choice), by, cx) else {
            return Vec::new();
        };
        if question.body.choices() == 0 {
            self.wants(&question, cx);
            return Vec::new();
        }
        if !self.is_told_whole(&question, cx) {
            return Vec::new();
        }
        let Some(choice) = choice else {
            self.open_choices(&question, cx);
            return Vec::new();
        };
        cx.doing = Activity::Watching;
        let Some(at) = choice.checked_sub(1) else {
            self.wants(&question, cx);
            return Vec::new();
        };
        match &question.body {
            QuestionBody::Clarification(asked) => match asked.choices.get(at) {
                Some(choice) => {
                    let answer = Answer::Response(Response::Text(choice.value.clone()));
                    return self.propose(&question, answer, cx);
                }
                None => self.wants(&question, cx),
            },
            QuestionBody::Confirmation(asked) => match asked.further_decisions().nth(at).cloned() {
                Some(decision) => return self.decide(&question, decision, None, cx),
                None => self.wants(&question, cx),
            },
        }
        Vec::new()
    }

    /// Adds a digit of a choice, which is sent as soon as no longer number is possible.
    pub(in crate::app) fn digit(&mut self, digit: usize, cx: &mut AppCx) -> AppFacts {
        let Activity::Choosing(choices) = &mut cx.doing else {
            return Vec::new();
        };
        let id = choices.question();
        let count = cx
            .sessions
            .question(id)
            .map_or(0, |question| question.body.choices());
        if let Some(choice) = choices.digit(digit, count) {
            // The keys for a choice were armed when it was begun.
            return self.choose(Some(id.0), Some(choice), AnswerOrigin::Begun, cx);
        }
        Vec::new()
    }

    /// Sends the answer, or the reason, that was typed.
    pub(in crate::app) fn submit(
        &mut self,
        id: QuestionId,
        text: String,
        cx: &mut AppCx,
    ) -> AppFacts {
        if text.is_empty() {
            cx.respond("reply.empty", &[]);
            return Vec::new();
        }
        // Typing an answer and pressing Enter is a decision; only the question must still be open.
        let Some(question) = self.still_there(id.0, Meant::Text, cx) else {
            cx.doing = Activity::Watching;
            return Vec::new();
        };
        let mut facts = match &question.body {
            QuestionBody::Clarification(asked) => self.answer_with(&question, asked, &text, cx),
            QuestionBody::Confirmation(_) => {
                self.decide(&question, Decision::Reject, Some(text), cx)
            }
        };
        facts.push(AppFact::Submitted(question.id));
        facts
    }

    /// Closes the editor after an answer to a question was sent from it.
    pub(in crate::app) fn submitted(&self, id: QuestionId, cx: &mut AppCx) {
        let question = cx.sessions.question(id);
        if question.is_some_and(|question| !question.is_answerable()) {
            cx.doing = Activity::Watching;
        }
    }

    fn decide(
        &mut self,
        question: &Question,
        decision: Decision,
        rationale: Option<String>,
        cx: &mut AppCx,
    ) -> AppFacts {
        let QuestionBody::Confirmation(asked) = &question.body else {
            return Vec::new();
        };
        if !asked.accepts(&decision) {
            let answer = cx.announcer.decision_words(&decision);
            let args = [("answer", Arg::Own(answer))];
            cx.tell_about(Class::Response, question, "reply.not_allowed", &args);
            return Vec::new();
        }
        let long = rationale.as_deref().unwrap_or_default().chars().count();
        if long > LONGEST_RATIONALE {
            let args = [("n", Arg::own(long)), ("most", Arg::own(LONGEST_RATIONALE))];
            cx.tell_about(Class::Response, question, "reply.reason_long", &args);
            return Vec::new();
        }
        self.propose(
            question,
            Answer::Decision {
                decision,
                rationale,
            },
            cx,
        )
    }

    /// Sends an answer, or asks for the second step if one is needed.
    pub(super) fn propose(
        &mut self,
        question: &Question,
        answer: Answer,
        cx: &mut AppCx,
    ) -> AppFacts {
        let stated = match &answer {
            Answer::Decision {
                decision: Decision::Accept,
                ..
            } => takes_two_steps(question) || self.unseen_lines(question, cx) > 0,
            // The effect of another decision is unknown: it always takes the second step.
            Answer::Decision {
                decision: Decision::Other(_),
                ..
            } => true,
            Answer::Decision {
                decision: Decision::Reject,
                ..
            } => question.token_use != TokenUse::Own,
            Answer::Response(response) => {
                question.token_use != TokenUse::Own || is_final(question, response)
            }
        };
        if stated || contrary(question, &answer).is_some() {
            self.ask_to_confirm(question, answer, cx);
            Vec::new()
        } else {
            self.send(question, answer, false, cx)
        }
    }
}

/// Returns the answer that may have arrived and that this one would contradict.
pub(super) fn contrary<'a>(question: &'a Question, answer: &Answer) -> Option<&'a Answer> {
    let given = question.reply.perhaps()?;
    (given.answer != *answer).then_some(&given.answer)
}

/// Returns whether a response is a choice that its producer declares irreversible.
fn is_final(question: &Question, response: &Response) -> bool {
    match response {
        Response::Text(text) => question.attached.final_choices.contains(text),
        Response::YesNo(_) | Response::Number(_) => false,
    }
}

/// Returns the text after the number of a question, if a text begins with it.
fn behind_number<'a>(text: &'a str, question: &Question) -> Option<&'a str> {
    let (first, rest) = text.trim().split_once(char::is_whitespace)?;
    (first.parse() == Ok(question.id.0)).then(|| rest.trim())
}
