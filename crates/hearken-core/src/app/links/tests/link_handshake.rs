//! The handshake: what is requested, in which order, and what is announced to the person.

use std::sync::Arc;
use std::time::Duration;

use hearken_wording::{Transcript, phrase};
use serde_json::{Value, json};

use crate::announce::{Announcement, AnswerMethod, Phrases};
use crate::app::{
    App, Effect, EndCondition, Exit, Input, LineSource, LinkOrder, Setup, SourceSetup, SpeechMode,
};
use crate::config::Config;
use crate::dialect::TransportKind;
use crate::keys::Keymap;
use crate::link::{
    Address, Fault, Frame, HttpAnswer, HttpCall, LastWords, LinkEvent, LinkId, Stream,
};
use crate::protocol::{KeyRing, Now, RejectionCode};

#[path = "link_handshake/announced_terms.rs"]
mod announced_terms;
#[path = "link_handshake/changed_terms.rs"]
mod changed_terms;
#[path = "link_handshake/fallback_ways.rs"]
mod fallback_ways;
#[path = "link_handshake/one_connection.rs"]
mod one_connection;
#[path = "link_handshake/proven_agents.rs"]
mod proven_agents;
#[path = "link_handshake/resuming.rs"]
mod resuming;

/// Drives an app with one source and keeps its orders to the link.
struct Rig {
    app: App,
    now: Now,
    lines: Vec<String>,
    wishes: Vec<Effect>,
    count: u64,
}

const LINK: LinkId = LinkId(0);

/// The path of the manifest.
const MANIFEST: &str = "/.well-known/aaep-manifest.json";

/// The path for replies to a subscription, and for everything else that is sent to it.
const REPLIES: &str = "/aaep/v1/replies";

/// Returns the body of a request.
fn message(call: &HttpCall) -> Value {
    serde_json::from_str(&call.body.as_ref().unwrap().text).unwrap()
}

impl Transcript for Rig {
    fn lines(&self) -> Vec<&str> {
        self.lines.iter().map(String::as_str).collect()
    }
}

impl Rig {
    fn new(carrier: TransportKind) -> Self {
        Self::under(carrier, Config::default())
    }

    fn speaking(carrier: TransportKind) -> Self {
        Self::with(carrier, Config::default(), SpeechMode::Speak)
    }

    fn under(carrier: TransportKind, config: Config) -> Self {
        Self::with(carrier, config, SpeechMode::Silent)
    }

    fn with(carrier: TransportKind, config: Config, voice: SpeechMode) -> Self {
        Self::knowing(KeyRing::default(), carrier, config, voice)
    }

    fn knowing(keys: KeyRing, carrier: TransportKind, config: Config, voice: SpeechMode) -> Self {
        let source = SourceSetup {
            name: "one".into(),
            answerable: true,
            carrier,
            ..SourceSetup::default()
        };
        Self::holding(keys, source, config, voice)
    }

    fn of(source: SourceSetup, config: Config, voice: SpeechMode) -> Self {
        Self::holding(KeyRing::default(), source, config, voice)
    }

