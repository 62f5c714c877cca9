//! Answering while listening in: questions are known by their tickets, and either side may decide them.
//!
//! Responsibilities: asking, the answers of the editor and of the person, and their outcome. Not here: everything else
//! that the two sides say.

use serde_json::Value;

use crate::link::{DeliveryFailure, Fault, Receipt};
use crate::protocol::{Answer, Reply};
use crate::rpc::{self, Id, RpcKind, RpcMessage};
use crate::{Cx, DialectOutput};

use super::{
    AgentListener, DecisionResult, ForwardedQuestion, ListenerNotice, MOST_TICKETS, notice,
};
use crate::acp::agent_quirks;
use crate::kit::call;
use crate::kit::members::text;
use crate::kit::options;
use crate::kit::permission::{Permission, SentAnswer};
use crate::kit::turn::Turn;

impl AgentListener {
    /// Asks a question from the agent that the person may answer. A known ticket was asked before.
    pub fn on_question(&mut self, ticket: u64, line: &str, cx: &mut Cx<'_>) {
        if self.is_foreign || self.questions.contains_key(&ticket) {
            return;
        }
        if self.questions.len() >= MOST_TICKETS {
            self.notice("acp.along.editors".into());
            return self.tell_notices(cx);
        }
        let RpcKind::Rpc(RpcMessage::Request { id, params, .. }) = rpc::read(line) else {
            self.notice("acp.along.unread".into());
            return self.tell_notices(cx);
        };
        let params = rpc::members(params.as_deref());
        let news = params.get("toolCall").and_then(Value::as_object);
        let known = self.known_agent.as_ref();
        let Some(news) = news.and_then(|call| agent_quirks::call(call, known)) else {
            // Without a call, it is unclear what would be allowed.
            self.notice("acp.along.unread".into());
            return self.tell_notices(cx);
        };
        let offer = options::read(&params, &self.teller.words);
        if offer.left_out > 0 {
            let n = offer.left_out.to_string();
            self.notice(ListenerNotice::from("acp.along.options").with("n", n));
        }
        let ticket_id = Id::of_name(&ticket.to_string());
        let mut permission =
            Permission::consent(ticket_id, &call::key(&news.id), offer.choices, Vec::new());
        permission.note_offer(&offer.shared, offer.has_namesakes);
        permission.can_cancel = true;
        // The answer to the agent carries the agent's own id, which another open question may share.
        let of_id =
            |(_, question): &(&u64, &ForwardedQuestion)| question.id == id && !question.is_over;
        let twin = self
            .questions
            .iter()
            .find(of_id)
            .map(|(ticket, _)| ticket.to_string());
        let conversation = text(&params, "sessionId").unwrap_or_default().to_owned();
        let Some((turn, teller)) = self.turn(&conversation, cx) else {
            self.notice("acp.along.editors".into());
            return self.tell_notices(cx);
        };
        let taken = turn.request(permission, news, teller, cx);
        if taken {
            let question = ForwardedQuestion {
                conversation,
                id,
                is_over: false,
            };
            self.questions.insert(ticket, question);
        } else {
            self.notice("acp.along.editors".into());
        }
        if let Some(twin) = twin.filter(|_| taken) {
            self.share_id(&ticket.to_string(), &twin, cx);
        }
        self.tell_notices(cx);
    }

    /// Marks two open questions that share an id of the agent: no answer to either is certain.
    fn share_id(&mut self, one: &str, other: &str, cx: &mut Cx<'_>) {
        let (one, other) = (Id::of_name(one), Id::of_name(other));
        let action = |along: &Self, ticket: &Id| -> String {
            let turns = along
                .conversations
                .values()
                .filter_map(|it| it.turn.as_ref());
            turns
                .map(|turn| turn.actions_of(ticket, &along.teller.words))
                .collect()
        };
        let (first, second) = (action(self, &one), action(self, &other));
        for (ticket, action) in [(&one, second), (&other, first)] {
            for conversation in self.conversations.values_mut() {
                if let Some(turn) = &mut conversation.turn {
                    self.teller.folder.clone_from(&conversation.folder);
                    turn.share_id(ticket, &action, &mut self.teller, cx);
                }
            }
        }
    }

    /// Handles the editor's answer to a question.
    pub fn answered(&mut self, ticket: u64, line: &str, cx: &mut Cx<'_>) {
        let allowed = match rpc::read(line) {
            RpcKind::Rpc(RpcMessage::Result { result, .. }) => self.allows(ticket, &result),
            RpcKind::Rpc(RpcMessage::Error { .. }) => Some(false),
            RpcKind::Rpc(
                RpcMessage::Request { .. } | RpcMessage::Notification { .. } | RpcMessage::Nothing,
            )
            | RpcKind::Object
            | RpcKind::Other => None,
        };
        self.left(ticket, allowed, cx);
    }

    /// Returns whether an answer allows what was asked, if that is clear.
    fn allows(&self, ticket: u64, result: &str) -> Option<bool> {
        let result = rpc::members(Some(result));
        let outcome = result.get("outcome")?.as_object()?;
        let Some(option) = text(outcome, "optionId") else {
            return Some(false);
        };
        let question = self.questions.get(&ticket)?;
        let turn = self
            .conversations
            .get(&question.conversation)?
            .turn
            .as_ref()?;
        let name = ticket.to_string();
        let permission = turn.permissions().find(|it| it.id.is_name(&name))?;
        let choice = permission.choices.iter().find(|it| it.option == option)?;
        Some(choice.allows)
    }

