//! What the person decides, how it goes out, and what becomes of it.

use std::time::Duration;

use crate::announce::{Arg, Class, takes_two_steps};
use crate::keys::{Edit, Mode};
use crate::protocol::{Answer, Decision, LONGEST_RATIONALE, Now, Response};
use crate::session::{Prompt, PromptId, Question, Standing, TokenUse};

use super::App;
use super::gate::{By, Meant};

/// The second step counts only this long after the first: a burst of keys is no decision.
const STEP_APART: Duration = Duration::from_millis(150);

impl App {
    /// Accepts, or says yes.
    pub(super) fn accept(&mut self, number: Option<u64>, by: By, now: Now) {
        if self.take_back(number, false, now) {
            return;
        }
        let Some(prompt) = self.ready(number, Meant::Accept, by, now) else {
            return;
        };
        if !self.is_told_whole(&prompt, now) {
            return;
        }
        match &prompt.question {
            Question::Confirmation(asked) if !asked.takes(&Decision::Accept) => {
                self.wants(&prompt, now);
            }
            Question::Confirmation(_) => self.decide(&prompt, Decision::Accept, None, now),
            Question::Clarification(asked) => self.yes_or_no(&prompt, asked, true, now),
        }
    }

    /// Asks for the second step.
    fn ask_to_confirm(&mut self, prompt: &Prompt, answer: Answer, now: Now) {
        self.mode = Mode::Confirming(prompt.id.0);
        let words = self.announcer.answer_words(prompt, &answer);
        let mut args = vec![
            ("n", Arg::own(prompt.id.0)),
            ("subject", self.announcer.subject(prompt)),
            ("answer", Arg::Own(words)),
        ];
        let accepts = matches!(
            answer,
            Answer::Decision {
                decision: Decision::Accept,
                ..
            }
        );
        let key = if let Some(earlier) = contrary(prompt, &answer) {
            let earlier = self.announcer.answer_words(prompt, earlier);
            args.push(("earlier", Arg::Own(earlier)));
            self.by_manner(
                "reply.second_step.contrary.keys",
                "reply.second_step.contrary.lines",
            )
        } else if accepts {
            self.by_manner("reply.second_step.keys", "reply.second_step.lines")
        } else {
            self.by_manner(
                "reply.second_step.other.keys",
                "reply.second_step.other.lines",
            )
        };
        self.confirming = Some((now, answer));
        if prompt.standing == Standing::Resumed {
            let args = [("n", Arg::own(prompt.id.0))];
            self.tell_about(Class::Response, prompt, "reply.perhaps", &args, now);
        }
        self.tell_about(Class::Response, prompt, key, &args, now);
    }

    /// Takes the second step.
    pub(super) fn confirm(&mut self, number: Option<u64>, by: By, now: Now) {
        let Mode::Confirming(waiting) = self.mode else {
            // Without a first step there is nothing to confirm; the question says what it wants.
            if let Some(prompt) = self.ready(number, Meant::Confirm, by, now) {
                let keys = self.announcer.keys(&prompt);
                self.respond("fault.other", &[("reason", Arg::Own(keys))], now);
            }
            return;
        };
        if number.is_some_and(|number| number != waiting) {
            self.stay_open(now);
            return;
        }
        let Some((since, answer)) = self.confirming.clone() else {
            self.stay_open(now);
            return;
        };
        if let By::Key(press) = by
            && press.read < since.monotonic + STEP_APART
        {
            self.stay_open(now);
            return;
        }
        let prompt = self.still_there(waiting, Meant::Confirm, now);
        self.mode = Mode::Watching;
        let Some(prompt) = prompt else { return };
        self.send(&prompt, answer, now);
    }

