//! Passing what one part has found out to the parts that act on it.

use crate::dialect::{Out, Wish};
use crate::link::{Fault, LinkId, Undelivered};
use crate::protocol::Now;

use super::App;
use super::fact::AppFact;
use super::hands::scanning::ScanScene;

impl App {
    /// Has facts handled, each with everything that follows from it before the next.
    pub(super) fn pass(&mut self, facts: Vec<AppFact>, now: Now) {
        for fact in facts {
            match fact {
                AppFact::Command(command, by) => self.run(command, by, now),
                AppFact::Typed => self.hands.tell_typed(&mut self.cx, now),
                AppFact::StopSpeech => self.stop(now),
                AppFact::Joined(conversation) => {
                    self.questions
                        .turn_to_one_of(&conversation, &mut self.cx, now)
                }
                AppFact::Wanted(link, wish) => self.want(link, &wish, now),
                AppFact::StopSent(whom, number) => {
                    self.prompts.stop_sent(whom, number, &self.links, now)
                }
                AppFact::Answered(link, request, reply) => {
                    let wishes = self.links.reply(link, request, &reply, now);
                    self.carry_out(link, wishes, now);
                }
                AppFact::Submitted(question) => self.questions.submitted(question, &mut self.cx),
                AppFact::Changed(changes) => self.tell(changes, now),
            }
        }
    }

    /// Returns what scanning has to know of the questions.
    pub(super) fn scan_scene(&self) -> ScanScene {
        ScanScene::new(self.questions.shown_id(), self.questions.meant(&self.cx))
    }

    fn want(&mut self, link: LinkId, wish: &Wish, now: Now) {
        for wish in self.links.want(link, wish, now) {
            match wish {
                Out::Tell(phrase) => {
                    let args = self.told_args(link, &phrase);
                    self.cx.respond(phrase.key, &args, now);
                }
                other => self.carry_out(link, vec![other], now),
            }
        }
    }

    /// Settles the answers on a link that is over: its dialect is not asked again, so what it has not reported by now
    /// stays unknown. For requests that the transport still holds, its own report follows.
    pub(super) fn settle_over(&mut self, link: LinkId, now: Now) {
        if self.links.get(link).is_none_or(|view| !view.is_over()) {
            return;
        }
        for request in self.questions.left_on(link) {
            let unknown = Err(Undelivered::Unknown(Fault::Closed));
            let facts = self.questions.replied(request, unknown, &mut self.cx, now);
            self.pass(facts, now);
        }
    }

    /// Sends again what could not be sent.
    pub(super) fn retry(&mut self, now: Now) {
        for sent in self.questions.take_due(now) {
            let facts = self.questions.try_again(sent, &mut self.cx, now);
            self.pass(facts, now);
        }
    }
}
