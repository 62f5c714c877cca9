//! A producer's manifest (5.10), and the proof that it comes from the producer itself (10.4).
//!
//! Responsibilities: reading a manifest, plain or as a compact JWS; deciding by the person's own keys whether a signed
//! one can be trusted, and whether it fits what the producer offers. Not here: fetching it (`transport`), reading keys
//! from a folder (`runtime`), what follows (`app`).
//!
//! A key is never trusted because a message carries it: `jwk`, `jku`, `x5c` and `x5u` of a header are not even read.
//! Each key is stored under the name of one agent, so that the holder of one agent's key can't sign for another. Only
//! ES256 and RS256 are accepted: with `none` anyone could sign, and with HS256 a public key would become a password
//! that everyone knows.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::signature::{self, UnparsedPublicKey};
use serde_json::Value;

use super::handshake::SubscriptionConsent;
use super::language_tag::{LanguageMatch, fit};

/// The longest JWS that is read, in bytes; a signed manifest is a few kilobytes.
const LONGEST_JWS: usize = 128 * 1024;
/// The most entries of a manifest's list that are kept.
const LONGEST_LIST: usize = 256;

/// The algorithm identifiers of the two kinds of key, in DER (RFC 5480, RFC 3279).
const EC_P256: &[u8] = &[
    0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d,
    0x03, 0x01, 0x07,
];
const RSA: &[u8] = &[
    0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00,
];

/// The contents of a manifest (5.10.1) that are used.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Manifest {
    /// The agent that it describes.
    pub agent_id: String,
    /// The versions that the producer speaks.
    pub versions: Vec<String>,
    /// The conformance levels that it claims.
    pub levels: Vec<u64>,
    /// The transports that it offers.
    pub transports: Vec<String>,
    /// The languages that it offers.
    pub languages: Vec<String>,
}

impl Manifest {
    /// Reads an unsigned manifest.
    pub fn read(text: &str) -> Option<Self> {
        Self::from_value(&serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?)
    }

    fn from_value(value: &Value) -> Option<Self> {
        if value.get("type")?.as_str()? != "aaep:producer.manifest" {
            return None;
        }
        let texts = |key: &str| -> Vec<String> {
            value
                .get(key)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .take(LONGEST_LIST)
                .map(str::to_owned)
                .collect()
        };
        Some(Self {
            agent_id: value
                .get("agent_id")?
                .as_str()
                .filter(|id| !id.is_empty() && id.len() <= 256)?
                .to_owned(),
            versions: texts("aaep_versions_supported"),
            levels: value
                .get("conformance_levels_supported")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_u64)
                .take(LONGEST_LIST)
                .collect(),
            transports: texts("transports_supported"),
            languages: texts("languages_supported"),
        })
    }

    /// Compares the manifest with what the producer offers on a subscription (10.4.2, steps 4 and 5).
    ///
    /// # Errors
    /// Returns the first thing that does not fit.
    pub fn fits(
        &self,
        accepted: &SubscriptionConsent,
        transport: Option<&str>,
    ) -> Result<(), SignatureFault> {
        if accepted.agent_id.as_deref() != Some(self.agent_id.as_str()) {
            return Err(SignatureFault::OtherAgent);
        }
        let claims = |what, fits| {
            if fits {
                Ok(())
            } else {
                Err(SignatureFault::Claim(what))
            }
        };
        claims(
            ManifestClaim::Version,
            accepted
                .version
                .as_ref()
                .is_none_or(|version| self.versions.contains(version)),
        )?;
        if let Some(transport) = transport {
            claims(
                ManifestClaim::Transport,
                self.transports.is_empty() || self.transports.iter().any(|name| name == transport),
            )?;
        }
        let levels = accepted.honored.supported_conformance_levels.as_deref();
        claims(
            ManifestClaim::Levels,
            self.levels.is_empty()
                || levels
                    .unwrap_or_default()
                    .iter()
                    .all(|level| self.levels.contains(level)),
        )?;
        let languages = accepted.honored.languages.as_deref().unwrap_or_default();
        claims(
            ManifestClaim::Languages,
            self.languages.is_empty()
                || languages
                    .iter()
                    .all(|tag| self.languages.iter().any(|own| covers(own, tag))),
        )
    }
}

