//! Reading the texts that come over a link; unreadable ones are counted and announced.
//!
//! Responsibilities: the way from an event's text to the sessions, in steps if a frame holds many texts; announcing
//! unreadable texts at every power of ten. Not here: what a text means (`dialect`, `protocol`), news of the link itself
//! (`news`).
//!
//! Nearly every frame is one event and is read in one go. A frame with more, in an array or in sequence, is
//! read in steps, so that a key waits for no more than one step: while [`crate::app::App::is_reading`], the
//! deadline is now, and no other news of a link may come in.

use crate::announce::{AnnouncementKind, Arg, Class};
use crate::dialect::{self, Cx, DialectOutput, JsonTexts, NoEvent};
use crate::link::{Frame, LinkEvent, LinkId};
use crate::protocol::{DecodeError, Decoded, Now};

use super::Links;
use super::unread_texts::UnreadFrame;
use crate::app::{Answerability, AppCx, AppFact, AppFacts, LinkStep};

/// How many bytes of a frame with many texts are read in one step: some hundred events, a few milliseconds.
const STEP_BYTES: usize = 16 * 1024;

/// One step of reading a frame with many texts.
#[derive(Debug)]
pub(in crate::app) struct ReadingStep {
    reading: UnreadFrame,
    /// How many bytes may be passed in it.
    until: usize,
}

impl Links {
    /// Handles the text of one event, or of several.
    pub(super) fn frame(
        &mut self,
        id: LinkId,
        text: String,
        asks: Answerability,
        cx: &mut AppCx,
    ) -> AppFacts {
        let Some(view) = self.get_mut(id) else {
            return Vec::new();
        };
        view.received();
        let error = match view.read(&text) {
            Ok(decoded) => {
                self.keep_event(id, text, cx);
                let mut facts = self.end_beginning(id);
                if facts.is_empty() {
                    return self.event(id, decoded, asks, cx);
                }
                facts.push(AppFact::Link(id, LinkStep::Event(decoded, asks)));
                return facts;
            }
            Err(error) => error,
        };
        let error = match self.begins(id, &text, error) {
            Ok(facts) => {
                self.keep_event(id, text, cx);
                return facts;
            }
            Err(error) => error,
        };
        // A frame with no text in it, or with a single one, is judged as a whole.
        let first = JsonTexts::default().next(&text);
        if first.is_some_and(|first| first.len() < text.len()) {
            self.keep_event(id, text.clone(), cx);
            self.reading = Some(UnreadFrame::new(id, text));
            return vec![AppFact::ReadOn];
        }
        self.keep_event(id, text, cx);
        self.judge_alone(id, &error, cx)
    }

    /// Returns the frame that is read in steps, for one step.
    pub(in crate::app) fn begin_step(&mut self) -> Option<ReadingStep> {
        let reading = self.reading.take()?;
        let until = reading.passed() + STEP_BYTES;
        Some(ReadingStep { reading, until })
    }

    /// Reads the next text of a step; returns `None` once the step is over.
    pub(in crate::app) fn next_in_step(
        &mut self,
        mut step: ReadingStep,
        now: Now,
    ) -> Option<(AppFacts, ReadingStep)> {
        if step.reading.passed() >= step.until {
            self.reading = Some(step.reading);
            return None;
        }
        let link = step.reading.link();
        let text = step.reading.next_text()?;
        // The person may leave the source in the middle of it.
        let view = self.get_mut(link).filter(|view| !view.is_over())?;
        let mut wishes = Vec::new();
        let frame = LinkEvent::Frame(Frame::of(text));
        view.dialect_mut()
            .news(&frame, &mut Cx::new(now, &mut wishes));
        let within = |wish| AppFact::Link(link, LinkStep::Within(wish));
        Some((wishes.into_iter().map(within).collect(), step))
    }

