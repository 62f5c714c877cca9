//! The handshake itself: the requests to a producer, and what its answers mean.
//!
//! Responsibilities: the manifest, the subscription, the consent, and every other answer. Not here: the agreement
//! (`agreement`), refusals (`refusal`), proof (`proof`), choosing the next way (`producer_routes`).

use crate::Cx;
use crate::link::{Cause, Fault, HttpAnswer, PhraseArg};
use crate::protocol::{
    AAEP_VERSION, HandshakeMessage, Manifest, RejectionCode, SignatureFault, SubscriptionConsent,
    SubscriptionRequest, is_understood, read_handshake, subscription_close,
};

use super::agreement::Agreement;
use super::producer_routes::RouteFailure;
use super::refusal::rejection;
use super::returned_producer::PeerNames;
use super::{Aaep, DialectOutput, Handshake, Handshakes, PendingSubscription, tell};
use crate::link::Phrase;

/// The name of this program for producers; the same in every run (5.2.1).
const SUBSCRIBER: &str = "hearken";

impl Aaep {
    /// Begins an attempt; on a link with its handshake beside the stream, this decides what to follow.
    pub(super) fn begin(&mut self, out: &mut Vec<DialectOutput>) {
        if self.at != Handshakes::Beside {
            if self.ways.is_plain_pair() {
                out.push(DialectOutput::Follow(self.addresses.plain()));
            }
            return;
        }
        if let Handshake::Agreed(agreed) = &mut self.handshake {
            agreed.followed_again = true;
            let location = agreed.location.as_deref();
            let stream = self.addresses.subscription(&agreed.id, location, true);
            out.push(DialectOutput::Follow(stream));
            return;
        }
        let request = self.numbers.fresh();
        self.step(Handshake::Manifest { request }, out);
        out.push(DialectOutput::Call {
            request,
            call: self.addresses.manifest(),
        });
    }

    /// Sends the subscription request as the first message of a bidirectional connection.
    pub(super) fn shake_hands_inside(&mut self, out: &mut Vec<DialectOutput>) {
        if self.at != Handshakes::Inside {
            return;
        }
        let (terms, message) = self.request(AAEP_VERSION);
        let request = self.send(&message, out);
        // A manifest read beside another way counts here too; this way has no request for one.
        let (manifest, proof) = self.ways.manifest();
        let asked = PendingSubscription {
            request,
            version: AAEP_VERSION.to_owned(),
            terms,
            manifest,
            proof,
        };
        self.step(Handshake::Asked(Box::new(asked)), out);
    }

    /// Handles the loss of a link: a subscription that the server has forgotten is dropped, and one on a bidirectional
    /// connection ends with it (B.2.5).
    pub(super) fn loosen(&mut self, fault: &Fault, out: &mut Vec<DialectOutput>) {
        // A server that is busy or timed out does not say that it forgot the subscription.
        let forgotten = matches!(
            fault,
            Fault::Status {
                status: 400..=499,
                ..
            }
        ) && !matches!(
            fault,
            Fault::Status {
                status: 408 | 425 | 429,
                ..
            }
        );
        let keeps = self.at == Handshakes::Beside
            && !forgotten
            && matches!(self.handshake, Handshake::Agreed(_));
        if !keeps {
            self.handshake = Handshake::Idle;
            self.last_words(None, out);
        }
    }

    /// Handles the answer to a request beside a stream.
    pub(super) fn answered(
        &mut self,
        request: u64,
        outcome: Result<HttpAnswer, Fault>,
        cx: &mut Cx<'_>,
    ) {
        match self.handshake.clone() {
            Handshake::Manifest { request: mine } if mine == request => {
                self.manifest_came(outcome, cx.out);
            }
            Handshake::Asked(asked) if asked.request == request => {
                self.consent_came(outcome, *asked, cx);
            }
            Handshake::Agreed(agreed)
                if agreed
                    .changing
                    .as_ref()
                    .is_some_and(|(mine, _)| *mine == request) =>
            {
                match outcome {
                    Ok(answer) => match read_handshake(&answer.body) {
                        Some(message) => {
                            self.handshake_message(message, cx);
                        }
                        // Accepted; the consent comes over the stream.
                        None if answer.status < 300 => {}
                        None => {
                            let fault = Fault::Status {
                                status: answer.status,
                                retry_after: answer.retry_after,
                            };
                            self.change_failed(fault, cx.out);
                        }
                    },
                    Err(fault) => self.change_failed(fault, cx.out),
                }
            }
            // The answer to an outdated request.
            Handshake::Idle
            | Handshake::Manifest { .. }
            | Handshake::Asked(_)
            | Handshake::Plain
            | Handshake::Agreed(_) => {}
        }
    }

