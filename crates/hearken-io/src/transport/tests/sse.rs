//! The event stream against a scripted server on loopback.

use std::time::Duration;

use crate::config::LinkConfig;
use crate::link::{Cause, Fault, Frame, LinkEvent, NoTls, Receipt};
use crate::transport::tests::{Listener, LoopbackServer, STREAM, connecting, frame, quick, soon};

/// Returns settings with which a link never tries a second time by itself.
fn once() -> LinkConfig {
    LinkConfig {
        retries: Some(0),
        ..quick()
    }
}

fn failed(fault: Fault) -> LinkEvent {
    LinkEvent::Failed { fault }
}

fn status(status: u16) -> Fault {
    Fault::Status {
        status,
        retry_after: None,
    }
}

/// Plays one answer to one request and returns all news up to the end.
async fn outcome(answer: &str) -> Vec<LinkEvent> {
    let producer = LoopbackServer::start().await;
    let mut link = Listener::open(&producer.base(), once());
    let mut exchange = producer.request().await;
    exchange.write(answer).await;
    drop(exchange);
    let mut news = Vec::new();
    loop {
        let event = link.next().await;
        let over = matches!(event, LinkEvent::Ended | LinkEvent::Failed { .. });
        news.push(event);
        if over {
            return news;
        }
    }
}

#[tokio::test]
async fn the_request_is_what_a_server_expects() {
    let producer = LoopbackServer::start().await;
    let link = Listener::open_with(
        &format!("{}/base/", producer.base()),
        quick(),
        Some("abc"),
        64,
    );
    let exchange = producer.request().await;
    assert_eq!(exchange.first_line(), "GET /base/events HTTP/1.1");
    assert_eq!(exchange.header("accept"), Some("text/event-stream"));
    assert_eq!(exchange.header("cache-control"), Some("no-cache"));
    assert_eq!(exchange.header("authorization"), Some("Bearer abc"));
    assert_eq!(exchange.header("accept-encoding"), None);
    assert_eq!(exchange.header("last-event-id"), None);
    assert!(
        exchange
            .header("user-agent")
            .is_some_and(|agent| agent.starts_with("hearken/"))
    );
    drop(link);
}

#[tokio::test]
async fn frames_of_all_shapes_arrive_byte_by_byte() {
    let producer = LoopbackServer::start().await;
    let mut link = Listener::open(&producer.base(), quick());
    let mut exchange = producer.request().await;
    exchange.write(STREAM).await;
    link.expect(&[connecting(1), LinkEvent::Connected]).await;
    let stream = "\u{FEFF}: only a comment\r\n\r\ndata: {\"a\":\"ü€😀\"}\r\rid: 1\nevent: aaep.event\n\
                  data: {\ndata:   \"b\": 1\ndata: }\n\ndata:\n\n: more\n\ndata: bad \u{FFFD}\r\n\r\n";
    for byte in stream.as_bytes() {
        exchange.write([*byte]).await;
    }
    link.expect(&[
        frame("{\"a\":\"ü€😀\"}"),
        LinkEvent::Frame(Frame {
            position: None,
            text: "{\n  \"b\": 1\n}".to_owned(),
            event: Some("aaep.event".to_owned()),
        }),
        frame("bad \u{FFFD}"),
    ])
    .await;
}

#[tokio::test]
async fn a_silent_server_is_connecting_and_then_connected() {
    let producer = LoopbackServer::start().await;
    let mut link = Listener::open(&producer.base(), quick());
    let mut exchange = producer.request().await;
    link.expect(&[connecting(1)]).await;
    // The server has the request and sends nothing: the link reports nothing and does not give up.
    assert!(link.is_quiet());
    exchange.write(STREAM).await.write("data: late\n\n").await;
    link.expect(&[LinkEvent::Connected, frame("late")]).await;
}

