//! The binding's own frames: getting in, and staying in.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::asp::Asp;
use crate::asp::handler::{Identity, tests::KEY};
use crate::link::{DeliveryFailure, Fault, LinkEvent, Reason};
use crate::{Cx, Dialect, DialectOutput, DialectSetup, Token, TransportKind};

use super::links::{escalate, frame, news, reply, token, translator};
use super::*;

fn with_token(identity: bool) -> Asp {
    Asp::new(DialectSetup {
        carrier: TransportKind::WebSocket,
        token: Some(Token::new("s3cret")),
        origin: "wss://asp.example".to_owned(),
        path: "/sessions/s/ws?x=1".to_owned(),
        identity: identity.then(|| Identity::new("agent://home.example/person", KEY).unwrap()),
        ..DialectSetup::unattended()
    })
}

fn sent(out: &[DialectOutput]) -> Vec<Value> {
    let of = |wish: &DialectOutput| match wish {
        DialectOutput::Send { frame, .. } => serde_json::from_str(frame).ok(),
        _ => None,
    };
    out.iter().filter_map(of).collect()
}

fn told(out: &[DialectOutput]) -> Vec<&'static str> {
    let of = |wish: &DialectOutput| match wish {
        DialectOutput::Announce(phrase) => Some(phrase.key),
        _ => None,
    };
    out.iter().filter_map(of).collect()
}

fn auth_ok() -> Value {
    json!({"type": "auth_ok", "sessionId": "s", "state": "ESCALATED", "participants": [BUYER]})
}

#[test]
fn the_first_frame_of_every_connection_carries_the_token() {
    let mut asp = with_token(false);
    for _ in 0..2 {
        let first = sent(&news(&mut asp, LinkEvent::Connected));
        assert_eq!(first, [json!({"type": "auth", "token": "s3cret"})]);
    }
    // Without a token there is nothing to say, and a pipe wants nothing.
    assert_eq!(
        news(
            &mut translator(TransportKind::WebSocket),
            LinkEvent::Connected
        ),
        []
    );
    let mut piped = Asp::new(DialectSetup {
        token: Some(Token::new("s3cret")),
        carrier: TransportKind::Lines,
        ..DialectSetup::unattended()
    });
    assert_eq!(news(&mut piped, LinkEvent::Connected), []);
}

#[test]
fn an_identity_proves_that_the_token_is_its_own() {
    let mut asp = with_token(true);
    let first = sent(&news(&mut asp, LinkEvent::Connected));
    let proof = first[0]["dpopProof"].as_str().unwrap();
    let parts: Vec<&str> = proof.split('.').collect();
    let read = |part: &str| URL_SAFE_NO_PAD.decode(part).unwrap();
    let head: Value = serde_json::from_slice(&read(parts[0])).unwrap();
    let claims: Value = serde_json::from_slice(&read(parts[1])).unwrap();
    assert_eq!(
        (&head["typ"], &head["alg"]),
        (&json!("dpop+jwt"), &json!("EdDSA"))
    );
    assert_eq!(claims["htu"], "wss://asp.example/sessions/s/ws");
    assert_eq!(claims["htm"], "GET");
    let key = read(head["jwk"]["x"].as_str().unwrap());
    ring::signature::UnparsedPublicKey::new(&ring::signature::ED25519, key)
        .verify(
            format!("{}.{}", parts[0], parts[1]).as_bytes(),
            &read(parts[2]),
        )
        .unwrap();
}

#[test]
fn every_heartbeat_is_answered() {
    let mut asp = translator(TransportKind::WebSocket);
    for heartbeat in [
        json!({"type": "heartbeat", "timestamp": "x"}),
        json!({"type": "heartbeat", "sessionId": "s", "state": "CONVERSING", "timestamp": "x"}),
    ] {
        let out = frame(&mut asp, &heartbeat);
        assert_eq!(sent(&out), [json!({"type": "pong"})], "{heartbeat}");
    }
    let told = json!({"type": "session_state", "sessionId": "s", "state": "CONVERSING"});
    assert_eq!(sent(&frame(&mut asp, &told)), [] as [Value; 0]);
    let captured = json!({"type": "heartbeat", "timestamp": "x"});
    assert_eq!(frame(&mut translator(TransportKind::OneWay), &captured), []);
}

