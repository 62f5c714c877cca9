//! WebSockets against a server that the test plays by hand.

use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::accept_hdr_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

use crate::config::LinkConfig;
use crate::link::{Fault, LinkEvent, NoWebSocket, Reason, Receipt, Subprotocol, WebSocketTerms};
use crate::transport::tests::{Listener, LoopbackServer, connecting, frame, quick, replied, soon};
use crate::transport::{LinkSettings, Source, Tls};

type ServerSocket = WebSocketStream<TcpStream>;

fn address(producer: &LoopbackServer) -> String {
    producer.base().replace("http://", "ws://")
}

/// Accepts a connection and its upgrade; returns the request's path and token, too.
async fn upgrade(producer: &LoopbackServer) -> (ServerSocket, String, Option<String>) {
    soon(async {
        let (stream, _) = producer.listener.accept().await.unwrap();
        let mut seen = (String::new(), None);
        #[allow(clippy::result_large_err, reason = "the type is tungstenite's")]
        let server = accept_hdr_async(stream, |request: &Request, mut response: Response| {
            let header = |name: &str| {
                let value = request.headers().get(name)?;
                Some(value.to_str().unwrap().to_owned())
            };
            assert_eq!(header("sec-websocket-protocol").as_deref(), Some("aaep.v1"));
            seen = (request.uri().path().to_owned(), header("authorization"));
            response
                .headers_mut()
                .insert("sec-websocket-protocol", "aaep.v1".parse().unwrap());
            Ok(response)
        })
        .await
        .unwrap();
        (server, seen.0, seen.1)
    })
    .await
}