#[tokio::test]
async fn a_large_event_passes_and_a_larger_one_is_told_and_skipped() {
    let producer = LoopbackServer::start().await;
    let mut link = Listener::open(&producer.base(), quick());
    let exchange = producer.request().await;
    let large = "m".repeat(2 * 1024 * 1024);
    let limit = LinkConfig::default().max_frame_bytes;
    let too_large = "x".repeat(limit + 100);
    let play = format!("data: {large}\n\ndata: {too_large}\n\ndata: on\n\n");
    let server = tokio::spawn(async move { exchange.play(&play).await });
    link.expect(&[connecting(1), LinkEvent::Connected]).await;
    assert_eq!(link.frame().await.len(), large.len());
    link.expect(&[
        LinkEvent::Dropped {
            fault: Fault::TooLarge { limit },
            count: 1,
        },
        frame("on"),
    ])
    .await;
    soon(server).await.unwrap();
}

#[tokio::test]
async fn an_endless_line_is_told_while_it_lasts() {
    let producer = LoopbackServer::start().await;
    let config = LinkConfig {
        max_frame_bytes: 64 * 1024,
        ..quick()
    };
    let mut link = Listener::open(&producer.base(), config);
    let mut exchange = producer.request().await;
    exchange
        .write(STREAM)
        .await
        .write("data: first\n\ndata: ")
        .await;
    for _ in 0..100 {
        exchange.write([b'x'; 4096]).await;
    }
    link.expect(&[
        connecting(1),
        LinkEvent::Connected,
        frame("first"),
        LinkEvent::Dropped {
            fault: Fault::TooLarge { limit: 64 * 1024 },
            count: 1,
        },
    ])
    .await;
    exchange.write("\ndata: its rest\n\ndata: second\n\n").await;
    link.expect(&[frame("second")]).await;
}

#[tokio::test]
async fn a_cut_is_resumed_from_the_last_whole_event() {
    let producer = LoopbackServer::start().await;
    let mut link = Listener::open(&producer.base(), quick());
    let first = producer.request().await;
    assert_eq!(first.header("last-event-id"), None);
    first
        .play("id: 7\ndata: a\n\ndata: b\n\nid: 8\ndata: {\"cut")
        .await;
    link.expect(&[connecting(1), LinkEvent::Connected, frame("a"), frame("b")])
        .await;
    assert!(matches!(
        link.next().await,
        LinkEvent::Lost { fault: Fault::Closed, retry_in } if retry_in <= Duration::from_millis(2)
    ));
    let second = producer.request().await;
    assert_eq!(second.header("last-event-id"), Some("7"));
    // An event without an id changes nothing, and an id that no header can carry is ignored.
    second.play("data: c\n\nid: \u{1}\ndata: d\n\n").await;
    link.expect(&[connecting(1), LinkEvent::Connected, frame("c"), frame("d")])
        .await;
    link.next().await;
    let third = producer.request().await;
    assert_eq!(third.header("last-event-id"), Some("7"));
    third.play("id: größe\ndata: e\n\n").await;
    link.expect(&[connecting(1), LinkEvent::Connected, frame("e")])
        .await;
    link.next().await;
    // The id is sent as the same bytes; the test's server reads the head as UTF-8.
    let fourth = producer.request().await;
    assert_eq!(fourth.header("last-event-id"), Some("größe"));
    // No event followed the last id, so resuming there continues exactly where the stream stopped.
    fourth.play("data: f\n\n").await;
    let resumed = [connecting(1), LinkEvent::Connected, LinkEvent::Resumed];
    link.expect(&resumed).await;
    link.expect(&[frame("f")]).await;
    link.next().await;
    let fifth = producer.request().await;
    assert_eq!(fifth.header("last-event-id"), Some("größe"));
    fifth.play("data: g\n\n").await;
    link.expect(&[connecting(1), LinkEvent::Connected, frame("g")])
        .await;
}

#[tokio::test]
async fn final_answers_end_the_link_at_once() {
    for (answer, fault) in [
        (
            "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n",
            status(401),
        ),
        (
            "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n",
            status(403),
        ),
        (
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
            status(404),
        ),
        (
            "HTTP/1.1 418 Teapot\r\nContent-Length: 0\r\n\r\n",
            status(418),
        ),
        ("HTTP/1.1 304 Not Modified\r\n\r\n", status(304)),
        (
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>",
            Fault::NotEventStream {
                content_type: "text/html".to_owned(),
            },
        ),
        (
            "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n",
            Fault::NotEventStream {
                content_type: "no content type".to_owned(),
            },
        ),
        (
            "SSH-2.0-OpenSSH_9.2\r\n\r\n",
            Fault::Unusable(Cause::NoHttp),
        ),
    ] {
        assert_eq!(
            outcome(answer).await,
            [connecting(1), failed(fault)],
            "{answer}"
        );
    }
}

