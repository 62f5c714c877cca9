//! Choosing one of several answers: by number, by first letter, or step by step.
//!
//! Responsibilities: which choice is in focus, which are picked if several may be, and which answer results.
//! Not here: the person's place (`choice_progress`), whether the question may be answered (`answer_commands`),
//! drawing (`pane`).
//!
//! # Mental model
//! Opening the choices is armed like any answer. From then on a digit answers immediately, letters and arrows only move
//! the focus and announce it, and Enter answers with the choice in focus. Nothing is in focus before the person moves
//! it, so that Enter alone never answers.

use crate::announce::Arg;
use crate::keys::ChoiceMove;
use crate::protocol::{Answer, Response};
use crate::session::{Question, QuestionBody, QuestionId};

use super::Questions;
use super::gate::Meant;
use crate::app::activity::choice_progress::{Choices, Taken};
use crate::app::{Activity, AnswerOrigin, AppCx, AppFacts};

/// The separator between several picked values: the protocol carries a single text (6.6.1).
const BETWEEN: &str = ", ";

impl Questions {
    /// Returns the choice in focus, from 0.
    pub(in crate::app) fn choice_in_focus(&self, cx: &AppCx) -> Option<usize> {
        cx.doing.choices()?.focus()
    }

    /// Returns whether a choice is picked; `None` if only one can be chosen.
    pub(in crate::app) fn is_picked(&self, at: usize, cx: &AppCx) -> Option<bool> {
        let question = cx.sessions.question(self.shown_id()?)?;
        let picked = |choices: &Choices| choices.is_picked(at);
        takes_several(question).then(|| cx.doing.choices().is_some_and(picked))
    }

    /// Returns the label of each choice of a question, as the person knows it.
    pub(in crate::app) fn choice_labels(&self, question: &Question, cx: &AppCx) -> Vec<String> {
        match &question.body {
            QuestionBody::Clarification(asked) => asked
                .choices
                .iter()
                .map(|choice| {
                    let label = crate::announce::speakable::one_line(&choice.label);
                    let lexicon = cx.phrases().lexicon();
                    lexicon.name_directions(&label).into_owned()
                })
                .collect(),
            QuestionBody::Confirmation(asked) => asked
                .further_decisions()
                .map(|decision| cx.announcer.decision_words(decision))
                .collect(),
        }
    }

    /// Opens the choices of a question.
    pub(super) fn open_choices(&self, question: &Question, cx: &mut AppCx) {
        cx.doing = Activity::Choosing(Choices::new(question.id));
        let key = if takes_several(question) {
            "choice.open.several"
        } else {
            "choice.open"
        };
        cx.respond(key, &[]);
    }

    /// Moves the focus among the choices, or picks the one in focus.
    pub(in crate::app) fn move_choice(&self, to: ChoiceMove, cx: &mut AppCx) {
        let Some((id, focus)) = cx
            .doing
            .choices()
            .map(|choices| (choices.question(), choices.focus()))
        else {
            return;
        };
        let Some(question) = cx.sessions.shared(id) else {
            return;
        };
        let labels = self.choice_labels(&question, cx);
        let Some(last) = labels.len().checked_sub(1) else {
            return;
        };
        let next = match to {
            ChoiceMove::Previous => focus.map_or(last, |at| at.saturating_sub(1)),
            ChoiceMove::Next => focus.map_or(0, |at| (at + 1).min(last)),
            ChoiceMove::First => 0,
            ChoiceMove::Last => last,
            ChoiceMove::Letter(letter) => {
                let from = focus.map_or(0, |at| at + 1);
                let begins = |at: &usize| {
                    let first = labels.get(*at).and_then(|label| label.chars().next());
                    first.is_some_and(|first| first.to_lowercase().eq(letter.to_lowercase()))
                };
                let found = (from..labels.len()).chain(0..from).find(begins);
                match found {
                    Some(at) => at,
                    None => {
                        let letter = ("letter", Arg::own(letter));
                        cx.respond("choice.no_letter", &[letter]);
                        return;
                    }
                }
            }
            ChoiceMove::Pick => {
                let Some(at) = focus.filter(|_| takes_several(&question)) else {
                    self.say_choice(&question, &labels, cx);
                    return;
                };
                if let Activity::Choosing(choices) = &mut cx.doing {
                    choices.pick(at);
                }
                at
            }
        };
        if let Activity::Choosing(choices) = &mut cx.doing {
            choices.go_to(next);
        }
        self.say_choice(&question, &labels, cx);
    }

    /// Announces the choice in focus; it is not news and does not enter the history.
    fn say_choice(&self, question: &Question, labels: &[String], cx: &mut AppCx) {
        let Some(at) = self.choice_in_focus(cx) else {
            cx.respond("choice.open", &[]);
            return;
        };
        let Some(label) = labels.get(at) else { return };
        let key = match self.is_picked(at, cx) {
            Some(true) => "choice.picked",
            Some(false) => "choice.not_picked",
            None => "choice.focus",
        };
        let args = [
            ("n", Arg::own(at + 1)),
            ("count", Arg::own(labels.len())),
            ("label", cx.announcer.exact(question, label)),
        ];
        cx.answer_aside(cx.words(key, &args));
        // The focused row shows it.
        cx.answers.clear();
    }

    /// Answers with the choices that the person made.
    pub(in crate::app) fn take_choice(
        &mut self,
        id: QuestionId,
        taken: Taken,
        cx: &mut AppCx,
    ) -> AppFacts {
        // The keys for a choice were armed when it was begun.
        let by = AnswerOrigin::Begun;
        let picked = match taken {
            Taken::Nothing => {
                cx.respond("choice.open", &[]);
                return Vec::new();
            }
            Taken::One(choice) => return self.choose(Some(id.0), Some(choice), by, cx),
            Taken::Picked(picked) => picked,
        };
        let Some(question) = self.ready(Some(id.0), Meant::Choice(None), by, cx) else {
            return Vec::new();
        };
        let QuestionBody::Clarification(asked) = &question.body else {
            return Vec::new();
        };
        let values: Vec<&str> = picked
            .iter()
            .filter_map(|at| asked.choices.get(*at))
            .map(|choice| choice.value.as_str())
            .collect();
        cx.doing = Activity::Watching;
        let answer = Answer::Response(Response::Text(values.join(BETWEEN)));
        self.propose(&question, answer, cx)
    }
}

fn takes_several(question: &Question) -> bool {
    match &question.body {
        QuestionBody::Clarification(asked) => asked.takes_several,
        QuestionBody::Confirmation(_) => false,
    }
}
