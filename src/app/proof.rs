//! Whether a producer is believed to be the agent that it says it is (10.4).
//!
//! Responsibilities: what the person's keys say of a manifest, and when that decides. Not here: the
//! signatures themselves (`protocol`), what follows from a doubt (`handshake`).

use crate::announce::{Arg, Class, Kind};
use crate::link::LinkId;
use crate::protocol::{Accepted, AgentId, Claim, KeyRing, Manifest, Now, SignatureFault};

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

    /// Takes the person's keys, and of whom proof is wanted.
    pub(super) fn hold_keys(&mut self, keys: KeyRing) {
        let strict: Vec<LinkId> = self
            .links
            .iter()
            .map(|view| view.id)
            .filter(|id| self.asks(*id).require_signed)
            .collect();
        let trust = self.announcer.trust_mut();
        trust.know(keys.agents());
        for link in strict {
            trust.want(link);
        }
        self.keys = keys;
    }

    /// Tells once a source that somebody speaks over it in a name that nothing proved there.
    pub(super) fn tell_claim(&mut self, id: LinkId, agent: &AgentId, name: &str, now: Now) {
        if !self.announcer.trust().doubts(id, agent, name) {
            return;
        }
        let source = self.source_name(id);
        let Some(view) = self.links.get_mut(id.0) else {
            return;
        };
        if std::mem::replace(&mut view.claim_told, true) {
            return;
        }
        let args = [
            ("source", Arg::Own(source)),
            ("agent", Arg::Name(name.to_owned())),
        ];
        self.say(Class::Outcome, Kind::Connection, "proof.claim", &args, now);
    }

    /// Decides whether a consent is believed that came over a transport, by the name that manifests have for it: with a proof always; without one, unless the person wants
    /// proof of everybody, or has a key of this very agent.
    ///
    /// Gives who has proven their name by it, if anybody.
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
            Some(_) | None if self.asks(id).require_signed => proven,
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
