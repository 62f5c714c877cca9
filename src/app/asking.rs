//! Which question is shown, and when it may be answered.
//!
//! # Mental model
//! One question is shown at a time. It is armed when a key can only be meant for it: no hand was at work
//! for a while since it became the shown one and was written (`sight`), and, with a voice, its action was
//! said or the person chose not to hear it. A change of the shown question starts again.

use std::time::Duration;

use crate::announce::{About, Args, Class, Kind, Segment};
use crate::protocol::Now;
use crate::session::{Prompt, PromptId, Question};

use super::doing::Doing;
use super::sight::Sight;
use super::{App, Effect, LineSource};

/// A bare answer in a line is refused for this long after the shown question changed.
pub(super) const CHANGED: Duration = Duration::from_secs(2);

/// Holds the question that keys are meant for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Which one.
    pub prompt: PromptId,
    /// Since when it is the shown one.
    pub since: Duration,
    /// Which page of it is on a screen that is too small for all of it, from 0.
    pub page: usize,
    pub(super) sight: Sight,
    pub(super) alarms: usize,
}

/// Says why a question can't be answered yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotYet {
    /// A key came too soon, or may only be held.
    Keys,
    /// It is not said yet.
    Unsaid,
    /// The line was typed before it was written.
    Early,
    /// It is not written, because a line is typed or the lines are held.
    Held,
    /// It is not written, because nothing takes it; nor was it heard.
    Unshown,
}

impl App {
    /// Gives the questions that a key can be meant for, in a stable order: answerable ones first.
    pub fn questions(&self) -> Vec<&Prompt> {
        let mut open: Vec<&Prompt> = self.sessions.open_prompts().collect();
        open.sort_by_key(|prompt| {
            let last = !prompt.is_answerable();
            (last, self.is_left_alone(prompt.id), prompt.id)
        });
        open
    }

    /// Counts the questions that an answer without a number could be meant for.
    pub(super) fn meant(&self) -> usize {
        let shown = self.shown.as_ref().map(|shown| shown.prompt);
        let looked_at = shown.is_some_and(|id| self.is_left_alone(id));
        self.waiting() + usize::from(looked_at)
    }

    /// Counts the questions that wait for the person.
    pub(super) fn waiting(&self) -> usize {
        self.questions()
            .iter()
            .filter(|prompt| prompt.is_answerable() && !self.is_left_alone(prompt.id))
            .count()
    }

    /// Keeps the shown question true: it stays as long as it wants an answer.
    pub(super) fn refresh_shown(&mut self, now: Now) {
        self.refresh_after(None, now);
    }

    /// The same, right after a question was asked for the first time: that one is not asked once more.
    fn refresh_after(&mut self, asked: Option<PromptId>, now: Now) {
        let current = self.shown.as_ref().map(|shown| shown.prompt);
        let stays = current
            .and_then(|id| self.sessions.prompt(id))
            .is_some_and(Prompt::is_answerable);
        if stays {
            return;
        }
        let next = self
            .questions()
            .first()
            .filter(|prompt| prompt.is_answerable() && !self.is_left_alone(prompt.id))
            .map(|prompt| prompt.id);
        let ask_again = current.is_some() && next != asked;
        if next != current {
            self.show(next, ask_again, now);
        }
    }

    /// Makes a question the shown one. After another one it is asked again, so that nobody answers
    /// it in the belief that it is still the one before.
    pub(super) fn show(&mut self, prompt: Option<PromptId>, ask_again: bool, now: Now) {
        let Some(id) = prompt else {
            self.shown = None;
            self.doing.leave_question();
            return;
        };
        self.doing.leave_question();
        self.shown = Some(Shown {
            prompt: id,
            since: now.monotonic,
            page: 0,
            sight: Sight::default(),
            alarms: 0,
        });
        if matches!(self.lines, Some(LineSource::Terminal | LineSource::Editor)) {
            self.effects.push(Effect::FlushInput);
            self.flush_at =
                Some(now.monotonic + Duration::from_millis(self.config.questions.arm_ms));
        }
        if ask_again {
            self.ask(id, Class::Alert, now);
        }
    }