    fn manifest_came(&mut self, outcome: Result<HttpAnswer, Fault>, out: &mut Vec<DialectOutput>) {
        let (manifest, proof) = match outcome {
            Ok(answer) if answer.status == 200 => self.examine(&answer.body),
            Ok(_) => (None, Err(SignatureFault::Missing)),
            // The server is unreachable; a slow or confused one may still accept a subscription.
            Err(
                fault @ (Fault::Refused | Fault::UnknownHost | Fault::Tls(_) | Fault::Unusable(_)),
            ) if !self.ways.is_doubtful() => {
                self.refuse(fault, out);
                return;
            }
            Err(_) => (None, Err(SignatureFault::Missing)),
        };
        if self.stays_after(manifest.as_ref(), proof, out) {
            self.ask_subscription(AAEP_VERSION.to_owned(), manifest, proof, out);
        }
    }

    fn ask_subscription(
        &mut self,
        version: String,
        manifest: Option<Manifest>,
        proof: Result<(), SignatureFault>,
        out: &mut Vec<DialectOutput>,
    ) {
        let request = self.numbers.fresh();
        let (terms, message) = self.request(&version);
        let asked = PendingSubscription {
            request,
            version,
            terms,
            manifest,
            proof,
        };
        self.step(Handshake::Asked(Box::new(asked)), out);
        out.push(DialectOutput::Call {
            request,
            call: self.addresses.subscribe(message),
        });
    }

    fn consent_came(
        &mut self,
        outcome: Result<HttpAnswer, Fault>,
        asked: PendingSubscription,
        cx: &mut Cx<'_>,
    ) {
        let answer = match outcome {
            Ok(answer) => answer,
            Err(fault) => {
                self.refuse(fault, cx.out);
                return;
            }
        };
        match read_handshake(&answer.body) {
            Some(HandshakeMessage::Accepted(accepted)) if answer.status < 300 => {
                self.accepted(*accepted, answer.location, asked, cx);
            }
            Some(HandshakeMessage::Rejected(rejected)) if self.leave_out(&rejected, cx.out) => {
                self.ask_subscription(asked.version, asked.manifest, asked.proof, cx.out);
            }
            Some(HandshakeMessage::Rejected(rejected)) => {
                // Another version that both sides know is requested once.
                let other = asked.manifest.as_ref().and_then(|manifest| {
                    manifest
                        .versions
                        .iter()
                        .find(|known| **known != asked.version && is_understood(known))
                        .cloned()
                });
                match other {
                    Some(other)
                        if rejected.code == RejectionCode::VersionUnsupported
                            && asked.version == AAEP_VERSION =>
                    {
                        self.ask_subscription(other, asked.manifest, asked.proof, cx.out);
                    }
                    Some(_) | None => self.rejected(&rejected, answer.retry_after, cx.out),
                }
            }
            Some(HandshakeMessage::Accepted(_) | HandshakeMessage::Closed { .. }) | None => {
                match answer.status {
                    // The handshake exists, but not now or not for us; the plain pair must not bypass that.
                    401 | 403 | 407 | 408 | 429 | 500 | 502..=599 => {
                        let fault = Fault::Status {
                            status: answer.status,
                            retry_after: answer.retry_after,
                        };
                        self.refuse(fault, cx.out);
                    }
                    307 | 308 if answer.location.is_some() => {
                        if !self.follows_to_websocket(answer.location.as_deref(), cx.out) {
                            self.refuse(Fault::Unusable(Cause::RedirectAgain), cx.out);
                        }
                    }
                    404 | 405 if self.addresses.tries_as_prefix() => {
                        self.ask_subscription(asked.version, asked.manifest, asked.proof, cx.out);
                    }
                    status => self.no_handshake(status, cx.out),
                }
            }
        }
    }

