//! The questions of agents as the person encounters them: which one is shown, how much of it has reached the
//! person, when it may be answered, and what happens to the answer.
//!
//! The folder: `shown_question`, `question_exposure`, `arming` (what is before the person, and whether that is enough),
//! `rule_decisions`, `outgoing_answers` and `attention` hold the state; `question_selection`, `seen_parts`, `gate`,
//! `answer_commands`, `text_answers`, `choice_selection`, `confirmation_step`, `policy`, `answers_file`,
//! `answer_delivery` and `alarms` ask, handle answers and announce. Not here: the questions themselves and their tokens
//! (`session`), their words (`announce`).

mod alarms;
mod answer_commands;
mod answer_delivery;
mod answers_file;
mod arming;
mod attention;
mod choice_selection;
mod confirmation_step;
mod gate;
mod outgoing_answers;
mod policy;
mod question_exposure;
mod question_selection;
mod rule_decisions;
mod seen_parts;
pub(super) mod shown_question;
mod text_answers;

use std::cell::Cell;
use std::time::Duration;

use crate::app::Noticed;
use crate::session::{Question, QuestionId, Sessions};

use attention::Calls;
use outgoing_answers::{Outgoing, OutgoingAnswers};
use question_exposure::ReceivedExtent;
use rule_decisions::Rules;
use shown_question::ShownQuestion;

/// How much may be stored about closed questions before all of it is checked.
const FEW: usize = 64;

/// How long an answer without a number is refused, in a line, after the questions changed.
const CHANGED: Duration = Duration::from_secs(2);

/// How long an answer without a number may still be meant for the question that was shown last: longer than
/// anyone needs to type it, and short enough that a stray key hears only that no question is open.
const LATE: Duration = Duration::from_secs(120);

/// The state of the questions, in addition to the questions themselves.
#[derive(Debug, Clone, Default)]
pub(super) struct Questions {
    /// The question that keys are meant for.
    shown: Option<ShownQuestion>,
    /// The question that keys were last meant for, and until when they were.
    last_shown: Option<(QuestionId, Duration)>,
    received: ReceivedExtent,
    rules: Rules,
    under_way: OutgoingAnswers,
    /// The number of the last request.
    last_request: u64,
    calls: Calls,
    /// The last time that a question came, went or was replaced.
    changed: Option<Duration>,
    /// When input typed ahead of the shown question is discarded a second time.
    flush_at: Option<Duration>,
    /// The question to show, and the state for which it was determined.
    right: Option<(QuestionsVersion, Option<QuestionId>)>,
    /// How many questions wait for the person, and the state for which they were counted.
    waiting: Cell<Option<(QuestionsVersion, usize)>>,
    /// The change count of questions at which closed ones were last dropped.
    kept: u64,
    /// How many entries about questions may be stored before all of them are checked again.
    most_known: usize,
}

/// The state for which a cached result about questions is valid: how often they changed, and how often the set
/// of those left alone did.
type QuestionsVersion = (u64, u64);

impl Questions {
    /// Returns the question that keys are meant for.
    pub(super) fn shown(&self) -> Option<&ShownQuestion> {
        self.shown.as_ref()
    }

    /// Returns the id of the question that keys are meant for.
    pub(super) fn shown_id(&self) -> Option<QuestionId> {
        self.shown.as_ref().map(|shown| shown.question)
    }

    /// Returns the question that an answer without a number may have been meant for, if none is shown any more.
    fn just_shown(&self, now: Duration) -> Option<QuestionId> {
        let (question, until) = self.last_shown?;
        (now.saturating_sub(until) <= LATE).then_some(question)
    }

    /// Sets the shown question, if any.
    fn set_shown(&mut self, question: Option<QuestionId>, now: Duration) {
        if let Some(left) = self.shown_id() {
            self.last_shown = Some((left, now));
        }
        self.shown = question.map(|question| ShownQuestion::new(question, now));
    }

    /// Turns to the next page of a question, if it is the shown one.
    fn turn_page(&mut self, question: QuestionId) {
        if let Some(shown) = self.shown.as_mut().filter(|it| it.question == question) {
            shown.page += 1;
        }
    }

    /// Notes that an answer without a number may now be meant for a different question than a moment ago.
    pub(super) fn note_change(&mut self, now: Duration) {
        self.changed = Some(now);
    }

    /// Returns whether the questions had just changed when a line was read.
    fn had_changed(&self, read: Duration) -> bool {
        self.changed.is_some_and(|at| read < at + CHANGED)
    }

    /// Returns when input typed ahead is discarded a second time.
    pub(super) fn flush_due(&self) -> Option<Duration> {
        self.flush_at
    }

    /// Notes that it was discarded.
    pub(super) fn flushed(&mut self) {
        self.flush_at = None;
    }

    /// Returns when the next answer is sent again.
    pub(super) fn retry_due(&self) -> Option<Duration> {
        self.under_way.due()
    }

    /// Returns when the bell rings again for the shown question.
    pub(super) fn alarm_due(&self) -> Option<Duration> {
        self.shown.as_ref().and_then(ShownQuestion::alarm)
    }

    /// Notes that the loss of a connection was announced with the answer to a question, if one is under way.
    pub(super) fn note_loss_told(&mut self, question: QuestionId) {
        self.under_way.note_loss_told(question);
    }

    /// Returns whether no answer is under way.
    pub(super) fn is_all_sent(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Returns whether an answer was read back and nothing was announced about it since.
    pub(super) fn is_answering(&self) -> bool {
        self.under_way.iter().any(Outgoing::is_untold)
    }

    /// Returns whether a rule leaves a question alone: it stays open, and the person is not asked.
    pub(super) fn is_left_alone(&self, question: QuestionId) -> bool {
        self.rules.leave(question)
    }

    /// Handles the terminal's report on whether the person looks at it.
    pub(super) fn focus(&mut self, on: bool) {
        self.calls.focus(on);
    }

    /// Returns all notifications that are out, and forgets them.
    pub(super) fn stop_calling(&mut self) -> Vec<Noticed> {
        self.calls.leave()
    }

    /// Forgets the content of the title, because its words have changed.
    pub(super) fn retitle(&mut self) {
        self.calls.retitle();
    }

    /// Drops everything about closed questions.
    fn keep(&mut self, sessions: &Sessions) {
        let is_open = |id: QuestionId| sessions.question(id).is_some_and(Question::is_open);
        let kept = std::mem::replace(&mut self.kept, sessions.questions_version());
        let changed = sessions.asked_since(kept);
        // A line about a question can add an entry after the question is closed.
        match changed.filter(|_| self.received.len() <= self.most_known) {
            Some(changed) => {
                for id in changed.filter(|id| !is_open(*id)) {
                    self.received.forget(id);
                    self.rules.forget(id);
                }
            }
            None => {
                self.received.keep(is_open);
                self.rules.keep(is_open);
                self.most_known = 2 * self.received.len() + FEW;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_learned_of_questions_that_are_over_is_forgotten_by_and_by() {
        let (mut questions, sessions) = (Questions::default(), Sessions::default());
        for n in 1..=1000 {
            questions
                .received
                .wrote(QuestionId(n), false, Duration::ZERO);
            questions.keep(&sessions);
            assert!(questions.received.len() <= FEW);
        }
    }
}
