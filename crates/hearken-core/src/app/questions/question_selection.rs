//! Which question is shown, and how it is asked.
//!
//! # Mental model
//! One question is shown at a time. It is armed when a key can only be meant for it: the hands have rested for
//! a while since it became the shown one and was written (`seen_parts`), and, with a voice, its action was
//! spoken or the person chose not to hear it. When another question is shown, the wait starts again.

use std::time::Duration;

use crate::announce::{AnnouncementKind, Arg, Class, QuestionRelation, Segment};
use crate::session::{Question, QuestionId};

use super::{Questions, QuestionsVersion};
use crate::app::cx::kind_of;
use crate::app::{Activity, AppCx, AppFact, AppFacts, Conversation, Effect};

impl Questions {
    /// Returns the questions that a key can be meant for, in a stable order: answerable ones first.
    pub(in crate::app) fn questions<'a>(&self, cx: &'a AppCx) -> Vec<&'a Question> {
        let mut open: Vec<&Question> = cx.sessions.open_questions().collect();
        open.sort_by_key(|question| {
            let last = !question.is_answerable();
            (last, self.is_left_alone(question.id), question.id)
        });
        open
    }

    /// Returns how many questions an answer without a number could be meant for.
    pub(in crate::app) fn meant(&self, cx: &AppCx) -> usize {
        let shown = self.shown_id();
        let looked_at = shown.is_some_and(|id| self.is_left_alone(id));
        self.waiting(cx) + usize::from(looked_at)
    }

    /// Returns how many questions wait for the person.
    pub(in crate::app) fn waiting(&self, cx: &AppCx) -> usize {
        let asking = self.questions_version(cx);
        if let Some((of, waiting)) = self.waiting.get()
            && of == asking
        {
            debug_assert_eq!(waiting, self.count_waiting(cx));
            return waiting;
        }
        let waiting = self.count_waiting(cx);
        self.waiting.set(Some((asking, waiting)));
        waiting
    }

    fn count_waiting(&self, cx: &AppCx) -> usize {
        let left_alone = self.rules.left_alone();
        cx.sessions.answerable_without(left_alone)
    }

    /// Returns the question to show: the current one as long as it can be answered, or else the next.
    fn next_shown(&self, current: Option<QuestionId>, cx: &AppCx) -> Option<QuestionId> {
        let shown = current.and_then(|id| cx.sessions.question(id));
        if shown.is_some_and(Question::is_answerable) {
            return current;
        }
        let waits = |question: &&Question| self.waits(question);
        let mut answerable = cx.sessions.answerable_questions();
        answerable.find(waits).map(|it| it.id)
    }

    /// Returns the state on which cached results about questions depend.
    fn questions_version(&self, cx: &AppCx) -> QuestionsVersion {
        (cx.sessions.questions_version(), self.rules.leaving())
    }

    /// Returns whether a question can be answered, and no rule leaves it alone.
    fn waits(&self, question: &Question) -> bool {
        question.is_answerable() && !self.is_left_alone(question.id)
    }

    /// Returns the questions that wait for the person: those that can be answered and that no rule leaves alone.
    pub(in crate::app) fn waiting_questions<'a>(&self, cx: &'a AppCx) -> Vec<&'a Question> {
        let mut open = self.questions(cx);
        open.retain(|question| self.waits(question));
        open
    }

    /// Updates the shown question: it stays as long as it wants an answer.
    pub(in crate::app) fn refresh_shown(&mut self, cx: &mut AppCx) {
        self.refresh_after(None, cx);
    }

    /// Updates the shown question right after a question was first asked; that one is not asked again.
    fn refresh_after(&mut self, asked: Option<QuestionId>, cx: &mut AppCx) {
        let current = self.shown_id();
        // As long as nothing changes, the shown question stays right.
        if self.right == Some((self.questions_version(cx), current)) {
            debug_assert_eq!(current, self.next_shown(current, cx));
            return;
        }
        let next = self.next_shown(current, cx);
        if next != current {
            self.show(next, current.is_some() && next != asked, cx);
        }
        self.right = Some((self.questions_version(cx), self.shown_id()));
    }

    /// Sets the shown question. With `ask_again`, because it follows another one, it is asked again, so that
    /// the person does not take it for the previous one.
    pub(in crate::app) fn show(
        &mut self,
        question: Option<QuestionId>,
        ask_again: bool,
        cx: &mut AppCx,
    ) {
        cx.doing.leave_question();
        self.set_shown(question, cx.now.monotonic);
        cx.answers.note_question(question.is_some());
        let Some(id) = question else { return };
        if cx.face.can_flush() {
            cx.effects.push(Effect::FlushInput);
            self.flush_at =
                Some(cx.now.monotonic + Duration::from_millis(cx.config.questions.arm_ms));
        }
        if ask_again {
            self.ask(id, Class::Alert, cx);
        }
    }

    /// Turns to a question at the person's wish, and asks it.
    fn turn_to(&mut self, id: QuestionId, cx: &mut AppCx) {
        self.show(Some(id), false, cx);
        self.note_change(cx.now.monotonic);
        self.ask(id, Class::Response, cx);
    }

    /// Turns to the question of a conversation that the person went to, unless it is shown already.
    pub(in crate::app) fn turn_to_one_of(&mut self, conversation: &Conversation, cx: &mut AppCx) {
        let mut questions = self.questions(cx).into_iter();
        let asks = questions.find(|it| it.is_answerable() && conversation.includes(&it.key));
        let asks = asks.map(|question| question.id);
        if let Some(id) = asks.filter(|id| self.shown_id() != Some(*id)) {
            self.turn_to(id, cx);
        }
    }

    /// Turns to the next question that can be answered.
    pub(in crate::app) fn next_question(&mut self, cx: &mut AppCx) {
        let open = self.questions(cx).into_iter();
        let open: Vec<QuestionId> = open
            .filter(|question| question.is_answerable())
            .map(|question| question.id)
            .collect();
        let Some(current) = self.shown_id() else {
            cx.respond("reply.no_question", &[]);
            return;
        };
        let at = open
            .iter()
            .position(|id| *id == current)
            .map_or(0, |at| (at + 1) % open.len());
        if let Some(next) = open.get(at).copied() {
            self.turn_to(next, cx);
        }
    }

    /// Handles a question that was raised: rings, notifies, and shows it if none is shown.
    pub(in crate::app) fn question_opened(&mut self, id: QuestionId, cx: &mut AppCx) {
        let others = cx.sessions.answerable_without([id].into_iter());
        if others > 0 {
            self.note_change(cx.now.monotonic);
        }
        if matches!(cx.doing, Activity::Quitting | Activity::Leaving(_)) {
            // Leaving would now leave one more question unanswered, so it must be requested again.
            cx.doing = Activity::Watching;
            cx.respond("quit.stay", &[]);
        }
        self.refresh_after(Some(id), cx);
        self.ring(id, cx);
    }

    /// Asks a question again.
    pub(in crate::app) fn ask(&mut self, id: QuestionId, class: Class, cx: &mut AppCx) {
        let Some(question) = cx.sessions.shared(id) else {
            return;
        };
        // It waited for the previous question, and is being asked at this moment.
        if class == Class::Alert && cx.held_announcements.is_asked_now(id, cx.now.monotonic) {
            return;
        }
        self.note_said(cx);
        // Of a question that was heard in full, or is written above, only the risk and the action are repeated.
        let known = self.received.heard(id).is_some() || !cx.has_voice();
        let segments = match known && class == Class::Alert {
            true => cx.announcer.remind(&question, &cx.sessions, cx.now),
            false => cx.announcer.ask_again(&question, &cx.sessions, cx.now),
        };
        let kind = kind_of(&question);
        cx.tell_words(class, kind, QuestionRelation::Asks(id), segments);
    }

    /// Asks the shown question aloud when the voice arrives after it.
    pub(in crate::app) fn ask_again_after_voice(&mut self, cx: &mut AppCx) {
        self.note_said(cx);
        if let Some(id) = self.shown_id()
            && self.received.heard(id).is_none()
        {
            self.ask(id, Class::Alert, cx);
        }
    }

    /// Reads the details of a question: its next part. Without an open question, the details of something else
    /// may be read.
    pub(in crate::app) fn details(&mut self, number: Option<u64>, cx: &mut AppCx) -> AppFacts {
        let first = || self.questions(cx).first().map(|question| question.id);
        let wanted = number.map(QuestionId).or(self.shown_id()).or_else(first);
        let question = wanted.and_then(|id| cx.raised(id));
        match (question.filter(|question| question.is_open()), number) {
            (Some(question), _) => {
                self.turn_page(question.id);
                let segments = self.next_part(&question, cx);
                self.tell_part(question.id, segments, cx);
                vec![AppFact::Detailed(Some(question.id))]
            }
            (None, Some(number)) => {
                cx.respond("reply.no_such", &[("n", Arg::own(number))]);
                Vec::new()
            }
            (None, None) => vec![AppFact::Detailed(None)],
        }
    }

    /// Announces a part of a question, or all of it, as the answer to a key.
    pub(super) fn tell_part(&self, id: QuestionId, words: Vec<Segment>, cx: &mut AppCx) {
        cx.tell_words(
            Class::Response,
            AnnouncementKind::Reply,
            QuestionRelation::Asks(id),
            words,
        );
    }

    /// Returns the next part of a question that is read in parts; after the last one, the first again.
    pub(super) fn next_part(&mut self, question: &Question, cx: &mut AppCx) -> Vec<Segment> {
        self.note_said(cx);
        let mut parts = cx
            .announcer
            .question_parts(question, &cx.sessions, cx.now)
            .parts;
        let known = &mut self.received;
        let at = known.parts(question.id) % parts.len().max(1);
        known.tell_part(question.id);
        if question.is_cut() {
            // The end of this part was not heard yet.
            known.unheard(question.id);
        }
        parts.swap_remove(at)
    }
}