    /// A question was raised: ring, notify, and let it be shown if none is.
    pub(super) fn question_opened(&mut self, id: PromptId, now: Now) {
        let others = self
            .questions()
            .iter()
            .any(|prompt| prompt.id != id && prompt.is_answerable());
        if others {
            self.questions_changed = Some(now.monotonic);
        }
        if matches!(self.doing, Doing::Quitting | Doing::Leaving(_)) {
            // What was to be left without an answer has changed: leaving must be asked for again.
            self.doing = Doing::Watching;
            self.respond("quit.stay", &[], now);
        }
        self.refresh_after(Some(id), now);
        self.ring(id, now);
    }

    /// Asks a question once more.
    pub(super) fn ask(&mut self, id: PromptId, class: Class, now: Now) {
        let Some(prompt) = self.sessions.prompt(id).cloned() else {
            return;
        };
        let segments = self.announcer.ask_again(&prompt, &self.sessions, now);
        let kind = kind_of(&prompt);
        let announcement = self
            .announcer
            .say_about(class, kind, About::Asks(id), segments, now);
        self.emit(announcement, now);
    }

    /// A voice came after a question: it was shown unsaid, so it is asked aloud.
    pub(super) fn ask_again_after_voice(&mut self, now: Now) {
        if let Some(id) = self.shown.as_ref().map(|shown| shown.prompt)
            && !self.heard.contains_key(&id)
        {
            self.ask(id, Class::Alert, now);
        }
    }

    /// Tells something about a question in the program's own name.
    pub(super) fn tell_about(
        &mut self,
        class: Class,
        prompt: &Prompt,
        key: &str,
        args: &Args<'_>,
        now: Now,
    ) {
        let segments = self
            .announcer
            .phrases()
            .say(key, self.announcer.verbosity(), args);
        self.tell_of(class, prompt, key, segments, now);
    }

    /// Says something about a question in the program's own name, in short for people.
    pub(super) fn tell_about_in_short(
        &mut self,
        class: Class,
        prompt: &Prompt,
        (key, short): (&str, &str),
        args: &Args<'_>,
        now: Now,
    ) {
        let segments = self.announcer.in_short(key, short, args);
        self.tell_of(class, prompt, key, segments, now);
    }

    fn tell_of(
        &mut self,
        class: Class,
        prompt: &Prompt,
        key: &str,
        segments: Vec<Segment>,
        now: Now,
    ) {
        // What an answer brings is told as such; what happens to a question, as a question.
        let kind = if key.starts_with("reply.") {
            Kind::Reply
        } else {
            kind_of(prompt)
        };
        let announcement =
            self.announcer
                .say_about(class, kind, About::Tells(prompt.id), segments, now);
        self.emit(announcement, now);
    }

    /// Tells a part of a question, or all of it, as the answer to a key.
    pub(super) fn tell_part(&mut self, id: PromptId, words: Vec<Segment>, now: Now) {
        let (class, about) = (Class::Response, About::Asks(id));
        let told = self
            .announcer
            .say_about(class, Kind::Reply, about, words, now);
        self.emit(told, now);
    }

    /// Gives the next part of a question that is told in parts; after the last comes the first again.
    pub(super) fn next_part(&mut self, prompt: &Prompt, now: Now) -> Vec<Segment> {
        let mut parts = self.announcer.whole(prompt, &self.sessions, now).parts;
        let told = self.parts_told.entry(prompt.id).or_default();
        let at = *told % parts.len().max(1);
        *told += 1;
        if prompt.is_cut() {
            // What was heard so far was not the end of this part.
            self.heard.remove(&prompt.id);
        }
        parts.swap_remove(at)
    }

    /// Gives since when a question is the shown one.
    pub(super) fn shown_since(&self, prompt: &Prompt) -> Duration {
        let shown = self
            .shown
            .as_ref()
            .filter(|shown| shown.prompt == prompt.id);
        shown.map_or(prompt.raised, |shown| shown.since)
    }
}

pub(super) fn kind_of(prompt: &Prompt) -> Kind {
    match prompt.question {
        Question::Confirmation(_) => Kind::Confirmation,
        Question::Clarification(_) => Kind::Clarification,
    }
}
