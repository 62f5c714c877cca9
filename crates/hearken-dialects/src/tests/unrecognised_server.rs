//! Tests of where an unrecognised server is met.

use crate::Cx;
use std::time::Duration;

use super::*;
use crate::Dialect;
use crate::Token;
use crate::asp::Asp;
use crate::config;
use crate::descriptor::open;
use crate::link::{Cause, Frame, HttpAnswer};
use crate::protocol::Now;

const NOW: Now = Now {
    monotonic: Duration::from_secs(1),
    wall: jiff::Timestamp::UNIX_EPOCH,
};

const MESSAGE: &str = r#"{"performative":"QUERY","messageId":"m","sender":"agent://a.example/b"}"#;

const PERMISSION: &str = r#"{"protocol_version":"sage.runtime.v0","kind":"notification","type":"permission.requested","thread_id":"t","turn_id":"u","request_id":"r","payload":{"tool_name":"Bash"}}"#;

const EVENT: &str = r#"{"type":"aaep:agent.state.changed"}"#;

struct DialectBench {
    machine: Box<dyn Dialect>,
    out: Vec<DialectOutput>,
}

impl DialectBench {
    fn of(start: DialectSetup) -> Self {
        Self {
            machine: open(config::Dialect::Auto, start),
            out: Vec::new(),
        }
    }

    fn at(carrier: TransportKind, path: &str) -> Self {
        Self::of(start(carrier, path))
    }

    fn news(&mut self, event: LinkEvent) -> Vec<DialectOutput> {
        self.out.clear();
        self.machine.news(&event, &mut Cx::new(NOW, &mut self.out));
        self.out.clone()
    }

    fn frame(&mut self, text: &str) -> Vec<DialectOutput> {
        self.news(LinkEvent::Frame(Frame::of(text)))
    }

    fn fails(&mut self, fault: Fault) -> Vec<DialectOutput> {
        self.news(LinkEvent::Failed { fault })
    }

    /// Answers the last call.
    fn answer(&mut self, status: u16, body: &str) -> Vec<DialectOutput> {
        let request = self.out.iter().find_map(|wish| match wish {
            DialectOutput::Call { request, .. } => Some(*request),
            _ => None,
        });
        let outcome = Ok(HttpAnswer {
            status,
            location: None,
            retry_after: None,
            body: body.to_owned(),
        });
        self.news(LinkEvent::Answered {
            request: request.unwrap(),
            outcome,
        })
    }

    /// Begins an attempt on a server that has nothing of AAEP, and returns what is followed.
    fn follows(&mut self) -> Address {
        self.news(LinkEvent::Connecting { attempt: 1 });
        while !self
            .out
            .iter()
            .any(|wish| matches!(wish, DialectOutput::Follow(_)))
        {
            self.answer(404, "");
        }
        followed(&self.out).unwrap()
    }
}

fn start(carrier: TransportKind, path: &str) -> DialectSetup {
    DialectSetup {
        carrier,
        path: path.to_owned(),
        plain: false,
        ..DialectSetup::unattended()
    }
}

fn followed(out: &[DialectOutput]) -> Option<Address> {
    out.iter().find_map(|wish| match wish {
        DialectOutput::Follow(stream) => Some(stream.at.clone()),
        _ => None,
    })
}

fn status(status: u16) -> Fault {
    Fault::Status {
        status,
        retry_after: None,
    }
}

fn goes_as_given(out: &[DialectOutput]) -> bool {
    out.contains(&DialectOutput::ChangeWay(ServerRoute::AsGiven))
}

const WITHOUT: Fault = Fault::NotWebSocket(NoWebSocket::Without {
    protocol: &["aaep.v1"],
});

/// Fails a WebSocket whose server has no manifest, and returns the outputs that follow.
fn without_manifest(bench: &mut DialectBench, fault: Fault) -> Vec<DialectOutput> {
    bench.news(LinkEvent::Connecting { attempt: 1 });
    let out = bench.fails(fault);
    assert!(matches!(
        out.as_slice(),
        [DialectOutput::ChangeWay(ServerRoute::EventStream(_))]
    ));
    bench.news(LinkEvent::Connecting { attempt: 1 });
    bench.answer(404, "")
}

fn events(out: &[DialectOutput]) -> usize {
    out.iter()
        .filter(|wish| matches!(wish, DialectOutput::Event(_)))
        .count()
}

#[test]
fn a_stream_of_another_protocol_is_recognised_at_the_very_address() {
    for text in [MESSAGE, PERMISSION] {
        let mut bench = DialectBench::at(TransportKind::EventStream, "/live");
        assert_eq!(bench.follows(), Address::Path("/live/events".to_owned()));
        assert!(goes_as_given(&bench.fails(status(404))));
        let out = bench.news(LinkEvent::Connecting { attempt: 1 });
        assert_eq!(followed(&out), Some(Address::Given));
        let out = bench.news(LinkEvent::Connected);
        assert!(
            matches!(out.as_slice(), [DialectOutput::Announce(told)] if told.key == "link.as_given")
        );
        assert!(events(&bench.frame(text)) > 0, "{text}");
        // It is followed there again, and nothing more is said about it.
        bench.news(LinkEvent::Lost {
            fault: Fault::Closed,
            retry_in: Duration::ZERO,
        });
        let out = bench.news(LinkEvent::Connecting { attempt: 1 });
        assert_eq!(followed(&out), Some(Address::Given));
        assert_eq!(events(&bench.news(LinkEvent::Connected)), 0);
    }
}

