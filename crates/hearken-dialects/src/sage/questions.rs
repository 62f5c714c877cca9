//! Sage's questions, and how they are answered.
//!
//! Responsibilities: permissions and requests for input as questions, the envelopes of their answers, what becomes of
//! them. Not here: the calls behind the permissions (`turn_calls`), the wording of the question (`announce`).
//!
//! Sage states a risk and a reason, but neither a time limit nor the meaning of silence; so neither is announced. Its
//! fourth risk, critical, is high in AAEP's terms, with Sage's own word beside it.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;

use crate::link::Phrase;
use crate::protocol::{
    Answer, AwaitingClarification, AwaitingConfirmation, Decision, Event, Reply, ReplyToken,
    Response, ResponseKind, RiskLevel, Summary, ToolCallId,
};

use super::super::event_writer::{short, stated};
use super::message::{MessageOrigin, Permission};
use super::message_context::SageContext;
use super::state_tables::AgentEvent;
use super::turn_calls::denied;
use super::turn_events::SageTurn;

/// How many open questions can be answered; any more are asked view-only.
pub const MOST_OPEN: usize = 1024;

/// The subject of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionSubject {
    /// The permission for this call of the turn.
    Permission {
        /// The call's name within the turn.
        call: String,
    },
    /// Input in words.
    Input,
}

/// An open question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SageQuestion {
    /// Its conversation.
    pub thread: String,
    /// Its turn.
    pub turn: String,
    /// Sage's name for it.
    pub request: String,
    /// Its subject.
    pub asks: QuestionSubject,
    /// Whether the person allowed it, once answered.
    pub allowed: Option<bool>,
}

impl SageQuestion {
    /// Returns our name for the request that answers it, built from the same parts as Sage's own.
    pub fn answer_id(&self) -> String {
        let kind = match self.asks {
            QuestionSubject::Permission { .. } => "permission",
            QuestionSubject::Input => "input",
        };
        format!("req_{kind}_respond_{}", fragment(&self.request))
    }

    /// Returns the answer's envelope; `None` if Sage has no such answer.
    pub fn answer(&self, reply: &Reply) -> Option<String> {
        let (kind, payload) = match (&self.asks, &reply.answer) {
            (
                QuestionSubject::Permission { .. },
                Answer::Decision {
                    decision,
                    rationale,
                },
            ) => {
                let decision = match decision {
                    Decision::Accept => "allow",
                    Decision::Reject => "deny",
                    Decision::Other(_) => return None,
                };
                let mut payload = json!({"decision": decision});
                if let Some(reason) = rationale {
                    payload["reason"] = json!(reason);
                }
                ("permission.respond", payload)
            }
            (QuestionSubject::Input, Answer::Response(response)) => {
                let text = match response {
                    Response::Text(text) => text.clone(),
                    Response::YesNo(yes) => if *yes { "yes" } else { "no" }.to_owned(),
                    Response::Number(number) => number.to_string(),
                };
                ("input.respond", json!({"text": text}))
            }
            (QuestionSubject::Permission { .. }, Answer::Response(_))
            | (QuestionSubject::Input, Answer::Decision { .. }) => {
                return None;
            }
        };
        let envelope = json!({
            "protocol_version": "sage.runtime.v0",
            "kind": "request",
            "type": kind,
            "id": self.answer_id(),
            "thread_id": self.thread,
            "turn_id": self.turn,
            "request_id": self.request,
            "timestamp": stamp(reply.timestamp),
            "source": "cli",
            "payload": payload,
        });
        Some(envelope.to_string())
    }
}

/// Formats a time with milliseconds.
fn stamp(at: Timestamp) -> String {
    format!("{at:.3}")
}

/// Returns a part of an id in Sage's form.
fn fragment(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    name.chars()
        .map(|c| if plain(c) { c } else { '_' })
        .collect()
}

