//! Streams shaped by their terms, on the wire: questions only for subscribers that can answer, text
//! that merges while the budget makes it wait.

use serde_json::{Value, json};

use super::server_handshake::{agreed, stream};
use super::tcp_client::{EventStreamReader, decision, post, server};
use crate::demo::DemoSettings;

const ANSWERS: [&str; 2] = [
    "supports_confirmation_reply",
    "supports_clarification_reply",
];

fn kinds(events: &[Value]) -> Vec<&str> {
    let kinds = events.iter().map(|event| event["type"].as_str().unwrap());
    kinds
        .map(|kind| kind.trim_start_matches("aaep:agent."))
        .collect()
}

fn numbers(events: &[Value]) -> Vec<u64> {
    let numbers = events
        .iter()
        .map(|e| e["sequence_number"].as_u64().unwrap());
    numbers.collect()
}

#[tokio::test]
async fn who_can_not_answer_is_not_asked_and_the_default_happens_at_once() {
    for (scenario, declared) in [
        ("email", json!({"supports_confirmation_reply": false})),
        ("email", json!({"supports_clarification_reply": true})),
        (
            "clarification",
            json!({"supports_confirmation_reply": true}),
        ),
    ] {
        let running = server(DemoSettings::stepped(11)).await;
        let consent = agreed(&running, declared.clone()).await;
        let notes = consent["negotiation_notes"].as_str().unwrap();
        for key in ANSWERS {
            assert_eq!(notes.contains(key), declared[key] != true, "{notes}");
        }
        let mut events = stream(&running, &consent).await;
        running.agents().start(scenario).unwrap();
        // There is no answer and no timeout here: only the default can end it.
        let all = events.until("session.completed").await;
        assert!(
            !kinds(&all).iter().any(|kind| kind.starts_with("awaiting.")),
            "{scenario}: {:?}",
            kinds(&all)
        );
        let words = all
            .iter()
            .find(|event| event["from_state"] == "awaiting_input");
        let words = words.unwrap()["summary_normal"].as_str().unwrap();
        assert!(words.starts_with("No answer came."), "{words}");
        // A question that was not asked leaves no gap in the numbers.
        assert_eq!(numbers(&all), (0..all.len() as u64).collect::<Vec<_>>());
        assert_eq!(running.producer().open_questions(), 0);
        running.stop().await;
    }
}

#[tokio::test]
async fn a_question_goes_to_who_can_answer_and_to_nobody_else() {
    let running = server(DemoSettings::stepped(12)).await;
    let able = json!({"supports_confirmation_reply": true, "supports_clarification_reply": true});
    let able = agreed(&running, able).await;
    assert!(able.get("negotiation_notes").is_none(), "{able}");
    let unable = agreed(&running, json!({"supports_confirmation_reply": false})).await;
    let mut asked = stream(&running, &able).await;
    let mut spared = stream(&running, &unable).await;
    running.agents().start("email").unwrap();
    let question = asked.until("awaiting.confirmation").await.pop().unwrap();
    let mut answer = decision(&question, "accept");
    answer["subscription_id"] = able["subscription_id"].clone();
    let path = "/aaep/v1/replies";
    let (status, ..) =
        super::tcp_client::request(running.addr(), "POST", path, &answer.to_string()).await;
    assert_eq!(status, 204);
    asked.until("session.completed").await;
    let rest = spared.until("session.completed").await;
    let settled = rest
        .iter()
        .find(|event| event["from_state"] == "awaiting_input");
    let words = settled.unwrap()["summary_normal"].as_str().unwrap();
    assert!(words.starts_with("You accepted."), "{words}");
    assert!(!kinds(&rest).contains(&"awaiting.confirmation"));
    assert_eq!(numbers(&rest), (0..rest.len() as u64).collect::<Vec<_>>());
    running.stop().await;
}

#[tokio::test]
async fn who_can_not_answer_any_more_lets_the_default_happen() {
    let running = server(DemoSettings::stepped(13)).await;
    let consent = agreed(&running, json!({"supports_confirmation_reply": true})).await;
    let mut events = stream(&running, &consent).await;
    running.agents().start("question").unwrap();
    events.until("awaiting.confirmation").await;
    let change = json!({"type": "subscription.renegotiate", "subscription_id": consent["subscription_id"],
        "capabilities": {"supports_confirmation_reply": false}});
    let (status, _) = post(running.addr(), "/aaep/v1/replies", &change).await;
    assert_eq!(status, 200);
    let rest = events.until("session.completed").await;
    let settled = rest
        .iter()
        .find(|event| event["from_state"] == "awaiting_input");
    assert!(settled.is_some(), "{:?}", kinds(&rest));
    running.stop().await;
}

