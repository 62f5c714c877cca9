//! The handshake's server side, field by field, and streams that keep to their terms.

use serde_json::{Value, json};

use super::tcp_client::{EventStreamReader, post, request, server, within};
use crate::demo::{DemoSettings, ServedDemo};

fn asking(capabilities: Value) -> Value {
    json!({"type": "subscription.request", "aaep_version": "1.0.0", "subscriber_id": "test",
        "capabilities": capabilities})
}

pub(super) async fn agreed(running: &ServedDemo, capabilities: Value) -> Value {
    let (status, consent) = post(
        running.addr(),
        "/aaep/v1/subscriptions",
        &asking(capabilities),
    )
    .await;
    assert_eq!(status, 201, "{consent}");
    consent
}

pub(super) async fn stream(running: &ServedDemo, consent: &Value) -> EventStreamReader {
    let id = consent["subscription_id"].as_str().unwrap();
    let path = format!("/aaep/v1/events?subscription_id={id}");
    EventStreamReader::greeted_at(running.addr(), &path).await
}

#[tokio::test]
async fn a_request_is_answered_as_chapter_5_writes_it() {
    let running = server(DemoSettings::stepped(1)).await;
    let consent = agreed(
        &running,
        json!({"max_events_per_second": 3, "languages": ["yo", "en-US"],
            "coalesce_boundaries": ["none", "sentence"], "supports_confirmation_reply": true,
            "supported_extensions": ["https://a.example/medai/context/v1",
                "https://a.example/medai/context/v2"],
            "haptic": {"patterns": []}}),
    )
    .await;
    assert_eq!(consent["type"], "subscription.accepted");
    let honored = &consent["honored_capabilities"];
    assert_eq!(honored["max_events_per_second"], 3);
    assert_eq!(honored["languages"], json!(["en-US"]));
    assert_eq!(honored["coalesce_boundaries"], json!(["sentence"]));
    assert!(honored.get("haptic").is_none(), "an extension stays inert");
    let (status, _, manifest) =
        request(running.addr(), "GET", "/.well-known/aaep-manifest.json", "").await;
    assert_eq!(status, 200);
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["agent_id"], consent["producer"]["agent_id"]);
    running.stop().await;
}

#[tokio::test]
async fn what_can_not_be_kept_is_rejected_with_its_reason() {
    let running = server(DemoSettings::stepped(1)).await;
    let mut strange = asking(json!({}));
    strange["aaep_version"] = json!("2.0.0");
    for (message, status, code) in [
        (strange, 400, "version_unsupported"),
        (
            asking(json!({"accept_signed_manifests_only": true})),
            403,
            "manifest_signature_required",
        ),
        (
            asking(json!({"supported_extensions": [
                "https://a.example/medai/context/v1", "https://b.example/medai/context/v1"]})),
            400,
            "capabilities_incompatible",
        ),
        (asking(json!({"max_events_per_second": 0})), 400, "unknown"),
        (asking(json!({"unheard_of": 1})), 400, "unknown"),
        (json!([]), 400, "unknown"),
    ] {
        let (got, answer) = post(running.addr(), "/aaep/v1/subscriptions", &message).await;
        assert_eq!(
            (got, &answer["reason_code"]),
            (status, &json!(code)),
            "{message}"
        );
        assert_eq!(answer["type"], "subscription.rejected");
    }
    let nobody = "/aaep/v1/events?subscription_id=sub_0";
    let (status, ..) = request(running.addr(), "GET", nobody, "").await;
    assert_eq!(status, 404);
    running.stop().await;
}

#[tokio::test]
async fn two_subscribers_with_other_terms_get_other_streams() {
    let running = server(DemoSettings::stepped(3)).await;
    let all = agreed(&running, json!({})).await;
    let few = agreed(
        &running,
        json!({"event_filters": {"include": ["aaep:agent.session.*"], "exclude": ["aaep:agent.session.started"]}}),
    )
    .await;
    let (mut all, mut few) = (stream(&running, &all).await, stream(&running, &few).await);
    running.agents().start("tool").unwrap();
    let everything = all.until("session.completed").await;
    let little = few.until("session.completed").await;
    assert!(everything.len() > 3, "{everything:?}");
    assert_eq!(little.len(), 1, "{little:?}");
    running.stop().await;
}

#[tokio::test]
async fn a_budget_is_kept_but_for_what_is_urgent_and_can_be_changed() {
    let running = server(DemoSettings::stepped(4)).await;
    let terms = json!({"max_events_per_second": 1, "supports_confirmation_reply": true});
    let consent = agreed(&running, terms).await;
    let mut slow = stream(&running, &consent).await;
    running.agents().start("email").unwrap();
    // The question comes immediately, although most of the seven events before it wait for their
    // second.
    let before = slow.until("awaiting.confirmation").await;
    assert!(before.len() < 8, "{before:?}");
    let change = json!({"type": "subscription.renegotiate", "subscription_id": consent["subscription_id"],
        "capabilities": {"max_events_per_second": 1000}});
    let (status, answer) = post(running.addr(), "/aaep/v1/replies", &change).await;
    assert_eq!(
        (
            status,
            &answer["honored_capabilities"]["max_events_per_second"]
        ),
        (200, &json!(1000))
    );
    running.producer().expire_questions();
    slow.until("session.completed").await;
    running.stop().await;
}

#[tokio::test]
async fn the_last_to_leave_takes_the_defaults_along() {
    let running = server(DemoSettings::stepped(5)).await;
    let answering = json!({"supports_confirmation_reply": true});
    let consent = agreed(&running, answering).await;
    let deaf = agreed(&running, json!({})).await;
    let mut events = stream(&running, &consent).await;
    let mut others = stream(&running, &deaf).await;
    running.agents().start("question").unwrap();
    events.until("awaiting.confirmation").await;
    let close = json!({"type": "subscription.close", "subscription_id": consent["subscription_id"],
        "reason_code": "subscriber_shutdown", "reason_message": "bye"});
    let path = "/aaep/v1/replies";
    let (status, ..) = request(running.addr(), "POST", path, &close.to_string()).await;
    assert_eq!(status, 204);
    // A subscriber that left gets nothing more (5.8.2); the remaining one learns how it went on.
    assert_eq!(events.next().await, None);
    others.until("session.completed").await;
    assert_eq!(running.producer().agreed(), 1);
    let (status, _) = post(running.addr(), path, &close).await;
    assert_eq!(status, 404);
    within(running.stop()).await;
}
