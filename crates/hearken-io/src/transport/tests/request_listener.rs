//! Incoming requests, from clients that the test plays by hand.

use super::*;
use crate::config::LinkConfig;
use crate::link::Cause;
use crate::transport::Tls;
use crate::transport::tests::{Listener, connecting, quick, soon};

const SECRET: &str = "0123456789abcdef_-";

/// Opens a listening source on any free port, and returns the port.
async fn opened(config: LinkConfig) -> (Listener, u16) {
    let listening = Listening::new(0, Secret::new(SECRET)).unwrap();
    let (sink, news) = LinkSink::channel(3, 64);
    let settings = LinkSettings::new(config, None, Tls::default(), 1);
    let handle = listen(listening, &settings, sink);
    let mut link = Listener { handle, news };
    link.expect(&[connecting(1)]).await;
    let LinkEvent::Listening { port } = link.next().await else {
        panic!("no port");
    };
    link.expect(&[LinkEvent::Connected]).await;
    (link, port)
}

/// Sends bytes over a new connection.
async fn send(port: u16, bytes: &str) -> TcpStream {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))
        .await
        .unwrap();
    stream.write_all(bytes.as_bytes()).await.unwrap();
    stream
}

/// Returns the text of a request.
fn request(method: &str, path: &str, host: &str, body: &str) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Reads an answer to its end.
async fn answer(mut stream: TcpStream) -> String {
    let mut text = String::new();
    soon(stream.read_to_string(&mut text)).await.unwrap();
    text
}

async fn status(port: u16, request: &str) -> String {
    let text = answer(send(port, request).await).await;
    text.lines().next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_request_comes_in_and_is_answered_when_somebody_decides() {
    let (mut link, port) = opened(quick()).await;
    for (number, (method, path, seen)) in [
        ("POST", format!("/{SECRET}/hook?a=1"), "/hook?a=1"),
        ("GET", format!("/{SECRET}"), "/"),
        ("PUT", format!("/{SECRET}?x"), "/?x"),
        ("DELETE", format!("/{SECRET}//y"), "//y"),
    ]
    .into_iter()
    .enumerate()
    {
        let host = format!("127.0.0.1:{port}");
        let client = send(port, &request(method, &path, &host, "{\"ü\":1}")).await;
        let LinkEvent::Request { id, request } = link.next().await else {
            panic!("no request");
        };
        assert_eq!(id, number as u64 + 1);
        assert_eq!(request.method.name(), method);
        assert_eq!(
            (request.path.as_str(), request.body.as_str()),
            (seen, "{\"ü\":1}")
        );
        // No decision has been made: nothing is answered, and nothing lapses.
        assert!(link.is_quiet());
        link.handle
            .respond(id, 202, "{\"ok\":true}".to_owned(), None);
        // A second answer has no effect.
        link.handle.respond(id, 500, "no".to_owned(), None);
        let text = answer(client).await;
        assert!(text.starts_with("HTTP/1.1 202 "), "{text}");
        assert!(text.contains("content-type: application/json"), "{text}");
        assert!(text.ends_with("\r\n\r\n{\"ok\":true}"), "{text}");
    }
    assert!(link.is_quiet());
}

#[tokio::test]
async fn who_does_not_know_the_secret_finds_nothing() {
    let (mut link, port) = opened(quick()).await;
    let short = &SECRET[1..];
    for path in [
        "/".to_owned(),
        "/hook".to_owned(),
        format!("/{short}"),
        format!("/{SECRET}x/hook"),
        format!("/x{SECRET}/hook"),
        format!("//{SECRET}/hook"),
        format!("/{}/hook", SECRET.to_uppercase()),
        format!("/{}/hook", SECRET.replace('_', "%5F")),
        format!("/?{SECRET}"),
    ] {
        let told = status(port, &request("POST", &path, "localhost", "{}")).await;
        assert_eq!(told, "HTTP/1.1 404 Not Found", "{path}");
    }
    // Nine arrived, and only the first is reported.
    link.expect(&[LinkEvent::Strangers { count: 1 }]).await;
    assert!(link.is_quiet());
}

#[tokio::test]
async fn whoever_only_holds_connections_open_keeps_nobody_out_and_is_reported() {
    let (mut link, port) = opened(quick()).await;
    let mut idle = Vec::new();
    for _ in 0..2 * MOST_STRANGERS {
        idle.push(
            TcpStream::connect((Ipv4Addr::LOCALHOST, port))
                .await
                .unwrap(),
        );
    }
    let begun = tokio::time::Instant::now();
    let text = request("POST", &format!("/{SECRET}/hook"), "localhost", "{}");
    let client = send(port, &text).await;
    let mut strangers = 0;
    loop {
        match link.next().await {
            LinkEvent::Request { id, .. } => {
                break link.handle.respond(id, 200, "heard".to_owned(), None);
            }
            LinkEvent::Strangers { count } => strangers = count,
            other => panic!("{other:?}"),
        }
    }
    assert!(
        begun.elapsed() < Duration::from_secs(2),
        "{:?}",
        begun.elapsed()
    );
    assert!(answer(client).await.ends_with("heard"));
    while strangers < 100 {
        let LinkEvent::Strangers { count } = link.next().await else {
            panic!("no report");
        };
        strangers = count;
    }
    // They are closed, too.
    let mut byte = [0];
    assert!(matches!(
        soon(idle[0].read(&mut byte)).await,
        Ok(0) | Err(_)
    ));
}

#[tokio::test]
async fn a_request_is_heard_although_its_sender_leaves_at_once() {
    let (mut link, port) = opened(quick()).await;
    let text = request("POST", &format!("/{SECRET}/hook"), "localhost", "{}");
    drop(send(port, &text).await);
    assert!(matches!(link.next().await, LinkEvent::Request { .. }));
}

#[tokio::test]
async fn a_host_that_is_not_this_machine_is_refused_whatever_it_knows() {
    let (mut link, port) = opened(quick()).await;
    let path = format!("/{SECRET}/hook");
    for host in [
        "evil.example",
        "evil.example:80",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "127.0.0.1:x",
        "",
    ] {
        let told = status(port, &request("POST", &path, host, "{}")).await;
        assert_eq!(told, "HTTP/1.1 403 Forbidden", "{host}");
    }
    let two = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\nConnection: close\r\n\r\n"
    );
    assert_eq!(status(port, &two).await, "HTTP/1.1 403 Forbidden");
    let none = format!("GET {path} HTTP/1.0\r\n\r\n");
    assert!(status(port, &none).await.contains("403"));
    assert!(link.is_quiet());
    for host in ["localhost", "LocalHost:1", "127.0.0.1", "[::1]:9"] {
        let client = send(port, &request("GET", &path, host, "")).await;
        let LinkEvent::Request { id, .. } = link.next().await else {
            panic!("{host}");
        };
        link.handle.respond(id, 200, String::new(), None);
        assert!(answer(client).await.starts_with("HTTP/1.1 200 "), "{host}");
    }
}

