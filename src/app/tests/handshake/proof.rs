//! Whom to believe: signed manifests and the keys of the person.

use super::*;

#[test]
fn who_wants_proof_follows_nobody_without_it() {
    let mut config = Config::default();
    config.handshake.require_signed = true;
    for (status, body) in [(404, json!({})), (201, consent(json!({})))] {
        let mut rig = Rig::under(Door::Beside, config.clone());
        let (request, asked) = rig.subscribing();
        assert_eq!(asked["capabilities"]["accept_signed_manifests_only"], true);
        rig.answer(request, status, &body);
        let Course::Refused(fault) = rig.course() else {
            panic!("followed");
        };
        assert!(fault.is_final());
        assert!(rig.app.fault_words(&fault).contains("no signed manifest"));
    }
}

#[test]
fn where_a_key_is_known_only_its_proof_lets_somebody_speak_under_that_name() {
    let mut keys = KeyRing::default();
    let pem = include_str!("../../../../tests/fixtures/keys/rsa.pub.pem");
    keys.add("planner", None, pem).unwrap();
    let signed = include_str!("../../../../tests/fixtures/keys/manifest.rs256.jws");
    let plain = json!({"type": "aaep:producer.manifest", "agent_id": "planner",
        "aaep_versions_supported": ["1.0.0"]});
    for (manifest, agent, followed) in [
        (signed.to_owned(), "planner", true),
        (plain.to_string(), "planner", false),
        (signed.replace(".ey", ".eY"), "planner", false),
        (signed.to_owned(), "mailer", true),
    ] {
        let mut rig = Rig::new(Door::Beside);
        rig.app.keys = keys.clone();
        rig.connect();
        let (request, _) = rig.asked();
        rig.answer_text(request, 200, manifest);
        let (request, _) = rig.subscription();
        let mut body = consent(json!({}));
        body["producer"]["agent_id"] = json!(agent);
        rig.answer(request, 201, &body);
        let course = rig.course();
        assert_eq!(
            matches!(course, Course::Subscription { .. }),
            followed,
            "{agent}: {course:?}"
        );
    }
}
