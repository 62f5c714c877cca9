//! The person's changes, and the requests to each producer that follow (5.7).

use super::*;
use crate::config::{HandshakeConfig, Load, SourceAnnounce, Verbosity};

fn source(announce: SourceAnnounce, handshake: Option<HandshakeConfig>) -> SourceSetup {
    SourceSetup {
        name: "one".into(),
        answerable: true,
        carrier: TransportKind::EventStream,
        announce,
        handshake,
        ..SourceSetup::default()
    }
}

/// Types a line, and returns the capabilities that it makes hearken request, with the request's number.
fn changed(rig: &mut Rig, text: &str) -> Option<(u64, Value)> {
    rig.take();
    line(rig, text);
    told(rig)
}

fn told(rig: &mut Rig) -> Option<(u64, Value)> {
    let found = rig.take().into_iter().find_map(|wish| match wish {
        Effect::Link {
            order: LinkOrder::Call { request, call },
            ..
        } => Some((request, message(&call))),
        Effect::Link {
            order: LinkOrder::Send { request, body },
            ..
        } => Some((request, serde_json::from_str(&body).unwrap())),
        _ => None,
    });
    let (request, body) = found?;
    assert_eq!(body["type"], "subscription.renegotiate");
    Some((request, body["capabilities"].clone()))
}

#[test]
fn load_and_language_are_renegotiated_each_with_its_key_alone() {
    let mut rig = Rig::new(TransportKind::EventStream);
    let (request, asked) = rig.subscribing();
    let mut honored = asked["capabilities"].clone();
    rig.answer(request, 201, &consent(honored.clone()));
    rig.link(LinkEvent::Connected);
    let (request, change) = changed(&mut rig, "load low").unwrap();
    assert_eq!(change, json!({"cognitive_load": "low"}));
    honored["cognitive_load"] = json!("low");
    rig.answer(request, 200, &consent(honored));
    let (_, change) = changed(&mut rig, "language de").unwrap();
    assert_eq!(change, json!({"languages": ["de", "en-US"]}));
    assert_eq!(changed(&mut rig, "language de"), None, "it is so already");
    rig.assert_not_heard(phrase!("link.terms"));
}

#[test]
fn a_change_that_is_taken_back_before_its_answer_is_asked_for_too() {
    let mut rig = Rig::new(TransportKind::EventStream);
    rig.agreed();
    changed(&mut rig, "load low").unwrap();
    let (_, change) = changed(&mut rig, "load medium").unwrap();
    assert_eq!(change, json!({"cognitive_load": "medium"}));
}

#[test]
fn a_source_is_asked_for_its_own_terms_and_for_no_change_of_the_others() {
    let announce = SourceAnnounce {
        verbosity: Some(Verbosity::Terse),
        load: Some(Load::Low),
        languages: Some(vec!["fr".into()]),
        quiet: false,
    };
    let handshake = HandshakeConfig {
        max_events_per_second: 3,
        exclude: vec!["aaep:agent.tool.*".into()],
        pace_wpm: Some(90),
        ..HandshakeConfig::default()
    };
    let source = source(announce, Some(handshake));
    let mut rig = Rig::of(source, Config::default(), SpeechMode::Speak);
    let (request, asked) = rig.subscribing();
    let asked = &asked["capabilities"];
    assert_eq!(asked["preferred_verbosity"], "terse");
    assert_eq!(asked["cognitive_load"], "low");
    assert_eq!(asked["languages"], json!(["fr"]));
    assert_eq!(asked["max_events_per_second"], 3);
    assert_eq!(asked["pace_wpm"], 90);
    assert_eq!(
        asked["event_filters"]["exclude"],
        json!(["aaep:agent.tool.*"])
    );
    rig.answer(request, 201, &consent(asked.clone()));
    rig.link(LinkEvent::Connected);
    for text in ["v", "load high", "language de", "rate 50"] {
        assert_eq!(changed(&mut rig, text), None, "{text}");
    }
}

