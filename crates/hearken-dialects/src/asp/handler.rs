//! Who resolves an escalation from here: an identity that numbers, links and signs its messages, or a handler that acts
//! in its own name.
//!
//! Responsibilities: the message for a person's decision, and the part of it that a handler receives. Not here: when it
//! is sent (`translator`), where the key and the handler are configured (`config`).
//!
//! The document requires a hash, the previous hash and a signature, but does not say over which bytes. Here the hash is
//! SHA-256 over the message without `integrity`, as JSON with sorted names and no spaces; the signature is Ed25519 over
//! the text of that hash.

use std::sync::Arc;

use jiff::Timestamp;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Map, Value, json};

/// The reason in a CLOSE by which a person ends an escalated session.
pub const CLOSE_REASON: &str = "closed by the person it was escalated to";

/// A person's decision about an escalation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The session resumes where it was.
    Resume,
    /// The session resumes where it was, with these words of the person.
    Words(String),
    /// The session ends.
    Close,
}

/// The error for an unusable key; it never contains the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is not a private Ed25519 key in PKCS #8 PEM form")]
pub struct BadKey;

/// An identity known to the sessions.
#[derive(Clone)]
pub struct Identity {
    agent: String,
    key: Arc<Ed25519KeyPair>,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The key must not be printed.
        to.debug_struct("Identity")
            .field("agent", &self.agent)
            .finish_non_exhaustive()
    }
}

impl PartialEq for Identity {
    fn eq(&self, other: &Self) -> bool {
        self.agent == other.agent && self.public() == other.public()
    }
}

impl Identity {
    /// Creates an identity from an agent's address and its private key, in PKCS #8 as PEM.
    ///
    /// # Errors
    /// If the text is not such a key.
    pub fn new(agent: &str, pem: &str) -> Result<Self, BadKey> {
        use base64::Engine as _;
        let inner = pem
            .split_once("-----BEGIN PRIVATE KEY-----")
            .and_then(|(_, rest)| rest.split_once("-----END PRIVATE KEY-----"))
            .map(|(inner, _)| inner)
            .ok_or(BadKey)?;
        let plain: String = inner.split_whitespace().collect();
        let der = base64::engine::general_purpose::STANDARD
            .decode(plain)
            .map_err(|_| BadKey)?;
        // Keys from common tools lack the public half.
        let key = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).map_err(|_| BadKey)?;
        Ok(Self {
            agent: agent.to_owned(),
            key: Arc::new(key),
        })
    }

    /// Returns the address of the identity.
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// Returns the public key, in hexadecimal.
    pub fn public(&self) -> String {
        hex(self.public_bytes())
    }

    /// Returns the public key.
    pub(super) fn public_bytes(&self) -> &[u8] {
        self.key.public_key().as_ref()
    }

    /// Signs a text.
    pub(super) fn sign(&self, text: &str) -> Vec<u8> {
        self.key.sign(text.as_bytes()).as_ref().to_vec()
    }
}

/// The address and position of a message.
#[derive(Debug, Clone)]
pub struct Header<'a> {
    /// The protocol version of the session.
    pub version: &'a str,
    /// The message's own id.
    pub id: String,
    /// The session.
    pub session: &'a str,
    /// When the person decided.
    pub stamp: Timestamp,
    /// The agent that escalated.
    pub recipient: &'a str,
    /// The hash of the previous message.
    pub previous: Option<&'a str>,
}

/// Builds the message for a decision, in the name of an identity.
pub fn message(identity: &Identity, number: u64, place: &Header<'_>, decision: &Decision) -> Value {
    let mut message = draft(place, decision);
    message.insert("sequenceNumber".to_owned(), number.into());
    message.insert("sender".to_owned(), json!({"agentId": identity.agent}));
    // In the order of the documents.
    let mut message = Value::Object(
        NAMES
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), message.remove(*name)?)))
            .collect(),
    );
    let digest = ring::digest::digest(
        &ring::digest::SHA256,
        sorted(&message).to_string().as_bytes(),
    );
    let hash = format!("sha256:{}", hex(digest.as_ref()));
    let signature = identity.key.sign(hash.as_bytes());
    message["integrity"] = json!({
        "hash": hash,
        "previousHash": place.previous,
        "signature": format!("ed25519:{}", hex(signature.as_ref())),
    });
    message
}