/// Returns whether a language of a manifest covers an offered one: both are the same, or one leaves the region
/// or script open (11.1.2, 11.1.3). A different region is a different claim.
fn covers(own: &str, offered: &str) -> bool {
    match fit(offered, own) {
        Some(
            LanguageMatch::Exact
            | LanguageMatch::Region
            | LanguageMatch::Script
            | LanguageMatch::Narrower,
        ) => true,
        Some(LanguageMatch::Sibling) | None => false,
    }
}

/// A claim of a manifest that does not fit the offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ManifestClaim {
    /// The version of the protocol.
    Version,
    /// The transport in use.
    Transport,
    /// The conformance levels.
    Levels,
    /// The languages.
    Languages,
}

/// Why a signed manifest is not trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum SignatureFault {
    /// There is none.
    #[error("the manifest is not signed")]
    Missing,
    /// It is not a compact JWS that contains a manifest.
    #[error("the signed manifest can't be read")]
    Malformed,
    /// Its algorithm proves nothing or is unknown.
    #[error("the manifest is signed in a way that is not accepted")]
    Algorithm,
    /// None of the person's keys belongs to this agent, or none has the given name.
    #[error("your folder of keys has no key of this agent")]
    UnknownKey,
    /// The signature was not made with the agent's key.
    #[error("the signature is not by this agent's key")]
    Forged,
    /// It belongs to a different agent from the one that answered.
    #[error("the manifest is another agent's")]
    OtherAgent,
    /// It claims something other than what the producer offers.
    #[error("the manifest claims something other than what is offered")]
    Claim(ManifestClaim),
}

/// Why a key can't be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum KeyError {
    /// It is not a public key in PEM.
    #[error("this is not a public key in PEM form")]
    NotPem,
    /// It is a private key, which only the producer may have.
    #[error("this is a private key; only the agent itself may have it")]
    Private,
    /// It is a key of another kind.
    #[error("only P-256 and RSA keys are accepted")]
    OtherKind,
}

/// A public key that the person trusts.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TrustedKey {
    kid: Option<String>,
    kind: FaultKind,
    bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FaultKind {
    P256,
    Rsa,
}

/// The person's keys, each under the agent that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeyRing {
    keys: BTreeMap<String, Vec<TrustedKey>>,
}

impl KeyRing {
    /// Adds a public key in PEM for an agent, under its own name if it has one.
    ///
    /// # Errors
    /// See [`KeyError`]; the ring is then unchanged.
    pub fn add(&mut self, agent_id: &str, kid: Option<&str>, pem: &str) -> Result<(), KeyError> {
        let (kind, bytes) = public_key(pem)?;
        self.keys
            .entry(agent_id.to_owned())
            .or_default()
            .push(TrustedKey {
                kid: kid.map(str::to_owned),
                kind,
                bytes,
            });
        Ok(())
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.keys.values().map(Vec::len).sum()
    }

    /// Returns whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the agents that have a key.
    pub fn agents(&self) -> impl Iterator<Item = &str> {
        self.keys.keys().map(String::as_str)
    }

    /// Returns whether an agent has a key, so that nothing unsigned from it is to be trusted.
    pub fn knows(&self, agent_id: &str) -> bool {
        self.keys.contains_key(agent_id)
    }

