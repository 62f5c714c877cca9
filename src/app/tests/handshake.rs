//! The handshake: what is asked, in which order, and what the person is told of it.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::announce::{Manner, Phrases};
use crate::app::{Exit, Input, LineSource, Setup, SourceSetup, Until, VoiceWish};
use crate::config::Config;
use crate::keys::Keymap;
use crate::protocol::KeyRing;
use crate::transport::{Frame, LinkEvent};

/// Drives an app with one source and keeps what it wishes of the link.
struct Rig {
    app: App,
    now: Now,
    lines: Vec<String>,
    wishes: Vec<Effect>,
    count: u64,
}

const LINK: LinkId = LinkId(0);

impl Rig {
    fn new(door: Door) -> Self {
        Self::under(door, Config::default())
    }

    fn speaking(door: Door) -> Self {
        Self::with(door, Config::default(), VoiceWish::Speak)
    }

    fn under(door: Door, config: Config) -> Self {
        Self::with(door, config, VoiceWish::Silent)
    }

    fn with(door: Door, config: Config, voice: VoiceWish) -> Self {
        let app = App::new(Setup {
            config,
            phrases: Arc::new(Phrases::english().unwrap()),
            manner: Manner::Lines,
            keymap: Keymap::default(),
            scan: None,
            lines: Some(LineSource::Pipe),
            face: ("start.face.linear", "start.why.asked"),
            voice,
            until: Until::NoSource,
            keys: KeyRing::default(),
            seed: 7,
            sources: vec![SourceSetup {
                name: "one".into(),
                answerable: true,
                door,
                recording: None,
                program: false,
            }],
        });
        let now = Now {
            monotonic: Duration::from_secs(1),
            wall: "2026-01-01T00:00:00Z".parse().unwrap(),
        };
        let mut rig = Self {
            app,
            now,
            lines: vec![],
            wishes: vec![],
            count: 0,
        };
        rig.input(Input::Start);
        rig
    }

    fn input(&mut self, input: Input) {
        for effect in self.app.update(input, self.now) {
            match effect {
                Effect::Show(told) => self.lines.push(told.text()),
                Effect::Ask { .. }
                | Effect::Follow { .. }
                | Effect::LastWords { .. }
                | Effect::Send { .. }
                | Effect::Close(_)
                | Effect::Quit(_) => self.wishes.push(effect),
                Effect::Speak(_)
                | Effect::Hush
                | Effect::Reading { .. }
                | Effect::Bell
                | Effect::Notify(_)
                | Effect::Withdraw(_)
                | Effect::Farewell(_)
                | Effect::Remember(_)
                | Effect::Title(_)
                | Effect::FlushInput => {}
            }
        }
    }

    fn link(&mut self, event: LinkEvent) {
        self.input(Input::Link { link: LINK, event });
    }

    fn connect(&mut self) {
        self.link(LinkEvent::Connecting { attempt: 1 });
    }

