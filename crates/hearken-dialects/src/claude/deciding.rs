//! Asking the person, handling the answers, and races with Claude Code's own terminal.
//!
//! Responsibilities: asking each request once, answers on their way, requests decided or given up in that terminal. Not
//! here: what a request becomes (`asking`).

use serde_json::Value;

use crate::kit::permission::Sending;
use crate::link::{Fault, Phrase, PhraseArg, Receipt, Undelivered};
use crate::protocol::{Answer, Reply};
use crate::{Cx, Out};

use super::asking;
use super::client::{Claude, WaitingRequest};
use super::conversation::place;
use super::read::{Hook, PermissionRequest};

/// The answer to a hook that decides nothing.
const NOTHING: &str = "{}";
/// How many sent answers are remembered, to recognise one that perhaps came too late.
const MOST_ANSWERED: usize = 64;

impl Claude {
    /// Answers a request with nothing, which decides nothing.
    pub(super) fn let_go(&mut self, id: u64, out: &mut Vec<Out>) {
        self.held.remove(&id);
        out.push(Out::Respond {
            id,
            request: None,
            body: NOTHING.to_owned(),
        });
    }

    /// Answers requests with nothing, by the names under which they were asked.
    pub(super) fn let_all_go(&mut self, names: &[String], out: &mut Vec<Out>) {
        for name in names {
            // An answer of the person is on its way and settles the request.
            let is_sent = |id: &u64| self.sending.values().any(|sent| sent == id);
            let waits = |id: &u64| self.held.contains_key(id) && !is_sent(id);
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
        self.asked += 1;
        // Without a request to answer there is no number, so one is made up.
        let number = id.unwrap_or(self.asked);
        let words = self.words.clone();
        let Some(conversation) = self.conversation(&hook.conversation, cx.out) else {
            if let Some(id) = id {
                self.let_go(id, cx.out);
            }
            return;
        };
        let (news, is_whole) = conversation.asked_for(&asks.made, hook.helper);
        let question = asking::question(number, &asks.made.tool, &asks.made.input, &words);
        let taken = match question {
            Some(question) => {
                let (turn, teller) = conversation.turn(cx);
                turn.clarify(question, false, teller, cx)
            }
            None => {
                let key = crate::kit::call::key(&news.id);
                let (permission, more) =
                    asking::permission(number, &key, &asks.suggestions, is_whole, &words);
                if !is_whole {
                    cx.out.push(Out::Tell(Phrase::new("claude.too_long")));
                } else if more + asks.left_out > 0 {
                    let n = PhraseArg::Own((more + asks.left_out).to_string());
                    cx.out
                        .push(Out::Tell(Phrase::new("claude.left_out").with("n", n)));
                }
                let (turn, teller) = conversation.turn(cx);
                turn.request(permission, news, teller, cx)
            }
        };
        match (id, taken) {
            (Some(id), true) => {
                self.held.insert(
                    id,
                    WaitingRequest {
                        conversation: hook.conversation,
                        since: cx.now.monotonic,
                    },
                );
            }
            (Some(id), false) => {
                cx.out.push(Out::Tell(Phrase::new("claude.too_many")));
                self.let_go(id, cx.out);
            }
            (None, true) => {}
            (None, false) => cx.out.push(Out::Tell(Phrase::new("claude.too_many"))),
        }
    }

    /// Sends an answer of the person.
    pub(super) fn answer(&mut self, request: u64, reply: &Reply, out: &mut Vec<Out>) {
        let kept = |fault| Out::Settled {
            request,
            outcome: Err(Undelivered::Kept(fault)),
        };
        let token = reply.token.reveal();
        let mut turns = self
            .conversations
            .values_mut()
            .filter_map(|it| it.turn.as_mut());
        let asked = turns.find_map(|turn| turn.asked_under(token));
        let Some(permission) = asked.filter(|_| !self.listens) else {
            return out.push(kept(Fault::OneWay));
        };
        let id = permission
            .id
            .name()
            .and_then(|name| name.parse::<u64>().ok());
        // Another answer is on its way already: no second one is needed.
        let waits =
            |id: &u64| self.held.contains_key(id) && !self.sending.values().any(|sent| sent == id);
        let Some(id) = id.filter(waits) else {
            return out.push(kept(gone()));
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
            return out.push(kept(Fault::Rejected {
                reason: Phrase::new("claude.no_answer"),
                retry_after: None,
                again: false,
            }));
        };
        permission.sending = Some(Sending {
            request,
            allows: choice.allows,
            reason: None,
        });
        self.sending.insert(request, id);
        out.push(Out::Respond {
            id,
            request: Some(request),
            body: asking::decision(&choice, reason.as_deref()),
        });
    }

    /// Handles the outcome of sending an answer.
    pub(super) fn answered(
        &mut self,
        request: u64,
        outcome: &Result<Receipt, Undelivered>,
        cx: &mut Cx<'_>,
    ) {
        let Some(id) = self.sending.remove(&request) else {
            return;
        };
        let held = self.held.remove(&id);
        let went = outcome.is_ok();
        cx.out.push(Out::Settled {
            request,
            outcome: match went {
                true => Ok(Receipt::Written),
                // The request no longer waits, so another attempt is pointless.
                false => Err(Undelivered::Refused(gone())),
            },
        });
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

    /// Handles that a request no longer waits for its answer.
    pub(super) fn lapsed(&mut self, id: u64, cx: &mut Cx<'_>) {
        if self.sending.values().any(|sent| *sent == id) {
            // The outcome of the answer is reported next.
            return;
        }
        if let Some(at) = self.answered.iter().position(|answered| *answered == id) {
            self.answered.remove(at);
            return cx.out.push(Out::Tell(Phrase::new("claude.perhaps_late")));
        }
        let Some(held) = self.held.remove(&id) else {
            return;
        };
        let waited = cx.now.monotonic.saturating_sub(held.since);
        let key = match waited >= super::client::LIMIT {
            true => "claude.lapsed",
            false => "claude.given_up",
        };
        let Some(conversation) = self.conversations.get_mut(&held.conversation) else {
            return;
        };
        let folder = place(&conversation.teller.folder);
        let Some(turn) = conversation.turn.as_mut() else {
            return;
        };
        let name = Value::from(id.to_string());
        if turn
            .withdrawn(&name, &mut conversation.teller, cx)
            .is_some()
        {
            cx.out
                .push(Out::Tell(Phrase::new(key).with("folder", folder)));
        }
    }
}

fn gone() -> Fault {
    Fault::Rejected {
        reason: Phrase::new("claude.gone"),
        retry_after: None,
        again: false,
    }
}
