//! The person's decisions: from the command to the answer that is sent.

use crate::announce::{Arg, Class, takes_two_steps};
use crate::keys::Edit;
use crate::protocol::{Answer, Decision, LONGEST_RATIONALE, Now, Response};
use crate::session::{Question, QuestionBody, QuestionId, TokenUse};

use super::gate::Meant;
use crate::app::App;
use crate::app::activity::Doing;
use crate::app::by::By;
use crate::app::hands;

impl App {
    /// Accepts, or says yes.
    pub(in crate::app) fn accept(&mut self, number: Option<u64>, by: By, now: Now) {
        if self.take_back(number, false, now) {
            return;
        }
        let Some(question) = self.ready(number, Meant::Accept, by, now) else {
            return;
        };
        if !self.is_told_whole(&question, now) {
            return;
        }
        match &question.body {
            QuestionBody::Confirmation(asked) if !asked.takes(&Decision::Accept) => {
                self.wants(&question, now);
            }
            QuestionBody::Confirmation(_) => self.decide(&question, Decision::Accept, None, now),
            QuestionBody::Clarification(asked) => self.yes_or_no(&question, asked, true, now),
        }
    }

    /// Rejects, or says no.
    pub(in crate::app) fn reject(
        &mut self,
        number: Option<u64>,
        rationale: Option<String>,
        by: By,
        now: Now,
    ) {
        self.cx.doing = Doing::Watching;
        let because = Meant::RejectBecause;
        let addressed = self.addressed(number, rationale, because, by, now);
        let Some((number, rationale)) = addressed else {
            return;
        };
        if self.take_back(number, true, now) {
            return;
        }
        let meant = if rationale.is_some() {
            Meant::RejectBecause
        } else {
            Meant::Reject
        };
        let Some(question) = self.ready(number, meant, by, now) else {
            return;
        };
        match &question.body {
            QuestionBody::Confirmation(_) => {
                self.decide(&question, Decision::Reject, rationale, now)
            }
            QuestionBody::Clarification(asked) => {
                if self.is_told_whole(&question, now) {
                    self.yes_or_no(&question, asked, false, now);
                }
            }
        }
    }

    /// Opens the editor for the reason of a rejection; only a rejection can be sent from it.
    pub(in crate::app) fn explain_rejection(&mut self, number: Option<u64>, by: By, now: Now) {
        let Some(question) = self.ready(number, Meant::RejectBecause, by, now) else {
            return;
        };
        match &question.body {
            QuestionBody::Confirmation(asked) if asked.takes(&Decision::Reject) => {
                self.cx.doing = Doing::answering(question.id);
                self.cx
                    .tell_about(Class::Response, &question, "reply.reason", &[], now);
            }
            QuestionBody::Confirmation(_) | QuestionBody::Clarification(_) => {
                self.wants(&question, now)
            }
        }
    }

    /// Answers a clarification in words or with a number; without a text, opens the editor.
    pub(in crate::app) fn answer(
        &mut self,
        number: Option<u64>,
        text: Option<String>,
        by: By,
        now: Now,
    ) {
        let Some((number, text)) = self.addressed(number, text, Meant::Text, by, now) else {
            return;
        };
        let Some(question) = self.ready(number, Meant::Text, by, now) else {
            return;
        };
        let QuestionBody::Clarification(asked) = &question.body else {
            self.wants(&question, now);
            return;
        };
        if !self.is_told_whole(&question, now) {
            return;
        }
        match text {
            Some(text) => match behind_number(&text, &question).filter(|_| number.is_none()) {
                Some(rest) if matches!(by, By::Line { .. }) => {
                    self.answer_perhaps_numbered(&question, asked, &text, rest, now);
                }
                Some(_) | None => self.answer_with(&question, asked, &text, now),
            },
            None => {
                self.cx.doing = Doing::answering(question.id);
                self.cx
                    .tell_about(Class::Response, &question, "reply.editing", &[], now);
            }
        }
    }

    /// Answers with a choice by its number; without one, waits for digits.
    pub(in crate::app) fn choose(
        &mut self,
        number: Option<u64>,
        choice: Option<usize>,
        by: By,
        now: Now,
    ) {
        let Some(question) = self.ready(number, Meant::Choice(choice), by, now) else {
            return;
        };
        if question.body.choices() == 0 {
            self.wants(&question, now);
            return;
        }
        if !self.is_told_whole(&question, now) {
            return;
        }
        let Some(choice) = choice else {
            self.open_choices(&question, now);
            return;
        };
        self.cx.doing = Doing::Watching;
        let Some(at) = choice.checked_sub(1) else {
            self.wants(&question, now);
            return;
        };
        match &question.body {
            QuestionBody::Clarification(asked) => match asked.choices.get(at) {
                Some(choice) => {
                    let answer = Answer::Response(Response::Text(choice.value.clone()));
                    self.propose(&question, answer, now);
                }
                None => self.wants(&question, now),
            },
            QuestionBody::Confirmation(asked) => match asked.others().nth(at).cloned() {
                Some(decision) => self.decide(&question, decision, None, now),
                None => self.wants(&question, now),
            },
        }
    }

