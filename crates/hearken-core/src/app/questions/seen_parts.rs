//! Records which parts of a question the person could see or hear, and whether that is all of it.
//!
//! How much is enough for an answer is in `arming`.

use std::time::Duration;

use crate::announce::{Announcement, AnnouncementKind, AnswerMethod, Arg, QuestionRelation};
use crate::session::{Question, QuestionId};

use super::Questions;
use super::arming::ArmingConditions;
use super::question_exposure::Hearing;
use super::shown_question::{Pages, QuestionVisibility};
use crate::app::AppCx;
use crate::app::change_visibility::ChangeVisibility;

impl Questions {
    /// Returns whether no face has reported yet that the shown question is in sight.
    pub(in crate::app) fn wants_sight(&self) -> bool {
        let shown = self.shown();
        shown.is_some_and(|shown| shown.in_sight().is_none())
    }

    /// Notes the part of the question that a frame of the full face has shown since `at`.
    pub(in crate::app) fn drawn(
        &mut self,
        showing: QuestionVisibility,
        at: Duration,
        cx: &mut AppCx,
    ) {
        match (showing, self.shown.as_mut()) {
            (QuestionVisibility::SideQuestion, _) => {}
            (QuestionVisibility::Blank, shown) => {
                if let Some(shown) = shown {
                    shown.unsee(at);
                }
                if cx.doing.second_step().is_some() {
                    cx.stay_open();
                }
            }
            (QuestionVisibility::Page(drawn), Some(shown)) if shown.question == drawn.question => {
                shown.see(drawn, at);
            }
            (QuestionVisibility::Choices(question), Some(shown)) if shown.question == question => {
                shown.see_choices(at);
            }
            (QuestionVisibility::Change(question, drawn), Some(shown))
                if shown.question == question =>
            {
                shown.see_change(drawn, at);
            }
            (
                QuestionVisibility::Page(_)
                | QuestionVisibility::Choices(_)
                | QuestionVisibility::Change(..),
                _,
            ) => {}
        }
    }

    /// Returns the shown question, and how the person follows its changes.
    pub(in crate::app) fn followed(&self, cx: &AppCx) -> (Option<QuestionId>, ChangeVisibility) {
        let in_sight = self.shown().filter(|shown| shown.in_sight().is_some());
        let sight = match in_sight {
            _ if cx.face.manner() != AnswerMethod::Keys => ChangeVisibility::ByEar,
            Some(shown) => ChangeVisibility::BySight(shown.change()),
            None if cx.has_voice() => ChangeVisibility::ByEar,
            None => ChangeVisibility::BySight(None),
        };
        (self.shown_id(), sight)
    }

    /// Counts the lines of a question's changes that were not seen by a person who has it in sight.
    pub(in crate::app) fn unseen_lines(&self, question: &Question, cx: &AppCx) -> usize {
        let shown = self.shown().filter(|shown| shown.question == question.id);
        match shown.filter(|shown| shown.in_sight().is_some()) {
            Some(shown) if cx.face.manner() == AnswerMethod::Keys => {
                let places = cx.announcer.changes_in_sight(&question.attached);
                shown.seen_changes().unseen(&places)
            }
            Some(_) | None => 0,
        }
    }

    /// Notes that a line was written at this time.
    pub(in crate::app) fn written(&mut self, told: &Announcement, at: Duration) {
        let Some(about) = told.about else { return };
        // Its details and its outcome are not the question itself.
        let asks = matches!(
            told.kind,
            AnnouncementKind::Confirmation | AnnouncementKind::Clarification
        ) && matches!(about, QuestionRelation::Asks(_));
        self.received.wrote(about.question(), asks, at);
    }

    /// Notes the questions that were heard to their end.
    pub(in crate::app) fn note_said(&mut self, cx: &mut AppCx) {
        for about in cx.queue.take_said() {
            if let QuestionRelation::Asks(id) = about {
                self.received.said(id, cx.now.monotonic);
            }
        }
        self.keep(&cx.sessions);
    }

    /// Handles the stop key: a person who presses it knows that a question is there.
    fn note_stopped(&mut self, cx: &mut AppCx) {
        let cut = cx.queue.take_said().into_iter();
        let cut = cut.filter_map(|about| match about {
            QuestionRelation::Asks(id) => Some(id),
            QuestionRelation::Concerns(_) => None,
        });
        let shown = self.shown_id();
        for id in cut.chain(shown) {
            self.received.skipped(id);
        }
    }

