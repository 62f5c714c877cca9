//! Whether a producer is believed to be the agent that it says it is (10.4).
//!
//! Responsibilities: what the person's keys say of a manifest, and when that decides. Not here: the
//! signatures themselves (`protocol`), what follows from a doubt (`handshake`).

use crate::protocol::{Accepted, Claim, Manifest, SignatureFault};
use crate::session::LinkId;

use super::App;

impl App {
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

    /// Decides whether a consent is believed that came over a transport, by the name that manifests have for it: with a proof always; without one, unless the person wants
    /// proof of everybody, or has a key of this very agent.
    ///
    /// # Errors
    /// Why it is not.
    pub(super) fn believe(
        &self,
        id: LinkId,
        accepted: &Accepted,
        manifest: Option<Manifest>,
        proof: Result<(), SignatureFault>,
        transport: Option<&str>,
    ) -> Result<(), SignatureFault> {
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
        match &accepted.agent_id {
            // Whoever has a key for an agent wants no other to speak in its name.
            Some(agent) if self.keys.knows(agent) => proven,
            Some(_) | None if self.asks(id).require_signed => proven,
            Some(_) | None => match proven {
                Err(
                    fault @ (SignatureFault::Forged
                    | SignatureFault::OtherAgent
                    | SignatureFault::Algorithm
                    | SignatureFault::Claim(_)),
                ) if accepted.signed_manifest.is_some() => Err(fault),
                Ok(()) | Err(_) => Ok(()),
            },
        }
    }

    /// Words why a producer is not believed.
    pub(super) fn signature_words(&self, fault: SignatureFault) -> String {
        let key = match fault {
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
        };
        self.phrases().text(key, &[])
    }
}
