//! Falling back to another way: which one, when, and what is announced about it.

use super::*;
use crate::link::{Cause, NoTls, NoWebSocket, Reason, ServerRoute};

/// The other ways to connect to a producer.
fn websocket() -> Option<ServerRoute> {
    Some(ServerRoute::WebSocket("/aaep/v1/ws".into()))
}

fn stream() -> Option<ServerRoute> {
    Some(ServerRoute::EventStream("/events".into()))
}

impl Rig {
    /// Begins an attempt and answers the request for the manifest with a list of transports.
    fn lists(&mut self, transports: &Value) {
        self.connect();
        let (request, call) = self.asked();
        assert_eq!(call.path, MANIFEST);
        let manifest = json!({
            "type": "aaep:producer.manifest", "agent_id": "planner",
            "aaep_versions_supported": ["1.0.0"], "transports_supported": transports,
        });
        self.answer(request, 200, &manifest);
    }

    /// Consents to the requested stream.
    fn consents(&mut self) {
        let (request, asked) = self.subscription();
        self.answer(request, 201, &consent(asked["capabilities"].clone()));
        self.take();
    }

    fn fails(&mut self, fault: Fault) {
        self.link(LinkEvent::Failed { fault });
    }

    fn changed(&mut self) -> Option<ServerRoute> {
        self.take().into_iter().find_map(|wish| match wish {
            Effect::Link {
                order: LinkOrder::ChangeWay(way),
                ..
            } => Some(way),
            _ => None,
        })
    }
}

fn status(status: u16) -> Fault {
    Fault::Status {
        status,
        retry_after: None,
    }
}

#[test]
fn the_next_way_of_the_manifest_is_gone_once_and_told_once() {
    let mut rig = Rig::under(TransportKind::EventStream, Config::default());
    rig.lists(&json!(["grpc", "websocket", "sse", "websocket"]));
    rig.consents();
    rig.fails(status(404));
    assert_eq!(rig.changed(), websocket());
    let told = "The event stream of one can't be used: nothing is at that address (status 404). Going on over a WebSocket.";
    rig.assert_heard(told);
    rig.assert_not_heard("can't be used: nothing is at that address (status 404).\n");
    // The handshake is made again, inside the connection.
    rig.link(LinkEvent::Connecting { attempt: 1 });
    assert_eq!(rig.take(), []);
    rig.link(LinkEvent::Connected);
    assert!(matches!(
        rig.take().as_slice(),
        [Effect::Link {
            order: LinkOrder::Send { .. },
            ..
        }]
    ));
    rig.fails(status(404));
    assert_eq!(rig.changed(), None);
    rig.assert_heard(phrase!(
        "link.way_changed",
        source = "one",
        reason = "nothing is at that address (status 404)"
    ));
}

#[test]
fn only_a_fault_of_the_way_leads_to_another() {
    for fault in [
        status(401),
        status(403),
        status(407),
        status(418),
        Fault::Refused,
        Fault::Closed,
        Fault::TimedOut,
        Fault::Tls(NoTls::Expired),
        Fault::TooLarge { limit: 1 },
        Fault::ClosedWith {
            code: 4003,
            reason: Reason::default(),
            turned_away: true,
        },
        Fault::Unusable(Cause::RedirectNowhere),
        Fault::Rejected {
            reason: crate::link::Phrase::new("rejected.unknown"),
            retry_after: None,
            again: false,
        },
    ] {
        let mut rig = Rig::under(TransportKind::EventStream, Config::default());
        rig.lists(&json!(["sse", "websocket"]));
        rig.consents();
        rig.fails(fault.clone());
        assert_eq!(rig.changed(), None, "{fault:?}");
    }
    for fault in [
        status(404),
        status(405),
        status(426),
        status(501),
        Fault::NotEventStream {
            content_type: "text/html".into(),
        },
    ] {
        let mut rig = Rig::under(TransportKind::EventStream, Config::default());
        rig.lists(&json!(["sse", "websocket"]));
        rig.consents();
        rig.fails(fault.clone());
        assert_eq!(rig.changed(), websocket(), "{fault:?}");
    }
}

#[test]
fn a_websocket_that_fails_is_given_up_where_nobody_says_that_there_is_a_stream() {
    let not_there = Fault::NotWebSocket(NoWebSocket::SomethingElse);
    type Answer = fn(&mut Rig);
    let answers: [Answer; 4] = [
        |rig| {
            rig.connect();
            let (request, _) = rig.asked();
            rig.answer(request, 404, &json!({}));
        },
        |rig| {
            rig.connect();
            let (request, _) = rig.asked();
            let outcome = Err(Fault::Refused);
            rig.link(LinkEvent::Answered { request, outcome });
        },
        |rig| rig.lists(&json!(["websocket", "unix-socket"])),
        |rig| rig.lists(&json!([])),
    ];
    for answer in answers {
        let mut rig = Rig::under(TransportKind::WebSocket, Config::default());
        rig.link(LinkEvent::Connecting { attempt: 1 });
        rig.take();
        rig.fails(not_there.clone());
        assert_eq!(rig.changed(), stream());
        rig.assert_not_heard(phrase!("link.way_changed"));
        answer(&mut rig);
        rig.assert_heard("one can't be used: what answers there is not a WebSocket.");
        rig.assert_not_heard(phrase!("link.way_changed"));
        assert!(rig.take().contains(&Effect::Link {
            link: LINK,
            order: LinkOrder::Close
        }));
    }
}