    /// Stops speech at the person's wish.
    pub(in crate::app) fn stop_speech(&mut self, cx: &mut AppCx) {
        // Speech that has ended by now counts as heard; speech that the key cuts off does not.
        self.note_said(cx);
        let (spoke, skipped) = (!cx.queue.is_idle(), cx.queue.skipped());
        let wishes = cx.queue.stop(cx.now.monotonic);
        cx.command_voice(wishes);
        self.note_stopped(cx);
        // Without an answer, the key or line would seem to be lost. The answer is not spoken: the person asked for
        // silence.
        if cx.queue.skipped() > skipped {
            // The count is spoken once the person wants to hear something again.
            let n = Arg::own(cx.queue.skipped());
            return cx.answer_unsaid("stop.skipped", &[("n", n)]);
        }
        let kept = cx.queue.can_go_on();
        let key = match (spoke, kept) {
            (true, true) => cx.face.pick("stop.kept.keys", "stop.kept.lines"),
            (true, false) => "stop.done",
            (false, _) => "stop.nothing",
        };
        cx.answer_unsaid(key, &[]);
    }

    /// Returns how the person answers and hears.
    pub(super) fn senses(&self, cx: &AppCx) -> ArmingConditions {
        let face = &cx.face;
        let times = &cx.config.questions;
        ArmingConditions::new(face.manner(), face.lines(), cx.has_voice(), times)
    }

    /// Returns whether all of a question was spoken or shown, counting what a frame is about to show.
    pub(in crate::app) fn shows_whole(
        &self,
        question: &Question,
        showing: QuestionVisibility,
        cx: &AppCx,
    ) -> bool {
        let shown = self.shown().filter(|it| it.question == question.id);
        let mut pages = shown.map_or(Pages::None, |it| it.pages().clone());
        match showing {
            QuestionVisibility::Page(drawn) if drawn.question == question.id => pages.add(drawn),
            QuestionVisibility::Page(_)
            | QuestionVisibility::Blank
            | QuestionVisibility::SideQuestion
            | QuestionVisibility::Choices(_)
            | QuestionVisibility::Change(..) => {}
        }
        self.is_whole(question, &pages, cx)
    }

    /// Returns whether all of the shown question was spoken or shown, if there is one.
    pub(in crate::app) fn has_told_shown_whole(&self, cx: &AppCx) -> bool {
        let shown = self.shown();
        let question = shown.and_then(|shown| cx.sessions.question(shown.question));
        shown
            .zip(question)
            .is_none_or(|(shown, question)| self.is_whole(question, shown.pages(), cx))
    }

    fn is_whole(&self, question: &Question, pages: &Pages, cx: &AppCx) -> bool {
        let heard = self.received.heard(question.id);
        match pages {
            Pages::All => true,
            // Whoever stops it knows that it is there, but not what it says.
            Pages::Some { .. } if !question.is_cut() => matches!(heard, Some(Hearing::Said(_))),
            // A program that reads JSON got the whole question at once.
            Pages::Some { .. } | Pages::None if !question.is_cut() || cx.face.is_json() => true,
            Pages::Some { .. } | Pages::None => {
                let needed = cx
                    .announcer
                    .question_parts(question, &cx.sessions, cx.now)
                    .needed;
                // Without a voice, its parts were either written or not given at all: a screen has its own
                // pages.
                let written = !cx.has_voice() && cx.face.manner() != AnswerMethod::Keys;
                self.received.parts(question.id) >= needed && (heard.is_some() || written)
            }
        }
    }

    /// Returns whether all of a question was spoken or shown, and announces what to do if not: a part of a question
    /// can't be answered.
    pub(super) fn is_told_whole(&mut self, question: &Question, cx: &mut AppCx) -> bool {
        self.note_said(cx);
        let shown = self.shown().filter(|it| it.question == question.id);
        let pages = shown.map_or(Pages::None, |it| it.pages().clone());
        if self.is_whole(question, &pages, cx) {
            return true;
        }
        if !question.is_cut() {
            self.respond_not_yet("reply.not_yet.seen", question.id, cx);
            return false;
        }
        let whole = cx.announcer.question_parts(question, &cx.sessions, cx.now);
        if self.received.parts(question.id) < whole.needed {
            let why = cx
                .face
                .pick("reply.not_yet.rest.keys", "reply.not_yet.rest.lines");
            self.respond_not_yet(why, question.id, cx);
            return false;
        }
        if cx.has_voice() {
            // Announcing this cuts off the part being spoken, so that part is spoken again.
            let n = [("n", Arg::own(question.id.0))];
            let why = cx.phrases().text("reply.not_yet.said", &n);
            let mut words = cx.words("reply.not_yet", &[("why", Arg::Own(why))]);
            self.received.tell_again(question.id);
            words.extend(self.next_part(question, cx));
            self.tell_part(question.id, words, cx);
            return false;
        }
        // The parts were not spoken, and the screen has its own pages.
        self.respond_not_yet("reply.not_yet.seen", question.id, cx);
        false
    }
}
