//! News of what of a question came before the person's eyes or ears, and whether that is all of it.
//!
//! What is enough for an answer is in `arming`.

use std::time::Duration;

use crate::announce::{About, Announcement, Arg, Kind, Manner};
use crate::protocol::Now;
use crate::session::Prompt;

use super::arming::Senses;
use super::known::Heard;
use super::shown::{Pages, Showing};
use crate::app::App;

impl App {
    /// Returns whether a face has not told yet that the shown question is in sight.
    pub fn wants_sight(&self) -> bool {
        let shown = self.questions.shown();
        shown.is_some_and(|shown| shown.in_sight().is_none())
    }

    /// Takes note of what a frame of the full face has in sight, since then.
    pub(in crate::app) fn drawn(&mut self, showing: Showing, at: Duration, now: Now) {
        match (showing, self.questions.shown.as_mut()) {
            (Showing::Aside, _) => {}
            (Showing::Blank, shown) => {
                if let Some(shown) = shown {
                    shown.unsee();
                }
                if self.doing.second_step().is_some() {
                    self.stay_open(now);
                }
            }
            (Showing::Page(drawn), Some(shown)) if shown.prompt == drawn.prompt => {
                shown.see(drawn, at);
            }
            (Showing::Choices(prompt), Some(shown)) if shown.prompt == prompt => {
                shown.see_choices(at);
            }
            (Showing::Page(_) | Showing::Choices(_), _) => {}
        }
    }

    /// Takes note that a line was written, then.
    pub(in crate::app) fn written(&mut self, told: &Announcement, at: Duration) {
        let Some(about) = told.about else { return };
        // Its details and what becomes of it are not the question itself.
        let asks = matches!(told.kind, Kind::Confirmation | Kind::Clarification)
            && matches!(about, About::Asks(_));
        self.questions.known.wrote(about.prompt(), asks, at);
    }

    /// Takes note of what was heard to its end.
    pub(in crate::app) fn note_said(&mut self, now: Now) {
        for about in self.queue.take_said() {
            if let About::Asks(id) = about {
                self.questions.known.said(id, now.monotonic);
            }
        }
        self.questions.keep(&self.sessions);
    }

    /// The person pressed the stop key: they know that a question is there.
    pub(in crate::app) fn note_stopped(&mut self) {
        let cut = self.queue.take_said().into_iter();
        let cut = cut.filter_map(|about| match about {
            About::Asks(id) => Some(id),
            About::Tells(_) => None,
        });
        let shown = self.questions.shown_id();
        for id in cut.chain(shown) {
            self.questions.known.skipped(id);
        }
    }

    /// Returns whether there is a voice, or one is still looked for.
    pub(in crate::app) fn has_voice(&self) -> bool {
        self.tuning.voice().is_hoped_for()
    }

    /// Returns how the person answers and hears.
    pub(super) fn senses(&self) -> Senses {
        let face = &self.face;
        let times = &self.config.questions;
        Senses::new(face.manner(), face.lines(), self.has_voice(), times)
    }

    /// Returns whether all of a question was said or shown, and says what to do where it was not: nobody
    /// answers a part.
    pub(in crate::app) fn is_told_whole(&mut self, prompt: &Prompt, now: Now) -> bool {
        let heard = self.questions.known.heard(prompt.id);
        let shown = self.questions.shown().filter(|it| it.prompt == prompt.id);
        let in_parts = match shown.map_or(&Pages::None, |it| it.pages()) {
            Pages::All => return true,
            Pages::Some { .. } if !prompt.is_cut() => {
                // Who stopped it knows that it is there, and not what it says.
                let said = matches!(heard, Some(Heard::Said(_)));
                if !said {
                    self.respond_not_yet("reply.not_yet.seen", prompt.id, now);
                }
                return said;
            }
            Pages::Some { .. } | Pages::None => prompt.is_cut(),
        };
        // A program that reads JSON got the whole of it at once.
        if !in_parts || self.face.is_json() {
            return true;
        }
        let whole = self.announcer.whole(prompt, &self.sessions, now);
        if self.questions.known.parts(prompt.id) < whole.needed {
            let why = self
                .face
                .pick("reply.not_yet.rest.keys", "reply.not_yet.rest.lines");
            self.respond_not_yet(why, prompt.id, now);
            return false;
        }
        if heard.is_some() {
            return true;
        }
        if self.has_voice() {
            // The reason cuts the part that is being said, so it is said once more.
            let n = [("n", Arg::own(prompt.id.0))];
            let why = self.phrases().text("reply.not_yet.said", &n);
            let mut words = self.phrases().say(
                "reply.not_yet",
                self.announcer.verbosity(),
                &[("why", Arg::Own(why))],
            );
            self.questions.known.tell_again(prompt.id);
            words.extend(self.next_part(prompt, now));
            self.tell_part(prompt.id, words, now);
            return false;
        }
        match self.face.manner() {
            // Its parts were written.
            Manner::Lines | Manner::Program => true,
            // Nobody said the parts, and the screen has pages of its own.
            Manner::Keys => {
                self.respond_not_yet("reply.not_yet.seen", prompt.id, now);
                false
            }
        }
    }
}