#[tokio::test]
async fn no_content_is_a_regular_end() {
    assert_eq!(
        outcome("HTTP/1.1 204 No Content\r\n\r\n").await,
        [connecting(1), LinkEvent::Ended]
    );
}

#[tokio::test]
async fn a_server_that_hangs_up_is_tried_again_until_the_tries_are_used_up() {
    let producer = LoopbackServer::start().await;
    let config = LinkConfig {
        retries: Some(2),
        ..quick()
    };
    let mut link = Listener::open(&producer.base(), config);
    for attempt in 1..=2 {
        drop(producer.request().await);
        link.expect(&[connecting(attempt)]).await;
        assert!(matches!(
            link.next().await,
            LinkEvent::Lost {
                fault: Fault::Closed,
                ..
            }
        ));
    }
    producer.request().await.answer("503 Busy", "").await;
    link.expect(&[connecting(3), failed(status(503))]).await;
    assert!(link.is_quiet());
}

#[tokio::test]
async fn a_server_fault_is_tried_again_and_a_good_connection_starts_the_count_anew() {
    let producer = LoopbackServer::start().await;
    let mut link = Listener::open(&producer.base(), quick());
    for attempt in 1..=3 {
        producer.request().await.answer("500 Oops", "").await;
        link.expect(&[connecting(attempt)]).await;
        assert!(matches!(
            link.next().await,
            LinkEvent::Lost {
                fault: Fault::Status { status: 500, .. },
                ..
            }
        ));
    }
    producer.request().await.play("data: good\n\n").await;
    link.expect(&[connecting(4), LinkEvent::Connected, frame("good")])
        .await;
    assert!(matches!(link.next().await, LinkEvent::Lost { .. }));
    // A connection that ends immediately without a message is not good: the count goes on.
    producer.request().await.play(": nothing\n\n").await;
    link.expect(&[connecting(1), LinkEvent::Connected]).await;
    assert!(matches!(link.next().await, LinkEvent::Lost { .. }));
    link.expect(&[connecting(2)]).await;
}

