//! Refusals: by a producer that accepts no subscription, and of a subscription that this program cannot use.
//!
//! Responsibilities: each reason with its remedy as a phrase, when to ask again, ending the attempt. Not here: the
//! requests (`subscription`), proof (`proof`).

use crate::link::{Fault, Phrase, PhraseArg};
use crate::protocol::{RejectionCode, SignatureFault, SubscriptionRejection, subscription_close};

use super::producer_routes::RouteFailure;
use super::{Aaep, DialectOutput, Handshake, Handshakes, tell};

impl Aaep {
    /// Closes a subscription that was granted but cannot be used.
    pub(super) fn give_up(
        &mut self,
        subscription: &str,
        reason: Phrase,
        out: &mut Vec<DialectOutput>,
    ) {
        let close = subscription_close(subscription);
        match self.at {
            Handshakes::Inside => {
                self.send(&close, out);
            }
            // Until a stream is followed the close cannot be sent; it goes out with the end of the link.
            Handshakes::Beside | Handshakes::Nowhere => self.last_words(Some(close), out),
        }
        self.turn_away(reason, None, false, out);
    }

    /// Refuses a producer that proves nothing if the person requires proof; returns whether it did.
    pub(super) fn refuse_unproven(&mut self, out: &mut Vec<DialectOutput>) -> bool {
        let unproven = self.asks.require_signed;
        if unproven {
            let reason = super::proof::phrase(SignatureFault::Missing);
            self.turn_away(reason, None, false, out);
        }
        unproven
    }

    /// Ends the attempt for a reason. With `again`, waiting may help: `retry_after` seconds, if the producer named a
    /// time.
    pub(super) fn turn_away(
        &mut self,
        reason: Phrase,
        retry_after: Option<u64>,
        again: bool,
        out: &mut Vec<DialectOutput>,
    ) {
        let fault = Fault::Rejected {
            reason,
            retry_after,
            again,
        };
        self.refuse(fault, out);
    }

    pub(super) fn rejected(
        &mut self,
        rejected: &SubscriptionRejection,
        header: Option<u64>,
        out: &mut Vec<DialectOutput>,
    ) {
        let of_the_way = rejected.code == RejectionCode::TransportUnavailable;
        if of_the_way && self.other_way(RouteFailure::Unavailable, out) {
            return;
        }
        let retry_after = rejected.retry_after.or(header);
        let again = retry_after.is_some() || rejected.code == RejectionCode::RateLimit;
        let explained = !rejected.message.trim().is_empty();
        if explained {
            let text = PhraseArg::Agent(rejected.message.clone());
            out.push(DialectOutput::Announce(
                tell("link.notes").with("text", text),
            ));
        }
        let reason = Phrase::new(match rejected.code {
            // Its own words were just said.
            RejectionCode::Unknown if explained => "rejected.told",
            code => rejection(code),
        });
        self.turn_away(reason, retry_after, again, out);
    }

    /// Ends the current attempt; on a bidirectional connection, the link.
    pub(super) fn refuse(&mut self, fault: Fault, out: &mut Vec<DialectOutput>) {
        self.handshake = Handshake::Idle;
        out.push(match self.at {
            Handshakes::Beside => DialectOutput::Refuse(fault),
            // Another connection may work; this one is given up.
            Handshakes::Inside if !fault.is_final() => DialectOutput::Refuse(fault),
            Handshakes::Inside | Handshakes::Nowhere => DialectOutput::Close(fault),
        });
    }

    /// Drops one requested extension if a producer cannot tell apart two that share a prefix (7.3.1); returns `false`
    /// if none can be dropped.
    pub(super) fn leave_out(
        &mut self,
        rejected: &SubscriptionRejection,
        out: &mut Vec<DialectOutput>,
    ) -> bool {
        let asked = self.extensions();
        if rejected.code != RejectionCode::CapabilitiesIncompatible || asked.len() < 2 {
            return false;
        }
        // The message names the prefix, which is usually also part of the address; the person's first extension is
        // kept.
        let named = |address: &&String| {
            address
                .split('/')
                .any(|part| part.len() > 1 && words(&rejected.message).any(|word| word == part))
        };
        let Some(one) = asked.iter().skip(1).rfind(named).or(asked.last()).cloned() else {
            return false;
        };
        let told = tell("link.extension_left_out").with("extension", PhraseArg::Own(one.clone()));
        out.push(DialectOutput::Announce(told));
        self.left_out.push(one);
        true
    }

    /// Returns the extensions to request.
    pub(super) fn extensions(&self) -> Vec<String> {
        let wanted = self.asks.extensions.iter();
        wanted
            .filter(|one| !self.left_out.contains(one))
            .cloned()
            .collect()
    }
}

/// Splits a message into the words that could be a prefix.
fn words(message: &str) -> impl Iterator<Item = &str> {
    message.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_')
}

/// Returns the phrase key for a refusal: what is wrong, and what helps.
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