    /// Closes a question that can't be answered from here any more; `allowed` is `None` if its outcome is unknown.
    pub fn left(&mut self, ticket: u64, allowed: Option<bool>, cx: &mut Cx<'_>) {
        let Some(question) = self.questions.get_mut(&ticket) else {
            return;
        };
        question.is_over = true;
        let name = question.conversation.clone();
        if let Some(conversation) = self.conversations.get_mut(&name)
            && let Some(turn) = &mut conversation.turn
        {
            let request = ticket.to_string();
            let sends = turn.is_asked(&request)
                && turn
                    .permission
                    .as_ref()
                    .is_some_and(|it| it.sending.is_some());
            if sends {
                // The outcome of the person's own answer is still to come, and decides.
                return;
            }
            self.teller.folder.clone_from(&conversation.folder);
            turn.decided_elsewhere(&request, allowed, &mut self.teller, cx);
        }
        self.questions.remove(&ticket);
        self.finish(cx);
    }

    /// Closes all questions up to the ticket `last`, except those in `open`.
    pub fn standing(&mut self, last: u64, open: &[u64], cx: &mut Cx<'_>) {
        let known = self.questions.keys().copied();
        let gone: Vec<u64> = known
            .filter(|ticket| *ticket <= last && !open.contains(ticket))
            .collect();
        for ticket in gone {
            self.left(ticket, None, cx);
        }
    }

    /// Handles an answer from the person.
    pub fn reply(&mut self, request: u64, reply: &Reply, cx: &mut Cx<'_>) {
        let token = reply.token.reveal();
        let found = self.conversations.iter_mut().find_map(|(name, it)| {
            let permission = it.turn.as_mut()?.asked_under(token)?;
            Some((name.clone(), permission))
        });
        let decision = match &reply.answer {
            Answer::Decision { decision, .. } => decision.as_str(),
            Answer::Response(_) => "",
        };
        let reason = match &reply.answer {
            Answer::Decision { rationale, .. } => rationale.clone(),
            Answer::Response(_) => None,
        };
        let sent = found.and_then(|(_, permission)| {
            let mut choices = permission.offered.iter();
            let choice = choices.find(|it| it.decision == decision)?.clone();
            let ticket: u64 = permission.id.name()?.parse().ok()?;
            let own = Permission {
                id: self.questions.get(&ticket)?.id.clone(),
                ..permission.clone()
            };
            permission.sending = Some(SentAnswer {
                request,
                allows: choice.allows,
                reason,
            });
            Some((ticket, own.selected(&choice)))
        });
        match sent {
            Some((id, body)) => cx.out.push(DialectOutput::Respond {
                id,
                request: Some(request),
                body,
            }),
            None => {
                self.notice("acp.along.over".into());
                self.tell_notices(cx);
                cx.out.push(DialectOutput::Settled {
                    request,
                    outcome: Err(DeliveryFailure::Kept(Fault::Closed)),
                });
            }
        }
    }

    /// Handles the outcome of an answer from the person.
    pub fn became(&mut self, request: u64, how: DecisionResult, cx: &mut Cx<'_>) {
        let sends = |turn: &Turn| {
            let sending = turn.permission.as_ref().and_then(|it| it.sending.as_ref());
            sending.is_some_and(|it| it.request == request)
        };
        let found = self.conversations.values_mut().find_map(|it| {
            let turn = it.turn.as_mut().filter(|turn| sends(turn))?;
            Some((turn, &it.folder))
        });
        let Some((turn, folder)) = found else {
            return;
        };
        self.teller.folder.clone_from(folder);
        let teller = &mut self.teller;
        let asking = turn.permission.as_ref();
        let ticket = asking.and_then(|it| it.id.name()?.parse::<u64>().ok());
        // Its call is over: no agent waits for an answer any more.
        let is_moot = asking.is_some_and(|it| !turn.calls.contains_key(&it.call));
        let outcome = match how {
            DecisionResult::Here => Ok(Receipt::Written),
            DecisionResult::There | DecisionResult::NotNow => {
                Err(DeliveryFailure::Kept(Fault::Closed))
            }
        };
        let notice = match how {
            DecisionResult::Here => {
                let reason = turn.answered(request, teller, cx);
                // Prompts belong to the editor, and the protocol has no other place for a reason.
                reason.map(|_| ListenerNotice::from("acp.along.reason"))
            }
            DecisionResult::There => {
                notice(turn, &"acp.along.late".into(), teller, cx);
                turn.too_late(request, teller, cx);
                None
            }
            DecisionResult::NotNow => {
                if is_moot {
                    turn.too_late(request, teller, cx);
                } else {
                    turn.unanswered(request, teller, cx);
                    turn.ask_anew(teller, cx);
                }
                Some(ListenerNotice::from("acp.along.not_now"))
            }
        };
        if let Some(phrase) = notice {
            self.notice(phrase);
        }
        match how {
            DecisionResult::Here | DecisionResult::There => {
                if let Some(ticket) = ticket {
                    self.questions.remove(&ticket);
                }
            }
            DecisionResult::NotNow => {
                if let Some(ticket) = ticket.filter(|_| is_moot) {
                    self.questions.remove(&ticket);
                }
            }
        }
        cx.out.push(DialectOutput::Settled { request, outcome });
        self.tell_notices(cx);
        self.finish(cx);
    }
}
