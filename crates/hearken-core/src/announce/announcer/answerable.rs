//! How a question can be answered, and in how many steps.
//!
//! Responsibilities: whether it can be answered, in one step or two, and the label of each response.
//! Not here: the words for any of this (`answer_keys`, `doubt`, `question_wording`).

use crate::announce::text::speakable;
use std::collections::BTreeMap;

use crate::protocol::{AgentId, AwaitingClarification};
use crate::session::{AnswerReach, LinkId, Question, QuestionBody, QuestionId};

/// A way to answer that is explained in full once per run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AnswerSteps {
    OneStep,
    TwoSteps,
}

/// How many agents that state no risk are remembered; for a forgotten one it is said again.
const MOST_AGENTS: usize = 4096;

/// What was already said about questions, each with the question that said it.
#[derive(Debug, Default)]
pub(super) struct Explained {
    /// The ways to answer.
    pub(super) ways: BTreeMap<AnswerSteps, QuestionId>,
    /// The agents already reported as stating no risk.
    pub(super) risks: BTreeMap<(LinkId, AgentId), QuestionId>,
}

impl Explained {
    /// Records that the agent of a question states no risk.
    pub(super) fn note_risk(&mut self, question: &Question) {
        let agent = (question.key.link, question.key.agent.clone());
        if self.risks.len() >= MOST_AGENTS && !self.risks.contains_key(&agent) {
            self.risks.pop_first();
        }
        self.risks.entry(agent).or_insert(question.id);
    }
}

/// Returns the key of the reason why a question can't be answered; `None` if it can.
pub(super) fn unanswerable(question: &Question) -> Option<&'static str> {
    match (question.reach, question.body.token()) {
        (AnswerReach::NotAnswerable, _) => Some("question.one_way"),
        (AnswerReach::Live | AnswerReach::Resumed | AnswerReach::LinkLost, None) => {
            Some("question.no_token")
        }
        (AnswerReach::LinkLost, Some(_)) => Some("question.lost"),
        (AnswerReach::Live | AnswerReach::Resumed, Some(_)) => None,
    }
}

/// Returns the way to answer a confirmation. Clarifications return `None`: theirs is short and is explained each time.
pub(super) fn ways(question: &Question) -> Option<AnswerSteps> {
    match (&question.body, unanswerable(question)) {
        (QuestionBody::Confirmation(_), None) if takes_two_steps(question) => {
            Some(AnswerSteps::TwoSteps)
        }
        (QuestionBody::Confirmation(_), None) => Some(AnswerSteps::OneStep),
        (QuestionBody::Confirmation(_), Some(_)) | (QuestionBody::Clarification(_), _) => None,
    }
}

/// Returns whether accepting a question takes two steps.
pub fn takes_two_steps(question: &Question) -> bool {
    let hides = match &question.body {
        QuestionBody::Confirmation(_) => hides_something(question),
        QuestionBody::Clarification(_) => false,
    };
    hides || question.wants_second_step()
}

/// Returns whether a question contains characters that a person can neither see nor hear.
pub fn hides_something(question: &Question) -> bool {
    match &question.body {
        QuestionBody::Confirmation(asked) => {
            speakable::hides(&asked.action)
                || asked.consequence.as_deref().is_some_and(speakable::hides)
        }
        QuestionBody::Clarification(asked) => {
            speakable::hides(&asked.question)
                || asked
                    .choices
                    .iter()
                    .any(|choice| speakable::hides(&choice.label))
        }
    }
}

/// Returns the label by which a person recognises a response: the label of the choice that it stands for, or
/// else the response itself.
pub fn label_of<'a>(asked: &'a AwaitingClarification, response: &'a str) -> &'a str {
    asked
        .choices
        .iter()
        .find(|choice| choice.value == response)
        .map_or(response, |choice| &choice.label)
}