#[test]
fn who_wants_proof_wants_it_on_every_way() {
    let mut config = Config::default();
    config.handshake.require_signed = true;
    // An unsigned manifest may list anything.
    let mut rig = Rig::under(TransportKind::EventStream, config);
    rig.lists(&json!(["websocket"]));
    assert_eq!(rig.changed(), websocket());
    rig.link(LinkEvent::Connecting { attempt: 1 });
    rig.link(LinkEvent::Connected);
    rig.take();
    let text = consent(json!({})).to_string();
    rig.link(LinkEvent::Frame(Frame::of(text)));
    rig.assert_heard("one can't be used: no subscription: it has no signed manifest");
    assert!(rig.take().contains(&Effect::Link {
        link: LINK,
        order: LinkOrder::Close
    }));
}

#[test]
fn a_question_outlives_the_change_and_is_answered_by_the_new_way() {
    let mut rig = Rig::under(TransportKind::EventStream, Config::default());
    rig.lists(&json!(["sse", "websocket"]));
    rig.consents();
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
    rig.fails(status(404));
    assert_eq!(rig.changed(), websocket());
    rig.assert_heard(phrase!("question.unsure", n = 1));
    rig.link(LinkEvent::Connecting { attempt: 1 });
    rig.link(LinkEvent::Connected);
    rig.take();
    let mut text = consent(json!({}));
    text["subscription_id"] = json!("sub_2");
    rig.link(LinkEvent::Frame(Frame::of(text.to_string())));
    rig.event("progress.updated", json!({"progress": {"percent": 1}}));
    rig.now = rig.now.after(Duration::from_secs(30));
    rig.input(Input::Deadline);
    // Its events are older than the connection: they show which agents exist, not what was decided since.
    rig.assert_heard(phrase!("question.again.perhaps", n = 1));
    rig.now = rig.now.after(Duration::from_secs(30));
    rig.input(Input::Deadline);
    rig.take();
    line(&mut rig, "n 1");
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
    assert_eq!(body["subscription_id"], "sub_2");
    assert_eq!(body["reply_token"], "rpl_1");
}

#[test]
fn changes_come_to_an_end() {
    let mut rig = Rig::under(TransportKind::EventStream, Config::default());
    let mut changes = 0;
    let mut way = stream().unwrap();
    for _ in 0..100 {
        match way {
            ServerRoute::EventStream(_) => {
                rig.lists(&json!(["sse", "websocket"]));
                rig.consents();
            }
            ServerRoute::WebSocket(_) => rig.link(LinkEvent::Connecting { attempt: 1 }),
            ServerRoute::AsGiven => panic!("a server that shakes hands is AAEP's"),
        }
        rig.link(LinkEvent::Connected);
        rig.event("session.started", json!({}));
        rig.take();
        rig.fails(status(404));
        match rig.changed() {
            Some(next) => {
                way = next;
                changes += 1;
            }
            None => break,
        }
    }
    assert_eq!(changes, 6);
    rig.assert_heard(phrase!("link.failed", source = "one"));
}

#[test]
fn a_redirect_to_the_servers_websocket_is_followed() {
    let mut rig = Rig::under(TransportKind::EventStream, Config::default());
    let (request, _) = rig.subscribing();
    rig.take();
    let answer = crate::link::HttpAnswer {
        status: 307,
        location: Some("ws://127.0.0.1:1/own/ws".into()),
        retry_after: None,
        body: String::new(),
    };
    let outcome = Ok(answer);
    rig.link(LinkEvent::Answered { request, outcome });
    assert_eq!(
        rig.changed(),
        Some(ServerRoute::WebSocket("/own/ws".into()))
    );
    rig.assert_heard(phrase!(
        "link.way_changed",
        reason = "the server redirects to its WebSocket",
        to = "over a WebSocket"
    ));
}

#[test]
fn the_given_path_is_tried_as_the_prefix_itself_before_the_plain_pair() {
    let source = SourceSetup {
        name: "one".into(),
        answerable: true,
        carrier: TransportKind::EventStream,
        path: "/my/prefix".into(),
        ..SourceSetup::default()
    };
    for found in [true, false] {
        let mut rig = Rig::of(source.clone(), Config::default(), SpeechMode::Silent);
        rig.connect();
        let (request, _) = rig.asked();
        rig.answer(request, 404, &json!({}));
        let (request, call) = rig.asked();
        assert_eq!(call.path, "/my/prefix/aaep/v1/subscriptions");
        rig.answer(request, 404, &json!({}));
        let (request, call) = rig.asked();
        assert_eq!(call.path, "/my/prefix/subscriptions");
        if found {
            rig.answer(request, 201, &consent(json!({})));
            let stream = rig.course().unwrap();
            assert_eq!(stream.replies.as_deref(), Some("/my/prefix/replies"));
        } else {
            rig.answer(request, 404, &json!({}));
            let stream = rig.course().unwrap();
            assert_eq!(stream.replies.as_deref(), Some("/my/prefix/messages"));
        }
    }
}
