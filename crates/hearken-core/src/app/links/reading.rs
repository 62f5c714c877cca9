//! Texts that come over a link: each is read; unreadable ones are counted and announced.
//!
//! Responsibilities: the way from an event's text to the sessions, in steps if a frame holds many texts; announcing
//! unreadable texts at every power of ten. Not here: what a text means (`dialect`, `protocol`), news of the link itself
//! (`news`).
//!
//! Nearly every frame is one event and is read in one go. A frame that holds more, in an array or one after the other,
//! is read in steps, so that a key waits for no more than one step: while [`App::is_reading`], the deadline is now, and
//! no other news of a link may come in.

use crate::announce::{Arg, Class, Kind};
use crate::dialect::{self, Cx, NoEvent, Out, Texts};
use crate::link::{Frame, LinkEvent, LinkId};
use crate::protocol::{DecodeError, Decoded, Now};
use crate::session::What;

use super::LinkView;
use super::unread::Unread;
use crate::app::App;

/// How many bytes of a frame with many texts are read in one step: some hundred events, a few milliseconds.
const STEP_BYTES: usize = 16 * 1024;

/// Whether the question of an event can be answered from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answerability {
    /// As far as its link can carry an answer.
    ToBeAnswered,
    /// Not at all: it is only to be seen.
    ToBeSeen,
}

impl App {
    /// Returns whether a frame is being read in steps: [`crate::app::Input::Deadline`] triggers the next one.
    pub fn is_reading(&self) -> bool {
        self.links.is_reading()
    }

    /// Handles the text of one event, or of several.
    pub(super) fn frame(&mut self, id: LinkId, text: String, asks: Answerability, now: Now) {
        let Some(view) = self.links.get_mut(id) else {
            return;
        };
        view.received();
        let error = match view.read(&text) {
            Ok(decoded) => {
                self.end_beginning(id, now);
                let is_over = self.links.get(id).is_none_or(LinkView::is_over);
                self.keep_event(id, text);
                if !is_over {
                    self.event(id, decoded, asks, now);
                }
                return;
            }
            Err(error) => error,
        };
        let Some(error) = self.begins(id, &text, error, now) else {
            return self.keep_event(id, text);
        };
        // A frame with no text in it, or with a single one, is judged as a whole.
        let first = Texts::default().next(&text);
        if first.is_some_and(|first| first.len() < text.len()) {
            self.keep_event(id, text.clone());
            self.links.reading = Some(Unread::new(id, text));
            return self.read_on(now);
        }
        self.keep_event(id, text);
        self.judged(id, Err(error), asks, now);
    }

    /// Reads the next texts of a frame that holds many: each is handled separately.
    pub(in crate::app) fn read_on(&mut self, now: Now) {
        let Some(mut reading) = self.links.reading.take() else {
            return;
        };
        let until = reading.passed() + STEP_BYTES;
        while reading.passed() < until {
            // The person may leave the source in the middle of it.
            let link = reading.link();
            let Some(text) = reading.next_text() else {
                return;
            };
            let Some(view) = self.links.get_mut(link) else {
                return;
            };
            if view.is_over() {
                return;
            }
            let mut wishes = Vec::new();
            let frame = LinkEvent::Frame(Frame::of(text));
            view.dialect_mut()
                .news(&frame, &mut Cx::new(now, &mut wishes));
            for wish in wishes {
                match wish {
                    // It is already one of several: whatever it contains now is a single event.
                    Out::Event(text) => {
                        let event = dialect::read(&text);
                        self.judged(link, event, Answerability::ToBeAnswered, now);
                    }
                    wish => self.carry_out_one(link, wish, now),
                }
            }
        }
        self.links.reading = Some(reading);
    }

    /// Reads the rest of a frame, because something comes that must not overtake it.
    pub(in crate::app) fn read_to_its_end(&mut self, now: Now) {
        while self.is_reading() {
            self.read_on(now);
        }
    }