#[tokio::test]
async fn what_is_too_large_or_no_request_is_told_to_nobody() {
    let config = LinkConfig {
        max_frame_bytes: 100,
        ..quick()
    };
    let (mut link, port) = opened(config).await;
    let path = format!("/{SECRET}/hook");
    let large = request("POST", &path, "localhost", &"x".repeat(101));
    assert_eq!(status(port, &large).await, "HTTP/1.1 413 Payload Too Large");
    let endless = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n65\r\n{}\r\n",
        "x".repeat(101)
    );
    assert_eq!(
        status(port, &endless).await,
        "HTTP/1.1 413 Payload Too Large"
    );
    let odd = request("BREW", &path, "localhost", "");
    assert_eq!(status(port, &odd).await, "HTTP/1.1 405 Method Not Allowed");
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n",
        "x".repeat(2 * HEAD_BYTES)
    );
    let told = status(port, &head).await;
    assert!(told.contains("431"), "{told}");
    let whole = request("POST", &path, "localhost", "{}");
    // A request that breaks off early never counts as one.
    drop(send(port, &whole[..whole.len() - 1]).await);
    assert!(link.is_quiet());
    let fits = request("POST", &path, "localhost", &"x".repeat(100));
    let _client = send(port, &fits).await;
    assert!(matches!(link.next().await, LinkEvent::Request { .. }));
}

#[tokio::test]
async fn a_request_whose_sender_goes_away_lapses_and_takes_no_answer() {
    let (mut link, port) = opened(quick()).await;
    let text = request("POST", &format!("/{SECRET}/hook"), "localhost", "{}");
    let client = send(port, &text).await;
    let LinkEvent::Request { id, .. } = link.next().await else {
        panic!("no request");
    };
    drop(client);
    link.expect(&[LinkEvent::Lapsed { id }]).await;
    link.handle.respond(id, 200, "late".to_owned(), Some(7));
    let outcome = Err(DeliveryFailure::Kept(Fault::Closed));
    link.expect(&[LinkEvent::Replied {
        request: 7,
        outcome,
    }])
    .await;
    // The next request gets a new id.
    let client = send(port, &text).await;
    let LinkEvent::Request { id: next, .. } = link.next().await else {
        panic!("no request");
    };
    assert_ne!(id, next);
    link.handle.respond(next, 200, "now".to_owned(), Some(8));
    assert!(answer(client).await.ends_with("now"));
    let outcome = Ok(Receipt::Written);
    link.expect(&[LinkEvent::Replied {
        request: 8,
        outcome,
    }])
    .await;
    assert!(link.is_quiet());
}

