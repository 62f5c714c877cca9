//! Whether a producer is believed to be the agent that it says it is (10.4).
//!
//! Responsibilities: what the person's keys say of a manifest, and when that decides. Not here: the
//! signatures themselves (`protocol`), what follows from a doubt (`handshake`).

use crate::link::Phrase;
use crate::protocol::{Accepted, Claim, Manifest, SignatureFault};

use super::Aaep;

impl Aaep {
    /// Reads a manifest, and believes it if the person's keys do.
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

    /// Decides whether a consent is believed that came over a transport, by the name that manifests have for
    /// it: with a proof always; without one, unless the person wants proof of everybody, or has a key of this
    /// very agent.
    ///
    /// Gives who has proven their name by it, if anybody.
    ///
    /// # Errors
    /// Why it is not.
    pub(super) fn believe(
        &self,
        accepted: &Accepted,
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
            // Whoever has a key for an agent wants no other to speak in its name.
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

/// Names the words for why a producer is not believed.
pub(super) fn phrase(fault: SignatureFault) -> Phrase {
    Phrase::new(match fault {
        SignatureFault::Missing => "signature.missing",
        SignatureFault::Malformed => "signature.malformed",
        SignatureFault::Algorithm => "signature.algorithm",
        SignatureFault::UnknownKey => "signature.unknown_key",
        SignatureFault::Forged => "signature.forged",
        SignatureFault::OtherAgent => "signature.other_agent",
        SignatureFault::Claim(Claim::Version) => "signature.claim.version",
        SignatureFault::Claim(Claim::Transport) => "signature.claim.transport",
        SignatureFault::Claim(Claim::Levels) => "signature.claim.levels",
        SignatureFault::Claim(Claim::Languages) => "signature.claim.languages",
    })
}
