//! Which signed manifests are trusted, and which are not.

use super::*;
use crate::Capabilities;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};

/// A signer that works like a producer, with its public key in PEM.
struct Signer(EcdsaKeyPair);

impl Signer {
    fn new() -> Self {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let packed = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Self(EcdsaKeyPair::from_pkcs8(algorithm, packed.as_ref(), &random).unwrap())
    }

    fn pem(&self) -> String {
        let mut der = vec![0x30, 0x59, 0x30, 0x13];
        der.extend_from_slice(EC_P256);
        der.extend_from_slice(&[0x03, 0x42, 0x00]);
        der.extend_from_slice(self.0.public_key().as_ref());
        format!(
            "-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n",
            STANDARD.encode(der)
        )
    }

    fn sign(&self, header: &str, body: &str) -> String {
        let signed = format!(
            "{}.{}",
            URL_SAFE_NO_PAD.encode(header),
            URL_SAFE_NO_PAD.encode(body)
        );
        let signature = self
            .0
            .sign(&SystemRandom::new(), signed.as_bytes())
            .unwrap();
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
    }
}

const BODY: &str = r#"{"type":"aaep:producer.manifest","agent_id":"planner",
    "aaep_versions_supported":["1.0.0"],"conformance_levels_supported":[1,2,3],
    "transports_supported":["sse"],"languages_supported":["en-US","de"]}"#;
const HEADER: &str = r#"{"alg":"ES256","kid":"k1"}"#;

fn ring_of(signer: &Signer, agent: &str, kid: Option<&str>) -> KeyRing {
    let mut ring = KeyRing::default();
    ring.add(agent, kid, &signer.pem()).unwrap();
    ring
}

#[test]
fn a_key_of_the_agent_convinces_by_name_or_without_one() {
    let signer = Signer::new();
    let jws = signer.sign(HEADER, BODY);
    for kid in [None, Some("k1")] {
        let manifest = ring_of(&signer, "planner", kid).verify(&jws).unwrap();
        assert_eq!(manifest.agent_id, "planner");
        assert_eq!(manifest.transports, ["sse"]);
    }
}

#[test]
fn nobody_signs_for_another_agent_or_under_another_name() {
    let signer = Signer::new();
    let jws = signer.sign(HEADER, BODY);
    for (agent, kid) in [("mailer", None), ("planner", Some("k2"))] {
        let verdict = ring_of(&signer, agent, kid).verify(&jws);
        assert_eq!(verdict, Err(SignatureFault::UnknownKey), "{agent}");
    }
    assert_eq!(
        KeyRing::default().verify(&jws),
        Err(SignatureFault::UnknownKey)
    );
    let other = Signer::new();
    let verdict = ring_of(&other, "planner", None).verify(&jws);
    assert_eq!(verdict, Err(SignatureFault::Forged));
}

