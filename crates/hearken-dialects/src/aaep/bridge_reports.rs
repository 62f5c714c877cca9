//! A producer that is a bridge: what it reports, and what is requested of it.
//!
//! Responsibilities: reading its reports ([`BridgeReport`]); answers with the digest of the question they are for;
//! prompts and stops; each outcome, reported once. Not here: the form of these messages (`fleet`), the bridge itself
//! (the core).
//!
//! A producer is a bridge as soon as it reports its [`BridgeAbilities`]; until then, and for any other producer,
//! answers go out as AAEP alone defines them.

use std::time::Duration;

use serde_json::Value;

use crate::fleet::{
    AskedQuestion, BRIDGE, BridgeAbilities, BridgeReport, Purpose, Request, RequestContent,
    RequestOutcome, VIEW_ONLY, WatcherMemory, digest,
};
use crate::link::{DeliveryFailure, Fault, HttpAnswer, Phrase, PhraseArg, Receipt};
use crate::protocol::{AgentId, Reply, object};
use crate::{Cx, DialectOutput};

use super::{Aaep, Handshakes};

/// What is known of a bridge.
#[derive(Debug, Default)]
pub(super) struct BridgeState {
    standing: Option<BridgeAbilities>,
    /// Whether the person was told that not all questions are repeated to those who join later.
    is_loss_told: bool,
    watching: WatcherMemory,
}

impl BridgeState {
    /// Returns what can be done with the agents behind the bridge; `None` if the producer is not a
    /// bridge.
    pub(super) fn abilities(&self) -> Option<&BridgeAbilities> {
        self.standing.as_ref()
    }

    /// Notes who agreed to the subscription: a bridge reports its standing first, and until then it may take prompts.
    pub(super) fn meet(&mut self, agent: Option<&str>) {
        if agent == Some(BRIDGE) {
            self.standing.get_or_insert_with(|| BridgeAbilities {
                prompts: true,
                stops: true,
                starting: true,
                ..BridgeAbilities::default()
            });
        }
    }

    /// Returns when to stop waiting for the next outcome.
    pub(super) fn due(&self) -> Option<Duration> {
        self.watching.due()
    }
}

impl Aaep {
    /// Handles a message that only a bridge sends; returns `false` for anything else.
    pub(super) fn bridge_message(&mut self, text: &str, cx: &mut Cx<'_>) -> bool {
        if let Some((request, outcome)) = RequestOutcome::read(text) {
            self.bridged.watching.result(&request, outcome, cx.out);
            return true;
        }
        match BridgeReport::read(text) {
            Some(BridgeReport::Standing(standing)) => {
                if standing.forgets && !std::mem::replace(&mut self.bridged.is_loss_told, true) {
                    cx.out.push(DialectOutput::Announce(standing.loss()));
                }
                self.bridged.standing = Some(standing);
            }
            Some(BridgeReport::Closed {
                question,
                reason: how,
            }) => {
                let watching = &mut self.bridged.watching;
                watching.closed_there(question.as_str(), how, cx.out);
            }
            // The events of its agents' calls show the same.
            Some(BridgeReport::Danger(_)) => {}
            Some(notice @ BridgeReport::Notice { .. }) => {
                if let Some((text, _)) = notice.sentence(&self.wanted_terms.languages) {
                    let told = Phrase::new("bridge.notice");
                    cx.out.push(DialectOutput::Announce(
                        told.with("text", PhraseArg::Agent(text)),
                    ));
                }
            }
            None => return self.bridged_question(text, cx.out),
        }
        true
    }

    /// Remembers a question of a bridge; returns whether it is one that can only be seen here, and was passed on.
    fn bridged_question(&mut self, text: &str, out: &mut Vec<DialectOutput>) -> bool {
        if self.bridged.standing.is_none() || !text.contains("\"reply_token\"") {
            return false;
        }
        let Some(event) = object(text) else {
            return false;
        };
        let words = |field: &str| event.get(field).and_then(Value::as_str).map(str::to_owned);
        if let (Some(id), Some(token)) = (words("event_id"), words("reply_token")) {
            let question = AskedQuestion {
                outside: token.clone(),
                token,
                digest: digest(&event),
                subject: None,
                position: None,
                is_answered: false,
            };
            self.bridged.watching.note_asked(id, question);
        }
        let own = event.get("extensions").and_then(|all| all.get("hearken"));
        let only_seen = own.and_then(|own| own.get(VIEW_ONLY)) == Some(&Value::Bool(true));
        if only_seen {
            out.push(DialectOutput::ViewOnly(text.to_owned()));
        }
        only_seen
    }

