//! The machine on its own: its outputs, before anything puts them into words.

use crate::Cx;
use serde_json::{Value, json};

use super::*;
use crate::config::{Load, Verbosity};
use crate::link::{Fault, Frame, HttpAnswer, HttpCall, LinkEvent, Receipt, Stream};
use crate::protocol::Now;
use crate::protocol::{Answer, Decision, ReplyToken, Response};

/// Messages of this dialect, for the tests that all dialects share. The first ones identify it.
pub(crate) const MESSAGES: &[&str] = &[
    r#"{"type":"aaep:agent.state.changed"}"#,
    r#"{"type":"aaep:agent.state.changed"}"#,
];

/// Drives a machine, and keeps its outputs.
pub(super) struct AaepBench {
    pub(super) machine: Aaep,
    pub(super) now: Now,
}

impl AaepBench {
    pub(super) fn new(carrier: TransportKind) -> Self {
        Self::of(start(carrier))
    }

    pub(super) fn of(start: DialectSetup) -> Self {
        let now = Now {
            monotonic: Duration::from_secs(1),
            wall: "2026-01-01T00:00:00Z".parse().unwrap(),
        };
        Self {
            machine: Aaep::new(start),
            now,
        }
    }

    pub(super) fn news(&mut self, event: LinkEvent) -> Vec<DialectOutput> {
        let mut out = Vec::new();
        self.machine.news(&event, &mut Cx::new(self.now, &mut out));
        out
    }

    pub(super) fn frame(&mut self, text: impl Into<String>) -> Vec<DialectOutput> {
        self.news(LinkEvent::Frame(Frame::of(text)))
    }

    /// Answers a request beside the stream.
    pub(super) fn answer(&mut self, request: u64, status: u16, body: &Value) -> Vec<DialectOutput> {
        let outcome = Ok(HttpAnswer {
            status,
            location: None,
            retry_after: None,
            body: body.to_string(),
        });
        self.news(LinkEvent::Answered { request, outcome })
    }
}

pub(crate) fn start(carrier: TransportKind) -> DialectSetup {
    DialectSetup {
        stream: crate::link::Stream::at(crate::link::Address::Given),
        words: Default::default(),
        token: None,
        identity: None,
        folder: String::new(),
        prompt: None,
        prompts_at: None,
        earlier: Default::default(),
        ask_always: false,
        hand_back: Duration::from_secs(300),
        gemini_waits: false,
        handler: false,
        conversation: None,
        broker: None,
        carrier,
        path: String::new(),
        origin: String::new(),
        plain: false,
        handshake: HandshakeConfig::default(),
        keys: KeyRing::default(),
        terms: Terms {
            verbosity: Verbosity::Normal,
            load: Load::Medium,
            languages: vec!["en".to_owned()],
            rate: None,
        },
        seed: 7,
        numbers: RequestNumbers::default(),
    }
}

/// The path of the manifest.
const MANIFEST: &str = "/.well-known/aaep-manifest.json";

pub(super) fn call(out: &[DialectOutput]) -> (u64, HttpCall) {
    let mut calls = out.iter().filter_map(|wish| match wish {
        DialectOutput::Call { request, call } => Some((*request, call.clone())),
        _ => None,
    });
    calls.next().unwrap()
}

pub(super) fn consent() -> Value {
    json!({
        "type": "subscription.accepted", "subscription_id": "sub_1", "aaep_version": "1.0.0",
        "producer": {"agent_id": "planner"},
    })
}

pub(super) fn reply() -> Reply {
    Reply {
        token: ReplyToken::new("rpl_1".to_owned()),
        answer: Answer::Decision {
            decision: Decision::Reject,
            rationale: None,
        },
        timestamp: "2026-01-01T00:00:00Z".parse().unwrap(),
        decided_by: "user:local".to_owned(),
    }
}

const EVENT: &str = r#"{"type":"aaep:agent.state.changed"}"#;

#[test]
fn the_same_facts_give_the_same_wishes() {
    let run = || {
        let mut bench = AaepBench::new(TransportKind::EventStream);
        let mut all = bench.news(LinkEvent::Connecting { attempt: 1 });
        let (request, _) = call(&all);
        all.extend(bench.answer(request, 404, &json!({})));
        let (request, _) = call(&all[1..]);
        all.extend(bench.answer(request, 201, &consent()));
        all.extend(bench.news(LinkEvent::Connected));
        all.extend(bench.frame(EVENT));
        all
    };
    assert_eq!(run(), run());
}