    fn take(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.wishes)
    }

    /// Takes the one request that was made.
    fn asked(&mut self) -> (u64, Ask) {
        let wishes = self.take();
        let mut asks = wishes.into_iter().filter_map(|wish| match wish {
            Effect::Ask { request, ask, .. } => Some((request, ask)),
            _ => None,
        });
        let ask = asks.next().unwrap();
        assert_eq!(asks.next(), None);
        ask
    }

    fn answer(&mut self, request: u64, status: u16, body: &Value) {
        self.answer_text(request, status, body.to_string());
    }

    fn answer_text(&mut self, request: u64, status: u16, body: String) {
        self.link(LinkEvent::Answered {
            request,
            outcome: Ok(HttpAnswer {
                status,
                location: Some("/aaep/v1/events?subscription_id=sub_1".into()),
                retry_after: None,
                body,
            }),
        });
    }

    /// Goes on to the subscription, and gives its number and message.
    fn subscribing(&mut self) -> (u64, Value) {
        self.connect();
        let (request, ask) = self.asked();
        assert_eq!(ask, Ask::Manifest);
        self.answer(request, 404, &json!({}));
        self.subscription()
    }

    fn subscription(&mut self) -> (u64, Value) {
        match self.asked() {
            (request, Ask::Subscribe(body)) => (request, serde_json::from_str(&body).unwrap()),
            other => panic!("{other:?}"),
        }
    }

    /// Agrees to everything.
    fn agreed(&mut self) {
        let (request, asked) = self.subscribing();
        self.answer(request, 201, &consent(asked["capabilities"].clone()));
        self.take();
        self.link(LinkEvent::Connected);
    }

    fn course(&mut self) -> Course {
        let found = self.take().into_iter().find_map(|wish| match wish {
            Effect::Follow { course, .. } => Some(course),
            _ => None,
        });
        found.unwrap()
    }

    fn heard(&self, words: &str) -> bool {
        self.lines.iter().any(|line| line.contains(words))
    }

    fn event(&mut self, kind: &str, mut fields: Value) {
        let object = fields.as_object_mut().unwrap();
        for (key, value) in [
            ("@context", json!("https://aaep-protocol.org/context/v1")),
            ("type", json!(format!("aaep:agent.{kind}"))),
            ("event_id", json!(format!("evt_{}", self.count))),
            ("session_id", json!("sess_1")),
            ("timestamp", json!("2026-01-01T00:00:00Z")),
            ("producer", json!({"agent_id": "planner"})),
        ] {
            object.insert(key.into(), value);
        }
        self.count += 1;
        let text = fields.to_string();
        self.link(LinkEvent::Frame(Frame { text }));
    }
}

fn consent(honored: Value) -> Value {
    json!({
        "type": "subscription.accepted", "subscription_id": "sub_1", "aaep_version": "1.0.0",
        "producer": {"agent_id": "planner"}, "honored_capabilities": honored,
    })
}

fn rejection(code: &str) -> Value {
    json!({"type": "subscription.rejected", "reason_code": code, "reason_message": "not today"})
}

#[test]
fn the_handshake_comes_first_and_its_subscription_is_followed() {
    let mut rig = Rig::new(Door::Beside);
    let (request, asked) = rig.subscribing();
    assert_eq!(asked["subscriber_id"], "hearken");
    assert_eq!(asked["aaep_version"], "1.0.0");
    assert_eq!(asked["capabilities"].as_object().unwrap().len(), 12);
    rig.answer(request, 201, &consent(asked["capabilities"].clone()));
    assert_eq!(
        rig.course(),
        Course::Subscription {
            id: "sub_1".into(),
            location: Some("/aaep/v1/events?subscription_id=sub_1".into()),
            resumed: false,
        }
    );
    rig.link(LinkEvent::Connected);
    assert!(
        rig.heard("Connected to one, by a handshake."),
        "{:?}",
        rig.lines
    );
    assert!(!rig.heard("other terms"));
}

#[test]
fn a_server_without_a_handshake_is_followed_by_the_plain_pair() {
    for status in [404, 405, 400, 501, 200] {
        let mut rig = Rig::new(Door::Beside);
        let (request, _) = rig.subscribing();
        rig.answer(request, status, &json!({"detail": "Not Found"}));
        assert_eq!(rig.course(), Course::Plain, "{status}");
        rig.link(LinkEvent::Connected);
        assert!(rig.heard("Connected to one, without a handshake."));
    }
}

#[test]
fn a_server_that_is_shut_or_busy_is_not_gone_around() {
    for status in [401, 403, 429, 500, 503] {
        let mut rig = Rig::new(Door::Beside);
        let (request, _) = rig.subscribing();
        rig.answer(request, status, &json!({}));
        let fault = Fault::Status {
            status,
            retry_after: None,
        };
        assert_eq!(rig.course(), Course::Refused(fault));
    }
    let mut rig = Rig::new(Door::Beside);
    rig.connect();
    let (request, _) = rig.asked();
    rig.link(LinkEvent::Answered {
        request,
        outcome: Err(Fault::Refused),
    });
    assert_eq!(rig.course(), Course::Refused(Fault::Refused));
}

