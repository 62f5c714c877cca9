//! The requests beside a stream, against a scripted server on loopback.

use super::*;
use crate::config::LinkConfig;
use crate::link::LinkEvent;
use crate::transport::tests::{Listener, LoopbackServer, STREAM, frame, quick};

fn shaking() -> LinkConfig {
    LinkConfig {
        plain_pair: false,
        ..quick()
    }
}

/// Returns the request that AAEP's handshake makes beside a stream.
fn manifest() -> HttpCall {
    HttpCall::get("/.well-known/aaep-manifest.json")
}

fn subscribe(message: &str) -> HttpCall {
    HttpCall::post("/aaep/v1/subscriptions", Body::json(message))
}

fn tell(message: &str) -> HttpCall {
    HttpCall::post("/aaep/v1/replies", Body::json(message))
}

/// Returns the stream of AAEP's subscription.
fn subscription(location: Option<String>, resumed: bool) -> Stream {
    let usual = || Address::Path("/aaep/v1/events?subscription_id=sub_1".to_owned());
    Stream {
        replies: Some("/aaep/v1/replies".to_owned()),
        probe: Some("/.well-known/aaep-manifest.json".to_owned()),
        every: None,
        may_be_forgotten: resumed,
        ..Stream::at(location.map_or_else(usual, Address::Named))
    }
}

async fn answered(listener: &mut Listener) -> Result<HttpAnswer, Fault> {
    loop {
        if let LinkEvent::Answered { outcome, .. } = listener.next().await {
            return outcome;
        }
    }
}

#[tokio::test]
async fn nothing_is_opened_before_it_is_ordered_and_replies_follow_the_order() {
    let producer = LoopbackServer::start().await;
    let mut listener = Listener::open(&producer.base(), shaking());
    listener.handle.call(1, manifest());
    let exchange = producer.request().await;
    assert_eq!(
        exchange.first_line(),
        "GET /.well-known/aaep-manifest.json HTTP/1.1"
    );
    exchange.answer("404 Not Found", "").await;
    assert_eq!(answered(&mut listener).await.unwrap().status, 404);
    listener.handle.call(2, subscribe("{\"a\":1}"));
    let mut exchange = producer.request().await;
    assert_eq!(
        exchange.first_line(),
        "POST /aaep/v1/subscriptions HTTP/1.1"
    );
    assert_eq!(exchange.body, "{\"a\":1}");
    exchange
        .write("HTTP/1.1 201 Created\r\nLocation: /aaep/v1/events?subscription_id=sub_1\r\nContent-Length: 2\r\n\r\n{}")
        .await;
    let answer = answered(&mut listener).await.unwrap();
    assert_eq!((answer.status, answer.body.as_str()), (201, "{}"));
    listener.handle.follow(subscription(answer.location, false));
    let exchange = producer.request().await;
    assert_eq!(
        exchange.first_line(),
        "GET /aaep/v1/events?subscription_id=sub_1 HTTP/1.1"
    );
    listener.handle.send(3, "{}".into());
    let reply = producer.request().await;
    assert_eq!(reply.first_line(), "POST /aaep/v1/replies HTTP/1.1");
    reply.answer("204 No Content", "").await;
    exchange.play("data: x\n\n").await;
    loop {
        if listener.next().await == frame("x") {
            break;
        }
    }
    // Closing sends the last words.
    let words = LastWords::Call(tell("bye"));
    listener.handle.last_words(Some(words));
    listener.handle.call(4, tell("{}"));
    let told = producer.request().await;
    assert_eq!(told.first_line(), "POST /aaep/v1/replies HTTP/1.1");
    told.answer("204 No Content", "").await;
    drop(listener.handle);
    loop {
        let last = producer.request().await;
        if last.first_line() == "POST /aaep/v1/replies HTTP/1.1" {
            assert_eq!(last.body, "bye");
            break;
        }
        last.answer("503 Service Unavailable", "").await;
    }
}

