//! The rows with a handshake on the connection itself.

use hearken_wording::phrase;

use super::*;

/// Accepts the request for a subscription at a lower rate, as `sub_N`.
fn shake(peer: &mut dyn TransportPeer, n: u32) {
    let request = peer.receive();
    assert_eq!(request["type"], "subscription.request");
    assert_eq!(request["aaep_version"], "1.0.0");
    assert!(request["subscriber_id"].is_string() && request["capabilities"].is_object());
    let mut honored = request["capabilities"].clone();
    honored["max_events_per_second"] = 3.into();
    peer.respond(&consent(n, &honored));
}

fn consent(n: u32, capabilities: &Value) -> Value {
    json!({
        "type": "subscription.accepted",
        "subscription_id": format!("sub_{n}"),
        "aaep_version": "1.0.0",
        "producer": {"agent_id": "planner"},
        "honored_capabilities": capabilities,
    })
}

/// The same with a handshake, other terms during the session, and the subscription's own end.
fn play_with_a_handshake(mut peer: impl TransportPeer) {
    let settings = tempfile::tempdir().unwrap();
    let mut child = start(&peer, &settings, &[]);
    peer.accept();
    shake(&mut peer, 1);
    child.wait("the connection", |line| line.contains("Connected"));
    let started = json!({"summary_normal": "Planner is here."});
    peer.send(&event(1, "session.started", started));
    child.wait("the session", |line| line.contains("Planner is here."));
    // The status says how it connected and on which terms.
    child.say("t");
    child.wait("the terms", |line| {
        phrase!("terms.rate", honored = 3, asked = 50).is_in(line)
    });
    assert_eq!(ask(&mut peer, &mut child, 10), "sub_1");
    let mut subscription = "sub_1";
    if peer.returns() {
        peer.die();
        child.wait("the loss", |line| line.contains("is lost"));
        peer.accept();
        // There is no resumption: a new request, and a new subscription.
        shake(&mut peer, 2);
        subscription = "sub_2";
        let state = json!({"from_state": "awaiting_input", "to_state": "thinking", "summary_normal": "Planner thinks."});
        peer.send(&event(2, "state.changed", state));
        child.wait("the news", |line| line.contains("Planner thinks."));
        assert_eq!(ask(&mut peer, &mut child, 20), "sub_2");
    }
    child.say("v");
    let change = peer.receive();
    assert_eq!(change["type"], "subscription.renegotiate");
    assert_eq!(change["subscription_id"], subscription);
    assert_eq!(change["capabilities"]["preferred_verbosity"], "detailed");
    let n = if subscription == "sub_1" { 1 } else { 2 };
    peer.respond(&consent(n, &change["capabilities"]));
    child.say("x");
    if !peer.returns() {
        child.wait("the warning", |line| phrase!("leave.program").is_in(line));
        child.say("x");
    }
    let close = peer.receive();
    assert_eq!(close["type"], "subscription.close");
    assert_eq!(close["subscription_id"], subscription);
    assert_eq!(close["reason_code"], "subscriber_shutdown");
    peer.left();
    let (code, errors, _) = child.exit();
    assert_eq!((code, errors.as_str()), (0, ""));
}

#[test]
fn websocket_with_a_handshake() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let socket = None;
    bounded(move || play_with_a_handshake(WebsocketPeer { listener, socket }));
}

#[cfg(unix)]
#[test]
fn unix_socket_with_a_handshake() {
    bounded(|| play_with_a_handshake(Unix::new(true)));
}

#[test]
fn a_program_with_a_handshake() {
    bounded(|| play_with_a_handshake(Stdio::new(true)));
}