    /// Rejects, or says no.
    pub(super) fn reject(
        &mut self,
        number: Option<u64>,
        rationale: Option<String>,
        by: By,
        now: Now,
    ) {
        self.mode = Mode::Watching;
        let (number, rationale) = self.addressed(number, rationale, by);
        if self.take_back(number, true, now) {
            return;
        }
        let meant = if rationale.is_some() {
            Meant::RejectBecause
        } else {
            Meant::Reject
        };
        let Some(prompt) = self.ready(number, meant, by, now) else {
            return;
        };
        match &prompt.question {
            Question::Confirmation(_) => self.decide(&prompt, Decision::Reject, rationale, now),
            Question::Clarification(asked) => {
                if self.is_told_whole(&prompt, now) {
                    self.yes_or_no(&prompt, asked, false, now);
                }
            }
        }
    }

    /// Opens the editor for the reason of a rejection; what is sent is a rejection and nothing else.
    pub(super) fn explain_rejection(&mut self, number: Option<u64>, by: By, now: Now) {
        let Some(prompt) = self.ready(number, Meant::RejectBecause, by, now) else {
            return;
        };
        match &prompt.question {
            Question::Confirmation(asked) if asked.takes(&Decision::Reject) => {
                self.mode = Mode::Editing(prompt.id.0);
                self.editor.reset();
                self.tell_about(Class::Response, &prompt, "reply.reason", &[], now);
            }
            Question::Confirmation(_) | Question::Clarification(_) => self.wants(&prompt, now),
        }
    }

    /// Answers a clarification in words or with a number; without a text, opens the editor.
    pub(super) fn answer(&mut self, number: Option<u64>, text: Option<String>, by: By, now: Now) {
        let (number, text) = self.addressed(number, text, by);
        let Some(prompt) = self.ready(number, Meant::Text, by, now) else {
            return;
        };
        let Question::Clarification(asked) = &prompt.question else {
            self.wants(&prompt, now);
            return;
        };
        if !self.is_told_whole(&prompt, now) {
            return;
        }
        match text {
            Some(text) => self.answer_with(&prompt, asked, &text, now),
            None => {
                self.mode = Mode::Editing(prompt.id.0);
                self.editor.reset();
                self.tell_about(Class::Response, &prompt, "reply.editing", &[], now);
            }
        }
    }

    /// Takes a choice by its number; without one, waits for digits.
    pub(super) fn choose(&mut self, number: Option<u64>, choice: Option<usize>, by: By, now: Now) {
        let Some(prompt) = self.ready(number, Meant::Choice(choice), by, now) else {
            return;
        };
        if prompt.question.choices() == 0 {
            self.wants(&prompt, now);
            return;
        }
        if !self.is_told_whole(&prompt, now) {
            return;
        }
        let Some(choice) = choice else {
            self.open_choices(&prompt, now);
            return;
        };
        self.mode = Mode::Watching;
        let Some(at) = choice.checked_sub(1) else {
            self.wants(&prompt, now);
            return;
        };
        match &prompt.question {
            Question::Clarification(asked) => match asked.choices.get(at) {
                Some(choice) => {
                    let answer = Answer::Response(Response::Text(choice.value.clone()));
                    self.propose(&prompt, answer, now);
                }
                None => self.wants(&prompt, now),
            },
            Question::Confirmation(asked) => match asked.others().nth(at).cloned() {
                Some(decision) => self.decide(&prompt, decision, None, now),
                None => self.wants(&prompt, now),
            },
        }
    }

    /// Takes a digit of a choice: it is taken at once when no longer number could be meant.
    pub(super) fn digit(&mut self, digit: usize, now: Now) {
        let Mode::Choosing(id, so_far) = self.mode else {
            return;
        };
        let choice = so_far * 10 + digit;
        let count = self
            .sessions
            .prompt(PromptId(id))
            .map_or(0, |prompt| prompt.question.choices());
        if choice * 10 > count {
            // The keys for a choice were armed when it was begun.
            self.choose(Some(id), Some(choice), By::Begun, now);
        } else {
            self.mode = Mode::Choosing(id, choice);
        }
    }