#[test]
fn what_one_source_must_prove_others_need_not() {
    let handshake = HandshakeConfig {
        require_signed: true,
        ..HandshakeConfig::default()
    };
    let source = source(SourceAnnounce::default(), Some(handshake));
    let mut rig = Rig::of(source, Config::default(), SpeechMode::Silent);
    let (request, asked) = rig.subscribing();
    assert_eq!(asked["capabilities"]["accept_signed_manifests_only"], true);
    rig.answer(request, 404, &json!({}));
    assert!(rig.course().is_err(), "the plain pair proves nothing");
}

#[test]
fn what_changes_while_nobody_is_there_is_asked_for_when_somebody_is() {
    let mut rig = Rig::new(TransportKind::EventStream);
    rig.agreed();
    rig.link(LinkEvent::Lost {
        fault: Fault::Closed,
        retry_in: Duration::from_secs(1),
    });
    assert_eq!(changed(&mut rig, "v"), None);
    assert_eq!(changed(&mut rig, "load low"), None);
    rig.connect();
    assert!(matches!(
        rig.course(),
        Ok(Stream {
            every: None,
            may_be_forgotten: true,
            ..
        })
    ));
    rig.link(LinkEvent::Connected);
    let (_, change) = told(&mut rig).unwrap();
    assert_eq!(
        change,
        json!({"preferred_verbosity": "detailed", "cognitive_load": "low"})
    );
}

#[test]
fn what_changes_while_a_subscription_is_asked_for_is_asked_for_after_it() {
    let mut rig = Rig::new(TransportKind::EventStream);
    let (request, asked) = rig.subscribing();
    assert_eq!(changed(&mut rig, "load low"), None);
    rig.answer(request, 201, &consent(asked["capabilities"].clone()));
    rig.assert_not_heard(phrase!("link.terms"));
    rig.take();
    rig.link(LinkEvent::Connected);
    let (_, change) = told(&mut rig).unwrap();
    assert_eq!(change, json!({"cognitive_load": "low"}));
}

#[test]
fn on_one_connection_a_change_is_a_message_on_it() {
    let mut rig = Rig::new(TransportKind::Socket);
    rig.connect();
    rig.link(LinkEvent::Connected);
    let asked = rig.take().into_iter().find_map(|wish| match wish {
        Effect::Link {
            order: LinkOrder::Send { body, .. },
            ..
        } => Some(serde_json::from_str::<Value>(&body).unwrap()),
        _ => None,
    });
    let honored = asked.unwrap()["capabilities"].clone();
    assert_eq!(changed(&mut rig, "load low"), None, "nothing is agreed yet");
    let text = consent(honored).to_string();
    rig.link(LinkEvent::Frame(Frame::of(text)));
    let (_, change) = told(&mut rig).unwrap();
    assert_eq!(change, json!({"cognitive_load": "low"}));
}

#[test]
fn who_said_no_is_not_asked_the_same_again_and_who_was_not_reached_is() {
    let mut rig = Rig::new(TransportKind::EventStream);
    rig.agreed();
    let (request, _) = changed(&mut rig, "load low").unwrap();
    rig.answer(request, 400, &json!({"error": "no"}));
    rig.assert_heard(phrase!("link.change_failed", source = "one"));
    let (request, change) = changed(&mut rig, "v").unwrap();
    assert_eq!(change, json!({"preferred_verbosity": "detailed"}));
    rig.link(LinkEvent::Answered {
        request,
        outcome: Err(Fault::TimedOut),
    });
    let (_, change) = changed(&mut rig, "load high").unwrap();
    assert_eq!(
        change,
        json!({"preferred_verbosity": "detailed", "cognitive_load": "high"})
    );
}

#[test]
fn beside_a_stream_a_rejected_change_leads_to_a_new_subscription_when_the_stream_ends() {
    let mut rig = Rig::new(TransportKind::EventStream);
    rig.agreed();
    let (request, _) = changed(&mut rig, "load low").unwrap();
    let no = json!({"type": "subscription.rejected", "reason_code": "capabilities_incompatible",
        "reason_message": "No."});
    rig.answer(request, 200, &no);
    rig.assert_heard(phrase!("link.change_ended"));
    rig.link(LinkEvent::Lost {
        fault: Fault::Closed,
        retry_in: Duration::from_secs(1),
    });
    rig.take();
    let (_, asked) = rig.subscribing();
    assert_ne!(asked["capabilities"]["cognitive_load"], "low");
}

