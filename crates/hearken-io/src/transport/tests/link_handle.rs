//! Replies: each is posted once, beside the stream, and answered exactly once.

use std::future::Future;

use super::{CALLS_UNDER_WAY, STREAMS_UNDER_WAY, drive, launch};
use crate::config::LinkConfig;
use crate::link::{
    DeliveryFailure, Fault, HttpAnswer, HttpCall, LinkEvent, Receipt, ServiceAnswers, ServiceCall,
};
use crate::transport::halves::{Link, Poster, REPLIES_UNDER_WAY, SourceReader};
use crate::transport::link_sink::LinkSink;
use crate::transport::tests::{
    Listener, LoopbackServer, STREAM, TestExchange, connecting, frame, quick, replied, soon,
};

/// Opens a link whose stream is open and silent.
async fn reading(
    config: LinkConfig,
    token: Option<&str>,
) -> (LoopbackServer, Listener, TestExchange) {
    let producer = LoopbackServer::start().await;
    let mut link = Listener::open_with(&producer.base(), config, token, 64);
    let mut stream = producer.request().await;
    stream.write(STREAM).await;
    link.expect(&[connecting(1), LinkEvent::Connected]).await;
    (producer, link, stream)
}

#[tokio::test]
async fn a_reply_is_posted_beside_the_stream() {
    let (producer, mut link, mut stream) = reading(quick(), Some("abc")).await;
    link.handle
        .send(9, "{\"type\":\"confirmation.reply\"}".to_owned());
    let post = producer.request().await;
    assert_eq!(post.first_line(), "POST /messages HTTP/1.1");
    assert_eq!(post.header("content-type"), Some("application/json"));
    assert_eq!(post.header("authorization"), Some("Bearer abc"));
    assert_eq!(post.body, "{\"type\":\"confirmation.reply\"}");
    // The stream continues while the reply is under way.
    stream.write("data: meanwhile\n\n").await;
    link.expect(&[frame("meanwhile")]).await;
    post.answer("204 No Content", "").await;
    link.expect(&[replied(9, Ok(Receipt::Taken))]).await;
    stream.write("data: after\n\n").await;
    link.expect(&[frame("after")]).await;
}

#[tokio::test]
async fn every_success_is_a_success_and_nothing_else_is() {
    let (producer, mut link, _stream) = reading(quick(), None).await;
    for (answer, ok) in [
        ("200 OK", true),
        ("202 Accepted", true),
        ("204 No Content", true),
        ("400 Bad Request", false),
        ("401 Unauthorized", false),
        ("500 Oops", false),
        ("307 Elsewhere", false),
    ] {
        link.handle.send(1, "{}".to_owned());
        producer
            .request()
            .await
            .answer(answer, "Retry-After: 3\r\n")
            .await;
        let wanted = if ok {
            Ok(Receipt::Taken)
        } else {
            let status = answer[..3].parse().unwrap();
            let fault = Fault::Status {
                status,
                retry_after: Some(3),
            };
            // After a server's own error it is unknown what it did before.
            Err(match status {
                500 => DeliveryFailure::Unknown(fault),
                _ => DeliveryFailure::Refused(fault),
            })
        };
        link.expect(&[replied(1, wanted)]).await;
    }
}

#[tokio::test]
async fn a_reply_that_nobody_answers_times_out_and_is_not_repeated() {
    let config = LinkConfig {
        reply_timeout_ms: 300,
        ..quick()
    };
    let (producer, mut link, _stream) = reading(config, None).await;
    link.handle.send(5, "{}".to_owned());
    let post = producer.request().await;
    link.expect(&[replied(5, Err(DeliveryFailure::Unknown(Fault::TimedOut)))])
        .await;
    post.gone().await;
    // The server's next request is the next reply, not the same one again.
    link.handle.send(6, "{\"n\":6}".to_owned());
    let next = producer.request().await;
    assert_eq!(next.body, "{\"n\":6}");
    next.answer("200 OK", "").await;
    link.expect(&[replied(6, Ok(Receipt::Taken))]).await;
}

#[tokio::test]
async fn a_server_that_hangs_up_on_a_reply_is_asked_only_once() {
    let (producer, mut link, _stream) = reading(quick(), None).await;
    link.handle.send(5, "{\"n\":5}".to_owned());
    drop(producer.request().await);
    link.expect(&[replied(5, Err(DeliveryFailure::Unknown(Fault::Closed)))])
        .await;
    link.handle.send(6, "{\"n\":6}".to_owned());
    assert_eq!(producer.request().await.body, "{\"n\":6}");
}