#[test]
fn a_new_attempt_follows_what_was_agreed_and_begins_everything_else_anew() {
    let mut bench = AaepBench::new(TransportKind::EventStream);
    let out = bench.news(LinkEvent::Connecting { attempt: 1 });
    let (request, ask) = call(&out);
    assert_eq!(ask.path, MANIFEST);
    let lost = || LinkEvent::Lost {
        fault: Fault::Closed,
        retry_in: Duration::ZERO,
    };
    // The link is lost midway: the late answer of that attempt is ignored.
    bench.news(lost());
    let out = bench.news(LinkEvent::Connecting { attempt: 2 });
    let (second, ask) = call(&out);
    assert_eq!(ask.path, MANIFEST);
    assert_eq!(bench.answer(request, 404, &json!({})), []);
    let out = bench.answer(second, 404, &json!({}));
    let (request, _) = call(&out);
    bench.answer(request, 201, &consent());
    assert_eq!(bench.machine.connection().method, Some("link.handshake"));
    assert!(
        !bench
            .news(LinkEvent::Connected)
            .contains(&DialectOutput::Standing(OpenQuestionsChange::Back))
    );
    bench.news(lost());
    let out = bench.news(LinkEvent::Connecting { attempt: 1 });
    assert!(matches!(
        out.as_slice(),
        [DialectOutput::Follow(Stream {
            every: None,
            may_be_forgotten: true,
            ..
        })]
    ));
    assert!(
        bench
            .news(LinkEvent::Connected)
            .contains(&DialectOutput::Standing(OpenQuestionsChange::Back))
    );
}

#[test]
fn an_answer_keeps_its_number_and_goes_to_the_subscription_that_is() {
    let mut bench = AaepBench::new(TransportKind::Socket);
    let out = bench.news(LinkEvent::Connected);
    let Some(DialectOutput::Send { request: asked, .. }) = out.first() else {
        panic!("{out:?}");
    };
    assert!(RequestNumbers::is_own(*asked));
    bench.frame(consent().to_string());
    let mut out = Vec::new();
    bench
        .machine
        .reply(7, &reply(), &mut Cx::new(bench.now, &mut out));
    let [DialectOutput::Send { request: 7, frame }] = out.as_slice() else {
        panic!("{out:?}");
    };
    let sent: Value = serde_json::from_str(frame).unwrap();
    assert_eq!(sent["subscription_id"], "sub_1");
    assert_eq!(sent["reply_token"], "rpl_1");
    let outcome = Ok(Receipt::Written);
    let settled = |request| LinkEvent::Replied {
        request,
        outcome: Ok(Receipt::Written),
    };
    assert_eq!(
        bench.news(settled(*asked)),
        [],
        "its own request is no answer"
    );
    assert_eq!(
        bench.news(settled(7)),
        [DialectOutput::Settled {
            request: 7,
            outcome
        }]
    );
}

