//! The person's identity for agents whose scenarios have signed answers.
//!
//! Responsibilities: a name and a key that is forgotten with the demo. Not here: signing answers (`dialect`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::Ed25519KeyPair;

use crate::producer::NoKey;

/// The person's identity for the agents of a scenario whose answers are signed.
pub const PERSON: &str = "agent://home.example/you";

/// Generates a private key for [`PERSON`], in PKCS #8 as PEM; it is forgotten with the demo.
///
/// # Errors
/// When no randomness is available.
pub fn private_key() -> Result<String, NoKey> {
    let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|_| NoKey)?;
    let text = STANDARD.encode(document.as_ref());
    Ok(format!(
        "-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n"
    ))
}