#[test]
fn each_refusal_has_its_words_and_its_wait() {
    for code in RejectionCode::ALL {
        let mut rig = Rig::new(Door::Beside);
        let (request, _) = rig.subscribing();
        let mut body = rejection(code.as_str());
        rig.answer(request, 403, &body);
        let Course::Refused(fault @ Fault::Rejected { .. }) = rig.course() else {
            panic!("{code:?}");
        };
        assert_eq!(fault.is_final(), code != RejectionCode::RateLimit);
        let words = rig.app.fault_words(&fault);
        assert!(words.len() > 20 && !words.contains("rejected."), "{words}");
        assert!(rig.heard("one says: not today"));
        // A wait that the producer names is kept, whatever the code.
        let mut rig = Rig::new(Door::Beside);
        let (request, _) = rig.subscribing();
        body["retry_after_seconds"] = json!(7);
        rig.answer(request, 503, &body);
        let Course::Refused(fault) = rig.course() else {
            panic!("{code:?}");
        };
        assert!(!fault.is_final());
        assert!(matches!(
            fault,
            Fault::Rejected {
                retry_after: Some(7),
                ..
            }
        ));
    }
}

#[test]
fn another_version_that_both_know_is_asked_for_once() {
    let mut rig = Rig::new(Door::Beside);
    rig.connect();
    let (request, _) = rig.asked();
    let manifest = json!({"type": "aaep:producer.manifest", "agent_id": "planner",
        "aaep_versions_supported": ["2.0.0", "1.1.0"]});
    rig.answer(request, 200, &manifest);
    let (request, asked) = rig.subscription();
    assert_eq!(asked["aaep_version"], "1.0.0");
    rig.answer(request, 400, &rejection("version_unsupported"));
    let (request, asked) = rig.subscription();
    assert_eq!(asked["aaep_version"], "1.1.0");
    rig.answer(request, 400, &rejection("version_unsupported"));
    assert!(matches!(
        rig.course(),
        Course::Refused(Fault::Rejected { again: false, .. })
    ));
}

#[test]
fn a_consent_in_a_strange_version_is_left() {
    let mut rig = Rig::new(Door::Beside);
    let (request, _) = rig.subscribing();
    let mut body = consent(json!({}));
    body["aaep_version"] = json!("2.0.0");
    rig.answer(request, 201, &body);
    assert!(matches!(
        rig.course(),
        Course::Refused(Fault::Rejected { again: false, .. })
    ));
}

#[test]
fn other_terms_are_told_once() {
    let mut rig = Rig::new(Door::Beside);
    let (request, asked) = rig.subscribing();
    let mut honored = asked["capabilities"].clone();
    honored["max_events_per_second"] = json!(3);
    rig.answer(request, 201, &consent(honored.clone()));
    let told = "one keeps other terms than you asked for: at most 3 messages a second, not 50.";
    assert!(rig.heard(told), "{:?}", rig.lines);
    rig.lines.clear();
    // A change that leaves the difference as it was says nothing anew.
    rig.link(LinkEvent::Connected);
    rig.take();
    line(&mut rig, "v");
    let (request, _) = rig.asked();
    honored["preferred_verbosity"] = json!("detailed");
    rig.answer(request, 200, &consent(honored));
    assert!(!rig.heard("other terms"), "{:?}", rig.lines);
}

fn line(rig: &mut Rig, text: &str) {
    let read = rig.now.monotonic;
    rig.input(Input::Line {
        text: text.into(),
        read,
    });
}