    /// Adds a digit of a choice, which is sent as soon as no longer number is possible.
    pub(in crate::app) fn digit(&mut self, digit: usize, now: Now) {
        let Doing::Choosing(choices) = &mut self.cx.doing else {
            return;
        };
        let id = choices.question();
        let count = self
            .cx
            .sessions
            .question(id)
            .map_or(0, |question| question.body.choices());
        if let Some(choice) = choices.digit(digit, count) {
            // The keys for a choice were armed when it was begun.
            self.choose(Some(id.0), Some(choice), By::Begun, now);
        }
    }

    /// Changes or sends what is being typed.
    pub(in crate::app) fn edit(&mut self, edit: Edit, now: Now) {
        match edit {
            Edit::Submit => {}
            Edit::Older | Edit::Newer => {
                return self.prompts.take_up(edit == Edit::Older, &mut self.cx, now);
            }
            Edit::Complete => return self.prompts.complete(&self.links, &mut self.cx, now),
            edit => return hands::typing::change_line(edit, &mut self.cx, now),
        }
        match &mut self.cx.doing {
            Doing::Choosing(choices) => {
                let (id, taken) = (choices.question(), choices.taken());
                self.take_choice(id, taken, now);
            }
            Doing::Searching(line) => {
                let typed = line.value().trim().to_owned();
                self.review.submit_search(typed, &mut self.cx, now);
            }
            Doing::Prompting { whom, line } => {
                let (whom, typed) = (whom.clone(), line.value().trim().to_owned());
                let facts =
                    self.prompts
                        .submit_prompt(&whom, &typed, &self.links, &mut self.cx, now);
                self.pass(facts, now);
            }
            Doing::Answering { question, line } => {
                let (id, text) = (*question, line.value().trim().to_owned());
                self.submit(id, text, now);
            }
            Doing::Watching
            | Doing::Confirming(_)
            | Doing::Helping { .. }
            | Doing::Quitting
            | Doing::Leaving(_) => {}
        }
    }

    fn submit(&mut self, id: QuestionId, text: String, now: Now) {
        if text.is_empty() {
            self.cx.respond("reply.empty", &[], now);
            return;
        }
        // Typing an answer and pressing Enter is a decision; only the question must still be open.
        let Some(question) = self.still_there(id.0, Meant::Text, now) else {
            self.cx.doing = Doing::Watching;
            return;
        };
        match &question.body {
            QuestionBody::Clarification(asked) => self.answer_with(&question, asked, &text, now),
            QuestionBody::Confirmation(_) => {
                self.decide(&question, Decision::Reject, Some(text), now)
            }
        }
        if self
            .cx
            .sessions
            .question(question.id)
            .is_some_and(|question| !question.is_answerable())
        {
            self.cx.doing = Doing::Watching;
        }
    }

    fn decide(
        &mut self,
        question: &Question,
        decision: Decision,
        rationale: Option<String>,
        now: Now,
    ) {
        let QuestionBody::Confirmation(asked) = &question.body else {
            return;
        };
        if !asked.takes(&decision) {
            let answer = self.cx.announcer.decision_words(&decision);
            let args = [("answer", Arg::Own(answer))];
            self.cx
                .tell_about(Class::Response, question, "reply.not_allowed", &args, now);
            return;
        }
        let long = rationale.as_deref().unwrap_or_default().chars().count();
        if long > LONGEST_RATIONALE {
            let args = [("n", Arg::own(long)), ("most", Arg::own(LONGEST_RATIONALE))];
            self.cx
                .tell_about(Class::Response, question, "reply.reason_long", &args, now);
            return;
        }
        self.propose(
            question,
            Answer::Decision {
                decision,
                rationale,
            },
            now,
        );
    }

    /// Sends an answer, or asks for the second step if one is needed.
    pub(in crate::app) fn propose(&mut self, question: &Question, answer: Answer, now: Now) {
        let stated = match &answer {
            Answer::Decision {
                decision: Decision::Accept,
                ..
            } => takes_two_steps(question),
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
            self.ask_to_confirm(question, answer, now);
        } else {
            self.send(question, answer, now);
        }
    }
}

/// Returns the answer that may have arrived and that this one would contradict.
pub(in crate::app) fn contrary<'a>(question: &'a Question, answer: &Answer) -> Option<&'a Answer> {
    let given = question.reply.perhaps()?;
    (given.answer != *answer).then_some(&given.answer)
}

/// Returns whether a response is a choice that can't be undone, by its producer's word.
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
