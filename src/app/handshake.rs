//! The subscription handshake as a machine: what is asked of a producer, and what its answers mean.
//!
//! Responsibilities: the manifest and the subscription first, the plain pair second; which of the two
//! it is, in words; terms, renegotiation, refusals with their remedies; whether a signed manifest is
//! believed. Not here: the messages (`protocol`), how they travel (`transport`).
//!
//! ```text
//! Connecting -> ask the manifest -> ask a subscription -> 201 -> follow it
//!      |               (any answer)            | 404, 405 or no handshake -> follow the plain pair
//!      |                                       '-- refused -> this attempt has failed, with its remedy
//!      '- agreed before -> follow it again; a server that forgot it is asked anew at the next attempt
//! ```
//! On a connection that carries both ways the request is the first message after `Connected`, and the
//! consent the first one that comes; a producer that sends events instead has no handshake.

use std::collections::VecDeque;

use crate::announce::{Arg, Class, Kind};
use crate::config::HandshakeConfig;
use crate::link::{Ask, Course, Fault, HttpAnswer, LinkId};
use crate::protocol::{
    AAEP_VERSION, Accepted, Capabilities, HandshakeMessage, Manifest, Now, RejectionCode,
    SignatureFault, SubscriptionRequest, is_understood, read_handshake, subscription_close,
};

use super::agreement::Agreement;
use super::refusal::rejection;
use super::terms::{self, Wishes};
use super::ways::{Failing, Going};
use super::{App, Door, Effect};

/// How this program names itself to producers; the same from run to run (5.2.1).
const SUBSCRIBER: &str = "hearken";
/// Says how far the handshake of a link is.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum Handshake {
    /// Nothing is under way.
    #[default]
    Idle,
    /// The manifest was asked for.
    Manifest { request: u64 },
    /// A subscription was asked for, in a version.
    Asked {
        request: u64,
        version: String,
        manifest: Option<Manifest>,
        proof: Result<(), SignatureFault>,
    },
    /// The producer has no handshake.
    Plain,
    /// The terms are agreed.
    Agreed(Box<Agreement>),
}

impl App {
    /// Begins an attempt: on a link that shakes hands beside its stream, this says what it follows.
    pub(super) fn shake_hands(&mut self, id: LinkId) {
        let Some(view) = self.links.get_mut(id.0) else {
            return;
        };
        if view.door != Door::Beside {
            return;
        }
        view.resumes = matches!(view.handshake, Handshake::Agreed(_));
        if let Handshake::Agreed(agreed) = &view.handshake {
            let course = Course::Subscription {
                id: agreed.id.clone(),
                location: agreed.location.clone(),
                resumed: true,
            };
            self.effects.push(Effect::Follow { link: id, course });
            return;
        }
        let request = self.number();
        self.set_handshake(id, Handshake::Manifest { request });
        self.effects.push(Effect::Ask {
            link: id,
            request,
            ask: Ask::Manifest,
        });
    }

    /// Sends the request as the first message of a connection that carries both ways.
    pub(super) fn shake_hands_inside(&mut self, id: LinkId) {
        if self
            .links
            .get(id.0)
            .is_none_or(|view| view.door != Door::Inside)
        {
            return;
        }
        let request = self.number();
        let body = self.request(id, AAEP_VERSION);
        // What was read beside another way counts here too; by itself this one has no place for it.
        let known = self.links.get(id.0).map(|view| view.ways.manifest());
        let (manifest, proof) = known.unwrap_or((None, Ok(())));
        self.set_handshake(
            id,
            Handshake::asked(request, AAEP_VERSION.to_owned(), manifest, proof),
        );
        self.effects.push(Effect::Send {
            link: id,
            request,
            body,
        });
    }

    /// Takes the loss of a link: a subscription that its server does not know any more is forgotten,
    /// and one on a connection of its own ends with it (B.2.5).
    pub(super) fn loosen(&mut self, id: LinkId, fault: &Fault) {
        let Some(view) = self.links.get_mut(id.0) else {
            return;
        };
        let forgotten = matches!(
            fault,
            Fault::Status {
                status: 400..=499,
                ..
            }
        );
        let keeps = view.door == Door::Beside
            && !forgotten
            && matches!(view.handshake, Handshake::Agreed(_));
        if !keeps {
            view.handshake = Handshake::Idle;
            let link = id;
            self.effects.push(Effect::LastWords { link, words: None });
        }
    }