async fn text(server: &mut ServerSocket) -> String {
    loop {
        match soon(server.next()).await.unwrap().unwrap() {
            Message::Text(text) => return text.as_str().to_owned(),
            Message::Ping(_) | Message::Pong(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

async fn close<T: AsyncRead + AsyncWrite + Unpin>(server: &mut WebSocketStream<T>, code: u16) {
    let close = CloseFrame {
        code: code.into(),
        reason: "secret words".into(),
    };
    let _ = soon(server.close(Some(close))).await;
}

#[tokio::test]
async fn messages_go_both_ways_over_one_connection() {
    let producer = LoopbackServer::start().await;
    let mut link = Listener::open_with(&address(&producer), quick(), Some("abc"), 64);
    let (mut server, path, token) = upgrade(&producer).await;
    assert_eq!(path, "/aaep/v1/ws");
    assert_eq!(token.as_deref(), Some("Bearer abc"));
    link.expect(&[connecting(1), LinkEvent::Connected]).await;
    link.handle.send(1, "{\"a\":1}".to_owned());
    assert_eq!(text(&mut server).await, "{\"a\":1}");
    link.expect(&[replied(1, Ok(Receipt::Written))]).await;
    server.send(Message::text("{\"n\":1}")).await.unwrap();
    server.send(Message::binary(vec![1, 2])).await.unwrap();
    server.send(Message::Ping("x".into())).await.unwrap();
    server.send(Message::text("{\"n\":2}")).await.unwrap();
    link.expect(&[frame("{\"n\":1}")]).await;
    assert!(matches!(
        link.next().await,
        LinkEvent::Dropped { count: 1, .. }
    ));
    link.expect(&[frame("{\"n\":2}")]).await;
    // The ping was answered.
    loop {
        if let Message::Pong(data) = soon(server.next()).await.unwrap().unwrap() {
            assert_eq!(data.as_ref(), b"x");
            break;
        }
    }
}

#[tokio::test]
async fn leaving_says_so() {
    let producer = LoopbackServer::start().await;
    let mut link = Listener::open(&address(&producer), quick());
    let (mut server, ..) = upgrade(&producer).await;
    link.expect(&[connecting(1), LinkEvent::Connected]).await;
    soon(link.handle.close()).await.unwrap();
    match soon(server.next()).await.unwrap().unwrap() {
        Message::Close(Some(close)) => assert_eq!(u16::from(close.code), 4005),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_lost_connection_is_made_again() {
    let producer = LoopbackServer::start().await;
    let mut link = Listener::open(&address(&producer), quick());
    for round in 0..3 {
        let (mut server, ..) = upgrade(&producer).await;
        link.expect(&[connecting(1), LinkEvent::Connected]).await;
        let text = format!("{{\"n\":{round}}}");
        server.send(Message::text(text.clone())).await.unwrap();
        link.expect(&[frame(&text)]).await;
        drop(server);
        assert!(matches!(
            link.next().await,
            LinkEvent::Lost {
                fault: Fault::Closed,
                ..
            }
        ));
    }
}

#[tokio::test]
async fn close_codes_say_whether_it_is_over() {
    for (code, fault) in [
        (1000, None),
        (4000, None),
        (4005, None),
        (4001, Some(true)),
        (4002, Some(true)),
        (4003, Some(true)),
        (4004, Some(true)),
        (1001, Some(false)),
        (1011, Some(false)),
    ] {
        let producer = LoopbackServer::start().await;
        let mut link = Listener::open(&address(&producer), quick());
        let (mut server, ..) = upgrade(&producer).await;
        link.expect(&[connecting(1), LinkEvent::Connected]).await;
        close(&mut server, code).await;
        match (link.next().await, fault) {
            (LinkEvent::Ended, None) => {}
            (LinkEvent::Failed { fault }, Some(last @ true))
            | (LinkEvent::Lost { fault, .. }, Some(last @ false)) => {
                let reason = Reason("secret words".to_owned());
                assert_eq!(
                    fault,
                    Fault::ClosedWith {
                        code,
                        reason,
                        turned_away: last
                    }
                );
                assert!(!format!("{fault} {fault:?}").contains("secret"));
            }
            (other, _) => panic!("{code}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_refused_upgrade_is_told_by_its_status() {
    for (answer, last) in [
        ("401 Unauthorized", true),
        ("404 Not Found", true),
        ("503 Busy", false),
    ] {
        let producer = LoopbackServer::start().await;
        let mut link = Listener::open(&address(&producer), quick());
        producer.request().await.answer(answer, "").await;
        link.expect(&[connecting(1)]).await;
        match (link.next().await, last) {
            (LinkEvent::Failed { fault }, true) | (LinkEvent::Lost { fault, .. }, false) => {
                assert!(matches!(fault, Fault::Status { .. }), "{fault:?}");
            }
            (other, _) => panic!("{answer}: {other:?}"),
        }
    }
    for (answer, why) in [
        ("200 OK", NoWebSocket::SomethingElse),
        ("307 Elsewhere", NoWebSocket::Redirects),
    ] {
        let producer = LoopbackServer::start().await;
        let mut link = Listener::open(&address(&producer), quick());
        let headers = "Location: http://127.0.0.1:1/\r\n";
        producer.request().await.answer(answer, headers).await;
        link.expect(&[connecting(1)]).await;
        match link.next().await {
            LinkEvent::Failed { fault } => assert_eq!(fault, Fault::NotWebSocket(why)),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_redirect_is_told_with_its_place_on_the_same_server() {
    for (location, path) in [
        ("/elsewhere/events?token=secret", Some("/elsewhere/events")),
        ("http://HOST/events#top", Some("/events")),
        ("http://127.0.0.1:1/events", None),
        ("http://user:secret@HOST/events", None),
        ("https://HOST/events", None),
        ("/events;reboot", None),
        ("/events$(reboot)", None),
    ] {
        let producer = LoopbackServer::start().await;
        let mut link = Listener::open(&address(&producer), quick());
        let host = producer.listener.local_addr().unwrap().to_string();
        let headers = format!("Location: {}\r\n", location.replace("HOST", &host));
        producer
            .request()
            .await
            .answer("307 Elsewhere", &headers)
            .await;
        link.expect(&[connecting(1)]).await;
        let why = match path {
            Some(path) => NoWebSocket::RedirectsTo {
                path: path.to_owned(),
                instead: format!("http://{host}{path}"),
            },
            None => NoWebSocket::Redirects,
        };
        match link.next().await {
            LinkEvent::Failed { fault } => {
                assert_eq!(fault, Fault::NotWebSocket(why), "{location}");
            }
            other => panic!("{location}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_server_without_the_subprotocol_is_refused() {
    let producer = LoopbackServer::start().await;
    let mut link = Listener::open(&address(&producer), quick());
    let (stream, _) = soon(producer.listener.accept()).await.unwrap();
    let _server = soon(tokio_tungstenite::accept_async(stream)).await;
    link.expect(&[connecting(1)]).await;
    match link.next().await {
        LinkEvent::Failed { fault } => {
            let protocol = &["aaep.v1"];
            let why = NoWebSocket::Without { protocol };
            assert_eq!(fault, Fault::NotWebSocket(why));
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_message_beyond_the_bound_ends_the_connection_and_is_told() {
    let producer = LoopbackServer::start().await;
    let config = LinkConfig {
        max_frame_bytes: 1000,
        ..quick()
    };
    let mut link = Listener::open(&address(&producer), config);
    let (mut server, ..) = upgrade(&producer).await;
    link.expect(&[connecting(1), LinkEvent::Connected]).await;
    let _ = server.send(Message::text("x".repeat(1001))).await;
    assert!(matches!(
        link.next().await,
        LinkEvent::Lost {
            fault: Fault::TooLarge { limit: 1000 },
            ..
        }
    ));
}

/// Opens a link with its own terms.
fn open_on(producer: &LoopbackServer, websocket: WebSocketTerms) -> Listener {
    let config = quick();
    let source = Source::parse(&format!("{}/own", address(producer)), &config).unwrap();
    let mut settings = LinkSettings::new(config, None, Tls::default(), 1);
    settings.websocket = websocket;
    Listener::with(source, settings, 64)
}

/// Accepts an upgrade with the subprotocol `chosen`, and returns what was offered.
async fn upgrade_to(
    producer: &LoopbackServer,
    chosen: Option<&str>,
) -> (Option<ServerSocket>, Option<String>) {
    soon(async {
        let (stream, _) = producer.listener.accept().await.unwrap();
        let mut offered = None;
        #[allow(clippy::result_large_err, reason = "the type is tungstenite's")]
        let server = accept_hdr_async(stream, |request: &Request, mut response: Response| {
            let offer = request.headers().get("sec-websocket-protocol");
            offered = offer.map(|offer| offer.to_str().unwrap().to_owned());
            assert_eq!(request.uri().path(), "/own");
            if let Some(chosen) = chosen {
                response
                    .headers_mut()
                    .insert("sec-websocket-protocol", chosen.parse().unwrap());
            }
            Ok(response)
        })
        .await;
        (server.ok(), offered)
    })
    .await
}

#[tokio::test]
async fn a_websocket_without_a_subprotocol_and_without_codes_of_its_own() {
    let producer = LoopbackServer::start().await;
    let mut link = open_on(&producer, WebSocketTerms::PLAIN);
    let (server, offered) = upgrade_to(&producer, None).await;
    assert_eq!(offered, None);
    link.expect(&[connecting(1), LinkEvent::Connected]).await;
    // AAEP's code for an orderly end is an unknown code here.
    close(&mut server.unwrap(), 4000).await;
    match link.next().await {
        LinkEvent::Lost { fault, .. } => assert_eq!(
            fault,
            Fault::ClosedWith {
                code: 4000,
                reason: Reason("secret words".to_owned()),
                turned_away: false
            }
        ),
        other => panic!("{other:?}"),
    }
    let (server, _) = upgrade_to(&producer, None).await;
    link.expect(&[connecting(2), LinkEvent::Connected]).await;
    let mut server = server.unwrap();
    soon(link.handle.close()).await.unwrap();
    match soon(server.next()).await.unwrap().unwrap() {
        Message::Close(Some(close)) => assert_eq!(u16::from(close.code), 1000),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_is_offered_may_be_chosen_and_nothing_else_may() {
    let terms = WebSocketTerms {
        subprotocol: Subprotocol::Required(&["one.v1", "two.v2"]),
        ..WebSocketTerms::PLAIN
    };
    let producer = LoopbackServer::start().await;
    let mut link = open_on(&producer, terms);
    let (_server, offered) = upgrade_to(&producer, Some("two.v2")).await;
    assert_eq!(offered.as_deref(), Some("one.v1, two.v2"));
    link.expect(&[connecting(1), LinkEvent::Connected]).await;
    // A server that chooses one that was not offered is not followed.
    let mut link = open_on(&producer, WebSocketTerms::PLAIN);
    let (_server, _) = upgrade_to(&producer, Some("other")).await;
    link.expect(&[connecting(1)]).await;
    match link.next().await {
        LinkEvent::Failed { fault } => {
            assert_eq!(fault, Fault::NotWebSocket(NoWebSocket::NotOffered));
        }
        other => panic!("{other:?}"),
    }
}

/// The same rules hold behind a Unix socket: one message per frame, pings, an orderly end, another attempt after a cut.
#[cfg(unix)]
#[tokio::test]
async fn a_unix_socket_carries_a_websocket_as_a_network_does() {
    use crate::transport::file::tests::Folder;
    use crate::transport::{LocalWebSocket, Socket};

    let folder = Folder::new("local-websocket");
    let path = folder.0.join("agent.sock");
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    let source = Source::LocalWebSocket(LocalWebSocket::at(Socket::Path(path)));
    let settings = LinkSettings::new(quick(), None, Tls::default(), 42);
    let mut link = Listener::with(source, settings, 64);
    let accepted = async || {
        let (stream, _) = soon(listener.accept()).await.unwrap();
        #[allow(clippy::result_large_err, reason = "the type is tungstenite's")]
        let server = accept_hdr_async(stream, |request: &Request, response: Response| {
            assert_eq!(request.uri().path(), "/");
            assert_eq!(request.headers()["host"], "localhost");
            assert!(!request.headers().contains_key("sec-websocket-protocol"));
            Ok(response)
        });
        soon(server).await.unwrap()
    };
    let mut server = accepted().await;
    link.expect(&[connecting(1), LinkEvent::Connected]).await;
    link.handle.send(1, "{\"a\":1}".to_owned());
    link.expect(&[replied(1, Ok(Receipt::Written))]).await;
    let Message::Text(text) = soon(server.next()).await.unwrap().unwrap() else {
        panic!("no text");
    };
    assert_eq!(text.as_str(), "{\"a\":1}");
    soon(server.send(Message::text("{\"n\":1}"))).await.unwrap();
    link.expect(&[frame("{\"n\":1}")]).await;
    drop(server);
    let lost = link.next().await;
    assert!(matches!(
        lost,
        LinkEvent::Lost {
            fault: Fault::Closed,
            ..
        }
    ));
    let mut server = accepted().await;
    link.expect(&[connecting(1), LinkEvent::Connected]).await;
    close(&mut server, 1000).await;
    link.expect(&[LinkEvent::Ended]).await;
}