#[tokio::test]
async fn a_redirect_keeps_to_its_origin_and_so_does_the_token() {
    let producer = LoopbackServer::start().await;
    let mut listener = Listener::open_with(&producer.base(), shaking(), Some("s3cret"), 64);
    listener.handle.call(1, subscribe("{}"));
    producer
        .request()
        .await
        .answer("307 Temporary Redirect", "Location: /else\r\n")
        .await;
    let exchange = producer.request().await;
    assert_eq!(exchange.first_line(), "POST /else HTTP/1.1");
    assert_eq!(exchange.header("authorization"), Some("Bearer s3cret"));
    exchange
        .answer("503 Service Unavailable", "Retry-After: 9\r\n")
        .await;
    assert_eq!(answered(&mut listener).await.unwrap().retry_after, Some(9));
    let other = LoopbackServer::start().await;
    listener.handle.call(2, manifest());
    producer
        .request()
        .await
        .answer(
            "307 Temporary Redirect",
            &format!("Location: {}/x\r\n", other.base()),
        )
        .await;
    assert!(answered(&mut listener).await.unwrap_err().is_final());
}

#[tokio::test]
async fn a_redirect_to_a_websocket_of_the_same_server_is_passed_on_and_no_other() {
    let producer = LoopbackServer::start().await;
    let mut listener = Listener::open(&producer.base(), shaking());
    let own = producer.base().replace("http://", "ws://");
    for (to, passed) in [
        (format!("{own}/own/ws"), true),
        ("ws://elsewhere.example/ws".to_owned(), false),
        (own.replace("ws://", "ws://user:secret@"), false),
    ] {
        listener.handle.call(1, subscribe("{}"));
        let location = format!("Location: {to}\r\n");
        let request = producer.request().await;
        request.answer("307 Temporary Redirect", &location).await;
        let answer = answered(&mut listener).await;
        let location = answer.ok().and_then(|answer| answer.location);
        assert_eq!(location, passed.then_some(to));
    }
}

#[tokio::test]
async fn an_endless_answer_is_cut_off() {
    let producer = LoopbackServer::start().await;
    let mut listener = Listener::open(&producer.base(), shaking());
    listener.handle.call(1, manifest());
    let mut exchange = producer.request().await;
    exchange.write("HTTP/1.1 200 OK\r\n\r\n").await;
    let flood = tokio::spawn(async move { exchange.flood(&"x".repeat(8192)).await });
    let limit = HttpCall::MOST;
    assert_eq!(
        answered(&mut listener).await,
        Err(Fault::TooLarge { limit })
    );
    flood.await.unwrap();
}

#[tokio::test]
async fn a_server_that_streams_at_every_path_is_not_waited_for() {
    let producer = LoopbackServer::start().await;
    let mut listener = Listener::open(&producer.base(), shaking());
    listener.handle.call(1, manifest());
    let mut exchange = producer.request().await;
    exchange.write(STREAM).await;
    let answer = answered(&mut listener).await.unwrap();
    assert_eq!((answer.status, answer.body.as_str()), (200, ""));
    exchange.gone().await;
}

#[tokio::test]
async fn a_subscription_that_the_server_forgot_is_not_the_end() {
    let producer = LoopbackServer::start().await;
    let mut listener = Listener::open(&producer.base(), shaking());
    listener.handle.follow(subscription(None, true));
    producer.request().await.answer("404 Not Found", "").await;
    loop {
        match listener.next().await {
            LinkEvent::Lost { .. } => break,
            LinkEvent::Failed { fault } => panic!("{fault}"),
            _ => {}
        }
    }
    listener.handle.follow(subscription(None, false));
    producer.request().await.answer("404 Not Found", "").await;
    loop {
        if let LinkEvent::Failed { .. } = listener.next().await {
            break;
        }
    }
}

#[tokio::test]
async fn a_silent_stream_is_asked_beside_itself_and_kept_unless_nobody_listens() {
    let producer = LoopbackServer::start().await;
    let config = LinkConfig {
        silent_after_seconds: 1,
        reply_timeout_ms: 200,
        ..quick()
    };
    let mut listener = Listener::open(&producer.base(), config);
    let mut stream = producer.request().await;
    stream.write(STREAM).await;
    // A server that answers is alive, whatever the answer.
    let probe = producer.request().await;
    assert_eq!(
        probe.first_line(),
        "GET /.well-known/aaep-manifest.json HTTP/1.1"
    );
    probe.answer("404 Not Found", "").await;
    // A server that does not answer may be alive or not: that is reported, and the stream goes on.
    let unanswered = producer.request().await;
    loop {
        if let LinkEvent::Silent { seconds } = listener.next().await {
            assert!(seconds >= 2, "{seconds}");
            break;
        }
    }
    drop(unanswered);
    stream.write("data: x\n\n").await;
    loop {
        match listener.next().await {
            event if event == frame("x") => break,
            LinkEvent::Lost { fault, .. } => panic!("{fault}"),
            _ => {}
        }
    }
    // The server no longer listens: the stream is dead, however open it looks.
    let _address = producer.leave();
    loop {
        if let LinkEvent::Lost { fault, .. } = listener.next().await {
            assert_eq!(fault, Fault::Refused);
            break;
        }
    }
    stream.gone().await;
}

