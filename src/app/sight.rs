//! What of a question was before the person's eyes or ears, and whether that is enough for an answer.
//!
//! # Mental model
//! Nobody answers what they can't know of. A question is in sight once the write that brought it has
//! returned: what only waits to be written, in a terminal that was stopped or that is slow, was not shown.
//! In the full face it goes out of sight where the terminal gets another size, none, or another owner. A
//! question that is nowhere in sight can be answered by ear alone, once all of it was said.
//!
//! # Worked example
//! The terminal is stopped, a question comes, `y` is pressed, the terminal goes on: the write returns after
//! the key was read, so the key was for something else.
//!
//! # Tuning by symptom
//! Questions can't be answered in a terminal that says that it has no size: give it one (`stty cols 80 rows
//! 24`), or use `--face linear`.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::announce::{About, Announcement, Arg, Kind, Manner};
use crate::keys::Press;
use crate::protocol::Now;
use crate::session::{Prompt, PromptId};

use super::asking::NotYet;
use super::view::VoiceState;
use super::{App, LineSource};

/// Tells what a frame, once it was written, has in sight of the shown question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Showing {
    /// Nothing: the terminal has no size, or got another one, or is somebody else's.
    Blank,
    /// Something else than its words: its choices, its details, the help, or there is no question.
    Aside,
    /// A page of it.
    Page(Drawn),
}

/// Tells which page of the shown question is in sight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawn {
    /// The question.
    pub prompt: PromptId,
    /// The page, from 0.
    pub page: usize,
    /// How many pages it has on this screen.
    pub pages: usize,
}

/// Says how much of the shown question was in sight of the full face.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Sight {
    /// Since when a part of it is.
    since: Option<Duration>,
    pages: Pages,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum Pages {
    /// No frame told of any.
    #[default]
    None,
    /// These of so many.
    Some { seen: BTreeSet<usize>, pages: usize },
    /// All of them, in whatever size of the screen.
    All,
}

/// Says how a question came to the person's ears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// It was said to its end, then.
    Said(Duration),
    /// The person chose not to hear it out.
    Skipped,
}

impl App {
    /// Tells whether a face has not told yet that the shown question is in sight.
    pub fn wants_sight(&self) -> bool {
        self.shown
            .as_ref()
            .is_some_and(|shown| shown.sight.since.is_none())
    }

    /// Takes note of what a frame of the full face has in sight, since then.
    pub(super) fn drawn(&mut self, showing: Showing, at: Duration, now: Now) {
        match (showing, self.shown.as_mut()) {
            (Showing::Aside, _) => {}
            (Showing::Blank, shown) => {
                if let Some(shown) = shown {
                    shown.sight.since = None;
                }
                if self.doing.second_step().is_some() {
                    self.stay_open(now);
                }
            }
            (Showing::Page(drawn), Some(shown)) if shown.prompt == drawn.prompt => {
                shown.sight.since.get_or_insert(at);
                shown.sight.pages.add(drawn);
            }
            (Showing::Page(_), _) => {}
        }
    }

    /// Takes note that a line was written, then.
    pub(super) fn written(&mut self, told: &Announcement, at: Duration) {
        let Some(about) = told.about else { return };
        let id = about.prompt();
        let asks = matches!(told.kind, Kind::Confirmation | Kind::Clarification)
            && matches!(about, About::Asks(_));
        let written = self.written.entry(id).or_insert(at);
        if asks {
            // Its details and what becomes of it are not the question itself.
            *written = at.max(*written);
        }
    }

    /// Takes note of what was heard to its end.
    pub(super) fn note_said(&mut self, now: Now) {
        for about in self.queue.take_said() {
            if let About::Asks(id) = about {
                self.heard.insert(id, Heard::Said(now.monotonic));
            }
        }
        let sessions = &self.sessions;
        let is_open = |id: &PromptId| sessions.prompt(*id).is_some_and(Prompt::is_open);
        self.heard.retain(|id, _| is_open(id));
        self.written.retain(|id, _| is_open(id));
        self.parts_told.retain(|id, _| is_open(id));
        self.left.retain(is_open);
        self.by_rule.retain(is_open);
    }

    /// The person pressed the stop key: they know that a question is there.
    pub(super) fn note_stopped(&mut self) {
        let cut = self.queue.take_said().into_iter();
        let cut = cut.filter_map(|about| match about {
            About::Asks(id) => Some(id),
            About::Tells(_) => None,
        });
        let shown = self.shown.as_ref().map(|shown| shown.prompt);
        for id in cut.chain(shown) {
            self.heard.entry(id).or_insert(Heard::Skipped);
        }
    }

