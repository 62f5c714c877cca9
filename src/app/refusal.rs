//! Refusals: a producer that takes no subscription, and a subscription that this program can't take.
//!
//! Responsibilities: each reason in words with its remedy, when to ask again, the end of the attempt.
//! Not here: what was asked for (`handshake`), proof (`proof`).

use crate::announce::{Arg, Class, Kind};
use crate::link::{Course, Fault, LinkId};
use crate::protocol::{Now, Rejected, RejectionCode, SignatureFault, subscription_close};

use super::handshake::Handshake;
use super::ways::Failing;
use super::{App, Door, Effect};

impl App {
    /// Leaves a subscription that was given but can't be used.
    pub(super) fn give_up(&mut self, id: LinkId, subscription: &str, reason: String, inside: bool) {
        let request = self.number();
        let body = subscription_close(subscription);
        if inside {
            self.effects.push(Effect::Send {
                link: id,
                request,
                body,
            });
        } else {
            // Until a course is followed there is nowhere to tell it; it goes with the link.
            self.effects.push(Effect::LastWords {
                link: id,
                words: Some(body),
            });
        }
        self.turn_away(id, reason, None, false);
    }

    /// Refuses a producer that proves nothing where the person wants proof; says whether it did.
    pub(super) fn refuse_unproven(&mut self, id: LinkId) -> bool {
        let unproven = self.asks(id).require_signed;
        if unproven {
            let reason = self.signature_words(SignatureFault::Missing);
            self.turn_away(id, reason, None, false);
        }
        unproven
    }

    /// Ends the attempt for a reason in words: `again` where waiting may help, `retry_after` seconds long
    /// where the producer named them.
    pub(super) fn turn_away(
        &mut self,
        id: LinkId,
        reason: String,
        retry_after: Option<u64>,
        again: bool,
    ) {
        let fault = Fault::Rejected {
            reason,
            retry_after,
            again,
        };
        self.refuse(id, fault);
    }

    pub(super) fn rejected(
        &mut self,
        id: LinkId,
        rejected: &Rejected,
        header: Option<u64>,
        now: Now,
    ) {
        let of_the_way = rejected.code == RejectionCode::TransportUnavailable;
        if of_the_way && self.other_way(id, Failing::Unavailable, now) {
            return;
        }
        let retry_after = rejected.retry_after.or(header);
        let phrases = self.phrases();
        let reason = phrases.text(rejection(rejected.code), &[]);
        let again = retry_after.is_some() || rejected.code == RejectionCode::RateLimit;
        let source = self.source_name(id);
        if !rejected.message.trim().is_empty() {
            let args = [
                ("source", Arg::Own(source)),
                ("text", Arg::Agent(rejected.message.clone(), None)),
            ];
            self.say(Class::Outcome, Kind::Connection, "link.notes", &args, now);
        }
        self.turn_away(id, reason, retry_after, again);
    }

    /// Ends the attempt that is under way; on a connection of its own, the link.
    pub(super) fn refuse(&mut self, id: LinkId, fault: Fault) {
        let Some(view) = self.links.get_mut(id.0) else {
            return;
        };
        view.handshake = Handshake::Idle;
        match view.door {
            Door::Beside => self.effects.push(Effect::Follow {
                link: id,
                course: Course::Refused(fault),
            }),
            // Another connection may do; this one is given up.
            Door::Inside if !fault.is_final() => self.effects.push(Effect::Follow {
                link: id,
                course: Course::Refused(fault),
            }),
            Door::Inside | Door::Open => {
                view.refused = Some(fault);
            }
        }
    }

    /// Leaves one extension out of what is asked for, when a producer can't tell two apart that share a
    /// prefix (7.3.1); `false` when there is none to leave out.
    pub(super) fn leave_out(&mut self, id: LinkId, rejected: &Rejected, now: Now) -> bool {
        let asked = self.extensions(id);
        if rejected.code != RejectionCode::CapabilitiesIncompatible || asked.len() < 2 {
            return false;
        }
        // The message names the prefix, which mostly is a part of the address too; the person's first
        // choice stays.
        let named = |address: &&String| {
            address
                .split('/')
                .any(|part| part.len() > 1 && words(&rejected.message).any(|word| word == part))
        };
        let Some(out) = asked.iter().skip(1).rfind(named).or(asked.last()).cloned() else {
            return false;
        };
        let args = [
            ("source", Arg::Own(self.source_name(id))),
            ("extension", Arg::Own(out.clone())),
        ];
        let key = "link.extension_left_out";
        self.say(Class::Outcome, Kind::Connection, key, &args, now);
        if let Some(view) = self.links.get_mut(id.0) {
            view.left_out.push(out);
        }
        true
    }

    /// Gives the extensions that are asked for of a source.
    pub(super) fn extensions(&self, id: LinkId) -> Vec<String> {
        let left_out = self.links.get(id.0).map(|view| view.left_out.as_slice());
        let left_out = left_out.unwrap_or_default();
        let wanted = self.asks(id).extensions.iter();
        wanted
            .filter(|one| !left_out.contains(one))
            .cloned()
            .collect()
    }

    /// Gives a link up whose connection was refused on itself.
    pub(super) fn close_refused(&mut self, id: LinkId, now: Now) {
        let refused = self
            .links
            .get_mut(id.0)
            .and_then(|view| view.refused.take());
        if let Some(fault) = refused {
            self.failed(id, &fault, now);
            self.effects.push(Effect::Close(id));
        }
    }
}

/// Splits a message into the words that could be a prefix.
fn words(message: &str) -> impl Iterator<Item = &str> {
    message.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_')
}

/// Names the words of a refusal: what is wrong, and what helps.
pub(super) fn rejection(code: RejectionCode) -> &'static str {
    match code {
        RejectionCode::VersionUnsupported => "rejected.version_unsupported",
        RejectionCode::ManifestSignatureRequired => "rejected.manifest_signature_required",
        RejectionCode::CapabilitiesIncompatible => "rejected.capabilities_incompatible",
        RejectionCode::RateLimit => "rejected.rate_limit",
        RejectionCode::AuthenticationRequired => "rejected.authentication_required",
        RejectionCode::AuthorizationDenied => "rejected.authorization_denied",
        RejectionCode::TransportUnavailable => "rejected.transport_unavailable",
        RejectionCode::Unknown => "rejected.unknown",
    }
}
