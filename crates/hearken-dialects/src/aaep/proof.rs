//! Whether a producer is believed to be the agent that it claims to be (10.4).
//!
//! Responsibilities: checking a manifest with the person's keys, and when the result decides. Not here: the signatures
//! themselves (`protocol`), the consequences of a doubt (`subscription`).

use crate::link::Phrase;
use crate::protocol::{Manifest, ManifestClaim, SignatureFault, SubscriptionConsent};

use super::Aaep;

impl Aaep {
    /// Reads a manifest, and verifies it with the person's keys.
    pub(super) fn examine(&self, text: &str) -> (Option<Manifest>, Result<(), SignatureFault>) {
        if let Some(manifest) = Manifest::read(text) {
            return (Some(manifest), Err(SignatureFault::Missing));
        }
        match self.keys.verify(text.trim().trim_matches('"')) {
            Ok(manifest) => (Some(manifest), Ok(())),
            Err(SignatureFault::Malformed) => (None, Err(SignatureFault::Missing)),
            Err(fault) => (None, Err(fault)),
        }
    }

    /// Decides whether to believe a consent that came over a transport, given by its name in manifests: always with a
    /// proof; without one, unless the person requires proof from every producer or has a key for this agent.
    ///
    /// Returns the agent that has proven its name, if any.
    ///
    /// # Errors
    /// Why the consent is not believed.
    pub(super) fn believe(
        &self,
        accepted: &SubscriptionConsent,
        manifest: Option<Manifest>,
        proof: Result<(), SignatureFault>,
        transport: Option<&str>,
    ) -> Result<Option<String>, SignatureFault> {
        let proven = match &accepted.signed_manifest {
            Some(jws) => self
                .keys
                .verify(jws)
                .and_then(|manifest| manifest.fits(accepted, transport)),
            None => proof.and_then(|()| {
                let manifest = manifest.ok_or(SignatureFault::Missing)?;
                manifest.fits(accepted, transport)
            }),
        };
        let proven = proven.map(|()| accepted.agent_id.clone());
        match &accepted.agent_id {
            // A key for an agent means that no other producer may use its name.
            Some(agent) if self.keys.knows(agent) => proven,
            Some(_) | None if self.asks.require_signed => proven,
            Some(_) | None => match proven {
                Err(
                    fault @ (SignatureFault::Forged
                    | SignatureFault::OtherAgent
                    | SignatureFault::Algorithm
                    | SignatureFault::Claim(_)),
                ) if accepted.signed_manifest.is_some() => Err(fault),
                Ok(agent) => Ok(agent),
                Err(_) => Ok(None),
            },
        }
    }
}

/// Returns the phrase for why a producer is not believed.
pub(super) fn phrase(fault: SignatureFault) -> Phrase {
    Phrase::new(match fault {
        SignatureFault::Missing => "signature.missing",
        SignatureFault::Malformed => "signature.malformed",
        SignatureFault::Algorithm => "signature.algorithm",
        SignatureFault::UnknownKey => "signature.unknown_key",
        SignatureFault::Forged => "signature.forged",
        SignatureFault::OtherAgent => "signature.other_agent",
        SignatureFault::Claim(ManifestClaim::Version) => "signature.claim.version",
        SignatureFault::Claim(ManifestClaim::Transport) => "signature.claim.transport",
        SignatureFault::Claim(ManifestClaim::Levels) => "signature.claim.levels",
        SignatureFault::Claim(ManifestClaim::Languages) => "signature.claim.languages",
    })
}
