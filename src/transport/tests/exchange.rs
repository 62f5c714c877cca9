//! The requests beside a stream, against a scripted server on loopback.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::config::LinkConfig;
use crate::link::LinkEvent;
use crate::transport::tests::{Listener, Producer, frame, quick};

fn shaking() -> LinkConfig {
    LinkConfig {
        plain_pair: false,
        ..quick()
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
    let producer = Producer::start().await;
    let mut listener = Listener::open(&producer.base(), shaking());
    listener.handle.ask(1, Ask::Manifest);
    let exchange = producer.request().await;
    assert_eq!(
        exchange.first_line(),
        "GET /.well-known/aaep-manifest.json HTTP/1.1"
    );
    exchange.answer("404 Not Found", "").await;
    assert_eq!(answered(&mut listener).await.unwrap().status, 404);
    listener.handle.ask(2, Ask::Subscribe("{\"a\":1}".into()));
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
    listener.handle.follow(Course::Subscription {
        id: "sub_1".into(),
        location: answer.location,
        resumed: false,
    });
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
    // Leaving sends what was left to be sent.
    listener.handle.last_words(Some("bye".into()));
    listener.handle.ask(4, Ask::Tell("{}".into()));
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
    let producer = Producer::start().await;
    let mut listener = Listener::open_with(&producer.base(), shaking(), Some("s3cret"), 64);
    listener.handle.ask(1, Ask::Subscribe("{}".into()));
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
    let other = Producer::start().await;
    listener.handle.ask(2, Ask::Manifest);
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
async fn an_endless_answer_is_cut_off() {
    let producer = Producer::start().await;
    let mut listener = Listener::open(&producer.base(), shaking());
    listener.handle.ask(1, Ask::Manifest);
    let mut exchange = producer.request().await;
    exchange.write("HTTP/1.1 200 OK\r\n\r\n").await;
    let flood = tokio::spawn(async move { exchange.flood(&"x".repeat(8192)).await });
    let limit = ANSWER_BYTES;
    assert_eq!(
        answered(&mut listener).await,
        Err(Fault::TooLarge { limit })
    );
    flood.await.unwrap();
}

#[tokio::test]
async fn a_server_that_streams_at_every_path_is_not_waited_for() {
    let producer = Producer::start().await;
    let mut listener = Listener::open(&producer.base(), shaking());
    listener.handle.ask(1, Ask::Manifest);
    let mut exchange = producer.request().await;
    exchange.write(crate::transport::tests::STREAM).await;
    let answer = answered(&mut listener).await.unwrap();
    assert_eq!((answer.status, answer.body.as_str()), (200, ""));
    exchange.gone().await;
}

#[tokio::test]
async fn a_subscription_that_the_server_forgot_is_not_the_end() {
    let producer = Producer::start().await;
    let mut listener = Listener::open(&producer.base(), shaking());
    let course = |resumed| Course::Subscription {
        id: "sub_1".into(),
        location: None,
        resumed,
    };
    listener.handle.follow(course(true));
    producer.request().await.answer("404 Not Found", "").await;
    loop {
        match listener.next().await {
            LinkEvent::Lost { .. } => break,
            LinkEvent::Failed { fault } => panic!("{fault}"),
            _ => {}
        }
    }
    listener.handle.follow(course(false));
    producer.request().await.answer("404 Not Found", "").await;
    loop {
        if let LinkEvent::Failed { .. } = listener.next().await {
            break;
        }
    }
}

#[tokio::test]
async fn a_silent_stream_is_asked_beside_itself_and_kept_unless_nobody_listens() {
    let producer = Producer::start().await;
    let config = LinkConfig {
        silent_after_seconds: 1,
        reply_timeout_ms: 200,
        ..quick()
    };
    let mut listener = Listener::open(&producer.base(), config);
    let mut stream = producer.request().await;
    stream.write(crate::transport::tests::STREAM).await;
    // Whoever answers is there, whatever the answer.
    let probe = producer.request().await;
    assert_eq!(
        probe.first_line(),
        "GET /.well-known/aaep-manifest.json HTTP/1.1"
    );
    probe.answer("404 Not Found", "").await;
    // Whoever does not answer may be there or not: that is told, and the stream goes on.
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
    // Nobody listens any more: the stream is dead, however open it looks.
    let _address = producer.leave();
    loop {
        if let LinkEvent::Lost { fault, .. } = listener.next().await {
            assert_eq!(fault, Fault::Refused);
            break;
        }
    }
    stream.gone().await;
}

fn ways(base: &str) -> Ways {
    let config = LinkConfig::default();
    let crate::transport::Source::Http(endpoints) =
        crate::transport::Source::parse(base, &config).unwrap()
    else {
        panic!("no address");
    };
    let tls = crate::transport::Tls::load(&config).unwrap();
    let token = Some(crate::transport::Secret::new("x"));
    Ways::new(&endpoints, &LinkSettings::new(config, token, tls, 1)).0
}

#[test]
fn addresses_stand_below_what_the_person_gave() {
    for (base, stream) in [
        (
            "http://localhost",
            "http://localhost/aaep/v1/events?subscription_id=sub_1",
        ),
        (
            "http://localhost/a/",
            "http://localhost/a/aaep/v1/events?subscription_id=sub_1",
        ),
        (
            "http://localhost/aaep/v1",
            "http://localhost/aaep/v1/events?subscription_id=sub_1",
        ),
        (
            "http://localhost/events",
            "http://localhost/aaep/v1/events?subscription_id=sub_1",
        ),
    ] {
        let url = ways(base).stream("sub_1", None).unwrap();
        assert_eq!(url.as_str(), stream, "{base}");
        assert_eq!(
            ways(base).manifest().as_str(),
            "http://localhost/.well-known/aaep-manifest.json"
        );
    }
}

#[test]
fn a_stream_is_followed_only_where_that_is_safe() {
    let here = ways("https://a.example");
    for good in ["/x", "https://a.example/y", "https://b.example/z"] {
        assert!(here.stream("sub_1", Some(good)).is_ok(), "{good}");
    }
    for bad in [
        "http://a.example/x",
        "http://localhost/x",
        "ftp://a.example/",
        "https://u:p@a.example/",
    ] {
        let fault = here.stream("sub_1", Some(bad)).unwrap_err();
        assert!(fault.is_final(), "{bad}");
    }
}
