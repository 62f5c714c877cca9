//! What comes over a link as texts: each is read, what can't be is counted and told.
//!
//! Responsibilities: the way from a frame to the sessions, in steps where a frame holds many texts; the
//! ten-fold telling of what can't be read. Not here: what a text says (`dialect`, `protocol`), news of the
//! link itself (`links`).
//!
//! Nearly every frame is one event and is read at once. One that holds more, in an array or one behind the
//! other, is read a step at a time, so that a key waits for no more than a step: while
//! [`App::is_reading`], the deadline is now, and no other news of a link are to come in.

use crate::announce::{Arg, Class, Kind};
use crate::dialect::{self, NoEvent, Texts};
use crate::link::{Frame, LinkId};
use crate::protocol::{DecodeError, Decoded, Now};
use crate::session::What;

use super::App;
use super::waiting::Waiting;

/// How many bytes of a frame of many texts are read in one step: some hundred events, a few milliseconds.
const STEP_BYTES: usize = 16 * 1024;

/// Holds a frame of which not every text was read yet.
#[derive(Debug)]
pub(super) struct Reading {
    link: LinkId,
    frame: Frame,
    texts: Texts,
}

impl App {
    /// Tells whether a frame is being read in steps: [`super::Input::Deadline`] brings the next one.
    pub fn is_reading(&self) -> bool {
        self.reading.is_some()
    }

    pub(super) fn frame(&mut self, id: LinkId, frame: Frame, now: Now) {
        self.link_back(id, now);
        let text = dialect::bare(&frame.text);
        if self.handshake_frame(id, text, now) {
            return;
        }
        let Some(view) = self.links.get_mut(id.0) else {
            return;
        };
        if view.phase.is_over() {
            return;
        }
        view.silence_due = 0;
        view.waiting = Waiting::Over;
        view.ways.works();
        view.phase.receive();
        match dialect::read(text) {
            Ok(decoded) => self.event(id, decoded, now),
            Err(error) => {
                let mut texts = Texts::default();
                // A frame without any text in it, or of one alone, is what it is.
                match texts.next(text) {
                    Some(first) if first.len() < text.len() => {
                        self.reading = Some(Reading {
                            link: id,
                            frame,
                            texts: Texts::default(),
                        });
                        self.read_on(now);
                    }
                    Some(_) | None => self.no_event(id, &error, now),
                }
            }
        }
    }

    /// Reads the next texts of a frame that holds many.
    pub(super) fn read_on(&mut self, now: Now) {
        let Some(mut reading) = self.reading.take() else {
            return;
        };
        let until = reading.texts.passed() + STEP_BYTES;
        let left = |app: &Self, id: LinkId| {
            let view = app.links.get(id.0);
            view.is_none_or(|view| view.phase.is_over())
        };
        while reading.texts.passed() < until {
            // The person may leave the source in the middle of it.
            let Some(text) = reading.texts.next(&reading.frame.text) else {
                return;
            };
            if left(self, reading.link) {
                return;
            }
            if self.handshake_frame(reading.link, text, now) {
                continue;
            }
            match dialect::read(text) {
                Ok(decoded) => self.event(reading.link, decoded, now),
                Err(error) => self.no_event(reading.link, &error, now),
            }
        }
        self.reading = Some(reading);
    }

    /// Reads all that is left of a frame, because something comes that must not overtake it.
    pub(super) fn read_to_its_end(&mut self, now: Now) {
        while self.is_reading() {
            self.read_on(now);
        }
    }

    fn event(&mut self, id: LinkId, mut decoded: Decoded, now: Now) {
        if !self.event_instead(id, now) {
            return;
        }
        self.announcer.put_into_language(id, &mut decoded);
        let Some(view) = self.links.get_mut(id.0) else {
            return;
        };
        view.speaks.aaep();
        view.frames += 1;
        let number = view.frames;
        if self.announcer.trust().is_asked_for() {
            let producer = &decoded.envelope.producer;
            self.tell_claim(id, &producer.agent_id, producer.label(), now);
        }
        self.watch_rate(id, &decoded, now);
        let changes = self.sessions.apply(id, decoded, now);
        let asked = changes.iter().find_map(|change| {
            if let What::PromptOpened(prompt) = change.what {
                Some(prompt)
            } else {
                None
            }
        });
        self.tell(changes, now);
        self.tell_forgotten(now);
        if let Some(prompt) = asked {
            self.tell_recorded(id, number, prompt, now);
        }
    }

    fn no_event(&mut self, id: LinkId, why: &NoEvent, now: Now) {
        if let Some(view) = self.links.get_mut(id.0) {
            view.frames += 1;
        }
        match why {
            NoEvent::Foreign(what) => self.foreign(id, *what, now),
            NoEvent::Broken(error) => self.unreadable(id, error, now),
        }
    }

    /// Counts a text that can't be read, and tells the first, the tenth, the hundredth …: a stream of
    /// nothing else is told a handful of times, and never passed over.
    fn unreadable(&mut self, id: LinkId, error: &DecodeError, now: Now) {
        let Some(view) = self.links.get_mut(id.0) else {
            return;
        };
        view.garbage += 1;
        let reason = self.announcer.phrases().unread(error);
        if view.garbage == 1 {
            let args = [
                ("source", Arg::Own(view.name.clone())),
                ("reason", Arg::Own(reason)),
            ];
            let key = "anomaly.undecodable";
            self.say(Class::Outcome, Kind::Anomaly, key, &args, now);
        } else {
            self.tell_more_unread(id, reason, now);
        }
    }

    /// Tells how many messages are no events by now, where that has become ten times as many.
    pub(super) fn tell_more_unread(&mut self, id: LinkId, reason: String, now: Now) {
        let Some(view) = self.links.get(id.0) else {
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
        self.say(Class::Outcome, Kind::Anomaly, key, &args, now);
    }
}

fn is_power_of_ten(number: u64) -> bool {
    number
        .checked_ilog10()
        .is_some_and(|digits| 10_u64.pow(digits) == number)
}
