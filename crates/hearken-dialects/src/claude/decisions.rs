//! Asking the person, handling the answers, and races with Claude Code's own terminal.
//!
//! Responsibilities: asking each request once, answers on their way, requests decided or given up in that terminal. Not
//! here: what a request becomes (`questions`).

use std::time::Duration;

use serde_json::Value;

use crate::kit::permission::SentAnswer;
use crate::link::{DeliveryFailure, Fault, Phrase, PhraseArg, Receipt};
use crate::protocol::{Answer, Reply};
use crate::{Cx, DialectOutput};

use super::client::{Claude, WaitingRequest, agent};
use super::conversation::place;
use super::harness::Harness;
use super::messages::{Hook, PermissionRequest};
use super::questions;

/// The answer to a hook that decides nothing.
const NOTHING: &str = "{}";
/// How many sent answers are remembered, to recognise one that perhaps came too late.
const MOST_ANSWERED: usize = 64;

impl Claude {
    /// Answers a request with nothing, which decides nothing.
    pub(super) fn let_go(&mut self, id: u64, out: &mut Vec<DialectOutput>) {
        self.waiting_requests.remove(&id);
        out.push(DialectOutput::Respond {
            id,
            request: None,
            body: NOTHING.to_owned(),
        });
    }

    /// Answers requests with nothing, by the names under which they were asked.
    pub(super) fn let_all_go(&mut self, names: &[String], out: &mut Vec<DialectOutput>) {
        for name in names {
            // An answer of the person is on its way and settles the request.
            let is_sent = |id: &u64| self.sending.values().any(|sent| sent == id);
            let waits = |id: &u64| self.waiting_requests.contains_key(id) && !is_sent(id);
            if let Some(id) = name.parse().ok().filter(waits) {
                self.let_go(id, out);
            }
        }
    }

    /// Handles a request for a permission, which waits for its answer.
    pub(super) fn asks(
        &mut self,
        id: Option<u64>,
        hook: Hook,
        asks: PermissionRequest,
        cx: &mut Cx<'_>,
    ) {
        self.permission_count += 1;
        self.servers.hook_asks(&asks.call, cx);
        // Without a request to answer there is no number, so one is made up.
        let number = id.unwrap_or(self.permission_count);
        let words = self.words.clone();
        let harness = hook.harness;
        let hand_back = self.hand_back;
        let Some(conversation) = self.conversation(&hook.conversation, harness, cx.out) else {
            if let Some(id) = id {
                self.let_go(id, cx.out);
            }
            return;
        };
        let (news, is_whole) = conversation.asked_for(&asks.call, hook.helper);
        let question = questions::question(number, &asks.call.tool, &asks.call.input, &words);
        let taken = match question {
            Some(question) => {
                let (turn, teller) = conversation.turn(cx);
                turn.clarify(question, false, teller, cx)
            }
            None => {
                let key = crate::kit::call::key(&news.id);
                let (permission, more) = questions::permission(
                    harness,
                    number,
                    &key,
                    &asks.suggestions,
                    is_whole,
                    &words,
                );
                let is_only_here = !harness.agent.asks_too() && id.is_some();
                if is_only_here && !std::mem::replace(&mut conversation.told_only_here, true) {
                    cx.out
                        .push(DialectOutput::Announce(only_here(harness, hand_back)));
                }
                if !is_whole {
                    cx.out
                        .push(DialectOutput::Announce(Phrase::new("claude.too_long")));
                } else if more + asks.left_out > 0 {
                    let n = PhraseArg::Own((more + asks.left_out).to_string());
                    cx.out.push(DialectOutput::Announce(
                        Phrase::new("claude.left_out").with("n", n),
                    ));
                }
                let (turn, teller) = conversation.turn(cx);
                turn.request(permission, news, teller, cx)
            }
        };
        match (id, taken) {
            (Some(id), true) => {
                self.waiting_requests.insert(
                    id,
                    WaitingRequest {
                        harness,
                        conversation: hook.conversation,
                        since: cx.now.monotonic,
                        only_here: !harness.agent.asks_too(),
                    },
                );
            }
            (Some(id), false) => {
                cx.out
                    .push(DialectOutput::Announce(Phrase::new("claude.too_many")));
                self.let_go(id, cx.out);
            }
            (None, true) => {}
            (None, false) => cx
                .out
                .push(DialectOutput::Announce(Phrase::new("claude.too_many"))),
        }
    }

