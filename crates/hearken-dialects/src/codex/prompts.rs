//! The person's requests to the agent: prompts, stops, and the reason for a rejection.
//!
//! Responsibilities: which thread is meant, and which message to send. Not here: what becomes of it (`thread`,
//! `greeting`).

use serde_json::{Value, json};

use crate::kit::turn_end::{ABANDONED, gave_up_prompt};
use crate::link::Phrase;
use crate::protocol::AgentId;
use crate::{Cx, DialectOutput, PersonRequest};

use super::client::{Codex, CodexRequest, ContactPhase, agent};
use super::thread::{JoinProgress, OURS, Thread};

/// The thread that is meant.
enum ThreadMatch<'a> {
    /// This one.
    One(&'a Thread),
    /// One of several, without a hint which.
    Several,
    /// One that does not exist.
    None,
}

impl Codex {
    pub(super) fn begin_turn(&mut self, thread: &str, prompt: &str, out: &mut Vec<DialectOutput>) {
        let params =
            json!({"threadId": thread, "input": input(prompt), "clientUserMessageId": self.mark()});
        self.ask(CodexRequest::Prompt, "turn/start", &params, out);
    }

    pub(super) fn add(
        &mut self,
        thread: &str,
        turn: &str,
        prompt: &str,
        out: &mut Vec<DialectOutput>,
    ) {
        let params = json!({"threadId": thread, "input": input(prompt), "expectedTurnId": turn,
            "clientUserMessageId": self.mark()});
        let what = CodexRequest::Add(thread.to_owned(), prompt.to_owned());
        self.ask(what, "turn/steer", &params, out);
    }

    /// Returns an id for a prompt from the person, by which it is recognised when the server repeats it.
    pub(super) fn mark(&mut self) -> String {
        self.prompts += 1;
        self.unanswered += 1;
        format!("{OURS}{:016x}-{}", self.seed, self.prompts)
    }

    /// Carries out a request: for the agent that is named, otherwise for the one with the latest activity.
    pub(super) fn wish_of(
        &mut self,
        agent: Option<&AgentId>,
        wish: &PersonRequest,
        cx: &mut Cx<'_>,
    ) {
        match wish {
            PersonRequest::Prompt(prompt) => self.prompt(agent, prompt, cx.out),
            PersonRequest::Stop => self.stop(agent, cx),
            PersonRequest::Abandon => self.abandon(agent, cx),
            PersonRequest::Set(_) => cx
                .out
                .push(DialectOutput::Announce(Phrase::new("settings.none"))),
            PersonRequest::ForAgent(agent, wish) => self.wish_of(Some(agent), wish, cx),
            // The protocol has no message for how a person wants to hear an agent.
            PersonRequest::Terms(_) => {}
        }
    }

    /// Finds the thread that is meant: the one that is named, otherwise the one with the latest activity, otherwise the
    /// only one. If there are several, none is ever guessed.
    fn meant(&self, whom: Option<&AgentId>, in_turn: bool) -> ThreadMatch<'_> {
        let fits = |thread: &&Thread| {
            thread.joined != JoinProgress::Errand && (!in_turn || thread.in_turn())
        };
        let one = match whom {
            // A name stands for this thread and no other.
            Some(whom) => {
                let mut all = self.threads.values();
                all.find(|thread| agent(&thread.id) == whom.as_str())
                    .filter(fits)
            }
            None => {
                let last = self.last.as_ref().and_then(|id| self.threads.get(id));
                let mut all = self.threads.values().filter(fits);
                match (last.filter(fits), all.next(), all.next()) {
                    (None, Some(_), Some(_)) => return ThreadMatch::Several,
                    (last, only, _) => last.or(only),
                }
            }
        };
        one.map_or(ThreadMatch::None, ThreadMatch::One)
    }

    fn prompt(&mut self, whom: Option<&AgentId>, prompt: &str, out: &mut Vec<DialectOutput>) {
        let told = match self.phase {
            ContactPhase::Met => match self.meant(whom, false) {
                ThreadMatch::One(thread) => {
                    let id = thread.id.clone();
                    let turn = thread.run.as_ref().map(|run| run.id.clone());
                    let Some(turn) = turn else {
                        return self.begin_turn(&id, prompt, out);
                    };
                    self.add(&id, &turn, prompt, out);
                    "codex.prompt_added"
                }
                ThreadMatch::Several => "codex.which",
                ThreadMatch::None => "codex.prompt_no_thread",
            },
            ContactPhase::Unmet | ContactPhase::Greeted => "codex.not_there",
            ContactPhase::Over => "prompt.nobody",
        };
        out.push(DialectOutput::Announce(Phrase::new(told)));
    }

    fn stop(&mut self, whom: Option<&AgentId>, cx: &mut Cx<'_>) {
        let meant = match self.meant(whom, true) {
            ThreadMatch::One(thread) if self.phase == ContactPhase::Met => Some(thread.id.clone()),
            ThreadMatch::Several if self.phase == ContactPhase::Met => {
                return cx
                    .out
                    .push(DialectOutput::Announce(Phrase::new("codex.which_stop")));
            }
            ThreadMatch::One(_) | ThreadMatch::Several | ThreadMatch::None => None,
        };
        let thread = meant.and_then(|id| self.threads.get_mut(&id));
        let Some(thread) = thread else {
            if std::mem::take(&mut self.unanswered) > 0 {
                return gave_up_prompt(cx.out);
            }
            return cx
                .out
                .push(DialectOutput::Announce(Phrase::new("stop_turn.none")));
        };
        if thread
            .announced_turn()
            .is_some_and(|(turn, _)| turn.stopping)
        {
            return cx
                .out
                .push(DialectOutput::Announce(Phrase::new("stop_turn.stopping")));
        }
        let (id, Some(turn)) = (
            thread.id.clone(),
            thread.run.as_ref().map(|run| run.id.clone()),
        ) else {
            return cx
                .out
                .push(DialectOutput::Announce(Phrase::new("stop_turn.none")));
        };
        // Announced first, because the rest follows from it.
        cx.out.push(DialectOutput::Announce(Phrase::new(
            "stop_turn.asked_to_stop",
        )));
        thread.stop(cx);
        let params = json!({"threadId": id, "turnId": turn});
        self.ask(CodexRequest::Stop(id), "turn/interrupt", &params, cx.out);
    }

    /// Goes on without a turn that does not stop; what is written next begins another one.
    fn abandon(&mut self, whom: Option<&AgentId>, cx: &mut Cx<'_>) {
        let meant = match self.meant(whom, true) {
            ThreadMatch::One(thread) => Some(thread.id.clone()),
            ThreadMatch::Several | ThreadMatch::None => None,
        };
        let thread = meant.and_then(|id| self.threads.get_mut(&id));
        let Some(thread) = thread.filter(|thread| thread.is_stopping()) else {
            return cx
                .out
                .push(DialectOutput::Announce(Phrase::new("stop_turn.none")));
        };
        thread.leave_run(ABANDONED, cx);
    }

    /// Sends the agent the person's reason for a rejection, for which the answer itself has no place.
    pub(super) fn tell_reason(&mut self, id: &str, out: &mut Vec<DialectOutput>) {
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
        out.push(DialectOutput::Announce(Phrase::new("codex.reason_follows")));
    }
}

fn input(prompt: &str) -> Value {
    json!([{"type": "text", "text": prompt}])
}
