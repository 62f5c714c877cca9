//! Every scenario to its end, on every branch.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::chapter_rules::faults;
use super::tcp_client::{EventStreamReader, decision, post, response, server, within};
use crate::demo::catalogue::named;
use crate::demo::{DEFAULT, DemoSettings, Pace, ServedDemo, Timeouts, list};
use crate::producer::QuestionOutcome;

/// How the person in a test behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PersonBehaviour {
    Accepts,
    Rejects,
    Sleeps,
    /// Picks the choice of this number.
    Chooses(usize),
    Types(&'static str),
}

/// Plays a scenario against a person; returns all events in order of arrival, and the tokens that
/// were accepted.
async fn play(
    running: &ServedDemo,
    name: &str,
    person: PersonBehaviour,
) -> (Vec<Value>, BTreeSet<String>) {
    let mut stream = EventStreamReader::greeted(running.addr(), None).await;
    let session = running.agents().start(name).unwrap();
    let (mut events, mut accepted, mut ended) = (Vec::new(), BTreeSet::new(), 0);
    while ended < session.ids().len() {
        let event = stream.event().await;
        let kind = event["type"].as_str().unwrap().to_owned();
        match kind.as_str() {
            "aaep:agent.awaiting.confirmation" => match person {
                PersonBehaviour::Sleeps => assert_eq!(running.producer().expire_questions(), 1),
                PersonBehaviour::Rejects => {
                    post(running.addr(), "/messages", &decision(&event, "reject")).await;
                }
                PersonBehaviour::Accepts
                | PersonBehaviour::Chooses(_)
                | PersonBehaviour::Types(_) => {
                    accepted.insert(event["reply_token"].as_str().unwrap().to_owned());
                    post(running.addr(), "/messages", &decision(&event, "accept")).await;
                }
            },
            "aaep:agent.awaiting.clarification" => {
                let kind = event["accepted_response_kinds"][0].as_str();
                let answer = match (person, kind) {
                    (PersonBehaviour::Sleeps, _) => Value::Null,
                    (_, Some("yes_no")) => json!(person != PersonBehaviour::Rejects),
                    (_, Some("numeric")) => json!(4),
                    (_, Some("freetext")) => json!("a walk"),
                    (PersonBehaviour::Chooses(number), _) => {
                        event["choices"][number]["value"].clone()
                    }
                    // Free text is only sent if it is accepted in addition to the choices.
                    (PersonBehaviour::Types(text), _)
                        if event["accepted_response_kinds"].as_array().unwrap().len() > 1 =>
                    {
                        json!(text)
                    }
                    (
                        PersonBehaviour::Types(_)
                        | PersonBehaviour::Accepts
                        | PersonBehaviour::Rejects,
                        _,
                    ) => event["choices"][0]["value"].clone(),
                };
                if answer.is_null() {
                    assert_eq!(running.producer().expire_questions(), 1);
                } else {
                    post(running.addr(), "/messages", &response(&event, answer)).await;
                }
            }
            _ => {}
        }
        ended += usize::from(
            ["completed", "errored", "cancelled"]
                .iter()
                .any(|end| kind == format!("aaep:agent.session.{end}")),
        );
        events.push(event);
    }
    within(session.until_ended()).await;
    (events, accepted)
}

fn by_session(events: &[Value]) -> BTreeMap<&str, Vec<Value>> {
    let mut sessions: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for event in events {
        let id = event["session_id"].as_str().unwrap();
        sessions.entry(id).or_default().push(event.clone());
    }
    sessions
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect()
}

fn ends_with(events: &[Value], kind: &str) -> bool {
    kinds(events).last() == Some(&format!("aaep:agent.session.{kind}").as_str())
}

