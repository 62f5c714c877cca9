//! Which agents to believe: signed manifests and the person's keys.

use super::*;

#[test]
fn who_wants_proof_follows_nobody_without_it() {
    let mut config = Config::default();
    config.handshake.require_signed = true;
    for (status, body) in [(404, json!({})), (201, consent(json!({})))] {
        let mut rig = Rig::under(TransportKind::EventStream, config.clone());
        let (request, asked) = rig.subscribing();
        assert_eq!(asked["capabilities"]["accept_signed_manifests_only"], true);
        rig.answer(request, status, &body);
        let Err(fault) = rig.course() else {
            panic!("followed");
        };
        assert!(fault.is_final());
        assert!(
            rig.app
                .cx
                .fault_words(&fault)
                .contains("no signed manifest")
        );
    }
}

#[test]
fn where_a_key_is_known_only_its_proof_lets_somebody_speak_under_that_name() {
    let mut keys = KeyRing::default();
    let pem = include_str!("../../../../../../../tests/fixtures/keys/rsa.pub.pem");
    keys.add("planner", None, pem).unwrap();
    let signed = include_str!("../../../../../../../tests/fixtures/keys/manifest.rs256.jws");
    let plain = json!({"type": "aaep:producer.manifest", "agent_id": "planner",
        "aaep_versions_supported": ["1.0.0"]});
    for (manifest, agent, followed) in [
        (signed.to_owned(), "planner", true),
        (plain.to_string(), "planner", false),
        (signed.replace(".ey", ".eY"), "planner", false),
        (signed.to_owned(), "mailer", true),
    ] {
        let (config, voice) = (Config::default(), SpeechMode::Silent);
        let mut rig = Rig::knowing(keys.clone(), TransportKind::EventStream, config, voice);
        rig.connect();
        let (request, _) = rig.asked();
        rig.answer_text(request, 200, manifest);
        let (request, _) = rig.subscription();
        let mut body = consent(json!({}));
        body["producer"]["agent_id"] = json!(agent);
        rig.answer(request, 201, &body);
        let course = rig.course();
        assert_eq!(
            matches!(&course, Ok(stream) if stream.replies.as_deref() == Some(REPLIES)),
            followed,
            "{agent}: {course:?}"
        );
    }
}

/// Shakes hands as an agent, with a manifest that the planner signed or with none, and receives an event in the
/// planner's name.
fn event_after(signed: bool, agent: &str, config: Config) -> Rig {
    let mut keys = KeyRing::default();
    let pem = include_str!("../../../../../../../tests/fixtures/keys/rsa.pub.pem");
    keys.add("planner", None, pem).unwrap();
    let mut rig = Rig::knowing(keys, TransportKind::EventStream, config, SpeechMode::Silent);
    rig.connect();
    let (request, _) = rig.asked();
    let manifest = include_str!("../../../../../../../tests/fixtures/keys/manifest.rs256.jws");
    if signed {
        rig.answer_text(request, 200, manifest.to_owned());
    } else {
        rig.answer(request, 404, &json!({}));
    }
    let (request, _) = rig.subscription();
    let mut body = consent(json!({}));
    body["producer"]["agent_id"] = json!(agent);
    rig.answer(request, 201, &body);
    rig.take();
    rig.link(LinkEvent::Connected);
    rig.event("session.started", json!({"summary_normal": "Off we go"}));
    rig.event(
        "state.changed",
        json!({"from_state": "idle", "to_state": "thinking"}),
    );
    rig
}

fn names(rig: &Rig) -> Vec<String> {
    let told = rig.app.history().iter();
    told.filter_map(|told| told.agent.as_deref().map(str::to_owned))
        .collect()
}

#[test]
fn a_proven_name_is_believed_only_over_the_connection_that_proved_it() {
    let mut rig = event_after(true, "planner", Config::default());
    assert_eq!(names(&rig), ["planner", "planner"]);
    line(&mut rig, "t");
    rig.assert_heard(phrase!("status.proven", agent = "planner"));
    rig.assert_not_heard(phrase!("proof.claim"));
    let rig = event_after(false, "mailer", Config::default());
    assert_eq!(names(&rig), ["unproven planner", "unproven planner"]);
    let told = rig
        .lines
        .iter()
        .filter(|line| phrase!("proof.claim", source = "one", agent = "planner").is_in(line));
    assert_eq!(told.count(), 1, "told once: {:?}", rig.lines);
}

#[test]
fn who_wants_proof_believes_no_event_in_another_name_than_the_proven_one() {
    let mut config = Config::default();
    config.handshake.require_signed = true;
    let mut rig = event_after(true, "planner", config);
    rig.assert_not_heard(phrase!("proof.claim"));
    let event = json!({
        "@context": "https://aaep-protocol.org/context/v1", "type": "aaep:agent.session.started",
        "event_id": "evt_x", "session_id": "sess_2", "timestamp": "2026-01-01T00:00:00Z",
        "producer": {"agent_id": "helper"}, "summary_normal": "Me too",
    });
    rig.link(LinkEvent::Frame(Frame::of(event.to_string())));
    rig.assert_heard(phrase!("proof.claim", agent = "helper"));
    assert!(names(&rig).contains(&"unproven helper".to_owned()));
}

#[test]
fn a_connection_without_a_handshake_has_proven_nothing() {
    let mut keys = KeyRing::default();
    let pem = include_str!("../../../../../../../tests/fixtures/keys/rsa.pub.pem");
    keys.add("planner", None, pem).unwrap();
    let (config, voice) = (Config::default(), SpeechMode::Silent);
    let mut rig = Rig::knowing(keys, TransportKind::Socket, config, voice);
    rig.link(LinkEvent::Connected);
    rig.event("session.started", json!({"summary_normal": "Off we go"}));
    assert_eq!(names(&rig), ["unproven planner"]);
}