#[test]
fn another_language_tells_no_difference_a_second_time() {
    let mut rig = Rig::new(TransportKind::EventStream);
    let (request, asked) = rig.subscribing();
    let mut honored = asked["capabilities"].clone();
    honored["cognitive_load"] = json!("high");
    rig.answer(request, 201, &consent(honored.clone()));
    rig.link(LinkEvent::Connected);
    rig.assert_heard(phrase!("terms.load", honored = "high", asked = "medium"));
    let (request, change) = changed(&mut rig, "language de").unwrap();
    honored["languages"] = change["languages"].clone();
    rig.lines.clear();
    rig.answer(request, 200, &consent(honored));
    assert!(rig.lines.is_empty(), "{:?}", rig.lines);
}

#[test]
fn languages_that_are_not_kept_are_told_again_only_with_a_new_one() {
    let mut config = Config::default();
    config.announce.languages = vec!["en".into(), "de".into()];
    let mut rig = Rig::under(TransportKind::EventStream, config);
    let (request, asked) = rig.subscribing();
    let mut honored = asked["capabilities"].clone();
    honored["languages"] = json!(["en"]);
    rig.answer(request, 201, &consent(honored.clone()));
    rig.link(LinkEvent::Connected);
    rig.assert_heard(phrase!("terms.languages", honored = "en", asked = "en, de"));
    for (text, told) in [("language", 0), ("language en", 0), ("language fr", 1)] {
        let (request, _) = changed(&mut rig, text).unwrap();
        rig.lines.clear();
        rig.answer(request, 200, &consent(honored.clone()));
        assert_eq!(rig.lines.len(), told, "{text}: {:?}", rig.lines);
    }
}

#[test]
fn a_rate_that_was_lowered_stays_so_when_something_else_changes() {
    let mut config = Config::default();
    config.handshake.max_events_per_second = 4;
    let mut rig = Rig::under(TransportKind::EventStream, config);
    let (request, asked) = rig.subscribing();
    let mut honored = asked["capabilities"].clone();
    rig.answer(request, 201, &consent(honored.clone()));
    rig.link(LinkEvent::Connected);
    rig.take();
    for step in 0..40 {
        rig.event("progress.updated", json!({"percent_complete": step}));
    }
    let (request, change) = told(&mut rig).unwrap();
    assert_eq!(change, json!({"max_events_per_second": 2}));
    honored["max_events_per_second"] = json!(2);
    rig.answer(request, 200, &consent(honored));
    let (_, change) = changed(&mut rig, "v").unwrap();
    assert_eq!(change, json!({"preferred_verbosity": "detailed"}));
}

#[test]
fn a_gap_is_no_reproach_to_who_was_asked_to_leave_something_out() {
    for (exclude, reproach) in [
        (vec![], true),
        (vec!["aaep:agent.tool.*".to_owned()], false),
    ] {
        let handshake = HandshakeConfig {
            exclude,
            ..HandshakeConfig::default()
        };
        let source = source(SourceAnnounce::default(), Some(handshake));
        let mut rig = Rig::of(source, Config::default(), SpeechMode::Silent);
        rig.agreed();
        for number in [0, 5] {
            let step = format!("Step {number}");
            let fields = json!({"sequence_number": number, "summary_normal": step,
                                "from_state": "idle", "to_state": "thinking"});
            rig.event("state.changed", fields);
        }
        // Events that came early wait a moment for the ones before them.
        rig.now = rig.now.after(Duration::from_secs(5));
        rig.input(Input::Deadline);
        rig.assert_heard("Step 5");
        assert_eq!(
            rig.heard(phrase!("anomaly.sequence_gap")),
            reproach,
            "{:?}",
            rig.lines
        );
    }
}