/// The names in a message, in the order of the documents.
const NAMES: [&str; 9] = [
    "version",
    "messageId",
    "sessionId",
    "sequenceNumber",
    "timestamp",
    "sender",
    "recipient",
    "performative",
    "content",
];

/// Builds the bare decision: its sender adds a sender, a number, a hash and a signature.
pub fn draft(place: &Header<'_>, decision: &Decision) -> Map<String, Value> {
    let (performative, body) = match decision {
        Decision::Resume => (
            "INFORM",
            json!({"informType": "resolution", "resolution": "resume"}),
        ),
        Decision::Words(words) => (
            "INFORM",
            json!({"informType": "resolution", "resolution": words}),
        ),
        Decision::Close => ("CLOSE", json!({"reason": CLOSE_REASON})),
    };
    let fields = [
        ("version", place.version.into()),
        ("messageId", place.id.as_str().into()),
        ("sessionId", place.session.into()),
        ("timestamp", format!("{:.3}", place.stamp).into()),
        ("recipient", json!({"agentId": place.recipient})),
        ("performative", performative.into()),
        (
            "content",
            json!({"mimeType": "application/json", "body": body}),
        ),
    ];
    fields
        .into_iter()
        .map(|(name, value): (&str, Value)| (name.to_owned(), value))
        .collect()
}

/// Returns the same value with the names of every object sorted.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut names: Vec<&String> = map.keys().collect();
            names.sort();
            let entry = |name: &String| Some((name.clone(), sorted(map.get(name)?)));
            Value::Object(names.into_iter().filter_map(entry).collect::<Map<_, _>>())
        }
        Value::Array(list) => Value::Array(list.iter().map(sorted).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing into a string can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A key that is used nowhere else.
    pub const KEY: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f
-----END PRIVATE KEY-----
";

    #[test]
    fn what_is_sent_is_numbered_linked_and_signed() {
        let identity = Identity::new("agent://home.example/person", KEY).unwrap();
        let place = Header {
            version: "asp/0.1",
            id: "m1".to_owned(),
            session: "s1",
            stamp: "2026-03-07T14:30:00Z".parse().unwrap(),
            recipient: "agent://acme.example/buyer",
            previous: Some("sha256:before"),
        };
        let sent = message(&identity, 3, &place, &Decision::Resume);
        let mut bare = sent.clone();
        bare.as_object_mut().unwrap().remove("integrity");
        let text = sorted(&bare).to_string();
        assert!(text.starts_with(
            "{\"content\":{\"body\":{\"informType\":\"resolution\",\"resolution\":\"resume\"}"
        ));
        let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
        let hash = sent["integrity"]["hash"].as_str().unwrap();
        assert_eq!(hash, format!("sha256:{}", hex(digest.as_ref())));
        assert_eq!(sent["integrity"]["previousHash"], "sha256:before");
        let signature = sent["integrity"]["signature"]
            .as_str()
            .unwrap()
            .strip_prefix("ed25519:")
            .unwrap();
        let bytes: Vec<u8> = (0..signature.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&signature[at..at + 2], 16).unwrap())
            .collect();
        let public = identity.key.public_key().as_ref();
        ring::signature::UnparsedPublicKey::new(&ring::signature::ED25519, public)
            .verify(hash.as_bytes(), &bytes)
            .unwrap();
        assert!(!format!("{identity:?}").contains("key"));
    }

    #[test]
    fn only_a_private_key_is_one() {
        for text in [
            "",
            "-----BEGIN PRIVATE KEY-----\n!!!\n-----END PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
        ] {
            assert_eq!(Identity::new("a", text).err(), Some(BadKey));
        }
    }
}
