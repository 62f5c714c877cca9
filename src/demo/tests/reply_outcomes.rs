//! The outcomes of replies, good and bad.

use serde_json::{Value, json};

use super::tcp_client::{EventStreamReader, decision, post, request, response, server, within};
use crate::demo::{DemoSettings, Pace, ServedDemo, Timeouts};
use crate::producer::{Malformed, PostVerdict};

/// Starts a scenario and reads up to its question.
async fn asked(running: &ServedDemo, name: &str) -> (EventStreamReader, Value) {
    let mut stream = EventStreamReader::greeted(running.addr(), None).await;
    running.agents().start(name).unwrap();
    within(running.producer().until_asked(1)).await;
    let kind = if name == "clarification" {
        "awaiting.clarification"
    } else {
        "awaiting.confirmation"
    };
    let question = stream.until(kind).await.pop().unwrap();
    (stream, question)
}

fn verdicts(running: &ServedDemo) -> Vec<PostVerdict> {
    let replies = running.producer().replies();
    replies.into_iter().map(|reply| reply.verdict).collect()
}

fn with(mut message: Value, name: &str, value: Value) -> Value {
    message[name] = value;
    message
}

#[tokio::test]
async fn what_is_ignored_gets_the_same_answer_as_what_is_taken() {
    let running = server(DemoSettings::stepped(1)).await;
    let (mut stream, question) = asked(&running, "email").await;
    let accept = decision(&question, "accept");
    let ignored = [
        with(accept.clone(), "reply_token", json!("rpl_unknown")),
        with(accept.clone(), "decision", json!("maybe")),
        response(&question, json!("accept")),
        response(&question, json!(true)),
    ];
    for message in &ignored {
        let (status, answer) = post(running.addr(), "/messages", message).await;
        assert_eq!(
            (status, answer),
            (200, json!({"status": "received"})),
            "{message}"
        );
        assert_eq!(running.producer().open_questions(), 1, "{message}");
    }
    let (status, answer) = post(running.addr(), "/messages", &accept).await;
    assert_eq!((status, answer), (200, json!({"status": "received"})));
    let (status, answer) = post(running.addr(), "/messages", &decision(&question, "reject")).await;
    assert_eq!((status, answer), (200, json!({"status": "received"})));
    assert_eq!(
        verdicts(&running),
        [
            PostVerdict::UnknownToken,
            PostVerdict::NotAllowed,
            PostVerdict::WrongKind,
            PostVerdict::WrongKind,
            PostVerdict::Taken,
            PostVerdict::UsedToken,
        ]
    );
    let events = stream.until("session.completed").await;
    assert!(
        events.iter().any(|event| event["tool"] == "send_email"),
        "the first reply holds"
    );
    assert_eq!(running.producer().replies()[4].message, accept);
    running.stop().await;
}

#[tokio::test]
async fn what_is_malformed_is_refused_with_a_reason_and_changes_nothing() {
    let running = server(DemoSettings::stepped(2)).await;
    let (_stream, question) = asked(&running, "email").await;
    let accept = decision(&question, "accept");
    let mut faults = vec![
        (
            with(accept.clone(), "extra", json!(1)),
            "unknown_field",
            Malformed::UnknownField,
        ),
        (
            with(accept.clone(), "decision", json!(true)),
            "invalid_message",
            Malformed::Invalid("decision"),
        ),
        (
            with(accept.clone(), "timestamp", json!("now")),
            "invalid_message",
            Malformed::Invalid("timestamp"),
        ),
        (
            with(accept.clone(), "type", json!("hello")),
            "unknown_type",
            Malformed::UnknownType,
        ),
        (json!([accept]), "invalid_message", Malformed::NotAnObject),
    ];
    let mut missing = accept.clone();
    missing.as_object_mut().unwrap().remove("subscription_id");
    faults.push((
        missing,
        "missing_field",
        Malformed::Missing("subscription_id"),
    ));
    for (message, code, fault) in &faults {
        let (status, answer) = post(running.addr(), "/messages", message).await;
        assert_eq!(status, 400, "{message}");
        assert_eq!(answer["error"], *code, "{message}");
        let words = answer["message"].as_str().unwrap();
        assert!(!words.contains("rpl_"), "{words}");
        assert_eq!(
            verdicts(&running).last(),
            Some(&PostVerdict::Malformed(*fault))
        );
    }
    let (status, _, body) = request(running.addr(), "POST", "/messages", "{not json").await;
    assert_eq!(status, 400);
    assert!(body.contains("invalid_json"), "{body}");
    assert_eq!(running.producer().open_questions(), 1);
    within(running.producer().until_replies(faults.len() as u64 + 1)).await;
    running.stop().await;
}

