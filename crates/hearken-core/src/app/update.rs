//! Passing what one part has found out to the parts that act on it.

use crate::announce::Class;
use crate::dialect::{Out, Wish};
use crate::link::LinkId;
use crate::protocol::Now;

use super::App;
use super::conversations::Conversation;
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
                AppFact::Joined(conversation) => self.joined(&conversation, now),
                AppFact::Wanted(link, wish) => self.want(link, &wish, now),
                AppFact::StopSent(whom, number) => {
                    self.prompts.stop_sent(whom, number, &self.links, now)
                }
            }
        }
    }

    /// Returns what scanning has to know of the questions.
    pub(super) fn scan_scene(&self) -> ScanScene {
        ScanScene::new(self.questions.shown_id(), self.meant())
    }

    /// Shows and asks a question of the conversation that the person went to.
    fn joined(&mut self, conversation: &Conversation, now: Now) {
        let mut questions = self.questions().into_iter();
        let asks = questions.find(|it| it.is_answerable() && conversation.includes(&it.key));
        let asks = asks.map(|question| question.id);
        if let Some(id) = asks.filter(|id| self.questions.shown_id() != Some(*id)) {
            self.show(Some(id), false, now);
            self.questions.note_change(now.monotonic);
            self.ask(id, Class::Response, now);
        }
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
}