/// The server would not read it before, and a bare message would be no frame at all.
#[test]
fn an_answer_waits_until_the_server_has_let_us_in_and_goes_out_in_a_frame() {
    let mut asp = with_token(true);
    news(&mut asp, LinkEvent::Connected);
    let message = json!({"type": "message", "envelope": escalate("1", "dear")});
    let asked = token(&frame(&mut asp, &message)).unwrap();
    let lost = LinkEvent::Lost {
        fault: Fault::Closed,
        retry_in: Duration::from_secs(1),
    };
    news(&mut asp, lost.clone());
    news(&mut asp, LinkEvent::Connected);
    let mut out = Vec::new();
    asp.reply(7, &reply(&asked, "resume"), &mut Cx::new(at(0), &mut out));
    assert_eq!(out, [], "not let in yet");
    let out = frame(&mut asp, &auth_ok());
    let [frame] = sent(&out).try_into().unwrap();
    assert_eq!(
        (&frame["type"], &frame["envelope"]["performative"]),
        (&json!("send"), &json!("INFORM"))
    );
    // What never left is kept, so that it can be sent again.
    news(&mut asp, lost.clone());
    news(&mut asp, LinkEvent::Connected);
    let mut out = Vec::new();
    asp.reply(8, &reply(&asked, "close"), &mut Cx::new(at(0), &mut out));
    assert_eq!(out, []);
    let out = news(&mut asp, lost);
    let kept = Err(DeliveryFailure::Kept(Fault::Closed));
    assert!(
        out.contains(&DialectOutput::Settled {
            request: 8,
            outcome: kept
        }),
        "{out:?}"
    );
}

/// Over a WebSocket, a message of ours is framed before any frame was heard, and after a message in a frame.
#[test]
fn an_answer_is_framed_unless_the_server_sends_bare_messages() {
    let message = escalate("1", "dear");
    for (heard, framed) in [
        (json!({"type": "message", "envelope": message}), true),
        (message.clone(), false),
    ] {
        let mut asp = translator(TransportKind::WebSocket);
        let asked = token(&frame(&mut asp, &heard)).unwrap();
        let mut out = Vec::new();
        asp.reply(7, &reply(&asked, "resume"), &mut Cx::new(at(0), &mut out));
        assert_eq!(sent(&out)[0]["type"] == "send", framed, "{out:?}");
    }
}

#[test]
fn a_server_that_turns_us_away_is_left_with_a_word_of_what_it_wants() {
    assert_eq!(crate::asp::WEBSOCKET.turned_away, [4001]);
    for (mut asp, wanted) in [
        (with_token(false), "asp.turned_away.token"),
        (translator(TransportKind::WebSocket), "asp.turned_away.none"),
    ] {
        news(&mut asp, LinkEvent::Connected);
        let complaint = json!({"type": "error", "code": "auth_failed", "message": "no"});
        assert!(told(&frame(&mut asp, &complaint)).contains(&"asp.complaint"));
        let fault = Fault::ClosedWith {
            code: 4001,
            reason: Reason(String::new()),
            turned_away: true,
        };
        assert_eq!(told(&news(&mut asp, LinkEvent::Failed { fault })), [wanted]);
    }
    // Another code is another matter.
    let fault = Fault::ClosedWith {
        code: 1011,
        reason: Reason(String::new()),
        turned_away: false,
    };
    let retry_in = Duration::from_secs(1);
    let out = news(&mut with_token(false), LinkEvent::Lost { fault, retry_in });
    assert_eq!(told(&out), [] as [&str; 0]);
}