#[tokio::test]
async fn a_request_that_nobody_answers_lapses_in_the_end() {
    let held = WaitingRequests::default();
    let (sink, mut news) = LinkSink::channel(3, 64);
    let (lapsed, mut told) = mpsc::unbounded_channel();
    let guard = Guard {
        secret: Secret::new(SECRET),
        most: 100,
        patience: Duration::from_millis(20),
        held: held.clone(),
        sink,
        next: AtomicU64::new(1),
        places: Arc::new(Semaphore::new(1)),
        lapsed,
    };
    let begun = tokio::time::Instant::now();
    let response = guard
        .wait(IncomingRequest {
            method: Method::Post,
            path: "/hook".to_owned(),
            body: String::new(),
        })
        .await;
    assert_eq!(response.status(), StatusCode::GATEWAY_TIMEOUT);
    assert!(begun.elapsed() >= guard.patience);
    assert!(matches!(
        news.recv().await,
        Some((3, LinkEvent::Request { id: 1, .. }))
    ));
    assert_eq!(told.recv().await, Some(1));
    assert!(held.with(|held| held.is_empty()));
}

#[tokio::test]
async fn more_connections_than_there_is_room_for_wait_their_turn() {
    let (mut link, port) = opened(quick()).await;
    let text = request("POST", &format!("/{SECRET}/hook"), "localhost", "{}");
    let mut clients = Vec::new();
    for _ in 0..MOST_CONNECTIONS + 1 {
        clients.push(send(port, &text).await);
    }
    let mut ids = Vec::new();
    while ids.len() < MOST_CONNECTIONS {
        if let LinkEvent::Request { id, .. } = link.next().await {
            ids.push(id);
        }
    }
    assert!(link.is_quiet());
    link.handle.respond(ids[0], 200, String::new(), None);
    assert!(matches!(link.next().await, LinkEvent::Request { .. }));
}

#[tokio::test]
async fn closing_the_source_hangs_up_and_sending_over_it_reaches_nobody() {
    let (mut link, port) = opened(quick()).await;
    link.handle.send(9, "{}".to_owned());
    link.expect(&[crate::transport::tests::replied(
        9,
        Err(DeliveryFailure::Kept(Fault::OneWay)),
    )])
    .await;
    let text = request("POST", &format!("/{SECRET}/hook"), "localhost", "{}");
    let client = send(port, &text).await;
    assert!(matches!(link.next().await, LinkEvent::Request { .. }));
    soon(link.handle.close()).await.unwrap();
    assert_eq!(answer(client).await, "");
    assert!(
        TcpStream::connect((Ipv4Addr::LOCALHOST, port))
            .await
            .is_err()
    );
}

#[tokio::test]
async fn a_port_that_is_taken_is_told() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = taken.local_addr().unwrap().port();
    let listening = Listening::new(port, Secret::new(SECRET)).unwrap();
    let (sink, news) = LinkSink::channel(3, 64);
    let settings = LinkSettings::new(quick(), None, Tls::default(), 1);
    let handle = listen(listening, &settings, sink);
    let mut link = Listener { handle, news };
    link.expect(&[connecting(1)]).await;
    match link.next().await {
        LinkEvent::Failed { fault } => {
            assert!(fault.is_final());
            let Fault::Unusable(Cause::NoListening { name, .. }) = fault else {
                panic!("{fault:?}");
            };
            assert!(name.ends_with(&port.to_string()), "{name}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_secret_that_is_none_opens_nothing() {
    for bad in [
        "",
        "short",
        "0123456789abcde",
        "0123456789abcdef/",
        "0123456789abcdef%20",
    ] {
        assert!(Listening::new(0, Secret::new(bad)).is_none(), "{bad}");
    }
    let long = "x".repeat(129);
    assert!(Listening::new(0, Secret::new(&long)).is_none());
    let good = Listening::new(0, Secret::new(SECRET)).unwrap();
    assert!(!format!("{good:?}").contains(SECRET));
}

#[test]
fn secrets_are_the_same_only_byte_for_byte() {
    assert!(is_same(b"abc", b"abc"));
    for (given, secret) in [("abd", "abc"), ("", "abc"), ("ab", "abc"), ("abcd", "abc")] {
        assert!(!is_same(given.as_bytes(), secret.as_bytes()), "{given}");
    }
}