#[tokio::test]
async fn every_scenario_keeps_the_rules_on_every_branch() {
    let running = server(DemoSettings::stepped(1)).await;
    for info in list() {
        let asked = match info.name.as_str() {
            "tour" | "question" | "email" | "transfer" | "clarification" | "agents" => 1,
            "trip" => 5,
            _ => 0,
        };
        let asks = asked > 0;
        let people = [
            PersonBehaviour::Accepts,
            PersonBehaviour::Rejects,
            PersonBehaviour::Sleeps,
            PersonBehaviour::Chooses(1),
            PersonBehaviour::Types("any evening after eight"),
        ];
        for person in people.into_iter().take(if asks { people.len() } else { 1 }) {
            let (events, accepted) = play(&running, &info.name, person).await;
            for (session, events) in by_session(&events) {
                let faults = faults(&events, &accepted);
                assert_eq!(
                    faults,
                    Vec::<String>::new(),
                    "{} {person:?} {session}",
                    info.name
                );
            }
            let questions = kinds(&events)
                .iter()
                .filter(|kind| kind.contains("awaiting"))
                .count();
            assert_eq!(questions, asked, "{}", info.name);
            let end = if info.name == "error" {
                "errored"
            } else {
                "completed"
            };
            assert!(ends_with(&events, end), "{} {person:?}", info.name);
        }
    }
    assert_eq!(running.producer().dropped(), 0);
    running.stop().await;
}

#[tokio::test]
async fn the_irreversible_call_comes_after_the_accept_and_never_without_one() {
    let running = server(DemoSettings::stepped(2)).await;
    for (name, risk) in [
        ("email", "medium"),
        ("transfer", "high"),
        ("tour", "medium"),
    ] {
        for person in [
            PersonBehaviour::Accepts,
            PersonBehaviour::Rejects,
            PersonBehaviour::Sleeps,
        ] {
            let (events, _) = play(&running, name, person).await;
            let question = events
                .iter()
                .find(|event| event["type"] == "aaep:agent.awaiting.confirmation")
                .unwrap();
            assert_eq!(question["risk_level"], risk);
            assert_eq!(question["irreversible"], true);
            assert_eq!(question["default_decision"], "reject");
            let calls = events
                .iter()
                .filter(|event| event["irreversible"] == true && !event["tool"].is_null());
            assert_eq!(
                calls.count(),
                usize::from(person == PersonBehaviour::Accepts),
                "{name} {person:?}"
            );
        }
    }
    running.stop().await;
}

#[tokio::test]
async fn an_answer_in_words_is_repeated_and_silence_takes_the_default() {
    let running = server(DemoSettings::stepped(3)).await;
    for (person, words) in [
        (PersonBehaviour::Chooses(0), "Friday at 7"),
        (PersonBehaviour::Types("Tuesday"), "Tuesday"),
        (PersonBehaviour::Sleeps, "Saturday at 8"),
    ] {
        let (events, _) = play(&running, "clarification", person).await;
        let end = events.last().unwrap();
        assert_eq!(
            end["summary_normal"],
            format!("A table for two is booked: {words}.")
        );
    }
    running.stop().await;
}

#[tokio::test]
async fn the_long_answer_is_what_it_should_be() {
    let running = server(DemoSettings::stepped(4)).await;
    let (events, _) = play(&running, "answer", PersonBehaviour::Accepts).await;
    let chunks: Vec<&Value> = events
        .iter()
        .filter(|event| !event["chunk"].is_null())
        .collect();
    // About 20 seconds at 60 tokens a second.
    assert!((1_080..=1_380).contains(&chunks.len()), "{}", chunks.len());
    let text: String = chunks
        .iter()
        .map(|event| event["chunk"].as_str().unwrap())
        .collect();
    for part in [
        "1. Three pots",
        "- Yellow leaves",
        "2.5 square",
        "Dr. Ines",
        "e.g. above",
        "```python\n",
        "https://garden.example.org/balcony?start=small",
    ] {
        assert!(text.contains(part), "{part}");
    }
    assert!(text.ends_with("a bigger balcony."));
    assert!(
        chunks
            .iter()
            .all(|event| event["content_type"] == "text/markdown")
    );
    assert!(
        chunks[..chunks.len() - 1]
            .iter()
            .all(|event| event["coalesce_hint"].is_null())
    );
    running.stop().await;
}

