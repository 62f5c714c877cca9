//! Leaving a source: which one, what is asked first, and the fate of its questions.

use crate::announce::Arg;
use crate::link::LinkId;
use crate::protocol::Now;
use crate::session::Question;

use crate::app::activity::Doing;
use crate::app::{App, Effect};

impl App {
    /// Leaves the source of the chosen conversation, or of the shown question, or of the last agent that said
    /// something.
    pub(in crate::app) fn leave(&mut self, now: Now) {
        let link = match self.cx.doing {
            Doing::Leaving(link) => {
                self.cx.doing = Doing::Watching;
                self.leave_now(link, now);
                return;
            }
            Doing::Watching
            | Doing::Confirming(_)
            | Doing::Answering { .. }
            | Doing::Choosing(_)
            | Doing::Quitting
            | Doing::Searching(_)
            | Doing::Prompting { .. }
            | Doing::Helping { .. } => {
                let of_shown = self.shown().map(|(_, question)| question.key.link);
                let of_last = self
                    .cx
                    .announcer
                    .history()
                    .iter()
                    .rev()
                    .find_map(|told| told.key.as_ref())
                    .map(|key| key.link);
                let still = |link: &LinkId| {
                    self.links
                        .get(*link)
                        .is_some_and(|view| !view.phase.is_over())
                };
                let any = self
                    .links
                    .iter()
                    .find(|view| !view.phase.is_over())
                    .map(|view| view.id);
                let chosen = self.prompts.chosen_link();
                chosen
                    .filter(still)
                    .or(of_shown.filter(still))
                    .or(of_last.filter(still))
                    .or(any)
            }
        };
        let Some(link) = link else {
            self.cx.respond("leave.nothing", &[], now);
            return;
        };
        let open: Vec<Question> = self
            .cx
            .sessions
            .open_questions()
            .filter(|question| question.key.link == link && question.answer().is_none())
            .cloned()
            .collect();
        let program = self.ends_program(link);
        let working = self.irreversible_at_work(link);
        if open.is_empty() && program.is_empty() && working.is_empty() {
            self.leave_now(link, now);
            return;
        }
        self.cx.doing = Doing::Leaving(link);
        let source = self
            .links
            .get(link)
            .map(|view| view.name.clone())
            .unwrap_or_default();
        let phrases = self.cx.phrases();
        let mut reasons = Vec::new();
        if !open.is_empty() {
            let args = [
                ("n", Arg::own(open.len())),
                ("source", Arg::Own(source.clone())),
                ("defaults", Arg::Own(self.defaults(&open))),
            ];
            reasons.push(phrases.text("leave.open", &args));
        }
        if !working.is_empty() {
            let args = [
                ("n", Arg::own(working.len())),
                ("source", Arg::Own(source)),
                ("tools", Arg::Tool(working.join(", "))),
            ];
            reasons.push(phrases.text("leave.working", &args));
        }
        if !program.is_empty() {
            reasons.push(program);
        }
        let args = [("reasons", Arg::Own(reasons.join(" ")))];
        let key = self.cx.face.pick("leave.ask", "leave.ask_lines");
        self.cx.respond(key, &args, now);
    }

    /// Returns the tools of a source that are working on something that can't be undone.
    fn irreversible_at_work(&self, link: LinkId) -> Vec<String> {
        self.cx
            .sessions
            .iter()
            .filter(|session| session.key.link == link && !session.is_ended())
            .flat_map(|session| session.tools.iter())
            .filter(|call| call.irreversible)
            .map(|call| crate::announce::speakable::one_line(&call.tool))
            .collect()
    }

    pub(in crate::app) fn leave_now(&mut self, link: LinkId, now: Now) {
        self.release(link, now);
        let Some(view) = self.links.get_mut(link) else {
            return;
        };
        view.left();
        let name = view.name.clone();
        self.cx.effects.push(Effect::Close(link));
        self.cx
            .respond("link.left", &[("source", Arg::Own(name))], now);
        let over = self.cx.sessions.link_left(link, now);
        if !over.is_empty() {
            // An answer meant for a question that is gone must not reach another one.
            self.questions.note_change(now.monotonic);
        }
        for id in over {
            let wishes = self.cx.queue.withdraw(id, now.monotonic);
            self.cx.wish(wishes);
        }
        self.settle_over(link, now);
    }
}