#[test]
fn none_and_shared_secrets_and_keys_that_come_along_prove_nothing() {
    let signer = Signer::new();
    let ring = ring_of(&signer, "planner", None);
    for alg in [
        "none", "None", "HS256", "HS512", "ES384", "PS256", "EdDSA", "",
    ] {
        let jws = signer.sign(&format!(r#"{{"alg":"{alg}"}}"#), BODY);
        assert_eq!(ring.verify(&jws), Err(SignatureFault::Algorithm), "{alg}");
    }
    let unsigned = format!(
        "{}.{}.",
        URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#),
        URL_SAFE_NO_PAD.encode(BODY)
    );
    assert_eq!(ring.verify(&unsigned), Err(SignatureFault::Algorithm));
    // The key in the header is the signing key, but it is not even read.
    let stranger = Signer::new();
    let header =
        r#"{"alg":"ES256","jwk":{"kty":"EC","crv":"P-256"},"jku":"https://x/","x5c":["x"]}"#;
    let jws = stranger.sign(header, BODY);
    assert_eq!(ring.verify(&jws), Err(SignatureFault::Forged));
    let critical = signer.sign(r#"{"alg":"ES256","crit":["b64"],"b64":false}"#, BODY);
    assert_eq!(ring.verify(&critical), Err(SignatureFault::Algorithm));
    // A key of one kind is not tried on a signature of the other.
    let jws = signer.sign(r#"{"alg":"RS256"}"#, BODY);
    assert_eq!(ring.verify(&jws), Err(SignatureFault::UnknownKey));
}

#[test]
fn one_changed_letter_is_a_forgery() {
    let signer = Signer::new();
    let ring = ring_of(&signer, "planner", None);
    let jws = signer.sign(HEADER, BODY);
    let parts: Vec<&str> = jws.split('.').collect();
    let other = URL_SAFE_NO_PAD.encode(BODY.replace("\"sse\"", "\"ws\""));
    let forged = format!("{}.{other}.{}", parts[0], parts[2]);
    assert_eq!(ring.verify(&forged), Err(SignatureFault::Forged));
    for broken in ["", ".", "..", "a.b.c", "a.b.c.d", &parts[..2].join(".")] {
        assert_eq!(
            ring.verify(broken),
            Err(SignatureFault::Malformed),
            "{broken}"
        );
    }
    let no_manifest = signer.sign(HEADER, r#"{"agent_id":"planner"}"#);
    assert_eq!(ring.verify(&no_manifest), Err(SignatureFault::Malformed));
    let endless = "x".repeat(LONGEST_JWS + 1);
    assert_eq!(ring.verify(&endless), Err(SignatureFault::Malformed));
}

/// Two keys in tests/fixtures/keys and a manifest signed by the RSA one, made by openssl so that our own signer
/// can't hide a fault of our reader.
#[test]
fn keys_and_signatures_of_openssl_are_taken() {
    let mut ring = KeyRing::default();
    let rsa = include_str!("../../../tests/fixtures/keys/rsa.pub.pem");
    ring.add("planner", None, rsa).unwrap();
    let p256 = include_str!("../../../tests/fixtures/keys/p256.pub.pem");
    ring.add("planner", None, p256).unwrap();
    assert_eq!(ring.len(), 2);
    let jws = include_str!("../../../tests/fixtures/keys/manifest.rs256.jws");
    assert_eq!(ring.verify(jws).unwrap().agent_id, "planner");
    let forged = jws.trim_end().strip_suffix(|_: char| true).unwrap();
    assert!(ring.verify(forged).is_err());
}

#[test]
fn what_is_no_public_key_is_refused() {
    let mut ring = KeyRing::default();
    for (pem, fault) in [
        ("", KeyError::NotPem),
        (
            "-----BEGIN PUBLIC KEY-----\n!!\n-----END PUBLIC KEY-----",
            KeyError::NotPem,
        ),
        (
            "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
            KeyError::NotPem,
        ),
        ("-----BEGIN EC PRIVATE KEY-----\nMIIB", KeyError::Private),
        // An Ed25519 key.
        (
            "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----",
            KeyError::OtherKind,
        ),
    ] {
        assert_eq!(ring.add("a", None, pem), Err(fault));
    }
    assert!(ring.is_empty());
}

#[test]
fn a_manifest_fits_only_what_is_offered() {
    let manifest = Manifest::read(BODY).unwrap();
    let accepted = SubscriptionConsent {
        subscription_id: "sub_1".into(),
        version: Some("1.0.0".into()),
        agent_id: Some("planner".into()),
        honored: Capabilities {
            languages: Some(vec!["en-us".into()]),
            supported_conformance_levels: Some(vec![1, 2]),
            ..Capabilities::default()
        },
        signed_manifest: None,
        notes: None,
    };
    assert_eq!(manifest.fits(&accepted, Some("sse")), Ok(()));
    assert_eq!(
        manifest.fits(&accepted, Some("websocket")),
        Err(SignatureFault::Claim(ManifestClaim::Transport))
    );
    let with = |change: fn(&mut SubscriptionConsent)| {
        let mut other = accepted.clone();
        change(&mut other);
        manifest.fits(&other, Some("sse")).unwrap_err()
    };
    assert_eq!(
        with(|other| other.agent_id = Some("mailer".into())),
        SignatureFault::OtherAgent
    );
    assert_eq!(
        with(|other| other.agent_id = None),
        SignatureFault::OtherAgent
    );
    assert_eq!(
        with(|other| other.version = Some("1.1.0".into())),
        SignatureFault::Claim(ManifestClaim::Version)
    );
    assert_eq!(
        with(|other| other.honored.supported_conformance_levels = Some(vec![4])),
        SignatureFault::Claim(ManifestClaim::Levels)
    );
    assert_eq!(
        with(|other| other.honored.languages = Some(vec!["yo".into()])),
        SignatureFault::Claim(ManifestClaim::Languages)
    );
    let mut unnamed = accepted.clone();
    unnamed.version = None;
    assert_eq!(manifest.fits(&unnamed, Some("sse")), Ok(()));
}

#[test]
fn a_manifests_language_and_a_consents_are_one_without_their_regions() {
    for (own, offered, fits) in [
        ("en", "en-US", true),
        ("en-US", "en", true),
        ("EN-us", "en-US", true),
        ("zh", "zh-Hant-TW", true),
        ("en-GB", "en-US", false),
        ("zh-Hans", "zh-Hant", false),
        ("de", "en", false),
    ] {
        let manifest = Manifest {
            agent_id: "planner".into(),
            versions: vec!["1.0.0".into()],
            languages: vec!["yo".into(), own.into()],
            ..Manifest::default()
        };
        let accepted = SubscriptionConsent {
            subscription_id: "sub_1".into(),
            version: Some("1.0.0".into()),
            agent_id: Some("planner".into()),
            honored: Capabilities {
                languages: Some(vec![offered.into()]),
                ..Capabilities::default()
            },
            signed_manifest: None,
            notes: None,
        };
        assert_eq!(
            manifest.fits(&accepted, None).is_ok(),
            fits,
            "{own} {offered}"
        );
    }
}
