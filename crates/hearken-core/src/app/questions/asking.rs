//! Which question is shown, and asking it.
//!
//! # Mental model
//! One question is shown at a time. It is armed when a key can only be meant for it: the hands have rested for a while
//! since it became the shown one and was written (`sight`), and, with a voice, its action was spoken or the person
//! chose not to hear it. When another question is shown, this starts again.

use std::time::Duration;

use crate::announce::{About, Aloud, Class, Kind, Segment};
use crate::protocol::Now;
use crate::session::{Question, QuestionId};

use super::Asking;
use crate::app::activity::Doing;
use crate::app::cx::kind_of;
use crate::app::{App, Effect};

impl App {
    /// Returns the questions that a key can be meant for, in a stable order: answerable ones first.
    pub fn questions(&self) -> Vec<&Question> {
        let mut open: Vec<&Question> = self.cx.sessions.open_questions().collect();
        open.sort_by_key(|question| {
            let last = !question.is_answerable();
            (last, self.questions.is_left_alone(question.id), question.id)
        });
        open
    }

    /// Returns how many questions an answer without a number could be meant for.
    pub(in crate::app) fn meant(&self) -> usize {
        let shown = self.questions.shown_id();
        let looked_at = shown.is_some_and(|id| self.questions.is_left_alone(id));
        self.waiting() + usize::from(looked_at)
    }

    /// Returns how many questions wait for the person.
    pub fn waiting(&self) -> usize {
        let asking = self.asked();
        if let Some((of, waiting)) = self.questions.waiting.get()
            && of == asking
        {
            debug_assert_eq!(waiting, self.count_waiting());
            return waiting;
        }
        let waiting = self.count_waiting();
        self.questions.waiting.set(Some((asking, waiting)));
        waiting
    }

    fn count_waiting(&self) -> usize {
        let left_alone = self.questions.rules.left_alone();
        self.cx.sessions.answerable_without(left_alone)
    }

    /// Returns the question to show: the current one as long as it can be answered, or else the next.
    fn next_shown(&self, current: Option<QuestionId>) -> Option<QuestionId> {
        let shown = current.and_then(|id| self.cx.sessions.question(id));
        if shown.is_some_and(Question::is_answerable) {
            return current;
        }
        let waits = |question: &&Question| self.waits(question);
        let mut answerable = self.cx.sessions.answerable_questions();
        answerable.find(waits).map(|it| it.id)
    }

    /// Returns the state that results about questions depend on.
    fn asked(&self) -> Asking {
        (self.cx.sessions.asking(), self.questions.rules.leaving())
    }

    /// Returns whether a question can be answered, and no rule leaves it alone.
    fn waits(&self, question: &Question) -> bool {
        question.is_answerable() && !self.questions.is_left_alone(question.id)
    }

    /// Returns the questions that wait for the person: those that can be answered and that no rule leaves alone.
    pub fn waiting_questions(&self) -> Vec<&Question> {
        let mut open = self.questions();
        open.retain(|question| self.waits(question));
        open
    }

    /// Updates the shown question: it stays as long as it wants an answer.
    pub(in crate::app) fn refresh_shown(&mut self, now: Now) {
        self.refresh_after(None, now);
    }

    /// Does the same right after a question was asked for the first time: that one is not asked again.
    fn refresh_after(&mut self, asked: Option<QuestionId>, now: Now) {
        let current = self.questions.shown_id();
        // As long as none of them changes, the shown one stays right.
        if self.questions.right == Some((self.asked(), current)) {
            debug_assert_eq!(current, self.next_shown(current));
            return;
        }
        let next = self.next_shown(current);
        if next != current {
            self.show(next, current.is_some() && next != asked, now);
        }
        self.questions.right = Some((self.asked(), self.questions.shown_id()));
    }

    /// Sets the shown question. With `ask_again`, because it follows another one, it is asked again, so that the person
    /// does not answer it in the belief that it is still the previous one.
    pub(in crate::app) fn show(&mut self, question: Option<QuestionId>, ask_again: bool, now: Now) {
        self.cx.doing.leave_question();
        self.questions.show(question, now.monotonic);
        self.cx.answers.note_question(question.is_some());
        let Some(id) = question else { return };
        if self.cx.face.can_flush() {
            self.cx.effects.push(Effect::FlushInput);
            self.questions.flush_at =
                Some(now.monotonic + Duration::from_millis(self.cx.config.questions.arm_ms));
        }
        if ask_again {
            self.ask(id, Class::Alert, now);
        }
    }

    /// Handles a question that was raised: rings, notifies, and shows it if none is shown.
    pub(in crate::app) fn question_opened(&mut self, id: QuestionId, now: Now) {
        let others = self.cx.sessions.answerable_without([id].into_iter());
        if others > 0 {
            self.questions.note_change(now.monotonic);
        }
        if matches!(self.cx.doing, Doing::Quitting | Doing::Leaving(_)) {
            // There is something new to leave without an answer: leaving must be requested again.
            self.cx.doing = Doing::Watching;
            self.cx.respond("quit.stay", &[], now);
        }
        self.refresh_after(Some(id), now);
        self.ring(id, now);
    }

    /// Asks a question again.
    pub(in crate::app) fn ask(&mut self, id: QuestionId, class: Class, now: Now) {
        let Some(question) = self.cx.sessions.question(id).cloned() else {
            return;
        };
        // It waited for the previous one, and is asked just now.
        if class == Class::Alert && self.cx.holding.is_asked_now(id, now.monotonic) {
            return;
        }
        self.note_said(now);
        // A question that was heard in full, or is written above, is repeated by its risk and action.
        let known = self.questions.known.heard(id).is_some() || !self.cx.has_voice();
        let segments = match known && class == Class::Alert {
            true => self.cx.announcer.remind(&question, &self.cx.sessions, now),
            false => self
                .cx
                .announcer
                .ask_again(&question, &self.cx.sessions, now),
        };
        let kind = kind_of(&question);
        let announcement =
            self.cx
                .announcer
                .say_about(class, kind, About::Asks(id), (segments, Aloud::Yes), now);
        self.cx.emit(announcement, now);
    }

    /// Asks the shown question aloud when the voice arrives after it.
    pub(in crate::app) fn ask_again_after_voice(&mut self, now: Now) {
        self.note_said(now);
        if let Some(id) = self.questions.shown_id()
            && self.questions.known.heard(id).is_none()
        {
            self.ask(id, Class::Alert, now);
        }
    }

    /// Announces a part of a question, or all of it, as the answer to a key.
    pub(in crate::app) fn tell_part(&mut self, id: QuestionId, words: Vec<Segment>, now: Now) {
        let (class, about) = (Class::Response, About::Asks(id));
        let told = self
            .cx
            .announcer
            .say_about(class, Kind::Reply, about, (words, Aloud::Yes), now);
        self.cx.emit(told, now);
    }

    /// Returns the next part of a question that is read in parts; after the last one, the first again.
    pub(in crate::app) fn next_part(&mut self, question: &Question, now: Now) -> Vec<Segment> {
        self.note_said(now);
        let mut parts = self
            .cx
            .announcer
            .whole(question, &self.cx.sessions, now)
            .parts;
        let known = &mut self.questions.known;
        let at = known.parts(question.id) % parts.len().max(1);
        known.tell_part(question.id);
        if question.is_cut() {
            // What was heard so far was not the end of this part.
            known.unheard(question.id);
        }
        parts.swap_remove(at)
    }
}