    /// Handles a server without a handshake beside a stream: tries another listed way, else the plain pair, unless the
    /// person requires proof.
    fn no_handshake(&mut self, status: u16, out: &mut Vec<DialectOutput>) {
        if self.ways.has_another_listed()
            && self.other_way(RouteFailure::NoHandshake { status }, out)
        {
            return;
        }
        if self.refuse_unproven(out) {
            return;
        }
        self.step(Handshake::Plain, out);
        out.push(DialectOutput::Follow(self.addresses.plain()));
    }

    fn accepted(
        &mut self,
        accepted: SubscriptionConsent,
        location: Option<String>,
        asked: PendingSubscription,
        cx: &mut Cx<'_>,
    ) {
        let inside = self.at == Handshakes::Inside;
        let transport = self.ways.name().or((!inside).then_some("sse"));
        let believed = self.believe(&accepted, asked.manifest, asked.proof, transport);
        self.proven = believed.as_ref().ok().cloned().flatten();
        cx.out.push(DialectOutput::Proven(self.proven.clone()));
        self.notes.clone_from(&accepted.notes);
        // A producer that names no version uses the requested one.
        let other = accepted.version.filter(|version| !is_understood(version));
        let unusable = match (believed, other) {
            (Err(fault), _) => Some(super::proof::phrase(fault)),
            (Ok(_), Some(version)) => Some(
                Phrase::new("rejected.other_version").with("version", PhraseArg::Name(version)),
            ),
            (Ok(_), None) => None,
        };
        if let Some(reason) = unusable {
            self.give_up(&accepted.subscription_id, reason, cx.out);
            return;
        }
        let reached = PeerNames {
            named: accepted.agent_id.clone(),
            proven: self.proven.clone(),
        };
        self.subscription.clone_from(&accepted.subscription_id);
        self.bridged.meet(accepted.agent_id.as_deref());
        // A change that ended the last subscription counts as asked for, so that it is not asked for again.
        let asked_terms = match self.kept_terms.take() {
            Some((_, change)) => asked.terms.amended(&change),
            None => asked.terms,
        };
        let agreement = Agreement::new(
            accepted.subscription_id.clone(),
            location.clone(),
            asked_terms,
            accepted.honored,
            cx.now.monotonic,
        );
        self.step(Handshake::Agreed(Box::new(agreement)), cx.out);
        self.last_words(Some(subscription_close(&accepted.subscription_id)), cx.out);
        if inside {
            self.tell_way("link.way_handshake", cx.out);
            self.reached(reached, cx.out);
        } else {
            self.subscribed_anew(reached);
            let (id, location) = (&accepted.subscription_id, location.as_deref());
            let stream = self.addresses.subscription(id, location, false);
            cx.out.push(DialectOutput::Follow(stream));
        }
        if let Some(agent) = self.proven.clone() {
            let told = tell("link.proven").with("agent", PhraseArg::Name(agent));
            cx.out.push(DialectOutput::Detail(told));
        }
        self.tell_terms(accepted.notes, cx.out);
        // Includes what the person changed while the answer was pending.
        self.renew_terms(cx.out);
    }

    /// Handles a handshake message that came over a stream; returns `false` for any other frame.
    pub(super) fn handshake_frame(&mut self, text: &str, cx: &mut Cx<'_>) -> bool {
        if self.at == Handshakes::Nowhere {
            return false;
        }
        match read_handshake(text) {
            Some(message) => self.handshake_message(message, cx),
            None => false,
        }
    }

    /// Returns whether a frame may be part of a handshake.
    pub(super) fn is_handshake(&self, text: &str) -> bool {
        self.at != Handshakes::Nowhere && read_handshake(text).is_some()
    }

