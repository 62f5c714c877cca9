//! Streams as a dialect orders them: their addresses, the messages that open them, and how they end.

use crate::config::LinkConfig;
use crate::link::{
    Address, Body, Cause, DeliveryFailure, Fault, HttpAnswer, HttpCall, LinkEvent, Stream,
};
use crate::transport::tests::{Listener, LoopbackServer, STREAM, connecting, frame, quick, soon};

/// Returns settings with which every attempt waits for its course.
fn ordered() -> LinkConfig {
    LinkConfig {
        plain_pair: false,
        ..quick()
    }
}

#[tokio::test]
async fn the_name_of_an_event_comes_with_its_frame_and_is_bounded() {
    let producer = LoopbackServer::start().await;
    let mut link = Listener::open(&producer.base(), quick());
    let long = "é".repeat(100);
    let exchange = producer.request().await;
    exchange
        .play(&format!(
            "event: aaep.event\ndata: 1\n\nevent: message\ndata: 2\n\ndata: 3\n\nevent: {long}\ndata: 4\n\n"
        ))
        .await;
    let mut names = Vec::new();
    while names.len() < 4 {
        if let LinkEvent::Frame(frame) = link.next().await {
            names.push(frame.event);
        }
    }
    assert_eq!(
        names,
        [
            Some("aaep.event".to_owned()),
            None,
            None,
            Some("é".repeat(64))
        ]
    );
}

#[tokio::test]
async fn a_stream_that_a_message_opens_is_its_answer() {
    let producer = LoopbackServer::start().await;
    let mut listener = Listener::open_with(&producer.base(), ordered(), Some("s3cret"), 64);
    let stream = |text: &str| Stream {
        opened_by: Some(Body::json(text)),
        version: Some(("A2A-Version", "1.0")),
        ..Stream::at(Address::Path("/run".to_owned()))
    };
    for round in ["{\"n\":1}", "{\"n\":2}"] {
        listener
            .expect(&[LinkEvent::Connecting { attempt: 1 }])
            .await;
        listener.handle.follow(stream(round));
        // A message follows a redirect within the same server, with its method and body.
        let asked = producer.request().await;
        asked
            .answer("308 Permanent Redirect", "Location: /there\r\n")
            .await;
        let asked = producer.request().await;
        assert_eq!(asked.first_line(), "POST /there HTTP/1.1");
        assert_eq!(asked.header("accept"), Some("text/event-stream"));
        assert_eq!(asked.header("content-type"), Some("application/json"));
        assert_eq!(asked.header("a2a-version"), Some("1.0"));
        assert_eq!(asked.header("authorization"), Some("Bearer s3cret"));
        // An answer resumes nothing.
        assert_eq!(asked.header("last-event-id"), None);
        assert_eq!(asked.body, round);
        asked.play("id: 7\nevent: run.finished\ndata: {}\n\n").await;
        listener.expect(&[LinkEvent::Connected]).await;
        let LinkEvent::Frame(told) = listener.next().await else {
            panic!("no frame");
        };
        assert_eq!(told.event.as_deref(), Some("run.finished"));
        listener.expect(&[LinkEvent::StreamEnded]).await;
        // The server gets no further request before the next message.
    }
    listener
        .expect(&[LinkEvent::Connecting { attempt: 1 }])
        .await;
    assert!(listener.is_quiet());
}

#[tokio::test]
async fn an_answer_of_nothing_and_one_that_breaks_are_lost_and_not_whole() {
    for broken in [
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 900\r\n\r\ndata: 1\n\n",
    ] {
        let producer = LoopbackServer::start().await;
        let mut listener = Listener::open(&producer.base(), ordered());
        let stream = Stream {
            opened_by: Some(Body::json("{}")),
            ..Stream::at(Address::Given)
        };
        listener.handle.follow(stream);
        let mut asked = producer.request().await;
        asked.write(broken).await;
        drop(asked);
        loop {
            match listener.next().await {
                LinkEvent::Lost { fault, .. } => break assert_eq!(fault, Fault::Closed),
                LinkEvent::StreamEnded => panic!("{broken}"),
                _ => {}
            }
        }
    }
}

#[tokio::test]
async fn a_message_is_carried_to_no_other_server() {
    let other = LoopbackServer::start().await;
    for (status, to) in [
        ("307 Elsewhere", other.base()),
        ("302 Found", "/x".to_owned()),
        ("303 See Other", "/x".to_owned()),
    ] {
        let producer = LoopbackServer::start().await;
        let mut listener = Listener::open(&producer.base(), ordered());
        let stream = Stream {
            opened_by: Some(Body::json("{}")),
            ..Stream::at(Address::Given)
        };
        listener.handle.follow(stream);
        let location = format!("Location: {to}\r\n");
        producer.request().await.answer(status, &location).await;
        loop {
            if let LinkEvent::Failed { fault } = listener.next().await {
                let Fault::Unusable(why) = fault else {
                    panic!("{fault:?}");
                };
                let message = [Cause::RedirectMessage, Cause::RedirectLoses];
                assert!(message.contains(&why), "{why}");
                break;
            }
        }
    }
    let producer = LoopbackServer::start().await;
    let mut listener = Listener::open(&producer.base(), ordered());
    listener.handle.follow(Stream {
        opened_by: Some(Body::json("{}")),
        ..Stream::at(Address::Named(other.base()))
    });
    loop {
        if let LinkEvent::Failed { fault } = listener.next().await {
            break assert!(fault.is_final());
        }
    }
}

