//! The handshake on a connection that also carries the events.

use super::*;

#[test]
fn on_one_connection_the_request_is_the_first_message_and_the_consent_no_event() {
    let mut rig = Rig::new(TransportKind::Socket);
    rig.link(LinkEvent::Connected);
    let sent = rig.take();
    let [
        Effect::Link {
            order: LinkOrder::Send { body, .. },
            ..
        },
    ] = sent.as_slice()
    else {
        panic!("{sent:?}");
    };
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["type"], "subscription.request");
    let text = consent(body["capabilities"].clone()).to_string();
    rig.link(LinkEvent::Frame(Frame::of(text)));
    assert!(!rig.heard(phrase!("anomaly.undecodable.*")) && !rig.heard(phrase!("link.terms")));
    rig.assert_heard(phrase!("link.way_handshake", source = "one"));
    line(&mut rig, "v");
    let sent = rig.take();
    assert!(
        sent.iter().any(
            |wish| matches!(wish, Effect::Link { order: LinkOrder::Send { body, .. }, .. }
            if body.contains("subscription.renegotiate"))
        ),
        "{sent:?}"
    );
    // The next connection starts afresh: nothing is resumed there (B.2.5).
    rig.link(LinkEvent::Lost {
        fault: Fault::Closed,
        retry_in: Duration::ZERO,
    });
    rig.take();
    rig.link(LinkEvent::Connected);
    assert!(matches!(
        rig.take().as_slice(),
        [Effect::Link {
            order: LinkOrder::Send { .. },
            ..
        }]
    ));
}

#[test]
fn a_consent_without_a_version_is_taken_for_the_one_that_was_asked_for() {
    for (version, taken) in [(None, true), (Some("1.4.0"), true), (Some("2.0.0"), false)] {
        let mut rig = Rig::new(TransportKind::Socket);
        rig.link(LinkEvent::Connected);
        rig.take();
        let mut consent = consent(json!({}));
        let fields = consent.as_object_mut().unwrap();
        fields.remove("aaep_version");
        if let Some(version) = version {
            fields.insert("aaep_version".into(), version.into());
        }
        let text = consent.to_string();
        rig.link(LinkEvent::Frame(Frame::of(text)));
        let told = rig.heard(phrase!("link.way_handshake", source = "one"));
        assert_eq!(told, taken, "{version:?}: {:?}", rig.lines);
    }
}

#[test]
fn events_in_place_of_a_consent_are_taken_unless_proof_is_wanted() {
    let mut rig = Rig::new(TransportKind::Socket);
    rig.link(LinkEvent::Connected);
    rig.event("session.started", json!({"summary_normal": "Off we go"}));
    assert!(rig.heard(phrase!("link.way_plain", source = "one")) && rig.heard("Off we go"));
    let mut config = Config::default();
    config.handshake.require_signed = true;
    let mut rig = Rig::under(TransportKind::Socket, config);
    rig.link(LinkEvent::Connected);
    rig.event("session.started", json!({"summary_normal": "Off we go"}));
    assert!(rig.wishes.contains(&Effect::Link {
        link: LINK,
        order: LinkOrder::Close
    }));
    rig.assert_not_heard("Off we go");
}

#[test]
fn a_refusal_on_one_connection_ends_the_link() {
    let mut rig = Rig::new(TransportKind::Socket);
    rig.link(LinkEvent::Connected);
    rig.take();
    let text = rejection("authorization_denied").to_string();
    rig.link(LinkEvent::Frame(Frame::of(text)));
    assert!(rig.take().contains(&Effect::Link {
        link: LINK,
        order: LinkOrder::Close
    }));
    rig.assert_heard(phrase!("rejected.authorization_denied"));
}

#[test]
fn a_wait_that_is_named_on_one_connection_is_kept_and_the_link_goes_on() {
    let mut rig = Rig::new(TransportKind::Socket);
    rig.link(LinkEvent::Connected);
    rig.take();
    let mut body = rejection("rate_limit");
    body["retry_after_seconds"] = json!(7);
    rig.link(LinkEvent::Frame(Frame::of(body.to_string())));
    let Err(fault) = rig.course() else {
        panic!("followed");
    };
    assert!(matches!(
        fault,
        Fault::Rejected {
            retry_after: Some(7),
            again: true,
            ..
        }
    ));
}

#[test]
fn a_consent_and_events_that_came_together_are_taken_one_after_the_other() {
    // The consent, followed by the first event in the same message.
    let mut rig = Rig::new(TransportKind::Socket);
    rig.link(LinkEvent::Connected);
    rig.take();
    let started = event("session.started", "Off we go");
    let text = format!("\u{feff}{}{started}", consent(json!({"x": 1})));
    rig.link(LinkEvent::Frame(Frame::of(text)));
    rig.assert_heard(phrase!("link.way_handshake", source = "one"));
    rig.assert_heard("Off we go");
    // A list of events instead of a consent.
    let mut rig = Rig::new(TransportKind::Socket);
    rig.link(LinkEvent::Connected);
    rig.take();
    let text = format!("[{started}]");
    rig.link(LinkEvent::Frame(Frame::of(text)));
    rig.assert_heard("Off we go");
    rig.assert_not_heard(phrase!("link.way_handshake", source = "one"));
}

fn event(name: &str, summary: &str) -> Value {
    json!({
        "@context": "https://aaep-protocol.org/context/v1",
        "type": format!("aaep:agent.{name}"),
        "event_id": "evt_1",
        "session_id": "ses_1",
        "timestamp": "2026-01-01T00:00:00Z",
        "producer": {"agent_id": "agt_1", "agent_name": "Bot"},
        "summary_normal": summary,
    })
}

