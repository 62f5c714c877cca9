//! Streams that break, resume, wait, end.

use std::collections::BTreeSet;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::chapter_rules::faults;
use super::tcp_client::{EventStreamReader, decision, post, request, server, within};
use crate::demo::{DemoSettings, Scenario, ServedDemo, serve};

const CONFIRMATION: &str = "aaep:agent.awaiting.confirmation";

#[tokio::test]
async fn an_event_is_named_numbered_and_greeted() {
    let running = server(DemoSettings::stepped(1)).await;
    let mut stream = EventStreamReader::greeted(running.addr(), None).await;
    assert!(stream.head.contains("content-type: text/event-stream"));
    assert!(stream.head.contains("cache-control: no-cache"));
    running.agents().start("tool").unwrap();
    let sent = stream.next().await.unwrap();
    assert_eq!(sent.event.as_deref(), Some("aaep.event"));
    assert_eq!(sent.id.as_deref(), sent.json()["event_id"].as_str());
    running.producer().inject("no\njson");
    while stream.next().await.unwrap().data != "no\njson" {}
    running.stop().await;
}

#[tokio::test]
async fn who_was_cut_off_resumes_without_loss_and_without_repetition() {
    let running = server(DemoSettings::stepped(2)).await;
    let producer = running.producer();
    let agents = running.agents();
    let mut stream = EventStreamReader::greeted(running.addr(), None).await;
    agents.hold_before("aaep:agent.tool.completed");
    agents.start("tool").unwrap();
    within(agents.until_held()).await;
    let mut seen = stream.until("tool.invoked").await;
    assert_eq!(producer.cut_connections(), 1);
    assert_eq!(stream.next().await, None);
    within(producer.until_deserted()).await;
    agents.resume();
    let last = seen.last().unwrap()["event_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut stream = EventStreamReader::greeted(running.addr(), Some(&last)).await;
    seen.extend(stream.until("session.completed").await);
    assert_eq!(faults(&seen, &BTreeSet::new()), Vec::<String>::new());
    within(producer.until_subscriptions(2)).await;
    running.stop().await;
}

#[tokio::test]
async fn who_reads_too_slowly_loses_what_is_old_and_it_is_counted() {
    let running = server(DemoSettings::stepped(12)).await;
    let producer = running.producer();
    let mut stream = EventStreamReader::greeted(running.addr(), None).await;
    // Nothing else runs until the first wait, so the connection removes nothing meanwhile.
    for number in 0..1_500 {
        producer.inject(&number.to_string());
    }
    assert_eq!(producer.dropped(), 1_500 - 1_024);
    assert_eq!(stream.next().await.unwrap().data, "476");
    let (_, _, health) = request(running.addr(), "GET", "/healthz", "").await;
    assert!(health.contains("\"events_dropped\":476"), "{health}");
    running.stop().await;
}

#[tokio::test]
async fn nothing_is_replayed_to_who_does_not_ask() {
    let running = server(DemoSettings::stepped(3)).await;
    within(running.agents().start("tool").unwrap().until_ended()).await;
    let mut stream = EventStreamReader::greeted(running.addr(), None).await;
    running.producer().inject("marker");
    assert_eq!(stream.next().await.unwrap().data, "marker");
    running.stop().await;
}

#[tokio::test]
async fn who_missed_too_much_gets_the_open_question_again_and_the_state_of_the_rest() {
    let running = server(DemoSettings::stepped(4)).await;
    let producer = running.producer();
    let agents = running.agents();
    let mut first = EventStreamReader::greeted(running.addr(), None).await;
    let asking = agents.start("email").unwrap();
    let question = first.until("awaiting.confirmation").await.pop().unwrap();
    drop(first);
    within(producer.until_deserted()).await;
    agents.hold_before("aaep:agent.session.completed");
    let writing = agents.start("answer").unwrap();
    within(agents.until_held()).await;

    let lost = question["event_id"].as_str().unwrap();
    let mut stream = EventStreamReader::greeted(running.addr(), Some(lost)).await;
    assert_eq!(stream.event().await, question, "the same event");
    let summary = stream.event().await;
    assert_eq!(summary["session_id"], writing.ids()[0]);
    assert_eq!(summary["from_state"], "writing_output");
    assert_eq!(summary["to_state"], "writing_output");
    agents.resume();
    post(running.addr(), "/messages", &decision(&question, "accept")).await;
    within(asking.until_ended()).await;
    within(writing.until_ended()).await;
    running.stop().await;
}

#[tokio::test]
async fn one_subscriber_too_many_is_told_to_come_back() {
    let running = server(DemoSettings::stepped(5)).await;
    let mut streams = Vec::new();
    for _ in 0..32 {
        streams.push(EventStreamReader::greeted(running.addr(), None).await);
    }
    let refused = EventStreamReader::open(running.addr(), None).await;
    assert_eq!(refused.status, 503);
    assert!(refused.head.contains("retry-after"));
    running.agents().start("tool").unwrap();
    for stream in &mut streams {
        stream.until("session.completed").await;
    }
    drop(streams);
    within(running.producer().until_deserted()).await;
    EventStreamReader::greeted(running.addr(), None).await;
    running.stop().await;
}

#[tokio::test]
async fn an_agent_is_held_exactly_where_a_test_wants_it() {
    let running = server(DemoSettings::stepped(6)).await;
    let producer = running.producer();
    let agents = running.agents();
    let mut stream = EventStreamReader::greeted(running.addr(), None).await;
    within(producer.until_subscribed(1)).await;
    agents.hold_before(CONFIRMATION);
    let session = agents.start("question").unwrap();
    within(agents.until_held()).await;
    assert_eq!(producer.open_questions(), 0);
    agents.pause();
    within(agents.until_held()).await;
    assert_eq!(producer.open_questions(), 0);
    agents.resume();
    within(producer.until_asked(1)).await;
    let question = stream.until("awaiting.confirmation").await.pop().unwrap();
    agents.hold_before("aaep:agent.session.completed");
    post(running.addr(), "/messages", &decision(&question, "accept")).await;
    within(agents.until_held()).await;
    assert_eq!(producer.open_sessions(), 1);
    agents.resume();
    within(session.until_ended()).await;
    running.stop().await;
}

/// Opens an event stream over HTTP/1.1, whose end shows whether it was orderly, and waits until it is
/// one of `count` subscribers.
async fn raw(running: &ServedDemo, count: usize) -> (TcpStream, Vec<u8>) {
    let mut tcp = TcpStream::connect(running.addr()).await.unwrap();
    tcp.write_all(b"GET /events HTTP/1.1\r\nHost: demo\r\n\r\n")
        .await
        .unwrap();
    within(running.producer().until_subscribed(count)).await;
    (tcp, Vec::new())
}

#[tokio::test]
async fn stopping_cancels_sessions_ends_streams_and_frees_the_port() {
    let running = server(DemoSettings::stepped(7)).await;
    let addr = running.addr();
    let producer = running.producer().clone();
    let agents = running.agents().clone();
    let mut stream = EventStreamReader::greeted(addr, None).await;
    agents.hold_before("aaep:agent.tool.completed");
    agents.start("tool").unwrap();
    within(agents.until_held()).await;
    let (mut tcp, mut bytes) = raw(&running, 2).await;
    within(running.stop()).await;
    let events = stream.rest().await;
    assert_eq!(faults(&events, &BTreeSet::new()), Vec::<String>::new());
    assert_eq!(
        events.last().unwrap()["type"],
        "aaep:agent.session.cancelled"
    );
    assert_eq!(events.last().unwrap()["cancelled_by"], "system");
    within(tcp.read_to_end(&mut bytes)).await.unwrap();
    assert!(
        bytes.ends_with(b"0\r\n\r\n"),
        "the stream ended in good order"
    );
    assert!(TcpStream::connect(addr).await.is_err());
    assert!(agents.start("tool").is_err());
    assert_eq!(producer.open_sessions(), 0);
    let again = serve(&addr.to_string(), DemoSettings::stepped(8))
        .await
        .unwrap();
    again.stop().await;
}

#[tokio::test]
async fn a_crash_ends_everything_without_a_word() {
    let running = server(DemoSettings::stepped(9)).await;
    let producer = running.producer().clone();
    let agents = running.agents().clone();
    let (mut tcp, mut bytes) = raw(&running, 1).await;
    agents.start("question").unwrap();
    within(producer.until_asked(1)).await;
    drop(running);
    // Here, a reset is as good an end as any.
    let _ = within(tcp.read_to_end(&mut bytes)).await;
    let text = String::from_utf8_lossy(&bytes);
    assert!(!text.contains("session.cancelled"), "{text}");
    assert!(!bytes.ends_with(b"0\r\n\r\n"), "the stream was broken off");
    within(producer.until_deserted()).await;
}

#[tokio::test]
async fn a_scenario_that_leaves_its_session_open_is_brought_to_an_end() {
    let running = server(DemoSettings::stepped(10)).await;
    let mut stream = EventStreamReader::greeted(running.addr(), None).await;
    let text = [
        r#"{"scenario":"x","title":"X","description":"Y.","language":"en-US","agents":[{"agent_id":"a","agent_name":"A"}]}"#,
        r#"{"event":{"type":"aaep:agent.session.started","summary_normal":"A.","summary_terse":"A."}}"#,
    ]
    .join("\n");
    let scenario = Scenario::parse(&text).unwrap();
    let session = running.agents().start_scenario(scenario).unwrap();
    let events = stream.until("session.cancelled").await;
    assert_eq!(faults(&events, &BTreeSet::new()), Vec::<String>::new());
    assert_eq!(events[1]["cancelled_by"], "producer");
    within(session.until_ended()).await;
    running.stop().await;
}