    fn holding(keys: KeyRing, source: SourceSetup, config: Config, voice: SpeechMode) -> Self {
        let app = App::new(Setup {
            config,
            phrases: Arc::new(Phrases::english().unwrap()),
            manner: AnswerMethod::Lines,
            copies: true,
            keymap: Keymap::default(),
            scan: None,
            lines: Some(LineSource::Pipe),
            face: ("start.face.linear", "start.why.asked"),
            voice,
            until: EndCondition::NoSource,
            keys,
            seed: 7,
            is_recorded: true,
            sources: vec![source],
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
        let at = self.now.monotonic;
        for told in self.feed(input) {
            self.feed(Input::Written {
                announcement: told,
                at,
            });
        }
    }

    /// Feeds a fact, and returns the announcements to write.
    fn feed(&mut self, input: Input) -> Vec<Arc<Announcement>> {
        let mut shown = Vec::new();
        for effect in self.app.update(input, self.now) {
            match effect {
                Effect::Show(told) => {
                    self.lines.push(told.text());
                    shown.push(told);
                }
                Effect::Link { .. } | Effect::Quit(_) => self.wishes.push(effect),
                Effect::Speak(_)
                | Effect::Hush
                | Effect::Keep { .. }
                | Effect::Bell
                | Effect::Copy(_)
                | Effect::Notify(_)
                | Effect::Withdraw(_)
                | Effect::Farewell(_)
                | Effect::Remember(_)
                | Effect::Title(_)
                | Effect::Edit { .. }
                | Effect::FlushInput => {}
            }
        }
        shown
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

    /// Returns the single request that was made.
    fn asked(&mut self) -> (u64, HttpCall) {
        let wishes = self.take();
        let mut asks = wishes.into_iter().filter_map(|wish| match wish {
            Effect::Link {
                order: LinkOrder::Call { request, call },
                ..
            } => Some((request, call)),
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

    /// Proceeds to the subscription, and returns its number and message.
    fn subscribing(&mut self) -> (u64, Value) {
        self.connect();
        let (request, call) = self.asked();
        assert_eq!(call.path, MANIFEST);
        self.answer(request, 404, &json!({}));
        self.subscription()
    }

    fn subscription(&mut self) -> (u64, Value) {
        let (request, call) = self.asked();
        assert_eq!(call.path, "/aaep/v1/subscriptions");
        (request, message(&call))
    }

    /// Consents to everything.
    fn agreed(&mut self) {
        let (request, asked) = self.subscribing();
        self.answer(request, 201, &consent(asked["capabilities"].clone()));
        self.take();
        self.link(LinkEvent::Connected);
    }

    /// Returns the stream that the attempt follows, or why it failed.
    fn course(&mut self) -> Result<Stream, Fault> {
        let found = self.take().into_iter().find_map(|wish| match wish {
            Effect::Link {
                order: LinkOrder::Follow(stream),
                ..
            } => Some(Ok(stream)),
            Effect::Link {
                order: LinkOrder::Refuse(fault),
                ..
            } => Some(Err(fault)),
            _ => None,
        });
        found.unwrap()
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
        self.link(LinkEvent::Frame(Frame::of(text)));
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

fn line(rig: &mut Rig, text: &str) {
    let read = rig.now.monotonic;
    rig.input(Input::Line {
        text: text.into(),
        read,
    });
}

#[test]
fn the_handshake_comes_first_and_its_subscription_is_followed() {
    let mut rig = Rig::new(TransportKind::EventStream);
    let (request, asked) = rig.subscribing();
    assert_eq!(asked["subscriber_id"], "hearken");
    assert_eq!(asked["aaep_version"], "1.0.0");
    assert_eq!(asked["capabilities"].as_object().unwrap().len(), 12);
    rig.answer(request, 201, &consent(asked["capabilities"].clone()));
    assert_eq!(
        rig.course(),
        Ok(Stream {
            replies: Some(REPLIES.into()),
            probe: Some(MANIFEST.into()),
            ..Stream::at(Address::Named(
                "/aaep/v1/events?subscription_id=sub_1".into()
            ))
        })
    );
    rig.link(LinkEvent::Connected);
    rig.assert_heard(phrase!(
        "link.connected",
        source = "one",
        how = "by a handshake"
    ));
    rig.assert_not_heard(phrase!("link.terms"));
}

#[test]
fn a_server_without_a_handshake_is_followed_by_the_plain_pair() {
    for status in [404, 405, 400, 501, 200] {
        let mut rig = Rig::new(TransportKind::EventStream);
        let (request, _) = rig.subscribing();
        rig.answer(request, status, &json!({"detail": "Not Found"}));
        let followed = rig.course().unwrap();
        assert_eq!(followed.at, Address::Path("/events".into()), "{status}");
        assert_eq!(followed.replies, Some("/messages".into()), "{status}");
        rig.link(LinkEvent::Connected);
        rig.assert_heard(phrase!(
            "link.connected",
            source = "one",
            how = "without a handshake"
        ));
    }
}

#[test]
fn a_server_that_is_shut_or_busy_is_not_gone_around() {
    for status in [401, 403, 429, 500, 503] {
        let mut rig = Rig::new(TransportKind::EventStream);
        let (request, _) = rig.subscribing();
        rig.answer(request, status, &json!({}));
        let fault = Fault::Status {
            status,
            retry_after: None,
        };
        assert_eq!(rig.course(), Err(fault));
    }
    let mut rig = Rig::new(TransportKind::EventStream);
    rig.connect();
    let (request, _) = rig.asked();
    rig.link(LinkEvent::Answered {
        request,
        outcome: Err(Fault::Refused),
    });
    assert_eq!(rig.course(), Err(Fault::Refused));
}

#[test]
fn each_refusal_has_its_words_and_its_wait() {
    for code in RejectionCode::ALL {
        let mut rig = Rig::new(TransportKind::EventStream);
        let (request, _) = rig.subscribing();
        let mut body = rejection(code.as_str());
        rig.answer(request, 403, &body);
        let Err(fault @ Fault::Rejected { .. }) = rig.course() else {
            panic!("{code:?}");
        };
        assert_eq!(fault.is_final(), code != RejectionCode::RateLimit);
        let words = rig.app.cx.fault_words(&fault);
        assert!(words.len() > 20 && !words.contains("rejected."), "{words}");
        rig.assert_heard("one says: not today");
        // A waiting time from the producer is respected, whatever the code.
        let mut rig = Rig::new(TransportKind::EventStream);
        let (request, _) = rig.subscribing();
        body["retry_after_seconds"] = json!(7);
        rig.answer(request, 503, &body);
        let Err(fault) = rig.course() else {
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
    let mut rig = Rig::new(TransportKind::EventStream);
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
        Err(Fault::Rejected { again: false, .. })
    ));
}

#[test]
fn a_consent_in_a_strange_version_is_left() {
    let mut rig = Rig::new(TransportKind::EventStream);
    let (request, _) = rig.subscribing();
    let mut body = consent(json!({}));
    body["aaep_version"] = json!("2.0.0");
    rig.answer(request, 201, &body);
    assert!(matches!(
        rig.course(),
        Err(Fault::Rejected { again: false, .. })
    ));
}

#[test]
fn leaving_says_so_on_every_way_out() {
    let mut rig = Rig::new(TransportKind::EventStream);
    let (request, asked) = rig.subscribing();
    rig.answer(request, 201, &consent(asked["capabilities"].clone()));
    let words = rig.take().into_iter().find_map(|wish| match wish {
        Effect::Link {
            order: LinkOrder::LastWords(words),
            ..
        } => words,
        _ => None,
    });
    let Some(LastWords::Call(call)) = words else {
        panic!("nothing is said");
    };
    assert_eq!(call.path, REPLIES);
    let words = message(&call);
    assert_eq!(words["type"], "subscription.close");
    assert_eq!(words["subscription_id"], "sub_1");
}

#[test]
fn replies_carry_the_subscription_that_was_given() {
    let mut rig = Rig::new(TransportKind::EventStream);
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
        Effect::Link {
            order: LinkOrder::Send { body, .. },
            ..
        } => Some(body),
        _ => None,
    });
    let sent: Value = serde_json::from_str(&sent.unwrap()).unwrap();
    assert_eq!(sent["subscription_id"], "sub_1");
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
    for carrier in [TransportKind::EventStream, TransportKind::Socket] {
        let mut rig = Rig::under(carrier, config.clone());
        let mut collision = rejection("capabilities_incompatible");
        collision["reason_message"] = json!("Two extensions declare the prefix \"medai\".");
        let asked = match carrier {
            TransportKind::EventStream => {
                let (request, asked) = rig.subscribing();
                assert_eq!(
                    asked["capabilities"]["supported_extensions"],
                    json!(addresses)
                );
                rig.answer(request, 400, &collision);
                rig.subscription().1
            }
            _ => {
                rig.link(LinkEvent::Connected);
                rig.take();
                rig.link(LinkEvent::Frame(Frame::of(collision.to_string())));
                assert!(matches!(
                    rig.course(),
                    Err(Fault::Rejected { again: true, .. })
                ));
                rig.link(LinkEvent::Connected);
                match rig.take().as_slice() {
                    [
                        Effect::Link {
                            order: LinkOrder::Send { body, .. },
                            ..
                        },
                    ] => serde_json::from_str(body).unwrap(),
                    other => panic!("{other:?}"),
                }
            }
        };
        let left = json!([addresses[0], addresses[1], addresses[3]]);
        assert_eq!(asked["capabilities"]["supported_extensions"], left);
        rig.assert_heard(phrase!(
            "link.extension_left_out",
            extension = "https://c.example/medai/context/v1"
        ));
    }
    // With only one left there is nothing to resolve, so it is a refusal.
    config.handshake.extensions.truncate(1);
    let mut rig = Rig::under(TransportKind::EventStream, config);
    let (request, _) = rig.subscribing();
    rig.answer(request, 400, &rejection("capabilities_incompatible"));
    assert!(matches!(rig.course(), Err(fault) if fault.is_final()));
}

#[test]
fn a_silence_is_told_ever_more_rarely() {
    let mut rig = Rig::new(TransportKind::EventStream);
    rig.agreed();
    for minute in 1..=8 {
        rig.link(LinkEvent::Silent {
            seconds: minute * 60,
        });
    }
    let told = rig
        .lines
        .iter()
        .filter(|line| phrase!("link.silent", source = "one").is_in(line))
        .count();
    assert_eq!(told, 4, "after 1, 2, 4 and 8 minutes");
    let ends = |wish: &Effect| {
        matches!(
            wish,
            Effect::Link {
                order: LinkOrder::Close,
                ..
            } | Effect::Quit(Exit::Clean)
        )
    };
    assert!(!rig.take().iter().any(ends));
}