/// Returns a rig with a subscription on one long-lived connection, and an open question in it.
fn subscribed_with_a_question() -> Rig {
    let mut rig = Rig::new(TransportKind::Socket);
    rig.link(LinkEvent::Connected);
    rig.take();
    let text = consent(json!({})).to_string();
    rig.link(LinkEvent::Frame(Frame::of(text)));
    rig.event("session.started", json!({}));
    rig.event(
        "awaiting.confirmation",
        json!({"reply_token": "rpl_1", "action": "Send it", "consequence": "It is sent",
            "timeout_seconds": 600, "default_decision": "reject"}),
    );
    rig.now = rig.now.after(Duration::from_secs(30));
    rig.input(Input::Deadline);
    rig.take();
    rig.lines.clear();
    rig
}

fn requests(rig: &mut Rig) -> usize {
    let asks = |wish: &Effect| matches!(wish, Effect::Link { order: LinkOrder::Send { body, .. }, .. } if body.contains("subscription.request"));
    rig.take().iter().filter(|wish| asks(wish)).count()
}

#[test]
fn the_end_of_a_subscription_decides_its_questions_and_is_followed_by_a_new_one() {
    let mut rig = subscribed_with_a_question();
    let close = |id: &str| {
        json!({"type": "subscription.close", "subscription_id": id, "reason_message": "Bye."})
            .to_string()
    };
    let text = close("sub_of_somebody_else");
    rig.link(LinkEvent::Frame(Frame::of(text)));
    assert_eq!(rig.lines, [] as [String; 0], "another one's end");
    assert_eq!(requests(&mut rig), 0);
    let text = close(consent(json!({}))["subscription_id"].as_str().unwrap());
    rig.link(LinkEvent::Frame(Frame::of(text)));
    rig.assert_heard(phrase!("link.closed.again", source = "one", text = "Bye"));
    rig.assert_heard(phrase!(
        "question.closed.unsubscribed",
        n = 1,
        default = "Without an answer the agent takes it as rejected"
    ));
    assert_eq!(requests(&mut rig), 1);
    let text = consent(json!({})).to_string();
    rig.link(LinkEvent::Frame(Frame::of(text)));
    // A server that ends it immediately is not asked again and again.
    let text = close(consent(json!({}))["subscription_id"].as_str().unwrap());
    rig.link(LinkEvent::Frame(Frame::of(text)));
    assert_eq!(requests(&mut rig), 0);
}

#[test]
fn a_rejected_change_ends_the_subscription_and_a_new_one_is_asked_for_on_the_old_terms() {
    let mut rig = subscribed_with_a_question();
    line(&mut rig, "load low");
    assert!(rig.take().iter().any(|wish| matches!(wish, Effect::Link { order: LinkOrder::Send { body, .. }, .. } if body.contains("subscription.renegotiate"))));
    let text = rejection("capabilities_incompatible").to_string();
    rig.link(LinkEvent::Frame(Frame::of(text)));
    assert!(
        rig.heard(phrase!("link.change_ended", source = "one"))
            && rig.heard(phrase!("link.change_ended")),
        "{:?}",
        rig.lines
    );
    rig.assert_heard(phrase!("question.closed.unsubscribed", n = 1));
    let asked = rig.take().into_iter().find_map(|wish| match wish {
        Effect::Link {
            order: LinkOrder::Send { body, .. },
            ..
        } => Some(serde_json::from_str::<Value>(&body).unwrap()),
        _ => None,
    });
    let asked = asked.unwrap();
    assert_eq!(asked["type"], "subscription.request");
    assert_ne!(asked["capabilities"]["cognitive_load"], "low");
    // An event that was under way is read and proves nothing about the handshake.
    rig.event("progress.updated", json!({"progress": {"percent": 1}}));
    let text = consent(asked["capabilities"].clone()).to_string();
    rig.link(LinkEvent::Frame(Frame::of(text)));
    assert_eq!(
        rig.app.links()[0].connection().method,
        Some("link.handshake")
    );
    let again = |wish: &Effect| {
        matches!(
            wish,
            Effect::Link {
                order: LinkOrder::Send { .. },
                ..
            }
        )
    };
    assert!(
        !rig.take().iter().any(again),
        "the change is asked for again"
    );
    // A rejection without a request is ignored.
    rig.lines.clear();
    let text = rejection("capabilities_incompatible").to_string();
    rig.link(LinkEvent::Frame(Frame::of(text)));
    assert_eq!(rig.lines, [] as [String; 0]);
}

#[test]
fn an_agent_that_is_back_on_one_connection_can_be_answered_and_another_one_not() {
    for (name, again) in [("agent_1", true), ("agent_2", false)] {
        let mut rig = Rig::new(TransportKind::Socket);
        let greets = |rig: &mut Rig, name: &str| {
            rig.link(LinkEvent::Connected);
            let mut consent = consent(json!({}));
            consent["producer"] = json!({"agent_id": name, "agent_name": name});
            rig.link(LinkEvent::Frame(Frame::of(consent.to_string())));
        };
        greets(&mut rig, "agent_1");
        rig.event(
            "awaiting.confirmation",
            json!({"action": "Send", "consequence": "It leaves.", "reply_token": "rpl_1", "timeout_seconds": 60,
                "default_decision": "reject", "urgency": "critical", "risk_level": "low", "irreversible": false}),
        );
        rig.link(LinkEvent::Lost {
            fault: Fault::Closed,
            retry_in: Duration::ZERO,
        });
        greets(&mut rig, name);
        rig.now = rig.now.after(Duration::from_millis(1500));
        rig.input(Input::Deadline);
        assert_eq!(
            rig.heard(phrase!("question.again.perhaps")),
            again,
            "{name}: {:?}",
            rig.lines
        );
    }
}
