//! What the person wants of the agent: prompts, stops, and why they rejected something.
//!
//! Responsibilities: which thread is meant, which message that is. Not here: what becomes of it (`thread`, `meeting`).

use serde_json::{Value, json};

use crate::dialect::{Out, Wish};
use crate::link::Phrase;
use crate::protocol::{AgentId, Now};

use super::client::{Codex, Ours, Phase, agent};
use super::thread::{OURS, Thread};

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

    /// Gives a name for what the person writes, by which it is known when it comes back.
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

    fn meant(&self, whom: Option<&AgentId>, in_turn: bool) -> Option<&Thread> {
        let fits = |thread: &&Thread| !in_turn || thread.in_turn();
        if let Some(whom) = whom {
            // Whoever means one means no other.
            let mut all = self.threads.values();
            return all
                .find(|thread| agent(&thread.id) == whom.as_str())
                .filter(fits);
        }
        let last = self.last.as_ref().and_then(|id| self.threads.get(id));
        last.filter(fits)
            .or_else(|| self.threads.values().rev().find(fits))
    }

    fn prompt(&mut self, whom: Option<&AgentId>, prompt: &str, out: &mut Vec<Out>) {
        let meant = self.meant(whom, false).map(|thread| {
            let turn = thread.run.as_ref().map(|run| run.id.clone());
            (thread.id.clone(), turn)
        });
        match (self.phase, meant) {
            (Phase::Met, Some((thread, Some(turn)))) => {
                self.add(&thread, &turn, prompt, out);
                out.push(Out::Tell(Phrase::new("codex.prompt_added")));
            }
            (Phase::Met, Some((thread, None))) => self.begin_turn(&thread, prompt, out),
            (Phase::Met, None) => out.push(Out::Tell(Phrase::new("codex.prompt_no_thread"))),
            (Phase::Unmet | Phase::Greeted, _) => {
                out.push(Out::Tell(Phrase::new("codex.not_there")));
            }
            (Phase::Over, _) => out.push(Out::Tell(Phrase::new("prompt.nobody"))),
        }
    }

    fn stop(&mut self, whom: Option<&AgentId>, now: Now, out: &mut Vec<Out>) {
        let meant = self.meant(whom, true).map(|thread| thread.id.clone());
        let thread = meant.and_then(|id| self.threads.get_mut(&id));
        let Some(thread) = thread.filter(|_| self.phase == Phase::Met) else {
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