#[test]
fn a_change_of_verbosity_is_renegotiated_with_that_key_alone() {
    let mut rig = Rig::new(Door::Beside);
    rig.agreed();
    rig.take();
    line(&mut rig, "v");
    let (request, Ask::Tell(body)) = rig.asked() else {
        panic!("nothing told");
    };
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        body,
        json!({"type": "subscription.renegotiate", "subscription_id": "sub_1",
            "capabilities": {"preferred_verbosity": "detailed"}})
    );
    rig.answer(request, 400, &json!({"error": "no"}));
    assert!(rig.heard("one did not take the change of terms"));
}

#[test]
fn a_change_of_the_speech_rate_is_renegotiated_as_a_pace() {
    let mut rig = Rig::speaking(Door::Beside);
    rig.agreed();
    rig.take();
    line(&mut rig, "rate 50");
    let (_, Ask::Tell(body)) = rig.asked() else {
        panic!("nothing told");
    };
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["capabilities"], json!({"pace_wpm": 312}));
}

#[test]
fn a_stream_that_outruns_the_agreed_rate_is_asked_to_slow_down_once() {
    let mut config = Config::default();
    config.handshake.max_events_per_second = 4;
    let mut rig = Rig::under(Door::Beside, config);
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
    let (_, Ask::Tell(body)) = rig.asked() else {
        panic!("nothing told");
    };
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["capabilities"], json!({"max_events_per_second": 2}));
    assert!(rig.heard("one sends faster than it agreed to"));
}

#[test]
fn leaving_says_so_on_every_way_out() {
    let mut rig = Rig::new(Door::Beside);
    let (request, asked) = rig.subscribing();
    rig.answer(request, 201, &consent(asked["capabilities"].clone()));
    let words = rig.take().into_iter().find_map(|wish| match wish {
        Effect::LastWords { words, .. } => words,
        _ => None,
    });
    let words: Value = serde_json::from_str(&words.unwrap()).unwrap();
    assert_eq!(words["type"], "subscription.close");
    assert_eq!(words["subscription_id"], "sub_1");
}

#[test]
fn a_lost_stream_is_resumed_and_a_forgotten_one_asked_for_anew() {
    let mut rig = Rig::new(Door::Beside);
    rig.agreed();
    let lost = |fault| LinkEvent::Lost {
        fault,
        retry_in: Duration::from_millis(1),
    };
    rig.link(lost(Fault::Closed));
    rig.connect();
    assert!(matches!(
        rig.course(),
        Course::Subscription { resumed: true, .. }
    ));
    rig.link(lost(Fault::Status {
        status: 404,
        retry_after: None,
    }));
    rig.take();
    rig.connect();
    assert_eq!(rig.asked().1, Ask::Manifest);
}

/// Asks a question, loses the link and comes back; gives what is told from then on.
fn back_with_a_question(forgotten: bool) -> Rig {
    let mut rig = Rig::new(Door::Beside);
    rig.agreed();
    rig.link(LinkEvent::Connected);
    rig.event("session.started", json!({}));
    rig.event(
        "awaiting.confirmation",
        json!({"reply_token": "rpl_1", "action": "Send it", "consequence": "It is sent",
            "timeout_seconds": 600, "default_decision": "reject", "risk_level": "low",
            "reversibility": "reversible", "allowed_replies": ["accept", "reject"]}),
    );
    rig.now = rig.now.after(Duration::from_secs(30));
    rig.input(Input::Deadline);
    let lost = |fault| LinkEvent::Lost {
        fault,
        retry_in: Duration::from_millis(1),
    };
    rig.link(lost(Fault::Closed));
    rig.take();
    rig.connect();
    if forgotten {
        rig.link(lost(Fault::Status {
            status: 404,
            retry_after: None,
        }));
        rig.take();
        rig.connect();
        let (request, _) = rig.asked();
        rig.answer_text(request, 404, String::new());
        let (request, _) = rig.subscription();
        rig.answer(request, 201, &consent(json!({})));
    }
    rig.take();
    rig.link(LinkEvent::Connected);
    assert!(!rig.lines.iter().any(|line| line.contains("answered again")));
    rig.now = rig.now.after(Duration::from_secs(2));
    rig.input(Input::Deadline);
    rig
}