#[test]
fn a_websocket_of_another_protocol_is_recognised_without_a_subprotocol() {
    for (path, fault) in [
        ("/session", WITHOUT),
        ("/session", status(400)),
        ("/", WITHOUT),
        ("/", status(404)),
    ] {
        let mut bench = DialectBench::at(TransportKind::WebSocket, path);
        let out = without_manifest(&mut bench, fault.clone());
        assert_eq!(
            out,
            [DialectOutput::ChangeWay(ServerRoute::AsGiven)],
            "{path}: {fault}"
        );
        bench.news(LinkEvent::Connecting { attempt: 1 });
        let out = bench.news(LinkEvent::Connected);
        let said = |wish: &DialectOutput| matches!(wish, DialectOutput::Send { .. });
        assert!(!out.iter().any(said), "nobody is spoken to in AAEP");
        assert!(events(&bench.frame(MESSAGE)) > 0);
    }
}

/// ASP's token goes in a message, which only a server that has shown its protocol gets.
#[test]
fn a_recognised_asp_server_is_given_the_token() {
    let mut bench = DialectBench::of(DialectSetup {
        token: Some(Token::new("s3cret")),
        ..start(TransportKind::WebSocket, "/session")
    });
    without_manifest(&mut bench, WITHOUT);
    bench.news(LinkEvent::Connecting { attempt: 1 });
    let auth = |out: &[DialectOutput]| {
        let of = |wish: &DialectOutput| matches!(wish, DialectOutput::Send { frame, .. } if frame.contains("s3cret"));
        out.iter().filter(|wish| of(wish)).count()
    };
    assert_eq!(auth(&bench.news(LinkEvent::Connected)), 0);
    assert_eq!(auth(&bench.frame(MESSAGE)), 1);
    assert_eq!(auth(&bench.frame(MESSAGE)), 0);
}