/// The open questions by token, and the answers that are on their way.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SageQuestions {
    open: BTreeMap<String, SageQuestion>,
    /// The token of the question by the number of the answer, and until when Sage's acknowledgement is awaited.
    pub sent: BTreeMap<u64, (String, Option<Duration>)>,
}

impl SageQuestions {
    /// Returns the question of a token.
    pub fn of(&mut self, token: &str) -> Option<&mut SageQuestion> {
        self.open.get_mut(token)
    }

    /// Finds an open question by Sage's name for it.
    pub fn find(&self, thread: &str, request: &str) -> Option<(&String, &SageQuestion)> {
        self.open
            .iter()
            .find(|(_, question)| question.request == request && question.thread == thread)
    }

    /// Finds an open question by our name for its answer.
    pub fn answered_by(&self, id: &str) -> Option<(&String, &SageQuestion)> {
        self.open
            .iter()
            .find(|(_, question)| question.answer_id() == id)
    }

    /// Removes a question that is over.
    pub fn close(&mut self, token: &str) -> Option<SageQuestion> {
        self.open.remove(token)
    }

    /// Removes the questions of a turn that is over.
    pub fn close_turn(&mut self, thread: &str, turn: &str) {
        self.open
            .retain(|_, question| question.thread != thread || question.turn != turn);
    }

    /// Asks for a permission.
    pub fn permission(
        &mut self,
        desk: &mut SageContext<'_>,
        turn: &mut SageTurn,
        place: &MessageOrigin,
        asked: &Permission,
    ) {
        let request = place.request.clone().unwrap_or_default();
        if self.repeats(&place.thread, &request) {
            return;
        }
        turn.step(desk, AgentEvent::NeedPermission);
        let call = turn.call_to_permit(desk, &request, &asked.tool);
        let (tool, id) = match turn.calls.get(&call) {
            Some(call) => (call.tool.clone(), call.id.clone()),
            None => (String::new(), String::new()),
        };
        let token = desk.writer.token();
        let shown = asked.input.as_deref().filter(|_| !asked.redacted);
        let name = if asked.tool.is_empty() {
            tool.as_str()
        } else {
            &asked.tool
        };
        let reason = asked.reason.as_deref();
        let action = match (shown, asked.redacted, reason) {
            (Some(input), _, _) => format!("{name}: {input}"),
            (None, true, Some(reason)) => format!("{name} (input redacted): {reason}"),
            (None, true, None) => format!("{name} (input redacted)"),
            (None, false, Some(reason)) => format!("{name}: {reason}"),
            (None, false, None) => name.to_owned(),
        };
        let risk = match asked.risk.as_deref() {
            Some("low") => Some(RiskLevel::Low),
            Some("medium") => Some(RiskLevel::Medium),
            Some("high" | "critical") => Some(RiskLevel::High),
            Some(_) | None => None,
        };
        // A word that AAEP does not have.
        let is_further = |word: &&str| Some(*word) != risk.as_ref().map(RiskLevel::as_str);
        let further = asked.risk.as_deref().filter(is_further);
        let confirmation = AwaitingConfirmation {
            names_action: !action.trim().is_empty(),
            action,
            reply_token: Some(ReplyToken::new(token.as_str())),
            summary: Summary {
                detailed: shown.and(reason).and_then(stated),
                ..Summary::default()
            },
            extra_context: further
                .map(|word| ("risk".to_owned(), short(word)))
                .into_iter()
                .collect(),
            risk_level: risk,
            tool: Some(tool),
            tool_call_id: Some(ToolCallId::from(id)),
            ..AwaitingConfirmation::default()
        };
        let question = SageQuestion {
            thread: place.thread.clone(),
            turn: turn.name.clone(),
            request,
            asks: QuestionSubject::Permission { call },
            allowed: None,
        };
        let event = Event::AwaitingConfirmation(Box::new(confirmation));
        self.ask(desk, turn, token, question, event);
    }