    /// Verifies a signed manifest: it is trusted only if a key of its own agent signed it.
    ///
    /// # Errors
    /// Returns why it is not trusted.
    pub fn verify(&self, jws: &str) -> Result<Manifest, SignatureFault> {
        let jws = jws.trim();
        if jws.len() > LONGEST_JWS {
            return Err(SignatureFault::Malformed);
        }
        let mut parts = jws.split('.');
        let (Some(head), Some(body), Some(mark), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(SignatureFault::Malformed);
        };
        let malformed = |_| SignatureFault::Malformed;
        let decoded = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(malformed);
        let json = |part: &str| -> Result<Value, SignatureFault> {
            serde_json::from_slice(&decoded(part)?).map_err(|_| SignatureFault::Malformed)
        };
        let header = json(head)?;
        let kind = match header.get("alg").and_then(Value::as_str) {
            Some("ES256") => FaultKind::P256,
            Some("RS256") => FaultKind::Rsa,
            Some(_) | None => return Err(SignatureFault::Algorithm),
        };
        // A critical header extension (RFC 7515, 4.1.11); none is understood here.
        if header.get("crit").is_some() {
            return Err(SignatureFault::Algorithm);
        }
        let manifest = Manifest::from_value(&json(body)?).ok_or(SignatureFault::Malformed)?;
        let kid = header.get("kid").and_then(Value::as_str);
        let signature = decoded(mark)?;
        let signed = &jws.as_bytes()[..head.len() + 1 + body.len()];
        let mut of_kind = self
            .keys
            .get(&manifest.agent_id)
            .into_iter()
            .flatten()
            // A key without a name matches any name.
            .filter(|key| key.kid.is_none() || key.kid.as_deref() == kid)
            .filter(|key| key.kind == kind)
            .peekable();
        if of_kind.peek().is_none() {
            return Err(SignatureFault::UnknownKey);
        }
        if of_kind.any(|key| key.signed(signed, &signature)) {
            Ok(manifest)
        } else {
            Err(SignatureFault::Forged)
        }
    }
}

impl TrustedKey {
    fn signed(&self, message: &[u8], signature: &[u8]) -> bool {
        let algorithm: &dyn signature::VerificationAlgorithm = match self.kind {
            FaultKind::P256 => &signature::ECDSA_P256_SHA256_FIXED,
            FaultKind::Rsa => &signature::RSA_PKCS1_2048_8192_SHA256,
        };
        UnparsedPublicKey::new(algorithm, &self.bytes)
            .verify(message, signature)
            .is_ok()
    }
}

/// Reads a SubjectPublicKeyInfo (RFC 5280, 4.1.2.7) from PEM.
fn public_key(pem: &str) -> Result<(FaultKind, Vec<u8>), KeyError> {
    if pem.contains("PRIVATE KEY-----") {
        return Err(KeyError::Private);
    }
    let inner = pem
        .split_once("-----BEGIN PUBLIC KEY-----")
        .and_then(|(_, rest)| rest.split_once("-----END PUBLIC KEY-----"))
        .map(|(inner, _)| inner)
        .ok_or(KeyError::NotPem)?;
    let packed: String = inner.split_whitespace().collect();
    let der = STANDARD.decode(packed).map_err(|_| KeyError::NotPem)?;
    let (info, _) = element(&der, 0x30).ok_or(KeyError::NotPem)?;
    let (algorithm, rest) = element(info, 0x30).ok_or(KeyError::NotPem)?;
    let (bits, _) = element(rest, 0x03).ok_or(KeyError::NotPem)?;
    let kind = match algorithm {
        EC_P256 => FaultKind::P256,
        RSA => FaultKind::Rsa,
        _ => return Err(KeyError::OtherKind),
    };
    // The first byte counts unused bits; a key has none.
    match bits.split_first() {
        Some((0, key)) if !key.is_empty() => Ok((kind, key.to_vec())),
        Some(_) | None => Err(KeyError::NotPem),
    }
}

/// Splits off one DER element with the given tag and returns its contents and the rest.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&first, rest) = der.split_first()?;
    let (&short, rest) = rest.split_first()?;
    if first != tag {
        return None;
    }
    let (length, rest) = match short {
        0..=0x7f => (usize::from(short), rest),
        // A key's length has two bytes at most.
        0x81 | 0x82 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(short & 0x7f))?;
            let length = bytes
                .iter()
                .fold(0, |sum, byte| sum << 8 | usize::from(*byte));
            (length, rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
#[path = "manifest_tests.rs"]
mod tests;
