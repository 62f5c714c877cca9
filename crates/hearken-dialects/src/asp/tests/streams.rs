//! Whole streams through the translator: the output is valid whatever the input, and no question is lost.

use crate::Cx;
use proptest::prelude::*;

use crate::asp::Asp;
use crate::asp::handler::{Identity, tests::KEY};
use crate::every_language::EveryLanguage;
use crate::link::{DeliveryFailure, Fault, Frame, LinkEvent, Receipt};
use crate::protocol::{Answer, Reply, ReplyToken, Response, Severity};
use crate::{Dialect, DialectOutput, DialectSetup, SharedWording, TransportKind};
use hearken_core::inspect::Checker;

use super::*;

fn translator(identity: bool) -> Asp {
    let identity = identity.then(|| Identity::new("agent://home.example/person", KEY).unwrap());
    Asp::new(DialectSetup {
        carrier: TransportKind::WebSocket,
        identity,
        words: SharedWording::new(EveryLanguage::best_for(&[])),
        seed: 7,
        ..DialectSetup::unattended()
    })
}

/// Feeds the translator and keeps its output, checking each event.
pub(super) struct StreamRun {
    pub(super) asp: Asp,
    checker: Checker,
    pub(super) events: Vec<Value>,
    view_only: usize,
    pub(super) told: Vec<&'static str>,
    pub(super) sent: Vec<(u64, String)>,
    handed: Vec<(u64, String)>,
    settled: Vec<(u64, bool)>,
    pub(super) faults: Vec<String>,
    now: Now,
}

impl StreamRun {
    pub(super) fn new(identity: bool) -> Self {
        Self {
            asp: translator(identity),
            checker: Checker::new(),
            events: Vec::new(),
            view_only: 0,
            told: Vec::new(),
            sent: Vec::new(),
            handed: Vec::new(),
            settled: Vec::new(),
            faults: Vec::new(),
            now: at(0),
        }
    }

    fn after(&mut self, seconds: u64) {
        self.now = self.now.after(Duration::from_secs(seconds));
        let mut out = Vec::new();
        self.asp.tick(&mut Cx::new(self.now, &mut out));
        self.take(out);
    }

    fn news(&mut self, event: &LinkEvent) {
        let mut out = Vec::new();
        self.asp.news(event, &mut Cx::new(self.now, &mut out));
        self.take(out);
    }

    pub(super) fn frame(&mut self, text: impl ToString) {
        self.news(&LinkEvent::Frame(Frame::of(text.to_string())));
    }

    pub(super) fn reply(&mut self, request: u64, token: &str, choice: &str) {
        let reply = Reply {
            token: ReplyToken::new(token),
            answer: Answer::Response(Response::Text(choice.to_owned())),
            timestamp: self.now.wall,
            decided_by: "user:local".to_owned(),
        };
        let mut out = Vec::new();
        self.asp
            .reply(request, &reply, &mut Cx::new(self.now, &mut out));
        self.take(out);
    }