    /// Sends an answer of the person.
    pub(super) fn answer(&mut self, request: u64, reply: &Reply, cx: &mut Cx<'_>) {
        let kept = |fault| DialectOutput::Settled {
            request,
            outcome: Err(DeliveryFailure::Kept(fault)),
        };
        let token = reply.token.reveal();
        let mut turns = self
            .conversations
            .values_mut()
            .filter_map(|it| it.turn.as_mut());
        let asked = turns.find_map(|turn| turn.asked_under(token));
        let Some(permission) = asked.filter(|_| !self.listens) else {
            return cx.out.push(kept(Fault::OneWay));
        };
        let id = permission
            .id
            .name()
            .and_then(|name| name.parse::<u64>().ok());
        // Another answer is on its way already: no second one is needed.
        let waits = |id: &u64| {
            self.waiting_requests.contains_key(id) && !self.sending.values().any(|sent| sent == id)
        };
        let Some(id) = id.filter(waits) else {
            return cx.out.push(kept(gone()));
        };
        let chosen = match &reply.answer {
            Answer::Decision {
                decision,
                rationale,
            } => {
                let mut all = permission.offered.iter();
                let choice = all.find(|it| it.decision == decision.as_str());
                choice.map(|choice| (choice.clone(), rationale.clone()))
            }
            Answer::Response(_) => None,
        };
        let Some((choice, reason)) = chosen else {
            return cx.out.push(kept(Fault::Rejected {
                reason: Phrase::new("claude.no_answer"),
                retry_after: None,
                again: false,
            }));
        };
        if choice.option == questions::ASK_THERE {
            cx.out.push(DialectOutput::Settled {
                request,
                outcome: Ok(Receipt::Here),
            });
            return self.give_back(id, false, cx);
        }
        permission.sending = Some(SentAnswer {
            request,
            allows: choice.allows,
            reason: None,
        });
        self.sending.insert(request, id);
        let harness = self
            .waiting_requests
            .get(&id)
            .map_or(Harness::first(), |it| it.harness);
        cx.out.push(DialectOutput::Respond {
            id,
            request: Some(request),
            body: questions::decision(harness, &choice, reason.as_deref()),
        });
    }

    /// Hands a question back to the agent's own terminal, which asks it then.
    fn give_back(&mut self, id: u64, is_late: bool, cx: &mut Cx<'_>) {
        let Some(held) = self.waiting_requests.get(&id) else {
            return;
        };
        let (harness, name) = (held.harness, held.conversation.clone());
        let key = match (harness.only_rejects(), is_late) {
            (false, false) => "hooks.given_back",
            (false, true) => "hooks.handed_back",
            (true, false) => "hooks.left",
            (true, true) => "hooks.left_late",
        };
        self.let_go(id, cx.out);
        let is_form = self.take_back_elicited(id, cx);
        let Some(conversation) = self.conversations.get_mut(&name) else {
            return;
        };
        if let Some(turn) = conversation.turn.as_mut().filter(|_| !is_form) {
            turn.withdrawn(&Value::from(id.to_string()), &mut conversation.teller, cx);
        }
        cx.out.push(DialectOutput::Announce(
            Phrase::new(key).with("agent", agent(harness)),
        ));
    }

    /// Returns the questions that are open only here, each with the time at which it is handed back.
    fn only_here(&self) -> impl Iterator<Item = (u64, Duration)> {
        let is_sent = |id: &u64| self.sending.values().any(|sent| sent == id);
        self.waiting_requests
            .iter()
            .filter(move |(id, held)| held.only_here && !is_sent(id))
            .map(|(id, held)| (*id, held.since + self.hand_back))
    }

    /// Returns when the next question is handed back.
    pub(super) fn hand_back_at(&self) -> Option<Duration> {
        self.only_here().map(|(_, at)| at).min()
    }