#[tokio::test]
async fn a_decision_is_handed_to_the_handler_and_no_token_goes_there() {
    let (producer, handler) = (LoopbackServer::start().await, LoopbackServer::start().await);
    let config = LinkConfig {
        handler: Some(format!("{}/desk?k=1", handler.base())),
        ..quick()
    };
    let mut link = Listener::open_with(&producer.base(), config, Some("s3cret"), 64);
    for (request, status, wanted) in [
        (7, "204 No Content", Ok(Receipt::Taken)),
        (8, "409 Conflict", Err(true)),
    ] {
        link.handle.hand(request, "{\"a\":1}".to_owned());
        let exchange = handler.request().await;
        assert_eq!(exchange.first_line(), "POST /desk?k=1 HTTP/1.1");
        assert_eq!(exchange.header("authorization"), None);
        assert_eq!(exchange.body, "{\"a\":1}");
        exchange.answer(status, "").await;
        loop {
            if let LinkEvent::Replied {
                request: of,
                outcome,
            } = link.next().await
            {
                let refused = |fault| matches!(fault, DeliveryFailure::Refused(_));
                assert_eq!((of, outcome.map_err(refused)), (request, wanted));
                break;
            }
        }
    }
    let mut link = Listener::open(&producer.base(), quick());
    link.handle.hand(9, "{}".to_owned());
    loop {
        if let LinkEvent::Replied { outcome, .. } = link.next().await {
            assert_eq!(outcome, Err(DeliveryFailure::Kept(Fault::OneWay)));
            break;
        }
    }
}

fn server(given: &str) -> HttpServer {
    let config = LinkConfig::default();
    let crate::transport::Source::Http(address) =
        crate::transport::Source::parse(given, &config).unwrap()
    else {
        panic!("no address");
    };
    let tls = crate::transport::Tls::load(&config).unwrap();
    let token = Some(crate::transport::Secret::new("x"));
    HttpServer::new(&address, &LinkSettings::new(config, token, tls, 1)).0
}

#[test]
fn a_stream_is_where_the_person_or_the_dialect_says() {
    let here = server("http://localhost:1/x/events/?key=1");
    for (at, wanted) in [
        (Address::Given, "http://localhost:1/x/events/?key=1"),
        (
            Address::GivenAt("/x/events".to_owned()),
            "http://localhost:1/x/events?key=1",
        ),
        (
            Address::Path("/y?z=1".to_owned()),
            "http://localhost:1/y?z=1",
        ),
        (
            Address::Named("z?q=2".to_owned()),
            "http://localhost:1/x/events/z?q=2",
        ),
        (
            Address::Named("http://127.0.0.1:2/".to_owned()),
            "http://127.0.0.1:2/",
        ),
    ] {
        assert_eq!(here.address(&at).unwrap().as_str(), wanted);
    }
}

#[test]
fn a_stream_is_followed_only_where_that_is_safe() {
    let here = server("https://a.example");
    for good in ["/x", "https://a.example/y", "https://b.example/z"] {
        assert!(here.named(good).is_ok(), "{good}");
    }
    for bad in [
        "http://a.example/x",
        "http://localhost/x",
        "ftp://a.example/",
        "https://u:p@a.example/",
    ] {
        let fault = here.named(bad).unwrap_err();
        assert!(fault.is_final(), "{bad}");
    }
}

/// Paths that lead away from the server, or are invalid, by the rules for resolving addresses.
const AWAY: [&str; 12] = [
    "",
    "x",
    "?x",
    "//b.example/x",
    "/\\b.example/x",
    "/\t/b.example/x",
    "\\\\b.example",
    "https://b.example/",
    "http://127.0.0.1:1/",
    "javascript:alert(1)",
    "//me:hunter2@a.example/",
    "../x",
];