    fn judged(
        &mut self,
        id: LinkId,
        event: Result<Box<Decoded>, NoEvent>,
        asks: Answerability,
        now: Now,
    ) {
        if self.links.get(id).is_none_or(LinkView::is_over) {
            return;
        }
        match event {
            Ok(decoded) => self.event(id, decoded, asks, now),
            Err(why) => self.no_event(id, &why, now),
        }
    }

    /// Handles a text that is no event, unless its source was left meanwhile.
    pub(super) fn judge_alone(&mut self, id: LinkId, why: &NoEvent, now: Now) {
        if self.links.get(id).is_some_and(|view| !view.is_over()) {
            self.no_event(id, why, now);
        }
    }

    fn event(&mut self, id: LinkId, mut decoded: Box<Decoded>, asks: Answerability, now: Now) {
        self.prompts
            .heard(id, &decoded.envelope.producer.agent_id, now);
        self.cx.announcer.put_into_language(id, &mut decoded);
        let Some(view) = self.links.get_mut(id) else {
            return;
        };
        view.speaks_aaep();
        view.frames += 1;
        let number = view.frames;
        if self.cx.announcer.trust().is_asked_for() {
            let producer = &decoded.envelope.producer;
            self.tell_claim(id, &producer.agent_id, producer.label(), now);
        }
        match asks {
            Answerability::ToBeAnswered => {}
            Answerability::ToBeSeen => self.cx.sessions.only_shown(id, &decoded.event),
        }
        let changes = self.cx.sessions.apply(id, decoded, now);
        let asked = changes.iter().find_map(|change| {
            if let What::QuestionOpened(question) = change.what {
                Some(question)
            } else {
                None
            }
        });
        self.tell(changes, now);
        self.tell_forgotten(now);
        if let Some(question) = asked {
            self.tell_recorded(id, number, question, now);
        }
    }

    /// Handles a frame that means nothing in its link's dialect.
    pub(super) fn unread(&mut self, id: LinkId, why: &NoEvent, now: Now) {
        let Some(view) = self.links.get_mut(id).filter(|view| !view.is_over()) else {
            return;
        };
        view.received();
        self.no_event(id, why, now);
    }

    fn no_event(&mut self, id: LinkId, why: &NoEvent, now: Now) {
        if let Some(view) = self.links.get_mut(id) {
            view.frames += 1;
        }
        match why {
            NoEvent::Foreign(what) => self.foreign(id, *what, now),
            NoEvent::Broken(error) => self.unreadable(id, error, now),
        }
    }

    /// Counts an unreadable text, and announces the first, the tenth, the hundredth …: a stream of nothing else is
    /// announced a handful of times, but never ignored.
    fn unreadable(&mut self, id: LinkId, error: &DecodeError, now: Now) {
        let Some(view) = self.links.get_mut(id) else {
            return;
        };
        view.garbage += 1;
        let reason = self.cx.phrases().unread(error);
        if view.garbage == 1 {
            let args = [
                ("source", Arg::Own(view.name.clone())),
                ("reason", Arg::Own(reason)),
            ];
            let key = "anomaly.undecodable";
            self.cx.say(Class::Outcome, Kind::Anomaly, key, &args, now);
        } else {
            self.tell_more_unread(id, reason, now);
        }
    }

    /// Announces how many messages so far were not events, each time that number has grown tenfold.
    pub(super) fn tell_more_unread(&mut self, id: LinkId, reason: String, now: Now) {
        let Some(view) = self.links.get(id) else {
            return;
        };
        if !is_power_of_ten(view.garbage) {
            return;
        }
        let args = [
            ("source", Arg::Own(view.name.clone())),
            ("reason", Arg::Own(reason)),
            ("count", Arg::own(view.garbage)),
        ];
        let key = "anomaly.undecodable.more";
        self.cx.say(Class::Outcome, Kind::Anomaly, key, &args, now);
    }
}

fn is_power_of_ten(number: u64) -> bool {
    number
        .checked_ilog10()
        .is_some_and(|digits| 10_u64.pow(digits) == number)
}
