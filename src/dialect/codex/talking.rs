//! What the person wants of the agent: prompts, stops, and why they rejected something.
//!
//! Responsibilities: which thread is meant, which message that is. Not here: what becomes of it (`thread`, `meeting`).

use serde_json::{Value, json};

use crate::dialect::Out;
use crate::link::Phrase;
use crate::protocol::Now;

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

    /// Gives the thread that is meant: the one of the agent that is named, else the one in which something happened last.
    pub(super) fn meant(&mut self, in_turn: bool) -> Option<&Thread> {
        let fits = |thread: &&Thread| !in_turn || thread.in_turn();
        if let Some(named) = self.meant.take() {
            // Whoever means one means no other.
            let named = self
                .threads
                .values()
                .find(|thread| agent(&thread.id) == named);
            return named.filter(fits);
        }
        let last = self.last.as_ref().and_then(|id| self.threads.get(id));
        last.filter(fits)
            .or_else(|| self.threads.values().rev().find(fits))
    }

    pub(super) fn prompt(&mut self, prompt: &str, out: &mut Vec<Out>) {
        let meant = self.meant(false).map(|thread| {
            let turn = thread.run.as_ref().map(|run| run.id.clone());
            (thread.id.clone(), turn)
        });
        match (self.phase, meant) {
            (Phase::Met, Some((thread, Some(turn)))) => {
                self.add(&thread, &turn, prompt, out);
                out.push(Out::Tell(Phrase::new("codex.prompt_added")));
            }
            (Phase::Met, Some((thread, None))) => self.begin_turn(&thread, prompt, out),
            (Phase::Met, None) => out.push(Out::Tell(Phrase::new("codex.no_thread"))),
            (Phase::Unmet | Phase::Greeted, _) => {
                out.push(Out::Tell(Phrase::new("codex.not_there")));
            }
            (Phase::Over, _) => out.push(Out::Tell(Phrase::new("prompt.nobody"))),
        }
    }

    pub(super) fn stop(&mut self, now: Now, out: &mut Vec<Out>) {
        let meant = self.meant(true).map(|thread| thread.id.clone());
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