#[test]
fn a_path_that_would_leave_the_server_is_refused() {
    let here = server("https://a.example/base?k=1");
    for path in AWAY {
        let fault = here.path(path).unwrap_err();
        assert!(fault.is_final(), "{path:?}");
        assert!(!format!("{fault:?}").contains("hunter2"));
        for at in [
            Address::Path(path.to_owned()),
            Address::GivenAt(path.to_owned()),
        ] {
            assert!(here.address(&at).is_err(), "{path:?}");
        }
    }
    let long = format!("/{}", "x".repeat(PATH_BYTES));
    assert!(here.path(&long).is_err());
    for (path, wanted) in [
        ("/x?y=//b.example", "https://a.example/x?y=//b.example"),
        ("/a/../../x", "https://a.example/x"),
        ("/ä", "https://a.example/%C3%A4"),
        ("/@b.example/", "https://a.example/@b.example/"),
    ] {
        assert_eq!(here.path(path).unwrap().as_str(), wanted);
    }
}

#[test]
fn of_the_headers_only_a_version_is_a_dialects_to_set() {
    let (name, value) = version_header(("A2A-Version", "1.0")).unwrap();
    assert_eq!(
        (name.as_str(), value.to_str().unwrap()),
        ("a2a-version", "1.0")
    );
    for bad in [
        ("authorization", "Bearer x"),
        ("cookie", "a=b"),
        ("host", "b.example"),
        ("a b-version", "1"),
        ("x-version", "1\r\nhost: b"),
    ] {
        assert!(version_header(bad).is_err(), "{bad:?}");
    }
}

#[tokio::test]
async fn a_request_has_any_method_a_path_and_a_body_of_its_own() {
    let producer = LoopbackServer::start().await;
    let mut listener = Listener::open_with(&producer.base(), shaking(), Some("s3cret"), 64);
    for method in Method::ALL {
        let call = HttpCall {
            method,
            path: "/session/1/abort?now=1".to_owned(),
            accept: "text/plain",
            version: Some(("A2A-Version", "1.0")),
            body: Some(Body {
                content_type: "text/x-own",
                text: "ünd".to_owned(),
            }),
            most: HttpCall::MOST,
            streams: false,
        };
        listener.handle.call(7, call);
        let mut asked = producer.request().await;
        assert_eq!(
            asked.first_line(),
            format!("{} /session/1/abort?now=1 HTTP/1.1", method.name())
        );
        assert_eq!(asked.header("accept"), Some("text/plain"));
        assert_eq!(asked.header("content-type"), Some("text/x-own"));
        assert_eq!(asked.header("a2a-version"), Some("1.0"));
        assert_eq!(asked.header("authorization"), Some("Bearer s3cret"));
        assert_eq!(asked.body, "ünd");
        asked
            .write("HTTP/1.1 418 Teapot\r\nLocation: ../x\r\nContent-Length: 3\r\n\r\nso!")
            .await;
        let answer = answered(&mut listener).await.unwrap();
        assert_eq!((answer.status, answer.body.as_str()), (418, "so!"));
        // A relative address is resolved against the one that sent it.
        assert_eq!(
            answer.location,
            Some(format!("{}/session/x", producer.base()))
        );
    }
}

#[tokio::test]
async fn a_request_that_would_go_elsewhere_or_is_too_large_asks_nobody() {
    let producer = LoopbackServer::start().await;
    let config = LinkConfig {
        max_frame_bytes: 1000,
        ..shaking()
    };
    let mut listener = Listener::open(&producer.base(), config);
    for path in AWAY {
        listener.handle.call(1, HttpCall::get(path));
        assert!(answered(&mut listener).await.unwrap_err().is_final());
    }
    let large = HttpCall::post("/x", Body::json("x".repeat(1001)));
    listener.handle.call(1, large);
    let limit = 1000;
    assert_eq!(
        answered(&mut listener).await,
        Err(Fault::TooLarge { limit })
    );
    // This is the first request that is sent at all; no more of its answer is read than allowed.
    let call = HttpCall {
        most: 10,
        ..HttpCall::get("/here")
    };
    listener.handle.call(1, call);
    let mut asked = producer.request().await;
    assert_eq!(asked.first_line(), "GET /here HTTP/1.1");
    asked
        .write("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n12345678901")
        .await;
    assert_eq!(
        answered(&mut listener).await,
        Err(Fault::TooLarge { limit: 10 })
    );
}