    /// Asks for input in words.
    pub fn input(
        &mut self,
        desk: &mut SageContext<'_>,
        turn: &mut SageTurn,
        place: &MessageOrigin,
        words: &str,
    ) -> bool {
        let request = place.request.clone().unwrap_or_default();
        if self.repeats(&place.thread, &request) {
            return false;
        }
        turn.hush(desk);
        let token = desk.writer.token();
        let words = if words.trim().is_empty() { "?" } else { words };
        let clarification = AwaitingClarification {
            question: words.to_owned(),
            reply_token: Some(ReplyToken::new(token.as_str())),
            accepted_response_kinds: vec![ResponseKind::Freetext],
            ..AwaitingClarification::default()
        };
        let question = SageQuestion {
            thread: place.thread.clone(),
            turn: turn.name.clone(),
            request,
            asks: QuestionSubject::Input,
            allowed: None,
        };
        let event = Event::AwaitingClarification(Box::new(clarification));
        self.ask(desk, turn, token, question, event);
        true
    }

    /// Returns whether a question is open already: showing it again asks nothing new.
    fn repeats(&self, thread: &str, request: &str) -> bool {
        !request.is_empty() && self.find(thread, request).is_some()
    }

    fn ask(
        &mut self,
        desk: &mut SageContext<'_>,
        turn: &mut SageTurn,
        token: String,
        question: SageQuestion,
        event: Event,
    ) {
        // Without a name, nothing could tell which question an answer is for.
        let nameless = question.request.is_empty();
        let full = self.open.len() >= MOST_OPEN;
        turn.open += 1;
        turn.nameless += u64::from(nameless);
        turn.enter(desk, "awaiting_input");
        turn.event_first(desk);
        if nameless || full {
            desk.view_only(&mut turn.session, event);
        } else {
            self.open.insert(token, question);
            desk.event(&mut turn.session, event);
        }
    }
}

impl SageTurn {
    /// Handles the end of the question with this token; without a token, that of a nameless one. Returns whether there
    /// was such a question: if not, the open ones are unaffected.
    pub fn one_less(
        &mut self,
        desk: &mut SageContext<'_>,
        token: Option<&str>,
        to: &'static str,
    ) -> bool {
        if token.is_none() && self.open > 0 {
            if self.nameless == 0 {
                return false;
            }
            self.nameless -= 1;
        }
        self.open = self.open.saturating_sub(1);
        match token {
            // Other questions are open, and determine the state of the turn.
            Some(token) if self.open > 0 => desk.decided(token, to),
            Some(_) | None => {}
        }
        true
    }

    /// Handles a permission that was granted or denied; `by_us` is the person's answer, if any.
    pub fn resolve(
        &mut self,
        desk: &mut SageContext<'_>,
        token: Option<&str>,
        call: Option<&str>,
        (allowed, changed): (bool, bool),
        by_us: Option<bool>,
    ) {
        let to = if allowed { "calling_tool" } else { "thinking" };
        if !self.one_less(desk, token, to) {
            return;
        }
        self.step(
            desk,
            if allowed {
                AgentEvent::PermissionGranted
            } else {
                AgentEvent::PermissionDenied
            },
        );
        let tool = call
            .and_then(|call| self.calls.get(call))
            .map(|call| call.tool.clone());
        match (allowed, call) {
            (true, Some(call)) => {
                // Leaving the question's state first closes the question.
                if self.open == 0 {
                    self.enter(desk, "calling_tool");
                }
                if self.agent == super::state_tables::Agent::Thinking {
                    self.step(desk, AgentEvent::ToolCalls);
                }
                self.run(desk, call);
                if changed {
                    let word = crate::link::PhraseArg::Name(tool.unwrap_or_default());
                    desk.announce(Phrase::new("translated.changed").with("tool", word));
                }
            }
            (false, Some(call)) => {
                self.deny_call(desk, call);
                // The person who denied it need not be told.
                if by_us != Some(false) {
                    desk.announce(denied(tool.as_deref(), ""));
                }
            }
            (false, None) => desk.announce(denied(None, "")),
            (true, None) => {}
        }
        self.settle_state(desk);
    }
}