    /// Carries out an output that resulted from one of several texts.
    pub(super) fn carry_out_within(
        &mut self,
        id: LinkId,
        wish: DialectOutput,
        cx: &mut AppCx,
    ) -> AppFacts {
        match wish {
            // It is already one of several texts: whatever it contains now is a single event.
            DialectOutput::Event(text) => match dialect::read(&text) {
                Ok(decoded) => self.event(id, decoded, Answerability::ToBeAnswered, cx),
                Err(why) => self.judge_alone(id, &why, cx),
            },
            wish => self.carry_out(id, wish, cx),
        }
    }

    /// Handles a text that is not an event, unless its source was left meanwhile.
    pub(super) fn judge_alone(&mut self, id: LinkId, why: &NoEvent, cx: &mut AppCx) -> AppFacts {
        match self.get(id) {
            Some(view) if !view.is_over() => self.no_event(id, why, cx),
            Some(_) | None => Vec::new(),
        }
    }

    /// Handles an event, unless its source was left meanwhile.
    pub(super) fn event(
        &mut self,
        id: LinkId,
        mut decoded: Box<Decoded>,
        asks: Answerability,
        cx: &mut AppCx,
    ) -> AppFacts {
        let Some(view) = self.get_mut(id).filter(|view| !view.is_over()) else {
            return Vec::new();
        };
        let agent = decoded.envelope.producer.agent_id.clone();
        cx.announcer.put_into_language(id, &mut decoded);
        view.speaks_aaep();
        view.frames += 1;
        let number = view.frames;
        if cx.announcer.trust().is_asked_for() {
            let producer = &decoded.envelope.producer;
            self.tell_claim(id, &producer.agent_id, producer.label(), cx);
        }
        match asks {
            Answerability::ToBeAnswered => {}
            Answerability::ToBeSeen => cx.sessions.only_shown(id, &decoded.event),
        }
        let changes = cx.sessions.apply(id, decoded, cx.now);
        vec![
            AppFact::Heard(id, agent),
            AppFact::Applied(id, changes, number),
        ]
    }

    /// Handles a frame that means nothing in its link's dialect.
    pub(in crate::app) fn unread(&mut self, id: LinkId, why: &NoEvent, cx: &mut AppCx) -> AppFacts {
        let Some(view) = self.get_mut(id).filter(|view| !view.is_over()) else {
            return Vec::new();
        };
        view.received();
        self.no_event(id, why, cx)
    }

    fn no_event(&mut self, id: LinkId, why: &NoEvent, cx: &mut AppCx) -> AppFacts {
        if let Some(view) = self.get_mut(id) {
            view.frames += 1;
        }
        match why {
            NoEvent::Foreign(what) => self.foreign(id, *what, cx),
            NoEvent::Broken(error) => {
                self.unreadable(id, error, cx);
                Vec::new()
            }
        }
    }

    /// Counts an unreadable text, and announces the first, the tenth, the hundredth …: a stream of nothing but
    /// such texts is announced a handful of times, but never ignored.
    fn unreadable(&mut self, id: LinkId, error: &DecodeError, cx: &mut AppCx) {
        let Some(view) = self.get_mut(id) else {
            return;
        };
        view.garbage += 1;
        let reason = cx.phrases().unread(error);
        if view.garbage == 1 {
            let args = [
                ("source", Arg::Own(view.name.clone())),
                ("reason", Arg::Own(reason)),
            ];
            let key = "anomaly.undecodable";
            cx.say(Class::Outcome, AnnouncementKind::Anomaly, key, &args);
        } else {
            self.tell_more_unread(id, reason, cx);
        }
    }

    /// Announces how many messages so far were not events, each time that number has grown tenfold.
    pub(super) fn tell_more_unread(&self, id: LinkId, reason: String, cx: &mut AppCx) {
        let Some(view) = self.get(id) else {
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
        cx.say(Class::Outcome, AnnouncementKind::Anomaly, key, &args);
    }
}

fn is_power_of_ten(number: u64) -> bool {
    number
        .checked_ilog10()
        .is_some_and(|digits| 10_u64.pow(digits) == number)
}