    fn take(&mut self, out: Vec<DialectOutput>) {
        for out in out {
            match out {
                DialectOutput::Event(text) | DialectOutput::ViewOnly(text) if text.is_empty() => {
                    panic!("empty")
                }
                DialectOutput::ViewOnly(text) => {
                    self.view_only += 1;
                    self.event(&text);
                }
                DialectOutput::Event(text) => self.event(&text),
                DialectOutput::Send { request, frame } => self.sent.push((request, frame)),
                DialectOutput::Hand { request, message } => self.handed.push((request, message)),
                DialectOutput::Settled { request, outcome } => {
                    self.settled.push((request, outcome.is_ok()))
                }
                DialectOutput::Announce(phrase) | DialectOutput::Detail(phrase) => {
                    self.told.push(phrase.key)
                }
                DialectOutput::Unread(..) | DialectOutput::Stepped(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    fn event(&mut self, text: &str) {
        for item in self.checker.line(text) {
            if item.severity == Severity::Error {
                self.faults.push(format!("{item:?}\n{text}"));
            }
        }
        self.events.push(serde_json::from_str(text).unwrap());
    }

    pub(super) fn last_token(&self) -> String {
        let asked = self
            .events
            .iter()
            .rev()
            .find(|event| event["reply_token"].is_string());
        asked.unwrap()["reply_token"].as_str().unwrap().to_owned()
    }

    fn kinds(&self) -> Vec<&str> {
        self.events
            .iter()
            .map(|event| {
                event["type"]
                    .as_str()
                    .unwrap()
                    .trim_start_matches("aaep:agent.")
            })
            .collect()
    }
}

pub(super) fn wire(session: &str, sender: &str, performative: &str, body: Value) -> Value {
    json!({"version": "asp/0.1", "sessionId": session, "sender": {"agentId": sender}, "performative": performative,
        "messageId": format!("{session}-{sender}-{performative}-{body}"), "timestamp": at(0).wall.to_string(),
        "content": {"mimeType": "application/json", "body": body}})
}

pub(super) fn escalated(run: &mut StreamRun) {
    for (sender, performative, body) in [
        (
            BUYER,
            "PROPOSE",
            json!({"type": "session-invitation", "subject": "Widgets", "terms": {"proposed_duration": 3600}}),
        ),
        (SELLER, "ACCEPT", json!({})),
        (BUYER, "INFORM", json!({"informType": "identity"})),
        (SELLER, "INFORM", json!({"informType": "identity"})),
        (
            BUYER,
            "PROPOSE",
            json!({"subject": "500 widgets", "terms": {"price": 12}}),
        ),
        (
            SELLER,
            "ESCALATE",
            json!({"reason": "The price is below my limit.", "urgency": "high", "timeout": 600}),
        ),
    ] {
        run.frame(wire("s1", sender, performative, body));
    }
}

#[test]
fn an_escalation_is_a_handoff_and_a_question_with_its_timeout() {
    let mut run = StreamRun::new(true);
    escalated(&mut run);
    assert_eq!(run.faults, [] as [String; 0]);
    let kinds = run.kinds();
    assert_eq!(kinds[0], "session.started");
    assert_eq!(
        kinds[kinds.len() - 3..],
        [
            "handoff.requested",
            "state.changed",
            "awaiting.clarification"
        ]
    );
    let handoff = &run.events[run.events.len() - 3];
    assert_eq!(
        handoff["reason"],
        "widgets.example seller calls for a person. The session is paused."
    );
    assert_eq!(
        handoff["packaged_context"]["reason"],
        "The price is below my limit."
    );
    assert_eq!(handoff["urgency_for_handoff"], "high");
    let asked = run.events.last().unwrap();
    assert_eq!(asked["timeout_seconds"], 600);
    assert_eq!(
        asked["question"],
        "widgets.example seller wants a person to decide. How should the session go on?"
    );
    let values: Vec<_> = asked["choices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["value"])
        .collect();
    assert_eq!(values, ["resume", "close", "later"]);
    assert_eq!(
        asked["choices"][0]["label"],
        "Resume, and it is negotiating again"
    );
    assert!(
        asked["question_de"]
            .as_str()
            .unwrap()
            .contains("ein Mensch")
    );
    assert_eq!(run.view_only, 0);
    assert_eq!(run.told, [] as [&str; 0]);
}

#[test]
fn without_an_identity_a_question_is_only_seen_and_that_is_said_first() {
    let mut run = StreamRun::new(false);
    escalated(&mut run);
    assert_eq!((run.view_only, run.told[0]), (1, "asp.view_only"));
    let token = run.last_token();
    run.reply(1, &token, "resume");
    assert_eq!((run.settled.clone(), run.sent.len()), (vec![(1, false)], 0));
}

#[test]
fn the_decision_goes_out_byte_for_byte_and_the_session_goes_on() {
    let mut run = StreamRun::new(true);
    escalated(&mut run);
    let token = run.last_token();
    run.reply(1, &token, "resume");
    let (request, frame) = run.sent[0].clone();
    assert_eq!(request, 1);
    let sent: Value = serde_json::from_str(&frame).unwrap();
    let id = sent["messageId"].as_str().unwrap();
    assert_eq!((id.len(), &id[14..15]), (36, "7"));
    let body = r#"{"agentId":"agent://widgets.example/seller"},"performative":"INFORM","content":{"mimeType":"application/json","body":{"informType":"resolution","resolution":"resume"}}"#;
    assert!(frame.contains(body), "{frame}");
    assert!(
        frame.starts_with(r#"{"version":"asp/0.1","messageId":""#),
        "{frame}"
    );
    run.news(&LinkEvent::Replied {
        request: 1,
        outcome: Err(DeliveryFailure::Kept(Fault::Closed)),
    });
    run.reply(2, &token, "resume");
    assert_eq!(run.sent[1], (2, frame));
    run.news(&LinkEvent::Replied {
        request: 2,
        outcome: Ok(Receipt::Written),
    });
    assert_eq!(run.settled, [(1, false), (2, true)]);
    let last = run.events.last().unwrap();
    assert_eq!(
        (&last["from_state"], &last["to_state"]),
        (&json!("awaiting_input"), &json!("conversing"))
    );
    assert_eq!(run.faults, [] as [String; 0]);
}

#[test]
fn a_handler_is_told_the_decision_and_says_it_in_the_session_itself() {
    let mut run = StreamRun::new(false);
    run.asp = Asp::new(DialectSetup {
        carrier: TransportKind::WebSocket,
        handler: true,
        words: SharedWording::new(EveryLanguage::best_for(&[])),
        seed: 7,
        ..DialectSetup::unattended()
    });
    escalated(&mut run);
    assert_eq!((run.view_only, run.told.len()), (0, 0));
    let token = run.last_token();
    run.reply(1, &token, "resume");
    let (_, message) = run.handed[0].clone();
    let told: Value = serde_json::from_str(&message).unwrap();
    assert_eq!(
        (
            &told["sessionId"],
            &told["recipient"]["agentId"],
            &told["performative"]
        ),
        (&json!("s1"), &json!(SELLER), &json!("INFORM"))
    );
    assert_eq!(
        told["content"]["body"],
        json!({"informType": "resolution", "resolution": "resume"})
    );
    for own in ["sender", "sequenceNumber", "integrity"] {
        assert_eq!(told[own], Value::Null, "{own} is the handler's to give");
    }
    run.news(&LinkEvent::Replied {
        request: 1,
        outcome: Err(DeliveryFailure::Kept(Fault::Closed)),
    });
    run.reply(2, &token, "resume");
    assert_eq!(run.handed[1], (2, message));
    let before = run.events.len();
    run.news(&LinkEvent::Replied {
        request: 2,
        outcome: Ok(Receipt::Taken),
    });
    assert_eq!(run.settled, [(1, false), (2, true)]);
    assert_eq!(run.events.len(), before, "the session has not moved yet");
    let body = json!({"informType": "resolution", "resolution": "resume"});
    run.frame(wire("s1", "agent://desk.example/handler", "INFORM", body));
    let last = run.events.last().unwrap();
    assert_eq!(
        (&last["from_state"], &last["to_state"]),
        (&json!("awaiting_input"), &json!("conversing"))
    );
    assert_eq!((run.sent.len(), run.faults.len()), (0, 0));
}

#[test]
fn a_close_is_sent_framed_and_counts_when_the_server_took_it() {
    let mut run = StreamRun::new(true);
    run.frame(json!({"type": "auth_ok", "sessionId": "s1", "state": "IDLE", "participants": [BUYER, SELLER]}));
    escalated(&mut run);
    let token = run.last_token();
    run.reply(1, &token, "close");
    let frame: Value = serde_json::from_str(&run.sent[0].1).unwrap();
    assert_eq!(frame["type"], "send");
    assert_eq!(frame["envelope"]["performative"], "CLOSE");
    assert_eq!(
        frame["envelope"]["content"]["body"]["reason"],
        "closed by the person it was escalated to"
    );
    run.news(&LinkEvent::Replied {
        request: 1,
        outcome: Ok(Receipt::Written),
    });
    assert_eq!(run.settled, []);
    run.frame(json!({"type": "ack", "messageId": frame["envelope"]["messageId"]}));
    assert_eq!(run.settled, [(1, true)]);
    assert_eq!(run.kinds().last(), Some(&"session.completed"));
    // The server's copy of it is no news, nor is the report of its state.
    let events = run.events.len();
    run.frame(json!({"type": "message", "envelope": frame["envelope"]}));
    run.frame(json!({"type": "session_state", "state": "CLOSED"}));
    assert_eq!(run.events.len(), events);
    assert_eq!(run.faults, [] as [String; 0]);
}

#[test]
fn later_sends_nothing_and_asks_again_with_the_time_that_is_left() {
    let mut run = StreamRun::new(true);
    escalated(&mut run);
    let token = run.last_token();
    run.reply(1, &token, "later");
    assert_eq!((run.settled.clone(), run.sent.len()), (vec![(1, true)], 0));
    run.reply(2, &token, "resume");
    assert_eq!(
        run.settled[1],
        (2, false),
        "the question that is put off is over"
    );
    run.after(300);
    assert_ne!(run.last_token(), token);
    let asked = run.events.last().unwrap();
    assert_eq!(asked["timeout_seconds"], 300);
    assert_eq!(run.faults, [] as [String; 0]);
}

#[test]
fn a_session_that_waits_already_when_we_come_asks_too() {
    let mut run = StreamRun::new(true);
    run.frame(json!({"type": "auth_ok", "sessionId": "s1", "state": "ESCALATED", "participants": [BUYER, SELLER]}));
    assert_eq!(
        run.kinds(),
        [
            "handoff.requested",
            "state.changed",
            "awaiting.clarification"
        ]
    );
    assert!(
        run.events[2].get("timeout_seconds").is_none(),
        "since when it waits is not known"
    );
    assert_eq!(run.faults, [] as [String; 0]);
}

#[test]
fn a_commitment_and_what_makes_it_binding_are_critical_and_ask_nothing() {
    let mut run = StreamRun::new(true);
    for message in way_to(State::Executing) {
        let mut value = wire(
            "s",
            &message.sender,
            message.performative.unwrap().name(),
            json!({"terms": {"price": 3}, "subject": "Widgets"}),
        );
        if message.invites() {
            value["content"]["body"]["type"] = json!("session-invitation");
        }
        if message.informs == crate::asp::performatives::Informs::Identity {
            value["content"]["body"]["informType"] = json!("identity");
        }
        value["messageId"] = json!(run.events.len());
        run.frame(value);
    }
    let critical: Vec<&str> = run
        .events
        .iter()
        .filter(|event| event["urgency"] == "critical")
        .map(|event| event["summary_terse"].as_str().unwrap())
        .collect();
    assert_eq!(
        critical,
        [
            "acme.example buyer commits itself; binding once accepted: Widgets. Terms: price 3.",
            "widgets.example seller accepted; binding now: Widgets."
        ]
    );
    assert!(
        run.events
            .iter()
            .all(|event| event.get("reply_token").is_none())
    );
    assert_eq!(run.faults, [] as [String; 0]);
}

#[test]
fn every_performative_has_words_of_its_own_at_three_verbosities_in_every_language() {
    use crate::Wording;
    let words = EveryLanguage::best_for(&[]);
    let mut all = std::collections::BTreeSet::new();
    for performative in Performative::ALL {
        let key = crate::asp::report_phrases::plain(*performative);
        for said in words.say(
            key,
            &[
                ("sender", "widgets.example seller"),
                ("recipient", "acme.example buyer"),
                ("about", "A"),
                ("reason", "W"),
                ("terms", "T"),
            ],
        ) {
            for text in [&said.terse, &said.normal, &said.detailed] {
                assert!(
                    text.len() > 2 && text.ends_with('.') && !text.contains(".."),
                    "{key}: {text}"
                );
            }
            assert!(
                said.terse.len() <= said.normal.len()
                    && said.normal.len() <= said.detailed.len() + 8,
                "{said:?}"
            );
            assert!(all.insert(said.normal), "{key} sounds like another");
        }
    }
}

#[derive(Debug, Clone)]
enum LinkHappening {
    Message {
        session: u8,
        sender: u8,
        performative: usize,
        body: usize,
        number: Option<u64>,
        chain: u8,
        limit: Option<u32>,
    },
    Frame(usize),
    Wait(u64),
    Reply(usize),
    Outcome(bool),
    Lost,
    Noise(String),
}

fn bodies() -> Vec<Value> {
    let mut bodies = vec![
        json!({}),
        json!({"type": "session-invitation", "subject": "x", "terms": {"proposed_duration": 60}}),
        json!({"reason": "because", "urgency": "high", "timeout": 90}),
        json!({"reason": "unilateral"}),
        json!({"code": "invalid_state_transition", "reason": "order"}),
        json!({"terms": {"a": [1, {"b": "\u{202e}c"}]}, "commitmentId": "c1"}),
        json!({"commitmentId": "c2", "subject": "\u{0}\u{1b}[31m" }),
        json!({"timeout": 1_000_000_000, "reason": "x".repeat(5000), "urgency": "purple"}),
        json!("only text"),
        json!(null),
    ];
    for kind in [
        "identity",
        "progress",
        "result",
        "error",
        "resolution",
        "gossip",
    ] {
        bodies.push(json!({"informType": kind, "recoverable": kind != "error", "summary": kind}));
    }
    bodies
}

fn things() -> impl Strategy<Value = Vec<LinkHappening>> {
    let message = (
        0..3_u8,
        0..4_u8,
        0..15_usize,
        0..16_usize,
        prop::option::of(0..9_u64),
        0..4_u8,
        prop::option::of(0..9000_u32),
    )
        .prop_map(
            |(session, sender, performative, body, number, chain, limit)| LinkHappening::Message {
                session,
                sender,
                performative,
                body,
                number,
                chain,
                limit,
            },
        );
    let thing = prop_oneof![
        12 => message,
        3 => (0..11_usize).prop_map(LinkHappening::Frame),
        2 => (0..4000_u64).prop_map(LinkHappening::Wait),
        2 => (0..4_usize).prop_map(LinkHappening::Reply),
        1 => any::<bool>().prop_map(LinkHappening::Outcome),
        1 => Just(LinkHappening::Lost),
        1 => "\\PC{0,40}".prop_map(LinkHappening::Noise),
    ];
    prop::collection::vec(thing, 0..60)
}

fn state_frame(at: usize) -> Value {
    match State::ALL.get(at) {
        Some(state) => json!({"type": "session_state", "sessionId": "s1", "state": state.name()}),
        None if at == 9 => json!({"type": "error", "code": "oops", "message": "no"}),
        None => json!({"type": "heartbeat", "state": "CONVERSING"}),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::tests::runs(50), ..ProptestConfig::default() })]

    #[test]
    fn whatever_comes_what_goes_on_is_valid_and_no_question_is_lost(things in things(), identity: bool) {
        let mut run = StreamRun::new(identity);
        let bodies = bodies();
        let mut replies = 0;
        for (at, thing) in things.into_iter().enumerate() {
            match thing {
                LinkHappening::Message { session, sender, performative, body, number, chain, limit } => {
                    let name = Performative::ALL.get(performative).map_or("PURPLE", |it| it.name());
                    let mut value = wire(&format!("s{session}"), &format!("agent://x.example/{sender}"), name, bodies[body].clone());
                    value["messageId"] = json!(format!("m{}", if chain == 3 { 0 } else { at }));
                    value["sequenceNumber"] = json!(number);
                    value["integrity"] = json!({"hash": format!("h{at}"), "previousHash": format!("h{}", at.saturating_sub(chain.into()))});
                    value["constraints"] = json!({"maxResponseTimeMs": limit});
                    value["timestamp"] = json!(run.now.wall.to_string());
                    run.frame(value);
                }
                LinkHappening::Frame(which) => run.frame(state_frame(which)),
                LinkHappening::Wait(seconds) => run.after(seconds),
                LinkHappening::Reply(which) => {
                    let asked = run.events.iter().rev().find_map(|event| event["reply_token"].as_str());
                    if let Some(token) = asked.map(str::to_owned) {
                        replies += 1;
                        run.reply(replies, &token, ["resume", "close", "later", "purple"][which]);
                    }
                }
                LinkHappening::Outcome(good) => {
                    let outcome = if good { Ok(Receipt::Written) } else { Err(DeliveryFailure::Kept(Fault::Closed)) };
                    run.news(&LinkEvent::Replied { request: replies, outcome });
                }
                LinkHappening::Lost => run.news(&LinkEvent::Lost { fault: Fault::Closed, retry_in: Duration::ZERO }),
                LinkHappening::Noise(text) => run.frame(text),
            }
            prop_assert!(run.faults.is_empty(), "{}", run.faults[0]);
            for (waits, asked) in run.asp.waiting() {
                prop_assert!(!waits || asked, "a session waits for a person and nobody is asked");
            }
            // An answer is settled at most once.
            for request in 1..=replies {
                prop_assert!(run.settled.iter().filter(|(of, _)| *of == request).count() <= 1);
            }
        }
    }
}
