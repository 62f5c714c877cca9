//! Writing announcements now or as soon as possible, and speaking what waited for a line.

use std::sync::Arc;
use std::time::Duration;

use crate::announce::{Announcement, AnnouncementKind, AnswerMethod, Arg, Class, QuestionRelation};
use crate::session::{Question, QuestionId};

use super::AppCx;
use crate::app::Effect;

/// A question with less time left than this is asked even while another one is being decided.
const SHORT: Duration = Duration::from_secs(60);

impl AppCx {
    /// Shows an announcement, now or when lines may be written again.
    pub(in crate::app) fn put(&mut self, told: Arc<Announcement>) {
        let lines = self.face.manner() == AnswerMethod::Lines;
        if self.held_announcements.waits(&told) || (lines && self.waits_for_decision(&told)) {
            self.held_announcements.keep(told);
            return;
        }
        if let Some(QuestionRelation::Asks(id)) = told.about {
            self.held_announcements.wrote(id);
        }
        self.effects.push(Effect::Show(told));
    }

    /// Hands an announcement to the voice, now or when the line that is being typed is done.
    pub(super) fn utter(&mut self, told: Arc<Announcement>) {
        if self.waits_for_line(&told) {
            self.held_announcements.hush(told, self.now.monotonic);
            return;
        }
        if self.waits_for_decision(&told) {
            self.held_announcements.postpone(told);
            return;
        }
        let wishes = self.queue.push(told, self.now.monotonic);
        self.command_voice(wishes);
    }

    fn waits_for_line(&self, told: &Announcement) -> bool {
        self.is_typing()
            && match (told.class, told.about) {
                (Class::Alert, Some(QuestionRelation::Concerns(id))) => {
                    self.held_announcements.is_unsaid(id)
                }
                (Class::Alert, Some(QuestionRelation::Asks(_)) | None) => true,
                (Class::Response | Class::Outcome | Class::Activity | Class::Stream, _) => false,
            }
    }

    /// Returns whether an announcement asks a question, or is about one not yet asked, while another one is
    /// being decided. A question with little time left waits for nothing.
    pub(super) fn waits_for_decision(&self, told: &Announcement) -> bool {
        let Some(deciding) = self.held_announcements.deciding() else {
            return false;
        };
        match told.about {
            Some(QuestionRelation::Asks(id)) if told.class == Class::Alert && id != deciding => {
                let left = self
                    .sessions
                    .question(id)
                    .and_then(|question| self.sessions.expires(question));
                left.is_none_or(|at| at.saturating_sub(told.at.monotonic) > SHORT)
            }
            Some(QuestionRelation::Concerns(id)) if told.class == Class::Alert => {
                self.held_announcements.is_unsaid(id) || self.held_announcements.is_unwritten(id)
            }
            Some(_) | None => false,
        }
    }

    fn is_typing(&self) -> bool {
        match self.face.manner() {
            AnswerMethod::Lines | AnswerMethod::Program => self.held_announcements.is_typing(),
            AnswerMethod::Keys => self.doing.is_typing(),
        }
    }

    /// Announces that something urgent waits for the line, or speaks what waited once the line is done.
    pub(in crate::app) fn tick_line(&mut self) {
        let step = self.doing.second_step();
        let step = step.map(|step| (step.question(), step.since()));
        let step = step.filter(|_| self.face.manner() != AnswerMethod::Program);
        if self.held_announcements.decide(step, self.now.monotonic)
            && self.held_announcements.may_write()
        {
            self.write_waiting();
        }
        if !self.is_typing() {
            if self.held_announcements.deciding().is_some() {
                return;
            }
            for told in self.held_announcements.take_unsaid() {
                if let Some(told) = self.fresh(told) {
                    let wishes = self.queue.push(told, self.now.monotonic);
                    self.command_voice(wishes);
                }
            }
            return;
        }
        if self
            .held_announcements
            .deadline()
            .is_none_or(|at| self.now.monotonic < at)
        {
            return;
        }
        self.held_announcements.note_told();
        let key = if self.held_announcements.has_unsaid_question() {
            "hold.question"
        } else {
            "hold.urgent"
        };
        let class = Class::Response;
        let told = self
            .announcer
            .say(class, AnnouncementKind::Hint, key, &[], self.now);
        // It takes the row of the typed line, which starts again below it.
        self.effects.push(Effect::Show(Arc::clone(&told)));
        let wishes = self.queue.push(told, self.now.monotonic);
        self.command_voice(wishes);
    }

    /// Returns an announcement that waited in its current form: a question with the remaining time, or `None`
    /// if it is over.
    fn fresh(&self, told: Arc<Announcement>) -> Option<Arc<Announcement>> {
        let Some(QuestionRelation::Asks(id)) = told.about else {
            return Some(told);
        };
        let question = self
            .sessions
            .question(id)
            .filter(|question| question.is_open())?;
        Some(Arc::new(Announcement {
            segments: self.announcer.ask_again(question, &self.sessions, self.now),
            ..Announcement::clone(&told)
        }))
    }

    /// Handles the end of a line, done or abandoned.
    pub(in crate::app) fn line_over(&mut self) {
        if self.held_announcements.end_line() {
            self.write_waiting();
        }
    }

    /// Delays new lines, or releases them.
    pub(in crate::app) fn hold(&mut self) {
        if self.face.is_json() {
            self.respond("hold.never", &[]);
        } else if self.held_announcements.is_held() {
            let n = self.held_announcements.let_go();
            self.respond("hold.off", &[("n", Arg::own(n))]);
            self.write_waiting();
        } else {
            self.held_announcements.hold();
            self.respond("hold.on", &[]);
        }
    }

    /// Writes what waits.
    fn write_waiting(&mut self) {
        let (waiting, left_out) = self.held_announcements.take_waiting();
        if left_out > 0 {
            let args = [("n", Arg::own(left_out))];
            self.say(
                Class::Outcome,
                AnnouncementKind::Hint,
                "hold.left_out",
                &args,
            );
        }
        for told in waiting {
            self.put(told);
        }
        let sessions = &self.sessions;
        let open = |id: QuestionId| sessions.question(id).is_some_and(Question::is_open);
        self.held_announcements.keep_open(open);
    }

    /// Writes everything that waits, because the program ends.
    pub(in crate::app) fn release_all(&mut self) {
        self.held_announcements.end_line();
        self.held_announcements.let_go();
        self.held_announcements.decide(None, self.now.monotonic);
        self.write_waiting();
    }

    /// Returns whether a question is announced but not written yet.
    pub(in crate::app) fn is_unwritten(&self, question: &Question) -> bool {
        self.held_announcements.is_unwritten(question.id)
    }
}