#[test]
fn a_server_that_takes_up_its_subscription_again_can_be_answered_without_another_word() {
    let mut rig = back_with_a_question(false);
    assert!(rig.lines.iter().any(|line| line.contains("answered again")));
    rig.now = rig.now.after(Duration::from_secs(30));
    rig.input(Input::Deadline);
    line(&mut rig, "n 1");
    let sent = rig.take();
    assert!(sent.iter().any(|wish| matches!(wish, Effect::Send { .. })));
}

#[test]
fn a_server_that_forgot_its_subscription_gets_no_answer_to_what_it_never_asked() {
    let mut rig = back_with_a_question(true);
    assert!(!rig.lines.iter().any(|line| line.contains("answered again")));
    rig.now = rig.now.after(Duration::from_secs(30));
    rig.input(Input::Deadline);
    line(&mut rig, "n 1");
    let sent = rig.take();
    assert!(!sent.iter().any(|wish| matches!(wish, Effect::Send { .. })));
}

#[test]
fn replies_carry_the_subscription_that_was_given() {
    let mut rig = Rig::new(Door::Beside);
    rig.agreed();
    rig.event("session.started", json!({}));
    rig.event(
        "awaiting.confirmation",
        json!({"reply_token": "rpl_1", "action": "Send it", "consequence": "It is sent",
            "timeout_seconds": 60, "default_decision": "reject", "risk_level": "low",
            "reversibility": "reversible", "allowed_replies": ["accept", "reject"]}),
    );
    rig.take();
    rig.now = rig.now.after(Duration::from_secs(30));
    rig.input(Input::Deadline);
    line(&mut rig, "n 1");
    let sent = rig.take().into_iter().find_map(|wish| match wish {
        Effect::Send { body, .. } => Some(body),
        _ => None,
    });
    let sent: Value = serde_json::from_str(&sent.unwrap()).unwrap();
    assert_eq!(sent["subscription_id"], "sub_1");
}

#[test]
fn on_one_connection_the_request_is_the_first_message_and_the_consent_no_event() {
    let mut rig = Rig::new(Door::Inside);
    rig.link(LinkEvent::Connected);
    let sent = rig.take();
    let [Effect::Send { body, .. }] = sent.as_slice() else {
        panic!("{sent:?}");
    };
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["type"], "subscription.request");
    let text = consent(body["capabilities"].clone()).to_string();
    rig.link(LinkEvent::Frame(Frame { text }));
    assert!(!rig.heard("can't be understood") && !rig.heard("other terms"));
    assert!(rig.heard("one has shaken hands."));
    line(&mut rig, "v");
    let sent = rig.take();
    assert!(
        sent.iter()
            .any(|wish| matches!(wish, Effect::Send { body, .. }
            if body.contains("subscription.renegotiate"))),
        "{sent:?}"
    );
    // The next connection starts anew: nothing is resumed there (B.2.5).
    rig.link(LinkEvent::Lost {
        fault: Fault::Closed,
        retry_in: Duration::ZERO,
    });
    rig.take();
    rig.link(LinkEvent::Connected);
    assert!(matches!(rig.take().as_slice(), [Effect::Send { .. }]));
}

#[test]
fn events_in_place_of_a_consent_are_taken_unless_proof_is_wanted() {
    let mut rig = Rig::new(Door::Inside);
    rig.link(LinkEvent::Connected);
    rig.event("session.started", json!({"summary_normal": "Off we go"}));
    assert!(rig.heard("one sends without a handshake.") && rig.heard("Off we go"));
    let mut config = Config::default();
    config.handshake.require_signed = true;
    let mut rig = Rig::under(Door::Inside, config);
    rig.link(LinkEvent::Connected);
    rig.event("session.started", json!({"summary_normal": "Off we go"}));
    assert!(rig.wishes.contains(&Effect::Close(LINK)));
    assert!(!rig.heard("Off we go"), "{:?}", rig.lines);
}