    /// Hands back the questions that nobody answered in time.
    pub(super) fn hand_back_due(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now.monotonic;
        let due: Vec<u64> = self
            .only_here()
            .filter(|(_, at)| *at <= now)
            .map(|(id, _)| id)
            .collect();
        for id in due {
            self.give_back(id, true, cx);
        }
    }

    /// Handles the outcome of sending an answer.
    pub(super) fn answered(
        &mut self,
        request: u64,
        outcome: &Result<Receipt, DeliveryFailure>,
        cx: &mut Cx<'_>,
    ) {
        let Some(id) = self.sending.remove(&request) else {
            return;
        };
        let held = self.waiting_requests.remove(&id);
        let went = outcome.is_ok();
        cx.out.push(delivered(request, went));
        let conversation = held.and_then(|it| self.conversations.get_mut(&it.conversation));
        let Some((turn, teller)) =
            conversation.and_then(|it| Some((it.turn.as_mut()?, &mut it.teller)))
        else {
            return;
        };
        if went {
            if self.answered.len() == MOST_ANSWERED {
                self.answered.pop_front();
            }
            self.answered.push_back(id);
            turn.answered(request, teller, cx);
        } else {
            turn.too_late(request, teller, cx);
        }
    }

    /// Handles a request that no longer waits for its answer.
    pub(super) fn lapsed(&mut self, id: u64, cx: &mut Cx<'_>) {
        if self.sending.values().any(|sent| *sent == id) {
            // The outcome of the answer is reported next.
            return;
        }
        if let Some(at) = self.answered.iter().position(|answered| *answered == id) {
            self.answered.remove(at);
            return cx
                .out
                .push(DialectOutput::Announce(Phrase::new("claude.perhaps_late")));
        }
        let Some(held) = self.waiting_requests.remove(&id) else {
            return;
        };
        let name_arg = agent(held.harness);
        let waited = cx.now.monotonic.saturating_sub(held.since);
        let key = match waited >= super::client::LIMIT {
            true => "claude.lapsed",
            false => "claude.given_up",
        };
        let Some(conversation) = self.conversations.get_mut(&held.conversation) else {
            return;
        };
        let folder = place(&conversation.teller.folder);
        if self.take_back_elicited(id, cx) {
            let told = Phrase::new(key).with("agent", name_arg);
            return cx
                .out
                .push(DialectOutput::Announce(told.with("folder", folder)));
        }
        let Some(conversation) = self.conversations.get_mut(&held.conversation) else {
            return;
        };
        let Some(turn) = conversation.turn.as_mut() else {
            return;
        };
        let name = Value::from(id.to_string());
        if turn
            .withdrawn(&name, &mut conversation.teller, cx)
            .is_some()
        {
            cx.out.push(DialectOutput::Announce(
                Phrase::new(key)
                    .with("agent", name_arg)
                    .with("folder", folder),
            ));
        }
    }
}

/// Returns the phrase for a question that is asked nowhere but here, for so long.
pub(super) fn only_here(harness: &Harness, hand_back: Duration) -> Phrase {
    let seconds = hand_back.as_secs();
    let (m, s) = match seconds % 60 {
        0 => ((seconds / 60).to_string(), String::new()),
        _ => (String::new(), seconds.to_string()),
    };
    let key = match harness.only_rejects() {
        true => "hooks.waits",
        false => "hooks.only_here",
    };
    Phrase::new(key)
        .with("agent", agent(harness))
        .with("m", PhraseArg::Own(m))
        .with("s", PhraseArg::Own(s))
}

/// Returns what became of an answer that was written, or that came too late.
pub(super) fn delivered(request: u64, went: bool) -> DialectOutput {
    let outcome = match went {
        true => Ok(Receipt::Written),
        // The request no longer waits, so another attempt is pointless.
        false => Err(DeliveryFailure::Refused(gone())),
    };
    DialectOutput::Settled { request, outcome }
}

fn gone() -> Fault {
    Fault::Rejected {
        reason: Phrase::new("claude.gone"),
        retry_after: None,
        again: false,
    }
}