    /// Returns whether a consent is awaited on a bidirectional connection.
    pub(super) fn awaits_consent_inside(&self) -> bool {
        self.at == Handshakes::Inside && matches!(self.handshake, Handshake::Asked(_))
    }

    /// Handles the program's report that it has no handshake, which is not a refusal.
    pub(super) fn no_subscriptions(&mut self, out: &mut Vec<DialectOutput>) {
        // After a consent, or events instead of one, the report has no effect.
        if self.awaits_consent_inside() {
            self.without_handshake(out);
        }
    }

    /// Follows a bidirectional connection without a handshake, unless the person requires proof; returns whether it is
    /// followed.
    pub(super) fn without_handshake(&mut self, out: &mut Vec<DialectOutput>) -> bool {
        self.step(Handshake::Plain, out);
        if self.refuse_unproven(out) {
            return false;
        }
        self.tell_way("link.way_plain", out);
        self.reached_plain(out);
        true
    }

    /// Reports, once, whether a bidirectional connection has turned out to have a handshake.
    fn tell_way(&mut self, key: &'static str, out: &mut Vec<DialectOutput>) {
        if self.way_told != Some(key) {
            self.way_told = Some(key);
            out.push(DialectOutput::Detail(tell(key)));
        }
    }

    fn handshake_message(&mut self, message: HandshakeMessage, cx: &mut Cx<'_>) -> bool {
        match (message, &mut self.handshake) {
            (HandshakeMessage::Accepted(accepted), Handshake::Asked(asked)) => {
                let asked = asked.clone();
                self.accepted(*accepted, None, *asked, cx);
            }
            (HandshakeMessage::Accepted(accepted), Handshake::Agreed(agreed)) => {
                if accepted.subscription_id != agreed.id {
                    return false;
                }
                if let Some((_, change)) = agreed.changing.take() {
                    agreed.requested = agreed.requested.amended(&change);
                }
                agreed.honored = accepted.honored.clone();
                if accepted.notes.is_some() {
                    self.notes.clone_from(&accepted.notes);
                }
                self.tell_terms(accepted.notes, cx.out);
            }
            (HandshakeMessage::Rejected(rejected), Handshake::Asked(_)) => {
                if self.leave_out(&rejected, cx.out) {
                    let reason = Phrase::new(rejection(rejected.code));
                    self.turn_away(reason, rejected.retry_after, true, cx.out);
                } else {
                    self.rejected(&rejected, None, cx.out);
                }
            }
            (HandshakeMessage::Rejected(rejected), Handshake::Agreed(agreed)) => {
                // Without a pending change, this is not about a request of ours.
                if agreed.changing.is_some() {
                    let reason = PhraseArg::Phrase(Phrase::new(rejection(rejected.code)));
                    self.change_ended(reason, cx);
                }
            }
            (
                HandshakeMessage::Closed {
                    subscription,
                    reason,
                },
                Handshake::Agreed(agreed),
            ) => {
                // The end of another subscription on the same connection does not concern ours.
                if subscription.is_none_or(|of| of == agreed.id) {
                    let agreed_at = agreed.at;
                    self.closed(reason, agreed_at, cx);
                }
            }
            (
                HandshakeMessage::Closed { .. },
                Handshake::Idle
                | Handshake::Manifest { .. }
                | Handshake::Asked(_)
                | Handshake::Plain,
            ) => {}
            (
                HandshakeMessage::Accepted(_) | HandshakeMessage::Rejected(_),
                Handshake::Idle | Handshake::Manifest { .. } | Handshake::Plain,
            ) => return false,
        }
        true
    }

    /// Returns the message that requests a subscription, and the terms in it.
    fn request(&self, version: &str) -> (crate::protocol::Capabilities, String) {
        let capabilities = match &self.kept_terms {
            Some((agreed, _)) => agreed.clone(),
            None => self.capabilities(),
        };
        let request = SubscriptionRequest {
            version: version.to_owned(),
            subscriber_id: SUBSCRIBER.to_owned(),
            subscriber_version: env!("CARGO_PKG_VERSION").to_owned(),
            capabilities: capabilities.clone(),
        };
        (capabilities, request.to_json())
    }
}
