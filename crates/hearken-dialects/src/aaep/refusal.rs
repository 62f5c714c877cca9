//! Refusals: a producer that takes no subscription, and a subscription that this program can't take.
//!
//! Responsibilities: each reason with its remedy as a phrase, when to ask again, the end of the attempt.
//! Not here: what was asked for (`handshake`), proof (`proof`).

use crate::link::{Fault, Phrase, Word};
use crate::protocol::{Rejected, RejectionCode, SignatureFault, subscription_close};

use super::ways::Failing;
use super::{Aaep, Handshake, Handshakes, Out, tell};

impl Aaep {
    /// Leaves a subscription that was given but can't be used.
    pub(super) fn give_up(&mut self, subscription: &str, reason: Phrase, out: &mut Vec<Out>) {
        let close = subscription_close(subscription);
        match self.at {
            Handshakes::Inside => {
                self.send(&close, out);
            }
            // Until a course is followed there is nowhere to tell it; it goes with the link.
            Handshakes::Beside | Handshakes::Nowhere => self.last_words(Some(close), out),
        }
        self.turn_away(reason, None, false, out);
    }

    /// Refuses a producer that proves nothing where the person wants proof; says whether it did.
    pub(super) fn refuse_unproven(&mut self, out: &mut Vec<Out>) -> bool {
        let unproven = self.asks.require_signed;
        if unproven {
            let reason = super::proof::phrase(SignatureFault::Missing);
            self.turn_away(reason, None, false, out);
        }
        unproven
    }

    /// Ends the attempt for a reason: `again` where waiting may help, `retry_after` seconds long where the
    /// producer named them.
    pub(super) fn turn_away(
        &mut self,
        reason: Phrase,
        retry_after: Option<u64>,
        again: bool,
        out: &mut Vec<Out>,
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
        rejected: &Rejected,
        header: Option<u64>,
        out: &mut Vec<Out>,
    ) {
        let of_the_way = rejected.code == RejectionCode::TransportUnavailable;
        if of_the_way && self.other_way(Failing::Unavailable, out) {
            return;
        }
        let retry_after = rejected.retry_after.or(header);
        let again = retry_after.is_some() || rejected.code == RejectionCode::RateLimit;
        if !rejected.message.trim().is_empty() {
            let text = Word::Agent(rejected.message.clone());
            out.push(Out::Tell(tell("link.notes").with("text", text)));
        }
        let reason = Phrase::new(rejection(rejected.code));
        self.turn_away(reason, retry_after, again, out);
    }

    /// Ends the attempt that is under way; on a connection of its own, the link.
    pub(super) fn refuse(&mut self, fault: Fault, out: &mut Vec<Out>) {
        self.handshake = Handshake::Idle;
        out.push(match self.at {
            Handshakes::Beside => Out::Refuse(fault),
            // Another connection may do; this one is given up.
            Handshakes::Inside if !fault.is_final() => Out::Refuse(fault),
            Handshakes::Inside | Handshakes::Nowhere => Out::Close(fault),
        });
    }

    /// Leaves one extension out of what is asked for, when a producer can't tell two apart that share a
    /// prefix (7.3.1); `false` when there is none to leave out.
    pub(super) fn leave_out(&mut self, rejected: &Rejected, out: &mut Vec<Out>) -> bool {
        let asked = self.extensions();
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
        let Some(one) = asked.iter().skip(1).rfind(named).or(asked.last()).cloned() else {
            return false;
        };
        let told = tell("link.extension_left_out").with("extension", Word::Own(one.clone()));
        out.push(Out::Tell(told));
        self.left_out.push(one);
        true
    }

    /// Returns the extensions that are asked for.
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