#[tokio::test]
async fn a_clarification_takes_what_its_kinds_say_and_waits_on_after_the_rest() {
    let running = server(DemoSettings::stepped(3)).await;
    let (mut stream, question) = asked(&running, "clarification").await;
    for answer in [json!(7), json!(true)] {
        post(running.addr(), "/messages", &response(&question, answer)).await;
        assert_eq!(running.producer().open_questions(), 1);
    }
    post(running.addr(), "/messages", &decision(&question, "accept")).await;
    post(
        running.addr(),
        "/messages",
        &response(&question, json!("sunday")),
    )
    .await;
    let events = stream.until("session.completed").await;
    assert_eq!(
        events.last().unwrap()["summary_normal"],
        "A table for two is booked: Sunday at 6."
    );
    assert_eq!(
        verdicts(&running),
        [
            PostVerdict::NotAllowed,
            PostVerdict::NotAllowed,
            PostVerdict::WrongKind,
            PostVerdict::Taken
        ]
    );
    running.stop().await;
}

#[tokio::test]
async fn a_hostile_answer_is_tamed_before_it_is_repeated() {
    let running = server(DemoSettings::stepped(4)).await;
    let (mut stream, question) = asked(&running, "clarification").await;
    let hostile = format!("\u{1b}]0;x\u{7}\r\ndata: {{}}\n\n{}", "z".repeat(10_000));
    post(
        running.addr(),
        "/messages",
        &response(&question, json!(hostile)),
    )
    .await;
    for event in stream.until("session.completed").await {
        let text = event["summary_normal"].as_str().unwrap_or_default();
        assert!(text.chars().count() < 400, "{}", text.len());
        assert!(!text.contains(char::is_control));
    }
    running.stop().await;
}

#[tokio::test]
async fn a_modified_action_counts_as_a_rejection() {
    let running = server(DemoSettings::stepped(5)).await;
    let (mut stream, question) = asked(&running, "transfer").await;
    let modified = with(
        decision(&question, "accept"),
        "modified_action",
        json!({"amount": 1}),
    );
    post(running.addr(), "/messages", &modified).await;
    let events = stream.until("session.completed").await;
    assert!(events.iter().all(|event| event["tool"] != "transfer_funds"));
    assert_eq!(verdicts(&running), [PostVerdict::Taken]);
    running.stop().await;
}

#[tokio::test]
async fn a_decision_after_the_timeout_is_late_even_if_the_question_still_stands() {
    // The clock stands still, so only the producer's own timer could end the question.
    let running = server(DemoSettings {
        pace: Pace::Stepped,
        timeouts: Timeouts::AsWritten,
        clock: std::sync::Arc::new(|| "2026-01-01T00:00:00Z".parse().unwrap()),
        ..DemoSettings::stepped(6)
    })
    .await;
    let (_stream, question) = asked(&running, "question").await;
    let late = with(
        decision(&question, "accept"),
        "timestamp",
        json!("2026-01-01T00:01:00Z"),
    );
    post(running.addr(), "/messages", &late).await;
    assert_eq!(verdicts(&running), [PostVerdict::TooLate]);
    let timely = with(
        decision(&question, "accept"),
        "timestamp",
        json!("2026-01-01T00:00:59.999Z"),
    );
    post(running.addr(), "/messages", &timely).await;
    assert_eq!(verdicts(&running)[1], PostVerdict::Taken);
    running.stop().await;
}

#[tokio::test]
async fn a_token_is_spent_when_its_question_has_timed_out() {
    let running = server(DemoSettings::stepped(7)).await;
    let (mut stream, question) = asked(&running, "question").await;
    assert_eq!(running.producer().expire_questions(), 1);
    stream.until("session.completed").await;
    post(running.addr(), "/messages", &decision(&question, "accept")).await;
    assert_eq!(verdicts(&running), [PostVerdict::UsedToken]);
    running.stop().await;
}