#[test]
fn a_program_hears_and_says_lines_and_its_checks_are_answered_within_a_bound() {
    let mut bench = AaepBench::new(TransportKind::Lines);
    let out = bench.news(LinkEvent::Connected);
    assert!(
        matches!(&out[0], DialectOutput::Send { frame, .. } if frame.contains("aaep.subscribe"))
    );
    let event = format!(r#"{{"jsonrpc":"2.0","method":"aaep.event","params":{EVENT}}}"#);
    let out = bench.frame(event);
    assert_eq!(out.last(), Some(&DialectOutput::Event(EVENT.to_owned())));
    let ping = r#"{"jsonrpc":"2.0","id":"p","method":"aaep.ping"}"#;
    let mut sent = Vec::new();
    for _ in 0..100 {
        sent.extend(bench.frame(ping));
    }
    // A program that asks without reading leaves room for the person's answers.
    assert_eq!(sent.len(), MOST_ANSWERS);
    let DialectOutput::Send { request, frame } = &sent[0] else {
        panic!("{sent:?}");
    };
    assert_eq!(frame, r#"{"jsonrpc":"2.0","id":"p","result":{}}"#);
    bench.news(LinkEvent::Replied {
        request: *request,
        outcome: Ok(Receipt::Written),
    });
    assert_eq!(bench.frame(ping).len(), 1);
    let other = r#"{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{}}"#;
    assert!(matches!(
        bench.frame(other).as_slice(),
        [DialectOutput::Unread(_, 1)]
    ));
}

#[test]
fn where_hands_are_shaken_is_a_matter_of_the_carrier_and_of_the_person() {
    for (carrier, plain, asks) in [
        (TransportKind::EventStream, false, true),
        (TransportKind::WebSocket, false, true),
        (TransportKind::Socket, false, true),
        (TransportKind::Lines, false, true),
        (TransportKind::OneWay, false, false),
        (TransportKind::EventStream, true, false),
        (TransportKind::WebSocket, true, false),
        (TransportKind::Lines, true, false),
    ] {
        let mut bench = AaepBench::of(DialectSetup {
            plain,
            ..start(carrier)
        });
        let mut out = bench.news(LinkEvent::Connecting { attempt: 1 });
        out.extend(bench.news(LinkEvent::Connected));
        let asked = out
            .iter()
            .any(|it| matches!(it, DialectOutput::Call { .. } | DialectOutput::Send { .. }));
        assert_eq!(asked, asks, "{carrier:?}, {plain}");
    }
}

#[test]
fn aaep_is_known_by_its_context_or_type_and_never_by_a_mere_type() {
    for (text, sign) in [
        (EVENT, Recognition::Surely),
        (
            r#"{"@context":"https://aaep-protocol.org/context/v1","type":"x"}"#,
            Recognition::Surely,
        ),
        (r#"{"type":"subscription.accepted"}"#, Recognition::Surely),
        (
            r#"{"jsonrpc":"2.0","method":"aaep.event","params":{}}"#,
            Recognition::Surely,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"type":"subscription.accepted"}}"#,
            Recognition::Surely,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"?"}}"#,
            Recognition::No,
        ),
        (
            r#"{"jsonrpc":"2.0","method":"session/update","params":{}}"#,
            Recognition::No,
        ),
        (r#"{"type":"result","session_id":"s"}"#, Recognition::No),
        (r#"{"type":"agent.state.changed"}"#, Recognition::No),
        ("Loading the model", Recognition::No),
        ("<html>", Recognition::No),
    ] {
        assert_eq!(recognise(text), sign, "{text}");
    }
}

#[test]
fn the_plain_pair_is_followed_at_every_attempt_where_the_person_wants_it() {
    let mut bench = AaepBench::of(DialectSetup {
        plain: true,
        path: "/x".to_owned(),
        ..start(TransportKind::EventStream)
    });
    for attempt in 1..3 {
        let out = bench.news(LinkEvent::Connecting { attempt });
        let [DialectOutput::Follow(stream)] = out.as_slice() else {
            panic!("{out:?}");
        };
        assert_eq!(stream.replies.as_deref(), Some("/x/messages"));
    }
}

#[test]
fn a_server_that_is_busy_still_knows_whom_it_agreed_with_and_one_that_does_not_know_does_not() {
    for (status, known) in [(429, true), (408, true), (404, false), (410, false)] {
        let mut bench = AaepBench::new(TransportKind::EventStream);
        let (request, _) = call(&bench.news(LinkEvent::Connecting { attempt: 1 }));
        let (request, _) = call(&bench.answer(request, 404, &json!({})));
        bench.answer(request, 201, &consent());
        bench.news(LinkEvent::Connected);
        bench.news(LinkEvent::Lost {
            fault: Fault::Status {
                status,
                retry_after: Some(5),
            },
            retry_in: Duration::from_secs(5),
        });
        let out = bench.news(LinkEvent::Connecting { attempt: 1 });
        let follows = matches!(out.as_slice(), [DialectOutput::Follow(_)]);
        assert_eq!(follows, known, "{status}: {out:?}");
    }
}

#[test]
fn what_is_said_at_the_end_goes_the_way_that_the_subscription_does() {
    let closing = |out: &[DialectOutput]| {
        let mut words = out.iter().filter_map(|wish| match wish {
            DialectOutput::LastWords(words) => words.clone(),
            _ => None,
        });
        words.next().unwrap()
    };
    let mut bench = AaepBench::new(TransportKind::EventStream);
    let (request, _) = call(&bench.news(LinkEvent::Connecting { attempt: 1 }));
    let (request, _) = call(&bench.answer(request, 404, &json!({})));
    let LastWords::Call(told) = closing(&bench.answer(request, 201, &consent())) else {
        panic!("no request");
    };
    assert_eq!(told.path, "/aaep/v1/replies");
    let mut bench = AaepBench::new(TransportKind::Socket);
    bench.news(LinkEvent::Connected);
    let LastWords::Message(told) = closing(&bench.frame(consent().to_string())) else {
        panic!("no message");
    };
    assert!(told.contains("subscription.close"), "{told}");
}

#[test]
fn a_reply_is_an_answer_in_a_capture_and_nowhere_else() {
    let reply = r#"{"type":"clarification.reply","reply_token":"rpl_1","response":true}"#;
    let mut capture = AaepBench::new(TransportKind::OneWay);
    assert!(!capture.machine.passes(reply));
    match capture.frame(reply).as_slice() {
        [DialectOutput::Answered(answered)] => {
            assert_eq!(answered.token, ReplyToken::new("rpl_1"));
            assert_eq!(answered.answer, Answer::Response(Response::YesNo(true)));
        }
        other => panic!("{other:?}"),
    }
    let mut live = AaepBench::new(TransportKind::Socket);
    let out = live.frame(reply);
    assert!(
        !out.iter()
            .any(|out| matches!(out, DialectOutput::Answered(_)))
    );
}

#[test]
fn what_the_producer_notes_about_the_terms_is_known_of_the_connection() {
    let mut bench = AaepBench::new(TransportKind::Socket);
    bench.news(LinkEvent::Connected);
    let consent = json!({"type": "subscription.accepted", "subscription_id": "sub_1",
        "aaep_version": "1.0.0", "producer": {"agent_id": "planner"}, "honored_capabilities": {},
        "negotiation_notes": "No progress events here."});
    bench.frame(consent.to_string());
    let known = bench.machine.connection().facts;
    let wanted = Phrase::new("status.notes")
        .with("text", PhraseArg::Agent("No progress events here.".into()));
    assert_eq!(known, [wanted]);
}