    /// Answers a question of a bridge; returns `false` if the producer is not a bridge or never asked this question.
    pub(super) fn reply_to_bridge(&mut self, number: u64, reply: &Reply, cx: &mut Cx<'_>) -> bool {
        if self.bridged.standing.is_none() {
            return false;
        }
        let Some(asked) = self.bridged.watching.under(reply.token.reveal()) else {
            return false;
        };
        asked.is_answered = true;
        let (digest, token) = (asked.digest.clone(), asked.token.clone());
        let Ok(reply) = serde_json::from_str(&reply.to_json(&self.subscription)) else {
            return false;
        };
        self.request_of_bridge(
            RequestContent::Reply {
                reply,
                digest: Some(digest),
            },
            Purpose::Reply { number, token },
            cx,
        );
        true
    }

    /// Prompts an agent behind a bridge.
    pub(super) fn prompt_through_bridge(
        &mut self,
        agent: Option<AgentId>,
        text: &str,
        cx: &mut Cx<'_>,
    ) {
        let text = text.to_owned();
        self.request_of_bridge(RequestContent::Prompt { agent, text }, Purpose::Prompt, cx);
    }

    /// Stops an agent behind a bridge.
    pub(super) fn stop_through_bridge(&mut self, agent: Option<AgentId>, cx: &mut Cx<'_>) {
        self.request_of_bridge(RequestContent::Stop { agent }, Purpose::Stop, cx);
    }

    /// Changes a setting of an agent behind a bridge.
    pub(super) fn set_through_bridge(
        &mut self,
        agent: Option<AgentId>,
        what: Option<String>,
        cx: &mut Cx<'_>,
    ) {
        self.request_of_bridge(
            RequestContent::Set {
                agent,
                setting: what,
            },
            Purpose::Set,
            cx,
        );
    }

    fn request_of_bridge(&mut self, content: RequestContent, purpose: Purpose, cx: &mut Cx<'_>) {
        let Some(id) = self.bridged.watching.begin(&purpose, cx.out) else {
            return;
        };
        let request = Request {
            id: id.clone(),
            content,
        };
        let message = request.to_json(&self.subscription);
        let carried_by = match self.at {
            Handshakes::Beside => {
                let request = self.numbers.fresh();
                let call = self.addresses.tell(message);
                cx.out.push(DialectOutput::Call { request, call });
                request
            }
            Handshakes::Inside | Handshakes::Nowhere => self.send(&message, cx.out),
        };
        let now = cx.now.monotonic;
        self.bridged.watching.sent(id, purpose, carried_by, now);
    }

    /// Handles the outcome of sending a frame; returns `false` if it carries no request.
    pub(super) fn request_left(
        &mut self,
        number: u64,
        outcome: &Result<Receipt, DeliveryFailure>,
        out: &mut Vec<DialectOutput>,
    ) -> bool {
        self.bridged.watching.request_left(number, outcome, out)
    }

    /// Handles the answer to a call; returns `false` if the call carries no request.
    pub(super) fn request_answered(
        &mut self,
        number: u64,
        answer: &Result<HttpAnswer, Fault>,
        out: &mut Vec<DialectOutput>,
    ) -> bool {
        self.bridged.watching.request_answered(number, answer, out)
    }

    /// Gives up the outcomes that are overdue.
    pub(super) fn tick_requests(&mut self, cx: &mut Cx<'_>) {
        self.bridged.watching.tick(cx.now.monotonic, cx.out);
    }

    /// Gives up all outcomes, because the connection is gone.
    pub(super) fn bridge_gone(&mut self, out: &mut Vec<DialectOutput>) {
        self.bridged.standing = None;
        self.bridged.watching.gone(out);
    }
}

#[cfg(test)]
#[path = "tests/bridge_reports.rs"]
mod tests;