#[test]
fn a_refusal_on_one_connection_ends_the_link() {
    let mut rig = Rig::new(Door::Inside);
    rig.link(LinkEvent::Connected);
    rig.take();
    let text = rejection("authorization_denied").to_string();
    rig.link(LinkEvent::Frame(Frame { text }));
    assert!(rig.take().contains(&Effect::Close(LINK)));
    assert!(rig.heard("your token does not allow it"), "{:?}", rig.lines);
}

#[test]
fn a_wait_that_is_named_on_one_connection_is_kept_and_the_link_goes_on() {
    let mut rig = Rig::new(Door::Inside);
    rig.link(LinkEvent::Connected);
    rig.take();
    let mut body = rejection("rate_limit");
    body["retry_after_seconds"] = json!(7);
    rig.link(LinkEvent::Frame(Frame {
        text: body.to_string(),
    }));
    let Course::Refused(fault) = rig.course() else {
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
fn of_extensions_that_collide_the_later_one_is_left_out() {
    let addresses = [
        "https://a.example/haptic/context/v1",
        "https://b.example/medai/context/v1",
        "https://c.example/medai/context/v1",
        "https://d.example/other/v1",
    ];
    let mut config = Config::default();
    config.handshake.extensions = addresses.map(str::to_owned).to_vec();
    for door in [Door::Beside, Door::Inside] {
        let mut rig = Rig::under(door, config.clone());
        let mut collision = rejection("capabilities_incompatible");
        collision["reason_message"] = json!("Two extensions declare the prefix \"medai\".");
        let asked = match door {
            Door::Beside => {
                let (request, asked) = rig.subscribing();
                assert_eq!(
                    asked["capabilities"]["supported_extensions"],
                    json!(addresses)
                );
                rig.answer(request, 400, &collision);
                rig.subscription().1
            }
            Door::Inside | Door::Open => {
                rig.link(LinkEvent::Connected);
                rig.take();
                rig.link(LinkEvent::Frame(Frame {
                    text: collision.to_string(),
                }));
                assert!(matches!(
                    rig.course(),
                    Course::Refused(Fault::Rejected { again: true, .. })
                ));
                rig.link(LinkEvent::Connected);
                match rig.take().as_slice() {
                    [Effect::Send { body, .. }] => serde_json::from_str(body).unwrap(),
                    other => panic!("{other:?}"),
                }
            }
        };
        let left = json!([addresses[0], addresses[1], addresses[3]]);
        assert_eq!(asked["capabilities"]["supported_extensions"], left);
        assert!(rig.heard("It is asked again without https://c.example/medai/context/v1."));
    }
    // With one left there is nothing to resolve: it is a refusal.
    config.handshake.extensions.truncate(1);
    let mut rig = Rig::under(Door::Beside, config);
    let (request, _) = rig.subscribing();
    rig.answer(request, 400, &rejection("capabilities_incompatible"));
    assert!(matches!(rig.course(), Course::Refused(fault) if fault.is_final()));
}

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
    let pem = include_str!("../../../tests/fixtures/keys/rsa.pub.pem");
    keys.add("planner", None, pem).unwrap();
    let signed = include_str!("../../../tests/fixtures/keys/manifest.rs256.jws");
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

#[test]
fn a_silence_is_told_ever_more_rarely() {
    let mut rig = Rig::new(Door::Beside);
    rig.agreed();
    for minute in 1..=8 {
        rig.link(LinkEvent::Silent {
            seconds: minute * 60,
        });
    }
    let told = rig
        .lines
        .iter()
        .filter(|line| line.contains("Nothing has come from one for"))
        .count();
    assert_eq!(told, 4, "after 1, 2, 4 and 8 minutes");
    assert!(
        rig.take()
            .iter()
            .all(|wish| !matches!(wish, Effect::Close(_) | Effect::Quit(Exit::Clean)))
    );
}
