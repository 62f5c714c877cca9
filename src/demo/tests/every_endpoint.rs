//! The same producer at every door: WebSocket, Unix socket in both framings, pipes' JSON-RPC.

use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use http::HeaderValue;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};

use super::tcp_client::{post, server, within};
use crate::demo::{DemoSettings, ServedDemo};
use crate::producer::Signer;
use crate::protocol::KeyRing;

fn asking(capabilities: Value) -> Value {
    json!({"type": "subscription.request", "aaep_version": "1.0.0", "subscriber_id": "test",
        "capabilities": capabilities})
}

async fn socket(
    running: &ServedDemo,
    protocol: &'static str,
) -> Option<WebSocketStream<TcpStream>> {
    let stream = TcpStream::connect(running.addr()).await.unwrap();
    let url = format!("ws://{}/aaep/v1/ws", running.addr());
    let mut request = url.into_client_request().unwrap();
    request
        .headers_mut()
        .insert("sec-websocket-protocol", HeaderValue::from_static(protocol));
    let made = client_async(request, stream).await;
    made.ok().map(|(socket, _)| socket)
}

async fn told(socket: &mut WebSocketStream<TcpStream>) -> Value {
    loop {
        match within(socket.next()).await.unwrap().unwrap() {
            Message::Text(text) => return serde_json::from_str(&text).unwrap(),
            Message::Close(close) => return json!({"closed": u16::from(close.unwrap().code)}),
            _ => {}
        }
    }
}

async fn say(socket: &mut WebSocketStream<TcpStream>, message: &Value) {
    let text = Message::text(message.to_string());
    within(socket.send(text)).await.unwrap();
}

#[tokio::test]
async fn a_websocket_carries_the_handshake_events_replies_and_the_end() {
    let running = server(DemoSettings::stepped(1)).await;
    assert!(socket(&running, "chat").await.is_none(), "another protocol");
    let mut socket = socket(&running, "aaep.v1").await.unwrap();
    say(
        &mut socket,
        &asking(json!({"max_events_per_second": 1000, "supports_confirmation_reply": true})),
    )
    .await;
    let consent = told(&mut socket).await;
    assert_eq!(consent["type"], "subscription.accepted");
    let id = consent["subscription_id"].clone();
    running.agents().start("email").unwrap();
    let question = loop {
        let event = told(&mut socket).await;
        if event["type"] == "aaep:agent.awaiting.confirmation" {
            break event;
        }
    };
    say(
        &mut socket,
        &json!({"type": "subscription.renegotiate", "subscription_id": id,
            "capabilities": {"max_events_per_second": 2000}}),
    )
    .await;
    assert_eq!(
        told(&mut socket).await["honored_capabilities"]["max_events_per_second"],
        2000
    );
    say(
        &mut socket,
        &json!({"type": "confirmation.reply", "reply_token": question["reply_token"],
            "decision": "accept", "subscription_id": id, "timestamp": question["timestamp"]}),
    )
    .await;
    within(running.producer().until_replies(1)).await;
    while told(&mut socket).await["type"] != "aaep:agent.session.completed" {}
    say(
        &mut socket,
        &json!({"type": "subscription.close", "subscription_id": id}),
    )
    .await;
    assert_eq!(told(&mut socket).await, json!({"closed": 4000}));
    within(running.producer().until_deserted()).await;
    assert_eq!(running.producer().agreed(), 0);
    running.stop().await;
}

#[tokio::test]
async fn a_refusal_and_what_is_no_message_close_with_their_codes() {
    let running = server(DemoSettings::stepped(1)).await;
    let mut refused = socket(&running, "aaep.v1").await.unwrap();
    say(&mut refused, &asking(json!({"pace_wpm": 1}))).await;
    assert_eq!(told(&mut refused).await["type"], "subscription.rejected");
    assert_eq!(told(&mut refused).await, json!({"closed": 4001}));
    let mut noisy = socket(&running, "aaep.v1").await.unwrap();
    within(noisy.send(Message::text("hello"))).await.unwrap();
    assert_eq!(told(&mut noisy).await, json!({"closed": 4004}));
    running.stop().await;
}

#[tokio::test]
async fn a_stop_tells_every_subscriber() {
    let running = server(DemoSettings::stepped(1)).await;
    let mut socket = socket(&running, "aaep.v1").await.unwrap();
    say(
        &mut socket,
        &asking(json!({"supports_confirmation_reply": true})),
    )
    .await;
    told(&mut socket).await;
    within(running.stop()).await;
    assert_eq!(told(&mut socket).await["type"], "subscription.close");
    assert_eq!(told(&mut socket).await, json!({"closed": 4000}));
}

#[cfg(unix)]
#[tokio::test]
async fn a_unix_socket_takes_either_framing_and_goes_with_its_server() {
    use crate::demo::serve_at;
    use crate::producer::ListenAddress;
    use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
    use tokio::net::UnixStream;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("aaep/demo.sock");
    let place = ListenAddress::Socket(path.clone());
    let running = serve_at(std::slice::from_ref(&place), DemoSettings::stepped(1))
        .await
        .unwrap();
    let text = asking(json!({"supports_confirmation_reply": true})).to_string();
    let mut lengths = UnixStream::connect(&path).await.unwrap();
    let mut framed = u32::try_from(text.len()).unwrap().to_be_bytes().to_vec();
    framed.extend_from_slice(text.as_bytes());
    lengths.write_all(&framed).await.unwrap();
    let length = within(lengths.read_u32()).await.unwrap();
    let mut consent = vec![0; usize::try_from(length).unwrap()];
    within(lengths.read_exact(&mut consent)).await.unwrap();
    let consent: Value = serde_json::from_slice(&consent).unwrap();
    assert_eq!(consent["type"], "subscription.accepted");
    let mut lines = BufReader::new(UnixStream::connect(&path).await.unwrap());
    lines
        .write_all(format!("{text}\n").as_bytes())
        .await
        .unwrap();
    let mut line = String::new();
    within(lines.read_line(&mut line)).await.unwrap();
    assert!(line.contains("subscription.accepted"), "{line}");
    assert_eq!(running.producer().agreed(), 2);
    // An end without a farewell ends the subscription too (5.8).
    drop(lines);
    within(running.producer().until_subscribers_are(1)).await;
    assert_eq!(running.producer().agreed(), 1);
    let taken = serve_at(&[place], DemoSettings::stepped(1)).await;
    assert!(taken.is_err(), "somebody listens there");
    running.stop().await;
    assert!(!path.exists());
}

#[tokio::test]
async fn a_signed_manifest_proves_the_demo_and_lists_its_doors() {
    let signer = Signer::generate().unwrap();
    let mut keys = KeyRing::default();
    keys.add("hearken-demo", None, &signer.public_pem())
        .unwrap();
    let settings = DemoSettings {
        signer: Some(Arc::new(signer)),
        ..DemoSettings::stepped(1)
    };
    let running = server(settings).await;
    let wanted = asking(json!({"accept_signed_manifests_only": true}));
    let (status, consent) = post(running.addr(), "/aaep/v1/subscriptions", &wanted).await;
    assert_eq!(status, 201, "{consent}");
    let manifest = keys
        .verify(consent["signed_manifest"].as_str().unwrap())
        .unwrap();
    assert_eq!(manifest.agent_id, consent["producer"]["agent_id"]);
    assert_eq!(manifest.transports, ["sse", "websocket"]);
    running.stop().await;
}