#[tokio::test]
async fn a_server_that_dies_at_a_byte_of_its_answer_has_perhaps_taken_the_reply() {
    let (producer, mut link, _stream) = reading(quick(), None).await;
    let answer = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
    for cut in 0..=answer.len() {
        link.handle.send(7, "{\"n\":7}".to_owned());
        let mut post = producer.request().await;
        post.write(&answer[..cut]).await;
        drop(post);
        let LinkEvent::Replied { outcome, .. } = link.next().await else {
            panic!("{cut}");
        };
        match outcome {
            Ok(Receipt::Taken) => assert_eq!(cut, answer.len()),
            Err(DeliveryFailure::Unknown(_)) => assert!(cut < answer.len()),
            other => panic!("{cut}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_server_that_dies_while_it_reads_has_perhaps_taken_the_reply() {
    let (producer, mut link, _stream) = reading(quick(), None).await;
    for bytes in [0, 1, 20, 100] {
        link.handle.send(7, format!("\"{}\"", "n".repeat(1 << 16)));
        producer.hang_up_after(bytes).await;
        let LinkEvent::Replied { outcome, .. } = link.next().await else {
            panic!("{bytes}");
        };
        assert!(
            matches!(outcome, Err(DeliveryFailure::Unknown(_))),
            "{bytes}: {outcome:?}"
        );
    }
}

#[tokio::test]
async fn a_reply_to_a_server_that_is_gone_is_refused() {
    let (producer, mut link, stream) = reading(quick(), None).await;
    drop(stream);
    let _nobody = producer.leave();
    link.handle.send(5, "{}".to_owned());
    loop {
        if let LinkEvent::Replied { request, outcome } = link.next().await {
            assert_eq!(
                (request, outcome),
                (5, Err(DeliveryFailure::Kept(Fault::Refused)))
            );
            break;
        }
    }
}

#[tokio::test]
async fn a_link_that_has_failed_or_ended_still_answers_for_replies() {
    for answer in ["404 Not Found", "204 No Content"] {
        let producer = LoopbackServer::start().await;
        let mut link = Listener::open(&producer.base(), quick());
        producer.request().await.answer(answer, "").await;
        link.expect(&[connecting(1)]).await;
        assert!(matches!(
            link.next().await,
            LinkEvent::Failed { .. } | LinkEvent::Ended
        ));
        link.handle.send(1, "{}".to_owned());
        producer.request().await.answer("200 OK", "").await;
        link.expect(&[replied(1, Ok(Receipt::Taken))]).await;
    }
}

#[tokio::test]
async fn closing_answers_every_reply_once() {
    let (producer, link, stream) = reading(quick(), None).await;
    let Listener { handle, mut news } = link;
    handle.send(0, "{}".to_owned());
    let post = producer.request().await;
    for request in 1..10 {
        handle.send(request, "{}".to_owned());
    }
    handle.close();
    let mut answered = Vec::new();
    while let Some((_, event)) = soon(news.recv()).await {
        match event {
            LinkEvent::Replied { request, outcome } => {
                assert!(outcome.is_err(), "{request} was answered by nobody");
                answered.push(request);
            }
            other => panic!("{other:?}"),
        }
    }
    answered.sort_unstable();
    assert_eq!(answered, (0..10).collect::<Vec<_>>());
    post.gone().await;
    stream.gone().await;
}

#[tokio::test]
async fn too_many_replies_are_refused_and_each_is_answered_once() {
    let (producer, link, _stream) = reading(quick(), None).await;
    let Listener { handle, mut news } = link;
    let many = REPLIES_UNDER_WAY as u64 + 20;
    for request in 0..many {
        handle.send(request, "{}".to_owned());
    }
    // The server keeps all of them waiting until the refusals have arrived.
    let mut posts = Vec::new();
    for _ in 0..REPLIES_UNDER_WAY {
        posts.push(producer.request().await);
    }
    let mut answered = Vec::new();
    let mut posts = posts.into_iter();
    for n in 0..many {
        if n == 20 {
            for post in posts.by_ref() {
                post.answer("204 No Content", "").await;
            }
        }
        match soon(news.recv()).await.unwrap().1 {
            LinkEvent::Replied { request, outcome } => {
                assert_eq!(outcome.is_ok(), request < REPLIES_UNDER_WAY as u64);
                answered.push(request);
            }
            other => panic!("{other:?}"),
        }
    }
    answered.sort_unstable();
    assert_eq!(answered, (0..many).collect::<Vec<_>>());
    // There is space again.
    handle.send(1000, "{}".to_owned());
    producer.request().await.answer("200 OK", "").await;
    assert_eq!(
        soon(news.recv()).await.unwrap().1,
        replied(1000, Ok(Receipt::Taken))
    );
}

#[tokio::test]
async fn a_full_sink_does_not_hold_up_a_reply() {
    let producer = LoopbackServer::start().await;
    let mut link = Listener::open_with(&producer.base(), quick(), None, 1);
    let mut stream = producer.request().await;
    stream
        .write(STREAM)
        .await
        .write("data: a\n\n".repeat(50))
        .await;
    link.handle.send(1, "{\"n\":1}".to_owned());
    let post = producer.request().await;
    assert_eq!(post.body, "{\"n\":1}");
    link.handle.send(2, "{\"n\":2}".to_owned());
    post.answer("200 OK", "").await;
    producer.request().await.answer("200 OK", "").await;
    let (mut frames, mut answered) = (0, Vec::new());
    while frames < 50 || answered.len() < 2 {
        match link.next().await {
            LinkEvent::Frame(_) => frames += 1,
            LinkEvent::Replied { request, outcome } => {
                assert_eq!(outcome, Ok(Receipt::Taken));
                answered.push(request);
            }
            LinkEvent::Connecting { .. } | LinkEvent::Connected => {}
            other => panic!("{other:?}"),
        }
    }
    answered.sort_unstable();
    assert_eq!(answered, [1, 2]);
}

#[tokio::test]
async fn too_many_requests_are_refused_and_each_is_answered_once() {
    let (producer, link, _stream) = reading(quick(), None).await;
    let Listener { handle, mut news } = link;
    let many = CALLS_UNDER_WAY as u64 + 3;
    for request in 0..many {
        handle.call(request, HttpCall::get("/x"));
    }
    let mut refused = Vec::new();
    while refused.len() < 3 {
        match soon(news.recv()).await.unwrap().1 {
            LinkEvent::Answered {
                request,
                outcome: Err(Fault::Other(_)),
            } => refused.push(request),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(refused, [many - 3, many - 2, many - 1]);
    for _ in 0..CALLS_UNDER_WAY {
        producer.request().await.answer("200 OK", "").await;
    }
    let mut answered = Vec::new();
    while answered.len() < CALLS_UNDER_WAY {
        match soon(news.recv()).await.unwrap().1 {
            LinkEvent::Answered {
                request,
                outcome: Ok(_),
            } => answered.push(request),
            other => panic!("{other:?}"),
        }
    }
    answered.sort_unstable();
    assert_eq!(answered, (0..CALLS_UNDER_WAY as u64).collect::<Vec<_>>());
    // There is space again.
    handle.call(1000, HttpCall::get("/x"));
    producer.request().await.answer("200 OK", "").await;
    assert!(matches!(
        soon(news.recv()).await.unwrap().1,
        LinkEvent::Answered {
            request: 1000,
            outcome: Ok(_)
        }
    ));
}

/// A source from which nothing comes, and whose services never answer.
struct Mute;

impl SourceReader for Mute {
    async fn read(self, sink: LinkSink) {
        sink.closed().await;
    }
}

impl Poster for Mute {
    fn post(
        &self,
        _body: String,
    ) -> impl Future<Output = Result<Receipt, DeliveryFailure>> + Send + 'static {
        std::future::pending()
    }

    fn call_service(
        &self,
        _request: u64,
        _call: ServiceCall,
        _sink: LinkSink,
    ) -> impl Future<Output = Result<HttpAnswer, Fault>> + Send + 'static {
        std::future::pending()
    }
}

#[tokio::test]
async fn the_answers_to_a_request_can_be_left_and_make_room_for_another() {
    let (sink, mut news) = LinkSink::channel(0, 64);
    let link = Link {
        reader: Mute,
        poster: Mute,
    };
    let handle = launch(|orders, closing| drive(link, sink, orders, closing));
    let call = || ServiceCall {
        answers: ServiceAnswers::Streamed,
        ..ServiceCall::new("agents.prompt.pi.anna.build", "{}")
    };
    let all = STREAMS_UNDER_WAY as u64;
    for request in 1..=all + 1 {
        handle.call_service(request, call());
    }
    let mut next = async || match soon(news.recv()).await {
        Some((_, LinkEvent::Answered { request, outcome })) => (request, outcome.is_err()),
        other => panic!("{other:?}"),
    };
    assert_eq!(next().await, (all + 1, true), "there is no room");
    handle.leave_call(3);
    // It was left already, and this one was never made.
    handle.leave_call(3);
    handle.leave_call(77);
    assert_eq!(next().await, (3, true));
    handle.call_service(99, call());
    handle.leave_call(99);
    assert_eq!(next().await, (99, true), "there was room again");
}
