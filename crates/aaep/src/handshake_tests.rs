//! Each outgoing message, key by key against chapter 5; each incoming one, with the variations of
//! other programs.

use super::*;

fn full() -> Capabilities {
    Capabilities {
        max_events_per_second: Some(5),
        preferred_verbosity: Some(SummaryLevel::Terse),
        languages: Some(vec!["en-US".into(), "de".into()]),
        supports_confirmation_reply: Some(true),
        supports_clarification_reply: Some(true),
        coalesce_boundaries: Some(vec!["sentence".into(), "completion".into()]),
        event_filters: Some(EventFilters {
            include: vec!["aaep:agent.*".into()],
            exclude: vec!["aaep:agent.progress.updated".into()],
        }),
        supported_conformance_levels: Some(vec![1, 2, 3]),
        supported_extensions: Some(vec![]),
        cognitive_load: Some("low".into()),
        pace_wpm: Some(180),
        accept_signed_manifests_only: Some(false),
    }
}

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

/// The capabilities that 5.3.1 defines, in its order.
const DEFINED: [&str; 12] = [
    "max_events_per_second",
    "preferred_verbosity",
    "languages",
    "supports_confirmation_reply",
    "supports_clarification_reply",
    "coalesce_boundaries",
    "event_filters",
    "supported_conformance_levels",
    "supported_extensions",
    "cognitive_load",
    "pace_wpm",
    "accept_signed_manifests_only",
];

#[test]
fn a_request_has_exactly_the_keys_of_5_2() {
    let request = SubscriptionRequest {
        version: "1.0.0".into(),
        subscriber_id: "hearken".into(),
        subscriber_version: "0.1.0".into(),
        capabilities: full(),
    };
    let value: Value = serde_json::from_str(&request.to_json()).unwrap();
    assert_eq!(
        keys(&value),
        [
            "type",
            "aaep_version",
            "subscriber_id",
            "subscriber_name",
            "subscriber_version",
            "capabilities"
        ]
    );
    assert_eq!(value["type"], "subscription.request");
    assert_eq!(value["aaep_version"], "1.0.0");
    let capabilities = &value["capabilities"];
    assert_eq!(keys(capabilities), DEFINED);
    assert_eq!(keys(&capabilities["event_filters"]), ["include", "exclude"]);
    assert_eq!(capabilities["preferred_verbosity"], "terse");
    assert_eq!(capabilities["cognitive_load"], "low");
    assert_eq!(capabilities["max_events_per_second"], 5);
    assert_eq!(Capabilities::from_value(capabilities), full());
}

#[test]
fn a_renegotiation_names_only_what_changes() {
    let change = Capabilities {
        preferred_verbosity: Some(SummaryLevel::Detailed),
        ..Capabilities::default()
    };
    let value: Value = serde_json::from_str(&renegotiate("sub_1", &change)).unwrap();
    assert_eq!(keys(&value), ["type", "subscription_id", "capabilities"]);
    assert_eq!(value["type"], "subscription.renegotiate");
    assert_eq!(keys(&value["capabilities"]), ["preferred_verbosity"]);
    let after = full().amended(&change);
    assert_eq!(after.preferred_verbosity, Some(SummaryLevel::Detailed));
    assert_eq!(after.languages, full().languages);
}

#[test]
fn a_close_has_exactly_the_keys_of_5_8() {
    let value: Value = serde_json::from_str(&close("sub_8a4f")).unwrap();
    assert_eq!(
        keys(&value),
        ["type", "subscription_id", "reason_code", "reason_message"]
    );
    assert_eq!(value["reason_code"], "subscriber_shutdown");
}

#[test]
fn the_chapters_own_consent_is_read() {
    let text = r#"{"type":"subscription.accepted","subscription_id":"sub_8a4f2c9d1e7b5f3a",
        "aaep_version":"1.0.0","producer":{"agent_id":"retirement-planner","agent_version":"1.4.2"},
        "honored_capabilities":{"max_events_per_second":3,"preferred_verbosity":"normal",
        "languages":["en-US"],"supports_confirmation_reply":true},
        "manifest_uri":"https://example.com/.well-known/aaep-manifest.json"}"#;
    let Some(HandshakeMessage::Accepted(accepted)) = read_handshake(text) else {
        panic!("not read");
    };
    assert_eq!(accepted.subscription_id, "sub_8a4f2c9d1e7b5f3a");
    assert_eq!(accepted.agent_id.as_deref(), Some("retirement-planner"));
    assert_eq!(accepted.honored.max_events_per_second, Some(3));
    assert_eq!(accepted.honored.pace_wpm, None);
}

#[test]
fn what_a_stranger_writes_is_no_consent() {
    for text in [
        "",
        "subscription.",
        r#"{"type":"subscription.accepted"}"#,
        r#"{"type":"subscription.accepted","subscription_id":7}"#,
        r#"{"type":"subscription.accepted","subscription_id":"x"}"#,
        r#"{"type":"subscription.accepted","subscription_id":"sub_\n\u001b[2J"}"#,
        r#"{"type":"subscription.request"}"#,
        r#"{"type":"aaep:agent.state.changed","note":"subscription.accepted"}"#,
        r#"["subscription.accepted"]"#,
    ] {
        assert_eq!(read_handshake(text), None, "{text}");
    }
}

#[test]
fn every_rejection_code_is_read_and_a_strange_one_is_unknown() {
    for code in RejectionCode::ALL {
        let text = format!(
            r#"{{"type":"subscription.rejected","reason_code":"{}","reason_message":"no","retry_after_seconds":9}}"#,
            code.as_str()
        );
        assert_eq!(
            read_handshake(&text),
            Some(HandshakeMessage::Rejected(SubscriptionRejection {
                code,
                message: "no".into(),
                retry_after: Some(9),
            }))
        );
    }
    let long = "x".repeat(5000);
    let text = format!(
        r#"{{"type":"subscription.rejected","reason_code":"{long}","reason_message":"{long}"}}"#
    );
    let Some(HandshakeMessage::Rejected(rejected)) = read_handshake(&text) else {
        panic!("not read");
    };
    assert_eq!(rejected.code, RejectionCode::Unknown);
    assert_eq!(rejected.message.len(), LONGEST_WORDS);
}

#[test]
fn versions_of_the_same_major_number_are_understood() {
    for good in ["1.0.0", "1.4.2", "1.0.0-draft", "0.1-draft"] {
        assert!(is_understood(good), "{good}");
    }
    for bad in ["2.0.0", "", "10.0.0", "x"] {
        assert!(!is_understood(bad), "{bad}");
    }
}

#[test]
fn what_a_renegotiation_names_is_what_is_not_so_yet() {
    let asked = Capabilities {
        max_events_per_second: Some(50),
        preferred_verbosity: Some(SummaryLevel::Terse),
        languages: Some(vec!["en".into()]),
        ..Capabilities::default()
    };
    assert_eq!(asked.lacking(&asked), None);
    assert_eq!(asked.lacking(&Capabilities::default()), None);
    let change = Capabilities {
        languages: Some(vec!["de".into(), "en".into()]),
        cognitive_load: Some("low".into()),
        ..Capabilities::default()
    };
    let wanted = asked.amended(&change);
    assert_eq!(asked.lacking(&wanted), Some(change.clone()));
    assert_eq!(asked.amended(&change).lacking(&wanted), None);
}