    /// Takes the answer to a request beside a stream.
    pub(super) fn answered(
        &mut self,
        id: LinkId,
        request: u64,
        outcome: Result<HttpAnswer, Fault>,
        now: Now,
    ) {
        let Some(view) = self.links.get(id.0) else {
            return;
        };
        match view.handshake.clone() {
            Handshake::Manifest { request: mine } if mine == request => {
                self.manifest_came(id, outcome, now);
            }
            Handshake::Asked {
                request: mine,
                version,
                manifest,
                proof,
            } if mine == request => {
                self.consent_came(id, outcome, &version, manifest, proof, now);
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
                            self.handshake_message(id, message, now);
                        }
                        // Taken; the consent comes over the stream.
                        None if answer.status < 300 => {}
                        None => self.change_failed(
                            id,
                            &Fault::Status {
                                status: answer.status,
                                retry_after: answer.retry_after,
                            },
                            now,
                        ),
                    },
                    Err(fault) => self.change_failed(id, &fault, now),
                }
            }
            // An answer that nobody waits for any more.
            Handshake::Idle
            | Handshake::Manifest { .. }
            | Handshake::Asked { .. }
            | Handshake::Plain
            | Handshake::Agreed(_) => {}
        }
    }

    fn manifest_came(&mut self, id: LinkId, outcome: Result<HttpAnswer, Fault>, now: Now) {
        let (manifest, proof) = match outcome {
            Ok(answer) if answer.status == 200 => self.examine(&answer.body),
            Ok(_) => (None, Err(SignatureFault::Missing)),
            // Nobody is there at all; whoever is slow or confused here may still take a subscription.
            Err(
                fault @ (Fault::Refused | Fault::UnknownHost | Fault::Tls(_) | Fault::Unusable(_)),
            ) if !self.is_way_doubtful(id) => {
                self.refuse(id, fault);
                return;
            }
            Err(_) => (None, Err(SignatureFault::Missing)),
        };
        match self.ways_listed(id, manifest.as_ref(), proof, now) {
            Going::On => self.ask_subscription(id, AAEP_VERSION.to_owned(), manifest, proof),
            Going::Elsewhere => {}
        }
    }

    fn ask_subscription(
        &mut self,
        id: LinkId,
        version: String,
        manifest: Option<Manifest>,
        proof: Result<(), SignatureFault>,
    ) {
        let request = self.number();
        let body = self.request(id, &version);
        self.set_handshake(id, Handshake::asked(request, version, manifest, proof));
        self.effects.push(Effect::Ask {
            link: id,
            request,
            ask: Ask::Subscribe(body),
        });
    }

    fn consent_came(
        &mut self,
        id: LinkId,
        outcome: Result<HttpAnswer, Fault>,
        version: &str,
        manifest: Option<Manifest>,
        proof: Result<(), SignatureFault>,
        now: Now,
    ) {
        let answer = match outcome {
            Ok(answer) => answer,
            Err(fault) => {
                self.refuse(id, fault);
                return;
            }
        };
        match read_handshake(&answer.body) {
            Some(HandshakeMessage::Accepted(accepted)) if answer.status < 300 => {
                self.accepted(id, *accepted, answer.location, manifest, proof, now);
            }
            Some(HandshakeMessage::Rejected(rejected)) if self.leave_out(id, &rejected, now) => {
                self.ask_subscription(id, version.to_owned(), manifest, proof);
            }
            Some(HandshakeMessage::Rejected(rejected)) => {
                // Another version that both sides know is asked for once.
                let other = manifest.as_ref().and_then(|manifest| {
                    manifest
                        .versions
                        .iter()
                        .find(|known| *known != version && is_understood(known))
                        .cloned()
                });
                match other {
                    Some(other)
                        if rejected.code == RejectionCode::VersionUnsupported
                            && version == AAEP_VERSION =>
                    {
                        self.ask_subscription(id, other, manifest, proof);
                    }
                    Some(_) | None => self.rejected(id, &rejected, answer.retry_after, now),
                }
            }
            Some(HandshakeMessage::Accepted(_) | HandshakeMessage::Closed { .. }) | None => {
                match answer.status {
                    // It is there, but not now or not for us; the plain pair would be no way around.
                    401 | 403 | 407 | 408 | 429 | 500 | 502..=599 => self.refuse(
                        id,
                        Fault::Status {
                            status: answer.status,
                            retry_after: answer.retry_after,
                        },
                    ),
                    status => self.no_handshake(id, status, now),
                }
            }
        }
    }

    /// The server has no handshake beside a stream: another way that it lists, else the plain pair, unless
    /// the person wants proof.
    fn no_handshake(&mut self, id: LinkId, status: u16, now: Now) {
        if self.has_another_listed(id) && self.other_way(id, Failing::NoHandshake { status }, now) {
            return;
        }
        if self.refuse_unproven(id) {
            return;
        }
        self.set_handshake(id, Handshake::Plain);
        self.effects.push(Effect::Follow {
            link: id,
            course: Course::Plain,
        });
    }

    fn accepted(
        &mut self,
        id: LinkId,
        accepted: Accepted,
        location: Option<String>,
        manifest: Option<Manifest>,
        proof: Result<(), SignatureFault>,
        now: Now,
    ) {
        let inside = self
            .links
            .get(id.0)
            .is_some_and(|view| view.door == Door::Inside);
        let named = self.links.get(id.0).and_then(|view| view.ways.name());
        let transport = named.or((!inside).then_some("sse"));
        let believed = self.believe(id, &accepted, manifest, proof, transport);
        let proven = believed.as_ref().ok().cloned().flatten();
        self.announcer.trust_mut().prove(id, proven);
        // Who names no version uses the one that it was asked for.
        let other = accepted.version.filter(|version| !is_understood(version));
        if let Err(fault) = believed {
            let reason = self.signature_words(fault);
            self.give_up(id, &accepted.subscription_id, reason, inside);
            return;
        }
        if let Some(version) = other {
            let version = ("version", Arg::Name(version));
            let reason = self.phrases().text("rejected.other_version", &[version]);
            self.give_up(id, &accepted.subscription_id, reason, inside);
            return;
        }
        let asked = match self.links.get(id.0) {
            Some(view) => view.requested.clone(),
            None => return,
        };
        let agreement = Agreement {
            id: accepted.subscription_id.clone(),
            location: location.clone(),
            asked,
            honored: accepted.honored.clone(),
            at: now.monotonic,
            changing: None,
            arrivals: VecDeque::new(),
            slowed: None,
        };
        if let Some(view) = self.links.get_mut(id.0) {
            view.subscription.clone_from(&accepted.subscription_id);
        }
        self.set_handshake(id, Handshake::Agreed(Box::new(agreement)));
        self.effects.push(Effect::LastWords {
            link: id,
            words: Some(subscription_close(&accepted.subscription_id)),
        });
        if !inside {
            self.effects.push(Effect::Follow {
                link: id,
                course: Course::Subscription {
                    id: accepted.subscription_id.clone(),
                    location,
                    resumed: false,
                },
            });
        }
        if inside {
            self.tell_way(id, "link.way_handshake", now);
        }
        self.tell_terms(id, accepted.notes, now);
        // What the person changed while the answer was under way.
        self.renew_terms(id);
    }

    /// Takes a message of the handshake that came over a stream; `false` when it is none.
    pub(super) fn handshake_frame(&mut self, id: LinkId, text: &str, now: Now) -> bool {
        let shakes = self
            .links
            .get(id.0)
            .is_some_and(|view| view.door != Door::Open);
        if !shakes {
            return false;
        }
        match read_handshake(text) {
            Some(message) => self.handshake_message(id, message, now),
            None => false,
        }
    }

    /// Takes an event where a consent was awaited: whoever sends one has no handshake. What can't be
    /// read says nothing about that: it may be a greeting for people. Tells whether the link is still followed.
    pub(super) fn event_instead(&mut self, id: LinkId, now: Now) -> bool {
        if self.awaits_consent_inside(id) {
            self.without_handshake(id, now);
        }
        let view = self.links.get(id.0);
        view.is_some_and(|view| !view.phase.is_over())
    }

    /// Tells whether a consent is awaited on the connection itself.
    fn awaits_consent_inside(&self, id: LinkId) -> bool {
        self.links.get(id.0).is_some_and(|view| {
            view.door == Door::Inside && matches!(view.handshake, Handshake::Asked { .. })
        })
    }

    /// Takes the word of the other side that it has no handshake, which is none of a refusal.
    pub(super) fn no_subscriptions(&mut self, id: LinkId, now: Now) {
        // Whoever has shaken hands, or sent events in its place, is taken by that.
        if self.awaits_consent_inside(id) {
            self.without_handshake(id, now);
        }
    }

    /// Follows a connection that carries both ways without a handshake, unless the person wants proof.
    fn without_handshake(&mut self, id: LinkId, now: Now) {
        self.set_handshake(id, Handshake::Plain);
        if self.refuse_unproven(id) {
            self.close_refused(id, now);
            return;
        }
        self.tell_way(id, "link.way_plain", now);
    }

    /// Tells once which way a connection that carries both has turned out to go.
    fn tell_way(&mut self, id: LinkId, key: &'static str, now: Now) {
        let Some(view) = self.links.get_mut(id.0) else {
            return;
        };
        if view.way_told == Some(key) {
            return;
        }
        view.way_told = Some(key);
        let args = [("source", Arg::Own(view.name.clone()))];
        self.say_in_detail(Class::Outcome, Kind::Connection, key, &args, now);
    }

    fn handshake_message(&mut self, id: LinkId, message: HandshakeMessage, now: Now) -> bool {
        let Some(view) = self.links.get_mut(id.0) else {
            return false;
        };
        match (message, &mut view.handshake) {
            (
                HandshakeMessage::Accepted(accepted),
                Handshake::Asked {
                    manifest, proof, ..
                },
            ) => {
                let (manifest, proof) = (manifest.take(), *proof);
                self.accepted(id, *accepted, None, manifest, proof, now);
                self.close_refused(id, now);
            }
            (HandshakeMessage::Accepted(accepted), Handshake::Agreed(agreed)) => {
                if accepted.subscription_id != agreed.id {
                    return false;
                }
                if let Some((_, change)) = agreed.changing.take() {
                    agreed.asked = agreed.asked.amended(&change);
                }
                agreed.honored = accepted.honored.clone();
                self.tell_terms(id, accepted.notes, now);
            }
            (HandshakeMessage::Rejected(rejected), Handshake::Asked { .. }) => {
                if self.leave_out(id, &rejected, now) {
                    let reason = self.phrases().text(rejection(rejected.code), &[]);
                    self.turn_away(id, reason, rejected.retry_after, true);
                } else {
                    self.rejected(id, &rejected, None, now);
                }
                self.close_refused(id, now);
            }
            (HandshakeMessage::Rejected(rejected), Handshake::Agreed(agreed)) => {
                // Without a change under way it is about nothing of ours.
                if agreed.changing.is_some() {
                    let reason = self.phrases().text(rejection(rejected.code), &[]);
                    self.change_refused(id, reason, now);
                }
            }
            (
                HandshakeMessage::Closed {
                    subscription,
                    reason,
                },
                Handshake::Agreed(agreed),
            ) => {
                // Another one's end on the same connection is none of ours.
                if subscription.is_none_or(|of| of == agreed.id) {
                    let agreed_at = agreed.at;
                    self.closed(id, reason, agreed_at, now);
                }
            }
            (
                HandshakeMessage::Closed { .. },
                Handshake::Idle
                | Handshake::Manifest { .. }
                | Handshake::Asked { .. }
                | Handshake::Plain,
            ) => {}
            (
                HandshakeMessage::Accepted(_) | HandshakeMessage::Rejected(_),
                Handshake::Idle | Handshake::Manifest { .. } | Handshake::Plain,
            ) => return false,
        }
        true
    }

    /// Gives what is asked of a source: its own settings, else those of all.
    pub(super) fn asks(&self, id: LinkId) -> &HandshakeConfig {
        let own = self.links.get(id.0).and_then(|view| view.asks.as_ref());
        own.unwrap_or(&self.config.handshake)
    }

    /// Gives the terms that the person wants of a source now.
    pub(super) fn wanted(&self, id: LinkId) -> Capabilities {
        let slowed = self.links.get(id.0).and_then(|view| match &view.handshake {
            Handshake::Agreed(agreed) => agreed.slowed.map(|(_, rate)| rate),
            Handshake::Idle
            | Handshake::Manifest { .. }
            | Handshake::Asked { .. }
            | Handshake::Plain => None,
        });
        let wanted = terms::wanted(Wishes {
            handshake: self.asks(id),
            verbosity: self.announcer.verbosity_of(id),
            load: self.announcer.load_of(id),
            languages: self.announcer.languages_of(id),
            rate: self.queue.deliveries().usual().rate,
        });
        Capabilities {
            supported_extensions: Some(self.extensions(id)),
            max_events_per_second: slowed.or(wanted.max_events_per_second),
            ..wanted
        }
    }

    fn request(&mut self, id: LinkId, version: &str) -> String {
        let capabilities = self.wanted(id);
        if let Some(view) = self.links.get_mut(id.0) {
            view.requested = capabilities.clone();
        }
        SubscriptionRequest {
            version: version.to_owned(),
            subscriber_id: SUBSCRIBER.to_owned(),
            subscriber_version: env!("CARGO_PKG_VERSION").to_owned(),
            capabilities,
        }
        .to_json()
    }

    pub(super) fn source_name(&self, id: LinkId) -> String {
        self.links
            .get(id.0)
            .map(|view| view.name.clone())
            .unwrap_or_default()
    }

    pub(super) fn set_handshake(&mut self, id: LinkId, to: Handshake) {
        if to == Handshake::Plain {
            // Whoever has no handshake has proven nothing.
            self.announcer.trust_mut().prove(id, None);
        }
        if let Some(view) = self.links.get_mut(id.0) {
            view.handshake = to;
        }
    }

    pub(super) fn number(&mut self) -> u64 {
        self.next_request += 1;
        self.next_request
    }
}

impl Handshake {
    fn asked(
        request: u64,
        version: String,
        manifest: Option<Manifest>,
        proof: Result<(), SignatureFault>,
    ) -> Self {
        Self::Asked {
            request,
            version,
            manifest,
            proof,
        }
    }
}

#[cfg(test)]
#[path = "tests/handshake.rs"]
mod tests;