#[tokio::test]
async fn a_stream_elsewhere_gets_no_token_and_one_without_replies_takes_none() {
    let producer = LoopbackServer::start().await;
    let other = LoopbackServer::start().await;
    let mut listener = Listener::open_with(&producer.base(), ordered(), Some("s3cret"), 64);
    let away = Address::Named(format!("{}/stream", other.base()));
    listener.handle.follow(Stream::at(away));
    let mut asked = other.request().await;
    assert_eq!(asked.first_line(), "GET /stream HTTP/1.1");
    assert_eq!(asked.header("authorization"), None);
    asked.write(STREAM).await;
    listener.handle.send(3, "{}".to_owned());
    loop {
        if let LinkEvent::Replied { request, outcome } = listener.next().await {
            assert_eq!(
                (request, outcome),
                (3, Err(DeliveryFailure::Kept(Fault::OneWay)))
            );
            break;
        }
    }
}

#[tokio::test]
async fn a_refusal_ends_the_attempt_that_waits_for_an_order() {
    let producer = LoopbackServer::start().await;
    let mut listener = Listener::open(&producer.base(), ordered());
    listener.handle.refuse(Fault::Closed);
    listener
        .expect(&[LinkEvent::Connecting { attempt: 1 }])
        .await;
    assert!(matches!(
        listener.next().await,
        LinkEvent::Lost {
            fault: Fault::Closed,
            ..
        }
    ));
    listener
        .expect(&[LinkEvent::Connecting { attempt: 2 }])
        .await;
    listener.handle.refuse(Fault::OneWay);
    listener
        .expect(&[LinkEvent::Failed {
            fault: Fault::OneWay,
        }])
        .await;
}

#[tokio::test]
async fn the_silence_of_a_stream_beside_which_nobody_can_be_asked_is_told() {
    let producer = LoopbackServer::start().await;
    let config = LinkConfig {
        silent_after_seconds: 1,
        ..ordered()
    };
    let mut listener = Listener::open(&producer.base(), config);
    listener.handle.follow(Stream::at(Address::Given));
    let mut stream = producer.request().await;
    stream.write(STREAM).await;
    loop {
        if let LinkEvent::Silent { seconds } = listener.next().await {
            break assert!(seconds >= 1);
        }
    }
    stream.write("data: x\n\n").await;
    listener.expect(&[frame("x")]).await;
}

#[tokio::test]
async fn a_flood_comes_in_its_order_with_what_was_left_out_and_its_end_in_their_places() {
    const MANY: usize = 3000;
    let producer = LoopbackServer::start().await;
    let config = LinkConfig {
        max_frame_bytes: 64 * 1024,
        ..quick()
    };
    let mut link = Listener::open(&producer.base(), config);
    let exchange = producer.request().await;
    let mut play = String::new();
    let mut wanted = vec![connecting(1), LinkEvent::Connected];
    for n in 0..MANY {
        play.push_str(&format!(": {n}\nid: {n}\ndata: {n}\n\n"));
        wanted.push(frame(&n.to_string()));
        if n % 1000 == 500 {
            play.push_str(&format!("data: {}\n\n", "x".repeat(65 * 1024)));
            let fault = Fault::TooLarge { limit: 64 * 1024 };
            wanted.push(LinkEvent::Dropped { fault, count: 1 });
        }
    }
    let server = tokio::spawn(async move { exchange.play(&play).await });
    link.expect(&wanted).await;
    assert!(matches!(
        link.next().await,
        LinkEvent::Lost {
            fault: Fault::Closed,
            ..
        }
    ));
    soon(server).await.unwrap();
    let second = producer.request().await;
    assert_eq!(second.header("last-event-id"), Some("2999"));
}

