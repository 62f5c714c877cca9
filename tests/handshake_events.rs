//! Server-sent events with a handshake, through the whole story of the matrix: connect, terms, events, a
//! question, its answer, a connection that breaks and is resumed, a server that dies and returns without
//! its memory, other terms, a farewell.

use hearken_wording::phrase;
use serde_json::{Value, json};

use crate::support::child::Hearken;
use crate::support::scripted_handshake::{Events, HandshakeServer, consent, event};

fn question(n: u32) -> Value {
    let fields = json!({"urgency": "critical", "reply_token": format!("rpl_{n}"),
        "action": format!("Send letter {n}"), "consequence": "It leaves.", "risk_level": "low",
        "irreversible": false, "timeout_seconds": 120, "default_decision": "reject"});
    event(n, "awaiting.confirmation", &fields)
}

/// Returns the event that ends the open question, as from an agent that continues.
fn going_on(n: u32) -> Value {
    let fields = json!({"from_state": "awaiting_input", "to_state": "thinking",
        "summary_normal": format!("Planner thinks {n}.")});
    event(n, "state.changed", &fields)
}

/// Asks, answers with a line, and checks every field of the reply.
fn ask(
    server: &HandshakeServer,
    events: &mut Events,
    child: &mut Hearken,
    id: &str,
    (n, nth): (u32, u32),
) {
    events.send(&question(n));
    let letter = format!("Send letter {n}");
    child.announced("confirmation", &letter);
    child.say(&format!("y {nth}"));
    let reply = server.told("204 No Content", &Value::Null);
    let mut keys: Vec<&String> = reply.as_object().unwrap().keys().collect();
    keys.sort();
    let wanted = "decided_by decision reply_token subscription_id timestamp type";
    assert_eq!(keys, wanted.split(' ').collect::<Vec<_>>());
    assert_eq!(reply["type"], "confirmation.reply");
    assert_eq!(reply["decision"], "accept");
    assert_eq!(reply["reply_token"], format!("rpl_{n}"));
    assert_eq!(reply["subscription_id"], id);
    events.send(&going_on(n + 1));
    child.announced("confirmation", "settled");
}

#[test]
fn server_sent_events_with_a_handshake() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    let settings = "[links]\nbackoff_first_ms = 50\nbackoff_cap_ms = 100\n";
    std::fs::write(&config, settings).unwrap();
    let server = HandshakeServer::at("127.0.0.1:0");
    let url = format!("http://{}", server.at);
    let flags = ["watch", "--face", "json", "--voice", "none", "--config"];
    let rest = [config.to_str().unwrap(), url.as_str()];
    let mut child = Hearken::start(&[&flags[..], &rest[..]].concat());

    // Connect and shake hands.
    let request = server.agree("sub_1");
    assert_eq!(request["type"], "subscription.request");
    assert_eq!(request["aaep_version"], "1.0.0");
    assert_eq!(request["capabilities"]["supports_confirmation_reply"], true);
    let first = server.events("sub_1");
    assert!(
        first.head.contains("\r\naccept: text/event-stream\r\n")
            || first.head.starts_with("accept: text/event-stream\r\n"),
        "{}",
        first.head
    );
    assert!(!first.head.contains("last-event-id"), "{}", first.head);
    let mut events = first.stream();
    child.announced("connection", phrase!("terms.rate", honored = 3, asked = 50));
    child.announced("connection", phrase!("link.handshake"));

    // Events, a question, its answer.
    let started = json!({"summary_normal": "Planner is here."});
    let started = event(1, "session.started", &started);
    events.send(&started);
    child.announced("session_started", "Planner is here.");
    ask(&server, &mut events, &mut child, "sub_1", (10, 1));

    // The connection breaks: the same subscription resumes after the last event.
    drop(events);
    child.announced("connection", phrase!("link.lost"));
    let again = server.events("sub_1");
    assert!(
        again.head.contains("last-event-id: evt_11\r\n"),
        "{}",
        again.head
    );
    let mut events = again.stream();
    child.announced("connection", phrase!("link.back"));
    // A repeated event is not announced again: the next announcement is the new question.
    events.send(&started);
    ask(&server, &mut events, &mut child, "sub_1", (20, 2));

    // The server dies, and returns without its memory: a new handshake.
    let at = server.die();
    drop(events);
    child.announced("connection", phrase!("link.lost"));
    let server = HandshakeServer::at(&at.to_string());
    server
        .events("sub_1")
        .answer("404 Not Found", "", &Value::Null);
    let request = server.agree("sub_2");
    assert_eq!(request["type"], "subscription.request");
    let mut events = server.events("sub_2").stream();
    child.announced("connection", phrase!("link.back"));
    ask(&server, &mut events, &mut child, "sub_2", (30, 3));

    // Other terms during the session.
    child.say("v");
    let honored = json!({"preferred_verbosity": "detailed"});
    let change = server.told("200 OK", &consent("sub_2", &honored));
    assert_eq!(change["type"], "subscription.renegotiate");
    assert_eq!(change["subscription_id"], "sub_2");
    assert_eq!(change["capabilities"], honored);

    // The farewell.
    child.say("x");
    let close = server.told("204 No Content", &Value::Null);
    assert_eq!(close["type"], "subscription.close");
    assert_eq!(close["subscription_id"], "sub_2");
    assert_eq!(close["reason_code"], "subscriber_shutdown");
    events.left();
    let (code, errors, lines) = child.exit();
    assert_eq!((code, errors.as_str()), (0, ""));
    let said = |words: &str| lines.iter().filter(|line| line.contains(words)).count();
    assert_eq!(said("Planner is here."), 1, "{lines:?}");
}
