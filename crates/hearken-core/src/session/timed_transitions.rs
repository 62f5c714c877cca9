//! Questions and time: warnings, and ends that no event reports.
//!
//! Responsibilities: when these are due, and what happens then. Not here: how much time a question has
//! (`question_time`), the fate of a question whose time is up (`answer_path`).

use std::cell::Ref;
use std::collections::BTreeSet;
use std::time::Duration;

use crate::protocol::{NoObserver, Now};

use super::action_fate::DenialReason;
use super::change::{Change, ChangeKind};
use super::context::Context;
use super::deadline_index::DeadlineIndex;
use super::key::QuestionId;
use super::link_state::LinkState;
use super::machines::QuestionEvent;
use super::question::{AnswerReach, CloseReason, Question, ReplyState};
use super::sessions::Sessions;
use super::transition_data::TransitionData;

impl Sessions {
    /// Returns when something is due for the first question.
    pub(super) fn questions_due(&self) -> Option<Duration> {
        self.dues().first()
    }

    /// Returns the due times of all questions, brought up to date.
    fn dues(&self) -> Ref<'_, DeadlineIndex> {
        let changes = self.questions.changes();
        let mut dues = self.dues.borrow_mut();
        if dues.of_changes() != (changes, self.skewed) {
            let (known, skewed) = dues.of_changes();
            let changed = self.questions.changed_since(known);
            match changed.filter(|_| skewed == self.skewed) {
                Some(changed) => {
                    for id in changed {
                        let question = self.questions.get(id);
                        dues.set(id, question.and_then(|question| self.due_of(question)));
                    }
                }
                None => {
                    *dues = DeadlineIndex::default();
                    for question in self.questions.values() {
                        dues.set(question.id, self.due_of(question));
                    }
                }
            }
            dues.are_of(changes, self.skewed);
        }
        drop(dues);
        self.dues.borrow()
    }

    /// Returns when something is due for a question.
    fn due_of(&self, question: &Question) -> Option<Duration> {
        let expires = self.expires(question).filter(|_| Self::counts(question))?;
        // A warning says how much time is left.
        let warning = question
            .next_warning()
            .filter(|_| self.is_age_known(question));
        Some(warning.map_or(expires, |(left, _)| expires.saturating_sub(left)))
    }

    /// Returns whether the running totals of all questions match a full scan.
    #[cfg(test)]
    pub(super) fn counts_are_true(&self) -> bool {
        let due = self.questions.values().filter_map(|it| self.due_of(it));
        self.questions.are_counted() && self.questions_due() == due.min()
    }

    /// Returns whether a question's time still matters: until it is answered here, and while its link is lost. After an
    /// answer only the agent's events show the end.
    fn counts(question: &Question) -> bool {
        let matters = match question.reach {
            AnswerReach::Live | AnswerReach::Resumed => {
                matches!(question.reply, ReplyState::Unanswered)
            }
            AnswerReach::LinkLost => question.is_open(),
            AnswerReach::NotAnswerable => false,
        };
        matters && question.unraised_reason.is_none()
    }

    /// Notes, when a question closes, that its time was already up; for a question that can't be answered here,
    /// nothing else shows this.
    pub(super) fn note_end_of_time(&mut self, id: QuestionId, context: &mut Context) {
        let Some(question) = self.questions.get(id) else {
            return;
        };
        if question.reply != ReplyState::Unanswered || question.is_answerable() {
            return;
        }
        // The step has its own time, in the past.
        let late = self.expires(question).map_or(Duration::ZERO, |expires| {
            context.now.monotonic.saturating_sub(expires)
        });
        let wall = jiff::SignedDuration::try_from(late).unwrap_or_default();
        let at = Now {
            monotonic: context.now.monotonic.saturating_sub(late),
            wall: context
                .now
                .wall
                .saturating_sub(wall)
                .unwrap_or(context.now.wall),
        };
        self.answer_step(
            id,
            QuestionEvent::TimeEnded,
            TransitionData::default(),
            at,
            context.observer,
        );
    }

    /// Handles what is due for questions.
    pub(super) fn tick_questions(&mut self, now: Now, changes: &mut Vec<Change>) {
        if self.questions_due().is_none_or(|due| due > now.monotonic) {
            return;
        }
        let due: BTreeSet<QuestionId> = self.dues().until(now.monotonic).collect();
        let due = due
            .into_iter()
            .filter_map(|id| self.questions.get(id).cloned());
        let due: Vec<Question> = due.collect();
        for question in due {
            let Some(expires) = self.expires(&question) else {
                continue;
            };
            let left = expires.saturating_sub(now.monotonic);
            let id = question.id;
            if left.is_zero() {
                if question.reach.reaches() {
                    let nothing = TransitionData::default();
                    self.answer_step(id, QuestionEvent::TimeEnded, nothing, now, &mut NoObserver);
                    self.note_decided(id);
                    if !question.accepts_when_silent() {
                        self.follow(id, DenialReason::TimedOut);
                    }
                    changes.push(self.bare_change(
                        &question,
                        now,
                        ChangeKind::QuestionTimedOut(id),
                    ));
                } else {
                    let link = self.links.get(&question.key.link);
                    let how = if link.is_some_and(LinkState::is_down) {
                        CloseReason::LinkGone
                    } else {
                        CloseReason::Unheard
                    };
                    self.close(id, how.clone(), now, &mut NoObserver);
                    let what = ChangeKind::QuestionClosed {
                        question: id,
                        reason: how,
                    };
                    changes.push(self.bare_change(&question, now, what));
                }
            } else if self.is_age_known(&question)
                && question.next_warning().is_some_and(|(at, _)| left <= at)
            {
                self.questions.change(id, |question| {
                    // Both may be due if no tick came for a while: only the later one is reported.
                    while let Some((_, which)) =
                        question.next_warning().filter(|(at, _)| left <= *at)
                    {
                        question.warned = which;
                    }
                });
                if question.reach.reaches() {
                    changes.push(self.bare_change(
                        &question,
                        now,
                        ChangeKind::QuestionWarning {
                            question: id,
                            remaining: left,
                        },
                    ));
                }
            }
        }
    }
}
