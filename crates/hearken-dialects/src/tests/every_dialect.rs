//! Random messages to every dialect that is translated: no panic, no event that `check` or the decoder finds an error
//! in, and no answer that is settled twice or that nobody gave.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::Value;

use crate::kit::rig::answer_ledger::Asked;
use crate::kit::rig::{self, MachineRig, RigPeer};
use crate::link::{Fault, Frame, HttpAnswer, IncomingRequest, LinkEvent, Method, Receipt};
use crate::protocol::Reply;
use crate::{
    Connection, Cx, DIALECTS, Dialect, DialectOutput, DialectSetup, Naming, PersonRequest,
    TransportKind,
};

/// Whichever dialect is under test.
#[derive(Debug)]
struct AnyDialect(Box<dyn Dialect>);

impl Dialect for AnyDialect {
    fn news(&mut self, event: &LinkEvent, cx: &mut Cx<'_>) {
        self.0.news(event, cx);
    }

    fn on_frame(&mut self, frame: &Frame, cx: &mut Cx<'_>) {
        self.0.on_frame(frame, cx);
    }

    fn reply(&mut self, request: u64, reply: &Reply, cx: &mut Cx<'_>) {
        self.0.reply(request, reply, cx);
    }

    fn on_person_request(&mut self, wish: &PersonRequest, cx: &mut Cx<'_>) {
        self.0.on_person_request(wish, cx);
    }

    fn tick(&mut self, cx: &mut Cx<'_>) {
        self.0.tick(cx);
    }

    fn deadline(&self) -> Option<Duration> {
        self.0.deadline()
    }

    fn connection(&self) -> Connection {
        self.0.connection()
    }
}

/// The other side: it keeps the numbers under which something was sent, so that it can report on them.
#[derive(Debug, Default)]
struct AnyPeer {
    sent: Vec<u64>,
    called: Vec<u64>,
}

impl RigPeer for AnyPeer {
    fn take(&mut self, out: DialectOutput) {
        match out {
            DialectOutput::Send { request, .. } | DialectOutput::Hand { request, .. } => {
                self.sent.push(request)
            }
            DialectOutput::Respond {
                request: Some(request),
                ..
            } => self.sent.push(request),
            DialectOutput::Call { request, .. } | DialectOutput::CallService { request, .. } => {
                self.called.push(request);
            }
            _ => {}
        }
    }
}

