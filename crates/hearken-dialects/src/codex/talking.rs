//! What the person wants of the agent: prompts, stops, and why they rejected something.
//!
//! Responsibilities: which thread is meant, which message that is. Not here: what becomes of it (`thread`, `meeting`).

use serde_json::{Value, json};

use crate::link::Phrase;
use crate::protocol::{AgentId, Now};
use crate::{Out, Wish};

use super::client::{Codex, Ours, Phase, agent};
use super::thread::{OURS, Thread};

/// Which thread is meant.
enum Meant<'a> {
    /// This one.
    One(&'a Thread),
    /// One of several, and nothing says which.
    Several,
    /// One that is not there.
    None,
}

impl Codex {
    pub(super) fn begin_turn(&mut self, thread: &str, prompt: &str, out: &mut Vec<Out>) {
        let params =
            json!({"threadId": thread, "input": input(prompt), "clientUserMessageId": self.mark()});
        self.ask(Ours::Prompt, "turn/start", &params, out);
    }

    pub(super) fn add(&mut self, thread: &str, turn: &str, prompt: &str, out: &mut Vec<Out>) {
        let params = json!({"threadId": thread, "input": input(prompt), "expectedTurnId": turn,
            "clientUserMessageId": self.mark()});
        let what = Ours::Add(thread.to_owned(), prompt.to_owned());
        self.ask(what, "turn/steer", &params, out);
    }

    /// Returns a name for what the person writes, by which it is known when it comes back.
    pub(super) fn mark(&mut self) -> String {
        self.prompts += 1;
        self.unanswered += 1;
        format!("{OURS}{:016x}-{}", self.seed, self.prompts)
    }

    /// Does what is wished: of the agent that is named, else of the one in which something happened last.
    pub(super) fn wish_of(
        &mut self,
        whom: Option<&AgentId>,
        wish: &Wish,
        now: Now,
        out: &mut Vec<Out>,
    ) {
        match wish {
            Wish::Prompt(prompt) => self.prompt(whom, prompt, out),
            Wish::Stop => self.stop(whom, now, out),
            Wish::Set(_) => out.push(Out::Tell(Phrase::new("settings.none"))),
            Wish::Of(agent, wish) => self.wish_of(Some(agent), wish, now, out),
            // The protocol has no words for how somebody wants to hear an agent.
            Wish::Terms(_) => {}
        }
    }

    /// Finds the thread that is meant: the one that is named, else the one in which something happened last, else the
    /// only one. Which of several is never guessed.
    fn meant(&self, whom: Option<&AgentId>, in_turn: bool) -> Meant<'_> {
        let fits = |thread: &&Thread| !in_turn || thread.in_turn();
        let one = match whom {
            // Whoever means one means no other.
            Some(whom) => {
                let mut all = self.threads.values();
                all.find(|thread| agent(&thread.id) == whom.as_str())
                    .filter(fits)
            }
            None => {
                let last = self.last.as_ref().and_then(|id| self.threads.get(id));
                let mut all = self.threads.values().filter(fits);
                match (last.filter(fits), all.next(), all.next()) {
                    (None, Some(_), Some(_)) => return Meant::Several,
                    (last, only, _) => last.or(only),
                }
            }
        };
        one.map_or(Meant::None, Meant::One)
    }

    fn prompt(&mut self, whom: Option<&AgentId>, prompt: &str, out: &mut Vec<Out>) {
        let told = match self.phase {
            Phase::Met => match self.meant(whom, false) {
                Meant::One(thread) => {
                    let id = thread.id.clone();
                    let turn = thread.run.as_ref().map(|run| run.id.clone());
                    let Some(turn) = turn else {
                        return self.begin_turn(&id, prompt, out);
                    };
                    self.add(&id, &turn, prompt, out);
                    "codex.prompt_added"
                }
                Meant::Several => "codex.which",
                Meant::None => "codex.prompt_no_thread",
            },
            Phase::Unmet | Phase::Greeted => "codex.not_there",
            Phase::Over => "prompt.nobody",
        };
        out.push(Out::Tell(Phrase::new(told)));
    }

    fn stop(&mut self, whom: Option<&AgentId>, now: Now, out: &mut Vec<Out>) {
        let meant = match self.meant(whom, true) {
            Meant::One(thread) if self.phase == Phase::Met => Some(thread.id.clone()),
            Meant::Several if self.phase == Phase::Met => {
                return out.push(Out::Tell(Phrase::new("codex.which_stop")));
            }
            Meant::One(_) | Meant::Several | Meant::None => None,
        };
        let thread = meant.and_then(|id| self.threads.get_mut(&id));
        let Some(thread) = thread else {
            return out.push(Out::Tell(Phrase::new("stop_turn.none")));
        };
        if thread.told().is_some_and(|(turn, _)| turn.stopping) {
            return out.push(Out::Tell(Phrase::new("stop_turn.stopping")));
        }
        let (id, Some(turn)) = (
            thread.id.clone(),
            thread.run.as_ref().map(|run| run.id.clone()),
        ) else {
            return out.push(Out::Tell(Phrase::new("stop_turn.none")));
        };
        // Said first: what follows comes of it.
        out.push(Out::Tell(Phrase::new("stop_turn.asked_to_stop")));
        thread.stop(now, out);
        let params = json!({"threadId": id, "turnId": turn});
        self.ask(Ours::Stop(id), "turn/interrupt", &params, out);
    }

    /// Tells the agent why the person rejected something: the answer itself has no place for it.
    pub(super) fn tell_reason(&mut self, id: &str, out: &mut Vec<Out>) {
        let thread = self.threads.get_mut(id);
        let reason = thread.and_then(|thread| {
            let turn = thread.run.as_ref().map(|run| run.id.clone());
            Some((thread.reason.take()?, turn))
        });
        match reason {
            Some((reason, Some(turn))) => self.add(id, &turn, &reason, out),
            Some((reason, None)) => self.begin_turn(id, &reason, out),
            None => return,
        }
        out.push(Out::Tell(Phrase::new("codex.reason_follows")));
    }
}

fn input(prompt: &str) -> Value {
    json!([{"type": "text", "text": prompt}])
}