#[tokio::test]
async fn a_request_may_be_answered_by_a_stream_or_not_and_each_piece_has_its_number() {
    let producer = LoopbackServer::start().await;
    let mut listener = Listener::open_with(&producer.base(), ordered(), Some("s3cret"), 64);
    listener
        .expect(&[LinkEvent::Connecting { attempt: 1 }])
        .await;
    let call = || HttpCall {
        streams: true,
        version: Some(("a2a-version", "1.0")),
        ..HttpCall::post("/rpc", Body::json("{\"n\":1}"))
    };
    listener.handle.call(7, call());
    let asked = producer.request().await;
    assert_eq!(asked.first_line(), "POST /rpc HTTP/1.1");
    assert_eq!(asked.header("authorization"), Some("Bearer s3cret"));
    assert_eq!(asked.header("a2a-version"), Some("1.0"));
    asked.play(": hello\n\ndata: 1\n\ndata: 2\n\n").await;
    let piece = |text: &str| LinkEvent::Piece {
        request: 7,
        text: text.to_owned(),
    };
    listener.expect(&[piece("1"), piece("2")]).await;
    let answered = |request: u64, status: u16, body: &str| LinkEvent::Answered {
        request,
        outcome: Ok(HttpAnswer {
            status,
            location: None,
            retry_after: None,
            body: body.to_owned(),
        }),
    };
    listener.expect(&[answered(7, 200, "")]).await;
    // A non-stream response is an answer like any other.
    listener.handle.call(8, call());
    let mut asked = producer.request().await;
    asked
        .write("HTTP/1.1 400 Bad\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
        .await;
    listener.expect(&[answered(8, 400, "{}")]).await;
    // A broken stream is not a complete answer.
    listener.handle.call(9, call());
    let mut asked = producer.request().await;
    asked
        .write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 900\r\n\r\ndata: 1\n\n")
        .await;
    drop(asked);
    let one = LinkEvent::Piece {
        request: 9,
        text: "1".to_owned(),
    };
    let broken = LinkEvent::Answered {
        request: 9,
        outcome: Err(Fault::Closed),
    };
    listener.expect(&[one, broken]).await;
}

#[tokio::test]
async fn streams_that_answer_are_few_and_bounded_and_leave_room_for_other_requests() {
    let producer = LoopbackServer::start().await;
    let config = LinkConfig {
        max_frame_bytes: 64,
        ..ordered()
    };
    let mut listener = Listener::open(&producer.base(), config);
    listener
        .expect(&[LinkEvent::Connecting { attempt: 1 }])
        .await;
    let call = || HttpCall {
        streams: true,
        ..HttpCall::post("/rpc", Body::json("{}"))
    };
    let mut open = Vec::new();
    for number in 0..8 {
        listener.handle.call(number, call());
        let mut asked = producer.request().await;
        asked.write(STREAM).await;
        open.push(asked);
    }
    listener.handle.call(8, call());
    let fault = Fault::Other(Cause::TooManyRequests);
    listener
        .expect(&[LinkEvent::Answered {
            request: 8,
            outcome: Err(fault),
        }])
        .await;
    listener.handle.call(9, HttpCall::get("/x"));
    producer.request().await.answer("204 None", "").await;
    let LinkEvent::Answered { request: 9, .. } = listener.next().await else {
        panic!("no answer beside the streams");
    };
    // An event that is too large is skipped and reported, and the stream goes on.
    let long = format!("data: {}\n\ndata: 2\n\n", "x".repeat(200));
    open[3].write(long).await;
    let dropped = LinkEvent::Dropped {
        fault: Fault::TooLarge { limit: 64 },
        count: 1,
    };
    let two = LinkEvent::Piece {
        request: 3,
        text: "2".to_owned(),
    };
    listener.expect(&[dropped, two]).await;
}

#[tokio::test]
async fn a_document_is_read_again_and_is_news_when_it_changes() {
    let producer = LoopbackServer::start().await;
    let mut listener = Listener::open_with(&producer.base(), ordered(), Some("s3cret"), 64);
    let document = || Stream {
        every: Some(std::time::Duration::from_millis(5)),
        ..Stream::at(Address::GivenAt("/card".to_owned()))
    };
    let json = |text: &str| {
        let length = text.len();
        format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{text}"
        )
    };
    listener.expect(&[connecting(1)]).await;
    listener.handle.follow(document());
    for (text, news) in [
        ("{}", vec![LinkEvent::Connected, frame("{}")]),
        ("{}", vec![]),
        ("[1]", vec![frame("[1]")]),
    ] {
        let mut asked = producer.request().await;
        assert_eq!(asked.first_line(), "GET /card HTTP/1.1");
        assert_eq!(asked.header("authorization"), Some("Bearer s3cret"));
        asked.write(json(text)).await;
        listener.expect(&news).await;
    }
    // A failure noticed elsewhere is reported through `refuse`.
    listener.handle.refuse(Fault::Closed);
    loop {
        tokio::select! {
            mut asked = producer.request() => {
                asked.write(json("[1]")).await;
            }
            news = listener.next() => {
                let LinkEvent::Lost { fault, .. } = news else {
                    panic!("{news:?}");
                };
                break assert_eq!(fault, Fault::Closed);
            }
        }
    }
    listener.expect(&[connecting(1)]).await;
    // A page for people is not a document.
    listener.handle.follow(document());
    let mut asked = producer.request().await;
    asked
        .write("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi")
        .await;
    let fault = Fault::Unusable(Cause::NoDocument);
    listener.expect(&[LinkEvent::Failed { fault }]).await;
}
