//! Answers, prompts and stops, as requests to the machine of an agent.

use serde_json::json;

use super::Nats;
use crate::fleet::{AnsweredBy, BRIDGE, EventSubject, Purpose};
use crate::link::{DeliveryFailure, Fault, HttpAnswer, Phrase, PhraseArg, ServiceCall};
use crate::protocol::{AgentId, Reply, ReplyToken};
use crate::{Cx, DialectOutput, PersonRequest};

/// The header with the person's name.
const BY: &str = "Hearken-By";
/// The header with the digest of what the person was shown.
const DIGEST: &str = "Hearken-Digest";

impl Nats {
    /// Sends an answer to the machine whose agent asked.
    pub(super) fn answer(&mut self, number: u64, reply: &Reply, cx: &mut Cx<'_>) {
        let asked = self.watching.under(reply.token.reveal());
        let Some(asked) = asked else {
            let fault = Fault::Declined(Phrase::new("bridge.unknown"));
            return cx.out.push(DialectOutput::Settled {
                request: number,
                outcome: Err(DeliveryFailure::Refused(fault)),
            });
        };
        asked.is_answered = true;
        let (token, digest) = (asked.token.clone(), asked.digest.clone());
        let outside = ReplyToken::new(asked.outside.clone());
        let subject = asked.subject.as_ref().map(EventSubject::reply);
        let reply = Reply {
            token: outside,
            ..reply.clone()
        };
        let mut headers = vec![(DIGEST, digest)];
        headers.extend(AnsweredBy::person(&reply.decided_by).map(|person| (BY, person)));
        let call = ServiceCall {
            headers,
            ..ServiceCall::new(
                subject.unwrap_or_default(),
                reply.to_json(self.space.token()),
            )
        };
        self.request(Purpose::Reply { number, token }, call, cx);
    }

    /// Sends a prompt, a stop or a change of a setting to the machine of an agent.
    pub(super) fn want(&mut self, agent: Option<&AgentId>, wish: &PersonRequest, cx: &mut Cx<'_>) {
        let (purpose, body) = match wish {
            PersonRequest::Prompt(text) => (Purpose::Prompt, json!({"prompt": text})),
            PersonRequest::Stop => (Purpose::Stop, json!({"stop": true})),
            PersonRequest::Set(what) => {
                let what = what.as_deref().unwrap_or_default();
                (Purpose::Set, json!({"set": what}))
            }
            // Work that did not stop when asked goes on there, although it counts as over here.
            PersonRequest::Abandon | PersonRequest::Terms(_) | PersonRequest::ForAgent(..) => {
                return;
            }
        };
        let subject = match agent {
            Some(agent) => self
                .agents
                .subject(agent)
                .map(EventSubject::request_subject),
            None => self.only_bridge(),
        };
        let Some(subject) = subject else {
            let reason = Fault::Declined(Phrase::new("bridge.why.which_agent"));
            let phrase = Phrase::new("prompt.not_taken").with("reason", PhraseArg::Fault(reason));
            return cx.out.push(DialectOutput::Announce(phrase));
        };
        let call = ServiceCall::new(subject, body.to_string());
        self.request(purpose, call, cx);
    }

    /// Returns the subject of requests to the agent of the only machine that accepts prompts.
    fn only_bridge(&self) -> Option<String> {
        let mut prompted = self.machines.prompted();
        let (only, other) = (prompted.next()?, prompted.next());
        let standing = self.machines.standing_of(only)?;
        (other.is_none() && !standing.several).then(|| only.wish_of(BRIDGE))
    }

    fn request(&mut self, purpose: Purpose, call: ServiceCall, cx: &mut Cx<'_>) {
        let Some(id) = self.watching.begin(&purpose, cx.out) else {
            return;
        };
        let request = self.numbers.fresh();
        cx.out.push(DialectOutput::CallService { request, call });
        let now = cx.now.monotonic;
        self.watching.sent(id, purpose, request, now);
    }

    /// Handles the answer to a request.
    pub(super) fn outcome(
        &mut self,
        request: u64,
        answer: &Result<HttpAnswer, Fault>,
        out: &mut Vec<DialectOutput>,
    ) {
        // Without a listener on the subject, nothing arrived.
        let away = Err(Fault::Declined(Phrase::new("bridge.why.away")));
        let answer = match answer {
            Err(Fault::Refused) => &away,
            other => other,
        };
        self.watching.request_answered(request, answer, out);
    }
}
