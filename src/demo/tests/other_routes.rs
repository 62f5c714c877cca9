//! The routes other than events and replies.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::tcp_client::{EventStreamReader, post, request, server, within};
use crate::demo::{DemoSettings, StartError};

#[tokio::test]
async fn a_run_is_started_by_name_by_words_and_as_the_conformance_suite_does() {
    let running = server(DemoSettings::stepped(1)).await;
    let mut stream = EventStreamReader::greeted(running.addr(), None).await;
    for (path, body, scenario) in [
        ("/sessions", json!({"scenario": "tool"}), "tool"),
        (
            "/sessions",
            json!({"user_message": "how is the weather?"}),
            "tool",
        ),
        (
            "/messages",
            json!({"kind": "user_input", "text": "the weather, briefly"}),
            "tool",
        ),
    ] {
        let (status, answer) = post(running.addr(), path, &body).await;
        assert_eq!(status, 202, "{body}");
        assert_eq!(answer["status"], "started");
        assert_eq!(answer["scenario"], scenario);
        let events = stream.until("session.completed").await;
        assert_eq!(events[0]["session_id"], answer["session_id"]);
        assert_eq!(answer["session_ids"], json!([answer["session_id"]]));
    }
    running.stop().await;
}

#[tokio::test]
async fn what_starts_nothing_says_why() {
    let running = server(DemoSettings::stepped(2)).await;
    for (body, code) in [
        ("{}", "invalid_message"),
        (r#"{"user_message":"  "}"#, "invalid_message"),
        (r#"{"scenario":5}"#, "invalid_message"),
        (r#"{"scenario":"no such thing"}"#, "unknown_scenario"),
        ("[]", "invalid_json"),
        ("", "invalid_json"),
    ] {
        let (status, _, answer) = request(running.addr(), "POST", "/sessions", body).await;
        assert_eq!(status, 400, "{body}");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["error"], code, "{body}");
        assert!(answer["message"].is_string());
    }
    assert_eq!(running.agents().start("x").err(), Some(StartError::Unknown));
    running.stop().await;
}

#[tokio::test]
async fn other_paths_and_methods_are_refused_in_json() {
    let running = server(DemoSettings::stepped(3)).await;
    for (method, path, status, allow) in [
        ("GET", "/aaep/v2/subscriptions", 404, None),
        ("GET", "/.well-known/else.json", 404, None),
        ("GET", "/aaep/v1/subscriptions", 405, Some("allow: post")),
        ("POST", "/events", 405, Some("allow: get")),
        ("GET", "/messages", 405, Some("allow: post")),
        ("DELETE", "/sessions", 405, Some("allow: post")),
        ("OPTIONS", "/messages", 405, Some("allow: post")),
    ] {
        let (found, head, body) = request(running.addr(), method, path, "").await;
        assert_eq!(found, status, "{method} {path}");
        let answer: Value = serde_json::from_str(&body).unwrap();
        assert!(answer["error"].is_string() && answer["message"].is_string());
        assert!(allow.is_none_or(|allow| head.contains(allow)), "{head}");
    }
    let (status, head, body) = request(running.addr(), "GET", "/", "").await;
    assert_eq!(status, 200);
    assert!(head.contains("text/plain"));
    assert!(
        body.contains("POST /sessions") && body.contains("\ntour "),
        "{body}"
    );
    let (status, _, body) = request(running.addr(), "GET", "/healthz", "").await;
    assert_eq!(status, 200);
    let health: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(health["status"], "ok");
    assert_eq!(health["subscribers"], 0);
    running.stop().await;
}

#[tokio::test]
async fn a_body_that_is_too_large_is_not_taken_in() {
    let running = server(DemoSettings::stepped(4)).await;
    let (status, _, body) = request(
        running.addr(),
        "POST",
        "/messages",
        &"x".repeat(64 * 1024 + 1),
    )
    .await;
    assert_eq!(status, 413);
    assert!(body.contains("too_large"), "{body}");
    assert!(running.producer().replies().is_empty());
    running.stop().await;
}

#[tokio::test]
async fn a_connection_serves_one_request_and_says_so() {
    let running = server(DemoSettings::stepped(5)).await;
    let mut tcp = TcpStream::connect(running.addr()).await.unwrap();
    let request = "GET /healthz HTTP/1.1\r\nHost: demo\r\n\r\n";
    tcp.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    within(tcp.read_to_string(&mut answer)).await.unwrap();
    assert!(
        answer.to_lowercase().contains("connection: close"),
        "{answer}"
    );
    running.stop().await;
}

#[tokio::test]
async fn garbage_on_the_socket_harms_nobody() {
    let running = server(DemoSettings::stepped(6)).await;
    for garbage in [
        &b"\x00\xff\xfe\x00\r\n\r\n"[..],
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /messages HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ] {
        let mut tcp = TcpStream::connect(running.addr()).await.unwrap();
        tcp.write_all(garbage).await.unwrap();
        tcp.shutdown().await.unwrap();
        let mut answer = Vec::new();
        let _ = within(tcp.read_to_end(&mut answer)).await;
        assert!(!answer.starts_with(b"HTTP/1.1 2"), "{garbage:?}");
    }
    let (status, _, _) = request(running.addr(), "GET", "/healthz", "").await;
    assert_eq!(status, 200);
    running.stop().await;
}

#[tokio::test]
async fn no_more_than_sixteen_scenarios_run_at_once() {
    let running = server(DemoSettings::stepped(7)).await;
    let producer = running.producer();
    let agents = running.agents();
    let first = agents.start("question").unwrap();
    for _ in 1..16 {
        agents.start("question").unwrap();
    }
    assert_eq!(agents.start("question").err(), Some(StartError::TooMany));
    let (status, answer) = post(running.addr(), "/sessions", &json!({"scenario": "tool"})).await;
    assert_eq!((status, &answer["error"]), (503, &json!("busy")));
    within(producer.until_asked(16)).await;
    assert_eq!(producer.expire_questions(), 16);
    within(first.until_ended()).await;
    running.stop().await;
}