/// Returns the chunks among events: position, text, hint, and whether it is the last.
fn chunks(events: &[Value]) -> Vec<(u64, &str, Option<&str>, bool)> {
    let chunks = events.iter().filter(|event| event["chunk"].is_string());
    chunks
        .map(|event| {
            let position = event["position"].as_u64().unwrap();
            let hint = event["coalesce_hint"].as_str();
            let complete = event["complete"].as_bool().unwrap();
            (position, event["chunk"].as_str().unwrap(), hint, complete)
        })
        .collect()
}

#[tokio::test]
async fn text_that_waits_grows_together_at_its_right_place_and_loses_nothing() {
    for scenario in ["answer", "email"] {
        let running = server(DemoSettings::stepped(14)).await;
        let able = |rate: u64| {
            json!({"supports_confirmation_reply": true, "max_events_per_second": rate,
                "coalesce_boundaries": ["sentence", "completion"]})
        };
        let whole = agreed(&running, able(100_000)).await;
        let few = agreed(&running, able(4)).await;
        let (mut all, mut slow) = (stream(&running, &whole).await, stream(&running, &few).await);
        running.agents().start(scenario).unwrap();
        let expiring = running.producer().clone();
        tokio::spawn(async move {
            expiring.until_asked(1).await;
            expiring.expire_questions();
        });
        let all = all.until("session.completed").await;
        let slow = slow.until("session.completed").await;

        let (every, joined) = (chunks(&all), chunks(&slow));
        let text = |chunks: &[(u64, &str, Option<&str>, bool)]| -> String {
            chunks.iter().map(|chunk| chunk.1).collect()
        };
        assert_eq!(text(&every), text(&joined), "{scenario}");
        assert!(joined.len() < every.len(), "{joined:?}");
        if scenario == "answer" {
            assert!(
                joined.len() * 5 < every.len(),
                "{} of {}",
                joined.len(),
                every.len()
            );
        }
        // Each begins where the previous one ended, in characters; a last one ends its output.
        let mut at = 0;
        for (position, chunk, hint, complete) in &joined {
            assert_eq!(*position, at, "{joined:?}");
            at = if *complete {
                0
            } else {
                position + chunk.chars().count() as u64
            };
            assert_eq!(*complete, *hint == Some("completion"), "{joined:?}");
        }
        assert_eq!(at, 0, "the last output is complete");
        // Text that is cut where the subscriber wants it never hides such a place in its middle.
        let sentence_cut = |hint: &Option<&str>| matches!(hint, Some("sentence" | "completion"));
        let ends: Vec<usize> = every
            .iter()
            .scan(0, |at, (_, chunk, hint, _)| {
                *at += chunk.len();
                Some(if sentence_cut(hint) { *at } else { 0 })
            })
            .collect();
        let mut at = 0;
        for (_, chunk, hint, _) in &joined {
            let within = at + 1..at + chunk.len();
            at += chunk.len();
            if !sentence_cut(hint) {
                assert!(!ends.iter().any(|end| within.contains(end)), "{chunk:?}");
            }
        }
        // The numbers have no gaps, whatever the order of arrival.
        let mut numbers = numbers(&slow);
        numbers.sort_unstable();
        assert_eq!(numbers, (0..slow.len() as u64).collect::<Vec<_>>());
        running.stop().await;
    }
}

#[tokio::test]
async fn who_comes_back_gets_what_was_overtaken_too() {
    let running = server(DemoSettings::stepped(15)).await;
    let terms = json!({"supports_confirmation_reply": true, "max_events_per_second": 2});
    let consent = agreed(&running, terms).await;
    let mut first = stream(&running, &consent).await;
    running.agents().start("email").unwrap();
    let mut last = None;
    let question = loop {
        let sent = first.next().await.unwrap();
        let event = sent.json();
        if event["type"] == "aaep:agent.awaiting.confirmation" {
            assert_eq!(sent.id, None, "what waits would be missed by this id");
            break event;
        }
        last = sent.id.or(last);
    };
    drop(first);
    let path = format!(
        "/aaep/v1/events?subscription_id={}",
        consent["subscription_id"].as_str().unwrap()
    );
    let mut again = EventStreamReader::resumed_at(running.addr(), &path, &last.unwrap()).await;
    let mut events = again.until("awaiting.confirmation").await;
    assert_eq!(
        events.pop().unwrap(),
        question,
        "the same event, the same number"
    );
    running.producer().expire_questions();
    events.extend(again.until("session.completed").await);
    let before = numbers(&events);
    let asked = question["sequence_number"].as_u64().unwrap();
    assert!(before.iter().any(|number| *number < asked), "{before:?}");
    running.stop().await;
}
