//! Golden transcripts: a capture of the demo in, the spoken script and the last screen out.

use std::time::Duration;

use hearken::config::{Config, Verbosity};
use hearken_wording::phrase;
use jiff::Timestamp;
use serde_json::Value;

use crate::support::stage::Stage;
use crate::support::{with_demo, within};

/// The demo's default scenario as recorded by `hearken demo --record`, accepted by the person.
const TOUR: &str = include_str!("fixtures/tour.jsonl");

fn stamp(event: &Value) -> Timestamp {
    event["timestamp"].as_str().unwrap().parse().unwrap()
}

fn events() -> Vec<Value> {
    TOUR.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Plays the tour at its own pace; the person hears the question to its end and accepts it.
fn play(verbosity: Verbosity) -> (Stage, Vec<String>) {
    let events = events();
    let mut config = Config::default();
    config.announce.verbosity = verbosity;
    let mut stage = Stage::new(config, stamp(&events[0]));
    let mut screens = Vec::new();
    let mut before = stamp(&events[0]);
    for event in &events {
        let pause = stamp(event).duration_since(before);
        let asked = event["type"] == "aaep:agent.awaiting.confirmation";
        stage.wait(
            Duration::try_from(pause)
                .unwrap()
                .min(Duration::from_secs(5)),
        );
        before = stamp(event);
        stage.frame(&event.to_string());
        if asked {
            screens.push(stage.screen(100, 30));
            screens.push(stage.screen(40, 10));
            stage.wait_for_silence();
            assert!(stage.sent.is_empty());
            stage.press('y');
            stage.wait(Duration::from_secs(8));
            stage.press('c');
            assert_eq!(stage.sent.len(), 1);
        }
    }
    stage.wait_for_silence();
    (stage, screens)
}

fn check(name: &str, verbosity: Verbosity) {
    let (stage, screens) = play(verbosity);
    let body: Value = serde_json::from_str(&stage.sent[0].1).unwrap();
    assert_eq!(body["decision"], "accept");
    let question = events()
        .into_iter()
        .find(|event| event["type"] == "aaep:agent.awaiting.confirmation")
        .unwrap();
    assert_eq!(body["reply_token"], question["reply_token"]);
    insta::assert_snapshot!(format!("tour_{name}_script"), stage.script.join("\n"));
    insta::assert_snapshot!(format!("tour_{name}_lines"), stage.lines.concat());
    insta::assert_snapshot!(format!("tour_{name}_question_100x30"), screens[0]);
    insta::assert_snapshot!(format!("tour_{name}_question_40x10"), screens[1]);
    insta::assert_snapshot!(format!("tour_{name}_last_100x30"), stage.screen(100, 30));
    insta::assert_snapshot!(format!("tour_{name}_last_40x10"), stage.screen(40, 10));
}

#[test]
fn the_tour_tersely() {
    check("terse", Verbosity::Terse);
}

#[test]
fn the_tour_normally() {
    check("normal", Verbosity::Normal);
}

#[test]
fn the_tour_in_detail() {
    check("detailed", Verbosity::Detailed);
}

#[test]
fn the_whole_job_fits_into_a_minute_of_speech() {
    let (stage, _) = play(Verbosity::Normal);
    assert!(
        stage.now.monotonic < Duration::from_secs(75),
        "{:?}",
        stage.now.monotonic
    );
}

#[test]
fn no_utterance_breaks_a_word_and_none_is_said_twice() {
    let (stage, _) = play(Verbosity::Normal);
    let texts: Vec<&str> = stage.script.iter().map(|line| line[22..].trim()).collect();
    for (at, text) in texts.iter().enumerate() {
        let agents = stage.script[at].contains(" agent ");
        let again = texts[..at].contains(text);
        // The question is read back before the answer is sent, as intended.
        let read_back = text.starts_with("Send an email");
        assert!(!(agents && again && !read_back), "said twice: {text}");
    }
}

/// The capture must not drift from the scenario that people see.
#[test]
fn the_capture_is_what_the_demo_plays() {
    let played: Vec<String> = with_demo(async |running| {
        let mut child =
            crate::support::child::Hearken::watch(&running.url(), "json", &["--until", "ended"]);
        within("subscriber", running.producer().until_subscribed(1)).await;
        running.agents().start("tour").unwrap();
        within("question", running.producer().until_asked(1)).await;
        child.announced("confirmation", "Send an email");
        child.say("y 1");
        child.announced("reply", phrase!("reply.second_step.*"));
        child.say("c 1");
        child.announced("session_completed", "");
        child.end_input();
        child.seen().to_vec()
    });
    let summaries: Vec<String> = events()
        .iter()
        .filter_map(|event| event["summary_normal"].as_str().map(str::to_owned))
        .collect();
    assert!(summaries.len() > 8);
    for summary in summaries {
        let told = played
            .iter()
            .any(|line| line.contains(&serde_json::to_string(&summary).unwrap()[1..summary.len()]));
        // A question is announced by its action and consequence.
        assert!(
            told || summary.contains("email"),
            "the demo does not say {summary:?}"
        );
    }
}