    /// Says why a question can't be answered yet by a key, if so.
    pub(super) fn key_not_yet(&self, prompt: &Prompt, press: Press) -> Option<NotYet> {
        let arm = Duration::from_millis(self.config.questions.arm_ms);
        let quiet_since = press
            .before
            .unwrap_or(Duration::ZERO)
            .max(self.shown_since(prompt));
        if press.again || press.read < quiet_since + arm {
            return Some(NotYet::Keys);
        }
        match self.before_the_person(prompt) {
            None => Some(NotYet::Unshown),
            Some(since) if press.read < since + arm => Some(NotYet::Keys),
            Some(_) => self.unsaid(prompt, press.read),
        }
    }

    /// Says why a question can't be answered yet by a line that was read, or begun, then.
    pub(super) fn line_not_yet(&self, prompt: &Prompt, read: Duration, now: Now) -> Option<NotYet> {
        if self.is_unwritten(prompt) {
            return Some(NotYet::Held);
        }
        let shown = self.shown_since(prompt);
        let Some(written) = self.written.get(&prompt.id) else {
            let early = read <= shown;
            return Some(if early {
                NotYet::Early
            } else {
                NotYet::Unshown
            });
        };
        let written = shown.max(*written);
        let counts = match self.lines {
            // What was typed before that was flushed.
            Some(LineSource::Terminal | LineSource::Editor) => {
                written + Duration::from_millis(self.config.questions.arm_ms)
            }
            Some(LineSource::Pipe) | None => written,
        };
        if read <= counts {
            return Some(NotYet::Early);
        }
        self.unsaid(prompt, now.monotonic)
    }

    /// Says why an answer that was begun can't be ended, if so.
    pub(super) fn begun_not_yet(&self, prompt: &Prompt, now: Now) -> Option<NotYet> {
        match self.manner {
            Manner::Lines if self.is_unwritten(prompt) => return Some(NotYet::Held),
            Manner::Keys if self.before_the_person(prompt).is_none() => {
                return Some(NotYet::Unshown);
            }
            Manner::Lines | Manner::Keys => {}
        }
        self.unsaid(prompt, now.monotonic)
    }

    /// Gives since when a question is before the person's eyes, or else since when they have heard it.
    fn before_the_person(&self, prompt: &Prompt) -> Option<Duration> {
        let in_sight = match self.manner {
            Manner::Lines => self.written.get(&prompt.id).copied(),
            Manner::Keys => self
                .shown
                .as_ref()
                .filter(|shown| shown.prompt == prompt.id)
                .and_then(|shown| shown.sight.since),
        };
        in_sight.or(match self.heard.get(&prompt.id) {
            Some(Heard::Said(at)) => Some(*at),
            Some(Heard::Skipped) | None => None,
        })
    }

    pub(super) fn has_voice(&self) -> bool {
        match self.voice {
            VoiceState::Checking | VoiceState::Ready { .. } => true,
            VoiceState::Off
            | VoiceState::LeftToReader
            | VoiceState::None { .. }
            | VoiceState::Lost { .. } => false,
        }
    }

    /// With a voice, a question is answered only once it was said, skipped, or waited for until then.
    fn unsaid(&self, prompt: &Prompt, until: Duration) -> Option<NotYet> {
        let patience = Duration::from_secs(self.config.questions.say_first_seconds);
        let waited = until >= self.shown_since(prompt) + patience;
        let heard = self.heard.contains_key(&prompt.id);
        (self.has_voice() && !heard && !waited).then_some(NotYet::Unsaid)
    }

    /// Tells whether all of a question was said or shown, and says what to do where it was not: nobody
    /// answers a part.
    pub(super) fn is_told_whole(&mut self, prompt: &Prompt, now: Now) -> bool {
        let heard = self.heard.get(&prompt.id).copied();
        let shown = self.shown.as_ref().filter(|it| it.prompt == prompt.id);
        let in_parts = match shown.map_or(&Pages::None, |it| &it.sight.pages) {
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
        if !in_parts || self.face.0 == "start.face.json" {
            return true;
        }
        let whole = self.announcer.whole(prompt, &self.sessions, now);
        if self.parts_told.get(&prompt.id).copied().unwrap_or(0) < whole.needed {
            let why = self.by_manner("reply.not_yet.rest.keys", "reply.not_yet.rest.lines");
            self.respond_not_yet(why, prompt.id, now);
            return false;
        }
        if self.has_voice() && heard.is_none() {
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
}

impl Pages {
    fn add(&mut self, drawn: Drawn) {
        let mut seen = match std::mem::take(self) {
            Self::Some { seen, pages } if pages == drawn.pages => seen,
            Self::None | Self::Some { .. } => BTreeSet::new(),
            Self::All => {
                *self = Self::All;
                return;
            }
        };
        seen.insert(drawn.page);
        *self = if seen.len() >= drawn.pages {
            Self::All
        } else {
            Self::Some {
                seen,
                pages: drawn.pages,
            }
        };
    }
}