#[test]
fn a_server_named_alone_is_looked_at_last_where_others_have_their_own() {
    let page = || Fault::NotEventStream {
        content_type: "text/html".to_owned(),
    };
    let told = |out: &[DialectOutput], key: &str| {
        let is_it = |wish: &DialectOutput| matches!(wish, DialectOutput::Announce(phrase) if phrase.key == key);
        out.iter().any(is_it)
    };
    // It answers every request with its page.
    let beside = || {
        let mut bench = DialectBench::at(TransportKind::EventStream, "/");
        bench.follows();
        assert!(goes_as_given(&bench.fails(page())));
        let out = bench.news(LinkEvent::Connecting { attempt: 1 });
        assert_eq!(followed(&out), Some(Address::Given));
        assert_eq!(
            bench.fails(page()),
            [DialectOutput::ChangeWay(ServerRoute::AsGiven)]
        );
        let out = bench.news(LinkEvent::Connecting { attempt: 1 });
        let events = Address::GivenAt("/event".to_owned());
        assert_eq!(followed(&out), Some(events.clone()));
        (bench, events)
    };
    let (mut bench, events) = beside();
    let out = bench.news(LinkEvent::Connected);
    assert!(told(&out, "link.beside"), "{out:?}");
    let out = bench.frame(r#"{"id":"evt_1","type":"server.connected","properties":{}}"#);
    let asks = |wish: &DialectOutput| matches!(wish, DialectOutput::Call { call, .. } if call.path == "/permission");
    assert!(out.iter().any(asks), "{out:?}");
    let out = bench.news(LinkEvent::Connecting { attempt: 2 });
    assert_eq!(followed(&out), Some(events));
    // There are no events either, but a card at A2A's path.
    let card = || {
        let (mut bench, _) = beside();
        assert_eq!(
            bench.fails(status(404)),
            [DialectOutput::ChangeWay(ServerRoute::AsGiven)]
        );
        let out = bench.news(LinkEvent::Connecting { attempt: 1 });
        let card = Address::GivenAt("/.well-known/agent-card.json".to_owned());
        assert_eq!(followed(&out), Some(card.clone()));
        (bench, card)
    };
    let (mut bench, at) = card();
    let out = bench.news(LinkEvent::Connected);
    assert!(told(&out, "link.card"), "{out:?}");
    let out = bench.frame(
        r#"{"name":"A","capabilities":{},"supportedInterfaces":[{"url":"/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}"#,
    );
    let asks = |wish: &DialectOutput| matches!(wish, DialectOutput::Call { call, .. } if call.path == "/rpc");
    assert!(out.iter().any(asks), "{out:?}");
    let out = bench.news(LinkEvent::Connecting { attempt: 2 });
    assert_eq!(followed(&out), Some(at));
    // No card is there either.
    let (mut bench, _) = card();
    assert_eq!(bench.fails(status(404)), [DialectOutput::Close(page())]);
    let (mut bench, _) = card();
    let none = Fault::Unusable(Cause::NoDocument);
    assert_eq!(bench.fails(none), [DialectOutput::Close(page())]);
    // Something else is there, as on a server that answers every path alike.
    let (mut bench, _) = card();
    bench.news(LinkEvent::Connected);
    assert_eq!(
        bench.frame(r#"{"hello":"world"}"#),
        [DialectOutput::Close(page())]
    );
    // A server that wants a password says so.
    let (mut bench, _) = beside();
    assert_eq!(bench.fails(status(401)), []);
}

#[test]
fn what_is_not_there_either_or_is_aaeps_fails_for_the_first_reason() {
    let mut bench = DialectBench::at(TransportKind::EventStream, "/live");
    bench.follows();
    bench.fails(status(404));
    bench.news(LinkEvent::Connecting { attempt: 1 });
    let page = Fault::NotEventStream {
        content_type: "text/html".to_owned(),
    };
    assert_eq!(bench.fails(page), [DialectOutput::Close(status(404))]);
    // A server that turns us away says why.
    let mut bench = DialectBench::at(TransportKind::EventStream, "/live");
    bench.follows();
    bench.fails(status(404));
    bench.news(LinkEvent::Connecting { attempt: 1 });
    assert_eq!(bench.fails(status(401)), []);
    // AAEP requires its subprotocol at every address.
    let mut bench = DialectBench::at(TransportKind::WebSocket, "/own");
    without_manifest(&mut bench, WITHOUT);
    bench.news(LinkEvent::Connecting { attempt: 1 });
    bench.news(LinkEvent::Connected);
    let out = bench.frame(EVENT);
    assert!(out.contains(&DialectOutput::Close(WITHOUT)), "{out:?}");
}

#[test]
fn aaeps_own_servers_are_met_as_ever() {
    // An address that is AAEP's own place, a demand for proof, and plain mode all mean AAEP.
    let mut bench = DialectBench::at(TransportKind::WebSocket, "/x/aaep/v1/ws");
    assert_eq!(
        without_manifest(&mut bench, WITHOUT),
        [DialectOutput::Close(WITHOUT)]
    );
    for fault in [status(404), Fault::NotWebSocket(NoWebSocket::SomethingElse)] {
        let mut bench = DialectBench::at(TransportKind::WebSocket, "/own");
        let out = without_manifest(&mut bench, fault.clone());
        assert_eq!(out, [DialectOutput::Close(fault)]);
    }
    let mut signed = start(TransportKind::EventStream, "/live");
    signed.handshake.require_signed = true;
    let mut bench = DialectBench::of(signed);
    bench.news(LinkEvent::Connecting { attempt: 1 });
    assert!(!goes_as_given(&bench.fails(status(404))));
    let mut bench = DialectBench::of(DialectSetup {
        plain: true,
        ..start(TransportKind::EventStream, "/live")
    });
    bench.news(LinkEvent::Connecting { attempt: 1 });
    assert_eq!(bench.fails(status(404)), []);
    // The stream that was named is the address itself.
    let mut bench = DialectBench::at(TransportKind::EventStream, "/live/events");
    assert_eq!(bench.follows(), Address::Given);
    assert_eq!(bench.fails(status(404)), []);
    // A server that wants a token, or is not there, is not bypassed.
    for fault in [status(401), status(403), Fault::Refused] {
        let mut bench = DialectBench::at(TransportKind::EventStream, "/live");
        bench.follows();
        assert_eq!(bench.fails(fault), []);
    }
    // A source that has shaken hands is AAEP.
    let mut bench = DialectBench::at(TransportKind::EventStream, "/live");
    bench.news(LinkEvent::Connecting { attempt: 1 });
    bench.answer(404, "");
    let consent = r#"{"type":"subscription.accepted","subscription_id":"sub_1","aaep_version":"1.0.0","producer":{"agent_id":"planner"},"honored_capabilities":{}}"#;
    bench.answer(201, consent);
    assert!(!goes_as_given(&bench.fails(status(404))));
}

/// The plain pair of a bare address is at `/events`: what was recognised there is followed there again.
#[test]
fn what_was_recognised_at_a_bare_address_is_followed_again_where_it_was() {
    for text in [MESSAGE, PERMISSION] {
        let mut bench = DialectBench::at(TransportKind::EventStream, "/");
        let events_of_it = Address::Path("/events".to_owned());
        assert_eq!(bench.follows(), events_of_it);
        bench.news(LinkEvent::Connected);
        assert!(events(&bench.frame(text)) > 0);
        bench.news(LinkEvent::Lost {
            fault: Fault::Closed,
            retry_in: Duration::ZERO,
        });
        let out = bench.news(LinkEvent::Connecting { attempt: 1 });
        assert_eq!(followed(&out), Some(events_of_it));
        // A named dialect is at the address that the person gives.
        let mut named = Asp::new(start(TransportKind::EventStream, "/"));
        let mut out = Vec::new();
        named.news(
            &LinkEvent::Connecting { attempt: 1 },
            &mut Cx::new(NOW, &mut out),
        );
        assert_eq!(followed(&out), Some(Address::Given));
    }
}
