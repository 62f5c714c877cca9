//! Which question is shown, and when it may be answered.
//!
//! # Mental model
//! One question is shown at a time. It is armed when a key can only be meant for it: no key was
//! pressed for a while since it became the shown one, and, with a voice, its action was said or the
//! person chose not to hear it. A change of the shown question starts again.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::announce::{About, Arg, Args, Class, Kind, Segment};
use crate::protocol::Now;
use crate::session::{Prompt, PromptId, Question};

use super::view::VoiceState;
use super::{App, Effect, LineSource};
use crate::keys::Mode;

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
    sight: Sight,
    pub(super) alarms: usize,
}

/// Tells which page of the shown question a face has drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawn {
    /// The question.
    pub prompt: PromptId,
    /// The page, from 0.
    pub page: usize,
    /// How many pages it has on this screen.
    pub pages: usize,
}

/// Says how much of the shown question was on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Sight {
    /// No face tells: lines show everything.
    Untold,
    /// These pages of so many.
    Part { seen: BTreeSet<usize>, pages: usize },
    /// All of it, in whatever size of the screen.
    Whole,
}

/// Says why a question can't be answered yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotYet {
    /// A key came too soon.
    Keys,
    /// It is not said yet.
    Unsaid,
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
        let had_one = current.is_some();
        if next != current {
            self.show(next, had_one, now);
        }
    }

    /// Makes a question the shown one. After another one it is asked again, so that nobody answers
    /// it in the belief that it is still the one before.
    pub(super) fn show(&mut self, prompt: Option<PromptId>, ask_again: bool, now: Now) {
        let Some(id) = prompt else {
            self.shown = None;
            self.leave_question_mode();
            return;
        };
        self.leave_question_mode();
        self.shown = Some(Shown {
            prompt: id,
            since: now.monotonic,
            page: 0,
            sight: Sight::Untold,
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

    fn leave_question_mode(&mut self) {
        match self.mode {
            // What is being typed keeps the focus; sending it checks that the question still lives.
            Mode::Editing(_) | Mode::Searching => {}
            Mode::Confirming(_) | Mode::Choosing(_, _) => self.mode = Mode::Watching,
            // Nobody answers what the help hides.
            Mode::Help => self.mode = Mode::Watching,
            Mode::Watching | Mode::Quitting | Mode::Leaving(_) => {}
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
        if matches!(self.mode, Mode::Quitting | Mode::Leaving(_)) {
            // What was to be left without an answer has changed: leaving must be asked for again.
            self.mode = Mode::Watching;
            self.respond("quit.stay", &[], now);
        }
        self.refresh_shown(now);
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
            && !self.heard.contains(&id)
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

    /// Takes note of what was heard to its end.
    pub(super) fn note_said(&mut self) {
        for about in self.queue.take_said() {
            if let About::Asks(id) = about {
                self.heard.insert(id);
            }
        }
        let sessions = &self.sessions;
        let is_open = |id: &PromptId| sessions.prompt(*id).is_some_and(Prompt::is_open);
        self.heard.retain(is_open);
        self.parts_told.retain(|id, _| is_open(id));
        self.left.retain(is_open);
        self.by_rule.retain(is_open);
    }

    /// The person pressed the stop key: they know that a question is there.
    pub(super) fn note_stopped(&mut self) {
        if let Some(shown) = &self.shown {
            self.heard.insert(shown.prompt);
        }
    }

    /// Says why a question can't be answered yet by a key, if so. `before` is the last key before
    /// this one.
    pub(super) fn key_not_yet(
        &self,
        prompt: &Prompt,
        before: Option<Duration>,
        now: Now,
    ) -> Option<NotYet> {
        let arm = Duration::from_millis(self.config.questions.arm_ms);
        let quiet_since = before
            .map_or(Duration::ZERO, |before| before)
            .max(self.shown_since(prompt));
        if now.monotonic < quiet_since + arm {
            return Some(NotYet::Keys);
        }
        self.unsaid(prompt, now)
    }

    fn has_voice(&self) -> bool {
        match self.voice {
            VoiceState::Checking | VoiceState::Ready { .. } => true,
            VoiceState::Off
            | VoiceState::LeftToReader
            | VoiceState::None { .. }
            | VoiceState::Lost { .. } => false,
        }
    }

    /// With a voice, a question is answered only once it was said, skipped, or waited for.
    pub(super) fn unsaid(&self, prompt: &Prompt, now: Now) -> Option<NotYet> {
        let patience = Duration::from_secs(self.config.questions.say_first_seconds);
        let waited = now.monotonic >= self.shown_since(prompt) + patience;
        (self.has_voice() && !self.heard.contains(&prompt.id) && !waited).then_some(NotYet::Unsaid)
    }

    /// Takes note of what a face has drawn of the shown question.
    pub(super) fn drawn(&mut self, drawn: Drawn) {
        let Some(shown) = self.shown.as_mut().filter(|it| it.prompt == drawn.prompt) else {
            return;
        };
        let mut seen = match std::mem::replace(&mut shown.sight, Sight::Untold) {
            Sight::Part { seen, pages } if pages == drawn.pages => seen,
            Sight::Untold | Sight::Part { .. } => BTreeSet::new(),
            Sight::Whole => {
                shown.sight = Sight::Whole;
                return;
            }
        };
        seen.insert(drawn.page);
        shown.sight = if seen.len() >= drawn.pages {
            Sight::Whole
        } else {
            let pages = drawn.pages;
            Sight::Part { seen, pages }
        };
    }

    /// Tells whether all of a question was said or shown, and says what to do where it was not: nobody
    /// answers a part.
    pub(super) fn is_told_whole(&mut self, prompt: &Prompt, now: Now) -> bool {
        let heard = self.heard.contains(&prompt.id);
        let shown = self.shown.as_ref().filter(|it| it.prompt == prompt.id);
        let in_parts = match shown.map_or(&Sight::Untold, |it| &it.sight) {
            Sight::Whole => return true,
            Sight::Part { .. } if !prompt.is_cut() => {
                if !heard {
                    self.respond_not_yet("reply.not_yet.seen", prompt.id, now);
                }
                return heard;
            }
            Sight::Part { .. } | Sight::Untold => prompt.is_cut(),
        };
        // A program that reads JSON got the whole of it at once.
        if !in_parts || self.face.0 == "start.face.json" {
            return true;
        }
        let whole = self.announcer.whole(prompt, &self.sessions, now);
        if self.parts_told.get(&prompt.id).copied().unwrap_or(0) < whole.needed {
            let why = self.by_manner("reply.not_yet.rest.keys", "reply.not_yet.rest.lines");
            self.respond_not_yet(why, prompt.id, now);
            return false;
        }
        if self.has_voice() && !heard {
            // The reason cuts the part that is being said, so it is said once more.
            let n = [("n", Arg::own(prompt.id.0))];
            let why = self.phrases().text("reply.not_yet.said", &n);
            let mut words = self.phrases().say(
                "reply.not_yet",
                self.announcer.verbosity(),
                &[("why", Arg::Own(why))],
            );
            if let Some(told) = self.parts_told.get_mut(&prompt.id) {
                *told = told.saturating_sub(1);
            }
            words.extend(self.next_part(prompt, now));
            self.tell_part(prompt.id, words, now);
            return false;
        }
        true
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

    /// Gives since when a question is before the person.
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