#[derive(Debug, Clone)]
enum FeedStep {
    Message(usize),
    /// A message in which one value is replaced.
    Changed(usize, usize, u8),
    /// A message that is cut.
    Cut(usize, usize),
    Odd(String),
    Request(usize),
    Piece(usize),
    Up,
    Down(u8),
    Sent(bool),
    Answered(usize),
    Decide(bool),
    Respond(&'static str),
    Prompt,
    Stop,
    Wait(u16),
}

fn step() -> impl Strategy<Value = FeedStep> {
    let at = any::<prop::sample::Index>().prop_map(|index| index.index(64));
    let words = prop::sample::select(vec!["1", "resume", "words", ""]);
    prop_oneof![
        8 => at.clone().prop_map(FeedStep::Message),
        4 => (at.clone(), at.clone(), any::<u8>()).prop_map(|(at, value, to)| FeedStep::Changed(at, value, to)),
        1 => (at.clone(), 0..400_usize).prop_map(|(at, length)| FeedStep::Cut(at, length)),
        1 => "\\PC{0,40}".prop_map(FeedStep::Odd),
        2 => at.clone().prop_map(FeedStep::Request),
        1 => at.clone().prop_map(FeedStep::Piece),
        2 => Just(FeedStep::Up),
        1 => (0..4_u8).prop_map(FeedStep::Down),
        2 => any::<bool>().prop_map(FeedStep::Sent),
        2 => at.prop_map(FeedStep::Answered),
        3 => any::<bool>().prop_map(FeedStep::Decide),
        2 => words.prop_map(FeedStep::Respond),
        2 => Just(FeedStep::Prompt),
        1 => Just(FeedStep::Stop),
        2 => (0..20_000_u16).prop_map(FeedStep::Wait),
    ]
}

/// Replaces the value with this number, counted from the outside.
fn changed(text: &str, which: usize, to: u8) -> String {
    fn replace(value: &mut Value, left: &mut usize, to: u8) {
        if *left == 0 {
            *value = match to % 7 {
                0 => Value::Null,
                1 => true.into(),
                2 => i64::from(to).into(),
                3 => "".into(),
                4 => "\u{202e}x\u{1b}[2J".into(),
                5 => Value::Array(vec![value.clone(), value.clone()]),
                _ => "x".repeat(5000).into(),
            };
        }
        *left = left.wrapping_sub(1);
        match value {
            Value::Array(all) => all.iter_mut().for_each(|it| replace(it, left, to)),
            Value::Object(all) => all.values_mut().for_each(|it| replace(it, left, to)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    match serde_json::from_str(text) {
        Ok(mut value) => {
            replace(&mut value, &mut (which % 24), to);
            value.to_string()
        }
        Err(_) => text.to_owned(),
    }
}

fn play(which: usize, carrier: TransportKind, steps: Vec<FeedStep>) -> Result<(), TestCaseError> {
    let row = &DIALECTS[which];
    // An address on a broker is carried by nothing else.
    let carrier = match row.named {
        Naming::Schemes(_) => TransportKind::Broker,
        _ => carrier,
    };
    let messages = row.messages;
    let message = |at: usize| messages[at % messages.len()];
    let mut rig: MachineRig<AnyDialect, AnyPeer> =
        MachineRig::of(AnyDialect(row.machine(DialectSetup {
            carrier,
            path: "/".to_owned(),
            origin: "http://127.0.0.1:1".to_owned(),
            ..rig::start()
        })));
    let mut number = 0;
    rig.news(&LinkEvent::Connecting { attempt: 1 });
    rig.news(&LinkEvent::Connected);
    for step in steps {
        match step {
            FeedStep::Message(at) => rig.frame(message(at)),
            FeedStep::Changed(at, value, to) => rig.frame(changed(message(at), value, to)),
            FeedStep::Cut(at, length) => {
                let cut: String = message(at).chars().take(length).collect();
                rig.frame(cut);
            }
            FeedStep::Odd(text) => rig.frame(text),
            FeedStep::Request(at) => {
                let request = IncomingRequest {
                    method: Method::Post,
                    path: "/hook".to_owned(),
                    body: message(at).to_owned(),
                };
                rig.news(&LinkEvent::Request {
                    id: at as u64,
                    request,
                });
            }
            FeedStep::Piece(at) => {
                let request = rig.called.last().copied().unwrap_or_default();
                let text = message(at).to_owned();
                rig.news(&LinkEvent::Piece { request, text });
            }
            FeedStep::Up => {
                rig.news(&LinkEvent::Connecting { attempt: 1 });
                rig.news(&LinkEvent::Connected);
            }
            FeedStep::Down(how) => rig.news(&match how {
                0 => LinkEvent::Lost {
                    fault: Fault::Closed,
                    retry_in: Duration::from_secs(1),
                },
                1 => LinkEvent::Ended,
                2 => LinkEvent::StreamEnded,
                _ => LinkEvent::Dropped {
                    fault: Fault::Closed,
                    count: 1,
                },
            }),
            FeedStep::Sent(arrived) => {
                if let Some(request) = rig.sent.pop() {
                    match arrived {
                        true => rig.news(&LinkEvent::Replied {
                            request,
                            outcome: Ok(Receipt::Written),
                        }),
                        false => rig.written(request, false),
                    }
                }
            }
            FeedStep::Answered(at) => {
                if let Some(request) = rig.called.pop() {
                    let answer = HttpAnswer {
                        status: [200, 204, 404, 500][at % 4],
                        location: None,
                        retry_after: None,
                        body: message(at).to_owned(),
                    };
                    rig.news(&LinkEvent::Answered {
                        request,
                        outcome: Ok(answer),
                    });
                }
            }
            FeedStep::Decide(accepts) => {
                number += 1;
                rig.decide(number, if accepts { "accept" } else { "reject" }, None);
            }
            FeedStep::Respond(words) => {
                number += 1;
                rig.respond(number, words);
            }
            FeedStep::Prompt => rig.prompt("do it"),
            FeedStep::Stop => rig.person_request(&PersonRequest::Stop),
            FeedStep::Wait(ms) => rig.after(Duration::from_millis(ms.into())),
        }
    }
    end(&mut rig, number);
    prop_assert!(rig.faults.is_empty(), "{:?}: {:?}", row.dialect, rig.faults);
    // A request may stay unanswered: a capture is only read, and a permission whose call went on is the person's.
    let must_answer = |asked: &&Asked| matches!(asked, Asked::Reply(_));
    let unanswered: Vec<&Asked> = rig.ledger.unanswered().filter(must_answer).collect();
    prop_assert!(unanswered.is_empty(), "{:?}: {unanswered:?}", row.dialect);
    Ok(())
}

/// Brings everything to its end: the person rejects what is asked, what was sent has arrived, what was called has
/// failed, and the source is over.
fn end(rig: &mut MachineRig<AnyDialect, AnyPeer>, answers: u64) {
    for number in 1..8 {
        rig.decide(answers + number, "reject", None);
        while let Some(request) = rig.sent.pop() {
            rig.written(request, true);
        }
        while let Some(request) = rig.called.pop() {
            rig.news(&LinkEvent::Answered {
                request,
                outcome: Err(Fault::Closed),
            });
        }
        rig.after(Duration::from_secs(600));
    }
    rig.news(&LinkEvent::Ended);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::tests::runs(5000)))]

    #[test]
    fn every_dialect_keeps_its_promises_whatever_comes(
        which in 1..DIALECTS.len(),
        carrier in prop::sample::select(vec![
            TransportKind::EventStream, TransportKind::WebSocket, TransportKind::Lines, TransportKind::Requests, TransportKind::OneWay,
        ]),
        steps in prop::collection::vec(step(), 0..40),
    ) {
        play(which, carrier, steps)?;
    }
}