#[tokio::test]
async fn retry_after_and_retry_are_honoured_within_the_cap() {
    let producer = LoopbackServer::start().await;
    let config = LinkConfig {
        backoff_first_ms: 1,
        backoff_cap_ms: 30_000,
        ..quick()
    };
    for (headers, seconds) in [("Retry-After: 7\r\n", 7), ("Retry-After: 7000\r\n", 30)] {
        let mut link = Listener::open(&producer.base(), config.clone());
        producer
            .request()
            .await
            .answer("429 Slow Down", headers)
            .await;
        link.expect(&[connecting(1)]).await;
        match link.next().await {
            LinkEvent::Lost {
                fault: Fault::Status { status: 429, .. },
                retry_in,
            } => {
                assert_eq!(retry_in, Duration::from_secs(seconds));
            }
            other => panic!("{other:?}"),
        }
    }
    let mut link = Listener::open(&producer.base(), config);
    producer.request().await.play("retry: 9000\n\n").await;
    link.expect(&[connecting(1), LinkEvent::Connected]).await;
    match link.next().await {
        LinkEvent::Lost { retry_in, .. } => assert_eq!(retry_in, Duration::from_secs(9)),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn redirects_are_followed_and_the_token_stays_at_home() {
    let (home, away) = (LoopbackServer::start().await, LoopbackServer::start().await);
    let source = format!("{}/a/events", home.base());
    let mut link = Listener::open_with(&source, quick(), Some("s3cret"), 64);
    for (path, code, location) in [
        ("/a/events", "301 Moved", "../b"),
        ("/b", "302 Found", "/c?x=1"),
        ("/c?x=1", "308 Moved", "d"),
    ] {
        let exchange = home.request().await;
        assert_eq!(exchange.first_line(), format!("GET {path} HTTP/1.1"));
        assert_eq!(exchange.header("authorization"), Some("Bearer s3cret"));
        let headers = format!("Location: {location}\r\n");
        exchange.answer(code, &headers).await;
    }
    let there = format!("Location: {}/e\r\n", away.base());
    let last = home.request().await;
    assert_eq!(last.first_line(), "GET /d HTTP/1.1");
    assert_eq!(last.header("authorization"), Some("Bearer s3cret"));
    last.answer("307 Temporary", &there).await;
    let stranger = away.request().await;
    assert_eq!(stranger.first_line(), "GET /e HTTP/1.1");
    assert_eq!(stranger.header("authorization"), None);
    assert_eq!(stranger.header("accept"), Some("text/event-stream"));
    let back = format!("Location: {}/f\r\n", home.base());
    stranger.answer("303 See Other", &back).await;
    let home_again = home.request().await;
    assert_eq!(home_again.header("authorization"), None);
    home_again.play("data: found\n\n").await;
    link.expect(&[connecting(1), LinkEvent::Connected, frame("found")])
        .await;
    // The next connection starts from the given address.
    let next = home.request().await;
    assert_eq!(next.first_line(), "GET /a/events HTTP/1.1");
    assert_eq!(next.header("authorization"), Some("Bearer s3cret"));
}

#[tokio::test]
async fn a_redirect_loop_is_final() {
    let producer = LoopbackServer::start().await;
    let mut link = Listener::open(&producer.base(), quick());
    for _ in 0..6 {
        producer
            .request()
            .await
            .answer("307 Again", "Location: /events\r\n")
            .await;
    }
    link.expect(&[connecting(1)]).await;
    assert!(matches!(
        link.next().await,
        LinkEvent::Failed {
            fault: Fault::Unusable(_)
        }
    ));
}

/// Returns a reserved address that no program listens on.
async fn nobody() -> (tokio::net::TcpSocket, String) {
    let producer = LoopbackServer::start().await;
    let base = producer.base();
    (producer.leave(), base)
}

#[tokio::test]
async fn a_refused_connection_is_lost_and_then_failed() {
    let config = LinkConfig {
        retries: Some(1),
        ..quick()
    };
    let (_held, base) = nobody().await;
    let mut link = Listener::open(&base, config);
    link.expect(&[connecting(1)]).await;
    assert!(matches!(
        link.next().await,
        LinkEvent::Lost {
            fault: Fault::Refused,
            ..
        }
    ));
    link.expect(&[connecting(2), failed(Fault::Refused)]).await;
}

/// A listener whose queue is full leaves further connections waiting, as a machine behind a silent firewall does.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_connection_that_is_not_made_in_time_is_tried_again() {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queue = Vec::new();
    let full = Duration::from_millis(100);
    while let Ok(stream) = tokio::time::timeout(full, tokio::net::TcpStream::connect(address)).await
    {
        queue.push(stream.unwrap());
        assert!(queue.len() < 100, "the queue never fills");
    }
    let config = LinkConfig {
        connect_timeout_ms: 50,
        retries: Some(1),
        ..quick()
    };
    let mut link = Listener::open(&format!("http://{address}"), config);
    link.expect(&[connecting(1)]).await;
    assert!(matches!(
        link.next().await,
        LinkEvent::Lost {
            fault: Fault::TimedOut,
            ..
        }
    ));
    link.expect(&[connecting(2), failed(Fault::TimedOut)]).await;
}

#[test]
fn a_connection_is_good_by_a_message_or_by_lasting() {
    use super::{GOOD_AFTER, is_good};
    assert!(!is_good(0, None));
    assert!(!is_good(0, Some(GOOD_AFTER - Duration::from_millis(1))));
    assert!(is_good(0, Some(GOOD_AFTER)));
    assert!(is_good(1, Some(Duration::ZERO)));
}

#[tokio::test]
async fn plain_words_at_a_secure_address_are_no_secure_connection() {
    let producer = LoopbackServer::start().await;
    let source = producer.base().replace("http:", "https:");
    let mut link = Listener::open(&source, quick());
    let server = tokio::spawn(async move {
        use tokio::io::AsyncWriteExt;
        let (mut stream, _) = producer.listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad\r\n\r\n").await.unwrap();
        stream
    });
    link.expect(&[connecting(1)]).await;
    match link.next().await {
        LinkEvent::Failed {
            fault: Fault::Tls(why),
        } => assert_eq!(why, NoTls::SomethingElse),
        other => panic!("{other:?}"),
    }
    soon(server).await.unwrap();
}

#[tokio::test]
async fn a_body_that_breaks_its_own_framing_is_tried_again() {
    let producer = LoopbackServer::start().await;
    let mut link = Listener::open(&producer.base(), quick());
    let mut exchange = producer.request().await;
    exchange
        .write(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
             Transfer-Encoding: chunked\r\n\r\n9\r\ndata: a\n\n\r\nnonsense\r\n",
        )
        .await;
    link.expect(&[connecting(1), LinkEvent::Connected, frame("a")])
        .await;
    assert!(matches!(
        link.next().await,
        LinkEvent::Lost {
            fault: Fault::Closed,
            ..
        }
    ));
}

#[tokio::test]
async fn a_token_that_can_not_be_sent_is_final_and_asks_nobody() {
    let (_held, base) = nobody().await;
    let mut link = Listener::open_with(&base, quick(), Some("a\nb"), 64);
    link.expect(&[connecting(1)]).await;
    assert!(matches!(
        link.next().await,
        LinkEvent::Failed {
            fault: Fault::Unusable(_)
        }
    ));
}

#[tokio::test]
async fn closing_ends_the_connection_at_once_even_with_a_full_sink() {
    let producer = LoopbackServer::start().await;
    let link = Listener::open_with(&producer.base(), quick(), None, 1);
    let mut exchange = producer.request().await;
    exchange
        .write(STREAM)
        .await
        .write("data: a\n\n".repeat(100))
        .await;
    let Listener { handle, mut news } = link;
    handle.close();
    exchange.gone().await;
    // What was already in the queue is still delivered; then nothing more.
    soon(async { while news.recv().await.is_some() {} }).await;
}

#[tokio::test]
async fn a_full_sink_holds_the_server_back_and_loses_nothing() {
    let producer = LoopbackServer::start().await;
    let mut link = Listener::open_with(&producer.base(), quick(), None, 1);
    let exchange = producer.request().await;
    let many: String = (0..20_000).map(|n| format!("data: {n}\n\n")).collect();
    let server = tokio::spawn(async move { exchange.play(&many).await });
    for n in 0..20_000 {
        assert_eq!(link.frame().await, n.to_string());
    }
    soon(server).await.unwrap();
}

#[tokio::test]
async fn a_sink_that_is_gone_ends_the_link() {
    let producer = LoopbackServer::start().await;
    let Listener { handle, news } = Listener::open(&producer.base(), quick());
    let mut exchange = producer.request().await;
    exchange.write(STREAM).await;
    drop(news);
    exchange.gone().await;
    drop(handle);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_that_carries_nothing_can_be_closed() {
    for flood in [": c\n".repeat(10_000), "x".repeat(30_000)] {
        let producer = LoopbackServer::start().await;
        let mut link = Listener::open(&producer.base(), quick());
        let mut exchange = producer.request().await;
        exchange.write(STREAM).await;
        link.expect(&[connecting(1), LinkEvent::Connected]).await;
        let server = tokio::spawn(async move { exchange.flood(&flood).await });
        link.handle.send(1, "{}".to_owned());
        producer.request().await.answer("200 OK", "").await;
        loop {
            match link.next().await {
                LinkEvent::Replied {
                    request: 1,
                    outcome,
                } => break assert_eq!(outcome, Ok(Receipt::Taken)),
                LinkEvent::Dropped { .. } => {}
                other => panic!("{other:?}"),
            }
        }
        let Listener { handle, mut news } = link;
        handle.close();
        soon(server).await.unwrap();
        soon(async { while news.recv().await.is_some() {} }).await;
    }
}