#[tokio::test]
async fn the_same_seed_clock_and_replies_give_the_same_bytes() {
    let clock = || {
        let settings = DemoSettings::stepped(5);
        DemoSettings {
            clock: Arc::new(|| "2026-05-24T14:22:11.342Z".parse().unwrap()),
            ..settings
        }
    };
    let mut runs = Vec::new();
    for _ in 0..2 {
        let running = server(clock()).await;
        let mut all = Vec::new();
        for name in ["agents", "tour"] {
            all.push(play(&running, name, PersonBehaviour::Accepts).await.0);
        }
        runs.push(all);
        running.stop().await;
    }
    assert_eq!(runs[0], runs[1]);
    let other = server(DemoSettings { seed: 6, ..clock() }).await;
    assert_ne!(
        play(&other, "agents", PersonBehaviour::Accepts).await.0,
        runs[0][0]
    );
    other.stop().await;
}

#[tokio::test]
async fn the_tour_takes_less_than_a_minute_to_happen_and_to_hear() {
    let tour = named(DEFAULT).unwrap();
    let accepted = QuestionOutcome::Decided("accept".to_owned());
    let written: Duration = tour.cast[0]
        .beats
        .iter()
        .filter(|beat| beat.on.is_empty() || beat.on.iter().any(|label| label.fits(&accepted)))
        .map(|beat| beat.after)
        .sum();
    assert!(written < Duration::from_secs(20), "{written:?}");

    let running = server(DemoSettings::stepped(10)).await;
    let (events, _) = play(&running, DEFAULT, PersonBehaviour::Accepts).await;
    let heard: usize = events
        .iter()
        .flat_map(|event| {
            ["chunk", "action", "consequence", "summary_normal"].map(|name| &event[name])
        })
        .filter_map(Value::as_str)
        .map(|text| text.split_whitespace().count())
        .sum();
    // 170 words a minute is a slow voice; the rest of the time is left for the program's own words.
    assert!(heard < 160, "{heard} words");
    running.stop().await;
}

#[tokio::test]
async fn three_agents_are_mixed_and_one_of_them_asks() {
    let running = server(DemoSettings::stepped(7)).await;
    let (events, _) = play(&running, "agents", PersonBehaviour::Accepts).await;
    let agents: Vec<&str> = events
        .iter()
        .map(|event| event["producer"]["agent_id"].as_str().unwrap())
        .collect();
    assert_eq!(agents.iter().collect::<BTreeSet<_>>().len(), 3);
    let switches = agents.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(switches >= 8, "{agents:?}");
    running.stop().await;
}

#[tokio::test]
async fn in_real_time_a_question_that_nobody_answers_times_out_by_the_clock() {
    let running = server(DemoSettings {
        pace: Pace::RealTime { speed: 10_000.0 },
        timeouts: Timeouts::Scaled(0.01),
        ..DemoSettings::live(8)
    })
    .await;
    let mut stream = EventStreamReader::greeted(running.addr(), None).await;
    running.agents().start("question").unwrap();
    let events = stream.until("session.completed").await;
    assert_eq!(faults(&events, &BTreeSet::new()), Vec::<String>::new());
    assert_eq!(
        events.last().unwrap()["summary_normal"],
        "Nothing was moved."
    );
    assert!(
        events.iter().any(
            |event| event["summary_normal"] == "No answer came. The notes stay where they are."
        )
    );
    running.stop().await;
}

#[tokio::test]
async fn in_real_time_an_answer_takes_the_agents_on() {
    let running = server(DemoSettings {
        pace: Pace::RealTime { speed: 10_000.0 },
        ..DemoSettings::live(9)
    })
    .await;
    for (name, person) in [
        ("agents", PersonBehaviour::Accepts),
        ("tour", PersonBehaviour::Rejects),
        ("answer", PersonBehaviour::Accepts),
    ] {
        let (events, accepted) = play(&running, name, person).await;
        for events in by_session(&events).values() {
            assert_eq!(faults(events, &accepted), Vec::<String>::new(), "{name}");
        }
    }
    running.stop().await;
}