    /// Changes or sends what is being typed.
    pub(super) fn edit(&mut self, edit: Edit, now: Now) {
        match (edit, self.mode) {
            (Edit::Submit, Mode::Choosing(id, typed)) => self.take_choice(id, typed, now),
            (Edit::Submit, _) => self.submit(now),
            (edit, _) => self.change_line(edit, now),
        }
    }

    fn submit(&mut self, now: Now) {
        if self.mode == Mode::Searching {
            self.submit_search(now);
            return;
        }
        let Mode::Editing(id) = self.mode else { return };
        let text = self.editor.value().trim().to_owned();
        if text.is_empty() {
            self.respond("reply.empty", &[], now);
            return;
        }
        // Whoever typed an answer and pressed Enter means it; only the question must still be there.
        let Some(prompt) = self.still_there(id, Meant::Text, now) else {
            self.mode = Mode::Watching;
            return;
        };
        match &prompt.question {
            Question::Clarification(asked) => self.answer_with(&prompt, asked, &text, now),
            Question::Confirmation(_) => self.decide(&prompt, Decision::Reject, Some(text), now),
        }
        if self
            .sessions
            .prompt(prompt.id)
            .is_some_and(|prompt| !prompt.is_answerable())
        {
            self.mode = Mode::Watching;
            self.editor.reset();
        }
    }

    fn decide(&mut self, prompt: &Prompt, decision: Decision, rationale: Option<String>, now: Now) {
        let Question::Confirmation(asked) = &prompt.question else {
            return;
        };
        if !asked.takes(&decision) {
            let answer = self.announcer.decision_words(&decision);
            let args = [("answer", Arg::Own(answer))];
            self.tell_about(Class::Response, prompt, "reply.not_allowed", &args, now);
            return;
        }
        let long = rationale.as_deref().unwrap_or_default().chars().count();
        if long > LONGEST_RATIONALE {
            let args = [("n", Arg::own(long)), ("most", Arg::own(LONGEST_RATIONALE))];
            self.tell_about(Class::Response, prompt, "reply.reason_long", &args, now);
            return;
        }
        self.propose(
            prompt,
            Answer::Decision {
                decision,
                rationale,
            },
            now,
        );
    }

    /// Sends an answer, or asks for the second step where one is wanted.
    pub(super) fn propose(&mut self, prompt: &Prompt, answer: Answer, now: Now) {
        let stated = match &answer {
            Answer::Decision {
                decision: Decision::Accept,
                ..
            } => takes_two_steps(prompt),
            // Nobody knows what another decision does: it always takes the second step.
            Answer::Decision {
                decision: Decision::Other(_),
                ..
            } => true,
            Answer::Decision {
                decision: Decision::Reject,
                ..
            }
            | Answer::Response(_) => prompt.token_use != TokenUse::Own,
        };
        if stated || contrary(prompt, &answer).is_some() {
            self.ask_to_confirm(prompt, answer, now);
        } else {
            self.send(prompt, answer, now);
        }
    }

    /// Picks between the wording for keys and the one for lines.
    pub(super) fn by_manner(&self, keys: &'static str, lines: &'static str) -> &'static str {
        match self.manner {
            crate::announce::Manner::Keys => keys,
            crate::announce::Manner::Lines => lines,
        }
    }

    /// Leaves a second step or a choice without a decision, and says so.
    pub(super) fn stay_open(&mut self, now: Now) {
        if let Mode::Confirming(id) | Mode::Choosing(id, _) = self.mode {
            self.mode = Mode::Watching;
            self.respond("reply.still_open", &[("n", Arg::own(id))], now);
        }
    }
}

/// Gives the answer that perhaps arrived and that another one would contradict.
fn contrary<'a>(prompt: &'a Prompt, answer: &Answer) -> Option<&'a Answer> {
    let given = prompt.reply.perhaps()?;
    (given.answer != *answer).then_some(&given.answer)
}
