//! The agreed terms: announced if they differ, changed during a run, dropped at the end.

use super::*;

#[test]
fn other_terms_are_told_once() {
    let mut rig = Rig::new(TransportKind::EventStream);
    let (request, asked) = rig.subscribing();
    let mut honored = asked["capabilities"].clone();
    honored["max_events_per_second"] = json!(3);
    rig.answer(request, 201, &consent(honored.clone()));
    let told = "one keeps other terms than you asked for: at most 3 messages a second, not 50.";
    rig.assert_heard(told);
    rig.lines.clear();
    // A change that leaves the difference unchanged is not announced.
    rig.link(LinkEvent::Connected);
    rig.take();
    line(&mut rig, "v");
    let (request, _) = rig.asked();
    honored["preferred_verbosity"] = json!("detailed");
    rig.answer(request, 200, &consent(honored));
    rig.assert_not_heard(phrase!("link.terms"));
}

#[test]
fn a_change_of_verbosity_is_renegotiated_with_that_key_alone() {
    let mut rig = Rig::new(TransportKind::EventStream);
    rig.agreed();
    rig.take();
    line(&mut rig, "v");
    let (request, call) = rig.asked();
    assert_eq!(call.path, REPLIES);
    let body = message(&call);
    assert_eq!(
        body,
        json!({"type": "subscription.renegotiate", "subscription_id": "sub_1",
            "capabilities": {"preferred_verbosity": "detailed"}})
    );
    rig.answer(request, 400, &json!({"error": "no"}));
    rig.assert_heard(phrase!("link.change_failed", source = "one"));
}

#[test]
fn a_change_of_the_speech_rate_is_renegotiated_as_a_pace() {
    let mut rig = Rig::speaking(TransportKind::EventStream);
    rig.agreed();
    rig.take();
    line(&mut rig, "rate 50");
    let (_, call) = rig.asked();
    assert_eq!(call.path, REPLIES);
    let body = message(&call);
    assert_eq!(body["capabilities"], json!({"pace_wpm": 312}));
}

#[test]
fn a_stream_that_outruns_the_agreed_rate_is_asked_to_slow_down_once() {
    let mut config = Config::default();
    config.handshake.max_events_per_second = 4;
    let mut rig = Rig::under(TransportKind::EventStream, config);
    rig.agreed();
    rig.take();
    for step in 0..24 {
        rig.event("progress.updated", json!({"percent_complete": step}));
    }
    assert!(
        rig.take().is_empty(),
        "24 in a burst over 5 seconds are within its right"
    );
    for step in 24..80 {
        rig.event("progress.updated", json!({"percent_complete": step}));
    }
    let (_, call) = rig.asked();
    assert_eq!(call.path, REPLIES);
    let body = message(&call);
    assert_eq!(body["capabilities"], json!({"max_events_per_second": 2}));
    rig.assert_heard(phrase!("link.outrun", source = "one"));
}
