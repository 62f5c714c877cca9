//! A producer's proof of identity (10.4): a key pair that lives as long as the server, and a signed
//! manifest.
//!
//! Responsibilities: generating a key, signing a manifest with it as a compact JWS, exporting its public
//! half in the form that subscribers keep. Not here: the content of the manifest (`subscription_handshake`), who trusts
//! it.
//!
//! The private half is never saved: to recognise the producer again, use the public half of this run.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};

/// The bytes before a P-256 point in a SubjectPublicKeyInfo (RFC 5480).
const POINT_FOLLOWS: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
/// The number of characters in a line of PEM (RFC 7468).
const PEM_LINE: usize = 64;

/// The error that this machine can't generate keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this machine can't make a key")]
pub struct NoKey;

/// Signs manifests with its own key.
pub struct Signer {
    pair: EcdsaKeyPair,
    random: SystemRandom,
}

impl fmt::Debug for Signer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Signer").finish_non_exhaustive()
    }
}

impl Signer {
    /// Generates a new P-256 key.
    ///
    /// # Errors
    /// When no randomness is available.
    pub fn generate() -> Result<Self, NoKey> {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let secret = EcdsaKeyPair::generate_pkcs8(algorithm, &random).map_err(|_| NoKey)?;
        let pair =
            EcdsaKeyPair::from_pkcs8(algorithm, secret.as_ref(), &random).map_err(|_| NoKey)?;
        Ok(Self { pair, random })
    }

    /// Returns the public half in PEM, as used in a folder of keys.
    pub fn public_pem(&self) -> String {
        let mut der = POINT_FOLLOWS.to_vec();
        der.extend_from_slice(self.pair.public_key().as_ref());
        let packed = STANDARD.encode(der);
        let mut pem = "-----BEGIN PUBLIC KEY-----\n".to_owned();
        let mut rest = packed.as_str();
        while !rest.is_empty() {
            let (line, after) = rest.split_at(rest.len().min(PEM_LINE));
            pem.push_str(line);
            pem.push('\n');
            rest = after;
        }
        pem.push_str("-----END PUBLIC KEY-----\n");
        pem
    }

    /// Signs a manifest as a compact JWS with ES256; returns `None` if no randomness is available.
    pub(super) fn sign(&self, manifest: &Value) -> Option<String> {
        let header = json!({"alg": "ES256", "typ": "JOSE"});
        let packed = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", packed(&header), packed(manifest));
        let mark = self.pair.sign(&self.random, signed.as_bytes()).ok()?;
        Some(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(mark)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{KeyRing, SignatureFault};

    #[test]
    fn who_has_the_public_half_believes_and_nobody_else_does() {
        let signer = Signer::generate().unwrap();
        let manifest = json!({"type": "aaep:producer.manifest", "agent_id": "demo"});
        let jws = signer.sign(&manifest).unwrap();
        let mut keys = KeyRing::default();
        keys.add("demo", None, &signer.public_pem()).unwrap();
        assert_eq!(keys.verify(&jws).unwrap().agent_id, "demo");
        let mut others = KeyRing::default();
        let other = Signer::generate().unwrap().public_pem();
        others.add("demo", None, &other).unwrap();
        assert_eq!(others.verify(&jws), Err(SignatureFault::Forged));
    }
}
