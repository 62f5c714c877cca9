//! The wishes of a link's dialect, carried out in order.
//!
//! Responsibilities: turning each wish into an effect, a change of sessions or an announcement. Not here: which wishes
//! exist (`dialect`), events (`reading`).

use crate::announce::{Class, Kind};
use crate::dialect::{self, Out, Over, QuestionsStanding};
use crate::link::{LinkId, Way};
use crate::protocol::Now;
use crate::session::{self, Closing};

use super::reading::Answerability;
use crate::app::{App, Effect, RecordedFact};

impl App {
    /// Carries out the wishes of a dialect.
    pub(in crate::app) fn carry_out(&mut self, id: LinkId, wishes: Vec<Out>, now: Now) {
        for wish in wishes {
            // What comes after a frame of many events must not overtake them.
            self.read_to_its_end(now);
            self.carry_out_one(id, wish, now);
        }
        self.settle_over(id, now);
    }

    pub(super) fn carry_out_one(&mut self, id: LinkId, wish: Out, now: Now) {
        match wish {
            Out::Event(text) => self.frame(id, text, Answerability::ToBeAnswered, now),
            Out::ViewOnly(text) => self.frame(id, text, Answerability::ToBeSeen, now),
            Out::Unread(why, times) => {
                for _ in 0..times {
                    self.unread(id, &why, now);
                }
            }
            Out::Send { request, frame } => self.cx.effects.push(Effect::Send {
                link: id,
                request,
                body: frame,
            }),
            Out::Hand { request, message } => self.cx.effects.push(Effect::Hand {
                link: id,
                request,
                message,
            }),
            Out::Call { request, call } => self.cx.effects.push(Effect::Call {
                link: id,
                request,
                call,
            }),
            Out::Respond {
                id: of,
                request,
                body,
            } => self.cx.effects.push(Effect::Respond {
                link: id,
                id: of,
                request,
                body,
            }),
            Out::Follow(stream) => self.cx.effects.push(Effect::Follow { link: id, stream }),
            Out::Refuse(fault) => self.cx.effects.push(Effect::Refuse { link: id, fault }),
            Out::Release => self.release(id, now),
            Out::LastWords(words) => self.cx.effects.push(Effect::LastWords { link: id, words }),
            Out::ChangeWay(way) => {
                if let Some(view) = self.links.get_mut(id) {
                    view.left_connection();
                    if way == Way::AsGiven {
                        view.tries_as_given();
                    }
                }
                self.release(id, now);
                self.unsure(id, now);
                self.cx.effects.push(Effect::ChangeWay { link: id, way });
            }
            Out::Close(fault) => {
                self.failed(id, &fault, now);
                self.cx.effects.push(Effect::Close(id));
            }
            Out::Settled { request, outcome } => {
                self.prompts.stir(id, now);
                let facts = self.questions.replied(request, outcome, &mut self.cx, now);
                self.pass(facts, now);
            }
            Out::Standing(standing) => self.stand(id, standing, now),
            Out::Decided { token, to } => {
                let how = Closing::StateLeft { to: to.into() };
                let changes = self.cx.sessions.decided(id, &token, &how, now);
                self.tell(changes, now);
            }
            Out::Answered(reply) => {
                if let Some(question) = self.cx.sessions.open_under(id, &reply.token) {
                    self.tell_recorded_answer(question, reply.answer, now);
                }
            }
            Out::Over { token, how } => {
                let how = match how {
                    Over::Stopped => Closing::Stopped,
                    Over::TakenBack => Closing::TakenBack,
                };
                let changes = self.cx.sessions.decided(id, &token, &how, now);
                self.tell(changes, now);
            }
            Out::Proven(agent) => self.cx.announcer.trust_mut().prove(id, agent),
            Out::Tell(phrase) => {
                self.prompts.stir(id, now);
                let args = self.told_args(id, &phrase);
                let key = self.told_key(phrase.key);
                self.cx
                    .say(Class::Outcome, Kind::Connection, key, &args, now);
            }
            // Observers of a dialect's machines read its frames themselves.
            Out::Stepped(_) => {}
            Out::Detail(phrase) => {
                let args = self.told_args(id, &phrase);
                self.cx
                    .say_in_detail(Class::Outcome, Kind::Connection, phrase.key, &args, now);
            }
        }
    }

    /// Records an event as the app reads it.
    pub(super) fn keep_event(&mut self, id: LinkId, text: String) {
        if !self.cx.keeps {
            return;
        }
        let kept = RecordedFact::Event(text);
        self.cx.effects.push(Effect::Keep { link: id, kept });
    }

    /// Records a frame, if it is worded differently from the events that were made of it.
    pub(super) fn keep_raw(&mut self, id: LinkId, frame: &str, made: &[Out]) {
        if !self.cx.keeps {
            return;
        }
        let frame = dialect::bare(frame);
        let same = |wish: &Out| matches!(wish, Out::Event(text) if text == frame);
        if !made.iter().any(same) {
            let kept = RecordedFact::Frame(frame.to_owned());
            self.cx.effects.push(Effect::Keep { link: id, kept });
        }
    }

    /// Handles what is reported about the open questions of a link.
    fn stand(&mut self, id: LinkId, standing: QuestionsStanding, now: Now) {
        let back = match standing {
            QuestionsStanding::Back => session::Standing::Live,
            QuestionsStanding::PerhapsBack => session::Standing::Resumed,
            QuestionsStanding::Decided => {
                let changes = self.cx.sessions.over(id, &Closing::Unsubscribed, now);
                return self.tell(changes, now);
            }
        };
        if let Some(view) = self.links.get_mut(id) {
            view.resumed(back, now);
        }
    }
}
